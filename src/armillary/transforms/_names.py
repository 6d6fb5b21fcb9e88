"""What a frame may be called."""

from __future__ import annotations

import re
import threading
import unicodedata
from typing import TYPE_CHECKING

from armillary._core import NodeId
from armillary.errors import InvalidName

if TYPE_CHECKING:
    from collections.abc import Callable

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")  # categories Cc and Cs
_WORDS = re.compile(r"[^\W\d_]+|\d+")
_SHORTEST_WORD, _LONGEST_NAME = 4, 200  # longer ones nobody types
_MANY_NAMES = 5000


def check_name(name: object) -> str:
    """The name in its one stored form (NFC), or `InvalidName` with the hint."""
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
    """Remembers names, and knows which of them a new one is probably a typo of.

    Two names resemble each other when one word differs by one edit. Numbers and words of up to three letters
    are meant to differ (`wheel_fl`, `camera_2`). Only some thousands are remembered, and no very long ones: nobody
    types those. Where it gets full, names whose frames are gone make room. `is_alive` tells whether a frame has
    this name.

    `_lock` guards everything.
    """

    def __init__(self) -> None:
        self._by_key: dict[str, str] = {}
        self._names: dict[str, None] = {}
        self._passed_over = 0
        self._lock = threading.RLock()

    def add(self, name: str, is_alive: Callable[[str], bool]) -> None:
        """Remember a name."""
        self._meet(name, [], is_alive)

    def meet(self, name: str, is_alive: Callable[[str], bool]) -> str | None:
        """Remember a name; the living one that it is probably a typo of."""
        near: list[str] = []
        self._meet(name, near, is_alive)
        return next((other for other in sorted(near) if is_alive(other)), None)

    def _meet(self, name: str, near: list[str], is_alive: Callable[[str], bool]) -> None:
        if len(name) > _LONGEST_NAME:
            return
        keys, words = _typo_keys(name), _WORDS.findall(name)
        with self._lock:
            others = {self._by_key[key] for key in keys if key in self._by_key}
            near += [other for other in others if _one_typo_apart(words, _WORDS.findall(other))]
            if name not in self._names:
                self._remember(name, keys, {other for other in others if not is_alive(other)}, is_alive)

    def _remember(self, name: str, keys: list[str], dead: set[str], is_alive: Callable[[str], bool]) -> None:
        if len(self._names) >= _MANY_NAMES and self._passed_over % _MANY_NAMES == 0:
            self._forget_dead(is_alive)
        if len(self._names) >= _MANY_NAMES:
            self._passed_over += 1
            return
        self._names[name] = None
        for key in keys:
            if self._by_key.setdefault(key, name) in dead:
                self._by_key[key] = name

    def _forget_dead(self, is_alive: Callable[[str], bool]) -> None:
        """The newest half stays in any case: their frames may be on their way."""
        names = list(self._names)
        living = [name for i, name in enumerate(names) if i >= _MANY_NAMES // 2 or is_alive(name)]
        if len(living) == len(names):
            return
        self._names, self._by_key, self._passed_over = dict.fromkeys(living), {}, 0
        for name in living:
            for key in _typo_keys(name):
                self._by_key.setdefault(key, name)


def _typo_keys(name: str) -> list[str]:
    """The name with one letter of one word left out, and itself: names one edit apart have a key in common."""
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
    """One letter more, less, other, or two neighbours swapped."""
    if len(a) > len(b):
        a, b = b, a
    start = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), len(a))
    if len(a) < len(b):
        return len(b) - len(a) == 1 and a[start:] == b[start + 1 :]
    swapped = a[start + 1 : start + 2] + a[start : start + 1] + a[start + 2 :]
    return a[start + 1 :] == b[start + 1 :] or swapped == b[start:]
