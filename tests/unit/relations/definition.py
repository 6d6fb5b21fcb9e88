"""The rules C6 to C8 by their definition: of a whole structure, without a word of how an edit is judged."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable

Edge = tuple[str, str]  # of a pose: frame, and the frame it is in; of a twist: frame, and the body it is relative to


class _Parts:
    """Sets that are joined, and whether a join closed a cycle."""

    def __init__(self) -> None:
        self.part: dict[Hashable, Hashable] = {}
        self.has_cycle = False

    def of(self, one: Hashable) -> Hashable:
        while self.part.get(one, one) != one:
            one = self.part[one]
        return one

    def join(self, one: Hashable, other: Hashable) -> None:
        self.has_cycle |= self.of(one) == self.of(other)
        self.part[self.of(one)] = self.of(other)


def parts_of(edges: Iterable[tuple[Hashable, Hashable]]) -> _Parts:
    parts = _Parts()
    for one, other in edges:
        parts.join(one, other)
    return parts


def broken(bodies: dict[str, list[str]], poses: Collection[Edge], twists: Collection[Edge]) -> set[str]:
    """Which rules a structure breaks."""
    body_of = {frame: body for body, frames in bodies.items() for frame in frames}
    trees, found = parts_of(poses), set()
    within = parts_of(edge for edge in poses if body_of[edge[0]] == body_of[edge[1]])
    if len({of for of, _ in poses}) < len(poses):
        found.add("C6a")
    reached = {(trees.of(frame), body): {within.of(one) for one in frames if trees.of(one) == trees.of(frame)}
               for body, frames in bodies.items() for frame in frames}  # fmt: skip
    if trees.has_cycle or any(len(ways) > 1 for ways in reached.values()):
        found.add("C6b")
    if len({of for of, _ in twists}) < len(twists):
        found.add("C8a")
    roots = {trees.of(of) for of, _ in twists}
    if any(parts_of((body_of[of], body) for of, body in twists if trees.of(of) == root).has_cycle for root in roots):
        found.add("C8b")
    return found
