"""Joints that follow from others because a loop is closed: found when those are said, and stored with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from armillary.errors import StampOutOfRange

if TYPE_CHECKING:
    from collections.abc import Mapping

    from armillary._world._mounting import MountingWorld
    from armillary.articulation.loops import Closure
    from armillary.articulation.naming import Naming
    from armillary.articulation.variables import Variable

__all__ = ["Followers"]


class Followers:
    """The dependents of one system of loops, in a world."""

    def __init__(self, closure: Closure, naming: Naming) -> None:
        self._closure, self._solver = closure, closure.solver()
        self._drivers = {naming.variable(variable.name): variable for variable in closure.drivers}
        self._dependents = {naming.variable(variable.name): variable for variable in closure.dependents}

    def complete(
        self, world: MountingWorld, joints: dict[str, float], at: int, near: Mapping[str, float] | None = None
    ) -> None:
        """Add the dependents to what is said of their drivers; `near` says where some of them were just before.

        Drivers that are not among them are where they were; where one of them was never said, nothing follows. The
        search begins where the dependents are known to be, so that it depends on what is stored alone.

        Raises:
            LoopError: The loop cannot be closed there.
        """
        if not self._drivers.keys() & joints.keys() or self._dependents.keys() <= joints.keys():
            return
        drivers = {variable: _known(world, joints, name, at) for name, variable in self._drivers.items()}
        if any(value is None for value in drivers.values()):
            return
        known = {**(near or {}), **joints}
        start = {variable: self._begin(world, known, name, at) for name, variable in self._dependents.items()}
        found = self._solver.solve({key: value or 0.0 for key, value in drivers.items()}, start=start)
        joints.update({name: found[variable] for name, variable in self._dependents.items()})

    def _begin(self, world: MountingWorld, joints: Mapping[str, float], name: str, at: int) -> float:
        variable: Variable = self._dependents[name]
        known = _known(world, joints, name, at)
        return self._closure.start[variable] if known is None else known


def _known(world: MountingWorld, joints: Mapping[str, Any], name: str, at: int) -> float | None:
    if name in joints:
        return float(joints[name])
    try:
        return world.joint(name, at=at, outside="hold").value
    except StampOutOfRange:
        return None
