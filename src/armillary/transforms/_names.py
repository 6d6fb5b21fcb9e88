"""What a frame may be called."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from armillary.errors import InvalidName

if TYPE_CHECKING:
    from collections.abc import Iterator

_WORDS = re.compile(r"[^\W\d_]+|\d+")
_SHORTEST_WORD = 4
_MANY_NAMES = 5000


def check_name(name: object) -> str:
    """The name in its one stored form (NFC), or `InvalidName` with the cure."""
    if not isinstance(name, str):
        raise InvalidName(f"A frame name is a str, got {name!r}.")
    if not name:
        raise InvalidName("A frame name cannot be empty. Name the frame.")
    if name.startswith("/"):
        raise InvalidName(f"The frame name {name!r} begins with '/'. Drop it: {name.lstrip('/') or 'map'!r}.")
    if any(unicodedata.category(letter) in {"Cc", "Cs"} for letter in name):
        raise InvalidName(f"The frame name {name!r} has a control character. Use letters, digits, '_', '-' and '/'.")
    return unicodedata.normalize("NFC", name)


class TypoGuard:
    """Remembers names, and knows which of them a new one is probably a typo of.

    Two names resemble each other when one word differs by one edit. Numbers and words of up to three letters
    are meant to differ (`wheel_fl`, `camera_2`). Only the first names of a world are remembered: past some
    thousands nobody types them.
    """

    def __init__(self) -> None:
        self._by_key: dict[str, str] = {}
        self._names: set[str] = set()

    def add(self, name: str) -> None:
        """Remember a name."""
        if name in self._names or len(self._names) >= _MANY_NAMES:
            return
        self._names.add(name)
        for key in _typo_keys(name):
            self._by_key.setdefault(key, name)

    def resembling(self, name: str) -> str | None:
        """A remembered name that `name` is one typo away from."""
        words = _WORDS.findall(name)
        candidates = {self._by_key[key] for key in _typo_keys(name) if key in self._by_key}
        return next((other for other in sorted(candidates) if _one_typo_apart(words, _WORDS.findall(other))), None)


def _typo_keys(name: str) -> Iterator[str]:
    """The name with one letter of one word left out: names one edit apart have a key in common."""
    for word in _WORDS.finditer(name):
        if word[0].isdigit() or len(word[0]) < _SHORTEST_WORD - 1:
            continue
        for i in range(word.start(), word.end()):
            yield f"{name[:i]}{name[i + 1 :]}"
        yield name


def _one_typo_apart(words: list[str], others: list[str]) -> bool:
    if len(words) != len(others):
        return False
    differing = [(a, b) for a, b in zip(words, others, strict=True) if a != b]
    if len(differing) != 1:
        return False
    a, b = differing[0]
    is_word = max(len(a), len(b)) >= _SHORTEST_WORD and not a.isdigit()
    return is_word and _one_edit_apart(a, b)


def _one_edit_apart(a: str, b: str) -> bool:
    """One letter more, less, other, or two neighbours swapped."""
    if len(a) > len(b):
        a, b = b, a
    start = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), len(a))
    if len(a) < len(b):
        return len(b) - len(a) == 1 and a[start:] == b[start + 1 :]
    swapped = a[start + 1 : start + 2] + a[start : start + 1] + a[start + 2 :]
    return a[start + 1 :] == b[start + 1 :] or swapped == b[start:]
