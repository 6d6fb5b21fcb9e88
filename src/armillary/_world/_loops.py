"""Loops that are closed between models that stand in one world."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from armillary._world._following import Followers
from armillary._world._mounting import MountingWorld
from armillary.errors import InvalidArgument
from armillary.stamps import as_stamp
from armillary.transforms import check_name

if TYPE_CHECKING:
    from armillary._world._closed_loop import ClosedLoop
    from armillary._world._mount import Mount
    from armillary.articulation.loops import Loops
    from armillary.scene import Change


class LoopingWorld(MountingWorld):
    """A world in which parts of models can hold each other."""

    _loops: tuple[ClosedLoop, ...] = ()
    _followers_of: tuple[tuple[object, ...], tuple[Followers, ...]] | None = None

    def close_loop(self, *, of: str, on: str, dependents: Sequence[str], at: int) -> ClosedLoop:
        """From an instant on let one frame stay where it is on another, so that joints follow from the others.

        Two arms hold a tray: the frame of one hand stays on that of the other. Whoever says where the joints of one
        arm are has said where the dependents are; poses, twists and joints are those of the closed loop at every
        instant, until it is opened. Joints of mounted models and fixed poses join the two frames.

        Args:
            of: The frame that is held: a link, or what is fixed to one.
            on: The frame that it is held on.
            dependents: Names of joints that follow from the others between the two.
            at: From this instant on [ns]; where the frames are to each other then, they stay.

        Returns:
            What `open(at=)` ends.

        Raises:
            SingularLoop: The loop does not determine these dependents.
            StampOutOfRange: Where the frames are at `at` is not known.
        """
        from armillary._world._closed_loop import ClosedLoop  # noqa: PLC0415  (see `mount`)

        since, frames, joints = as_stamp(at), (check_name(of), check_name(on)), self._as_dependents(dependents)
        if since is None:
            raise InvalidArgument("A loop is closed at an instant, and at= is None. Give a stamp.", at)
        pose = self.pose(of=frames[0], in_frame=frames[1], at=since)
        loop = ClosedLoop(self, frames, pose.transform, joints, since)
        self._try((*self._loops, loop), since)
        self._redrive(loop, (*self._loops, loop), since)
        return loop

    def _as_dependents(self, dependents: Sequence[str]) -> list[str]:
        if not isinstance(dependents, Sequence) or isinstance(dependents, str):
            raise InvalidArgument(f"The dependents of a loop are a list of joints, got {dependents!r}.", dependents)
        return [self._recall_joint(name) for name in dependents]

    @property
    def closed_loops(self) -> tuple[ClosedLoop, ...]:
        """What was closed between models, and may be open again, in the order it came."""
        return self._loops

    def _open_loop(self, loop: ClosedLoop, at: int) -> None:
        loop.until = at
        try:
            self._apply_loops(self._drives(self._loops, at), loop.opening_tag)
        except BaseException:
            loop.until = None
            raise

    def _redrive(self, loop: ClosedLoop, loops: tuple[ClosedLoop, ...], at: int) -> None:
        later = {stamp for other in self._loops for stamp in (other.since, other.until) if stamp is not None}
        stamps = [at, *sorted(stamp for stamp in later if stamp > at)]
        changes = [change for stamp in stamps for change in self._drives(loops, stamp)]
        self._apply_loops(changes, loop.tag)
        self._loops, self._has_loops = loops, True

    def _apply_loops(self, changes: Iterable[Change], tag: str) -> None:
        self.scene._applied(tuple(changes), tag=tag)  # noqa: SLF001  (one world, two modules)

    def _drives(self, loops: Sequence[ClosedLoop], at: int) -> Iterator[Change]:
        """How every link that a loop can move does so from an instant on."""
        names = {name for loop in loops for name in loop.dependents}
        together = self._together(loops, at)
        for mount in self._mounts:
            yield from mount.driven_anew(names, together, at)

    def _together(self, loops: Sequence[ClosedLoop], at: int) -> Loops:
        """All that is closed at an instant, within models and between them."""
        from armillary.articulation.loops import Loops  # noqa: PLC0415  (see `mount`)

        within = [closure for mount in self._mounts for closure in mount.closures]
        return Loops([*within, *(loop.closure_at(at) for loop in loops if loop.holds_at(at))])

    def _try(self, loops: Sequence[ClosedLoop], at: int) -> None:
        """Refuse what does not determine its dependents."""
        for system in self._together(loops, at).systems:
            known = {variable: self._joint(variable.name, at, "hold")[0] or 0.0 for variable in system.drivers}
            start = {variable: self._joint(variable.name, at, "hold")[0] or 0.0 for variable in system.dependents}
            system.solver().solve(known, start=start)

    def _all_followers(self, at: int) -> tuple[Followers, ...]:
        closed = tuple(loop for loop in self._loops if loop.holds_at(at))
        if not closed:
            return super()._all_followers(at)
        key = (*(mount.followers for mount in self._mounts), *(loop.closure_at(at) for loop in closed))
        if self._followers_of is None or self._followers_of[0] != key:
            systems = self._together(closed, at).systems
            self._followers_of = (key, tuple(Followers(system, str) for system in systems))
        return self._followers_of[1]

    def _edited(self, mount: Mount, at: int) -> None:
        for loop in self._loops:
            if loop.holds_at(at):
                loop.renew(at)
        if any(loop.holds_at(at) for loop in self._loops):
            self.scene._applied(tuple(self._drives(self._loops, at)), for_undo=False)  # noqa: SLF001
        super()._edited(mount, at)

    def _took_back(self, tag: str, *, again: bool) -> None:
        super()._took_back(tag, again=again)
        for loop in self._loops:
            loop.took_back(tag, again=again)

    def _copy_loops(self, other: LoopingWorld) -> None:
        self._loops = tuple(loop.copied(self) for loop in other._loops)
