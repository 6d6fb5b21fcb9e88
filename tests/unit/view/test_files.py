"""Pictures as PNG files."""

from __future__ import annotations

import struct
import sys

import pytest

from armillary import Transform, World
from armillary.errors import MissingExtra
from armillary.view import draw_tracks, draw_tree
from armillary.view._drawing import Circle, Drawing, Line, Polygon, Rectangle, Text
from armillary.view._files import write_drawing


@pytest.fixture
def world():
    small = World()
    small.set_pose(of="$robot$", in_frame="map", transform=Transform.identity(), at=0)
    return small


def size_of(png):
    content = png.read_bytes()
    assert content.startswith(b"\x89PNG")
    return struct.unpack(">II", content[16:24])


class TestPicturesAsPng:
    @pytest.fixture(autouse=True)
    def matplotlib(self):
        return pytest.importorskip("matplotlib.figure")

    def test_are_twice_as_large_as_the_drawing(self, tmp_path):
        shapes = [
            Line(points=((0, 0), (9, 9)), color="#000000"),
            Polygon(points=((0, 0), (9, 9), (0, 9)), fill="#ffffff", outline="#000000"),
            Circle(center=(5, 5), radius=2, fill="#ffffff", outline="#000000"),
            Rectangle(corner=(5, 5), size=(20, 20), fill="#ffffff", outline="#000000"),
            Text(at=(5, 5), text="a", size=12, color="#000000"),
        ]
        drawing = Drawing(title="", size=(300, 200), shapes=shapes)
        assert size_of(write_drawing(drawing, tmp_path / "a.png")) == (600, 400)

    def test_of_a_huge_drawing_are_as_large_as_a_viewer_takes(self, tmp_path):
        drawing = Drawing(title="", size=(160_000, 200), shapes=[])
        assert size_of(write_drawing(drawing, tmp_path / "a.png"))[0] == 16_000

    def test_show_tree_and_tracks(self, world, tmp_path):
        draw_tree(world, tmp_path / "tree.png")
        draw_tracks(world, tmp_path / "tracks.PNG", of=("$robot$",), in_frame="map", at=[0])
        assert min(size_of(tmp_path / "tree.png") + size_of(tmp_path / "tracks.PNG")) > 100


class TestPicturesAsPngWithoutMatplotlib:
    def test_report_how_to_install_it(self, world, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        with pytest.raises(MissingExtra, match=r"pip install 'armillary\[view\]'"):
            draw_tree(world, tmp_path / "tree.png")
        assert not list(tmp_path.iterdir())
