"""One picture of a world, kept up to date: what to look at, then what to draw. All of it happens on one thread."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from armillary.errors import ArmillaryError
from armillary.stamps import LATEST
from armillary.view.web._canvas import Canvas
from armillary.view.web._controls import FrameControls, ShowControls, TimeControls
from armillary.view.web._dragging import Movable, movables, positions
from armillary.view.web._ellipsoids import ellipsoids
from armillary.view.web._inspection import Inspection, inspect
from armillary.view.web._joint_controls import JointControls
from armillary.view.web._motion import motions
from armillary.view.web._overlays import Overlays
from armillary.view.web._pace import Pace
from armillary.view.web._pages import found, tree_html
from armillary.view.web._rivals import rivals
from armillary.view.web._spans import spans
from armillary.view.web._stage import Stage, stage_of
from armillary.view.web._trails import trails
from armillary.view.web._viewpoint import Viewpoint, first_frame, viewpoint
from armillary.view.web._wishes import Change, Wishes

if TYPE_CHECKING:
    import viser

    from armillary.view.web._placing import Placed
    from armillary.view.web._viewed import Viewed

__all__ = ["Show"]

_MOST_NAMES = 60
"""Where there are more frames, names are shown of those that are searched for."""

_MUCH_LARGER = 3.0


class Show:
    """Draws a world on a server, tick by tick.

    Args:
        world: Looked at, and never changed but by the sliders of joints.
        server: Of viser.
        in_frame: The frame that the picture stands in; None: the root.
    """

    def __init__(self, world: Viewed, server: viser.ViserServer, in_frame: str | None) -> None:
        self._world, self._server = world, server
        self._wishes = Wishes(in_frame=in_frame)
        self._tasks: queue.SimpleQueue[Callable[[], object]] = queue.SimpleQueue()
        self._stage: Stage | None = None
        self._is_outdated = True
        self._staging, self._overlaying, self._telling = Pace(10.0, 0.01), Pace(15.0, 0.01), Pace(5.0, 0.007)
        server.gui.main_panel.dock_right()
        server.gui.main_panel.set_width(330.0)
        self._time = TimeControls(server.gui, self.tell)
        self._frames = FrameControls(server.gui, self.tell)
        self._shows = ShowControls(server.gui, self.tell, self._wishes)
        self._joints = JointControls(server.gui, self._drag)
        self._canvas, self._overlays = Canvas(server, self._select), Overlays(server)
        self._root: str | None = None
        self._looked_at_m = 0.0
        self._movables: tuple[Movable, ...] = ()
        self._watched: tuple[str, ...] = ()

    @property
    def wishes(self) -> Wishes:
        """What is shown."""
        return self._wishes

    def tell(self, change: Change) -> None:
        """Something else is wanted from the next tick on. Any thread may tell."""
        self._tasks.put(lambda: self._wish(change))

    def outdate(self, _changes: object = None) -> None:
        """The structure of the scene is another. Any thread may say so."""
        self._is_outdated = True

    def tick(self, elapsed_s: float) -> None:
        """Look, and draw what is different."""
        self._do_tasks()
        self._wishes = replace(self._wishes, timeline=self._wishes.timeline.advanced(elapsed_s))
        now_s = time.monotonic()
        if self._stage is None or self._staging.is_due(now_s):
            with self._staging.spending(now_s):
                self._restage()
        placed = self._placed()
        if placed is not None:
            with self._server.atomic():  # the thread that sends wakes up once
                self._canvas.place(placed)
                self._draw_over(placed, now_s)

    # -- Wishes

    def _do_tasks(self) -> None:
        while not self._tasks.empty():
            self._tasks.get()()
            for pace in (self._overlaying, self._telling):
                pace.hurry()

    def _wish(self, change: Change) -> None:
        before, self._wishes = self._wishes, change(self._wishes)
        if before.timeline.instant != self._wishes.timeline.instant:
            self._staging.hurry()

    def _drag(self, movable: Movable, joint: str, value: float) -> None:
        self._tasks.put(lambda: self._move(movable, joint, value))

    def _move(self, movable: Movable, joint: str, value: float) -> None:
        """The picture is live while somebody moves a joint: the past does not change."""
        try:
            movable.drag(self._world, joint, value)
        except ArmillaryError as error:
            self._joints.refuse(joint, str(error))
        else:
            self._joints.accept(joint)
            self._wishes = replace(self._wishes, timeline=self._wishes.timeline.live())

    # -- What there is

    def _placed(self) -> Placed | None:
        """None where there is nothing to see, or the frame of the picture is gone: another one is looked for then."""
        in_frame = self._wishes.in_frame or self._root
        if self._stage is None or in_frame is None:
            return None
        try:
            return self._stage.placed(self._world, in_frame=in_frame, at=self._wishes.timeline.instant)
        except ArmillaryError:
            self._wishes = replace(self._wishes, in_frame=None)
            self.outdate()
            return None

    def _restage(self) -> None:
        """Drawn anew only where frames or things are others than before."""
        at = self._wishes.timeline.instant
        if at is LATEST and not self._is_outdated and self._has_all_frames():
            return
        self._is_outdated = False
        self._root = first_frame(self._world)
        before, self._stage = self._stage, stage_of(self._world, at)
        if before is not None and self._stage.is_like(before):
            return
        placed = self._placed()
        if placed is None:
            self._clear()
        else:
            self._set_stage(self._stage, placed)

    def _clear(self) -> None:
        self._canvas.clear()
        self._overlays.clear()
        self._frames.offer({})
        self._frames.show(self._wishes, tree_html(self._world.tree(), {}), None)

    def _has_all_frames(self) -> bool:
        frames = self._stage.frames if self._stage is not None else None
        return frames is not None and len(self._world.frames()) == len(frames.labels) + len(frames.carriers)

    def _set_stage(self, stage: Stage, placed: Placed) -> None:
        seen = viewpoint(stage.corners(placed))
        self._look(seen, count=len(stage.shown))
        self._canvas.set_stage(stage, placed, axes_length_m=seen.axes_length_m)
        labels = dict(stage.frames.labels)
        self._frames.offer(labels)
        self._shows.offer(labels, placed.in_frame)
        offered = movables(self._world)
        if [one.handles for one in offered] != [one.handles for one in self._movables]:
            self._joints.offer(offered)
        self._movables = offered

    def _look(self, seen: Viewpoint, *, count: int) -> None:
        """Who comes later sees everything; who looks already is left where he is, unless all of it is much larger."""
        self._overlays.axes_length_m = seen.axes_length_m
        is_other = seen.extent_m > _MUCH_LARGER * self._looked_at_m
        clients = self._server.get_clients().values() if is_other else ()
        cameras: list[Any] = [self._server.initial_camera, *(client.camera for client in clients)]
        for camera in cameras:
            camera.position, camera.look_at, camera.fov = seen.position, seen.look_at, seen.opening_rad
        if is_other:
            self._looked_at_m = seen.extent_m
            names: Literal["all", "found"] = "all" if count <= _MOST_NAMES else "found"
            self._wishes = replace(self._wishes, names=names)
            self._shows.show(self._wishes)

    def _select(self, frame: str) -> None:
        self.tell(lambda wishes: replace(wishes, selected=frame))

    # -- What is drawn over it and told beside it

    def _draw_over(self, placed: Placed, now_s: float) -> None:
        if self._telling.is_due(now_s):
            with self._telling.spending(now_s):
                self._tell_of(placed)
        if self._overlaying.is_due(now_s):
            with self._overlaying.spending(now_s):
                self._overlay(placed)

    def _overlay(self, placed: Placed) -> None:
        stage, overlays, wishes, world = self._stage, self._overlays, self._wishes, self._world
        if stage is None:
            return
        at, watched = wishes.timeline.instant, self._watched
        self._canvas.show_frames(visible=wishes.frames)
        ways = trails(world, watched, placed, at=at, length_s=wishes.trail_s) if wishes.trails else {}
        overlays.draw_trails(ways)
        overlays.draw_motions(motions(world, watched, placed, at=at) if wishes.motions else [])
        labels, rivalry = stage.frames.labels, rivals(world, stage.shown, placed)
        overlays.draw_rivals(rivalry, labels)
        uncertain = ellipsoids(world, watched, placed)
        uncertain += [rival.ellipsoid for rival in rivalry if rival.ellipsoid is not None]
        overlays.draw_ellipsoids(uncertain if wishes.ellipsoids else [])
        overlays.names.show({frame: labels[frame] for frame in self._named(stage)})
        overlays.names.move({frame: placed.rows[row, :3] for row, frame in enumerate(stage.shown)})

    def _named(self, stage: Stage) -> list[str]:
        """The frames whose names are shown; the one that is selected is always among them."""
        wishes, labels = self._wishes, stage.frames.labels
        named = {"all": list(labels), "none": []}.get(wishes.names)
        if named is None:
            named = found(labels, wishes.search) if wishes.search else []
        chosen = [wishes.selected] if wishes.selected in labels and wishes.selected not in named else []
        return [*named, *(frame for frame in chosen if frame is not None)]

    def _tell_of(self, placed: Placed) -> None:
        world, wishes, stage = self._world, self._wishes, self._stage
        if stage is None:
            return
        relations = world.relations()
        self._wishes = wishes = replace(wishes, timeline=wishes.timeline.covering(spans(world, relations)))
        self._time.show(wishes.timeline)
        moved = [info.of for info in relations if info.kind in {"sampled", "integrated"}]
        chosen = [wishes.selected] if wishes.selected is not None else []
        labels = stage.frames.labels
        self._watched = tuple(frame for frame in dict.fromkeys([*chosen, *moved]) if frame in labels)
        at = wishes.timeline.instant
        tree = tree_html(
            world.tree(at),
            labels,
            own_name=world.name,
            search=wishes.search,
            selected=wishes.selected,
            missing=placed.snapshot.missing,
        )
        self._frames.show(wishes, tree, self._inspected(stage, placed))
        self._joints.show(positions(world, at) if self._movables else {})

    def _inspected(self, stage: Stage, placed: Placed) -> Inspection | None:
        wishes = self._wishes
        if wishes.selected is None or wishes.selected not in stage.frames.labels:
            return None
        seen_from = wishes.seen_from or placed.in_frame
        return inspect(self._world, wishes.selected, stage.frames, in_frame=seen_from, at=wishes.timeline.instant)
