"""Light and dark colours."""

from __future__ import annotations

import re

import pytest

from armillary import Transform, World
from armillary.errors import InvalidArgument
from armillary.view import tree_svg
from armillary.view._drawing import Circle, Drawing, Line, Text, in_theme
from armillary.view.theme import INK, PAPER, TRACK_COLORS

COLOR = re.compile("#[0-9a-f]{6}")


@pytest.fixture
def world():
    small = World()
    small.set_pose(of="robot", in_frame="map", transform=Transform.identity(), at=0)
    return small


def luminance(color):
    """Return the relative luminance of an sRGB colour, as WCAG 2 defines it."""
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(color, paper):
    high, low = sorted((luminance(color), luminance(paper)), reverse=True)
    return (high + 0.05) / (low + 0.05)


class TestAPicture:
    def test_has_no_colour_of_light_paper_on_dark(self, world):
        light, dark = (set(COLOR.findall(tree_svg(world, theme=theme))) for theme in ("light", "dark"))
        assert len(light) == len(dark)
        assert not light & dark

    def test_differs_in_nothing_but_colours(self, world):
        light, dark = (COLOR.sub("", tree_svg(world, theme=theme)) for theme in ("light", "dark"))
        assert light == dark

    def test_keeps_the_colours_of_things(self):
        disc = Circle(center=(0, 0), radius=1, fill="#123456", outline="#123456")
        assert in_theme(Drawing(title="", size=(9, 9), shapes=[disc]), "dark").shapes == [disc]

    def test_refuses_a_theme_that_is_none(self, world):
        with pytest.raises(InvalidArgument, match="'light' or 'dark', got 'blue'"):
            tree_svg(world, theme="blue")


class TestEveryTheme:
    @pytest.mark.parametrize("theme", ["light", "dark"])
    def test_has_letters_and_tracks_that_stand_out(self, theme):
        text = Text(at=(0, 0), text="a", size=9, color=INK)
        tracks = [Line(points=((0, 0), (1, 1)), color=color) for color in TRACK_COLORS]
        painted = in_theme(Drawing(title="", size=(9, 9), shapes=[text, *tracks]), theme)
        assert (painted.paper == PAPER) is (theme == "light")
        assert contrast(painted.shapes[0].color, painted.paper) > 7.0
        assert min(contrast(line.color, painted.paper) for line in painted.shapes[1:]) > 2.0
