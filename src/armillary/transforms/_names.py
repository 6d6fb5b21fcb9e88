"""What a frame may be called."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from armillary.errors import InvalidName

if TYPE_CHECKING:
    from collections.abc import Iterable

_WORDS = re.compile(r"[^\W\d_]+|\d+")
_SHORTEST_WORD = 4


def check_name(name: object) -> str:
    """The name in its one stored form (NFC), or `InvalidName` with the cure."""
    if not isinstance(name, str):
        raise InvalidName(f"A frame name is a str, got {name!r}.")
    if not name:
        raise InvalidName("A frame name cannot be empty. Name the frame.")
    if name.startswith("/"):
        raise InvalidName(f"The frame name {name!r} begins with '/'. Drop it: {name.lstrip('/') or 'map'!r}.")
    if any(unicodedata.category(letter) in {"Cc", "Cs"} for letter in name):
        raise InvalidName(f"The frame name {name!r} contains a control character. Use letters, digits, '_', '-' and '/'.")
    return unicodedata.normalize("NFC", name)


def resembling(name: str, known: Iterable[str]) -> str | None:
    """A known name that `name` is probably a typo of: one word of it, one edit away.

    Numbers and words of up to three letters are meant to differ (`wheel_fl`, `camera_2`).
    """
    words = _WORDS.findall(name)
    for other in known:
        if abs(len(other) - len(name)) <= 1 and _one_typo_apart(words, _WORDS.findall(other)):
            return other
    return None


def _one_typo_apart(words: list[str], others: list[str]) -> bool:
    if len(words) != len(others):
        return False
    differing = [(a, b) for a, b in zip(words, others, strict=True) if a != b]
    if len(differing) != 1:
        return False
    a, b = differing[0]
    is_word = min(len(a), len(b)) >= _SHORTEST_WORD and not a.isdigit()
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
