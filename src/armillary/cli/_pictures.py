"""The pictures that the demonstration leaves behind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from armillary.cli._turtles import FOLLOWER, LEADER, WORLD, Turtles
from armillary.errors import MissingExtra
from armillary.stamps import seconds
from armillary.view import draw_tracks, draw_tree

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_STEP = seconds(0.05)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pictures:
    """What was drawn.

    Attributes:
        folder: Where the files are.
        files: Their names.
        missing: Why there is no PNG; empty if there is.
    """

    folder: Path
    files: tuple[str, ...]
    missing: str


def draw_pictures(turtles: Turtles, folder: Path) -> Pictures:
    """Draw both tracks and the frame tree: as SVG, and as PNG where matplotlib is installed."""
    return drawn(folder, lambda kind: _draw(turtles, folder, kind))


def drawn(folder: Path, draw: Callable[[str], tuple[str, ...]]) -> Pictures:
    """Draw as "svg", and as "png" where matplotlib is installed; `draw` gives the names of the files."""
    files = draw("svg")
    try:
        return Pictures(folder=folder, files=files + draw("png"), missing="")
    except MissingExtra as missing:
        return Pictures(folder=folder, files=files, missing=str(missing))


def _draw(turtles: Turtles, folder: Path, kind: str) -> tuple[str, ...]:
    newest = turtles.world.pose(of=LEADER, in_frame=FOLLOWER).stamp or 0
    at = np.append(np.arange(0, newest, _STEP), newest)
    tracks = draw_tracks(turtles.world, folder / f"tracks.{kind}", of=(LEADER, FOLLOWER), in_frame=WORLD, at=at)
    tree = draw_tree(turtles.world, folder / f"tree.{kind}")
    return tracks.name, tree.name
