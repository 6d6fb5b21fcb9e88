"""Colours and helpers of all pictures."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from shapes import text

from armillary.view._drawing import Point, Shape
from armillary.view.theme import EDGE, INK, MUTED, TEXT_PX, TRACK_COLORS

if TYPE_CHECKING:
    import numpy as np

SPEED, TURN, FORCE = TRACK_COLORS[0], "#8e3a78", "#a85500"
MOVING, MOVING_RIM = "#dcebf6", "#5f94bd"
RESTING, RESTING_RIM = "#eceff2", EDGE
PALE, PALE_RIM = "#f3f8fb", "#b9d2e4"

Shapes = Iterator[Shape]


def moved(corners: tuple[Point, ...], right: float, down: float) -> tuple[Point, ...]:
    """Translate corners [px]."""
    return tuple((x + right, y + down) for x, y in corners)


def rotate(corners: tuple[Point, ...], about: Point, angle_rad: float) -> tuple[Point, ...]:
    """Rotate corners counter-clockwise in the picture, where y is downwards."""
    c, s = math.cos(angle_rad), math.sin(angle_rad)
    arms = [(x - about[0], y - about[1]) for x, y in corners]
    return tuple((about[0] + c * u + s * v, about[1] - s * u + c * v) for u, v in arms)


def heading(at: Point, title: str, below: str = "", color: str = INK) -> Shapes:
    """Yield a title, and a line below it."""
    yield text(at, title, size=TEXT_PX, color=color, bold=True)
    if below:
        yield text((at[0], at[1] + 17), below, color=MUTED)


def numbers(vector3: np.ndarray, digits: int = 2) -> str:
    """Format a vector as in (1, -0.63, 0); adding zero turns -0.0 into 0.0."""
    return "(" + ", ".join(f"{round(float(part), digits) + 0.0:g}" for part in vector3) + ")"
