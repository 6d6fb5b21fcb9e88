"""Shapes are values: checked when they are made, never changed, equal by their numbers."""

from __future__ import annotations

import copy
import math
import pickle
import subprocess
import sys
from dataclasses import FrozenInstanceError, dataclass
from typing import ClassVar

import numpy as np
import pytest

import armillary
from armillary import Box, Capsule, Cylinder, Mesh, PointCloud, Sphere, VoxelGrid
from armillary.errors import InvalidShape
from armillary.scene import BoundingBox, BoundingSphere, Hull, Shape
from unit.scene.random_scenes import CUBE_CORNERS, CUBE_TRIANGLES, cube

POINTS = np.array([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 2.0, 0.0)])
ONE_OF_EACH = [
    Sphere(0.5),
    Box((1.0, 2.0, 3.0)),
    Cylinder(radius_m=0.5, length_m=2.0),
    Capsule(radius_m=0.5, length_m=2.0),
    cube(),
    PointCloud(POINTS, intensity=[1, 2, 3], colour=np.zeros((3, 3), dtype=np.uint8)),
    VoxelGrid(np.ones((2, 1, 1), dtype=bool), 0.1, (1.0, 0.0, 0.0)),
]
each = pytest.mark.parametrize("shape", ONE_OF_EACH, ids=lambda shape: shape.kind)


@each
class TestEveryShape:
    def test_has_a_kind_of_its_own(self, shape):
        assert [other.kind for other in ONE_OF_EACH].count(shape.kind) == 1

    def test_cannot_be_changed(self, shape):
        name = next(iter({**shape.to_fields().plain, **shape.to_fields().arrays}))
        with pytest.raises(FrozenInstanceError):
            setattr(shape, name, None)

    def test_comes_back_from_its_fields(self, shape):
        back = Shape.of_kind(shape.kind, *shape.to_fields())
        assert back == shape
        assert back.digest() == shape.digest()
        assert hash(back) == hash(shape)

    def test_differs_from_all_others(self, shape):
        assert [other for other in ONE_OF_EACH if other == shape] == [shape]
        assert len({other.digest() for other in ONE_OF_EACH}) == len(ONE_OF_EACH)
        assert shape != shape.kind

    def test_is_its_own_copy(self, shape):
        assert copy.copy(shape) is shape
        assert copy.deepcopy(shape) is shape

    def test_travels_and_stays_locked(self, shape):
        back = pickle.loads(pickle.dumps(shape))
        assert back == shape
        assert not any(array.flags.writeable for array in back.to_fields().arrays.values())

    def test_prints_in_one_line(self, shape):
        assert repr(shape).startswith(type(shape).__name__)
        assert "\n" not in repr(shape)
        assert len(repr(shape)) < 80

    def test_is_promised_at_the_root(self, shape):
        assert getattr(armillary, type(shape).__name__) is type(shape)

    def test_refuses_fields_of_others(self, shape):
        with pytest.raises(InvalidShape, match=f"'{shape.kind}' has the"):
            Shape.of_kind(shape.kind, {**shape.to_fields().plain, "weight": 1.0}, shape.to_fields().arrays)


class TestDigests:
    def test_are_the_same_on_every_machine(self):
        assert Box((1.0, 2.0, 3.0)).digest().hex().startswith("9aa930ae76da9c2f")
        assert PointCloud(POINTS, stamp=[1, 2, 3]).digest() == PointCloud(POINTS.tolist(), stamp=[1, 2, 3]).digest()

    def test_tell_precisions_apart(self):
        single, double = PointCloud(POINTS.astype(np.float32)), PointCloud(POINTS)
        assert single != double
        assert single.digest() != double.digest()

    def test_tell_fields_apart(self):
        assert PointCloud(POINTS, a=[1, 2, 3]) != PointCloud(POINTS, b=[1, 2, 3])
        assert PointCloud(POINTS, a=[1, 2, 3]).digest() != PointCloud(POINTS, b=[1, 2, 3]).digest()

    def test_know_no_minus_zero_in_sizes(self):
        assert Sphere(-0.0) == Sphere(0.0)
        assert Sphere(-0.0).digest() == Sphere(0.0).digest()

    def test_do_not_depend_on_the_byte_order_given(self):
        assert PointCloud(POINTS.astype(">f8")) == PointCloud(POINTS)


class TestArrays:
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_that_are_locked_are_kept_without_a_copy(self, dtype):
        points = POINTS.astype(dtype)
        points.setflags(write=False)
        cloud = PointCloud(points)
        assert np.shares_memory(cloud.points, points)
        assert cloud.points.dtype == dtype

    def test_that_can_be_written_are_copied(self):
        points = POINTS.copy()
        cloud = PointCloud(points)
        points[0] = 9.0
        assert cloud == PointCloud(POINTS)

    def test_that_are_views_of_what_can_be_written_are_copied(self):
        points, memory = POINTS.copy(), bytearray(POINTS.tobytes())
        views = [points[:], np.frombuffer(memory).reshape(3, 3)]
        for view in views:
            view.setflags(write=False)
        clouds = [PointCloud(view) for view in views]
        points[0], memory[7] = 9.0, 64
        assert clouds == [PointCloud(POINTS)] * 2

    def test_that_are_views_of_what_is_locked_are_kept(self):
        cloud, read = PointCloud(POINTS), np.frombuffer(POINTS.tobytes()).reshape(3, 3)
        assert np.shares_memory(PointCloud(cloud.points[:2]).points, cloud.points)
        assert np.shares_memory(PointCloud(read).points, read)

    def test_that_are_given_away_are_locked(self):
        points, intensity = POINTS.copy(), np.arange(3.0)
        cloud = PointCloud(points, intensity=intensity, copy=False)
        assert np.shares_memory(cloud.points, points)
        assert np.shares_memory(cloud.fields["intensity"], intensity)
        with pytest.raises(ValueError, match="read-only"):
            points[0] = 9.0

    def test_cannot_be_unlocked(self):
        with pytest.raises(ValueError, match="WRITEABLE"):
            PointCloud(POINTS).points.setflags(write=True)

    @pytest.mark.parametrize("points", [POINTS.astype(int), np.asfortranarray(POINTS), np.repeat(POINTS, 2, 0)[::2]])
    def test_that_must_be_copied_are_not_given_away(self, points):
        assert PointCloud(points) == PointCloud(POINTS)
        with pytest.raises(InvalidShape, match="copy=True"):
            PointCloud(points, copy=False)

    def test_of_other_kinds_of_numbers_become_float64(self):
        assert PointCloud([(1, 2, 3)]).points.dtype == np.float64
        assert PointCloud(np.ones((1, 3), dtype=np.float16)).points.dtype == np.float64

    def test_of_fields_keep_their_kind(self):
        cloud = PointCloud(POINTS, stamp=np.array([1, 2, 3], dtype=np.int64), colour=np.zeros((3, 4), dtype=np.uint8))
        assert {name: array.dtype.name for name, array in cloud.fields.items()} == {"colour": "uint8", "stamp": "int64"}
        with pytest.raises(TypeError):
            cloud.fields["stamp"] = None

    def test_of_fields_may_hold_unknown_values(self):
        assert PointCloud(POINTS, intensity=[math.nan] * 3) == PointCloud(POINTS, intensity=[math.nan] * 3)

    def test_may_be_empty(self):
        for nothing in (PointCloud([]), Mesh([], []), VoxelGrid(np.zeros((2, 2, 2), dtype=bool), 0.1)):
            assert nothing.bounding_sphere() is None
            assert nothing.bounding_box() is None
            assert nothing.number_of_points == 0
            assert not nothing.contains([(0.0, 0.0, 0.0)]).any()
            assert nothing.ray_distance_m(np.zeros(3), np.array([1.0, 0.0, 0.0])) == math.inf

    @pytest.mark.parametrize("tiny", [5e-324, -5e-324])
    def test_are_met_by_rays_that_are_all_but_along_an_axis(self, tiny):
        triangle = Mesh([(2.0, -1.0, -1.0), (2.0, 3.0, -1.0), (2.0, -1.0, 3.0)], [(0, 1, 2)])
        edge_on = Mesh([(2.0, 1.0, 0.0), (3.0, 1.0, 0.0), (2.0, 1.0, 1.0)], [(0, 1, 2)])
        cells = VoxelGrid(np.ones((2, 2, 2), dtype=bool), 1.0, origin=(2.0, -1.0, -1.0))
        met_m = [shape.ray_distance_m(np.zeros(3), np.array([1.0, tiny, 0.0])) for shape in (triangle, edge_on, cells)]
        assert met_m == [2.0, math.inf, 2.0]


REFUSED = {
    "a radius below zero": (lambda: Sphere(-1.0), "The radius of a Sphere is -1.0 m. Give a length"),
    "no number": (lambda: Sphere("one"), "Give one finite number"),
    "a truth": (lambda: Sphere(True), "is True. Give one finite number"),
    "NaN": (lambda: Capsule(math.nan, 1.0), "The radius of a Capsule is nan"),
    "infinity": (lambda: Cylinder(1.0, math.inf), "The length of a Cylinder is inf"),
    "two sizes": (lambda: Box((1.0, 2.0)), r"is \(1.0, 2.0\). Give three numbers"),
    "one size": (lambda: Box(1.0), "Give three numbers"),
    "a size below zero": (lambda: Box((1.0, 2.0, -3.0)), "not below zero"),
    "rows of two": (lambda: PointCloud(np.zeros((5, 2))), r"the shape \(5, 2\). Give \(N, 3\)"),
    "ragged rows": (lambda: PointCloud([(1, 2, 3), (1, 2)]), "rows differ in length"),
    "words": (lambda: PointCloud([("a", "b", "c")]), "Give plain numbers"),
    "a point that is NaN": (lambda: PointCloud([(0, 0, 0), (0, math.nan, 0)]), "in row 1: .* Leave such rows out"),
    "a short field": (lambda: PointCloud(POINTS, a=[1, 2]), r"'a' of a PointCloud has the shape \(2,\), for 3 points"),
    "a field of words": (lambda: PointCloud(POINTS, a=["x"] * 3), "The field 'a' of a PointCloud: <U1 values"),
    "an index too far": (lambda: Mesh(POINTS, [(0, 1, 2), (0, 1, 3)]), "Triangle 1 .* from 0 to 2"),
    "an index below zero": (lambda: Mesh(POINTS, [(0, 1, -1)]), "Triangle 0"),
    "indices that are no integers": (lambda: Mesh(POINTS, [(0.0, 1.0, 2.0)]), "Give integers"),
    "four corners": (lambda: Mesh(POINTS, [(0, 1, 2, 0)]), r"shape \(1, 4\)"),
    "cells that are numbers": (lambda: VoxelGrid(np.zeros((2, 2, 2)), 0.1), "Give booleans"),
    "flat cells": (lambda: VoxelGrid(np.zeros((2, 2), dtype=bool), 0.1), "Give booleans of the shape"),
    "cells without size": (lambda: VoxelGrid(np.zeros((1, 1, 1), dtype=bool), 0.0), "above zero"),
    "a grid beyond all memory": (lambda: VoxelGrid.of_points([(0, 0, 0), (1e9, 1e9, 1e9)], 0.01), "larger voxel_size"),
    "a kind that is none": (lambda: Shape.of_kind("bx", {}, {}), "No kind of shape is named 'bx'. There are: .*'box'"),
    "a kind that is no name": (lambda: Shape.of_kind([], {}, {}), "No kind of shape"),
    "a cloud without points": (lambda: Shape.of_kind("point_cloud", {}, {}), "has the array 'points'"),
    "a size beyond all numbers": (lambda: Sphere(10**400), r"is 10+\.\.\.\. Give one finite number"),
    "a size that has no square": (lambda: Box((1e200, 1.0, 1.0)), "The size of a Box: x is 1e[+]200. Give one finite"),
    "a point that has no square": (lambda: PointCloud([(0, 0, 1e200)]), "beyond 1e[+]100 m, in row 0"),
    "what is masked": (lambda: PointCloud(np.ma.masked_array(POINTS)), "not masked"),
    "a grid of too many cells": (lambda: VoxelGrid.of_points([(1e99, 0, 0)], 1e-300), "larger voxel_size"),
    "another shape that is none": (lambda: Sphere(1.0).overlaps(None, this_T_other=None), "None is no shape"),
    "a place that is none": (lambda: Sphere(1.0).overlaps(Sphere(1.0), this_T_other=np.eye(4)), "Give a Transform"),
    "points to ask about": (lambda: Sphere(1.0).contains((1.0, 2.0, 3.0)), r"Give \(N, 3\)"),
}


class TestWhatIsNoShape:
    @pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED.keys())
    def test_is_refused_with_a_sentence(self, case):
        call, sentence = case
        with pytest.raises(InvalidShape, match=sentence):
            call()


class TestANewKind:
    def test_is_one_class(self):
        @dataclass(frozen=True, eq=False)
        class Dot(Shape):
            kind: ClassVar[str] = "test_dot"
            place: tuple[float, float, float]

            def bounding_sphere(self):
                return BoundingSphere(self.place, 0.0)

            def bounding_box(self):
                return BoundingBox(self.place, self.place)

            def contains(self, points):
                return (np.asarray(points) == self.place).all(axis=1)

            def ray_distance_m(self, origin, direction):
                return math.inf

            def convex_parts(self, near):
                return (Hull((tuple(self.place),)),)

        dot = Dot((1.0, 0.0, 0.0))
        assert Shape.of_kind("test_dot", *dot.to_fields()).digest() == dot.digest()
        assert dot.overlaps(Sphere(1.0), this_T_other=armillary.Transform.identity())

    def test_cannot_take_the_name_of_another(self):
        with pytest.raises(InvalidShape, match="'box' is taken by Box"):
            type("Crate", (Shape,), {"kind": "box"})


class TestImporting:
    def test_the_library_does_not_load_shapes(self):
        code = "import sys, armillary; print('armillary.scene' in sys.modules, armillary.Box, hasattr(armillary, 'Bx'))"
        result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert result.stdout.split()[0] == "False"
        assert result.stdout.split()[-1] == "False"


class TestBounds:
    def test_of_primitives_are_tight(self):
        assert Sphere(0.5).bounding_sphere() == BoundingSphere((0, 0, 0), 0.5)
        assert Box((2.0, 3.0, 6.0)).bounding_sphere() == BoundingSphere((0, 0, 0), 3.5)
        assert Cylinder(3.0, 8.0).bounding_sphere() == BoundingSphere((0, 0, 0), 5.0)
        assert Capsule(1.0, 4.0).bounding_sphere() == BoundingSphere((0, 0, 0), 3.0)
        assert Capsule(1.0, 4.0).bounding_box() == BoundingBox((-1, -1, -3), (1, 1, 3))

    def test_of_points_are_tight(self):
        assert cube().bounding_sphere().radius_m == pytest.approx(math.sqrt(0.75), rel=1e-6)
        assert PointCloud(POINTS).bounding_box() == BoundingBox((0, 0, 0), (1, 2, 0))

    def test_of_cells_hold_the_whole_cells(self):
        grid = VoxelGrid(np.ones((2, 1, 1), dtype=bool), 0.5, (1.0, 0.0, 0.0))
        assert grid.bounding_box() == BoundingBox((1.0, 0.0, 0.0), (2.0, 0.5, 0.5))

    def test_of_one_point_have_no_radius(self):
        assert PointCloud([(1.0, 2.0, 3.0)]).bounding_sphere().radius_m < 1e-9


class TestAMesh:
    def test_is_closed_where_every_edge_joins_two_triangles(self):
        assert cube().is_closed
        assert not Mesh(CUBE_CORNERS, CUBE_TRIANGLES[1:]).is_closed

    def test_is_closed_also_without_shared_vertices(self):
        soup = CUBE_CORNERS[CUBE_TRIANGLES].reshape(-1, 3)
        assert Mesh(soup, np.arange(36).reshape(12, 3)).is_closed

    def test_is_closed_also_with_triangles_that_are_lines(self):
        assert Mesh(CUBE_CORNERS, [*CUBE_TRIANGLES, (0, 0, 1)]).is_closed
        assert not Mesh(CUBE_CORNERS, [(0, 0, 1)]).is_closed

    def test_that_turns_in_two_ways_is_open(self):
        twisted = CUBE_TRIANGLES.copy()
        twisted[0] = twisted[0][::-1]
        assert not Mesh(CUBE_CORNERS, twisted).is_closed
