"""The pictures that the kitchen leaves behind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from armillary.cli._kitchen.kitchen import Kitchen
from armillary.cli._kitchen.names import BASE, CUP, MAP, TOOL
from armillary.cli._kitchen.opinions import opinions
from armillary.cli._pictures import Pictures, drawn
from armillary.stamps import seconds
from armillary.view import draw_ellipses, draw_tracks

if TYPE_CHECKING:
    from pathlib import Path

_STEP = seconds(0.05)
_LOOK = seconds(5.0)  # the cup stands on the worktop, and both cameras see it


def draw_pictures(kitchen: Kitchen, folder: Path) -> Pictures:
    """Draw the ways of robot and gripper, and how sure the cup is: as SVG, and as PNG where matplotlib is installed."""
    return drawn(folder, lambda kind: (_tracks(kitchen, folder, kind), _ellipses(kitchen, folder, kind)))


def _tracks(kitchen: Kitchen, folder: Path, kind: str) -> str:
    newest = kitchen.world.pose(of=TOOL, in_frame=MAP).stamp or 0
    at = np.append(np.arange(0, newest, _STEP), newest)
    return draw_tracks(kitchen.world, folder / f"kitchen.{kind}", of=(BASE, TOOL), in_frame=MAP, at=at).name


def _ellipses(kitchen: Kitchen, folder: Path, kind: str) -> str:
    at = min(_LOOK, kitchen.clock.time - _STEP * 4)
    heard = opinions(kitchen.world, at)
    poses = {**heard.by_source, "together": heard.fused}
    title = f"Where the {CUP} is, at {at / 1e9:g} s"
    return draw_ellipses(poses, folder / f"cup.{kind}", title=title).name
