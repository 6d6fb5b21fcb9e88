"""Distances between all links of a robot that are compared, beside coal called by hand for the same pairs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np

from armillary.articulation import ArticulationModel
from armillary.demos.models import mobile_manipulator
from armillary.motion import ModelCollision
from context import Bench
from table import Row

ROUNDS, CONFIGURATIONS = 9, 12
MOST = 1.3


def rows(bench: Bench) -> Iterator[Row]:
    del bench
    try:
        import coal
    except ModuleNotFoundError:
        return
    model = ArticulationModel()
    model.add_robot(mobile_manipulator())
    collision = ModelCollision(model)
    random = np.random.default_rng(1)
    drawn = random.uniform(-0.5, 0.5, size=(CONFIGURATIONS, len(collision.names)))
    configurations = [dict(zip(collision.names, values, strict=True)) for values in drawn.tolist()]
    by_hand = ByHand(coal, collision, configurations)

    def ours() -> None:
        for configuration in configurations:
            collision.update(configuration)
            collision.distances()

    def theirs() -> None:
        for number in range(CONFIGURATIONS):
            by_hand.distances(number)

    ratio, ours_us = side_by_side(ours, theirs, CONFIGURATIONS * len(by_hand.pairs))
    yield Row.at_most(f"distance of a pair, {len(by_hand.pairs)} pairs of links", ours_us, "µs")
    yield Row.at_most("distances over those of coal by hand", ratio, "times", asked=MOST)


class ByHand:
    """The same pieces, placed and compared by calls of coal alone; the poses are calculated before."""

    def __init__(self, coal, collision: ModelCollision, configurations: list[dict[str, float]]) -> None:
        self.coal, self.request, self.result = coal, coal.DistanceRequest(), coal.DistanceResult()
        self.request.gjk_tolerance = self.request.epa_tolerance = 1e-9
        self.geometries, self.pairs, poses = [], [], []
        pieces = collision.world.pieces()
        self.geometries = [geometry for _, geometry, _ in pieces]
        ignored = collision.world.ignored
        self.pairs = [
            (i, j)
            for i in range(len(pieces))
            for j in range(i + 1, len(pieces))
            if pieces[i][0] != pieces[j][0] and frozenset((pieces[i][0], pieces[j][0])) not in ignored
        ]
        for configuration in configurations:
            collision.update(configuration)
            poses.append([matrix.copy() for _, _, matrix in collision.world.pieces()])
        self.poses = poses
        self.transforms = [coal.Transform3s() for _ in pieces]

    def distances(self, number: int) -> list[tuple]:
        for transform, matrix in zip(self.transforms, self.poses[number], strict=True):
            transform.setTransform(matrix[:3, :3], matrix[:3, 3])
        found = []
        for i, j in self.pairs:
            self.result.clear()
            distance_m = self.coal.distance(
                self.geometries[i],
                self.transforms[i],
                self.geometries[j],
                self.transforms[j],
                self.request,
                self.result,
            )
            points = self.result.getNearestPoint1().copy(), self.result.getNearestPoint2().copy()
            found.append((distance_m, *points, self.result.normal.copy()))
        return found


def side_by_side(ours: Callable[[], None], theirs: Callable[[], None], count: int) -> tuple[float, float]:
    """The median ratio of CPU times of rounds that follow one another, and ours for each [µs]."""
    ratios, own = [], []
    for _ in range(ROUNDS):
        spent = []
        for call in (ours, theirs):
            begin = time.process_time()
            call()
            spent.append(time.process_time() - begin)
        ratios.append(spent[0] / spent[1])
        own.append(spent[0] / count * 1e6)
    return float(np.median(ratios)), float(np.median(own))
