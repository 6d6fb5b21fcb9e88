"""How surely frames are where they are: ellipsoids."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from armillary.errors import ArmillaryError
from armillary.transforms import Rotation

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

    from armillary.relations import Pose
    from armillary.view.web._placing import Placed
    from armillary.view.web._viewed import Viewed

__all__ = ["Ellipsoid", "ellipsoid_of", "ellipsoids"]

DEVIATIONS = 2.795
"""A ball of so many standard deviations holds 95 % of a normal distribution in three dimensions."""

_SMALLEST_M = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ellipsoid:
    """Where the origin of a frame is with a probability of 95 %.

    Attributes:
        of: The frame.
        centre: (3,) [m].
        wxyz: (4,) how its axes lie.
        radii: (3,) along its axes [m].
    """

    of: str
    centre: NDArray[float64]
    wxyz: NDArray[float64]
    radii: NDArray[float64]


def ellipsoids(world: Viewed, names: Iterable[str], placed: Placed) -> list[Ellipsoid]:
    """Of those frames whose uncertainty is known and not nothing."""
    found = (_ellipsoid(world, name, placed) for name in names)
    return [one for one in found if one is not None]


def _ellipsoid(world: Viewed, name: str, placed: Placed) -> Ellipsoid | None:
    try:
        return ellipsoid_of(world.pose(of=name, in_frame=placed.in_frame, at=placed.at_ns, outside="hold"))
    except ArmillaryError:
        return None


def ellipsoid_of(pose: Pose) -> Ellipsoid | None:
    """The covariance is in the tangent of the frame, so that its axes turn with it."""
    if pose.covariance is None:
        return None
    variances, of_R_axes = np.linalg.eigh(pose.covariance[:3, :3])
    radii = DEVIATIONS * np.sqrt(np.maximum(variances, 0.0))
    if radii.max() < _SMALLEST_M:
        return None
    of_R_axes[:, 2] *= np.linalg.det(of_R_axes)
    in_R_axes = Rotation.from_matrix(pose.transform.rotation.matrix @ of_R_axes)
    return Ellipsoid(
        of=pose.of,
        centre=np.array(pose.transform.translation),
        wxyz=np.array(in_R_axes.wxyz),
        radii=np.maximum(radii, _SMALLEST_M),
    )
