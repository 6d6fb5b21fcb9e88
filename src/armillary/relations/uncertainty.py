"""How the uncertainty and the origin of poses follow their algebra.

The covariance of a pose is that of a small displacement of the body relative to the reference body, taken at `point`
and along the axes of `of`: for a frame form, `T = mean . Exp(xi)`. It does not depend on the reference point, nor on
the axes of the position. Where the lever arm is not known along the axes of one of the two frames, it is unknown: None.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from armillary.errors import NotNumeric
from armillary.relations import _checks
from armillary.relations._orientation import turned_spread
from armillary.relations.arrays import Array, added, both_turned, frozen, point_moved, seen_through, with_helper
from armillary.relations.representations import PositionQuaternion
from armillary.relations.storage import are_independent, origin_of, origin_with, spread_of_helper

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy import float64
    from numpy.typing import NDArray

    from armillary.relations._orientation import Orientation
    from armillary.relations._pose import Pose
    from armillary.relations._position import Position


def _in_target_axes(pose: Pose, vector: Array) -> Array | None:
    """Return a vector that is along `expressed_in` along the axes of `of`; None where that is unknown."""
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
    """Return the covariance of the position, (3, 3), along `expressed_in`; these axes count as exact."""
    if pose.covariance is None:
        return None
    spread = frozen(pose.covariance[:3, :3])
    if pose.expressed_in == pose.of:
        return spread
    turned: Array | None = turned_spread(pose, spread)
    return turned if pose.expressed_in == pose.in_frame else None


def of_orientation(pose: Pose) -> Array | None:
    """Return the covariance of the orientation, (3, 3), about the axes of `of`."""
    return None if pose.covariance is None else frozen(pose.covariance[3:, 3:])


def inverted(pose: Pose) -> Array | None:
    """Return the covariance of the inverse pose, at the reference point and along `in_frame`."""
    if pose.covariance is None or not _is_numeric(pose):
        return None
    arm = _in_target_axes(pose, pose.xyz)
    return None if arm is None else _moved_and_turned(pose.covariance, -arm, pose.rotation.matrix)


def composed(a: Pose, b: Pose) -> Array | None:
    """Return the covariance of `a @ b`: that of `a` moved to the point and axes of `b`, plus that of `b`."""
    if a.covariance is None or b.covariance is None or not _is_numeric(a, b) or not are_independent(a, b):
        return None
    arm = _in_target_axes(b, b.xyz)
    if arm is None:
        return None
    R = b.rotation.matrix
    return added(_moved_and_turned(a.covariance, R @ arm, R.T), b.covariance)


def at_another_point(pose: Pose, helper: Position) -> Array | None:
    """Return the covariance at another point of the body."""
    if pose.covariance is None or not _is_numeric(pose):
        return None
    arm = _in_target_axes(pose, helper.xyz)
    if arm is None:
        return None
    to_target = np.eye(3) if pose.expressed_in == pose.of else pose.rotation.matrix.T
    J = np.vstack([to_target, np.zeros((3, 3))])
    return with_helper(seen_through(point_moved(arm), pose.covariance), J, spread_of_helper(pose, helper))


def in_other_axes(pose: Pose, helper: Orientation) -> Array | None:
    """Return the covariance along other axes of the body."""
    if pose.covariance is None or not _is_numeric(pose):
        return None
    turned = seen_through(both_turned(helper.rotation.matrix.T), pose.covariance)
    return with_helper(turned, np.vstack([np.zeros((3, 3)), np.eye(3)]), spread_of_helper(pose, helper))


def _moved_and_turned(covariance: Array, arm: Array, R: Array) -> Array:
    moved = both_turned(R) @ point_moved(arm)
    result = moved @ covariance @ moved.T
    return frozen(0.5 * (result + result.T))


def origin_through(value: Any, helpers: Iterable[Pose]) -> Any:
    """Return the origin of a value together with its helpers, which must be of the same instant."""
    whole = origin_of(value)
    for helper in helpers:
        asked = _checks.Asked("express", "express {} through {}", (value, helper))
        stamp = _checks.stamp(asked, whole["stamp"], helper.stamp)
        whole |= origin_with(helper, whole) | {"stamp": stamp}
    return whole


def along_axes(value: Any, helper: Pose, crosses: NDArray[float64]) -> Any:
    """Return the value along the axes of `helper.in_frame`; their uncertainty adds to its covariance.

    R Exp(d) v = R v - R [v] d for each vector v of the value, and `crosses` are their matrices [v], one below another.
    """
    turned = value.change_coordinate_frame(helper.orientation._replace(covariance=np.zeros((3, 3))))
    origin = origin_through(value, [helper])
    if turned.covariance is None or helper.covariance is None or not are_independent(value, helper):
        return turned._replace(covariance=None, **origin)
    J = np.vstack([-helper.rotation.matrix @ cross for cross in np.split(crosses, len(crosses) // 3)])
    return turned._replace(covariance=frozen(turned.covariance + J @ helper.covariance[3:, 3:] @ J.T), **origin)


def between_points(whole: Pose, point: Pose | None, reference_point: Pose | None, axes: Pose | None) -> Pose:
    """Return a pose with other points or axes than those of its two frames.

    Its covariance is known only where both points are mounted exactly.

    Args:
        whole: A frame form.
        point: The new point in `whole.of`.
        reference_point: The new reference point in `whole.in_frame`.
        axes: `whole.in_frame` in the new axes.
    """
    xyz, spread, names = whole.xyz, whole.covariance, {}
    if point is not None:
        xyz, spread = whole.transform @ point.xyz, _at_point(spread, point)
        names["point"] = point.of
    if reference_point is not None:
        xyz, spread = xyz - reference_point.xyz, spread if _is_exact(reference_point) else None
        names["reference_point"] = reference_point.of
    if axes is not None:
        xyz = axes.rotation @ xyz
        names["expressed_in"] = axes.in_frame
    helpers = [helper for helper in (point, reference_point, axes) if helper is not None]
    coordinates = PositionQuaternion(xyz, whole.rotation)
    return whole._replace(coordinates=coordinates, covariance=spread, **names, **_origin_of_all(whole, helpers))


def _origin_of_all(whole: Pose, helpers: list[Pose]) -> dict[str, Any]:
    """Return the origin of a pose with its helpers; a point may be mounted at another instant than the pose."""
    origin = origin_of(whole)
    for helper in helpers:
        origin |= origin_with(helper, origin)
    stamps = [pose.stamp for pose in (whole, *reversed(helpers)) if pose.stamp is not None]
    return origin | {"stamp": stamps[0] if stamps else None}


def _is_exact(mount: Pose) -> bool:
    return mount.covariance is not None and not mount.covariance.any()


def _at_point(covariance: Any, mount: Pose) -> Any:
    """Return the covariance at a point that is mounted on the body; None where the mount is not exact."""
    return seen_through(point_moved(mount.xyz), covariance) if _is_exact(mount) else None
