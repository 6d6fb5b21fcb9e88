"""Spheres and boxes around things."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from armillary import Transform
from armillary.errors import InvalidShape
from armillary.scene import BoundingBox, BoundingSphere
from strategies import CLOSE_M, transforms, vectors
from unit.scene.kit import at_xyz

LARGEST_EXCESS = 0.1

spheres = st.builds(BoundingSphere, vectors(), st.sampled_from([0.0, 1e-9]) | st.floats(0.0, 5.0))


def smallest_radius_m(points: np.ndarray, steps: int = 20_000) -> float:
    """Of the smallest sphere around points, to a thousandth: many short steps towards the furthest."""
    center = points.mean(axis=0)
    for step in range(steps):
        furthest = points[np.argmax(((points - center) ** 2).sum(axis=1))]
        center = center + (furthest - center) / (step + 2)
    return float(np.sqrt(((points - center) ** 2).sum(axis=1).max()))


class TestABoundingSphere:
    def test_is_a_value(self):
        sphere = BoundingSphere((1, 2, 3), 4)
        assert sphere == BoundingSphere(np.array([1.0, 2.0, 3.0]), 4.0)
        assert hash(sphere) == hash(BoundingSphere((1, 2, 3), 4.0))
        assert sphere != BoundingSphere((1, 2, 3), 5)
        assert sphere != "sphere"
        assert repr(sphere) == "BoundingSphere(center=(1, 2, 3), radius_m=4)"
        assert not sphere.center.flags.writeable

    def test_travels_and_stays_locked(self):
        for value in (BoundingSphere((1, 2, 3), 4), BoundingBox((0, 0, 0), (1, 2, 3))):
            for back in (pickle.loads(pickle.dumps(value)), copy.deepcopy(value)):
                assert back == value
                assert not getattr(back, "center" if isinstance(back, BoundingSphere) else "low").flags.writeable

    @pytest.mark.parametrize("center", [(1, 2), (1, 2, math.nan), (1, 2, math.inf)])
    def test_refuses_a_centre_that_is_nowhere(self, center):
        with pytest.raises(InvalidShape, match="three finite numbers"):
            BoundingSphere(center, 1.0)

    @pytest.mark.parametrize("radius_m", [-1.0, math.nan, math.inf])
    def test_refuses_a_radius_that_is_none(self, radius_m):
        with pytest.raises(InvalidShape, match="The radius of a sphere is"):
            BoundingSphere((0, 0, 0), radius_m)

    def test_contains_points_and_spheres(self):
        sphere = BoundingSphere((1, 0, 0), 2.0)
        assert sphere.contains((3.0, 0.0, 0.0))
        assert sphere.contains([(3.0, 0.0, 0.0), (-1.0, 0.0, 0.0)])
        assert not sphere.contains([(3.0, 0.0, 0.0), (-1.1, 0.0, 0.0)])
        assert sphere.contains(BoundingSphere((2, 0, 0), 1.0))
        assert not sphere.contains(BoundingSphere((2, 0, 0), 1.1))
        assert sphere.contains(BoundingSphere((2, 0, 0), 1.1), tolerance_m=0.2)

    def test_moves_with_its_frame(self):
        assert BoundingSphere((1, 0, 0), 2.0).moved(at_xyz(y=3.0)) == BoundingSphere((1, 3, 0), 2.0)


class TestAUnion:
    @given(spheres, spheres)
    def test_contains_both(self, a, b):
        assert a.union(b).contains(a)
        assert a.union(b).contains(b)

    @given(spheres, spheres)
    def test_is_no_larger_than_needed(self, a, b):
        apart_m = float(np.linalg.norm(a.center - b.center))
        needed_m = max(a.radius_m, b.radius_m, (apart_m + a.radius_m + b.radius_m) / 2.0)
        assert a.union(b).radius_m <= needed_m + CLOSE_M

    def test_of_one_in_the_other_is_the_other(self):
        large, small = BoundingSphere((0, 0, 0), 3.0), BoundingSphere((1, 0, 0), 1.0)
        assert large.union(small) is large
        assert small.union(large) is large


class TestASphereAroundSpheres:
    @given(st.lists(spheres, min_size=1, max_size=90))
    def test_contains_each(self, given_ones):
        around = BoundingSphere.around(given_ones)
        assert all(around.contains(sphere) for sphere in given_ones)

    @given(st.lists(spheres, min_size=1, max_size=8), transforms())
    def test_contains_them_in_every_frame(self, given_ones, there_T_here):
        around = BoundingSphere.around(given_ones).moved(there_T_here)
        assert all(around.contains(sphere.moved(there_T_here)) for sphere in given_ones)

    def test_is_that_sphere_around_one(self):
        sphere = BoundingSphere((1, 2, 3), 4)
        assert BoundingSphere.around([sphere]) is sphere
        assert BoundingSphere.around([]) is None

    def test_around_concentric_ones_is_the_largest(self):
        given_ones = [BoundingSphere((1, 2, 3), radius_m) for radius_m in (0.5, 2.0, 1.0)]
        assert BoundingSphere.around(given_ones).radius_m == pytest.approx(2.0)


class TestASphereAroundPoints:
    @pytest.mark.parametrize("number", [2, 3, 4, 10, 65, 1000, 20_000])
    @pytest.mark.parametrize("stretch", [(1, 1, 1), (10, 1, 0.1), (1, 0, 0)])
    def test_contains_them_and_is_almost_the_smallest(self, number, stretch):
        points = np.random.default_rng(number).normal(size=(number, 3)) * stretch + (5, 6, 7)
        around = BoundingSphere.around_points(points)
        assert around.contains(points, tolerance_m=0.0)
        assert around.radius_m <= (1.0 + LARGEST_EXCESS) * smallest_radius_m(points, 2000)

    @given(st.lists(vectors(), min_size=1, max_size=100))
    def test_contains_any_points(self, points):
        assert BoundingSphere.around_points(points).contains(np.array(points))

    def test_far_from_the_origin_contains_them(self):
        points = np.random.default_rng(1).normal(size=(500, 3)) + 1e6
        assert BoundingSphere.around_points(points).contains(points)


class TestABoundingBox:
    def test_is_a_value(self):
        box = BoundingBox((0, 0, 0), (1, 2, 3))
        assert box == BoundingBox([0, 0, 0], [1.0, 2.0, 3.0])
        assert hash(box) == hash(BoundingBox([0, 0, 0], [1.0, 2.0, 3.0]))
        assert box != BoundingBox((0, 0, 0), (1, 2, 4))
        assert box != "box"
        assert box.center.tolist() == [0.5, 1.0, 1.5]

    def test_refuses_corners_that_are_swapped(self):
        with pytest.raises(InvalidShape, match="Swap the two"):
            BoundingBox((1, 0, 0), (0, 1, 1))

    @given(transforms())
    def test_contains_its_corners_in_every_frame(self, there_T_here):
        corners = np.array([(x, y, z) for x in (0, 1) for y in (0, 2) for z in (0, 3)], dtype=float)
        assert BoundingBox((0, 0, 0), (1, 2, 3)).moved(there_T_here).contains(there_T_here @ corners)

    def test_is_tight_along_the_axes(self):
        quarter = Transform.from_xyz_rpy(xyz=(1, 0, 0), rpy=(0, 0, math.pi / 2))
        moved = BoundingBox((0, 0, 0), (1, 2, 3)).moved(quarter)
        assert moved.low == pytest.approx([-1, 0, 0], abs=CLOSE_M)
        assert moved.high == pytest.approx([1, 1, 3], abs=CLOSE_M)
