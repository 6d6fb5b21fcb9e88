"""Joints that depend on others because a kinematic loop is closed: solved when those are set, and stored with them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from armillary.errors import InvalidArgument, LoopError, StampOutOfRange
from armillary.stamps import LATEST

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from armillary.articulation.loops import Closure
    from armillary.articulation.variables import Variable
    from armillary.store import Store
    from armillary.transforms import JointState

    Configuration = tuple[dict[Variable, float], dict[Variable, float]]

__all__ = ["DependentJoints"]

_SAME = 1e-9
_WINDOW_NS = 1_000_000_000
_LARGEST_NS = 2**60


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

        Drivers that are not among them keep their values; where one of them was never set, nothing follows. The loop is
        followed from the sample before, so that the result depends on what is stored alone.

        Raises:
            LoopError: The loop cannot be closed there.
        """
        if not self._drivers.keys() & joints.keys() or self._dependents.keys() <= joints.keys():
            return
        drivers = {variable: _known(store, joints, name, at) for name, variable in self._drivers.items()}
        if any(value is None or not math.isfinite(value) for value in drivers.values()):  # the core refuses it by name
            return
        before = self._configuration_before(store, at)
        found = self._solver.follow(before, {key: value or 0.0 for key, value in drivers.items()})
        joints.update({name: found[variable] for name, variable in self._dependents.items()})

    def complete_series(self, store: Store, columns: dict[str, NDArray[np.float64]], stamps: NDArray[np.int64]) -> None:
        """Add the columns of the dependents, for many instants in their order.

        The loop is followed from row to row.

        Raises:
            LoopError: Names the first row in which the loop cannot be closed.
        """
        if not self._drivers.keys() & columns.keys() or self._dependents.keys() <= columns.keys():
            return
        drivers = [_column(store, columns, name, stamps) for name in self._drivers]
        if any(column is None for column in drivers):
            return
        before = self._configuration_before(store, int(stamps[0]))
        rows = np.column_stack([c for c in drivers if c is not None])
        found = self._solver.solve_rows(rows, before=before, is_first=before is None)
        columns.update(zip(self._dependents, found.T, strict=True))

    def follow_later(self, store: Store, first: int, last: int, count: int, source: str | None) -> None:
        """Follow the loop anew through samples that are later than some of the `count` new ones, `first` until `last`.

        So the samples alone decide, whatever their order. It ends with the first sample that stays as it was; one to
        which the loop cannot be followed stays, too.
        """
        name, who = next(iter(self._dependents)), store.name if source is None else source
        newest = _newest(store, name)
        if newest is None or (count == 1 and newest <= last) or who not in store.joint_sources(name):
            return
        if count > 1 and len(store.joint_rows(name, first, last, who)[0]) <= count:  # no others are among them
            first = last
        if newest <= first:
            return
        before = self._configuration_at(store, first)
        for stamp in map(int, store.joint_rows(name, first + 1, None, who)[0]):
            drivers, stored = self._configuration_at(store, stamp)
            try:
                found = self._solver.follow(before, drivers)
            except LoopError:
                continue
            before = drivers, found
            if max(abs(found[variable] - stored[variable]) for variable in stored) > _SAME:
                values = {dependent: found[variable] for dependent, variable in self._dependents.items()}
                store.restore_joints(values, stamp, {}, who, is_integrated=False)
            elif stamp > last:
                return

    def polished(self, store: Store, name: str, state: JointState) -> JointState:
        """Return the state of a dependent with the loop closed, which interpolation only approximates.

        Raises:
            LoopError: The loop cannot be closed there.
        """
        if name not in self._dependents:
            return state
        states = {v: store.joint(driver, at=state.stamp, outside="hold") for driver, v in self._drivers.items()}
        drivers = {variable: one.value or 0.0 for variable, one in states.items()}
        before = self._configuration_before(store, state.stamp + 1)
        found = self._solver.follow(before, drivers)
        speeds = {variable: one.velocity for variable, one in states.items() if one.velocity is not None}
        moves = len(speeds) == len(states) and state.velocity is not None and not state.held
        rates = self._solver.rates(drivers, found, speeds) if moves else {}
        wanted = self._dependents[name]
        return replace(state, value=found[wanted], velocity=rates.get(wanted, state.velocity))

    def _configuration_before(self, store: Store, at: int) -> Configuration | None:
        """Return the drivers and dependents at the newest sample before an instant; None where there is none."""
        name = next(iter(self._dependents))
        newest = _newest(store, name)
        if newest is None:
            return None
        stamp = newest if newest < at else _sample_before(store, name, at)
        return None if stamp is None else self._configuration_at(store, stamp)

    def _configuration_at(self, store: Store, at: int) -> Configuration:
        drivers = {variable: _known(store, {}, name, at) or 0.0 for name, variable in self._drivers.items()}
        return drivers, {variable: _known(store, {}, name, at) or 0.0 for name, variable in self._dependents.items()}


def _newest(store: Store, name: str) -> int | None:
    """Return the stamp of the newest sample of a joint."""
    try:
        return store.joint_row(name, LATEST, "raise")[2]
    except StampOutOfRange:
        return None


def _sample_before(store: Store, name: str, at: int) -> int | None:
    """Return the stamp of the last sample of a joint before an instant, by any of its sources."""
    window = _WINDOW_NS
    while True:
        start = None if window > _LARGEST_NS else at - window
        found = [store.joint_rows(name, start, at - 1, source)[0] for source in store.joint_sources(name)]
        stamps = [int(rows[-1]) for rows in found if len(rows)]
        if stamps or start is None:
            return max(stamps, default=None)
        window *= 1000


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
