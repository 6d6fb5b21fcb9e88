"""The picture of the frame tree."""

from __future__ import annotations

from itertools import combinations
from xml.etree import ElementTree as ET

import pytest

from armillary import Transform, World, seconds
from armillary.errors import InvalidArgument
from armillary.view import draw_tree, tree_svg

SVG = "{http://www.w3.org/2000/svg}"
HERE = Transform.identity()


@pytest.fixture
def kitchen():
    world = World("kitchen", clock=lambda: seconds(0.9))
    for i in range(5):
        world.set_pose(of="robot", in_frame="map", transform=HERE, at=seconds(0.1 * i))
    world.fix(of="camera", in_frame="robot", transform=HERE, source="urdf")
    world.fix(of="shelf", in_frame="map", transform=HERE)
    return world


def picture(world, **options):
    return ET.fromstring(tree_svg(world, **options))


def texts(root):
    return [element.text for element in root.iter(f"{SVG}text")]


def boxes(root):
    """Frame name to the (left, top, right, bottom) of its box."""
    rectangles = [box for box in root.iter(f"{SVG}rect") if "x" in box.attrib]
    names = [text.text for text in root.iter(f"{SVG}text") if text.get("font-weight") == "600"][1:]
    corners = [[float(box.get(key)) for key in ("x", "y", "width", "height")] for box in rectangles]
    return {name: (x, y, x + w, y + h) for name, (x, y, w, h) in zip(names, corners, strict=True)}


def meet(a, b):
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


class TestTheTreePicture:
    def test_names_every_frame_once(self, kitchen):
        shown = texts(picture(kitchen))
        assert [shown.count(name) for name in kitchen.frames()] == [1, 1, 1, 1]

    def test_reports_kind_rate_and_samples_of_every_edge(self, kitchen):
        shown = texts(picture(kitchen))
        assert shown.count("sampled, 10 Hz, 5 samples") == 1
        assert shown.count("fixed") == 2
        assert shown.count("by urdf") == 1

    def test_reports_how_old_an_edge_is_on_the_clock_of_the_world(self, kitchen):
        assert "0.5 s old" in texts(picture(kitchen))

    @pytest.mark.parametrize(
        ("age_s", "text"),
        [
            (0.0, "0 ms old"),
            (0.012, "12 ms old"),
            (0.2, "0.2 s old"),
            (99.0, "99 s old"),
            (600.0, "10 min old"),
            (86_400.0, "24 h old"),
            (-2.0, "2 s ahead"),
            (1e9, "12000 days old"),
        ],
    )
    def test_reports_ages_in_a_unit_one_can_grasp(self, age_s, text):
        world = World(clock=lambda: seconds(2e9))
        world.set_pose(of="robot", in_frame="map", transform=HERE, at=seconds(2e9 - age_s))
        assert text in texts(picture(world))

    def test_draws_one_line_per_edge(self, kitchen):
        assert len(list(picture(kitchen).iter(f"{SVG}polyline"))) == len(kitchen.relations())

    def test_puts_children_right_of_their_parent_and_parents_amid_their_children(self, kitchen):
        box = boxes(picture(kitchen))
        assert box["map"][2] < box["robot"][0]
        assert box["robot"][2] < box["camera"][0]
        assert min(box["robot"][1], box["shelf"][1]) < box["map"][1] < max(box["robot"][1], box["shelf"][1])

    def test_shows_the_tree_of_the_instant_asked_for(self, kitchen):
        kitchen.fix(of="cup", in_frame="robot", transform=HERE, at=seconds(0.1))
        kitchen.fix(of="cup", in_frame="shelf", transform=HERE, at=seconds(1))
        then = boxes(picture(kitchen, at=seconds(0.3)))
        later = boxes(picture(kitchen, at=seconds(2)))
        assert then["cup"][0] > then["robot"][2]
        assert later["cup"][0] > later["shelf"][2]
        assert "at 0.300 s" in " ".join(texts(picture(kitchen, at=seconds(0.3))))

    def test_points_at_a_contested_frame(self, kitchen):
        for source in ("left", "right"):
            kitchen.set_pose(of="cup", in_frame="map", transform=HERE, at=0, source=source)
        assert "contested by 'left', 'right'" in texts(picture(kitchen))

    def test_of_an_empty_world_has_a_note(self):
        assert "This world has no frames yet." in texts(picture(World()))


class TestANastyTree:
    @pytest.mark.parametrize("name", ["<b> & \"c\" 'd'", "]]>", "&amp;", "机器人", "$x_1$", "\u200f\uffff"])
    def test_with_such_a_name_is_still_xml(self, name):
        world = World()
        world.fix(of=name, in_frame="map", transform=HERE)
        assert name.replace("\uffff", "\ufffd") in texts(picture(world))

    def test_of_a_thousand_links_is_drawn(self):
        world = World()
        for i in range(1000):
            world.fix(of=f"link_{i + 1}", in_frame=f"link_{i}", transform=HERE)
        assert len(boxes(picture(world))) == 1001

    def test_of_many_branches_has_no_two_boxes_on_each_other(self):
        world = World()
        for i in range(1, 40):
            world.fix(of=f"f{i}", in_frame=f"f{(i - 1) // 3}", transform=HERE)
        drawn = list(boxes(picture(world)).values())
        overlaps = [(a, b) for a, b in combinations(drawn, 2) if meet(a, b)]
        assert len(drawn) == 40
        assert not overlaps

    def test_stays_on_its_paper(self, kitchen):
        for source in ("a_source_with_a_very_long_name", "another_source_with_a_very_long_name"):
            kitchen.set_pose(of="cup", in_frame="map", transform=HERE, at=0, source=source)
        root = picture(kitchen)
        assert max(box[2] for box in boxes(root).values()) < float(root.get("width"))
        assert max(box[3] for box in boxes(root).values()) < float(root.get("height"))


class TestDrawingToAFile:
    def test_writes_the_text_and_returns_its_path(self, kitchen, tmp_path):
        path = draw_tree(kitchen, tmp_path / "tree.svg")
        assert path == tmp_path / "tree.svg"
        assert path.read_text(encoding="utf-8") == tree_svg(kitchen)

    def test_is_a_method_of_the_world_too(self, kitchen, tmp_path):
        path = kitchen.draw_tree(tmp_path / "tree.svg", at=seconds(0.3), theme="dark")
        assert path.read_text(encoding="utf-8") == tree_svg(kitchen, at=seconds(0.3), theme="dark")

    @pytest.mark.parametrize("name", ["tree", "tree.pdf", "svg"])
    def test_refuses_an_ending_it_cannot_draw(self, kitchen, tmp_path, name):
        with pytest.raises(InvalidArgument, match=r"must end in \.svg or \.png"):
            draw_tree(kitchen, tmp_path / name)
        assert not list(tmp_path.iterdir())
