"""What there is to be drawn, until the structure of the world is another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from armillary.errors import InvalidStamp
from armillary.stamps import LATEST, Latest
from armillary.view.web._appearance import Appearance, Cloud, appearance_of
from armillary.view.web._frames import NamedFrames, named_frames
from armillary.view.web._placing import Placed, composed, place, turned

if TYPE_CHECKING:
    from numpy import float64, intp
    from numpy.typing import NDArray

    from armillary.scene.reading import SceneReader
    from armillary.view.web._viewed import Viewed

__all__ = ["Stage", "stage_of"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Stage:
    """Frames and shapes, and which shape moves with which frame.

    Attributes:
        frames: What is shown, and by which name.
        appearance: What things look like.
        names: All frames that are asked for: those that are shown come first.
        rows: By form, (N,) the row in `names` of each piece's frame.
    """

    frames: NamedFrames
    appearance: Appearance
    names: tuple[str, ...]
    rows: Mapping[str, NDArray[intp]]

    @property
    def shown(self) -> tuple[str, ...]:
        """The frames that are shown."""
        return self.names[: len(self.frames.labels)]

    def is_like(self, other: Stage) -> bool:
        """Whether there is nothing to draw anew."""
        is_named_alike = self.names == other.names and self.frames.labels == other.frames.labels
        return is_named_alike and self.appearance.signature == other.appearance.signature

    def placed(self, world: Viewed, *, in_frame: str, at: int | Latest) -> Placed:
        """Where all of its frames are."""
        return place(world, self.names, in_frame=in_frame, at=at)

    def pieces(self, form: str, placed: Placed) -> NDArray[float64]:
        """(N, 7) where each piece of a form is; NaN where that is not known."""
        return composed(placed.rows[self.rows[form]], self.appearance.batches[form].frame_T_piece)

    def corners(self, placed: Placed) -> NDArray[float64]:
        """(N, 3): points between which everything is that is drawn."""
        parts = [placed.rows[:, :3], np.empty((0, 3))]
        for form, batch in self.appearance.batches.items():
            rows = self.pieces(form, placed)
            reach = np.abs(batch.triangles.vertices).max(axis=0) * batch.stretches
            parts += [rows[:, :3] + turned(rows[:, 3:], sign * reach) for sign in (-1.0, 1.0)]
        parts += [corners for cloud in self.appearance.clouds if len(corners := _cloud_corners(cloud, placed))]
        points = np.concatenate(parts)
        return points[~np.isnan(points[:, 0])]


def _cloud_corners(cloud: Cloud, placed: Placed) -> NDArray[float64]:
    """(8, 3) of the box around a cloud; nothing where it is not known where that is."""
    row = placed.of(cloud.frame)
    if row is None:
        return np.empty((0, 3))
    ends = np.stack([cloud.points.min(axis=0), cloud.points.max(axis=0)]).astype(float)
    box = np.array([ends[[i, j, k], [0, 1, 2]] for i, j, k in product((0, 1), repeat=3)])
    at = np.tile(composed(row[None], cloud.frame_T_cloud[None]), (len(box), 1))
    return np.asarray(at[:, :3] + turned(at[:, 3:], box))


def stage_of(world: Viewed, at: int | Latest) -> Stage:
    """What was there at one instant."""
    versions = _versions_at(world, at)
    frames = named_frames(world, versions)
    appearance = appearance_of(world, versions, frames)
    names = (*frames.labels, *sorted(appearance.frames - frames.labels.keys()))
    row_of = {name: row for row, name in enumerate(names)}
    rows = {
        form: np.array([row_of[frame] for frame in batch.frames], dtype=np.intp)
        for form, batch in appearance.batches.items()
    }
    return Stage(frames=frames, appearance=appearance, names=names, rows=rows)


def _versions_at(world: Viewed, at: int | Latest) -> tuple[SceneReader, ...]:
    """The scene as it was, and as it is: what came later is held to have been there, as poses are held."""
    if at is LATEST or isinstance(at, Latest):
        return (world.scene,)
    try:
        return world.scene.as_of(at), world.scene
    except InvalidStamp:
        return (world.scene,)
