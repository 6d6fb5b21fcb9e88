"""Sliders for the joints of the models in a world."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from armillary.view.web._followers import Follower

if TYPE_CHECKING:
    import viser

    from armillary.view.web._dragging import Handle, Movable

__all__ = ["JointControls"]

Dragged = Callable[["Movable", str, float], object]

_AT_REST_S = 0.7  # so long after a slider was last moved by hand it follows the world again
_STEPS = 500
_ALARM = "padding:0 0.9em;font-size:0.8em;color:#c2410c"


class JointControls:
    """One slider for each joint that is free; none where no model stands in the world.

    Args:
        gui: Of viser.
        on_drag: Told which joint of which model somebody moves where.
    """

    def __init__(self, gui: viser.GuiApi, on_drag: Dragged) -> None:
        self._gui, self._on_drag = gui, on_drag
        self._folders: list[Any] = []
        self._sliders: dict[str, Follower] = {}
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

    def _slider(self, movable: Movable, handle: Handle) -> Follower:
        reach = handle.upper - handle.lower
        slider = self._gui.add_slider(
            handle.joint.rpartition("/")[2] or handle.joint,
            handle.lower,
            handle.upper,
            reach / _STEPS if reach > 0.0 else 1.0,
            handle.resting,
            hint=handle.joint if handle.is_bounded else f"{handle.joint}: without limits",
        )
        return Follower(slider, lambda value: self._dragged(movable, handle.joint, value))

    def _dragged(self, movable: Movable, joint: str, value: float) -> None:
        self._touched_s[joint] = time.monotonic()
        self._on_drag(movable, joint, value)


def _name(movable: Movable) -> str:
    """What the joints have in common, or that there are some."""
    names = {handle.joint.partition("/")[0] for handle in movable.handles if "/" in handle.joint}
    return ", ".join(sorted(names)) or "the model"
