"""Displayed frames and shapes, and their poses."""

from __future__ import annotations

import numpy as np
import pytest

from armillary import LATEST, Transform, World, seconds
from armillary.errors import AfterHistory, NotConnected
from armillary.scene import Box, Capsule, Cylinder, Mesh, PointCloud, Sphere, VoxelGrid
from armillary.view.web._appearance import axes_cross, unit_box, unit_cylinder, unit_sphere
from armillary.view.web._layout import layout_of
from unit.kit import CLOSE_M, drive, moved

QUARTER = Transform.from_xyz_rpy(xyz=(1.0, 2.0, 3.0), rpy=(0.0, 0.0, np.pi / 2))


def poses(world: World, at=LATEST, in_frame="map"):
    layout = layout_of(world, at)
    return layout, layout.poses(world, in_frame=in_frame, at=at)


def only_piece(world: World, at=LATEST):
    layout, where = poses(world, at)
    ((form, batch),) = layout.appearance.batches.items()
    return form, batch, layout.pieces(form, where)


class TestFrames:
    def test_are_where_the_world_says(self, world):
        drive(world, 1.0, 2.0)
        _, where = poses(world, seconds(1.5))
        assert where.of("robot") == pytest.approx([1.5, 0, 0, 1, 0, 0, 0])

    def test_without_a_pose_are_nowhere(self, world):
        drive(world, 1.0)
        world.fix(of="elsewhere", in_frame="moon", transform=moved(1))
        _, where = poses(world)
        assert where.of("elsewhere") is None
        assert isinstance(where.snapshot.missing["elsewhere"], NotConnected)
        assert where.is_known.tolist() == [name in {"map", "robot"} for name in where.names]

    def test_are_held_outside_their_history_and_marked(self, world):
        drive(world, 1.0, 2.0)
        drive(world, 1.0, 5.0, of="other")
        _, where = poses(world, seconds(4.0))
        assert where.of("robot")[0] == 2.0
        assert where.held == {"robot"}
        with pytest.raises(AfterHistory):
            world.pose(of="robot", in_frame="map", at=seconds(4.0))

    def test_are_live_at_the_newest_samples(self, world):
        drive(world, 1.0, 5.0)
        world.set_pose(of="arm", in_frame="robot", transform=moved(0.5), at=seconds(2.0))
        _, where = poses(world)
        assert where.of("robot")[0] == 5.0
        assert where.of("arm")[0] == 5.5
        assert where.held == frozenset()

    def test_of_things_are_called_by_their_names(self, world):
        scene = world.scene
        table = scene.add_transform(parent=scene.root, transform=moved(1), at=None, attributes={"name": "table"})
        layout = layout_of(world, LATEST)
        assert layout.frames.labels == {"map": "map", scene.frame(table): "table"}

    def test_of_things_without_a_name_only_carry_what_is_in_them(self, world):
        scene = world.scene
        placing = scene.add_transform(parent=scene.root, transform=QUARTER, at=None)
        scene.add_geometry(parent=placing, shape=Sphere(0.1))
        layout = layout_of(world, LATEST)
        assert (layout.names, layout.shown) == (("map",), ("map",))
        _, batch, rows = only_piece(world)
        assert batch.frames == ("map",)
        assert rows[0, :3] == pytest.approx([1, 2, 3])


class TestThings:
    @pytest.mark.parametrize(
        ("shape", "forms"),
        [
            (Box((1.0, 2.0, 3.0)), {"box": [(1.0, 2.0, 3.0)]}),
            (Sphere(0.5), {"sphere": [(0.5, 0.5, 0.5)]}),
            (Cylinder(0.5, 2.0), {"cylinder": [(0.5, 0.5, 2.0)]}),
            (Capsule(0.5, 2.0), {"cylinder": [(0.5, 0.5, 2.0)], "sphere": [(0.5, 0.5, 0.5)] * 2}),
        ],
    )
    def test_are_unit_solids_that_are_stretched(self, world, shape, forms):
        world.scene.add_geometry(parent=world.scene.root, shape=shape)
        batches = layout_of(world, LATEST).appearance.batches
        assert {form: [tuple(row) for row in batch.scales] for form, batch in batches.items()} == forms

    def test_move_with_their_frame(self, world):
        world.set_pose(of="robot", in_frame="map", transform=QUARTER, at=seconds(1.0))
        world.scene.add_geometry(parent="robot", shape=Capsule(0.1, 2.0), at=seconds(1.0))
        layout, where = poses(world)
        assert layout.pieces("sphere", where)[:, :3] == pytest.approx(np.array([(1, 2, 4), (1, 2, 2)]), abs=CLOSE_M)
        assert layout.pieces("cylinder", where)[0] == pytest.approx([1, 2, 3, np.sqrt(0.5), 0, 0, np.sqrt(0.5)])

    def test_of_one_form_are_drawn_at_once(self, world):
        for x in range(5):
            place = world.scene.add_transform(parent=world.scene.root, transform=moved(x), at=None)
            world.scene.add_geometry(parent=place, shape=Box((0.1, 0.1, 0.1)))
        _, batch, rows = only_piece(world)
        assert (len(batch.frames), rows[:, 0].tolist()) == (5, [0, 1, 2, 3, 4])

    def test_that_are_the_same_mesh_are_drawn_at_once(self, world):
        triangle = Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)])
        for _ in range(2):
            world.scene.add_geometry(parent=world.scene.root, shape=triangle)
        form, batch, _ = only_piece(world)
        assert form.startswith("mesh_")
        assert (batch.triangles.vertices == triangle.vertices).all()
        assert len(batch.frames) == 2

    def test_have_the_color_of_their_attribute(self, world):
        attributes = {"color": [1.0, 0.5, 0.0, 0.25]}
        world.scene.add_geometry(parent=world.scene.root, shape=Sphere(1.0), attributes=attributes)
        _, batch, _ = only_piece(world)
        assert (batch.colors.tolist(), batch.opacities.tolist()) == ([[255, 128, 0]], [0.25])

    def test_with_a_color_that_is_none_look_as_those_without(self, world):
        for color in ("red", 5, [1.0], ["x", 1.0]):
            world.scene.add_geometry(parent=world.scene.root, shape=Sphere(1.0), attributes={"color": color})
        world.scene.add_geometry(parent=world.scene.root, shape=Sphere(1.0))
        _, batch, _ = only_piece(world)
        assert len({tuple(color) for color in batch.colors.tolist()}) == 1

    def test_that_can_only_be_touched_are_seen_through(self, world):
        world.scene.add_geometry(parent=world.scene.root, shape=Sphere(1.0), attributes={"role": "collision"})
        _, batch, _ = only_piece(world)
        assert batch.opacities[0] < 0.5

    def test_that_are_gone_are_shown_when_they_were_there(self, world):
        scene = world.scene
        ball = scene.add_geometry(parent=scene.root, shape=Sphere(1.0), at=seconds(1.0))
        scene.remove(ball, at=seconds(3.0))
        assert [len(layout_of(world, seconds(t)).appearance.batches) for t in (2.0, 4.0)] == [1, 0]
        assert layout_of(world, LATEST).appearance.batches == {}

    def test_that_came_later_are_held_to_have_been_there(self, world):
        world.scene.add_geometry(parent=world.scene.root, shape=Sphere(1.0), at=seconds(5.0))
        layout = layout_of(world, seconds(2.0))
        assert len(layout.appearance.batches) == 1
        assert layout.is_like(layout_of(world, LATEST))


class TestClouds:
    def test_are_points_in_a_frame(self, world):
        world.scene.add_geometry(parent=world.scene.root, shape=PointCloud([(1, 2, 3)], rgb=[(255, 0, 0)]))
        (cloud,) = layout_of(world, LATEST).appearance.clouds
        assert (cloud.frame_T_cloud[:3].tolist(), cloud.points.tolist()) == ([1, 2, 3], [[0, 0, 0]])
        assert (cloud.colors.tolist(), cloud.frame) == ([[1, 0, 0]], "map")

    def test_keep_their_shape_a_kilometre_from_the_origin(self, world):
        points = np.array([1e6, 2e6, 0.0]) + np.random.default_rng(1).uniform(-1.0, 1.0, (50, 3))
        world.scene.add_geometry(parent=world.scene.root, shape=PointCloud(points))
        (cloud,) = layout_of(world, LATEST).appearance.clouds
        assert cloud.frame_T_cloud[:3] + cloud.points.astype(float) == pytest.approx(points, abs=1e-6)

    def test_are_grey_by_their_intensity(self, world):
        shape = PointCloud([(0, 0, 0), (1, 0, 0), (2, 0, 0)], intensity=[5.0, 10.0, float("nan")])
        world.scene.add_geometry(parent=world.scene.root, shape=shape)
        (cloud,) = layout_of(world, LATEST).appearance.clouds
        assert cloud.colors[:, 0] == pytest.approx([0.15, 1.0, 0.15])

    def test_of_voxels_are_their_centres(self, world):
        world.scene.add_geometry(parent=world.scene.root, shape=VoxelGrid.of_points([(0.05, 0.05, 0.05)], 0.1))
        (cloud,) = layout_of(world, LATEST).appearance.clouds
        assert cloud.frame_T_cloud[:3] + cloud.points[0] == pytest.approx([0.05, 0.05, 0.05])


class TestAStage:
    def test_is_like_another_where_only_poses_differ(self, world):
        drive(world, 1.0)
        world.scene.add_geometry(parent="robot", shape=Sphere(1.0))
        before = layout_of(world, LATEST)
        drive(world, 2.0)
        assert layout_of(world, LATEST).is_like(before)

    def test_is_another_where_a_thing_or_a_frame_came(self, world):
        drive(world, 1.0)
        before = layout_of(world, LATEST)
        world.scene.add_geometry(parent="robot", shape=Sphere(1.0))
        with_ball = layout_of(world, LATEST)
        world.fix(of="camera", in_frame="robot", transform=moved(1))
        assert not with_ball.is_like(before)
        assert not layout_of(world, LATEST).is_like(with_ball)


class TestWhatIsSeenAtFirst:
    def test_reaches_to_the_ends_of_clouds(self, world):
        world.fix(of="lidar", in_frame="map", transform=QUARTER)
        world.scene.add_geometry(parent="lidar", shape=PointCloud(np.array([[0.0, 0, 0], [10, 0, 0], [0, 0, 2]])))
        layout, where = poses(world)
        corners = layout.corners(where)
        assert corners.max(axis=0) == pytest.approx([1, 12, 5])
        assert corners.min(axis=0) == pytest.approx([0, 0, 0], abs=CLOSE_M)


class TestSolids:
    @pytest.mark.parametrize("solid", [unit_box, unit_sphere, unit_cylinder, axes_cross])
    def test_are_closed_and_turned_outwards(self, solid):
        triangles = solid()
        a, b, c = (triangles.vertices[triangles.faces[:, i]] for i in range(3))
        volume = np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6.0
        expected = {"unit_box": 1.0, "unit_sphere": 4.1, "unit_cylinder": 3.1, "axes_cross": 3 * 0.09**2}[
            solid.__name__
        ]
        assert volume == pytest.approx(expected, rel=0.03)
