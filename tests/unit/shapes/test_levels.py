"""One thing at several resolutions."""

from __future__ import annotations

import numpy as np
import pytest

from armillary import Box, PointCloud, Sphere, VoxelGrid, World
from armillary.errors import InvalidShape
from armillary.scene import Levels


def lattice(number: int) -> PointCloud:
    """Points on a unit square, 1 / number apart."""
    line = np.arange(number) / number
    return PointCloud([(x, y, 0.0) for x in line for y in line])


FINE, COARSE, CRUDE = lattice(20), lattice(5), Box((1.0, 1.0, 0.01))
LEVELS = Levels((FINE, COARSE, CRUDE))


class TestLevels:
    def test_are_counted_from_the_finest(self):
        assert [LEVELS[0], LEVELS[1], LEVELS[2]] == [FINE, COARSE, CRUDE]
        assert list(LEVELS) == [FINE, COARSE, CRUDE]
        assert len(LEVELS) == 3

    @pytest.mark.parametrize("level", [-1, 3, 1.0, "finest", slice(0, 1), True])
    def test_that_are_not_there_are_refused(self, level):
        with pytest.raises(InvalidShape, match="Ask for 0, the finest, to 2"):
            LEVELS[level]

    @pytest.mark.parametrize(("most", "chosen"), [(400, FINE), (399, COARSE), (25, COARSE), (24, CRUDE), (0, CRUDE)])
    def test_are_chosen_by_the_number_of_points(self, most, chosen):
        assert LEVELS.with_at_most(most) is chosen

    def test_with_too_many_points_give_the_coarsest(self):
        assert Levels((FINE, COARSE)).with_at_most(3) is COARSE

    def test_know_what_they_leave_out(self):
        assert LEVELS.errors_m == pytest.approx((0.05, 0.2, np.linalg.norm([1.0, 1.0, 0.01])))

    @pytest.mark.parametrize(
        ("distance_m", "chosen"), [(0.0, FINE), (199.0, FINE), (201.0, COARSE), (1400.0, COARSE), (1500.0, CRUDE)]
    )
    def test_are_chosen_by_distance(self, distance_m, chosen):
        assert LEVELS.seen_from(distance_m) is chosen

    def test_are_chosen_by_what_the_viewer_can_tell_apart(self):
        assert LEVELS.seen_from(10.0, sharp_rad=0.03) is COARSE

    @pytest.mark.parametrize("sharp_rad", [np.nan, -0.1, 2.0, "sharp"])
    def test_are_not_chosen_by_what_is_no_angle(self, sharp_rad):
        with pytest.raises(InvalidShape, match="below a right one"):
            LEVELS.seen_from(1.0, sharp_rad=sharp_rad)

    def test_are_not_chosen_by_texts(self):
        with pytest.raises(InvalidShape, match="Give a distance"):
            LEVELS.seen_from("far")
        with pytest.raises(InvalidShape, match="Give a number of points"):
            LEVELS.with_at_most("few")

    @pytest.mark.parametrize("given", [None, 3, "box", [None]])
    def test_are_made_of_shapes_alone(self, given):
        with pytest.raises(InvalidShape, match=r"is no shape\. Give shapes, the finest first"):
            Levels(given)

    @pytest.mark.parametrize("given", [None, "box", Box, LEVELS], ids=["None", "a text", "a class", "levels"])
    def test_of_a_node_begin_with_one_shape(self, given):
        scene = World().scene
        with pytest.raises(InvalidShape, match=r"is no shape\. Give one, as Box\(\(x, y, z\)\)"):
            scene.add_geometry(parent=scene.root, shape=given)

    def test_of_a_node_are_chosen_as_its_levels_say(self):
        scene = World().scene
        node = scene.add_geometry(parent=scene.root, shape=FINE, levels=[COARSE])
        chosen = [scene.geometry(node, max_points=most) for most in (400, 399, 3)]
        assert (chosen, scene.geometry(node, distance_m=201.0)) == ([FINE, COARSE, COARSE], COARSE)

    def test_of_one_exact_shape_are_that(self):
        assert Levels((Sphere(1.0),)).seen_from(0.0) == Sphere(1.0)
        assert Levels((VoxelGrid.of_points([(0, 0, 0)], 0.1),)).errors_m == (0.1,)

    def test_are_equal_by_their_shapes(self):
        assert Levels([lattice(20), lattice(5), CRUDE]) == LEVELS
        assert hash(Levels([FINE, COARSE, CRUDE])) == hash(LEVELS)

    @pytest.mark.parametrize(
        ("shapes", "sentence"),
        [
            ((), "No level"),
            ((FINE, "box"), "'box' is no shape"),
            ((COARSE, FINE), r"\[25, 400\] points. Give the finest"),
        ],
    )
    def test_that_make_no_sense_are_refused(self, shapes, sentence):
        with pytest.raises(InvalidShape, match=sentence):
            Levels(shapes)

    def test_refuse_a_viewer_nowhere(self):
        with pytest.raises(InvalidShape, match="nowhere"):
            LEVELS.seen_from(float("nan"))
