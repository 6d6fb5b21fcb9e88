"""The structural rules of bodies, as a world sees them at one instant: the same rules as those of a RelationGraph."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from armillary.stamps import LATEST, Latest

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterator, Sequence

    from armillary._core import WorldCore
    from armillary.relations.rules import TwistEdge, Violation


class SelectedStructure:
    """Who hangs under whom at one instant, by the sources that are believed. `SourceTwists` is about twists.

    Implements `armillary.relations.rules.Structure`.
    """

    def __init__(self, world: WorldCore, at: int | Latest, loose: str | None = None) -> None:
        """`loose` is about to be placed anew: it hangs under nothing."""
        parents = world._parents(at)  # noqa: SLF001  (one world, two modules)
        self._parents = {name: None if parent is None else parent[0] for name, parent in parents.items()}
        self._world = world
        if loose is not None:
            self._parents[loose] = None

    def is_body(self, name: str) -> bool:
        """Whether a body was declared by this name."""
        return name in self._world.bodies()

    def body_of(self, frame: str) -> str | None:
        """Its own, until it is declared on another."""
        return self._world._body_of(frame) or frame  # noqa: SLF001

    def frames_of(self, body: str) -> Collection[str]:
        """The frames on a body."""
        return self._world._frames_of(body)  # noqa: SLF001

    def pose_parent(self, frame: str) -> str | None:
        """None for a root, for a contested frame, and for a new one."""
        return self._parents.get(frame)

    def root_of(self, frame: str) -> str:
        """The topmost frame; where frames that do not cover the same instant run in a circle, any of them."""
        passed = {frame}
        while (parent := self.pose_parent(frame)) is not None and parent not in passed:
            passed.add(parent)
            frame = parent
        return frame

    def bodies_in(self, root: str) -> Collection[str]:
        """The declared ones: no other can be in two trees."""
        return [body for body in self._world.bodies() if root in map(self.root_of, self.frames_of(body))]

    def twists_in(self, root: str) -> Collection[TwistEdge]:  # noqa: ARG002
        """None: they are not a matter of who is believed."""
        return ()

    def twist_parent(self, frame: str) -> str | None:  # noqa: ARG002
        """None, as above."""
        return None

    def twist_group(self, root: str, body: str) -> Hashable:  # noqa: ARG002
        """Each body alone."""
        return body


class SourceTwists(SelectedStructure):
    """Which motions one source measures, in the trees of poses that are believed at one instant.

    Implements `armillary.relations.rules.Structure`.
    """

    def __init__(
        self, world: WorldCore, at: int | Latest, twists: Sequence[TwistEdge], loose: str | None = None
    ) -> None:
        """`twists` are relative to bodies."""
        super().__init__(world, at, loose)
        self._twists = twists

    def twists_in(self, root: str) -> Collection[TwistEdge]:
        """Those of this source whose frame is in the tree."""
        return [twist for twist in self._twists if self.root_of(twist.of) == root]

    def twist_parent(self, frame: str) -> str | None:
        """The body that this source measures the frame relative to."""
        return next((twist.relative_to for twist in self._twists if twist.of == frame), None)

    def twist_group(self, root: str, body: str) -> Hashable:
        """The first by name of the bodies that twists connect with this one."""
        links = [{self.body_of(twist.of) or "", twist.relative_to} for twist in self.twists_in(root)]
        group, size = {body}, 0
        while len(group) > size:
            size = len(group)
            group = group.union(*(link for link in links if link & group))
        return min(group)


def instants_from(world: WorldCore, start: int | None, *others: int) -> Iterator[int | Latest]:
    """From `start` on, every instant with a structure of its own: where frames move, the `others`, and the newest."""
    moves = set(world._moves_after(start)) | {at for at in others if start is None or at > start}  # noqa: SLF001
    yield from () if start is None else (start,)
    yield from sorted(moves)
    yield LATEST


def said_by_one_source(violation: Violation | None, hint: str) -> Violation | None:
    """The same about a world, where another source may say otherwise, and trees of poses come and go."""
    if violation is None:
        return None
    reason = violation.reason.replace("known twice in one tree of poses", "said twice by one source")
    return replace(violation, reason=reason, hint=hint)
