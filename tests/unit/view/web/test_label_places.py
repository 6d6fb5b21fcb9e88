"""Labels on the screen: the first stays, later ones move up, and what has no room is left out."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from armillary.view.web._label_places import Projection, arrange

CAMERA = SimpleNamespace(
    position=(0.0, -10.0, 0.0), look_at=(0.0, 0.0, 0.0), up_direction=(0.0, 0.0, 1.0), fov=np.pi / 2, image_height=1000
)
LINE_PX = 19.0


@pytest.fixture
def projection():
    return Projection.of(CAMERA)


def at(x: float, z: float = 0.0) -> np.ndarray:
    return np.array([x, 0.0, z])


class TestAProjection:
    def test_is_in_pixels_from_the_centre(self, projection):
        assert projection.pixels(np.array([at(1.0, 2.0)])) == pytest.approx(np.array([[50.0, 100.0]]))

    def test_lifts_a_point_by_pixels(self, projection):
        lifted = projection.lifted(at(1.0), 50.0)
        assert projection.pixels(lifted[None]) == pytest.approx(np.array([[50.0, 50.0]]))

    def test_is_unknown_before_the_browser_has_spoken(self):
        assert Projection.of(SimpleNamespace(**vars(CAMERA) | {"image_height": 0})) is None


class TestLabels:
    def test_stay_where_there_is_room(self, projection):
        places = {"a": at(0.0), "b": at(5.0)}
        assert arrange({"a": "cup", "b": "plate"}, places, projection) == places

    def test_move_up_where_there_is_none(self, projection):
        arranged = arrange({"a": "cup (hand)", "b": "cup (eye)"}, {"a": at(0.0), "b": at(0.0)}, projection)
        a, b = (projection.pixels(arranged[key][None])[0] for key in "ab")
        assert (a[1], b[1]) == pytest.approx((0.0, LINE_PX))

    def test_are_left_out_beyond_five_at_one_place(self, projection):
        texts = {str(i): "name" for i in range(9)}
        assert list(arrange(texts, dict.fromkeys(texts, at(0.0)), projection)) == list("01234")

    def test_are_left_out_behind_the_camera_and_without_a_place(self, projection):
        places = {"behind": np.array([0.0, -20.0, 0.0]), "nowhere": np.full(3, np.nan), "here": at(0.0)}
        assert list(arrange({key: key for key in (*places, "unknown")}, places, projection)) == ["here"]
