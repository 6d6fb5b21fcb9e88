"""Queries about the kitchen while the robot works, and their answers; estimates of the cup by each source."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from armillary.demos.kitchen.names import BASE, CUP, DOOR, HEAD_CAMERA, MAP, TOOL
from armillary.demos.kitchen.scenario import activity
from armillary.errors import ArmillaryError
from armillary.fusion.policies import by_source
from armillary.stamps import LATEST, seconds

if TYPE_CHECKING:
    from armillary import World
    from armillary.fusion.policies import Candidate, Policy, PolicyPose
    from armillary.relations import Pose
    from armillary.stamps import Latest
    from armillary.store.query import Choosing

# The square root of the 99 % quantile of chi-squared with six dimensions.
AGREES_WITHIN = 4.1
_ENOUGH_TO_JUDGE = 3  # of two sources that disagree, either can be wrong
_HALF = seconds(0.5)
_WINDOW = seconds(0.4)
_LONG_AGO = seconds(5)
Values = Mapping[str, float | str | None]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CupEstimates:
    """Estimates of the pose of the cup.

    Attributes:
        by_source: Estimate of each source alone.
        fused: Fused estimate of all consistent sources.
        farthest: Largest distance of a source from the fused estimate, in standard deviations.
        odd_one: Source that was left out because it is inconsistent with the others; None if there is none.
    """

    by_source: Mapping[str, Pose]
    fused: Pose
    farthest: float
    odd_one: str | None


def cup_estimates(world: World, at: int | Latest = LATEST) -> CupEstimates:
    """Fuse all estimates of the cup, without the one source, if any, that is inconsistent with the others."""
    fused = _fused(world, at, "fuse")
    single = {_source_of(path): path.pose for path in fused.judgement.paths}
    farthest = max(_distances(fused).values())
    consistent = CupEstimates(by_source=single, fused=fused, farthest=farthest, odd_one=None)
    if farthest <= AGREES_WITHIN or len(single) < _ENOUGH_TO_JUDGE:
        return consistent
    stamp = LATEST if fused.stamp is None else fused.stamp
    without = {source: _fused(world, stamp, _all_but(source, single)) for source in single}
    odd_one = min(single, key=lambda source: _farthest_of_others(source, without[source]))
    off = _distances(without[odd_one])[odd_one]
    if off <= AGREES_WITHIN:
        return consistent
    return CupEstimates(by_source=single, fused=without[odd_one], farthest=off, odd_one=odd_one)


def spread_m(pose: Pose) -> float:
    """Return the root mean square position error that the covariance predicts."""
    return float("nan") if pose.covariance is None else float(np.sqrt(np.trace(pose.covariance[:3, :3])))


def _fused(world: World, at: int | Latest, policy: Choosing) -> PolicyPose:
    return world.pose(of=CUP, in_frame=MAP, at=at, policy=policy)


def _all_but(source: str, sources: Iterable[str]) -> Policy:
    return by_source(*(other for other in sources if other != source), then="fuse")


def _source_of(path: Candidate) -> str:
    return " and ".join(sorted(path.sources)) or "the only source"


def _distances(pose: PolicyPose) -> dict[str, float]:
    """Return by source its distance from the pose, in standard deviations."""
    distances = pose.disagreements or (0.0,) * len(pose.judgement.paths)
    pairs = zip(pose.judgement.paths, distances, strict=True)
    return {_source_of(path): 0.0 if distance is None else distance for path, distance in pairs}


def _farthest_of_others(source: str, pose: PolicyPose) -> float:
    return max(distance for other, distance in _distances(pose).items() if other != source)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One question with its answer.

    Attributes:
        question: Question in words.
        call: The call that answers it.
        answer: Answer in words.
        values: Answer in numbers, named with their units; empty if it is not known yet.
    """

    question: str
    call: str
    answer: str
    values: Values = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Context:
    world: World
    now: int
    estimates: CupEstimates


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    words: str
    call: str
    answer: Callable[[_Context], tuple[str, Values]]


def answers(world: World, estimates: CupEstimates) -> tuple[Answer, ...]:
    """Answer all questions at the present time."""
    context = _Context(world, world.now(), estimates)
    return tuple(_answer(context, question) for question in _QUESTIONS)


def _answer(context: _Context, question: _Question) -> Answer:
    try:
        answer, values = question.answer(context)
    except ArmillaryError as error:
        answer, values = f"not known yet: {type(error).__name__}", {}
    return Answer(question=question.words, call=question.call, answer=answer, values=values)


def _gripper_on_the_door(context: _Context) -> tuple[str, Values]:
    x_m, y_m, z_m = context.world.pose(of=TOOL, in_frame=DOOR, at=context.now - _HALF).xyz.tolist()
    return f"x {x_m:.3f} m, y {y_m:.3f} m, z {z_m:.3f} m", {"x_m": x_m, "y_m": y_m, "z_m": z_m}


def _speed_of_the_camera(context: _Context) -> tuple[str, Values]:
    at = context.now - _HALF
    twist = context.world.twist(of=HEAD_CAMERA, relative_to=CUP, at=at, window=_WINDOW, policy="most_certain")
    speed_m_s, turn_rad_s = (float(np.linalg.norm(part)) for part in (twist.linear, twist.angular))
    answer = f"{speed_m_s:.2f} m/s, turning at {math.degrees(turn_rad_s):.0f} degrees a second"
    return answer, {"speed_m_s": speed_m_s, "turn_rad_s": turn_rad_s}


def _how_sure(context: _Context) -> tuple[str, Values]:
    estimates = context.estimates
    spreads_m = {source: spread_m(pose) for source, pose in estimates.by_source.items()}
    together_m = spread_m(estimates.fused)
    alone = ", ".join(f"{source} {1e3 * spread:.0f}" for source, spread in spreads_m.items())
    return f"to {1e3 * together_m:.0f} mm; alone: {alone} mm", {"together_m": together_m, **spreads_m}


def _who_disagrees(context: _Context) -> tuple[str, Values]:
    estimates = context.estimates
    values: Values = {"farthest_sigma": estimates.farthest, "odd_one": estimates.odd_one}
    if estimates.odd_one is None:
        return f"nobody: all within {estimates.farthest:.1f} standard deviations", values
    return f"the {estimates.odd_one}: {estimates.farthest:.1f} standard deviations off what the others say", values


def _where_it_was(context: _Context) -> tuple[str, Values]:
    of_at = context.now - _LONG_AGO
    then = context.world.pose(of=CUP, of_at=of_at, in_frame=BASE, fixed_frame=MAP, policy="most_certain")
    ahead_m, left_m, _ = then.xyz.tolist()
    sideways = f"{abs(left_m):.2f} m to the {'left' if left_m > 0 else 'right'}"
    lengthways = f"{abs(ahead_m):.2f} m {'ahead' if ahead_m > 0 else 'behind'}"
    return f"{lengthways}, {sideways}", {"ahead_m": ahead_m, "left_m": left_m}


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """State at an instant of the past, queried afterwards.

    Attributes:
        time_s: Time since the beginning.
        doing: Activity of the robot.
        door_p_gripper: Position of the gripper in the frame of the cupboard door [m].
        sure_to_m: Predicted position error of the fused estimate of the cup.
    """

    time_s: float
    doing: str
    door_p_gripper: tuple[float, float, float]
    sure_to_m: float


def moments(world: World, times_s: Iterable[float]) -> tuple[Moment, ...]:
    """Query the states at instants of the past."""
    return tuple(_moment(world, time_s) for time_s in times_s)


def _moment(world: World, time_s: float) -> Moment:
    at = seconds(time_s)
    x_m, y_m, z_m = world.pose(of=TOOL, in_frame=DOOR, at=at).xyz.tolist()
    sure_to_m = spread_m(cup_estimates(world, at).fused)
    return Moment(time_s=time_s, doing=activity(time_s), door_p_gripper=(x_m, y_m, z_m), sure_to_m=sure_to_m)


_QUESTIONS = (
    _Question(
        words="Where was the gripper on the cupboard door, half a second ago?",
        call='world.pose(of="robot/tool", in_frame="kitchen/cupboard_door", at=...)',
        answer=_gripper_on_the_door,
    ),
    _Question(
        words="How fast did the head camera move then, seen from the cup?",
        call='world.twist(of="robot/camera_optical", relative_to="cup", at=..., ...)',
        answer=_speed_of_the_camera,
    ),
    _Question(
        words="How sure are we where the cup is?",
        call='world.pose(of="cup", in_frame="map", policy="fuse").covariance',
        answer=_how_sure,
    ),
    _Question(
        words="Who disagrees?",
        call='world.pose(of="cup", in_frame="map", policy="fuse").disagreements',
        answer=_who_disagrees,
    ),
    _Question(
        words="Where was the cup five seconds ago, seen from the robot now?",
        call='world.pose(of="cup", of_at=..., in_frame="robot/base_link", ...)',
        answer=_where_it_was,
    ),
)
