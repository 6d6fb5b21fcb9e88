"""Joints that depend on others because a kinematic loop is closed: solved when those are set, and stored with them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from armillary.errors import InvalidArgument, StampOutOfRange

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from armillary.articulation.loops import Closure
    from armillary.articulation.variables import Variable
    from armillary.store import Store
    from armillary.transforms import JointState

__all__ = ["DependentJoints"]


class DependentJoints:
    """The dependent joints of one system of kinematic loops, in a store.

    Args:
        closure: The system.
        named: Returns the name of a variable in the world.
    """

    def __init__(self, closure: Closure, named: Callable[[str], str]) -> None:
        self._closure, self._solver = closure, closure.solver()
        self._drivers = {named(variable.name): variable for variable in closure.drivers}
        self._dependents = {named(variable.name): variable for variable in closure.dependents}

    def complete(self, store: Store, joints: dict[str, float], at: int) -> None:
        """Add the dependents to the values of their drivers.

        Drivers that are not among them keep their values; where one of them was never set, nothing follows. The solver
        starts from the stored values of the dependents, so that the result depends on what is stored alone.

        Raises:
            LoopError: The loop cannot be closed there.
        """
        if not self._drivers.keys() & joints.keys() or self._dependents.keys() <= joints.keys():
            return
        drivers = {variable: _known(store, joints, name, at) for name, variable in self._drivers.items()}
        if any(value is None or not math.isfinite(value) for value in drivers.values()):  # the core refuses it by name
            return
        start = {variable: self._begin(store, joints, name, at) for name, variable in self._dependents.items()}
        found = self._solver.solve({key: value or 0.0 for key, value in drivers.items()}, start=start)
        joints.update({name: found[variable] for name, variable in self._dependents.items()})

    def complete_series(self, store: Store, columns: dict[str, NDArray[np.float64]], stamps: NDArray[np.int64]) -> None:
        """Add the columns of the dependents, for many instants in their order.

        The solver starts each row from the result of the row before.

        Raises:
            LoopError: Names the first row in which the loop cannot be closed.
        """
        if not self._drivers.keys() & columns.keys() or self._dependents.keys() <= columns.keys():
            return
        drivers = [_column(store, columns, name, stamps) for name in self._drivers]
        if any(column is None for column in drivers):
            return
        first = {name: float(column[0]) for name, column in columns.items()}
        start = {self._dependents[name]: self._begin(store, first, name, int(stamps[0])) for name in self._dependents}
        found = self._solver.solve_rows(np.column_stack([c for c in drivers if c is not None]), start=start)
        columns.update(zip(self._dependents, found.T, strict=True))

    def polished(self, store: Store, name: str, state: JointState) -> JointState:
        """Return the state of a dependent with the loop closed, which interpolation only approximates.

        Raises:
            LoopError: The loop cannot be closed there.
        """
        if name not in self._dependents:
            return state
        states = {v: store.joint(driver, at=state.stamp, outside="hold") for driver, v in self._drivers.items()}
        drivers = {variable: one.value or 0.0 for variable, one in states.items()}
        start = {v: self._begin(store, {}, dependent, state.stamp) for dependent, v in self._dependents.items()}
        found = self._solver.solve(drivers, start=start)
        speeds = {variable: one.velocity for variable, one in states.items() if one.velocity is not None}
        moves = len(speeds) == len(states) and state.velocity is not None and not state.held
        rates = self._solver.rates(drivers, found, speeds) if moves else {}
        wanted = self._dependents[name]
        return replace(state, value=found[wanted], velocity=rates.get(wanted, state.velocity))

    def _begin(self, store: Store, joints: Mapping[str, float], name: str, at: int) -> float:
        variable: Variable = self._dependents[name]
        known = _known(store, joints, name, at)
        return self._closure.start[variable] if known is None else known


def _column(
    store: Store, columns: Mapping[str, NDArray[np.float64]], name: str, stamps: NDArray[np.int64]
) -> NDArray[np.float64] | None:
    """Return the positions of a driver at each instant; None where it was never set."""
    if name in columns:
        return columns[name]
    known = [_known(store, {}, name, int(at)) for at in stamps]
    found = [value for value in known if value is not None]
    if len(found) == len(known):
        return np.array(found)
    if found:
        raise InvalidArgument(
            f"Some of these samples close a loop, and before others '{name}' was not set. Set it first.", name
        )
    return None


def _known(store: Store, joints: Mapping[str, Any], name: str, at: int) -> float | None:
    if name in joints:
        return float(joints[name])
    try:
        return store.joint_row(name, at, "hold")[0]
    except StampOutOfRange:
        return None
