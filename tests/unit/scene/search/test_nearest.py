"""Things near a point, and things in a region, by what they are."""

from __future__ import annotations

import numpy as np
import pytest

from armillary import World, seconds
from armillary.errors import InvalidArgument
from armillary.scene import Box, Capsule, Sphere
from unit.kit import FakeClock, moved

CLOSE_M = 1e-6


@pytest.fixture
def clock():
    return FakeClock(seconds(10))


@pytest.fixture
def world(clock):
    with World("robot", clock=clock) as world:
        yield world


@pytest.fixture
def cups(world):
    """Three cups on a table, at 1, 2 and 4 m; each is a group with a shape below it, the second cannot be grasped."""
    table = world.scene.add_transform(parent=world.scene.root, transform=moved(0), at=None)
    cups = []
    for x in (1.0, 2.0, 4.0):
        place = world.scene.add_transform(parent=table, transform=moved(x), at=None)
        cup = world.scene.add_group(parent=place, attributes={"graspable": x != 2.0, "x": x})
        world.scene.add_geometry(parent=cup, shape=Sphere(0.1))
        world.scene.add_geometry(parent=cup, shape=Box((0.1, 0.1, 0.4)))
        cups.append(cup)
    return cups


class TestOverlappingWhere:
    def test_answers_with_things(self, world, cups):
        asked = {"in_frame": "map", "where": {"graspable": True}}
        assert list(world.scene.overlapping(Sphere(1.5), **asked)) == [cups[0]]
        assert set(world.scene.overlapping(Sphere(5.0), **asked)) == {cups[0], cups[2]}

    def test_answers_with_shapes_without_it(self, world, cups):
        assert len(world.scene.overlapping(Sphere(5.0), in_frame="map")) == 6

    def test_tells_what_could_be_grasped_two_seconds_ago_in_one_call(self, world, clock, cups):
        for t, x in ((8, 3.5), (10, 0.5)):
            world.set_pose(of="gripper", in_frame="map", transform=moved(x), at=seconds(t))
        asked = {"in_frame": "gripper", "where": {"graspable": True}}
        assert list(world.scene.overlapping(Sphere(1.0), at=world.now() - seconds(2), **asked)) == [cups[2]]
        assert list(world.scene.overlapping(Sphere(1.0), at=world.now(), **asked)) == [cups[0]]

    def test_in_the_past_asks_the_things_of_then(self, world, clock, cups):
        clock.ns = seconds(20)
        world.scene.set_attributes(cups[0], {"graspable": False})
        asked = {"in_frame": "map", "where": {"graspable": True}}
        assert list(world.scene.overlapping(Sphere(1.5), **asked)) == []
        assert list(world.scene.as_of(seconds(15)).overlapping(Sphere(1.5), **asked)) == [cups[0]]


class TestTheNearest:
    def test_shapes_come_with_their_distances(self, world, cups):
        near = world.scene.nearest(2, in_frame="map")
        assert [one.distance_m for one in near] == pytest.approx([0.9, 0.95], abs=CLOSE_M)

    def test_things_are_as_near_as_their_nearest_shape(self, world, cups):
        near = world.scene.nearest(2, in_frame="map", where={"graspable": True})
        assert [one.id for one in near] == [cups[0], cups[2]]
        assert [one.distance_m for one in near] == pytest.approx([0.9, 3.9], abs=CLOSE_M)

    def test_of_fewer_things_are_all(self, world, cups):
        assert len(world.scene.nearest(9, in_frame="map", where={"x": 4.0})) == 1

    def test_stay_within_the_range(self, world, cups):
        assert [one.id for one in world.scene.nearest(3, in_frame="map", where={"graspable": True}, max_m=2.0)] == [
            cups[0]
        ]

    def test_are_those_around_the_point(self, world, cups):
        (near,) = world.scene.nearest(in_frame="map", point=(4.0, 0.0, 0.0), where={"graspable": True})
        assert near == (cups[2], 0.0)

    def test_agree_with_a_search_through_all(self, world):
        rng = np.random.default_rng(1)
        centers = rng.uniform(-3, 3, (40, 3))
        radii_m = rng.uniform(0.01, 0.3, 40)
        for center, radius_m in zip(centers, radii_m, strict=True):
            place = world.scene.add_transform(parent=world.scene.root, transform=moved(*center), at=None)
            world.scene.add_geometry(parent=place, shape=Capsule(radius_m=float(radius_m), length_m=1e-9))
        point = (0.3, -0.2, 0.1)
        expected = np.sort(np.maximum(np.linalg.norm(centers - point, axis=1) - radii_m, 0.0))[:5]
        found = [one.distance_m for one in world.scene.nearest(5, in_frame="map", point=point)]
        assert found == pytest.approx(expected, abs=1e-5)

    @pytest.mark.parametrize("wrong", [{"count": 0}, {"count": 1.5}, {"max_m": -1.0}, {"max_m": "far"}])
    def test_are_counted_and_measured(self, world, wrong):
        with pytest.raises(InvalidArgument):
            world.scene.nearest(**{"in_frame": "map"} | wrong)
