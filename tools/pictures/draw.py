"""Draws the pictures of the documentation into docs/pictures; into another folder, if one is named."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import bodies
import motions
import tracking

from armillary.view._drawing import Drawing
from armillary.view._files import svg_text

if TYPE_CHECKING:
    import pens

TARGET = Path(__file__).parent.parent.parent / "docs" / "pictures"
EXAMPLES = Path(__file__).parent.parent.parent / "examples"
WIDTH_PX = 760.0

# The title that a screen reader reads, the height [px], and what is drawn; the file is named after the function.
PICTURES: tuple[tuple[str, float, Callable[[], pens.Shapes]], ...] = (
    ("Frames alone, and bodies with frames on them", 318, bodies.frames_and_bodies),
    ("The seven names of a pose", 396, bodies.seven_names),
    ("Position, velocity, angular velocity", 312, motions.what_a_velocity_needs),
    ("The velocities of the points of a disc", 382, motions.turning_disc),
    ("Relations that compose, and relations that do not", 470, bodies.composing),
    ("Body, hybrid and spatial twist of one motion", 368, motions.three_forms),
    ("One push, taken about two points", 366, motions.one_push),
    ("Two velocities that tf2 gets wrong", 338, motions.what_tf2_answers),
    ("A drawer, tracked without and with the filter", 560, tracking.tracking_jitter),
)

DRAWN_BY_EXAMPLES = {
    "09_fused_cameras.py": "two_cameras.svg",
    "10_between_joint_samples.py": "between_joint_samples.svg",
}


def main(target: Path = TARGET) -> None:
    """Writes all pictures."""
    target.mkdir(exist_ok=True)
    for title, height, shapes in PICTURES:
        drawing = Drawing(title=title, size=(WIDTH_PX, height), shapes=tuple(shapes()))
        (target / f"{shapes.__name__}.svg").write_text(svg_text(drawing), encoding="utf-8")
    for example, picture in DRAWN_BY_EXAMPLES.items():
        command = [sys.executable, EXAMPLES / example, target / picture]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
