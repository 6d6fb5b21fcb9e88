"""Content of the overlays: trails, velocities, ellipsoids and rival hypotheses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from armillary.errors import AmbiguousPath, ArmillaryError, StampOutOfRange
from armillary.transforms import Rotation

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

    from armillary.fusion.policies import Candidate
    from armillary.relations import Pose
    from armillary.stamps import Latest
    from armillary.view._world_protocol import ViewableWorld
    from armillary.view.web._frames import FramePoses


STEPS = 60
_NS_PER_S = 1e9
_STILL_M = 1e-4
DEVIATIONS = 2.795
"""Radius in standard deviations of a sphere that contains 95 % of a normal distribution in three dimensions."""
_SMALLEST_M = 1e-6


def trails(
    world: ViewableWorld, names: Iterable[str], poses: FramePoses, *, at: int | Latest, length_s: float
) -> dict[str, NDArray[float64]]:
    """Return by name the positions (N, 3) of moving frames up to an instant, or up to the newest common time."""
    stamps = world.snapshot(in_frame=poses.in_frame, at=at, outside="hold").stamps
    found = {
        name: trail(world, name, in_frame=poses.in_frame, until_ns=until_ns, length_s=length_s)
        for name in names
        if (until_ns := stamps.get(name)) is not None
    }
    return {name: path for name, path in found.items() if len(path) and np.ptp(path, axis=0).max() > _STILL_M}


def trail(world: ViewableWorld, name: str, *, in_frame: str, until_ns: int, length_s: float) -> NDArray[float64]:
    """Return the positions (N, 3) of one frame; the trail begins with its history, and is empty if there is none."""
    start_ns = until_ns - round(length_s * _NS_PER_S)
    try:
        return _positions(world, name, in_frame, start_ns, until_ns)
    except StampOutOfRange as error:
        if error.first is None or not start_ns < error.first < until_ns:
            return np.empty((0, 3))
        start_ns = error.first
    except ArmillaryError:
        return np.empty((0, 3))
    try:
        return _positions(world, name, in_frame, start_ns, until_ns)
    except ArmillaryError:
        return np.empty((0, 3))


def _positions(world: ViewableWorld, name: str, in_frame: str, start_ns: int, until_ns: int) -> NDArray[float64]:
    at = np.linspace(start_ns, until_ns, STEPS).astype(np.int64)
    at[0], at[-1] = start_ns, until_ns
    return world.transforms(of=name, in_frame=in_frame, at=at, as_="xyz_wxyz")[:, :3]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Motion:
    """Velocity of one frame relative to the fixed frame of the view, and along its axes.

    Attributes:
        of: Frame.
        origin: (3,) position [m].
        linear: (3,) [m/s].
        angular: (3,) [rad/s].
    """

    of: str
    origin: NDArray[float64]
    linear: NDArray[float64]
    angular: NDArray[float64]


def motions(world: ViewableWorld, names: Iterable[str], poses: FramePoses, *, at: int | Latest) -> list[Motion]:
    """Return the velocities of all frames whose pose and twist are known."""
    found = (_motion(world, name, poses, at) for name in names)
    return [one for one in found if one is not None]


def _motion(world: ViewableWorld, name: str, poses: FramePoses, at: int | Latest) -> Motion | None:
    row = poses.of(name)
    if row is None or name == poses.in_frame:
        return None
    try:
        twist = world.twist(of=name, relative_to=poses.in_frame, expressed_in=poses.in_frame, at=at)
    except ArmillaryError:
        return None
    return Motion(of=name, origin=row[:3], linear=np.array(twist.linear), angular=np.array(twist.angular))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ellipsoid:
    """Region that contains the origin of a frame with a probability of 95 %.

    Attributes:
        of: Frame.
        centre: (3,) [m].
        wxyz: (4,) orientation of its axes.
        radii: (3,) along its axes [m].
    """

    of: str
    centre: NDArray[float64]
    wxyz: NDArray[float64]
    radii: NDArray[float64]


def ellipsoids(world: ViewableWorld, names: Iterable[str], poses: FramePoses) -> list[Ellipsoid]:
    """Return the ellipsoids of all frames with a known covariance that is not zero."""
    found = (_ellipsoid(world, name, poses) for name in names)
    return [one for one in found if one is not None]


def _ellipsoid(world: ViewableWorld, name: str, poses: FramePoses) -> Ellipsoid | None:
    try:
        return ellipsoid_of(world.pose(of=name, in_frame=poses.in_frame, at=poses.at_ns, outside="hold"))
    except ArmillaryError:
        return None


def ellipsoid_of(pose: Pose) -> Ellipsoid | None:
    """Return the ellipsoid of a pose, whose covariance is expressed in the axes of the frame itself."""
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rival:
    """Hypothesis of one source about the pose of a frame.

    Attributes:
        of: Frame.
        sources: Sources of the contested relations on the path.
        row: (7,): x, y, z, then the quaternion w, x, y, z.
        ellipsoid: Uncertainty; None where it is zero or unknown.
    """

    of: str
    sources: tuple[str, ...]
    row: NDArray[float64]
    ellipsoid: Ellipsoid | None

    @property
    def source_label(self) -> str:
        """Names of the sources, joined."""
        return " + ".join(self.sources)


def rivals(world: ViewableWorld, names: Iterable[str], poses: FramePoses) -> list[Rival]:
    """Return all hypotheses about frames that have no pose because sources conflict."""
    contested = [name for name in names if isinstance(poses.snapshot.missing.get(name), AmbiguousPath)]
    return [rival for name in contested for rival in _hypotheses(world, name, poses)]


def _hypotheses(world: ViewableWorld, name: str, poses: FramePoses) -> list[Rival]:
    found: list[Candidate] = []

    def collect(candidates: Sequence[Candidate]) -> Candidate:
        found.extend(candidates)
        return candidates[0]

    try:
        world.pose(of=name, in_frame=poses.in_frame, at=poses.at_ns, outside="hold", policy=collect)
    except ArmillaryError:
        return []
    return [
        Rival(
            of=name,
            sources=tuple(dict.fromkeys(source for *_, source in one.chosen)),
            row=np.array(one.pose.transform.xyz_wxyz),
            ellipsoid=ellipsoid_of(one.pose),
        )
        for one in found
    ]
