"""Twists that wait for the poses which would bring them to their frame."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from armillary.relations._twist import Twist


class Pending:
    """Waiting twists by their head frame, found again by any frame that they wait for."""

    __slots__ = ("_heads", "_twists")

    def __init__(self) -> None:
        self._twists: dict[str, Twist] = {}
        self._heads: dict[str, set[str]] = {}

    def __getitem__(self, head: str) -> Twist:
        return self._twists[head]

    def __contains__(self, head: str) -> bool:
        return head in self._twists

    def __iter__(self) -> Iterator[str]:
        return iter(self._twists)

    def add(self, head: str, twist: Twist) -> None:
        """A twist waits."""
        self.discard(head)
        self._twists[head] = twist
        for frame in _needed(head, twist):
            self._heads.setdefault(frame, set()).add(head)

    def discard(self, head: str) -> None:
        """A twist waits no more."""
        twist = self._twists.pop(head, None)
        for frame in _needed(head, twist) if twist is not None else ():
            self._heads[frame].discard(head)

    def touched_by(self, frames: Iterable[str]) -> list[str]:
        """The heads of the twists that wait for one of these frames."""
        if not self._twists:
            return []
        return sorted({head for frame in frames for head in self._heads.get(frame, ())})

    def twists(self) -> tuple[Twist, ...]:
        """All of them, as they were given."""
        return tuple(self._twists.values())


def _needed(head: str, twist: Twist) -> set[str]:
    return {head, twist.point, twist.expressed_in}
