"""Queries about the kitchen while the robot works, and their answers; estimates of the cup by each source."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

import numpy as np

from armillary.demos.kitchen.names import BASE, CUP, DOOR, HEAD_CAMERA, MAP, TOOL
from armillary.demos.kitchen.scenario import chapter
from armillary.errors import ArmillaryError
from armillary.fusion.policies import by_source
from armillary.stamps import LATEST, seconds

if TYPE_CHECKING:
    from collections.abc import Iterable

    from armillary import World
    from armillary.fusion.policies import Candidate, Policy, PolicyPose
    from armillary.relations import Pose
    from armillary.stamps import Latest

# 99 of 100 honest poses are nearer to the truth: the square root of that quantile of chi-squared with six dimensions.
AGREES_WITHIN = 4.1
_ENOUGH_TO_JUDGE = 3  # of two who disagree, nobody knows which one is wrong
_HALF = seconds(0.5)
_WINDOW = seconds(0.4)
_LONG_AGO = seconds(5)
Values = Mapping[str, float | str | None]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Opinions:
    """Where the cup is, after everybody was heard.

    Attributes:
        by_source: What each source says by itself.
        fused: The estimate from all who fit together.
        farthest: How far the farthest source is from that, in standard deviations.
        odd_one: Who does not fit to the others, and was left out; None where nobody was.
    """

    by_source: Mapping[str, Pose]
    fused: Pose
    farthest: float
    odd_one: str | None


def opinions(world: World, at: int | Latest = LATEST) -> Opinions:
    """Hear everybody about the cup. Whoever the others agree without, when they do not agree with him, is left out."""
    everybody = _fused(world, at, "fuse")
    single = {_who(path): path.pose for path in everybody.judgement.paths}
    farthest = max(_distances(everybody).values())
    all_together = Opinions(by_source=single, fused=everybody, farthest=farthest, odd_one=None)
    if farthest <= AGREES_WITHIN or len(single) < _ENOUGH_TO_JUDGE:
        return all_together
    stamp = LATEST if everybody.stamp is None else everybody.stamp
    without = {source: _fused(world, stamp, _all_but(source, single)) for source in single}
    odd_one = min(single, key=lambda source: _farthest_of_others(source, without[source]))
    off = _distances(without[odd_one])[odd_one]
    if off <= AGREES_WITHIN:
        return all_together
    return Opinions(by_source=single, fused=without[odd_one], farthest=off, odd_one=odd_one)


def spread_m(pose: Pose) -> float:
    """How far off the position may be: the root of the mean square distance."""
    return float("nan") if pose.covariance is None else float(np.sqrt(np.trace(pose.covariance[:3, :3])))


def _fused(world: World, at: int | Latest, policy: str | Policy) -> PolicyPose:
    return cast("PolicyPose", world.pose(of=CUP, in_frame=MAP, at=at, policy=policy))


def _all_but(source: str, sources: Iterable[str]) -> Policy:
    return by_source(*(other for other in sources if other != source), then="fuse")


def _who(path: Candidate) -> str:
    return " and ".join(sorted(path.sources)) or "the only source"


def _distances(pose: PolicyPose) -> dict[str, float]:
    """By source, how far it is from the pose, in standard deviations."""
    distances = pose.disagreements or (0.0,) * len(pose.judgement.paths)
    return {_who(path): distance for path, distance in zip(pose.judgement.paths, distances, strict=True)}


def _farthest_of_others(source: str, pose: PolicyPose) -> float:
    return max(distance for other, distance in _distances(pose).items() if other != source)


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
