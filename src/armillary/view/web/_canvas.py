"""Frames and things in the picture: what viser is told to draw, and where."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from armillary.view.web._instances import Instances, shown_sizes, somewhere
from armillary.view.web._placing import composed

if TYPE_CHECKING:
    import viser
    from numpy import float64
    from numpy.typing import NDArray

    from armillary.view.web._appearance import Batch, Cloud
    from armillary.view.web._placing import Placed
    from armillary.view.web._stage import Stage

__all__ = ["Canvas"]

_HELD_SIZE = 0.5  # of axes, where only an older or a younger pose is known
_POINT = 0.05  # of the length of axes: the size of a point
_AXES_RADIUS = 0.03  # of their length
_AMBIENT = 0.35  # of what viser would light all sides with: colours stay what they are
_CELLS, _SECTIONS = (226, 230, 235), (203, 209, 216)


class Canvas:
    """The frames and things of one stage, on one server.

    Args:
        server: Of viser.
        on_select: Told the frame that somebody clicked on.
    """

    def __init__(self, server: viser.ViserServer, on_select: Callable[[str], object]) -> None:
        self._scene, self._on_select = server.scene, on_select
        self._stage: Stage | None = None
        self._axes: Instances | None = None
        self._things: dict[str, Instances] = {}
        self._clouds: dict[str, Any] = {}
        self._scene.configure_environment_map("warehouse", environment_intensity=_AMBIENT)
        self._scene.add_grid("/floor", infinite_grid=True, cell_color=_CELLS, section_color=_SECTIONS)

    def set_stage(self, stage: Stage, placed: Placed, *, axes_length_m: float) -> None:
        """Draw other things than before."""
        self.clear()
        self._stage = stage
        self._axes = self._drawn_axes(stage, placed, axes_length_m) if stage.shown else None
        batches = stage.appearance.batches
        self._things = {form: self._drawn(form, batch, stage.pieces(form, placed)) for form, batch in batches.items()}
        self._clouds = {
            cloud.key: self._drawn_cloud(cloud, axes_length_m * _POINT) for cloud in stage.appearance.clouds
        }
        self.place(placed)

    def clear(self) -> None:
        """Draw nothing."""
        for drawn in (self._axes, *self._things.values(), *self._clouds.values()):
            if drawn is not None:
                drawn.remove()
        self._stage, self._axes, self._things, self._clouds = None, None, {}, {}

    def place(self, placed: Placed) -> None:
        """Move what is drawn."""
        stage = self._stage
        if stage is None:
            return
        if self._axes is not None:
            self._axes.move(placed.rows[: len(stage.shown)], _axes_sizes(stage, placed))
        for form, things in self._things.items():
            things.move(stage.pieces(form, placed))
        for cloud in stage.appearance.clouds:
            _place_cloud(self._clouds[cloud.key], cloud, placed)

    def show_frames(self, *, visible: bool) -> None:
        """Axes or none."""
        if self._axes is not None:
            self._axes.visible = visible

    def _drawn_axes(self, stage: Stage, placed: Placed, length_m: float) -> Instances:
        rows, sizes = placed.rows[: len(stage.shown)], np.ones(len(stage.shown))
        handle = self._scene.add_batched_axes(
            "/frames",
            somewhere(rows)[:, 3:],
            somewhere(rows)[:, :3],
            batched_scales=shown_sizes(rows, sizes),
            axes_length=length_m,
            axes_radius=_AXES_RADIUS * length_m,
        )
        handle.on_click(lambda event: self._clicked(stage.shown, event.instance_index))
        return Instances(handle, sizes)

    def _drawn(self, form: str, batch: Batch, rows: NDArray[float64]) -> Instances:
        is_opaque = bool((batch.opacities >= 1.0).all())
        handle = self._scene.add_batched_meshes_simple(
            f"/things/{form}",
            batch.triangles.vertices,
            batch.triangles.faces,
            somewhere(rows)[:, 3:],
            somewhere(rows)[:, :3],
            batched_scales=shown_sizes(rows, batch.stretches),
            batched_colors=batch.colors,
            batched_opacities=None if is_opaque else batch.opacities,
            lod="off",
            side="double" if form.startswith("mesh") else "front",
        )
        handle.on_click(lambda event: self._clicked(batch.frames, event.instance_index))
        return Instances(handle, batch.stretches)

    def _drawn_cloud(self, cloud: Cloud, size_m: float) -> Any:
        return self._scene.add_point_cloud(
            f"/clouds/{cloud.key}", np.asarray(cloud.points), cloud.colors, point_size=size_m, point_shape="circle"
        )

    def _clicked(self, frames: Sequence[str], row: int | None) -> None:
        if row is not None and row < len(frames):
            self._on_select(frames[row])


def _axes_sizes(stage: Stage, placed: Placed) -> NDArray[float64]:
    if not placed.held:
        return np.ones(len(stage.shown))
    return np.array([_HELD_SIZE if name in placed.held else 1.0 for name in stage.shown])


def _place_cloud(handle: Any, cloud: Cloud, placed: Placed) -> None:
    row = placed.of(cloud.frame)
    handle.visible = row is not None
    if row is not None:
        at = composed(row[None], cloud.frame_T_cloud[None])[0]
        if not np.array_equal(handle.position, at[:3]) or not np.array_equal(handle.wxyz, at[3:]):
            handle.position, handle.wxyz = at[:3], at[3:]
