"""Measured figures of the kitchen: errors of the world against the truth, and query rates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from armillary.demos.kitchen.names import BASE, CUP, DOOR, DOOR_JOINT, HAND, HEAD, MAP, ODOM, TOOL, WALL
from armillary.demos.kitchen.questions import cup_estimates
from armillary.demos.kitchen.scenario import holds_cup, phase_s
from armillary.demos.kitchen.simulation import BUMP_S, Kitchen
from armillary.fusion.policies import by_source
from armillary.stamps import seconds

if TYPE_CHECKING:
    from numpy import float64, int64
    from numpy.typing import NDArray

    from armillary import Transform

_NS_PER_S = 1e9
_EVERY = seconds(0.1)
_LOOKUPS = 5_000
_ROWS = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Measured figures of the report.

    Attributes:
        simulated_s: Simulated time [s].
        frames: Number of frames.
        samples: Number of pose samples in the world.
        door_rad: Largest opening of the door [rad].
        cup_error_m: By source, and "together": mean error while the wall camera was calibrated [m].
        slip_in_hand_m: Largest motion of the cup in the gripper while it was held [m]; None if it was not held yet.
        odometry_error_m: Final position error of odometry alone [m].
        place_error_m: Final position error of the robot in the map [m].
        poses_per_s: Single pose queries (gripper in door) per second.
        twists_per_s: Single twist queries (gripper relative to door) per second.
        rows_per_s: Poses per second in one batch query.
    """

    simulated_s: float
    frames: int
    samples: int
    door_rad: float
    cup_error_m: Mapping[str, float]
    slip_in_hand_m: float | None
    odometry_error_m: float
    place_error_m: float
    poses_per_s: float
    twists_per_s: float
    rows_per_s: float


def measure_figures(kitchen: Kitchen) -> Figures:
    """Measure all figures of a kitchen."""
    world, end = kitchen.world, kitchen.clock.time
    map_T_base = kitchen.scenario.map_T_base(phase_s(end / _NS_PER_S))
    map_T_start = kitchen.scenario.map_T_base(0.0)
    poses_per_s, twists_per_s, rows_per_s = _speeds(kitchen)
    return Figures(
        simulated_s=end / _NS_PER_S,
        frames=len(world.frames()),
        samples=sum(info.samples for info in world.relations() if info.kind == "sampled"),
        door_rad=float(world.joint_samples(DOOR_JOINT).positions.max()),
        cup_error_m=cup_error_m(kitchen),
        slip_in_hand_m=slip_in_hand_m(kitchen),
        odometry_error_m=_apart_m(map_T_start @ world.pose(of=BASE, in_frame=ODOM).transform, map_T_base),
        place_error_m=_apart_m(world.pose(of=BASE, in_frame=MAP).transform, map_T_base),
        poses_per_s=poses_per_s,
        twists_per_s=twists_per_s,
        rows_per_s=rows_per_s,
    )


def cup_error_m(kitchen: Kitchen) -> dict[str, float]:
    """Return the mean errors of each camera and of the fused estimate; see `_instants`."""
    errors: dict[str, list[float]] = {HEAD: [], WALL: [], "together": []}
    for at, map_T_cup in _instants(kitchen):
        estimates = cup_estimates(kitchen.world, at)
        for source, pose in {**estimates.by_source, "together": estimates.fused}.items():
            if source in errors:
                errors[source].append(_apart_m(pose.transform, map_T_cup))
    return {source: float(np.mean(found)) for source, found in errors.items() if found}


def slip_in_hand_m(kitchen: Kitchen) -> float | None:
    """Return the largest motion of the cup in the gripper between two instants at which it was held."""
    held = [at for at in range(_EVERY, kitchen.clock.time, _EVERY) if _is_held(at) and _is_held(at - _EVERY)]
    if not held:
        return None
    after = np.array(held)
    moved_m = _places_in_hand(kitchen, after) - _places_in_hand(kitchen, after - _EVERY)
    return float(np.linalg.norm(moved_m, axis=1).max())


def _places_in_hand(kitchen: Kitchen, at: NDArray[int64]) -> NDArray[float64]:
    tool_T_cup = kitchen.world.transforms(of=CUP, in_frame=TOOL, at=at, as_="xyz_wxyz", policy=by_source(HAND))
    return tool_T_cup[:, :3]


def _is_held(at: int) -> bool:
    return holds_cup(phase_s(at / _NS_PER_S))


def _instants(kitchen: Kitchen) -> Iterator[tuple[int, Transform]]:
    """Yield instants with calibrated cameras and a resting cup, with the true pose of the cup."""
    for at in range(_EVERY, kitchen.clock.time - _EVERY, _EVERY):
        phase = phase_s(at / _NS_PER_S)
        if phase < BUMP_S and not holds_cup(phase):
            yield at, kitchen.scenario.map_T_cup(phase)


def _apart_m(one: Transform, other: Transform) -> float:
    return float(np.linalg.norm(one.translation - other.translation))


def _speeds(kitchen: Kitchen) -> tuple[float, float, float]:
    """Return pose, twist and batch queries per second."""
    world, end = kitchen.world, kitchen.clock.time
    stamps = np.random.default_rng(0).integers(0, end - _EVERY, size=_ROWS)
    singles = stamps[:_LOOKUPS].tolist()
    poses = _per_s(_LOOKUPS, lambda: [world.pose(of=TOOL, in_frame=DOOR, at=at) for at in singles])
    twists = _per_s(_LOOKUPS, lambda: [world.twist(of=TOOL, relative_to=DOOR, at=at) for at in singles])
    rows = _per_s(_ROWS, lambda: world.transforms(of=TOOL, in_frame=DOOR, at=stamps))
    return poses, twists, rows


def _per_s(count: int, work: Callable[[], object]) -> float:
    begin = perf_counter()
    work()
    return count / (perf_counter() - begin)
