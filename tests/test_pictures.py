"""The pictures of the documentation, and what they are made of."""

from __future__ import annotations

import importlib.util
import math
import re
import subprocess
import sys
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from armillary.view._drawing import Line, Polygon
from armillary.view.theme import text_width

ROOT = Path(__file__).parent.parent
PICTURES = sorted((ROOT / "docs" / "pictures").glob("*.svg"))
SVG = "{http://www.w3.org/2000/svg}"
CLOSE_PX = 1e-9


def _picture_shapes():
    spec = importlib.util.spec_from_file_location("picture_shapes", ROOT / "tools" / "pictures" / "shapes.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


shapes = _picture_shapes()

pictures = pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.stem)


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """What the script draws today."""
    folder = tmp_path_factory.mktemp("pictures")
    subprocess.run([sys.executable, ROOT / "tools" / "pictures" / "draw.py", folder], check=True)
    return folder


def box(text):
    """Left, top, right, bottom of a text [px], in a broad font."""
    width, size = text_width(text.text, float(text.get("font-size"))), float(text.get("font-size"))
    left = float(text.get("x")) - {"start": 0.0, "middle": 0.5, "end": 1.0}[text.get("text-anchor")] * width
    bottom = float(text.get("y"))
    return left, bottom - 0.7 * size, left + width, bottom


def meet(a, b):
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


class TestThePictures:
    def test_are_those_that_the_script_draws(self, drawn):
        assert sorted(path.name for path in drawn.iterdir()) == [path.name for path in PICTURES]

    def test_are_all_shown_on_a_page_and_described(self):
        pages = [page.read_text(encoding="utf-8") for page in (ROOT / "docs").glob("*.md")]
        shown = [found for page in pages for found in re.findall(r"!\[(.+)\]\(pictures/(.+)\)", page)]
        assert sorted(name for _, name in shown) == [path.name for path in PICTURES]


@pictures
class TestEachPicture:
    def test_is_what_the_script_draws_today(self, path, drawn):
        today, stored = ((folder / path.name).read_text(encoding="utf-8") for folder in (drawn, path.parent))
        assert today == stored, "tools/pictures/draw.py draws it anew"

    def test_has_its_texts_on_the_sheet(self, path):
        root = ET.parse(path).getroot()
        width, height = float(root.get("width")), float(root.get("height"))
        boxes = {text.text: box(text) for text in root.iter(f"{SVG}text")}
        assert {
            text for text, (x, y, right, low) in boxes.items() if min(x, y) < 0 or right > width or low > height
        } == set()

    def test_has_no_text_on_another(self, path):
        boxes = [(text.text, box(text)) for text in ET.parse(path).getroot().iter(f"{SVG}text")]
        assert [(a[0], b[0]) for a, b in combinations(boxes, 2) if meet(a[1], b[1])] == []


class TestAVector:
    def test_ends_where_it_points_to(self):
        line, head = shapes.vector((10.0, 20.0), (110.0, 20.0), color="black")
        assert line.points[0] == (10.0, 20.0)
        assert head.points[0] == (110.0, 20.0)

    def test_is_nothing_but_its_head_where_it_is_short(self):
        (head,) = shapes.vector((0.0, 0.0), (3.0, 0.0), color="black")
        assert isinstance(head, Polygon)

    def test_is_nothing_at_all_where_it_has_no_length(self):
        assert list(shapes.vector((1.0, 1.0), (1.0, 1.0), color="black")) == []


class TestAnArc:
    @pytest.mark.parametrize(("sweep_rad", "end"), [(math.pi / 2, (0.0, -10.0)), (-math.pi / 2, (0.0, 10.0))])
    def test_turns_against_the_clock_for_positive_angles(self, sweep_rad, end):
        *_, head = shapes.turning((0.0, 0.0), 10.0, start_rad=0.0, sweep_rad=sweep_rad, color="black")
        assert head.points[0] == pytest.approx(end, abs=CLOSE_PX)


class TestABody:
    def test_has_an_outline_through_its_corners(self):
        corners = ((0.0, 0.0), (10.0, 0.0), (10.0, 10.0), (0.0, 10.0))
        assert set(corners) <= set(shapes.soft_outline(corners))


class TestAFrame:
    def test_has_axes_at_right_angles_y_upwards(self):
        heads = [shape.points[0] for shape in shapes.frame((0.0, 0.0), length=30.0) if isinstance(shape, Polygon)]
        assert heads == [pytest.approx((30.0, 0.0)), pytest.approx((0.0, -30.0), abs=CLOSE_PX)]


class TestAScale:
    def test_puts_metres_on_paper_y_upwards(self):
        assert shapes.Scale((100.0, 100.0), 50.0).at(1.0, 2.0) == (150.0, 0.0)


class TestABrokenLine:
    def test_stays_between_its_ends(self):
        parts = list(shapes.dashes((0.0, 0.0), (100.0, 0.0), color="black"))
        assert all(isinstance(part, Line) for part in parts)
        assert 0.0 <= min(x for part in parts for x, _ in part.points) < 1e-9
        assert 90.0 < max(x for part in parts for x, _ in part.points) <= 100.0
