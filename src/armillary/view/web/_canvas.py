"""Frames and shapes as objects of viser."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from armillary.view.web._frames import compose

if TYPE_CHECKING:
    import viser
    from numpy import float64
    from numpy.typing import NDArray

    from armillary.view.web._appearance import Batch, Cloud
    from armillary.view.web._frames import FramePoses
    from armillary.view.web._layout import Layout


_NOWHERE = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
_HELD_SIZE = 0.5  # of axes, where only an older or a younger pose is known
_POINT = 0.05  # of the length of axes: the size of a point
_AXES_RADIUS = 0.03  # of their length
_AMBIENT = 0.35  # of what viser would light all sides with: colours stay what they are
_CELLS, _SECTIONS = (226, 230, 235), (203, 209, 216)


def somewhere(rows: NDArray[float64]) -> NDArray[float64]:
    """(N, 7) without NaN: what has no pose is drawn without size, wherever."""
    return np.where(np.isnan(rows[:, :1]), _NOWHERE, rows)


class Instances:
    """One handle of viser that stands for many things.

    Args:
        handle: With `batched_positions`, `batched_wxyzs` and `batched_scales`.
        sizes: (N,) or (N, 3), of those that have a pose.
    """

    def __init__(self, handle: Any, sizes: NDArray[float64]) -> None:
        self._handle, self._sizes = handle, sizes
        self._sent: dict[str, NDArray[float64]] = {}

    def move(self, rows: NDArray[float64], sizes: NDArray[float64] | None = None) -> None:
        """To (N, 7); what is not a number is not shown."""
        placed = somewhere(rows)
        self._send("batched_positions", placed[:, :3])
        self._send("batched_wxyzs", placed[:, 3:])
        self._send("batched_scales", shown_sizes(rows, self._sizes if sizes is None else sizes))

    def _send(self, name: str, values: NDArray[float64]) -> None:
        """Where something is another: viser looks as well, but takes ten times as long."""
        if name not in self._sent or not np.array_equal(self._sent[name], values):
            setattr(self._handle, name, values)
            self._sent[name] = values

    @property
    def visible(self) -> bool:
        """Whether it is drawn."""
        return bool(self._handle.visible)

    @visible.setter
    def visible(self, visible: bool) -> None:
        self._handle.visible = visible

    def remove(self) -> None:
        """Draw it no more."""
        self._handle.remove()


def shown_sizes(rows: NDArray[float64], sizes: NDArray[float64]) -> NDArray[float64]:
    """The sizes, and zero where there is no pose."""
    is_shown = ~np.isnan(rows[:, 0])
    return sizes * (is_shown if sizes.ndim == 1 else is_shown[:, None])


class Canvas:
    """The frames and things of one stage, on one server.

    Args:
        server: Of viser.
        on_select: Told the frame that somebody clicked on.
    """

    def __init__(self, server: viser.ViserServer, on_select: Callable[[str], object]) -> None:
        self._scene, self._on_select = server.scene, on_select
        self._layout: Layout | None = None
        self._axes: Instances | None = None
        self._things: dict[str, Instances] = {}
        self._clouds: dict[str, Any] = {}
        self._scene.configure_environment_map("warehouse", environment_intensity=_AMBIENT)
        self._scene.add_grid("/floor", infinite_grid=True, cell_color=_CELLS, section_color=_SECTIONS)

    def set_layout(self, layout: Layout, placed: FramePoses, *, axes_length_m: float) -> None:
        """Draw other things than before."""
        self.clear()
        self._layout = layout
        self._axes = self._drawn_axes(layout, placed, axes_length_m) if layout.shown else None
        batches = layout.appearance.batches
        self._things = {form: self._drawn(form, batch, layout.pieces(form, placed)) for form, batch in batches.items()}
        self._clouds = {
            cloud.key: self._drawn_cloud(cloud, axes_length_m * _POINT) for cloud in layout.appearance.clouds
        }
        self.place(placed)

    def clear(self) -> None:
        """Draw nothing."""
        for drawn in (self._axes, *self._things.values(), *self._clouds.values()):
            if drawn is not None:
                drawn.remove()
        self._layout, self._axes, self._things, self._clouds = None, None, {}, {}

    def place(self, placed: FramePoses) -> None:
        """Move what is drawn."""
        layout = self._layout
        if layout is None:
            return
        if self._axes is not None:
            self._axes.move(placed.rows[: len(layout.shown)], _axes_sizes(layout, placed))
        for form, things in self._things.items():
            things.move(layout.pieces(form, placed))
        for cloud in layout.appearance.clouds:
            _place_cloud(self._clouds[cloud.key], cloud, placed)

    def show_frames(self, *, visible: bool) -> None:
        """Axes or none."""
        if self._axes is not None:
            self._axes.visible = visible

    def _drawn_axes(self, layout: Layout, placed: FramePoses, length_m: float) -> Instances:
        rows, sizes = placed.rows[: len(layout.shown)], np.ones(len(layout.shown))
        handle = self._scene.add_batched_axes(
            "/frames",
            somewhere(rows)[:, 3:],
            somewhere(rows)[:, :3],
            batched_scales=shown_sizes(rows, sizes),
            axes_length=length_m,
            axes_radius=_AXES_RADIUS * length_m,
        )
        handle.on_click(lambda event: self._clicked(layout.shown, event.instance_index))
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


def _axes_sizes(layout: Layout, placed: FramePoses) -> NDArray[float64]:
    if not placed.held:
        return np.ones(len(layout.shown))
    return np.array([_HELD_SIZE if name in placed.held else 1.0 for name in layout.shown])


def _place_cloud(handle: Any, cloud: Cloud, placed: FramePoses) -> None:
    row = placed.of(cloud.frame)
    handle.visible = row is not None
    if row is not None:
        at = compose(row[None], cloud.frame_T_cloud[None])[0]
        if not np.array_equal(handle.position, at[:3]) or not np.array_equal(handle.wxyz, at[3:]):
            handle.position, handle.wxyz = at[:3], at[3:]
