"""Kinematic loops between mounted models: one frame keeps its pose in another for some time, and joints follow."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from armillary._core import NodeId
from armillary.articulation._codecs import decoded_expression, transform_in
from armillary.articulation.documents import expression_to_document
from armillary.articulation.expressions import PoseExpression, VectorExpression
from armillary.articulation.loops import Closure
from armillary.articulation.variables import position
from armillary.errors import InvalidArgument, WorldClosed
from armillary.formats.fields import Field
from armillary.stamps import as_stamp

if TYPE_CHECKING:
    from armillary._core import Transform
    from armillary.articulation.mount import MountedLink
    from armillary.articulation.mounts import Mounts
    from armillary.store import Store

__all__ = ["ClosedLoop"]


class ClosedLoop:
    """A kinematic loop that `world.close_loop` closed; `open` ends it.

    Attributes:
        of: The frame that is held.
        on: The frame that it is held on.
        on_T_of: The pose that it keeps.
        dependents: The joints that follow.
        since: The instant at which the loop was closed [ns].
        until: The instant at which it was opened [ns], which is excluded; None: it is closed.
        tag: The tag of the change of structure that closed it.
        is_active: False where that was undone.
    """

    def __init__(  # noqa: PLR0917  (made in one place)
        self,
        mounts: Mounts,
        frames: tuple[str, str],
        on_T_of: Transform,
        dependents: Sequence[str],
        since: int,
        closures: Sequence[tuple[int, Closure]] = (),
    ) -> None:
        self.of, self.on = frames
        self.on_T_of, self.dependents, self.since = on_T_of, tuple(dependents), since
        self.until: int | None = None
        self.tag = f"loop {NodeId.random()}"
        self.is_active = True
        self._opened_at: int | None = None
        self._mounts = weakref.ref(mounts)
        self._closures = list(closures) or [(since, self._closure(mounts, since))]

    def open(self, *, at: int) -> None:
        """Open the loop from `at` on [ns]."""
        mounts, stamp = self._mounts(), as_stamp(at)
        if mounts is None:
            raise WorldClosed
        if stamp is None or stamp <= self.since or not self.is_active:
            raise InvalidArgument(
                f"The loop is closed since {self.since} ns: it is opened at a later instant, got {at!r}.", at
            )
        if self.until is not None:
            raise InvalidArgument(f"The loop is open already, since {self.until} ns.", at)
        mounts.open_loop(self, stamp)

    @property
    def opening_tag(self) -> str:
        """The tag of the change that opened it."""
        return f"opening of {self.tag}"

    def undone(self, tag: str, *, redo: bool) -> None:
        """Follow the undo or redo of its closing or opening."""
        if tag == self.tag:
            self.is_active = redo
        if tag == self.opening_tag:
            self._opened_at = self._opened_at if redo else self.until
            self.until = self._opened_at if redo else None

    def holds_at(self, at: int) -> bool:
        """Whether the loop is closed at an instant."""
        return self.is_active and self.since <= at and (self.until is None or at < self.until)

    def closure_at(self, at: int) -> Closure:
        """Return the constraint at an instant; edits of the models change it."""
        return next(closure for since, closure in reversed(self._closures) if since <= at)

    def renew(self, at: int) -> None:
        """Derive the constraint again from `at` on, after an edit of a model."""
        mounts = self._mounts()
        if mounts is not None:
            self._closures.append((at, self._closure(mounts, at)))

    def copied(self, mounts: Mounts) -> ClosedLoop:
        """Return the loop of a copied world."""
        twin = ClosedLoop(mounts, (self.of, self.on), self.on_T_of, self.dependents, self.since, self._closures)
        twin.until, twin.tag, twin.is_active = self.until, self.tag, self.is_active
        twin._opened_at = self._opened_at
        return twin

    # -- Files

    def entry(self) -> dict[str, Any]:
        """Return the loop as a file holds it, with what it constrained since when."""
        return {
            "of": self.of,
            "on": self.on,
            "on_T_of": list(self.on_T_of.__getstate__()),
            "dependents": list(self.dependents),
            "since_ns": self.since,
            "until_ns": self.until,
            "closures": [
                {
                    "since_ns": since,
                    "residual": expression_to_document(closure.residual),
                    "start": [closure.start[position(name)] for name in self.dependents],
                }
                for since, closure in self._closures
            ],
        }

    @classmethod
    def of_entry(cls, mounts: Mounts, field: Field) -> ClosedLoop:
        """Make the loop that an entry of a file describes; errors name the place."""
        parts = field.members(("of", "on", "on_T_of", "dependents", "since_ns", "until_ns", "closures"))
        dependents = [name.name() for name in parts["dependents"].items()]
        closures = [_closure_in(entry, dependents) for entry in parts["closures"].items()]
        since, until = parts["since_ns"].stamp(), parts["until_ns"].optional(Field.stamp)
        if [at for at, _ in closures][:1] != [since] or any(b < a for (a, _), (b, _) in pairwise(closures)):
            raise parts["closures"].refused("they begin when the loop was closed, and follow one another")
        if until is not None and until <= since:
            raise parts["until_ns"].refused("a loop is opened after it was closed")
        frames = parts["of"].name(), parts["on"].name()
        loop = cls(mounts, frames, transform_in(parts["on_T_of"]), dependents, since, closures)
        loop.until = until
        return loop

    def _closure(self, mounts: Mounts, at: int) -> Closure:
        top_T_of, top_T_on = poses_in_common(mounts, (self.of, self.on), at)
        variables = [position(name) for name in self.dependents]
        near = {variable: mounts.store.joint_row(variable.name, at, "hold")[0] or 0.0 for variable in variables}
        return Closure.of_poses(top_T_of, top_T_on @ self.on_T_of, dependents=variables, start=near)

    def __repr__(self) -> str:
        until = "" if self.until is None else f" until {self.until}"
        return f"ClosedLoop('{self.of}' on '{self.on}' since {self.since}{until}: {', '.join(self.dependents)})"


def _closure_in(field: Field, dependents: Sequence[str]) -> tuple[int, Closure]:
    parts = field.members(("since_ns", "residual", "start"))
    residual = decoded_expression(parts["residual"], VectorExpression)
    start = dict(zip(map(position, dependents), parts["start"].numbers(len(dependents)), strict=True))
    closure = field.checked(lambda: Closure(residual, dependents=list(start), start=start))
    return parts["since_ns"].stamp(), closure


def poses_in_common(mounts: Mounts, frames: tuple[str, str], at: int) -> tuple[PoseExpression, PoseExpression]:
    """Return the poses of two frames in their nearest common ancestor.

    Raises:
        InvalidArgument: Something else than joints of mounted models and fixed poses is between them.
    """
    links = {frame: link for mount in mounts.mounted for frame, link in mount.links.items()}
    store = mounts.store
    parents = store.parents(at)
    first, second = (_chain(store, frame, at, links, parents) for frame in frames)
    common = next((frame for frame in first if frame in second), None)
    if common is None:
        raise InvalidArgument(
            f"'{frames[0]}' and '{frames[1]}' are not joined by joints of mounted models and fixed poses alone: the "
            f"paths up from them end at '{list(first)[-1]}' and '{list(second)[-1]}'. Fix the roots of the two models.",
            frames,
        )
    return first[common], second[common]


def _chain(
    store: Store, frame: str, at: int, links: dict[str, MountedLink], parents: dict[str, Any]
) -> dict[str, PoseExpression]:
    """Return the pose of a frame in each of its ancestors, the nearest first."""
    pose = PoseExpression.identity()
    found = {frame: pose}
    while (step := _step_up(store, frame, at, links, parents)) is not None and step[0] not in found:
        frame, pose = step[0], step[1] @ pose
        found[frame] = pose
    return found


def _step_up(
    store: Store, frame: str, at: int, links: dict[str, MountedLink], parents: dict[str, Any]
) -> tuple[str, PoseExpression] | None:
    link = links.get(frame)
    if link is not None and link.parent is not None:
        return link.parent, link.parent_T_link
    above = parents.get(frame)
    if above is None:
        return None
    pose = store.pose(of=frame, in_frame=above[0], at=at)
    return (above[0], PoseExpression.from_transform(pose.transform)) if pose.stamp is None else None
