"""Points in shapes, rays onto shapes, shapes with shapes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from armillary import Box, Capsule, Cylinder, Mesh, PointCloud, Sphere, Transform, VoxelGrid
from unit.scene.kit import STILL, at_xyz
from unit.scene.random_scenes import CUBE_CORNERS, CUBE_TRIANGLES, cube

X, Z = np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0])
CELL = VoxelGrid(np.ones((1, 1, 1), dtype=bool), 1.0, (-0.5, -0.5, -0.5))
# All of these end one metre from the origin along x, and are solid around it.
ROUND = [Sphere(1.0), Box((2, 2, 2)), Cylinder(1.0, 2.0), Capsule(1.0, 2.0), cube(2.0)]
ROUND.append(VoxelGrid(np.ones((2, 2, 2), dtype=bool), 1.0, (-1, -1, -1)))
round_ones = pytest.mark.parametrize("shape", ROUND, ids=lambda shape: shape.kind)


def on_x(*numbers):
    return np.array([(number, 0.0, 0.0) for number in numbers])


@round_ones
class TestASolid:
    def test_contains_what_is_inside_and_not_what_is_outside(self, shape):
        assert shape.contains(on_x(-1.001, -0.999, 0.001, 0.999, 1.001)).tolist() == [False, True, True, True, False]

    def test_stops_a_ray_where_it_begins(self, shape):
        assert shape.ray_distance_m(np.array([-3.0, 0.1, 0.2]), X) == pytest.approx(2.0, abs=0.04)

    def test_stops_a_ray_at_once_that_begins_inside(self, shape):
        assert shape.ray_distance_m(np.array([0.1, 0.2, 0.3]), X) == 0.0

    def test_is_not_behind_a_ray(self, shape):
        assert shape.ray_distance_m(np.array([3.0, 0.1, 0.2]), X) == math.inf

    def test_lets_a_ray_pass_beside_it(self, shape):
        assert shape.ray_distance_m(np.array([-3.0, 1.1, 0.0]), X) == math.inf

    @pytest.mark.parametrize("other", ROUND, ids=lambda shape: shape.kind)
    def test_meets_another_that_is_near_enough(self, shape, other):
        turned = Transform.from_xyz_rpy(xyz=(0, 0, 0), rpy=(math.pi, 0, math.pi))
        assert shape.overlaps(other, this_T_other=at_xyz(1.999) @ turned)
        assert not shape.overlaps(other, this_T_other=at_xyz(2.001) @ turned)

    @pytest.mark.parametrize("small", [Sphere(0.1), Box((0.1, 0.1, 0.1)), cube(0.1), PointCloud([(0.0, 0.0, 0.0)])])
    def test_meets_what_is_all_inside_it(self, shape, small):
        assert shape.overlaps(small, this_T_other=at_xyz(0.3, 0.2, 0.1))
        assert small.overlaps(shape, this_T_other=at_xyz(0.3, 0.2, 0.1).inverse())

    def test_meets_a_point_of_a_cloud(self, shape):
        assert shape.overlaps(PointCloud(on_x(0.0, 2.0)), this_T_other=at_xyz(-1.5))
        assert not shape.overlaps(PointCloud(on_x(0.0, 4.0)), this_T_other=at_xyz(-1.5))


class TestTouching:
    @pytest.mark.parametrize("shape", [*ROUND[:4], ROUND[-1]], ids=lambda shape: shape.kind)
    def test_counts_as_meeting(self, shape):
        assert shape.contains(on_x(1.0)).all()
        assert shape.overlaps(Sphere(1.0), this_T_other=at_xyz(2.0))

    def test_of_boxes_face_to_face_counts(self):
        assert Box((2, 2, 2)).overlaps(Box((2, 4, 6)), this_T_other=at_xyz(2.0))

    def test_edge_to_edge_is_found(self):
        turned = Transform.from_xyz_rpy(xyz=(0, 0, 0), rpy=(0, 0, math.pi / 4))
        lying, standing = Box((1, 1, 9)), Box((1, 1, 9))
        for gap_m, meets in ((-1e-6, True), (1e-6, False)):
            apart = at_xyz(math.sqrt(2.0) + gap_m)
            upright = Transform.from_xyz_rpy(xyz=(0, 0, 0), rpy=(math.pi / 2, 0, 0)) @ turned
            assert lying.overlaps(standing, this_T_other=turned.inverse() @ apart @ upright) is meets

    def test_of_things_without_size_counts(self):
        assert Sphere(0.0).overlaps(Sphere(0.0), this_T_other=STILL)
        assert Box((0, 0, 0)).overlaps(Capsule(0.0, 1.0), this_T_other=at_xyz(z=0.5))
        assert not Sphere(0.0).overlaps(Sphere(0.0), this_T_other=at_xyz(1e-6))


class TestACylinder:
    def test_is_flat_at_its_ends(self):
        assert not Cylinder(1.0, 2.0).overlaps(Sphere(0.1), this_T_other=at_xyz(0.9, 0.0, 1.101))
        assert Cylinder(1.0, 2.0).overlaps(Sphere(0.1), this_T_other=at_xyz(0.9, 0.0, 1.099))

    def test_is_hit_on_its_end(self):
        assert Cylinder(1.0, 2.0).ray_distance_m(np.array([0.9, 0.0, 5.0]), -Z) == pytest.approx(4.0)

    def test_on_another_axis_to_axis(self):
        upside_down = Transform.from_xyz_rpy(xyz=(0, 0, 2.001), rpy=(math.pi, 0, 0))
        assert not Cylinder(1.0, 2.0).overlaps(Cylinder(1.0, 2.0), this_T_other=upside_down)
        assert Cylinder(1.0, 2.0).overlaps(Cylinder(1.0, 2.0), this_T_other=at_xyz(z=1.999))


class TestACapsule:
    def test_is_round_at_its_ends(self):
        capsule = Capsule(1.0, 2.0)
        assert capsule.contains([(0.0, 0.0, 1.999), (0.9, 0.0, 1.9)]).tolist() == [True, False]
        assert capsule.ray_distance_m(np.array([0.0, 0.0, 5.0]), -Z) == pytest.approx(3.0)
        assert capsule.ray_distance_m(np.array([0.9, 0.0, 5.0]), -Z) == pytest.approx(4.0 - math.sqrt(1 - 0.81))


class TestAnOpenMesh:
    sheet = Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)])

    def test_contains_nothing(self):
        assert not self.sheet.contains([(0.2, 0.2, 0.0)]).any()
        assert not Mesh(CUBE_CORNERS, CUBE_TRIANGLES[1:]).contains([(0.0, 0.0, 0.0)]).any()

    def test_is_met_where_its_triangles_are(self):
        assert self.sheet.overlaps(Sphere(0.1), this_T_other=at_xyz(0.2, 0.2, 0.05))
        assert not self.sheet.overlaps(Sphere(0.1), this_T_other=at_xyz(0.8, 0.8, 0.05))

    def test_stops_rays_from_both_sides(self):
        below = np.array([0.2, 0.2, -1.0])
        assert self.sheet.ray_distance_m(below, Z) == pytest.approx(1.0)
        assert self.sheet.ray_distance_m(-below + (0.4, 0.4, 0.0), -Z) == pytest.approx(1.0)
        assert self.sheet.ray_distance_m(np.array([0.9, 0.9, -1.0]), Z) == math.inf

    def test_crossing_another_meets_it(self):
        upright = Transform.from_xyz_rpy(xyz=(0.2, 0.2, -0.5), rpy=(math.pi / 2, 0, 0))
        assert self.sheet.overlaps(self.sheet, this_T_other=upright)
        assert not self.sheet.overlaps(self.sheet, this_T_other=at_xyz(z=0.01))


class TestAPointCloud:
    def test_stops_a_ray_only_at_a_point(self):
        cloud = PointCloud(on_x(2.0, 3.0))
        assert cloud.ray_distance_m(np.zeros(3), X) == 2.0
        assert cloud.ray_distance_m(np.array([0.0, 1e-6, 0.0]), X) == math.inf

    def test_meets_another_in_a_common_point(self):
        cloud = PointCloud(on_x(0.0, 1.0, 5.0))
        assert cloud.overlaps(PointCloud(on_x(7.0, 2.0)), this_T_other=at_xyz(-1.0))
        assert not cloud.overlaps(PointCloud(on_x(7.0, 2.0)), this_T_other=at_xyz(-1.1))


class TestAVoxelGrid:
    def test_of_points_contains_them(self):
        points = np.random.default_rng(1).normal(size=(200, 3))
        assert VoxelGrid.of_points(points, 0.05).contains(points).all()
        assert VoxelGrid.of_points([], 0.05).number_of_points == 0

    def test_is_met_in_its_cells_only(self):
        ends = VoxelGrid(np.array([True, False, True]).reshape(3, 1, 1), 1.0)
        assert ends.overlaps(Sphere(0.4), this_T_other=at_xyz(0.5, 0.5, 0.5))
        assert not ends.overlaps(Sphere(0.4), this_T_other=at_xyz(1.5, 0.5, 0.5))

    def test_stops_a_ray_along_its_face(self):
        assert CELL.ray_distance_m(np.array([-2.0, 0.5, 0.0]), X) == pytest.approx(1.5)
        assert CELL.ray_distance_m(np.array([-2.0, 0.51, 0.0]), X) == math.inf
