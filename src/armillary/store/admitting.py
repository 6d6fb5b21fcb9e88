"""What is said of joints before it is stored: joints that follow others, names that nobody knows, and limits."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from armillary.errors import (
    InvalidArgument,
    JointLimitsExceeded,
    JointLimitsWarning,
    JointsDisagree,
    UnknownJointsSkipped,
)
from armillary.errors.format import short_repr

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from armillary.store.store import Store
    from armillary.transforms import JointState

__all__ = ["Follower", "admit_joint_series", "admit_joints"]

V = TypeVar("V")
_UNKNOWN, _LIMITS = ("raise", "skip"), ("ignore", "warn", "raise")


@dataclass(frozen=True, slots=True)
class Follower:
    """A joint that follows another one: position = multiplier * (position of `leader`) + offset.

    Attributes:
        leader: The name of the variable that it follows, in the world.
        multiplier: How far it moves when that moves by one.
        offset: Where it is when that is at zero.
        tolerance: How far it may be reported from there [rad] or [m].
    """

    leader: str
    multiplier: float
    offset: float
    tolerance: float

    def following(self, leader: JointState) -> JointState:
        """Return the state of the follower, from that of its leader."""
        value, velocity = (
            None if number is None else self.multiplier * number + offset
            for number, offset in ((leader.value, self.offset), (leader.velocity, 0.0))
        )
        return replace(leader, value=value, velocity=velocity)

    def leading(self, position: Any) -> Any:
        """Return where the leader is, from where the follower is."""
        return (position - self.offset) / self.multiplier


def admit_joints(  # noqa: PLR0917  (called by the bindings)
    store: Store,
    joints: Mapping[str, float],
    at: int,  # noqa: ARG001  (limits may come to depend on it)
    velocities: Mapping[str, float] | None,
    covariance: ArrayLike | None,
    unknown: str,
    limits: str,
) -> tuple[dict[str, float], dict[str, float] | None, ArrayLike | None]:
    """Return what is stored of these joints: of variables alone.

    Raises:
        JointsDisagree: A joint is not where the one that it follows puts it.
        JointLimitsExceeded: A position is outside its limits, and `limits` is "raise".
    """
    _check_options(unknown, limits)
    kept = _without_unknown(store, joints, velocities or {}) if unknown == "skip" else dict(joints)
    speeds = {name: value for name, value in (velocities or {}).items() if unknown != "skip" or _is_known(store, name)}
    columns = _columns(store, kept)
    _check_followers(store, {name: np.array([float(value)]) for name, value in kept.items() if _is_number(value)})
    positions = {leader: _led(store, name, kept[name]) for leader, name, _ in columns}
    moving = {
        leader: speeds[name] / scale if scale != 1.0 else speeds[name]
        for leader, name, scale in columns
        if name in speeds
    }
    followers = _followers(store)
    moving |= {name: value for name, value in speeds.items() if name not in kept and name not in followers}
    if limits != "ignore":
        _check_limits(store, positions, limits)
    order = list(joints)
    sure = _selected(covariance, [(order.index(name), scale) for _, name, scale in columns], len(order))
    return positions, (None if velocities is None else moving), sure


def admit_joint_series(  # noqa: PLR0917  (called by the bindings)
    store: Store,
    names: Sequence[str],
    positions: ArrayLike,
    velocities: ArrayLike | None,
    covariance: ArrayLike | None,
    unknown: str,
    limits: str,
) -> tuple[list[str], ArrayLike, ArrayLike | None, ArrayLike | None]:
    """Return the columns of variables alone, of joints at many instants."""
    _check_options(unknown, limits)
    try:
        values = np.asarray(positions, dtype=float)
    except (TypeError, ValueError, OverflowError):  # the core refuses it in words
        return list(names), positions, velocities, covariance
    if values.ndim != 2 or values.shape[1] != len(names):  # noqa: PLR2004  (the core refuses it in words)
        return list(names), positions, velocities, covariance
    table = dict(zip(names, values.T, strict=True))
    if len(table) != len(names):  # one is there twice: the core refuses it in words
        return list(names), positions, velocities, covariance
    if unknown == "skip":
        table = _without_unknown(store, table, {})
    _check_followers(store, table)
    columns = _columns(store, table)
    places = [(list(names).index(name), scale) for _, name, scale in columns]
    led = {leader: _led(store, name, table[name]) for leader, name, _ in columns}
    if limits != "ignore":
        _check_limits_of_rows(store, led, limits)
    kept = np.column_stack(list(led.values())) if led else np.empty((len(values), 0))
    speeds = velocities
    if velocities is not None:
        given = np.asarray(velocities, dtype=float)
        if given.shape == values.shape:
            moving = [given[:, place] / scale for place, scale in places]
            speeds = np.column_stack(moving) if moving else kept
    return [leader for leader, _, _ in columns], kept, speeds, _selected(covariance, places, len(names))


def _check_options(unknown: str, limits: str) -> None:
    for value, known, name in ((unknown, _UNKNOWN, "unknown"), (limits, _LIMITS, "limits")):
        if not isinstance(value, str) or value not in known:
            shown = ", ".join(map(repr, known))
            raise InvalidArgument(f"{name} is one of {shown}, got {short_repr(value)}.", value)


def _followers(store: Store) -> Mapping[str, Follower]:
    return {} if store.mechanisms is None else store.mechanisms.followers


def _is_known(store: Store, name: str) -> bool:
    return name in _followers(store) or name in store.joints()


def _without_unknown(store: Store, joints: Mapping[str, V], velocities: Mapping[str, float]) -> dict[str, V]:
    known = {*store.joints(), *_followers(store)}
    strange = [name for name in {**joints, **velocities} if name not in known]
    new = [str(name) for name in strange if f"joint {name}" not in store.warned_of]
    if new:
        store.warned_of.update(f"joint {name}" for name in new)
        warnings.warn(UnknownJointsSkipped(new, sorted(known)), stacklevel=3)
    return {name: value for name, value in joints.items() if name in known}


def _columns(store: Store, given: Mapping[str, Any]) -> list[tuple[str, str, float]]:
    """Return (variable, name it is said by, factor): each variable once, by its own name where that is given."""
    followers, found = _followers(store), dict[str, tuple[str, float]]()
    for name in given:
        follower = followers.get(name)
        if follower is None:
            found[name] = name, 1.0
        elif follower.leader not in given and follower.leader not in found and follower.multiplier != 0.0:
            found[follower.leader] = name, follower.multiplier
    return [(variable, name, scale) for variable, (name, scale) in found.items()]


def _led(store: Store, name: str, value: Any) -> Any:
    follower = _followers(store).get(name)
    return value if follower is None else follower.leading(value)


def _check_followers(store: Store, given: Mapping[str, NDArray[np.float64]]) -> None:
    """Refuse joints that are not where those that they follow put them."""
    followers = _followers(store)
    led = {variable: _led(store, name, given[name]) for variable, name, _ in _columns(store, given)}
    for name, values in given.items():
        follower = followers.get(name)
        if follower is None or follower.leader not in led:
            continue
        expected = follower.multiplier * led[follower.leader] + follower.offset
        gaps = np.abs(values - expected)
        if np.any(gaps > follower.tolerance):  # what is no number is refused by the core
            row = int(np.nanargmax(gaps))
            raise JointsDisagree(name, follower.leader, float(expected[row]), float(values[row]), follower.tolerance)


def _check_limits(store: Store, positions: Mapping[str, Any], limits: str) -> None:
    bounds = {} if store.mechanisms is None else store.mechanisms.limits
    broken = [
        (name, float(value), *bounds[name])
        for name, value in positions.items()
        if name in bounds and _is_number(value) and not _within(float(value), *bounds[name])
    ]
    if broken and limits == "raise":
        raise JointLimitsExceeded(broken)
    if broken:
        warnings.warn(JointLimitsWarning(broken), stacklevel=3)


def _check_limits_of_rows(store: Store, columns: Mapping[str, NDArray[np.float64]], limits: str) -> None:
    """Look at the position of each joint that is farthest beyond a limit."""
    bounds = {} if store.mechanisms is None else store.mechanisms.limits
    worst = {}
    for name, values in columns.items():
        if name in bounds and values.size and np.isfinite(values).any():
            low, high = bounds[name]
            worst[name] = float(values[np.nanargmax(np.maximum(low - values, values - high))])
    _check_limits(store, worst, limits)


def _within(value: float, low: float, high: float) -> bool:
    rounding = 1e-9
    return not math.isfinite(value) or low - rounding <= value <= high + rounding


def _is_number(value: Any) -> bool:
    try:
        return not isinstance(value, bool | str) and math.isfinite(float(value))
    except (TypeError, ValueError, OverflowError):
        return False


def _selected(covariance: ArrayLike | None, places: Sequence[tuple[int, float]], given: int) -> ArrayLike | None:
    """Return the rows and columns of a covariance of these places, each divided by its factor."""
    if covariance is None:
        return None
    matrix = np.asarray(covariance, dtype=float)
    size = matrix.shape[-1] if matrix.ndim else 0
    if size not in {given, 2 * given}:
        return covariance
    starts = range(0, size, given)
    index = [start + place for start in starts for place, _ in places]
    factors = np.array([1.0 / scale for _ in starts for _, scale in places])
    if matrix.ndim == 1:
        return np.asarray(matrix[index] * factors**2)
    return np.asarray(matrix[..., index, :][..., index] * np.outer(factors, factors))
