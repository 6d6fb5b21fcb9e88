"""Two frames that hold each other for a while, so that joints of mounted models follow from others."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING

from armillary._core import NodeId
from armillary._world._chains import poses_in_common
from armillary.articulation.loops import Closure
from armillary.articulation.variables import position
from armillary.errors import InvalidArgument, WorldClosed
from armillary.stamps import as_stamp

if TYPE_CHECKING:
    from armillary._core import Transform
    from armillary._world._loops import LoopingWorld

__all__ = ["ClosedLoop"]


class ClosedLoop:
    """What `world.close_loop` gives: `open` ends it.

    Attributes:
        of: The frame that is held.
        on: The frame that it is held on.
        on_T_of: Where, from `since` on.
        dependents: The joints that follow.
        since: From when on the two hold each other [ns].
        until: Up to before when; None: until somebody opens it.
        tag: Of the change of structure that closed it.
        is_standing: False where that was undone.
    """

    def __init__(  # noqa: PLR0917  (made in one place)
        self,
        world: LoopingWorld,
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
        self.is_standing = True
        self._opened_at: int | None = None
        self._world = weakref.ref(world)
        self._closures = list(closures) or [(since, self._closure(world, since))]

    def open(self, *, at: int) -> None:
        """From `at` on [ns] the two do not hold each other any more."""
        world, stamp = self._world(), as_stamp(at)
        if world is None:
            raise WorldClosed
        if stamp is None or stamp <= self.since or not self.is_standing:
            raise InvalidArgument(
                f"The loop is closed since {self.since} ns: it is opened at a later instant, got {at!r}.", at
            )
        if self.until is not None:
            raise InvalidArgument(f"The loop is open already, since {self.until} ns.", at)
        world._open_loop(self, stamp)  # noqa: SLF001  (one world, two modules)

    @property
    def opening_tag(self) -> str:
        """Of the change that opened it."""
        return f"opening of {self.tag}"

    def took_back(self, tag: str, *, again: bool) -> None:
        """Its closing or its opening was undone, or done again."""
        if tag == self.tag:
            self.is_standing = again
        if tag == self.opening_tag:
            self._opened_at = self._opened_at if again else self.until
            self.until = self._opened_at if again else None

    def holds_at(self, at: int) -> bool:
        """Whether the two hold each other then."""
        return self.is_standing and self.since <= at and (self.until is None or at < self.until)

    def closure_at(self, at: int) -> Closure:
        """What is zero then; the models may be others since it was closed."""
        return next(closure for since, closure in reversed(self._closures) if since <= at)

    def renew(self, at: int) -> None:
        """A model was edited: from then on the loop goes through it as it is."""
        world = self._world()
        if world is not None:
            self._closures.append((at, self._closure(world, at)))

    def copied(self, world: LoopingWorld) -> ClosedLoop:
        """The same in a copy of the world."""
        twin = ClosedLoop(world, (self.of, self.on), self.on_T_of, self.dependents, self.since, self._closures)
        twin.until, twin.tag, twin.is_standing = self.until, self.tag, self.is_standing
        twin._opened_at = self._opened_at
        return twin

    def _closure(self, world: LoopingWorld, at: int) -> Closure:
        top_T_of, top_T_on = poses_in_common(world, (self.of, self.on), at)
        variables = [position(name) for name in self.dependents]
        near = {variable: world._joint(variable.name, at, "hold")[0] or 0.0 for variable in variables}  # noqa: SLF001
        return Closure.of_poses(top_T_of, top_T_on @ self.on_T_of, dependents=variables, start=near)

    def __repr__(self) -> str:
        until = "" if self.until is None else f" until {self.until}"
        return f"ClosedLoop('{self.of}' on '{self.on}' since {self.since}{until}: {', '.join(self.dependents)})"
