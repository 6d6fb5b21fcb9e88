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


_IDENTITY = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
_HELD_SIZE = 0.5  # scale of axes whose pose is held from an older or newer sample
_POINT = 0.05  # size of a point, as a part of the length of axes
_AXES_RADIUS = 0.03  # as a part of their length
_AMBIENT = 0.35  # ambient light, low so that colours keep their hue
_CELLS, _SECTIONS = (226, 230, 235), (203, 209, 216)


def without_nan(rows: NDArray[float64]) -> NDArray[float64]:
    """Replace NaN by the identity, shape (N, 7): what has no pose is drawn with size zero."""
    return np.where(np.isnan(rows[:, :1]), _IDENTITY, rows)


class Instances:
    """Handle of viser that draws many instances of one solid.

    Args:
        handle: Handle with `batched_positions`, `batched_wxyzs` and `batched_scales`.
        sizes: (N,) or (N, 3) sizes of the instances.
    """

    def __init__(self, handle: Any, sizes: NDArray[float64]) -> None:
        self._handle, self._sizes = handle, sizes
        self._sent: dict[str, NDArray[float64]] = {}

    def move(self, rows: NDArray[float64], sizes: NDArray[float64] | None = None) -> None:
        """Set the poses, shape (N, 7); instances with NaN are hidden."""
        poses = without_nan(rows)
        self._send("batched_positions", poses[:, :3])
        self._send("batched_wxyzs", poses[:, 3:])
        self._send("batched_scales", shown_sizes(rows, self._sizes if sizes is None else sizes))

    def _send(self, name: str, values: NDArray[float64]) -> None:
        """Send an array if it has changed. viser compares too, but takes ten times as long."""
        if name not in self._sent or not np.array_equal(self._sent[name], values):
            setattr(self._handle, name, values)
            self._sent[name] = values

    def remove(self) -> None:
        """Remove the instances from the scene."""
        self._handle.remove()


def shown_sizes(rows: NDArray[float64], sizes: NDArray[float64]) -> NDArray[float64]:
    """Return the sizes, with zero for instances without a pose."""
    is_shown = ~np.isnan(rows[:, 0])
    return sizes * (is_shown if sizes.ndim == 1 else is_shown[:, None])


class Canvas:
    """Draws the frames and shapes of one layout for one client.

    Args:
        scene: Scene of one client of viser.
        on_select: Called with the frame that was clicked on.
    """

    def __init__(self, scene: viser.SceneApi, on_select: Callable[[str], object]) -> None:
        self._scene, self._on_select = scene, on_select
        self._layout: Layout | None = None
        self._axes: Instances | None = None
        self._instances: dict[str, Instances] = {}
        self._clouds: dict[str, Any] = {}
        self._scene.configure_environment_map("warehouse", environment_intensity=_AMBIENT)
        self._scene.add_grid("/floor", infinite_grid=True, cell_color=_CELLS, section_color=_SECTIONS)

    def set_layout(self, layout: Layout, poses: FramePoses, *, axes_length_m: float) -> None:
        """Replace everything that is drawn."""
        self.clear()
        self._layout = layout
        self._axes = self._add_axes(layout, poses, axes_length_m) if layout.shown else None
        batches = layout.appearance.batches
        self._instances = {
            solid: self._drawn(solid, batch, layout.pieces(solid, poses)) for solid, batch in batches.items()
        }
        self._clouds = {cloud.key: self._add_cloud(cloud, axes_length_m * _POINT) for cloud in layout.appearance.clouds}
        self.place(poses)

    def clear(self) -> None:
        """Remove everything that is drawn."""
        for item in (self._axes, *self._instances.values(), *self._clouds.values()):
            if item is not None:
                item.remove()
        self._layout, self._axes, self._instances, self._clouds = None, None, {}, {}

    def place(self, poses: FramePoses, with_axes: frozenset[str] | None = None) -> None:
        """Move everything to the given poses; axes are drawn of all displayed frames, or of those given."""
        layout = self._layout
        if layout is None:
            return
        if self._axes is not None:
            self._axes.move(poses.rows[: len(layout.shown)], _axes_sizes(layout, poses, with_axes))
        for solid, instances in self._instances.items():
            instances.move(layout.pieces(solid, poses))
        for cloud in layout.appearance.clouds:
            _place_cloud(self._clouds[cloud.key], cloud, poses)

    def _add_axes(self, layout: Layout, poses: FramePoses, length_m: float) -> Instances:
        rows, sizes = poses.rows[: len(layout.shown)], np.ones(len(layout.shown))
        handle = self._scene.add_batched_axes(
            "/frames",
            without_nan(rows)[:, 3:],
            without_nan(rows)[:, :3],
            batched_scales=shown_sizes(rows, sizes),
            axes_length=length_m,
            axes_radius=_AXES_RADIUS * length_m,
        )
        handle.on_click(lambda event: self._clicked(layout.shown, event.instance_index))
        return Instances(handle, sizes)

    def _drawn(self, solid: str, batch: Batch, rows: NDArray[float64]) -> Instances:
        is_opaque = bool((batch.opacities >= 1.0).all())
        handle = self._scene.add_batched_meshes_simple(
            f"/shapes/{solid}",
            batch.triangles.vertices,
            batch.triangles.faces,
            without_nan(rows)[:, 3:],
            without_nan(rows)[:, :3],
            batched_scales=shown_sizes(rows, batch.scales),
            batched_colors=batch.colors,
            batched_opacities=None if is_opaque else batch.opacities,
            lod="off",
            side="double" if solid.startswith("mesh") else "front",
        )
        handle.on_click(lambda event: self._clicked(batch.frames, event.instance_index))
        return Instances(handle, batch.scales)

    def _add_cloud(self, cloud: Cloud, size_m: float) -> Any:
        return self._scene.add_point_cloud(
            f"/clouds/{cloud.key}",
            cloud.points,
            cloud.colors,
            point_size=size_m,
            point_shape="circle",
            precision="float32",
        )

    def _clicked(self, frames: Sequence[str], row: int | None) -> None:
        if row is not None and row < len(frames):
            self._on_select(frames[row])


def _axes_sizes(layout: Layout, poses: FramePoses, with_axes: frozenset[str] | None) -> NDArray[float64]:
    if not poses.held and with_axes is None:
        return np.ones(len(layout.shown))
    sizes = np.array([_HELD_SIZE if name in poses.held else 1.0 for name in layout.shown])
    return sizes if with_axes is None else sizes * [name in with_axes for name in layout.shown]


def _place_cloud(handle: Any, cloud: Cloud, poses: FramePoses) -> None:
    row = poses.of(cloud.frame)
    handle.visible = row is not None
    if row is not None:
        at = compose(row[None], cloud.frame_T_cloud[None])[0]
        if not np.array_equal(handle.position, at[:3]) or not np.array_equal(handle.wxyz, at[3:]):
            handle.position, handle.wxyz = at[:3], at[3:]
