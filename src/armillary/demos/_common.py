"""Simulated clock and pictures that all demonstrations use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from armillary.errors import MissingExtra

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@dataclass(slots=True)
class SimulatedClock:
    """Clock that returns the time it was last set to [ns]."""

    time: int = 0

    def __call__(self) -> int:
        return self.time


@dataclass(frozen=True, slots=True, kw_only=True)
class Pictures:
    """Files that a demonstration has drawn.

    Attributes:
        folder: Folder of the files.
        files: Names of the files.
        missing: Why there is no PNG; empty if there is one.
    """

    folder: Path
    files: tuple[str, ...]
    missing: str


def draw_svg_and_png(folder: Path, draw: Callable[[str], tuple[str, ...]]) -> Pictures:
    """Draw as "svg", and as "png" if matplotlib is installed; `draw` returns the names of its files."""
    files = draw("svg")
    try:
        return Pictures(folder=folder, files=files + draw("png"), missing="")
    except MissingExtra as missing:
        return Pictures(folder=folder, files=files, missing=str(missing))
