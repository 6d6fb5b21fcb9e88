"""Who says where the cup is, how sure they are, and who does not fit to the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

from armillary.cli._kitchen.names import CUP, MAP
from armillary.fusion.policies import by_source
from armillary.stamps import LATEST

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from armillary import World
    from armillary.fusion.policies import Candidate, Policy, PolicyPose
    from armillary.relations import Pose
    from armillary.stamps import Latest

# 99 of 100 honest poses are nearer to the truth: the square root of that quantile of chi-squared with six dimensions.
AGREES_WITHIN = 4.1
_ENOUGH_TO_JUDGE = 3  # of two who disagree, nobody knows which one is wrong


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
