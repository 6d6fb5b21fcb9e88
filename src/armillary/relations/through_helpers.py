"""A relation together with the poses that bring it to other points and axes: what is known of the whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from armillary.relations import _checks
from armillary.relations.arrays import frozen, point_moved, seen_through
from armillary.relations.representations import PositionQuaternion
from armillary.relations.storage import are_independent, origin_of, origin_with

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy import float64
    from numpy.typing import NDArray

    from armillary.relations._pose import Pose


def origin_through(value: Any, helpers: Iterable[Pose]) -> Any:
    """When and from what a value is known together with its helpers, which are of the same instant."""
    whole = origin_of(value)
    for helper in helpers:
        asked = _checks.Asked("express", "express {} through {}", (value, helper))
        stamp = _checks.stamp(asked, whole["stamp"], helper.stamp)
        whole |= origin_with(helper, whole) | {"stamp": stamp}
    return whole


def along_axes(value: Any, helper: Pose, crosses: NDArray[float64]) -> Any:
    """The same along the axes of `helper.in_frame`; that they are not known exactly makes it less certain.

    R Exp(d) v = R v - R [v] d for each vector v of the value, and `crosses` are their matrices [v], one below another.
    """
    turned = value.change_coordinate_frame(helper.orientation)
    origin = origin_through(value, [helper])
    if turned.covariance is None or helper.covariance is None or not are_independent(value, helper):
        return turned._replace(covariance=None, **origin)
    J = np.vstack([-helper.rotation.matrix @ cross for cross in np.split(crosses, len(crosses) // 3)])
    return turned._replace(covariance=frozen(turned.covariance + J @ helper.covariance[3:, 3:] @ J.T), **origin)


def between_points(whole: Pose, point: Pose | None, reference_point: Pose | None, axes: Pose | None) -> Pose:
    """A pose with other points or axes than those of its two frames.

    Its covariance is taken at the point, and depends neither on the reference point nor on the axes of the position.
    Both points are mounted exactly, or it is unknown.

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
    """A point may be mounted at another instant: where the two frames are seen at two instants."""
    origin = origin_of(whole)
    for helper in helpers:
        origin |= origin_with(helper, origin)
    stamps = [pose.stamp for pose in (whole, *reversed(helpers)) if pose.stamp is not None]
    return origin | {"stamp": stamps[0] if stamps else None}


def _is_exact(mount: Pose) -> bool:
    return mount.covariance is not None and not mount.covariance.any()


def _at_point(covariance: Any, mount: Pose) -> Any:
    """The covariance of a frame at a point that is mounted on its body; unknown where the mount is not exact."""
    return seen_through(point_moved(mount.xyz), covariance) if _is_exact(mount) else None
