"""How the uncertainty of a pose follows its algebra.

The covariance is that of a small displacement of the body relative to the reference body, taken at `point` and along
the axes of `of`: for a frame form, `T = mean . Exp(xi)`. It does not depend on the reference point, nor on the axes of
the position. Where the lever arm is not known along the axes of one of the two frames, the answer is unknown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from armillary.errors import NotNumeric
from armillary.relations._orientation import turned_spread
from armillary.relations.arrays import Array, added, both_turned, frozen, point_moved, seen_through
from armillary.relations.storage import are_independent

if TYPE_CHECKING:
    from armillary.relations._orientation import Orientation
    from armillary.relations._pose import Pose
    from armillary.relations._position import Position


def _in_target_axes(pose: Pose, vector: Array) -> Array | None:
    """A vector along `expressed_in`, along the axes of `of`."""
    if pose.expressed_in == pose.of:
        return vector
    if pose.expressed_in == pose.in_frame:
        return pose.rotation.matrix.T @ vector
    return None


def _is_numeric(*poses: Pose) -> bool:
    try:
        return all(pose.rotation is not None and pose.xyz is not None for pose in poses)
    except NotNumeric:
        return False


def of_position(pose: Pose) -> Array | None:
    """That of the position alone, (3, 3), along `expressed_in`; these axes count as exact."""
    if pose.covariance is None:
        return None
    spread = frozen(pose.covariance[:3, :3])
    if pose.expressed_in == pose.of:
        return spread
    turned: Array | None = turned_spread(pose, spread)
    return turned if pose.expressed_in == pose.in_frame else None


def of_orientation(pose: Pose) -> Array | None:
    """That of the orientation alone, (3, 3), about the axes of `of`."""
    return None if pose.covariance is None else frozen(pose.covariance[3:, 3:])


def inverted(pose: Pose) -> Array | None:
    """The reference body displaced the other way, at the reference point and along `in_frame`."""
    if pose.covariance is None or not _is_numeric(pose):
        return None
    arm = _in_target_axes(pose, pose.xyz)
    return None if arm is None else _moved_and_turned(pose.covariance, -arm, pose.rotation.matrix)


def composed(a: Pose, b: Pose) -> Array | None:
    """The displacement of `a`'s body carried to the point and axes of `b`, and that of `b`, as independent errors."""
    if a.covariance is None or b.covariance is None or not _is_numeric(a, b) or not are_independent(a, b):
        return None
    arm = _in_target_axes(b, b.xyz)
    if arm is None:
        return None
    R = b.rotation.matrix
    return added(_moved_and_turned(a.covariance, R @ arm, R.T), b.covariance)


def at_another_point(pose: Pose, helper: Position) -> Array | None:
    """The same displacement at another point of the body."""
    if pose.covariance is None or not _is_numeric(pose):
        return None
    arm = _in_target_axes(pose, helper.xyz)
    return None if arm is None else seen_through(point_moved(arm), pose.covariance)


def in_other_axes(pose: Pose, helper: Orientation) -> Array | None:
    """The same displacement along other axes of the body."""
    if pose.covariance is None or not _is_numeric(pose):
        return None
    return seen_through(both_turned(helper.rotation.matrix.T), pose.covariance)


def _moved_and_turned(covariance: Array, arm: Array, R: Array) -> Array:
    moved = both_turned(R) @ point_moved(arm)
    result = moved @ covariance @ moved.T
    return frozen(0.5 * (result + result.T))
