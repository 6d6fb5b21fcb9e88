"""What the demonstration measures about itself: how well the follower follows, and how fast the world answers."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

import numpy as np

from armillary.cli._turtles import DELAY, FOLLOWER, LEADER, WORLD, Turtles

_NS_PER_S = 1e9
_SINGLE_LOOKUPS = 20_000
_BATCH_LOOKUPS = 200_000


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowError:
    """How far the follower is from where the leader was five seconds before.

    Attributes:
        since_s: When it had caught up [s].
        instants: How many instants since then are compared: all of the leader's samples.
        mean_m: The mean distance [m].
        largest_m: The largest distance [m].
    """

    since_s: float
    instants: int
    mean_m: float
    largest_m: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What is reported at the end.

    Attributes:
        simulated_s: How long the turtles drove [s].
        samples: Turtle to number of poses stored.
        follow_error: None while the follower has not caught up.
        two_time_lookups_per_s: Calls of `world.pose(of_at=, fixed_frame=)`, one after the other.
        batch_lookups_per_s: Instants answered by one call of `world.transforms`.
    """

    simulated_s: float
    samples: dict[str, int]
    follow_error: FollowError | None
    two_time_lookups_per_s: float
    batch_lookups_per_s: float


def measured(turtles: Turtles) -> Figures:
    """Everything, from what the world holds now."""
    return Figures(
        simulated_s=turtles.clock.time / _NS_PER_S,
        samples={info.of: info.samples for info in turtles.world.relations() if info.kind == "sampled"},
        follow_error=follow_error(turtles),
        two_time_lookups_per_s=_two_time_lookups_per_s(turtles),
        batch_lookups_per_s=_batch_lookups_per_s(turtles),
    )


def follow_error(turtles: Turtles) -> FollowError | None:
    """Compare the follower now with the leader five seconds before, at every sample of the leader."""
    if turtles.caught_up is None:
        return None
    world, newest = turtles.world, _newest_common(turtles)
    at = world.samples(of=LEADER, in_frame=WORLD, start=turtles.caught_up, end=newest).stamps
    if len(at) == 0:
        return None
    follower = world.transforms(of=FOLLOWER, in_frame=WORLD, at=at, as_="xyz_wxyz")
    leader_before = world.transforms(of=LEADER, in_frame=WORLD, at=at - DELAY, as_="xyz_wxyz")
    distances_m = np.linalg.norm(follower[:, :3] - leader_before[:, :3], axis=1)
    return FollowError(
        since_s=turtles.caught_up / _NS_PER_S,
        instants=len(at),
        mean_m=float(distances_m.mean()),
        largest_m=float(distances_m.max()),
    )


def _newest_common(turtles: Turtles) -> int:
    """The newest instant at which both turtles are known."""
    stamp = turtles.world.pose(of=LEADER, in_frame=FOLLOWER).stamp
    return 0 if stamp is None else stamp


def _random_stamps(turtles: Turtles, count: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.random.default_rng(0).integers(0, _newest_common(turtles), size=count, endpoint=True)


def _two_time_lookups_per_s(turtles: Turtles) -> float:
    pose = turtles.world.pose
    stamps = [(at, max(0, at - DELAY)) for at in _random_stamps(turtles, _SINGLE_LOOKUPS).tolist()]
    begin = perf_counter()
    for at, of_at in stamps:
        pose(of=LEADER, of_at=of_at, in_frame=FOLLOWER, at=at, fixed_frame=WORLD)
    return _SINGLE_LOOKUPS / (perf_counter() - begin)


def _batch_lookups_per_s(turtles: Turtles) -> float:
    stamps = _random_stamps(turtles, _BATCH_LOOKUPS)
    begin = perf_counter()
    turtles.world.transforms(of=f"{LEADER}_head", in_frame=f"{FOLLOWER}_head", at=stamps)
    return _BATCH_LOOKUPS / (perf_counter() - begin)
