"""What one browser shows of a world, kept up to date. All of it runs on one thread."""

from __future__ import annotations

import contextlib
import queue
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from armillary.errors import ArmillaryError
from armillary.stamps import LATEST
from armillary.view._roots import default_frame
from armillary.view.web._canvas import Canvas
from armillary.view.web._controls import (
    FrameControls,
    JointControls,
    OptionsChange,
    ShowControls,
    TimeControls,
    ViewOptions,
    arrange_panels,
    configure_theme,
)
from armillary.view.web._dragging import Movable, movables, positions
from armillary.view.web._label_places import Projection
from armillary.view.web._layout import Layout, Viewpoint, layout_of
from armillary.view.web._overlay_data import ellipsoids, motions, rivals, trails
from armillary.view.web._overlays import Overlays
from armillary.view.web._panels import Inspection, inspect, matching_frames, tree_html
from armillary.view.web._timeline import time_ranges

if TYPE_CHECKING:
    import viser
    from numpy import float64
    from numpy.typing import NDArray

    from armillary.view._world_protocol import ViewableWorld
    from armillary.view.web._frames import FramePoses


_MOST_NAMES = 60
"""With more frames, labels are shown for search results only."""
_MUCH_LARGER = 3.0


class RateLimit:
    """Limits how often, and for which share of one core, something is done.

    Args:
        most_hz: Highest rate.
        share: Largest share of the time of one core.
    """

    def __init__(self, most_hz: float, share: float) -> None:
        self._period_s, self._share = 1.0 / most_hz, share
        self._next_s = 0.0

    def is_due(self, now_s: float) -> bool:
        """Whether it may be done again."""
        return now_s >= self._next_s

    def reset(self) -> None:
        """Allow it at once, because a user waits for it."""
        self._next_s = 0.0

    @contextlib.contextmanager
    def measured(self, now_s: float) -> Iterator[None]:
        """Measure the time it takes."""
        before_s = time.thread_time()
        try:
            yield
        finally:
            self._next_s = now_s + max(self._period_s, (time.thread_time() - before_s) / self._share)


class SceneView:
    """Draws a world for one client of a server, tick by tick. Every client has its own, with its own options.

    Args:
        world: The world; only the sliders of joints write to it.
        client: Client of viser: one page in one browser.
        initial_camera: Camera that "reset view" returns to.
        in_frame: Fixed frame of the view; None for the root.
        read_only: Without sliders for joints.
    """

    def __init__(
        self,
        world: ViewableWorld,
        client: viser.ClientHandle,
        *,
        initial_camera: Any,
        in_frame: str | None = None,
        read_only: bool = False,
    ) -> None:
        self._live_world, self._client, self._read_only = world, client, read_only
        self._initial_camera = initial_camera
        self._copy: ViewableWorld | None = None
        self._options = ViewOptions(in_frame=in_frame)
        self._tasks: queue.SimpleQueue[Callable[[], object]] = queue.SimpleQueue()
        self._layout: Layout | None = None
        self._is_outdated = True
        self._layout_limit = RateLimit(10.0, 0.01)
        self._overlay_limit = RateLimit(15.0, 0.01)
        self._panel_limit = RateLimit(5.0, 0.007)
        gui, width_px = client.gui, client.camera.image_width
        arrange_panels(gui, width_px)
        self._time = TimeControls(gui, self.change_options)
        self._frames = FrameControls(gui, self.change_options, width_px)
        self._shows = ShowControls(gui, self.change_options, self._options)
        self._joints = JointControls(gui, self._drag)
        self._canvas, self._overlays = Canvas(client.scene, self._select), Overlays(client.scene)
        self._root: str | None = None
        self._extent_m = 0.0
        self._is_turned = False
        self._movables: tuple[Movable, ...] = ()
        self._watched: tuple[str, ...] = ()
        self._reported: frozenset[str] = frozenset()

    @property
    def _world(self) -> ViewableWorld:
        """The world that is shown: live the world itself, else a copy, whose history does not move on."""
        return self._live_world if self._copy is None else self._copy

    @property
    def options(self) -> ViewOptions:
        """Current options."""
        return self._options

    def change_options(self, change: OptionsChange) -> None:
        """Change the options at the next tick. Can be called by any thread."""
        self._tasks.put(lambda: self._change_options(change))

    def look(self, position: NDArray[float64], at: NDArray[float64]) -> None:
        """Turn the camera to a place at the next tick, and leave it there. Can be called by any thread."""
        self._tasks.put(lambda: self._turn_camera(position, at))

    def _turn_camera(self, position: NDArray[float64], at: NDArray[float64]) -> None:
        self._is_turned = True
        cameras: list[Any] = [self._initial_camera, self._client.camera]
        for camera in cameras:
            camera.position, camera.look_at = position, at

    def mark_outdated(self, _changes: object = None) -> None:
        """Update the layout at the next tick, because the scene has changed. Can be called by any thread."""
        self._is_outdated = True

    def tick(self, elapsed_s: float) -> None:
        """Query the world, and draw what has changed."""
        self._do_tasks()
        self._options = replace(self._options, timeline=self._options.timeline.advanced(elapsed_s))
        self._take_or_drop_copy()
        now_s = time.monotonic()
        if self._layout is None or self._layout_limit.is_due(now_s):
            with self._layout_limit.measured(now_s):
                self._update_layout()
        poses = self._poses()
        if poses is not None:
            with self._client.atomic():  # one wake-up of the sending thread
                self._canvas.place(poses, self._with_axes())
                self._draw_overlays(poses, now_s)

    def close(self) -> None:
        """Forget the copy, if there is one."""
        if self._copy is not None:
            self._copy.close()
            self._copy = None

    def _take_or_drop_copy(self) -> None:
        is_live = self._options.timeline.mode == "live"
        if is_live and self._copy is not None:
            self.close()
            self.mark_outdated()
            self._layout_limit.reset()
        elif not is_live and self._copy is None:
            self._copy = self._live_world.copy()

    def _with_axes(self) -> frozenset[str] | None:
        """Return the frames whose axes are drawn; None for all."""
        chosen = frozenset() if self._options.selected is None else frozenset({self._options.selected})
        return {"all": None, "reported": self._reported | chosen, "none": frozenset[str]()}[self._options.frames]

    # -- Input of users

    def _do_tasks(self) -> None:
        while not self._tasks.empty():
            self._tasks.get()()
            self._overlay_limit.reset()
            self._panel_limit.reset()

    def _change_options(self, change: OptionsChange) -> None:
        before, self._options = self._options, change(self._options)
        if before.timeline.instant != self._options.timeline.instant:
            self._layout_limit.reset()
        if before.is_dark != self._options.is_dark:
            configure_theme(self._client.gui, is_dark=self._options.is_dark)

    def _drag(self, movable: Movable, joint: str, value: float) -> None:
        self._tasks.put(lambda: self._move(movable, joint, value))

    def _move(self, movable: Movable, joint: str, value: float) -> None:
        """Move a joint, and switch to live, because the past cannot be changed."""
        try:
            movable.drag(self._live_world, joint, value)
        except ArmillaryError as error:
            self._joints.refuse(joint, str(error))
        else:
            self._joints.accept(joint)
            self._options = replace(self._options, timeline=self._options.timeline.live())

    # -- Layout

    def _poses(self) -> FramePoses | None:
        """Query the poses; None if there are no frames, or the fixed frame is gone and another is searched for."""
        in_frame = self._options.in_frame or self._root
        if self._layout is None or in_frame is None:
            return None
        try:
            return self._layout.poses(self._world, in_frame=in_frame, at=self._options.timeline.instant)
        except ArmillaryError:
            self._options = replace(self._options, in_frame=None)
            self.mark_outdated()
            return None

    def _update_layout(self) -> None:
        """Update the layout; redraw only if it has changed."""
        at = self._options.timeline.instant
        if at is LATEST and not self._is_outdated and self._has_all_frames():
            return
        self._is_outdated = False
        self._root = default_frame(self._world)
        before, self._layout = self._layout, layout_of(self._world, at)
        if before is not None and self._layout.is_like(before):
            return
        poses = self._poses()
        if poses is None:
            self._clear()
        else:
            self._set_layout(self._layout, poses)

    def _clear(self) -> None:
        self._canvas.clear()
        self._overlays.clear()
        self._frames.offer({})
        self._frames.show(self._options, tree_html(self._world.tree(), {}), None)

    def _has_all_frames(self) -> bool:
        frames = self._layout.frames if self._layout is not None else None
        return frames is not None and len(self._world.frames()) == len(frames.labels) + len(frames.hidden_parents)

    def _set_layout(self, layout: Layout, poses: FramePoses) -> None:
        contested = np.array([rival.row[:3] for rival in rivals(self._world, layout.shown, poses)]).reshape(-1, 3)
        seen = layout.first_viewpoint(self._world, poses, contested)
        self._set_camera(seen, count=len(layout.shown))
        self._canvas.set_layout(layout, poses, axes_length_m=seen.axes_length_m)
        labels = dict(layout.frames.labels)
        self._frames.offer(labels)
        self._shows.offer(labels, poses.in_frame)
        offered = () if self._read_only else movables(self._live_world)
        if [one.handles for one in offered] != [one.handles for one in self._movables]:
            self._joints.offer(offered)
        self._movables = offered

    def _set_camera(self, seen: Viewpoint, *, count: int) -> None:
        """Set the camera at first, and again only if the scene is much larger than before."""
        self._overlays.axes_length_m = seen.axes_length_m
        if seen.extent_m <= _MUCH_LARGER * self._extent_m:
            return
        cameras: list[Any] = [] if self._is_turned else [self._initial_camera, self._client.camera]
        for camera in cameras:
            camera.position, camera.look_at, camera.fov = seen.position, seen.look_at, seen.opening_rad
        self._extent_m = seen.extent_m
        is_many = count > _MOST_NAMES
        self._options = replace(
            self._options, names="found" if is_many else "all", frames="reported" if is_many else "all"
        )
        self._shows.show(self._options)

    def _select(self, frame: str) -> None:
        self.change_options(lambda options: replace(options, selected=frame))

    # -- Overlays and panels

    def _draw_overlays(self, poses: FramePoses, now_s: float) -> None:
        if self._panel_limit.is_due(now_s):
            with self._panel_limit.measured(now_s):
                self._show_panels(poses)
        if self._overlay_limit.is_due(now_s):
            with self._overlay_limit.measured(now_s):
                self._overlay(poses)

    def _overlay(self, poses: FramePoses) -> None:
        layout, overlays, options, world = self._layout, self._overlays, self._options, self._world
        if layout is None:
            return
        at, watched = options.timeline.instant, self._watched
        paths = trails(world, watched, poses, at=at, length_s=options.trail_s) if options.trails else {}
        overlays.draw_trails(paths)
        overlays.draw_motions(motions(world, watched, poses, at=at) if options.motions else [])
        labels, hypotheses = layout.frames.labels, rivals(world, layout.shown, poses)
        overlays.draw_rivals(hypotheses)
        if options.ellipsoids:
            overlays.draw_ellipsoids(ellipsoids(world, watched, poses), hypotheses)
        else:
            overlays.draw_ellipsoids([], [])
        texts = {frame: labels[frame] for frame in self._named(layout)}
        places = {frame: poses.rows[row, :3] for row, frame in enumerate(layout.shown)}
        overlays.draw_labels(texts, places, hypotheses, labels, Projection.of(self._client.camera))

    def _named(self, layout: Layout) -> list[str]:
        """Return the frames with a label, the most important first; the selected one is always included."""
        options, labels = self._options, layout.frames.labels
        named = {"all": list(labels), "none": []}.get(options.names)
        if named is None:
            named = matching_frames(labels, options.search) if options.search else []
        chosen = [options.selected] if options.selected in labels else []
        reported = [frame for frame in named if frame in self._reported]
        return list(dict.fromkeys(frame for frame in (*chosen, *reported, *named) if frame is not None))

    def _show_panels(self, poses: FramePoses) -> None:
        world, options, layout = self._world, self._options, self._layout
        if layout is None:
            return
        relations = world.relations()
        self._options = options = replace(options, timeline=options.timeline.covering(time_ranges(world, relations)))
        self._time.show(options.timeline, self._live_world.newest_stamp())
        moved = [info.of for info in relations if info.kind in {"sampled", "integrated"}]
        chosen = [options.selected] if options.selected is not None else []
        self._reported = frozenset(moved)
        labels = layout.frames.labels
        self._watched = tuple(frame for frame in dict.fromkeys([*chosen, *moved]) if frame in labels)
        at = options.timeline.instant
        tree = tree_html(
            world.tree(at),
            labels,
            own_name=world.name,
            search=options.search,
            selected=options.selected,
            missing=poses.snapshot.missing,
        )
        self._frames.show(options, tree, self._inspected(layout, poses))
        self._joints.show(positions(world, at) if self._movables else {})

    def _inspected(self, layout: Layout, poses: FramePoses) -> Inspection | None:
        options = self._options
        if options.selected is None or options.selected not in layout.frames.labels:
            return None
        seen_from = options.seen_from or poses.in_frame
        at = options.timeline.instant
        known, frames = self._world, layout.frames
        return inspect(known, options.selected, frames, in_frame=seen_from, at=at, timeline=options.timeline)
