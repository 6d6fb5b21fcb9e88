"""How far things of a scene are from each other, now and in the past, with coal and without."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import armillary
from armillary import Box, Mesh, Sphere, Transform, World, seconds
from armillary.errors import InvalidArgument, SingleSample


def along(x=0.0, y=0.0, z=0.0):
    return Transform.from_translation((x, y, z))


@pytest.fixture
def world():
    """A table, and a cup that comes down onto it between 1 s and 3 s; a cloud far away."""
    world = World()
    scene = world.scene
    table = scene.add_group(parent=scene.root, at=seconds(1), frame="table")
    scene.add_geometry(parent=table, shape=Box((1.0, 1.0, 0.1)), at=seconds(1))
    cup = scene.add_transform(parent=scene.root, transform=along(z=1.0), at=seconds(1), frame="cup")
    scene.add_geometry(parent=cup, shape=Sphere(0.1), at=seconds(1))
    scene.set_transform(cup, transform=along(z=0.15), at=seconds(3))
    scene.add_geometry(
        parent=scene.root, shape=armillary.PointCloud(np.full((5, 3), 2.0)), at=seconds(1), frame="cloud"
    )
    return world


@pytest.fixture
def without_coal(monkeypatch):
    monkeypatch.setitem(sys.modules, "coal", None)


class TestDistance:
    @pytest.mark.parametrize(("at_s", "distance_m"), [(1.0, 0.85), (2.0, 0.425), (3.0, 0.0)])
    def test_is_that_of_its_instant(self, world, at_s, distance_m):
        pytest.importorskip("coal")
        found = world.scene.distance("table", "cup", at=seconds(at_s))
        assert found.distance_m == pytest.approx(distance_m, abs=1e-9)
        assert (found.a, found.b, found.is_bound) == ("table", "cup", False)

    def test_has_its_points_in_a_frame(self, world):
        pytest.importorskip("coal")
        found = world.scene.distance("table", "cup", at=seconds(1), in_frame="cup")
        assert found.point_b == pytest.approx([0.0, 0.0, -0.1])
        assert found.normal == pytest.approx([0.0, 0.0, 1.0])

    def test_is_asked_of_a_past_scene(self, world):
        pytest.importorskip("coal")
        past = world.scene.as_of(seconds(2))
        assert past.distance("table", "cup").distance_m == pytest.approx(0.425)

    def test_to_an_open_mesh_is_that_to_its_triangles(self, world):
        pytest.importorskip("coal")
        sheet = Mesh(np.array([[-1.0, -1, -1], [1, -1, -1], [0, 1, -1]]), np.array([[0, 1, 2]]))
        world.scene.add_geometry(parent=world.scene.root, shape=sheet, at=seconds(1), frame="sheet")
        assert world.scene.distance("sheet", "table", at=seconds(1)).distance_m == pytest.approx(0.95)

    def test_to_a_point_cloud_is_a_bound(self, world):
        found = world.scene.distance("cloud", "cup", at=seconds(1))
        assert found.is_bound
        assert found.distance_m <= np.linalg.norm([2.0, 2.0, 1.0]) - 0.1 + 1e-9

    def test_without_the_extra_is_a_bound(self, world, without_coal):
        found = world.scene.distance("table", "cup", at=seconds(1))
        assert found.is_bound
        assert found.distance_m <= 0.85
        assert found.normal @ (found.point_b - found.point_a) == pytest.approx(found.distance_m)


class TestTheClosest:
    def test_are_sorted_and_leave_out_the_thing_itself(self, world):
        found = world.scene.closest("cup", 5, at=seconds(3))
        assert [one.a for one in found] == ["cup", "cup"]
        assert [one.distance_m for one in found] == sorted(one.distance_m for one in found)
        assert found[1].b == "cloud"

    def test_are_so_many_and_so_near(self, world):
        assert len(world.scene.closest("cup", at=seconds(3))) == 1
        assert len(world.scene.closest("cup", 5, at=seconds(3), max_m=0.5)) == 1

    def test_are_below_a_node(self, world):
        assert len(world.scene.closest("cup", 5, at=seconds(3), under="table")) == 1

    def test_agree_with_all_distances(self):
        pytest.importorskip("coal")
        world, random = World(), np.random.default_rng(5)
        scene = world.scene
        for number in range(25):
            pose = Transform.exp(random.uniform(-1, 1, 6))
            at = scene.add_transform(parent=scene.root, transform=pose, at=seconds(1), frame=f"thing_{number}")
            scene.add_geometry(parent=at, shape=Box(random.uniform(0.05, 0.4, 3)), at=seconds(1), frame=f"box_{number}")
        every = sorted(scene.distance("thing_0", f"thing_{n}", at=seconds(1)).distance_m for n in range(1, 25))
        found = scene.closest("thing_0", 6, at=seconds(1))
        assert [one.distance_m for one in found] == pytest.approx(every[:6])


class TestASentence:
    def test_for_a_thing_and_itself(self, world):
        with pytest.raises(InvalidArgument, match="share a shape"):
            world.scene.distance("table", "table")

    def test_for_a_thing_without_a_shape(self, world):
        world.scene.add_group(parent=world.scene.root, at=seconds(1), frame="nothing")
        with pytest.raises(InvalidArgument, match="no shape at or below it"):
            world.scene.distance("nothing", "table", at=seconds(1))

    def test_for_an_instant_without_a_pose(self, world):
        cup = world.scene.add_transform(parent=world.scene.root, transform=along(), at=seconds(2), frame="late")
        world.scene.add_geometry(parent=cup, shape=Sphere(0.1), at=seconds(2))
        with pytest.raises(SingleSample):
            world.scene.distance("late", "table", at=seconds(4))
