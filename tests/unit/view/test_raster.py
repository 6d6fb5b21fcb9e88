"""Shapes as pixels."""

from __future__ import annotations

import io

import numpy as np
import pytest

from armillary.view._raster import Surface, png_bytes, rasterise

RED, BLUE = (255, 0, 0), (0, 0, 255)
SIZE = 64


def surface(*triangles, color=RED, opacity=1.0, points=()) -> Surface:
    corners = np.array(triangles, dtype=float).reshape(-1, 3, 3)
    dots = np.array(points, dtype=float).reshape(-1, 3)
    colors, dot_colors = (np.tile(np.uint8(color), (len(part), 1)) for part in (corners, dots))
    return Surface(triangles=corners, colors=colors, points=dots, point_colors=dot_colors, opacity=opacity)


def square(low, high, depth) -> tuple:
    a, b, c, d = ((low, low, depth), (high, low, depth), (high, high, depth), (low, high, depth))
    return ((a, b, c), (a, c, d))


def drawn(*surfaces) -> np.ndarray:
    return rasterise(surfaces, SIZE, SIZE)


class TestATriangle:
    @pytest.mark.parametrize("side", [1, 3, 17, 60])
    def test_covers_its_pixels_without_gaps(self, side):
        image = drawn(surface(*square(2, 2 + side, 0.0)))
        assert (image[2 : 2 + side, 2 : 2 + side] == (*RED, 255)).all()
        assert np.count_nonzero(image[..., 3]) == side * side

    def test_is_drawn_from_both_sides(self):
        (a, b, c), _ = square(2, 20, 0.0)
        np.testing.assert_array_equal(drawn(surface((a, b, c))), drawn(surface((a, c, b))))

    def test_may_reach_over_the_edges_or_be_beyond_them(self):
        assert (drawn(surface(*square(-100, 200, 0.0))) == (*RED, 255)).all()
        assert not drawn(surface(*square(200, 300, 0.0))).any()

    def test_without_an_area_is_nothing(self):
        assert not drawn(surface(((1, 1, 0), (9, 9, 0), (5, 5, 0)))).any()


class TestDepth:
    def test_decides_whatever_the_order(self):
        near, far = surface(*square(10, 50, 2.0)), surface(*square(10, 50, 1.0), color=BLUE)
        for order in ((near, far), (far, near)):
            assert tuple(drawn(*order)[30, 30]) == (*RED, 255)

    def test_decides_pixel_by_pixel_where_two_reach_through_each_other(self):
        a, b, c, d = ((0, 0, 0), (SIZE, 0, 10), (SIZE, SIZE, 10), (0, SIZE, 0))
        image = drawn(surface((a, b, c), (a, c, d)), surface(*square(0, SIZE, 5.0), color=BLUE))
        assert (image[:, : SIZE // 2 - 1, 2] == 255).all()
        assert (image[:, SIZE // 2 + 1 :, 0] == 255).all()

    def test_holds_for_points(self):
        dot = surface(points=[(30, 30, 2.0)], color=BLUE)
        assert tuple(drawn(dot, surface(*square(10, 50, 1.0)))[30, 30]) == (*BLUE, 255)
        assert tuple(drawn(dot, surface(*square(10, 50, 3.0)))[30, 30]) == (*RED, 255)


class TestWhatIsTranslucent:
    def test_lets_through_what_is_behind(self):
        image = drawn(surface(*square(10, 50, 2.0), opacity=0.5), surface(*square(10, 30, 1.0), color=BLUE))
        assert image[20, 20].tolist() == [128, 0, 128, 255]
        assert image[40, 40].tolist() == [255, 0, 0, 128]

    def test_is_hidden_by_what_is_before(self):
        image = drawn(surface(*square(10, 50, 1.0), opacity=0.5), surface(*square(10, 50, 2.0), color=BLUE))
        assert image[20, 20].tolist() == [*BLUE, 255]


class TestAPng:
    def test_is_read_as_it_was_written(self):
        reader = pytest.importorskip("matplotlib.image")
        image = np.random.default_rng(3).integers(0, 256, (5, 7, 4), dtype=np.uint8)
        np.testing.assert_array_equal(np.round(255 * reader.imread(io.BytesIO(png_bytes(image)))), image)
