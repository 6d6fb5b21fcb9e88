"""Options of the view, and the controls that change them: time, frames, visibility, joints."""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import TYPE_CHECKING, Any, Literal

from armillary.view.web._panels import SELECTED_LABEL, inspection_html, matching_frames
from armillary.view.web._timeline import Timeline

if TYPE_CHECKING:
    from typing import TypeAlias

    import viser

    from armillary.view.web._dragging import Handle, Movable
    from armillary.view.web._panels import Inspection


InputCallback = Callable[[Any], object]
ChangeOptions = Callable[["OptionsChange"], object]
_PICTURE = "(as the picture)"
_STEP_S = 0.01
_SPEEDS = {"0.1 x": 0.1, "0.5 x": 0.5, "1 x": 1.0, "2 x": 2.0, "5 x": 5.0}
_PADDED = "padding:0 0.9em 0.3em;font-size:0.85em"
Dragged = Callable[["Movable", str, float], object]
_AT_REST_S = 0.7  # a slider shows the world again so long after the last input
_STEPS = 500
_SILENT_S, _SILENT_COLOR = 3.0, "#8b98a7"
_NARROW_PX = 900
_PHONE_PX = 600
_ALARM = "padding:0 0.9em;font-size:0.8em;color:#c2410c"


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewOptions:
    """Everything that the controls of the viewer can change.

    Attributes:
        in_frame: Fixed frame of the view; None while the world has no frames.
        timeline: The displayed instant.
        selected: Frame whose details are shown.
        seen_from: Frame in which the pose of `selected` is expressed; None for the fixed frame of the view.
        search: Words that labels must contain.
        names: Which frames have a label.
        trails: Whether trails of moving frames are shown.
        trail_s: Duration of the trails [s].
        motions: Whether velocities are shown.
        ellipsoids: Whether uncertainty is shown.
        frames: Which frames have axes: all, those that a source reports and the selected one, or none.
        is_dark: Whether the page is dark.
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
    frames: Literal["all", "reported", "none"] = "all"
    is_dark: bool = False


OptionsChange: TypeAlias = Callable[[ViewOptions], ViewOptions]
"""A function from old to new options."""


def on_user_input(on_input: InputCallback) -> Callable[[Any], Coroutine[Any, Any, None]]:
    """Return a callback of viser that forwards the input of a user, but not changes made by this program.

    It is a coroutine, because viser runs coroutines in the order of the messages; plain functions run later on another
    thread, and read the value that the control has by then.
    """

    async def callback(event: Any) -> None:
        if event.client is not None:
            on_input(event.target.value)

    return callback


class LinkedControl:
    """Control of viser that shows a value of the program and forwards the input of a user.

    Args:
        control: Slider, dropdown, or similar.
        on_input: Called with the input of the user.
    """

    def __init__(self, control: Any, on_input: InputCallback) -> None:
        self.control, self._on_input, self._shown = control, on_input, control.value
        control.on_update(on_user_input(self._receive))

    def show(self, value: Any) -> None:
        """Show a value, unless there is input of a user that was not processed yet."""
        if self.control.value == self._shown:
            self.control.value = value
            self._shown = self.control.value

    def offer(self, options: tuple[str, ...]) -> None:
        """Set the choices of a dropdown; the first is selected if the current one is not among them."""
        if self.control.options != options:
            self.control.options = options
            self._shown = self.control.value

    def _receive(self, value: Any) -> None:
        self._shown = value
        self._on_input(value)


class TimeControls:
    """Slider over the history, with play, pause and live."""

    def __init__(self, gui: viser.GuiApi, change_options: ChangeOptions) -> None:
        self._folder = gui.add_folder("Time")
        with self._folder:
            self._clock = gui.add_html("")
            self._slider: Any = gui.add_slider("Time [s]", 0.0, _STEP_S, _STEP_S, 0.0)
            self._mode = gui.add_button_group("Run", ("Live", "Pause", "Play"))
            self._speed = gui.add_dropdown("Speed", tuple(_SPEEDS), initial_value="1 x")
        self._newest_ns: int | None = None
        self._news_s = time.monotonic()
        self._at = LinkedControl(self._slider, lambda value: change_options(_timed(lambda time: time.moved_to(value))))
        self._speed.on_update(
            on_user_input(lambda value: change_options(_timed(lambda time: time.faster(_SPEEDS[value]))))
        )
        self._mode.on_click(on_user_input(lambda value: change_options(_timed(_MODES[value]))))

    def show(self, timeline: Timeline, newest_ns: int | None) -> None:
        """Show the displayed instant, the range of the history, and how long ago the newest sample of the world came.

        Without a history there is nothing to go back to, and nothing is shown.
        """
        has_history = timeline.first_ns is not None and timeline.first_ns != timeline.last_ns
        if self._folder.visible != has_history:
            self._folder.visible = has_history
        first_s, last_s = (round(timeline.clock_s(end_ns), 2) for end_ns in (timeline.first_ns, timeline.last_ns))
        self._slider.min, self._slider.max = first_s, max(last_s, first_s + _STEP_S)
        shown_s = timeline.clock_s(timeline.shown_ns)
        self._at.show(min(max(shown_s, first_s), self._slider.max))
        state = {"live": "● live", "paused": "❚❚ paused", "playing": "▶ playing"}[timeline.mode]
        color, ago = "#009e73" if timeline.mode == "live" else "#d55e00", ""
        silent_s = self._silent_s(newest_ns)
        if timeline.mode != "live":
            ago = f", {timeline.clock_s(newest_ns) - shown_s:.2f} s ago"
        elif silent_s > _SILENT_S:
            color, ago = _SILENT_COLOR, f", nothing new for {silent_s:.0f} s"
        self._clock.content = (
            f'<div style="{_PADDED}"><b style="color:{color}">{state}</b> '
            f'<span style="font-variant-numeric:tabular-nums">{shown_s:.2f} s{ago}</span></div>'
        )

    def _silent_s(self, newest_ns: int | None) -> float:
        """Return how long ago the newest stamp was first seen; stamps may belong to any clock."""
        if newest_ns != self._newest_ns:
            self._newest_ns, self._news_s = newest_ns, time.monotonic()
        return time.monotonic() - self._news_s


_MODES: dict[str, Callable[[Timeline], Timeline]] = {
    "Live": lambda timeline: timeline.live(),
    "Pause": lambda timeline: timeline.paused(),
    "Play": lambda timeline: timeline.playing(),
}


def _timed(change: Callable[[Timeline], Timeline]) -> OptionsChange:
    return lambda options: replace(options, timeline=change(options.timeline))


def configure_theme(gui: viser.GuiApi, *, is_dark: bool = False) -> None:
    """Set the colours of the page, and leave out what leads elsewhere."""
    gui.configure_theme(control_width="medium", show_logo=False, show_share_button=False, dark_mode=is_dark)


def arrange_panels(gui: viser.GuiApi, width_px: int) -> None:
    """Dock the main panel so that room is left for the picture; on a small screen it starts folded."""
    gui.main_panel.dock_right()
    gui.main_panel.set_width(330.0 if width_px >= _NARROW_PX else 270.0)
    if width_px < _PHONE_PX:
        gui.main_panel.minimize()


class FrameControls:
    """Frame tree with a search, and the details of one frame."""

    def __init__(self, gui: viser.GuiApi, change_options: ChangeOptions, width_px: int) -> None:
        self._labels: dict[str, str] = {}
        panel = gui.add_panel()
        with panel.add_tab("Frames"):
            self._search = gui.add_text("Search", "", hint="Words that the name of a frame contains")
            self._tree = gui.add_html("")
        panel.dock_left()
        panel.set_width(300.0)
        if width_px < _NARROW_PX:
            panel.minimize()
        with gui.add_folder("Frame"):
            hint = "Type its name, or click on it in the tree, on its axes, or on a shape"
            chosen = gui.add_text(SELECTED_LABEL, "", hint=hint)
            seen_from = gui.add_dropdown("Seen from", (_PICTURE,), initial_value=_PICTURE)
            self._known = gui.add_html(inspection_html(None))
        self._search.on_update(
            on_user_input(lambda words: change_options(lambda options: self._searched(options, words)))
        )
        self._chosen = LinkedControl(
            chosen, lambda name: change_options(lambda options: replace(options, selected=self._frame(name)))
        )
        self._shown_selected: str | None = None
        self._seen_from = LinkedControl(
            seen_from, lambda label: change_options(lambda options: replace(options, seen_from=self._frame(label)))
        )

    def offer(self, labels: dict[str, str]) -> None:
        """Set the frames, with their labels, that can be selected."""
        self._labels = labels
        options = tuple(dict.fromkeys(labels.values()))
        self._seen_from.offer((_PICTURE, *options))

    def show(self, options: ViewOptions, tree_html: str, inspection: Inspection | None) -> None:
        """Show the tree, and the details of the selected frame."""
        self._tree.content = tree_html
        self._known.content = inspection_html(inspection)
        if options.selected != self._shown_selected:
            # What is being typed is no name yet, and stays.
            self._shown_selected = options.selected
            if options.selected is not None:
                self._chosen.show(self._labels.get(options.selected, ""))
        self._seen_from.show(self._labels.get(options.seen_from or "", _PICTURE))

    def _frame(self, name: str) -> str | None:
        """Return the frame with a name, or with a label."""
        return (
            name if name in self._labels else next((key for key, label in self._labels.items() if label == name), None)
        )

    def _searched(self, options: ViewOptions, words: str) -> ViewOptions:
        """Set the search; select the frame if there is exactly one match."""
        hits = matching_frames(self._labels, words)
        selected = hits[0] if len(hits) == 1 else options.selected
        return replace(options, search=words, selected=selected)


class ShowControls:
    """Fixed frame of the view, and visibility of the overlays."""

    def __init__(self, gui: viser.GuiApi, change_options: ChangeOptions, options: ViewOptions) -> None:
        with gui.add_folder("Show"):
            in_frame = gui.add_dropdown("Picture in", ("",), initial_value="")
            names = gui.add_dropdown("Names", ("all", "found", "none"), initial_value=options.names)
            frames = gui.add_dropdown("Axes", ("all", "reported", "none"), initial_value=options.frames)
            for label, name in (
                ("Trails", "trails"),
                ("Velocities", "motions"),
                ("Uncertainty", "ellipsoids"),
                ("Dark", "is_dark"),
            ):
                box = gui.add_checkbox(label, getattr(options, name))
                box.on_update(on_user_input(_option_setter(change_options, name)))
            trail_s = gui.add_slider("Trail [s]", 0.5, 30.0, 0.5, options.trail_s)
        self._names = LinkedControl(names, _option_setter(change_options, "names"))
        self._frames = LinkedControl(frames, _option_setter(change_options, "frames"))
        trail_s.on_update(on_user_input(_option_setter(change_options, "trail_s")))
        self._in_frame = LinkedControl(
            in_frame, lambda label: change_options(lambda options: replace(options, in_frame=self._frame(label)))
        )
        self._labels: dict[str, str] = {}

    def offer(self, labels: dict[str, str], in_frame: str) -> None:
        """Set the frames that can be the fixed frame, and the current one."""
        self._labels = labels
        self._in_frame.offer(tuple(dict.fromkeys(labels.values())))
        self._in_frame.show(labels.get(in_frame, next(iter(labels.values()))))

    def show(self, options: ViewOptions) -> None:
        """Show options that were changed elsewhere."""
        self._names.show(options.names)
        self._frames.show(options.frames)

    def _frame(self, label: str) -> str | None:
        return next((frame for frame, name in self._labels.items() if name == label), None)


def _option_setter(change_options: ChangeOptions, name: str) -> Callable[[Any], object]:
    return lambda value: change_options(lambda options: replace(options, **{name: value}))


class JointControls:
    """Sliders for the independent joints of all mounted models.

    Args:
        gui: Controls of viser.
        on_drag: Called with model, joint and position when a user moves a slider.
    """

    def __init__(self, gui: viser.GuiApi, on_drag: Dragged) -> None:
        self._gui, self._on_drag = gui, on_drag
        self._folders: list[Any] = []
        self._sliders: dict[str, LinkedControl] = {}
        self._handles: dict[str, Handle] = {}
        self._touched_s: dict[str, float] = {}
        self._messages: dict[str, Any] = {}

    def offer(self, movables: Sequence[Movable]) -> None:
        """Replace all sliders by those of the given models."""
        for folder in self._folders:
            folder.remove()
        self._folders, self._sliders, self._messages = [], {}, {}
        self._handles = {handle.joint: handle for movable in movables for handle in movable.handles}
        for movable in movables:
            folder = self._gui.add_folder(f"Joints of {_name(movable)}", expand_by_default=len(movables) == 1)
            self._folders.append(folder)
            with folder:
                error = self._gui.add_html("")
                self._messages |= {handle.joint: error for handle in movable.handles}
                self._sliders |= {handle.joint: self._slider(movable, handle) for handle in movable.handles}

    def show(self, positions: Mapping[str, float]) -> None:
        """Show the positions of the joints."""
        now_s = time.monotonic()
        for joint, slider in self._sliders.items():
            if joint in positions and now_s - self._touched_s.get(joint, 0.0) > _AT_REST_S:
                slider.show(self._handles[joint].within(positions[joint]))

    def refuse(self, joint: str, sentence: str) -> None:
        """Show why a joint cannot move; its slider returns."""
        self._touched_s.pop(joint, None)
        if joint in self._messages:
            self._messages[joint].content = f'<div style="{_ALARM}">{escape(sentence)}</div>'

    def accept(self, joint: str) -> None:
        """Clear the message of the model of this joint."""
        if joint in self._messages:
            self._messages[joint].content = ""

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
    """Return the common prefix of the joints, or "the model"."""
    names = {handle.joint.partition("/")[0] for handle in movable.handles if "/" in handle.joint}
    return ", ".join(sorted(names)) or "the model"
