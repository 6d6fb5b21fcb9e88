"""What the world is asked while the robot works, and what it answers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from armillary.cli._kitchen.names import BASE, CUP, DOOR, HEAD_CAMERA, MAP, TOOL
from armillary.cli._kitchen.opinions import opinions, spread_m
from armillary.cli._kitchen.script import chapter
from armillary.errors import ArmillaryError
from armillary.stamps import seconds

if TYPE_CHECKING:
    from armillary import World
    from armillary.cli._kitchen.opinions import Opinions

_HALF = seconds(0.5)
_WINDOW = seconds(0.4)
_LONG_AGO = seconds(5)

Values = Mapping[str, float | str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One question with its answer.

    Attributes:
        question: In words.
        call: As one would type it.
        answer: In words.
        values: In numbers, named with their units; empty where there is no answer yet.
    """

    question: str
    call: str
    answer: str
    values: Values = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Asked:
    world: World
    now: int
    heard: Opinions


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    words: str
    call: str
    find_out: Callable[[_Asked], tuple[str, Values]]


def answers(world: World, heard: Opinions) -> tuple[Answer, ...]:
    """Ask everything, now; who says what about the cup was heard before."""
    asked = _Asked(world, world.now(), heard)
    return tuple(_answer(asked, question) for question in _QUESTIONS)


def _answer(asked: _Asked, question: _Question) -> Answer:
    try:
        answer, values = question.find_out(asked)
    except ArmillaryError as error:
        answer, values = f"not known yet: {type(error).__name__}", {}
    return Answer(question=question.words, call=question.call, answer=answer, values=values)


def _gripper_on_the_door(asked: _Asked) -> tuple[str, Values]:
    x_m, y_m, z_m = asked.world.pose(of=TOOL, in_frame=DOOR, at=asked.now - _HALF).xyz.tolist()
    return f"x {x_m:.3f} m, y {y_m:.3f} m, z {z_m:.3f} m", {"x_m": x_m, "y_m": y_m, "z_m": z_m}


def _speed_of_the_camera(asked: _Asked) -> tuple[str, Values]:
    at = asked.now - _HALF
    twist = asked.world.twist(of=HEAD_CAMERA, relative_to=CUP, at=at, window=_WINDOW, policy="most_certain")
    speed_m_s, turn_rad_s = (float(np.linalg.norm(part)) for part in (twist.linear, twist.angular))
    answer = f"{speed_m_s:.2f} m/s, turning at {math.degrees(turn_rad_s):.0f} degrees a second"
    return answer, {"speed_m_s": speed_m_s, "turn_rad_s": turn_rad_s}


def _how_sure(asked: _Asked) -> tuple[str, Values]:
    heard = asked.heard
    spreads_m = {source: spread_m(pose) for source, pose in heard.by_source.items()}
    together_m = spread_m(heard.fused)
    alone = ", ".join(f"{source} {1e3 * spread:.0f}" for source, spread in spreads_m.items())
    return f"to {1e3 * together_m:.0f} mm; alone: {alone} mm", {"together_m": together_m, **spreads_m}


def _who_disagrees(asked: _Asked) -> tuple[str, Values]:
    heard = asked.heard
    values: Values = {"farthest_sigma": heard.farthest, "odd_one": heard.odd_one}
    if heard.odd_one is None:
        return f"nobody: all within {heard.farthest:.1f} standard deviations", values
    return f"the {heard.odd_one}: {heard.farthest:.1f} standard deviations off what the others say", values


def _where_it_was(asked: _Asked) -> tuple[str, Values]:
    of_at = asked.now - _LONG_AGO
    then = asked.world.pose(of=CUP, of_at=of_at, in_frame=BASE, fixed_frame=MAP, policy="most_certain")
    ahead_m, left_m, _ = then.xyz.tolist()
    sideways = f"{abs(left_m):.2f} m to the {'left' if left_m > 0 else 'right'}"
    lengthways = f"{abs(ahead_m):.2f} m {'ahead' if ahead_m > 0 else 'behind'}"
    return f"{lengthways}, {sideways}", {"ahead_m": ahead_m, "left_m": left_m}


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """An instant of the past, asked about afterwards.

    Attributes:
        time_s: Since the beginning.
        doing: What the robot did.
        door_p_gripper: Where the gripper was on the cupboard door [m].
        sure_to_m: How well it was known where the cup was.
    """

    time_s: float
    doing: str
    door_p_gripper: tuple[float, float, float]
    sure_to_m: float


def moments(world: World, times_s: Iterable[float]) -> tuple[Moment, ...]:
    """Ask about the past."""
    return tuple(_moment(world, time_s) for time_s in times_s)


def _moment(world: World, time_s: float) -> Moment:
    at = seconds(time_s)
    x_m, y_m, z_m = world.pose(of=TOOL, in_frame=DOOR, at=at).xyz.tolist()
    sure_to_m = spread_m(opinions(world, at).fused)
    return Moment(time_s=time_s, doing=chapter(time_s), door_p_gripper=(x_m, y_m, z_m), sure_to_m=sure_to_m)


_QUESTIONS = (
    _Question(
        words="Where was the gripper on the cupboard door, half a second ago?",
        call='world.pose(of="robot/tool", in_frame="kitchen/cupboard_door", at=...)',
        find_out=_gripper_on_the_door,
    ),
    _Question(
        words="How fast did the head camera move then, seen from the cup?",
        call='world.twist(of="robot/camera_optical", relative_to="cup", at=..., ...)',
        find_out=_speed_of_the_camera,
    ),
    _Question(
        words="How sure are we where the cup is?",
        call='world.pose(of="cup", in_frame="map", policy="fuse").covariance',
        find_out=_how_sure,
    ),
    _Question(
        words="Who disagrees?",
        call='world.pose(of="cup", in_frame="map", policy="fuse").disagreements',
        find_out=_who_disagrees,
    ),
    _Question(
        words="Where was the cup five seconds ago, seen from the robot now?",
        call='world.pose(of="cup", of_at=..., in_frame="robot/base_link", ...)',
        find_out=_where_it_was,
    ),
)
