"""The initial viewpoint and the default frame."""

from __future__ import annotations

import numpy as np
import pytest

from armillary.view._roots import default_frame
from armillary.view.web._layout import viewpoint
from unit.kit import drive, moved


class TestTheFrameOfThePicture:
    def test_is_the_root_of_the_scene(self, world):
        drive(world, 1.0)
        assert default_frame(world) == "map"

    def test_is_the_root_of_most_frames(self, world):
        world.add_frame("map")
        for link in ("torso", "head", "arm"):
            world.fix(of=link, in_frame="base", transform=moved(1))
        assert default_frame(world) == "base"

    def test_is_the_root_of_the_scene_where_it_is_one_of_several(self, world):
        world.add_frame("adrift")
        world.add_frame("map")
        assert default_frame(world) == "map"

    def test_is_none_in_an_empty_world(self, world):
        assert default_frame(world) is None


class TestAViewpoint:
    @pytest.mark.parametrize("size_m", [0.8, 5.0, 80.0])
    def test_is_so_far_away_that_everything_is_in_the_picture(self, size_m):
        corners = size_m * (np.array([(0, 0, 0), (1, 1, 1), (1, 0, 1), (0, 1, 0)]) + 3.0)
        seen = viewpoint(corners)
        forward = np.subtract(seen.look_at, seen.position)
        forward /= np.linalg.norm(forward)
        paths = corners - seen.position
        angles = np.arccos(paths @ forward / np.linalg.norm(paths, axis=1))
        assert angles.max() < 0.8 * seen.opening_rad / 2  # the panels cover the rest

    def test_of_nothing_is_near_the_origin(self):
        assert viewpoint(np.empty((0, 3))).look_at == (0.0, 0.0, 0.0)

    def test_reports_how_large_all_of_it_is(self):
        assert viewpoint(np.array([(0, 0, 0), (3, 4, 12)])).extent_m == pytest.approx(13.0)
