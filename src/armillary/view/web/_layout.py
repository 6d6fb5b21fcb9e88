"""Everything that is drawn until the structure of the world changes, and the initial viewpoint."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from armillary.errors import InvalidStamp
from armillary.stamps import LATEST, Latest
from armillary.view.web._appearance import Appearance, Cloud, appearance_of
from armillary.view.web._frames import FramePoses, NamedFrames, compose, frame_poses, named_frames, rotate

if TYPE_CHECKING:
    from numpy import float64, intp
    from numpy.typing import NDArray

    from armillary.scene.reading import SceneReader
    from armillary.view._world_protocol import ViewableWorld


_SMALLEST_M, _LARGEST_M = 0.5, 200.0
_AXES = 0.03  # length of axes, as a part of the extent of the scene
_SHORTEST_AXES_M, _LONGEST_AXES_M = 0.02, 1.0
_FROM = np.array([0.74, 0.52, 0.43])  # unit vector from the target to the camera
_OPENING_RAD = 0.9
_FREE_RAD = 0.7  # field of view between the panels at both sides


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Layout:
    """Displayed frames and shapes, and the frame of each shape.

    Attributes:
        frames: Displayed frames.
        appearance: Shapes of the scene.
        names: All frames whose pose is needed; displayed ones come first.
        rows: By solid, (N,) index in `names` of each piece's frame.
    """

    frames: NamedFrames
    appearance: Appearance
    names: tuple[str, ...]
    rows: Mapping[str, NDArray[intp]]

    @property
    def shown(self) -> tuple[str, ...]:
        """Names of the displayed frames."""
        return self.names[: len(self.frames.labels)]

    def is_like(self, other: Layout) -> bool:
        """Whether two layouts are drawn in the same way."""
        is_named_alike = self.names == other.names and self.frames.labels == other.frames.labels
        return is_named_alike and self.appearance.signature == other.appearance.signature

    def poses(self, world: ViewableWorld, *, in_frame: str, at: int | Latest) -> FramePoses:
        """Query the poses of all frames of the layout."""
        return frame_poses(world, self.names, in_frame=in_frame, at=at)

    def pieces(self, solid: str, poses: FramePoses) -> NDArray[float64]:
        """Return the poses of all pieces of a solid, shape (N, 7); NaN where unknown."""
        return compose(poses.rows[self.rows[solid]], self.appearance.batches[solid].frame_T_piece)

    def corners(self, poses: FramePoses, *, only: Collection[str] | None = None) -> NDArray[float64]:
        """Return points (N, 3) whose bounding box encloses everything drawn, or what is fixed in the given frames."""
        chosen = np.array([only is None or name in only for name in self.names], dtype=bool)
        parts = [poses.rows[chosen, :3], np.empty((0, 3))]
        for solid, batch in self.appearance.batches.items():
            rows = self.pieces(solid, poses)
            reach = np.abs(batch.triangles.vertices).max(axis=0) * batch.scales
            is_chosen = chosen[self.rows[solid]]
            parts += [(rows[:, :3] + rotate(rows[:, 3:], sign * reach))[is_chosen] for sign in (-1.0, 1.0)]
        parts += [
            corners
            for cloud in self.appearance.clouds
            if (only is None or cloud.frame in only) and len(corners := _cloud_corners(cloud, poses))
        ]
        points = np.concatenate(parts)
        return points[~np.isnan(points[:, 0])]

    def first_viewpoint(self, world: ViewableWorld, poses: FramePoses, more: NDArray[float64]) -> Viewpoint:
        """Return a viewpoint on what is reported and what it carries, and on further points (N, 3).

        If nothing is reported, it is on what depends on time, such as the links of a robot, or else on everything.
        Walls, and a camera far above them, are not what one looks at.
        """
        stamps = poses.snapshot.stamps
        timed = {name for name in self.names if stamps.get(name) is not None}
        points = np.concatenate([self.corners(poses, only=timed & reported_frames(world)), more.reshape(-1, 3)])
        for chosen in (timed, None):
            if len(points) > 1:
                break
            points = self.corners(poses, only=chosen)
        return viewpoint(points)


def _cloud_corners(cloud: Cloud, poses: FramePoses) -> NDArray[float64]:
    """Return the corners (8, 3) of the bounding box of a cloud; none if its pose is unknown."""
    row = poses.of(cloud.frame)
    if row is None:
        return np.empty((0, 3))
    ends = np.stack([cloud.points.min(axis=0), cloud.points.max(axis=0)]).astype(float)
    box = np.array([ends[[i, j, k], [0, 1, 2]] for i, j, k in product((0, 1), repeat=3)])
    at = np.tile(compose(row[None], cloud.frame_T_cloud[None]), (len(box), 1))
    return np.asarray(at[:, :3] + rotate(at[:, 3:], box))


def layout_of(world: ViewableWorld, at: int | Latest) -> Layout:
    """Return the layout of the scene at one instant."""
    versions = _versions_at(world, at)
    frames = named_frames(world, versions)
    appearance = appearance_of(world, versions, frames)
    names = (*frames.labels, *sorted(appearance.frames - frames.labels.keys()))
    row_of = {name: row for row, name in enumerate(names)}
    rows = {
        solid: np.array([row_of[frame] for frame in batch.frames], dtype=np.intp)
        for solid, batch in appearance.batches.items()
    }
    return Layout(frames=frames, appearance=appearance, names=names, rows=rows)


def _versions_at(world: ViewableWorld, at: int | Latest) -> tuple[SceneReader, ...]:
    """Return the scene at an instant, and the present one, whose newer nodes are displayed as well."""
    if at is LATEST or isinstance(at, Latest):
        return (world.scene,)
    try:
        return world.scene.as_of(at), world.scene
    except InvalidStamp:
        return (world.scene,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Viewpoint:
    """Position and target of the camera, extent of the scene and length of axes [m], field of view [rad]."""

    position: tuple[float, float, float]
    look_at: tuple[float, float, float]
    extent_m: float
    axes_length_m: float
    opening_rad: float = _OPENING_RAD


def viewpoint(points: NDArray[float64]) -> Viewpoint:
    """Return a viewpoint from which all points (N, 3) are visible."""
    low, high = (points.min(axis=0), points.max(axis=0)) if len(points) else (np.zeros(3), np.zeros(3))
    centre = (low + high) / 2.0
    extent_m = float(np.clip(np.linalg.norm(high - low), _SMALLEST_M, _LARGEST_M))
    position = centre + extent_m / 2.0 / np.sin(_FREE_RAD / 2.0) * _FROM
    length_m = float(np.clip(_AXES * extent_m, _SHORTEST_AXES_M, _LONGEST_AXES_M))
    return Viewpoint(position=_triple(position), look_at=_triple(centre), extent_m=extent_m, axes_length_m=length_m)


def reported_frames(world: ViewableWorld) -> set[str]:
    """Return the frames whose pose a source reports again and again, and all that are below them."""
    reported = {info.of for info in world.relations() if info.kind in {"sampled", "integrated"}}
    above = {name: parent and parent[0] for name, parent in world.tree().parents.items()}
    found = set(reported)
    for name, parent in above.items():
        path, step = [name], parent
        while step is not None and step not in found and step not in path:
            path.append(step)
            step = above.get(step)
        if step in found:
            found.update(path)
    return found


def _triple(vector: NDArray[float64]) -> tuple[float, float, float]:
    x, y, z = (float(number) for number in vector)
    return x, y, z
