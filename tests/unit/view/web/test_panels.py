"""The HTML panels beside the view."""

from __future__ import annotations

import re
from html import unescape

import pytest

from armillary import LATEST, World, seconds
from armillary.view.web._layout import layout_of
from armillary.view.web._panels import inspect, inspection_html, matching_frames, tree_html
from armillary.view.web._timeline import Timeline
from unit.kit import FakeClock, drive, moved


@pytest.fixture
def kitchen():
    with World("kitchen", clock=FakeClock(seconds(2.5))) as world:
        drive(world, 1.0, 1.5, 2.0)
        world.fix(of="left camera", in_frame="robot", transform=moved(0, 0, 1))
        world.fix(of="right <camera>", in_frame="robot", transform=moved(0, 0, 1))
        world.scene.set_attributes("robot", {"maker": "us"}, at=seconds(1.0))
        yield world


def words(html: str) -> str:
    return unescape(" ".join(re.sub(r"<[^>]*>", " ", html).split()))


def tree_of(world: World, **look) -> str:
    return tree_html(world.tree(), layout_of(world, LATEST).frames.labels, own_name=world.name, **look)


class TestTheTree:
    def test_shows_every_frame_with_its_rate(self, kitchen):
        assert words(tree_of(kitchen)).startswith("map robot 3 samples, 2 Hz left camera")

    def test_shows_matches_and_their_ancestors(self, kitchen):
        shown = words(tree_of(kitchen, search="LEFT cam"))
        assert "left camera" in shown
        assert "map robot" in shown
        assert "right" not in shown

    def test_reports_that_nothing_is_found(self, kitchen):
        assert words(tree_of(kitchen, search="fridge")) == "no frame matches"

    def test_lets_no_name_be_html(self, kitchen):
        assert "<camera>" not in tree_of(kitchen)
        assert "right &lt;camera&gt;" in tree_of(kitchen)

    def test_stays_readable_with_very_many_frames(self, world):
        for i in range(500):
            world.fix(of=f"f{i:03}", in_frame="map", transform=moved(i))
        assert words(tree_of(world)).endswith("and 101 more: search for one")


class TestASearch:
    def test_finds_names_that_hold_all_words(self):
        names = {name: name for name in ("left gripper", "left camera", "gripper")}
        assert matching_frames(names, "gripper left") == ["left gripper"]
        assert matching_frames(names, " ") == list(names)


class TestAnInspection:
    def seen(self, world, frame, in_frame="map", at=LATEST) -> str:
        names = layout_of(world, LATEST).frames
        found = inspect(world, frame, names, in_frame=in_frame, at=at, timeline=Timeline())
        return words(inspection_html(found))

    def test_shows_pose_rate_age_and_attributes(self, kitchen):
        seen = self.seen(kitchen, "robot")
        for text in ("2.000 0.000 0.000", "Placed in map", "2 Hz", "500 ms", "3 over 1 s", "maker us"):
            assert text in seen

    def test_is_seen_from_any_frame_at_any_instant(self, kitchen):
        assert "-1.500 0.000 -1.000" in self.seen(kitchen, "map", in_frame="left camera", at=seconds(1.5))

    def test_reports_that_a_pose_is_held(self, kitchen):
        assert "for 7 s" in self.seen(kitchen, "robot", at=seconds(9.0))

    def test_reports_why_there_is_no_pose(self, kitchen):
        kitchen.fix(of="crater", in_frame="moon", transform=moved(1))
        assert "No chain of poses leads from 'crater' to 'map'" in self.seen(kitchen, "crater")

    def test_of_no_frame_has_a_hint(self):
        assert words(inspection_html(None)) == "Click on axes, or choose a frame."
