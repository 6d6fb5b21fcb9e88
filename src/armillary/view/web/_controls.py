"""Options of the view, and the controls that change them: time, frames, visibility, joints."""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import TYPE_CHECKING, Any, Literal

from armillary.view.web._panels import found, inspection_html
from armillary.view.web._timeline import Timeline

if TYPE_CHECKING:
    from typing import TypeAlias

    import viser

    from armillary.view.web._dragging import Handle, Movable
    from armillary.view.web._panels import Inspection


Told = Callable[[Any], object]
Tell = Callable[["OptionsChange"], object]
_PICTURE = "(as the picture)"
_STEP_S = 0.01
_SPEEDS = {"0.1 x": 0.1, "0.5 x": 0.5, "1 x": 1.0, "2 x": 2.0, "5 x": 5.0}
_PADDED = "padding:0 0.9em 0.3em;font-size:0.85em"
Dragged = Callable[["Movable", str, float], object]
_AT_REST_S = 0.7  # so long after a slider was last moved by hand it follows the world again
_STEPS = 500
_ALARM = "padding:0 0.9em;font-size:0.8em;color:#c2410c"


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewOptions:
    """All that can be chosen beside the picture.

    Attributes:
        in_frame: The frame that the picture stands in; None while the world has none.
        timeline: Which instant is shown.
        selected: The frame of which more is told.
        seen_from: The frame in which its pose is told; None: that of the picture.
        search: Words that names of frames have to hold.
        names: Which frames have their names beside them.
        trails: Whether the ways of moving frames are shown.
        trail_s: How long these are [s].
        motions: Whether velocities are shown.
        ellipsoids: Whether uncertainty is shown.
        frames: Whether axes are shown.
    """

    in_frame: str | None = None
    timeline: Timeline = field(default_factory=Timeline)
    selected: str | None = None
    seen_from: str | None = None
    search: str = ""
    names: Literal["all", "found", "none"] = "all"
    trails: bool = True
    trail_s: float = 3.0
    motions: bool = False
    ellipsoids: bool = True
    frames: bool = True


OptionsChange: TypeAlias = Callable[[ViewOptions], ViewOptions]
"""From what was wanted to what is wanted now."""


def on_user_input(told: Told) -> Callable[[Any], Coroutine[Any, Any, None]]:
    """A callback of viser for what a person did; what this program did itself is not told.

    A coroutine runs where the message came in, in its order; a plain function runs some time later on another thread,
    and reads whatever the control says by then.
    """

    async def callback(event: Any) -> None:
        if event.client is not None:
            told(event.target.value)

    return callback


class LinkedControl:
    """One control of viser.

    Args:
        control: A slider, a dropdown, and the like.
        told: Called with what a person chose.
    """

    def __init__(self, control: Any, told: Told) -> None:
        self.control, self._told, self._shown = control, told, control.value
        control.on_update(on_user_input(self._hear))

    def show(self, value: Any) -> None:
        """This is so now. What a person did meanwhile is not overwritten before it was heard."""
        if self.control.value == self._shown:
            self.control.value = value
            self._shown = self.control.value

    def offer(self, options: tuple[str, ...]) -> None:
        """These can be chosen; the first of them, where what was chosen is none of them."""
        if self.control.options != options:
            self.control.options = options
            self._shown = self.control.value

    def _hear(self, value: Any) -> None:
        self._shown = value
        self._told(value)


class TimeControls:
    """The slider over the history, with play, pause and live."""

    def __init__(self, gui: viser.GuiApi, tell: Tell) -> None:
        with gui.add_folder("Time"):
            self._clock = gui.add_html("")
            self._slider: Any = gui.add_slider("Time [s]", 0.0, _STEP_S, _STEP_S, 0.0)
            self._mode = gui.add_button_group("Run", ("Live", "Pause", "Play"))
            self._speed = gui.add_dropdown("Speed", tuple(_SPEEDS), initial_value="1 x")
        self._at = LinkedControl(self._slider, lambda value: tell(_timed(lambda time: time.moved_to(value))))
        self._speed.on_update(on_user_input(lambda value: tell(_timed(lambda time: time.faster(_SPEEDS[value])))))
        self._mode.on_click(on_user_input(lambda value: tell(_timed(_MODES[value]))))

    def show(self, timeline: Timeline) -> None:
        """Where one is in the history."""
        first_s, last_s = (round(timeline.clock_s(end_ns), 2) for end_ns in (timeline.first_ns, timeline.last_ns))
        self._slider.min, self._slider.max = first_s, max(last_s, first_s + _STEP_S)
        shown_s = timeline.clock_s(timeline.shown_ns)
        self._at.show(min(max(shown_s, first_s), self._slider.max))
        state = {"live": "● live", "paused": "❚❚ paused", "playing": "▶ playing"}[timeline.mode]
        color = "#009e73" if timeline.mode == "live" else "#d55e00"
        ago = f", {last_s - shown_s:.2f} s ago" if timeline.mode != "live" else ""
        self._clock.content = (
            f'<div style="{_PADDED}"><b style="color:{color}">{state}</b> '
            f'<span style="font-variant-numeric:tabular-nums">{shown_s:.2f} s{ago}</span></div>'
        )


_MODES: dict[str, Callable[[Timeline], Timeline]] = {
    "Live": lambda timeline: timeline.live(),
    "Pause": lambda timeline: timeline.paused(),
    "Play": lambda timeline: timeline.playing(),
}


def _timed(change: Callable[[Timeline], Timeline]) -> OptionsChange:
    return lambda options: replace(options, timeline=change(options.timeline))


class FrameControls:
    """The tree with its search, and what is known of one frame."""

    def __init__(self, gui: viser.GuiApi, tell: Tell) -> None:
        self._labels: dict[str, str] = {}
        panel = gui.add_panel()
        with panel.add_tab("Frames"):
            self._search = gui.add_text("Search", "", hint="Words that the name of a frame holds")
            self._tree = gui.add_html("")
        panel.dock_left()
        panel.set_width(300.0)
        with gui.add_folder("Frame"):
            chosen = gui.add_dropdown("Of", ("",), initial_value="", hint="Or click on its axes")
            seen_from = gui.add_dropdown("Seen from", (_PICTURE,), initial_value=_PICTURE)
            self._known = gui.add_html(inspection_html(None))
        self._search.on_update(on_user_input(lambda words: tell(lambda options: self._searched(options, words))))
        self._chosen = LinkedControl(chosen, lambda label: tell(lambda options: self._selected(options, label)))
        self._seen_from = LinkedControl(
            seen_from, lambda label: tell(lambda options: replace(options, seen_from=self._frame(label)))
        )

    def offer(self, labels: dict[str, str]) -> None:
        """These frames, with their names, can be chosen."""
        self._labels = labels
        options = tuple(dict.fromkeys(labels.values()))
        self._chosen.offer(("", *options))
        self._seen_from.offer((_PICTURE, *options))

    def show(self, options: ViewOptions, tree_html: str, inspection: Inspection | None) -> None:
        """The tree, and what is known of the frame that is selected."""
        self._tree.content = tree_html
        self._known.content = inspection_html(inspection)
        self._chosen.show(self._labels.get(options.selected or "", ""))
        self._seen_from.show(self._labels.get(options.seen_from or "", _PICTURE))

    def _frame(self, label: str) -> str | None:
        return next((frame for frame, name in self._labels.items() if name == label), None)

    def _selected(self, options: ViewOptions, label: str) -> ViewOptions:
        return replace(options, selected=self._frame(label))

    def _searched(self, options: ViewOptions, words: str) -> ViewOptions:
        """Where one frame alone is found, it is selected."""
        hits = found(self._labels, words)
        selected = hits[0] if len(hits) == 1 else options.selected
        return replace(options, search=words, selected=selected)


class ShowControls:
    """What is drawn, and in which frame."""

    def __init__(self, gui: viser.GuiApi, tell: Tell, options: ViewOptions) -> None:
        with gui.add_folder("Show"):
            in_frame = gui.add_dropdown("Picture in", ("",), initial_value="")
            names = gui.add_dropdown("Names", ("all", "found", "none"), initial_value=options.names)
            for label, wish in (
                ("Axes", "frames"),
                ("Trails", "trails"),
                ("Velocities", "motions"),
                ("Uncertainty", "ellipsoids"),
            ):
                box = gui.add_checkbox(label, getattr(options, wish))
                box.on_update(on_user_input(_wishing(tell, wish)))
            trail_s = gui.add_slider("Trail [s]", 0.5, 30.0, 0.5, options.trail_s)
        self._names = LinkedControl(names, _wishing(tell, "names"))
        trail_s.on_update(on_user_input(_wishing(tell, "trail_s")))
        self._in_frame = LinkedControl(
            in_frame, lambda label: tell(lambda said: replace(said, in_frame=self._frame(label)))
        )
        self._labels: dict[str, str] = {}

    def offer(self, labels: dict[str, str], in_frame: str) -> None:
        """The picture can stand in these frames, and stands in one of them."""
        self._labels = labels
        self._in_frame.offer(tuple(dict.fromkeys(labels.values())))
        self._in_frame.show(labels.get(in_frame, next(iter(labels.values()))))

    def show(self, options: ViewOptions) -> None:
        """What was chosen elsewhere."""
        self._names.show(options.names)

    def _frame(self, label: str) -> str | None:
        return next((frame for frame, name in self._labels.items() if name == label), None)


def _wishing(tell: Tell, wish: str) -> Callable[[Any], object]:
    return lambda value: tell(lambda options: replace(options, **{wish: value}))


class JointControls:
    """One slider for each joint that is free; none where no model stands in the world.

    Args:
        gui: Of viser.
        on_drag: Told which joint of which model somebody moves where.
    """

    def __init__(self, gui: viser.GuiApi, on_drag: Dragged) -> None:
        self._gui, self._on_drag = gui, on_drag
        self._folders: list[Any] = []
        self._sliders: dict[str, LinkedControl] = {}
        self._handles: dict[str, Handle] = {}
        self._touched_s: dict[str, float] = {}
        self._troubles: dict[str, Any] = {}

    def offer(self, movables: Sequence[Movable]) -> None:
        """Sliders for these models, in place of those before."""
        for folder in self._folders:
            folder.remove()
        self._folders, self._sliders, self._troubles = [], {}, {}
        self._handles = {handle.joint: handle for movable in movables for handle in movable.handles}
        for movable in movables:
            folder = self._gui.add_folder(f"Joints of {_name(movable)}", expand_by_default=len(movables) == 1)
            self._folders.append(folder)
            with folder:
                trouble = self._gui.add_html("")
                self._troubles |= {handle.joint: trouble for handle in movable.handles}
                self._sliders |= {handle.joint: self._slider(movable, handle) for handle in movable.handles}

    def show(self, positions: Mapping[str, float]) -> None:
        """Where the joints are."""
        now_s = time.monotonic()
        for joint, slider in self._sliders.items():
            if joint in positions and now_s - self._touched_s.get(joint, 0.0) > _AT_REST_S:
                slider.show(self._handles[joint].within(positions[joint]))

    def refuse(self, joint: str, sentence: str) -> None:
        """Say above its slider why a joint does not move; the slider goes back."""
        self._touched_s.pop(joint, None)
        if joint in self._troubles:
            self._troubles[joint].content = f'<div style="{_ALARM}">{escape(sentence)}</div>'

    def accept(self, joint: str) -> None:
        """It moves: whatever hindered this model before is said no more."""
        if joint in self._troubles:
            self._troubles[joint].content = ""

    def _slider(self, movable: Movable, handle: Handle) -> LinkedControl:
        reach = handle.upper - handle.lower
        slider = self._gui.add_slider(
            handle.joint.rpartition("/")[2] or handle.joint,
            handle.lower,
            handle.upper,
            reach / _STEPS if reach > 0.0 else 1.0,
            handle.resting,
            hint=handle.joint if handle.is_bounded else f"{handle.joint}: without limits",
        )
        return LinkedControl(slider, lambda value: self._dragged(movable, handle.joint, value))

    def _dragged(self, movable: Movable, joint: str, value: float) -> None:
        self._touched_s[joint] = time.monotonic()
        self._on_drag(movable, joint, value)


def _name(movable: Movable) -> str:
    """What the joints have in common, or that there are some."""
    names = {handle.joint.partition("/")[0] for handle in movable.handles if "/" in handle.joint}
    return ", ".join(sorted(names)) or "the model"
