"""What notebooks show of values: readable, small, and never more than text."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import numpy as np
import pytest

from armillary import Transform, World, seconds
from armillary.articulation import ArticulationModel, Variable, pose, rotation_about
from armillary.demos.models import mobile_manipulator

HOSTILE = """<script>alert("x")</script><img src=x onerror='y'>&amp;"""
PLAIN = {"div", "b", "table", "tr", "th", "td", "pre", "br"}
MOST_BYTES = 20_000


class Reader(HTMLParser):
    """Collects what a browser would see; fails on what is not closed."""

    def __init__(self):
        super().__init__()
        self.open, self.kinds, self.text, self.styles = [], set(), [], []

    def handle_starttag(self, tag, attrs):
        self.kinds.add(tag)
        self.styles += [value for _, value in attrs]
        assert {name for name, _ in attrs} <= {"style"}
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def shown(value):
    """The text that a notebook shows, where its HTML is sound and harmless."""
    html, reader = value._repr_html_(), Reader()
    reader.feed(html)
    reader.close()
    assert reader.open == []
    assert reader.kinds <= PLAIN
    assert not any("url" in style for style in reader.styles)
    assert len(html.encode()) < MOST_BYTES
    return " ".join(reader.text)


@pytest.fixture
def world():
    world = World("robot")
    world.fix(of="camera", in_frame="base", transform=Transform.from_xyz_rpy(xyz=(0.1, 0, 0.4), rpy=(0, 0.5, 0)))
    for t in (1, 2):
        shift = Transform.from_xyz_rpy(xyz=(t, 0, 0), rpy=(0, 0, 0))
        world.set_pose(of="base", in_frame="map", transform=shift, at=seconds(t), covariance=np.eye(6) * 0.01)
    return world


class TestWhatANotebookShows:
    def test_of_a_world_is_what_is_in_it(self, world):
        assert shown(world) == (
            "World 'robot' frames 3 relations 1 fixed, 1 sampled sources robot samples from 1 s to 2 s "
            "map └── base  [2 samples, 1 Hz by 'robot']     └── camera  [fixed by 'robot']"
        )

    def test_of_a_tree_is_the_tree(self, world):
        assert shown(world.tree()).startswith("3 frames map └── base")

    def test_of_a_pose_is_where_when_how_sure_and_from_what(self, world):
        text = shown(world.pose(of="camera", in_frame="map", at=seconds(1.5), outside="hold"))
        assert text.startswith("camera in map xyz 1.6, 0, 0.4 m rpy 0, 28.6479, 0 deg wxyz")
        assert "± xyz 0.110302, 0.119164, 0.109698 m ± turning 0.1, 0.1, 0.1 rad" in text
        assert text.endswith("at 1.5 s method sampled from camera in base by robot; base in map by robot")

    def test_of_a_twist_is_how_it_moves(self, world):
        text = shown(world.twist(of="camera", relative_to="map", at=seconds(1.5)))
        assert "relative to map" in text
        assert "linear 1, 0, 0 m/s angular 0, 0, 0 rad/s" in text
        assert "method differentiated" in text

    def test_of_a_transform_and_a_rotation_is_the_matrix(self):
        quarter = Transform.from_xyz_rpy(xyz=(1, 2, 3), rpy=(0, 0, np.pi / 2))
        assert shown(quarter).startswith("Transform 0 -1 0 1 1 0 0 2 0 0 1 3 0 0 0 1")
        assert shown(quarter.rotation).startswith("Rotation 0 -1 0 1 0 0 0 0 1 rpy 0, 0, 90 deg")
        assert quarter._repr_latex_().startswith(r"$\begin{bmatrix} 0 & -1 & 0 & 1 \\")

    def test_of_a_model_is_how_much_there_is_and_its_joints(self):
        model = ArticulationModel()
        model.add_robot(mobile_manipulator(), name="robot")
        assert re.search(r"links \d+ joints \d+ variables \d+ .* robot/joints/\w+  \[\w+\]", shown(model))

    def test_of_a_scene_is_who_is_in_whom(self, world):
        table = world.scene.add_group(parent=world.scene.root, attributes={"name": "table"}, at=seconds(1))
        world.scene.add_group(parent=table, attributes={"name": "cup"}, at=seconds(1))
        assert "table  [group]     cup  [group]" in shown(world.scene)
        assert "cup" in shown(world.scene.as_of(seconds(2)))


class TestANameThatIsHtml:
    @pytest.fixture
    def world(self):
        world = World(HOSTILE)
        world.set_pose(of=HOSTILE, in_frame="map", transform=Transform.identity(), at=1)
        world.set_pose(of=HOSTILE, in_frame="map", transform=Transform.identity(), at=2)
        world.scene.add_group(parent=world.scene.root, attributes={"name": HOSTILE}, at=1)
        return world

    def test_is_shown_as_it_is(self, world):
        pose_of_it = world.pose(of=HOSTILE, in_frame="map")
        twist_of_it = world.twist(of=HOSTILE, relative_to="map", at=1)
        for value in (world, world.tree(), pose_of_it, twist_of_it, world.scene):
            assert HOSTILE in shown(value)

    def test_is_shortened_where_it_is_long(self):
        world = World()
        world.fix(of="n" * 100_000, in_frame="map", transform=Transform.identity())
        assert "nnn ..." in shown(world)


class TestABigWorld:
    def test_is_shown_by_its_beginning(self):
        world = World()
        frames = [f"f{i}" for i in range(10_000)]
        world.add_frame(*frames)
        assert "frames 10000" in shown(world)
        assert "... and 9960 more" in shown(world)

    def test_is_shown_however_deep_it_is(self):
        world = World()
        for i in range(500):
            world.fix(of=f"f{i + 1}", in_frame=f"f{i}", transform=Transform.identity())
        assert "... and 461 more" in shown(world)
        assert "and 488 more" in shown(world.pose(of="f500", in_frame="f0"))


class TestAnExpression:
    def test_is_shown_as_a_formula(self):
        hinge = Variable("q")
        assert rotation_about((0, 0, 1), hinge)._repr_latex_().startswith(r"$\begin{bmatrix} \cos\left(q\right)")

    def test_that_fills_pages_is_left_to_its_text(self):
        arm = pose(rotation_about((0, 0, 1), Variable("q0")), (1, 0, 0))
        for i in range(1, 12):
            arm = arm @ pose(rotation_about((i % 2, 1, i % 3), Variable(f"joint_{i}")), (1, 0, 0))
        assert arm._repr_latex_() is None
