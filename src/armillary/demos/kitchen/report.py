"""Report of the kitchen: answers, figures, pictures, text and JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from armillary.demos._common import Pictures, draw_svg_and_png
from armillary.demos.kitchen.figures import measure_figures
from armillary.demos.kitchen.names import BASE, CUP, MAP, TOOL
from armillary.demos.kitchen.questions import answers, cup_estimates, moments
from armillary.demos.kitchen.screen import show_live
from armillary.demos.kitchen.simulation import Kitchen
from armillary.errors import MissingExtra
from armillary.stamps import seconds
from armillary.view import draw_ellipses, draw_tracks

if TYPE_CHECKING:
    from pathlib import Path

    from armillary import World
    from armillary.demos.kitchen.figures import Figures
    from armillary.demos.kitchen.questions import Answer, Moment

_STEP = seconds(0.05)
_LOOK = seconds(5.0)  # the cup is on the worktop, and both cameras see it
_HEADLESS_S = 10.0
_MOMENTS_S = (1.0, 3.2, 4.0, 5.0, 5.8, 7.0, 8.8, 9.8)
_LIVE_S = 60.0


def draw_pictures(kitchen: Kitchen, folder: Path) -> Pictures:
    """Draw the tracks of robot and gripper, and the error ellipses of the cup."""
    return draw_svg_and_png(folder, lambda kind: (_tracks(kitchen, folder, kind), _ellipses(kitchen, folder, kind)))


def _tracks(kitchen: Kitchen, folder: Path, kind: str) -> str:
    newest = kitchen.world.pose(of=TOOL, in_frame=MAP).stamp or 0
    at = np.append(np.arange(0, newest, _STEP), newest)
    return draw_tracks(kitchen.world, folder / f"kitchen.{kind}", of=(BASE, TOOL), in_frame=MAP, at=at).name


def _ellipses(kitchen: Kitchen, folder: Path, kind: str) -> str:
    at = min(_LOOK, kitchen.clock.time - _STEP * 4)
    estimates = cup_estimates(kitchen.world, at)
    poses = {**estimates.by_source, "together": estimates.fused}
    title = f"Where the {CUP} is, at {at / 1e9:g} s"
    return draw_ellipses(poses, folder / f"cup.{kind}", title=title).name


CUP_VIEW = {"at": (0.8, 0.55, 0.95), "from_": (2.4, 2.7, 2.0)}
"""View of the kitchen on the robot and the cup [m]."""


@contextmanager
def shown_in_browser(world: World) -> Iterator[str]:
    """Open a viewer if viser is installed; yield a line with its address, or what to install."""
    try:
        viewer = world.view(quiet=True)
    except MissingExtra as missing:
        yield f"In a browser: {missing}"
        return
    with viewer:
        viewer.look(**CUP_VIEW)
        yield str(viewer)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Answers, figures and pictures of the kitchen.

    Attributes:
        answers: Answers at the end.
        moments: States of the past.
        figures: Measured figures.
        pictures: Files that were drawn.
        took_s: Wall-clock time of the simulation [s].
    """

    answers: tuple[Answer, ...]
    moments: tuple[Moment, ...]
    figures: Figures
    pictures: Pictures
    took_s: float

    def json(self) -> str:
        """Return the report as JSON."""
        drawn = asdict(self.pictures) | {"folder": str(self.pictures.folder)}
        answers = [asdict(answer) for answer in self.answers]
        past = [asdict(moment) for moment in self.moments]
        report = {"demo": "kitchen", "took_s": self.took_s, **asdict(self.figures)}
        return json.dumps(report | {"answers": answers, "moments": past, "pictures": drawn}, indent=2)

    def text(self) -> str:
        """Return the report as text."""
        return "\n".join([*self._story(), *self._asked(), *self._figures()])

    def _story(self) -> Iterator[str]:
        yield f"A robot in a kitchen: {self.figures.simulated_s:.4g} s of it, done in {self.took_s:.2f} s."
        yield ""
        yield f"  t [s]  {'the robot':<33}  gripper on the door [m]  cup to [mm]"
        for moment in self.moments:
            place = " ".join(f"{value:7.3f}" for value in moment.door_p_gripper)
            yield f"  {moment.time_s:5.1f}  {moment.doing:<33}  {place}  {1e3 * moment.sure_to_m:11.1f}"
        yield ""

    def _asked(self) -> Iterator[str]:
        for answer in self.answers:
            yield answer.question
            yield f"  {answer.call}"
            yield f"  {answer.answer}"
        yield ""

    def _figures(self) -> Iterator[str]:
        figures, pictures = self.figures, self.pictures
        errors = ", ".join(f"{who} {1e3 * error:.1f}" for who, error in figures.cup_error_m.items())
        yield f"  cup         mean error: {errors} mm"
        yield f"              {_slip(figures.slip_in_hand_m)}"
        yield f"  cupboard    opened by {math.degrees(figures.door_rad):.0f} degrees"
        yield f"  robot       {_place(figures)}"
        yield f"  world       {figures.frames} frames, {figures.samples:,} pose samples"
        yield f"  questions   {figures.poses_per_s:,.0f} poses a second, {figures.twists_per_s:,.0f} twists a second"
        yield f"              {figures.rows_per_s:,.0f} poses a second in one batch"
        yield f"  pictures    {pictures.folder}: {', '.join(pictures.files)}"
        if pictures.missing:
            yield f"              No PNG. {pictures.missing}"


def _slip(slip_m: float | None) -> str:
    if slip_m is None:
        return "not grasped yet; run longer with --seconds 10"
    return f"moved in the gripper by {1e3 * slip_m:.3f} mm while it was held"


def _place(figures: Figures) -> str:
    wheels_mm, map_mm = 1e3 * figures.odometry_error_m, 1e3 * figures.place_error_m
    return f"off by {map_mm:.0f} mm in the map; its wheels alone: {wheels_mm:.0f} mm"


def run_kitchen(duration_s: float | None, out: Path, *, live: bool) -> Report:
    """Run the simulation, draw it into the folder `out`, and report; `live` runs in real time, with a viewer."""
    usual_s = _LIVE_S if live else _HEADLESS_S
    lasts_s = usual_s if duration_s is None else duration_s
    kitchen, begin = Kitchen(history=seconds(lasts_s + 1)), perf_counter()
    if live:
        with shown_in_browser(kitchen.world) as page:
            show_live(kitchen, to=seconds(lasts_s), page=page)
    else:
        kitchen.advance(to=seconds(lasts_s))
    took_s = perf_counter() - begin
    return _report(kitchen, out, took_s)


def _report(kitchen: Kitchen, out: Path, took_s: float) -> Report:
    return Report(
        answers=answers(kitchen.world, cup_estimates(kitchen.world)),
        moments=moments(
            kitchen.world, [time_s for time_s in _MOMENTS_S if seconds(time_s + 0.2) <= kitchen.clock.time]
        ),
        figures=measure_figures(kitchen),
        pictures=draw_pictures(kitchen, out),
        took_s=took_s,
    )
