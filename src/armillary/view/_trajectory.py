"""Samples of a pose over time: position, angles and speeds, with their standard deviations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from armillary.errors import ArmillaryError, BeforeHistory, InvalidArgument, StampOutOfRange
from armillary.stamps import as_stamp, seconds

if TYPE_CHECKING:
    from numpy import float64, int64
    from numpy.typing import NDArray

    from armillary.relations import Pose, Twist
    from armillary.view._world_protocol import DrawableWorld

POSITION, ANGLES, SPEED, TURNING = slice(0, 3), slice(3, 6), slice(6, 7), slice(7, 8)
_WIDTH = 8
_INSTANTS = 600
_EARLIEST = -seconds(4e9)
_UPRIGHT = 1e-9  # smallest cosine of the pitch: below it, roll and yaw are not distinguishable


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Trajectory:
    """Position, orientation and speeds of a frame over time.

    Attributes:
        stamps: (N,) int64 [ns].
        values: (N, 8): x, y, z [m], roll, pitch, yaw [rad], speed [m/s], angular speed [rad/s]; NaN where unknown.
        deviations: (N, 8): standard deviation of each value; NaN where unknown.
    """

    stamps: NDArray[int64]
    values: NDArray[float64]
    deviations: NDArray[float64]


def sample_trajectory(
    world: DrawableWorld, of: str, in_frame: str, start: int | None, end: int | None, *, policy: Any = "unique"
) -> Trajectory:
    """Query poses and twists at evenly spaced instants from `start` to `end`, both included."""
    first, last = _span(world, of, in_frame, start, end, policy=policy)
    stamps = np.unique(np.linspace(0, last - first, _INSTANTS).round().astype(np.int64)) + first
    rows = [_row(world, of, in_frame, stamp, policy) for stamp in stamps.tolist()]
    values, deviations = (np.array(column) for column in zip(*rows, strict=True))
    values[:, ANGLES] = _unwrapped(values[:, ANGLES])
    return Trajectory(stamps=stamps, values=values, deviations=deviations)


def _span(
    world: DrawableWorld, of: str, in_frame: str, start: int | None, end: int | None, *, policy: Any
) -> tuple[int, int]:
    start, end = as_stamp(start, "start"), as_stamp(end, "end")
    last = world.pose(of=of, in_frame=in_frame, policy=policy).stamp if end is None else end
    if last is None:
        raise InvalidArgument(f"'{of}' is fixed in '{in_frame}': its pose has no history to plot.", of)
    first = _first(world, of, in_frame, last, policy) if start is None else start
    if first > last:
        raise InvalidArgument(f"start = {first} ns is after end = {last} ns. Give start= before end=.", start)
    return first, last


def _first(world: DrawableWorld, of: str, in_frame: str, last: int, policy: Any) -> int:
    """Return the oldest instant with a known pose; each error reports the beginning of one edge."""
    at = _EARLIEST
    while True:
        try:
            world.pose(of=of, in_frame=in_frame, at=at, policy=policy)
        except BeforeHistory as error:
            at = last if error.first is None else error.first
        except ArmillaryError:
            # At that time there was another path, or none: start at the oldest sample of all relations.
            return min((info.first for info in world.relations() if info.first is not None), default=last)
        else:
            return at


def _row(
    world: DrawableWorld, of: str, in_frame: str, at: int, policy: Any
) -> tuple[NDArray[float64], NDArray[float64]]:
    values, deviations = np.full((2, _WIDTH), np.nan)
    try:
        pose = world.pose(of=of, in_frame=in_frame, at=at, policy=policy)
        values[:6] = [*pose.xyz, *pose.rotation.rpy]
        deviations[:6] = _pose_deviations(pose)
        twist = world.twist(of=of, relative_to=in_frame, expressed_in=in_frame, at=at, policy=policy)
    except (LookupError, StampOutOfRange):
        return values, deviations
    values[6:] = [np.linalg.norm(twist.linear), np.linalg.norm(twist.angular)]
    deviations[6:] = _twist_deviations(twist)
    return values, deviations


def _pose_deviations(pose: Pose) -> NDArray[float64]:
    """Return the standard deviations of x, y, z, roll, pitch, yaw, to first order."""
    if pose.covariance is None:
        return np.full(6, np.nan)
    to_axes = np.zeros((6, 6))
    to_axes[:3, :3] = pose.rotation.matrix
    to_axes[3:, 3:] = _rpy_rates(*pose.rotation.rpy.tolist())
    variances = np.diagonal(to_axes @ pose.covariance @ to_axes.T)
    # The standard deviation of an angle is at most pi.
    bounds = np.array([np.inf] * 3 + [np.pi] * 3)
    return np.asarray(np.minimum(np.sqrt(np.maximum(variances, 0.0)), bounds))


def _rpy_rates(roll: float, pitch: float, _yaw: float) -> NDArray[float64]:
    """Return the (3, 3) derivative of roll, pitch and yaw by a rotation about the axes of the frame itself."""
    sin, cos = np.sin(roll), np.cos(roll)
    tilt = max(np.cos(pitch), _UPRIGHT)
    tan = np.sin(pitch) / tilt
    return np.array([[1.0, sin * tan, cos * tan], [0.0, cos, -sin], [0.0, sin / tilt, cos / tilt]])


def _twist_deviations(twist: Twist) -> NDArray[float64]:
    """Return the standard deviations of the linear and the angular speed."""
    if twist.covariance is None:
        return np.full(2, np.nan)
    blocks = (twist.covariance[:3, :3], twist.covariance[3:, 3:])
    return np.array([_along(v, block) for v, block in zip((twist.linear, twist.angular), blocks, strict=True)])


def _along(v: NDArray[float64], covariance: NDArray[float64]) -> float:
    length = np.linalg.norm(v)
    variance = v @ covariance @ v / length**2 if length > 0.0 else np.linalg.eigvalsh(covariance)[-1]
    return float(np.sqrt(max(variance, 0.0)))


def _unwrapped(angles: NDArray[float64]) -> NDArray[float64]:
    """Remove jumps of whole turns, also across gaps."""
    known = ~np.isnan(angles[:, 0])
    if known.any():
        angles[known] = np.unwrap(angles[known], axis=0)
    return angles
