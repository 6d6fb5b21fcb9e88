"""The covariance of a position along the axes of a third frame, where the turn shares edges with the path."""

from __future__ import annotations

import numpy as np
import pytest

from armillary import Transform, World, seconds
from randomness import rng

LEAST, MOST = 2.4, 3.7  # of 3
SIGMA = 0.01


def world_of(random: np.random.Generator, means: dict[str, Transform], *, exact: bool = False) -> World:
    """map <- base <- arm <- tool, and base <- lamp; every edge has an error of its own."""
    world, covariance = World(), np.zeros((6, 6)) if exact else SIGMA**2 * np.eye(6)
    parents = {"base": "map", "arm": "base", "tool": "arm", "lamp": "base"}
    for child, mean in means.items():
        seen = mean @ Transform.exp(random.multivariate_normal(np.zeros(6), covariance))
        world.set_pose(of=child, in_frame=parents[child], transform=seen, at=seconds(1), covariance=covariance)
    return world


@pytest.fixture
def means() -> dict[str, Transform]:
    random = rng(3)
    return {child: Transform.exp(random.uniform(-1, 1, size=6)) for child in ("base", "arm", "tool", "lamp")}


ASKED = [("tool", "arm", "map"), ("tool", "base", "map"), ("tool", "map", "arm"), ("tool", "lamp", "map"),
         ("lamp", "tool", "base"), ("map", "tool", "lamp")]  # fmt: skip


class TestAPositionAlongTheAxesOfAThirdFrame:
    @pytest.mark.parametrize("asked", ASKED)
    def test_has_the_covariance_of_all_edges(self, means, asked):
        of, in_frame, axes = asked
        random, draws, total = rng(5), 300, 0.0
        ask = {"of": of, "in_frame": in_frame, "expressed_in": axes, "at": seconds(1)}
        expected = world_of(random, means, exact=True).position(**ask).xyz
        for _ in range(draws):
            found = world_of(random, means).position(**ask)
            error = found.xyz - expected
            total += error @ np.linalg.solve(found.covariance, error) / draws
        assert LEAST < total < MOST

    def test_is_exact_where_all_edges_are(self, means):
        found = world_of(rng(5), means, exact=True).position(of="tool", in_frame="map", expressed_in="arm")
        assert not found.covariance.any()

    def test_is_unknown_where_one_is(self, means):
        world = world_of(rng(5), means)
        world.set_pose(of="tool", in_frame="arm", transform=means["tool"], at=seconds(1))
        assert world.position(of="tool", in_frame="map", expressed_in="arm").covariance is None
