"""Names of frames: which are valid, and which look like a typo."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from armillary._core import NodeId
from armillary.errors import InvalidName
from armillary.forks import new_lock

if TYPE_CHECKING:
    from collections.abc import Callable

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")  # categories Cc and Cs
_WORDS = re.compile(r"[^\W\d_]+|\d+")
_SHORTEST_WORD, _LONGEST_NAME = 4, 200  # longer ones nobody types
_MANY_NAMES = 5000


def check_name(name: object) -> str:
    """Return a name in its one stored form (NFC); raise `InvalidName` for one that no frame can have."""
    if not isinstance(name, str):
        hint = " The frame of a node is scene.frame(id)." if isinstance(name, NodeId) else ""
        raise InvalidName(f"A frame name is a str, got {name!r}.{hint}", name)
    if not name:
        raise InvalidName("A frame name cannot be empty. Name the frame.", name)
    if name.startswith("/"):
        raise InvalidName(f"The frame name {name!r} begins with '/'. Drop it: {name.lstrip('/') or 'map'!r}.", name)
    if _CONTROL.search(name):
        raise InvalidName(
            f"The frame name {name!r} has a control character. Use letters, digits, '_', '-' and '/'.", name
        )
    return unicodedata.normalize("NFC", name)


class TypoGuard:
    """Finds the known name that a new name is probably a typo of.

    Two names resemble each other when one word differs by one edit. Numbers and words of up to three letters
    are meant to differ (`wheel_fl`, `camera_2`). Some thousands of names are kept, and no very long ones, which nobody
    types; beyond that, names whose frames were removed make room. `is_alive` returns whether a frame has a name.

    `_lock` guards everything.
    """

    def __init__(self) -> None:
        self._by_key: dict[str, str] = {}
        self._names: dict[str, None] = {}
        self._passed_over = 0
        self._lock = new_lock()

    def add(self, name: str, is_alive: Callable[[str], bool]) -> None:
        """Add a name."""
        self._add(name, [], is_alive)

    def meet(self, name: str, is_alive: Callable[[str], bool]) -> str | None:
        """Add a name; return the name of a frame that it is probably a typo of."""
        near: list[str] = []
        self._add(name, near, is_alive)
        return next((other for other in sorted(near) if is_alive(other)), None)

    def _add(self, name: str, near: list[str], is_alive: Callable[[str], bool]) -> None:
        if len(name) > _LONGEST_NAME:
            return
        keys, words = _typo_keys(name), _WORDS.findall(name)
        with self._lock:
            others = {self._by_key[key] for key in keys if key in self._by_key}
            near += [other for other in others if _one_typo_apart(words, _WORDS.findall(other))]
            if name not in self._names:
                self._keep(name, keys, {other for other in others if not is_alive(other)}, is_alive)

    def _keep(self, name: str, keys: list[str], removed: set[str], is_alive: Callable[[str], bool]) -> None:
        if len(self._names) >= _MANY_NAMES and self._passed_over % _MANY_NAMES == 0:
            self._drop_removed(is_alive)
        if len(self._names) >= _MANY_NAMES:
            self._passed_over += 1
            return
        self._names[name] = None
        for key in keys:
            if self._by_key.setdefault(key, name) in removed:
                self._by_key[key] = name

    def _drop_removed(self, is_alive: Callable[[str], bool]) -> None:
        """Drop the names of removed frames; the newest half stays: their frames may be about to be added."""
        names = list(self._names)
        living = [name for i, name in enumerate(names) if i >= _MANY_NAMES // 2 or is_alive(name)]
        if len(living) == len(names):
            return
        self._names, self._by_key, self._passed_over = dict.fromkeys(living), {}, 0
        for name in living:
            for key in _typo_keys(name):
                self._by_key.setdefault(key, name)


def _typo_keys(name: str) -> list[str]:
    """Return the name, and it with one letter of one word left out: names one edit apart have a key in common."""
    keys: list[str] = []
    for word in _WORDS.finditer(name):
        start, end = word.span()
        if end - start >= _SHORTEST_WORD - 1 and not name[start].isdigit():
            keys += [name[:i] + name[i + 1 :] for i in range(start, end)]
    return [name, *keys] if keys else keys


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
    """Whether one letter is added, removed or replaced, or two neighbours are swapped."""
    if len(a) > len(b):
        a, b = b, a
    start = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), len(a))
    if len(a) < len(b):
        return len(b) - len(a) == 1 and a[start:] == b[start + 1 :]
    swapped = a[start + 1 : start + 2] + a[start : start + 1] + a[start + 2 :]
    return a[start + 1 :] == b[start + 1 :] or swapped == b[start:]
