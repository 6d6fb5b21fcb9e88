"""What stands beside the picture: time, frames, what to show. Each part tells changes of wishes, and shows them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from armillary.view.web._followers import Follower, by_hand
from armillary.view.web._pages import found, inspection_html

if TYPE_CHECKING:
    import viser

    from armillary.view.web._inspection import Inspection
    from armillary.view.web._timeline import Timeline
    from armillary.view.web._wishes import Change, Wishes

__all__ = ["FrameControls", "ShowControls", "TimeControls"]

Tell = Callable[["Change"], object]

_PICTURE = "(as the picture)"
_STEP_S = 0.01
_SPEEDS = {"0.1 x": 0.1, "0.5 x": 0.5, "1 x": 1.0, "2 x": 2.0, "5 x": 5.0}
_PADDED = "padding:0 0.9em 0.3em;font-size:0.85em"


class TimeControls:
    """The slider over the history, with play, pause and live."""

    def __init__(self, gui: viser.GuiApi, tell: Tell) -> None:
        with gui.add_folder("Time"):
            self._clock = gui.add_html("")
            self._slider: Any = gui.add_slider("Time [s]", 0.0, _STEP_S, _STEP_S, 0.0)
            self._mode = gui.add_button_group("Run", ("Live", "Pause", "Play"))
            self._speed = gui.add_dropdown("Speed", tuple(_SPEEDS), initial_value="1 x")
        self._at = Follower(self._slider, lambda value: tell(_timed(lambda time: time.moved_to(value))))
        self._speed.on_update(by_hand(lambda value: tell(_timed(lambda time: time.faster(_SPEEDS[value])))))
        self._mode.on_click(by_hand(lambda value: tell(_timed(_MODES[value]))))

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


def _timed(change: Callable[[Timeline], Timeline]) -> Change:
    return lambda wishes: replace(wishes, timeline=change(wishes.timeline))


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
        self._search.on_update(by_hand(lambda words: tell(lambda wishes: self._searched(wishes, words))))
        self._chosen = Follower(chosen, lambda label: tell(lambda wishes: self._selected(wishes, label)))
        self._seen_from = Follower(
            seen_from, lambda label: tell(lambda wishes: replace(wishes, seen_from=self._frame(label)))
        )

    def offer(self, labels: dict[str, str]) -> None:
        """These frames, with their names, can be chosen."""
        self._labels = labels
        options = tuple(dict.fromkeys(labels.values()))
        self._chosen.offer(("", *options))
        self._seen_from.offer((_PICTURE, *options))

    def show(self, wishes: Wishes, tree_html: str, inspection: Inspection | None) -> None:
        """The tree, and what is known of the frame that is selected."""
        self._tree.content = tree_html
        self._known.content = inspection_html(inspection)
        self._chosen.show(self._labels.get(wishes.selected or "", ""))
        self._seen_from.show(self._labels.get(wishes.seen_from or "", _PICTURE))

    def _frame(self, label: str) -> str | None:
        return next((frame for frame, name in self._labels.items() if name == label), None)

    def _selected(self, wishes: Wishes, label: str) -> Wishes:
        return replace(wishes, selected=self._frame(label))

    def _searched(self, wishes: Wishes, words: str) -> Wishes:
        """Where one frame alone is found, it is selected."""
        hits = found(self._labels, words)
        selected = hits[0] if len(hits) == 1 else wishes.selected
        return replace(wishes, search=words, selected=selected)


class ShowControls:
    """What is drawn, and in which frame."""

    def __init__(self, gui: viser.GuiApi, tell: Tell, wishes: Wishes) -> None:
        with gui.add_folder("Show"):
            in_frame = gui.add_dropdown("Picture in", ("",), initial_value="")
            names = gui.add_dropdown("Names", ("all", "found", "none"), initial_value=wishes.names)
            for label, wish in (
                ("Axes", "frames"),
                ("Trails", "trails"),
                ("Velocities", "motions"),
                ("Uncertainty", "ellipsoids"),
            ):
                box = gui.add_checkbox(label, getattr(wishes, wish))
                box.on_update(by_hand(_wishing(tell, wish)))
            trail_s = gui.add_slider("Trail [s]", 0.5, 30.0, 0.5, wishes.trail_s)
        self._names = Follower(names, _wishing(tell, "names"))
        trail_s.on_update(by_hand(_wishing(tell, "trail_s")))
        self._in_frame = Follower(in_frame, lambda label: tell(lambda said: replace(said, in_frame=self._frame(label))))
        self._labels: dict[str, str] = {}

    def offer(self, labels: dict[str, str], in_frame: str) -> None:
        """The picture can stand in these frames, and stands in one of them."""
        self._labels = labels
        self._in_frame.offer(tuple(dict.fromkeys(labels.values())))
        self._in_frame.show(labels.get(in_frame, next(iter(labels.values()))))

    def show(self, wishes: Wishes) -> None:
        """What was chosen elsewhere."""
        self._names.show(wishes.names)

    def _frame(self, label: str) -> str | None:
        return next((frame for frame, name in self._labels.items() if name == label), None)


def _wishing(tell: Tell, wish: str) -> Callable[[Any], object]:
    return lambda value: tell(lambda wishes: replace(wishes, **{wish: value}))
