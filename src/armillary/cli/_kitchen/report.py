"""The end of the kitchen in words, or as JSON."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from armillary.cli._kitchen.figures import Figures
    from armillary.cli._kitchen.questions import Answer, Moment
    from armillary.cli._pictures import Pictures


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Everything there is to say.

    Attributes:
        answers: What was asked at the end.
        moments: What was asked about the past.
        figures: What was measured.
        pictures: What was drawn.
        took_s: How long the story took on the wall clock [s].
    """

    answers: tuple[Answer, ...]
    moments: tuple[Moment, ...]
    figures: Figures
    pictures: Pictures
    took_s: float

    def json(self) -> str:
        """For programs."""
        drawn = asdict(self.pictures) | {"folder": str(self.pictures.folder)}
        asked = [asdict(answer) for answer in self.answers]
        past = [asdict(moment) for moment in self.moments]
        report = {"demo": "kitchen", "took_s": self.took_s, **asdict(self.figures)}
        return json.dumps(report | {"answers": asked, "moments": past, "pictures": drawn}, indent=2)

    def text(self) -> str:
        """For people."""
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
        yield f"  world       {figures.frames} frames, {figures.samples:,} poses told"
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
