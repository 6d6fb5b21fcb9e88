"""Since when a thing is in a further parent, and where it was before it was put elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

from armillary import LATEST, Transform, World, seconds
from armillary.errors import AmbiguousPath
from armillary.scene import AddParent, Box, RemoveParent, Sphere
from unit.kit import FakeClock, moved

CALLED = seconds(100)
IMAGE = CALLED - 80_000_000


class TestACupSeenByTwoCameras:
    """The images are older than the calls that tell of them, as they always are."""

    @pytest.fixture
    def world(self):
        with World("robot", clock=FakeClock(CALLED)) as world:
            yield world

    @pytest.fixture
    def cup(self, world):
        scene = world.scene
        cameras = [scene.add_transform(parent=scene.root, transform=moved(0), at=None) for _ in range(2)]
        seen = [
            scene.add_uncertain_transform(parent=camera, transform=moved(x), covariance=variance * np.eye(6), at=IMAGE)
            for camera, x, variance in zip(cameras, (1.0, 1.02), (1e-4, 1e-6), strict=True)
        ]
        cup = scene.add_group(parent=seen[0])
        scene.add_parent(cup, seen[1])
        return cup

    @pytest.mark.parametrize("at", [IMAGE, LATEST])
    def test_is_fused_from_both(self, world, cup, at):
        pose = world.pose(of=cup, in_frame="map", at=at, policy="fuse")
        assert len(pose.paths_used) == 2
        assert pose.xyz[0] == pytest.approx((1.0 / 1e-4 + 1.02 / 1e-6) / (1 / 1e-4 + 1 / 1e-6))

    @pytest.mark.parametrize("at", [IMAGE, LATEST])
    def test_is_where_the_surer_one_sees_it(self, world, cup, at):
        assert world.pose(of=cup, in_frame="map", at=at, policy="most_certain").xyz[0] == pytest.approx(1.02)

    @pytest.mark.parametrize("at", [IMAGE, LATEST])
    def test_is_contested(self, world, cup, at):
        with pytest.raises(AmbiguousPath):
            world.pose(of=cup, in_frame="map", at=at)

    def test_is_in_both_since_it_was_added(self, world, cup):
        assert {world.scene.contained_since(cup, parent) for parent in world.scene.parents(cup)} == {CALLED}


class TestABoxThatWasPutElsewhere:
    @pytest.fixture
    def clock(self):
        return FakeClock(seconds(300))

    @pytest.fixture
    def world(self, clock):
        with World("robot", clock=clock) as world:
            yield world

    @pytest.fixture
    def places(self, world):
        return [world.scene.add_transform(parent=world.scene.root, transform=moved(x), at=None) for x in (1.0, 5.0)]

    @pytest.fixture
    def box(self, clock, world, places):
        table, shelf = places
        box = world.scene.add_geometry(parent=table, shape=Box((0.1, 0.1, 0.1)))
        clock.ns = seconds(310)
        world.apply([AddParent(box, shelf), RemoveParent(box, table)])
        clock.ns = seconds(320)
        return box

    @pytest.mark.parametrize(("at_s", "x_m"), [(301, 1.0), (305, 1.0), (310, 5.0), (319, 5.0)])
    def test_was_where_it_was(self, world, places, box, at_s, x_m):
        at, scene = seconds(at_s), world.scene
        assert world.pose(of=box, in_frame="map", at=at).xyz[0] == x_m
        then = scene.as_of(at)
        assert then.parents(box) == [places[x_m > 2]]
        for around, is_there in zip(places, (x_m < 2, x_m > 2), strict=True):
            assert (box in scene.overlapping(Sphere(0.5), in_frame=around, at=at)) == is_there
            assert (box in then.overlapping(Sphere(0.5), in_frame=around)) == is_there

    def test_is_back_from_now_on(self, clock, world, places, box):
        table, shelf = places
        world.scene.add_parent(box, table)
        world.scene.remove_parent(box, shelf)
        clock.ns += 1
        positions = [world.pose(of=box, in_frame="map", at=seconds(at)).xyz[0] for at in (305, 315)]
        assert [*positions, world.pose(of=box, in_frame="map", at=clock.ns).xyz[0]] == [1.0, 5.0, 1.0]


class TestTies:
    @pytest.mark.parametrize("policy", ["most_certain", "latest"])
    def test_do_not_fall_by_arrival(self, policy):
        answers = set()
        for order in (("a", "b"), ("b", "a")):
            world = World()
            for source in order:
                there = Transform.from_xyz_rpy(xyz=(ord(source), 0, 0), rpy=(0, 0, 0))
                world.set_pose(
                    of="cup", in_frame="map", transform=there, at=seconds(1), covariance=np.eye(6), source=source
                )
            answers.add(float(world.pose(of="cup", in_frame="map", at=seconds(1), policy=policy).xyz[0]))
        assert len(answers) == 1
