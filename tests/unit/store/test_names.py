"""What a frame may be called, and what looks like a typo."""

from __future__ import annotations

import unicodedata
import warnings

import pytest

from armillary import World
from armillary.errors import InvalidName, SuspiciousName, UnknownFrame
from armillary.scene import Fix
from armillary.transforms import check_name
from unit.kit import STILL

COMPOSED = unicodedata.normalize("NFC", "küche")
DECOMPOSED = unicodedata.normalize("NFD", "küche")


class TestAName:
    @pytest.mark.parametrize("name", ["map", "robot/base_link", "3", "厨房", "camera 2", "a-b", "é", "🦾", "x" * 3000])
    def test_may_be_any_text(self, world, name):
        world.fix(of=name, in_frame="world", transform=STILL)
        assert world.frames() == (name, "world")
        assert world.pose(of=name, in_frame="world").of == name

    @pytest.mark.parametrize(
        ("name", "sentence"),
        [
            ("", "cannot be empty. Name the frame"),
            ("/map", "begins with '/'. Drop it: 'map'"),
            ("//map", "Drop it: 'map'"),
            ("/", "Drop it: 'map'"),
            ("a\nb", "control character. Use letters"),
            ("a\x00b", "control character"),
            ("a\x7f", "control character"),
            ("\ud800", "control character"),
            (None, "is a str, got None"),
            (5, "is a str, got 5"),
            (b"map", "is a str, got b'map'"),
            (["map"], "is a str, got"),
        ],
    )
    def test_is_refused_with_a_hint(self, name, sentence):
        with pytest.raises(InvalidName) as caught:
            check_name(name)
        assert sentence in str(caught.value)

    @pytest.mark.parametrize("name", ["", "/map", "a\nb", "\ud800", 5, ["map"]])
    @pytest.mark.parametrize("role", ["of", "in_frame"])
    def test_is_checked_wherever_it_is_given(self, world, name, role):
        names = {"of": "cup", "in_frame": "map"} | {role: name}
        for refused in (
            lambda: world.fix(**names, transform=STILL),
            lambda: world.set_pose(**names, transform=STILL, at=0),
            lambda: world.set_poses(**names, transforms=[[0, 0, 0, 1, 0, 0, 0]], at=[0]),
            lambda: world.on_pose(print, **names),
            lambda: world.wait_for_pose(**names, timeout_s=0),
        ):
            with pytest.raises(InvalidName):
                refused()
        assert world.frames() == ()


class TestOneNameInTwoSpellings:
    @pytest.fixture
    def kitchen(self, world):
        world.fix(of=DECOMPOSED, in_frame="house", transform=STILL)
        world.fix(of="table", in_frame=COMPOSED, transform=STILL)
        return world

    def test_is_one_frame(self, kitchen):
        assert kitchen.frames() == (COMPOSED, "house", "table")

    def test_is_found_by_both(self, kitchen):
        assert kitchen.pose(of=DECOMPOSED, in_frame="table") == kitchen.pose(of=COMPOSED, in_frame="table")

    def test_is_answered_in_the_stored_one(self, kitchen):
        assert kitchen.pose(of=DECOMPOSED, in_frame="house").of == COMPOSED
        assert kitchen.snapshot(in_frame=DECOMPOSED).in_frame == COMPOSED

    def test_can_be_attached_by_both(self, kitchen):
        kitchen.fix(of="hall", in_frame="house", transform=STILL)
        kitchen.attach(of=DECOMPOSED, to="hall", at=5)
        assert kitchen.pose(of=COMPOSED, in_frame="hall", at=6).relations == ((COMPOSED, "hall", ""),)

    def test_has_its_samples_read_by_both(self, kitchen):
        kitchen.set_pose(of="cup", in_frame=COMPOSED, transform=STILL, at=3, source="camera")
        assert kitchen.samples(of="cup", in_frame=DECOMPOSED).stamps.tolist() == [3]

    def test_cannot_be_placed_in_itself(self, kitchen):
        with pytest.raises(ValueError, match="in itself"):
            kitchen.fix(of=COMPOSED, in_frame=DECOMPOSED, transform=STILL)

    def test_is_removed_by_both(self, kitchen):
        kitchen.remove_frame(DECOMPOSED, subtree=True)
        assert kitchen.frames() == ()  # nothing names the house any more


def warned(world, name):
    """Whether a new frame of that name was suspicious."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        world.fix(of=name, in_frame="map", transform=STILL)
    return [str(warning.message) for warning in caught if warning.category is SuspiciousName]


class TestANewNameOneTypoAway:
    @pytest.mark.parametrize(
        ("known", "new"),
        [
            ("gripper", "griper"),
            ("gripper", "grippper"),
            ("gripper", "gripped"),
            ("gripper", "girpper"),
            ("gripper", "rgipper"),
            ("gripper", "grippre"),
            ("left_gripper_tool", "left_griper_tool"),
            ("camera/optical", "camera/optcial"),
            ("arm2_elbow", "arm2_elbwo"),
            ("tool", "toool"),
            ("tools", "tool"),
            ("Gripper", "gripper"),
            ("küche", "kuche"),
        ],
    )
    def test_warns(self, world, known, new):
        world.add_frame(known)
        (sentence,) = warned(world, new)
        assert f"'{new}' is one typo away from the known '{known}'" in sentence
        assert f"world.add_frame('{new}')" in sentence

    @pytest.mark.parametrize(
        ("known", "new"),
        [
            ("camera_1", "camera_2"),
            ("joint1", "joint2"),
            ("wheel_fl", "wheel_fr"),
            ("imu", "emu"),
            ("a", "b"),
            ("tag7_left", "tag8_left"),
            ("gripper", "wrist"),
            ("gripper", "gripper_tool"),
            ("grippers_base", "gripper_bases"),
            ("link_1", "link_10"),
            ("left_arm", "right_arm"),
        ],
    )
    def test_is_quiet_where_names_are_meant_to_differ(self, world, known, new):
        world.add_frame(known)
        assert warned(world, new) == []

    def test_is_not_reported_for_a_declared_name(self, world):
        world.add_frame("gripper", "griper")
        assert warned(world, "griper") == []

    def test_is_reported_once(self, world):
        world.add_frame("gripper")
        assert [len(warned(world, "griper")) for _ in range(3)] == [1, 0, 0]

    def test_is_none_once_the_frame_it_resembled_is_removed(self, world):
        world.add_frame("gripper")
        world.remove_frame("gripper")
        assert warned(world, "griper") == []

    def test_is_found_beside_a_removed_one(self, world):
        world.add_frame("gripper")
        world.remove_frame("gripper")
        world.add_frame("gripped")
        (sentence,) = warned(world, "grippe")
        assert "the known 'gripped'" in sentence

    def test_is_found_however_many_were_added_and_removed(self, world):
        for i in range(12_000):
            world.add_frame(f"visitor{i}")
            world.remove_frame(f"visitor{i}")
        assert len(world.store.typos._names) <= 5000
        world.add_frame("camera")
        assert warned(world, "camra")

    def test_is_looked_for_among_the_first_thousands(self, world):
        world.add_frame("gripper", *(f"shelf{i}" for i in range(4_000)))
        world.add_frame(*(f"box{i}" for i in range(8_000)))
        assert len(world.store.typos._names) == 5000
        assert warned(world, "griper")

    @pytest.mark.parametrize("word", ["x", "word_"])
    def test_is_not_looked_for_in_a_name_of_many_lines(self, world, word):
        assert warned(world, word * 20_000) == []
        assert warned(world, word * 20_000 + "y") == []  # many minutes, if every letter were tried

    def test_points_at_the_line_that_used_it(self, world):
        world.add_frame("gripper")
        with pytest.warns(SuspiciousName) as caught:
            world.fix(of="griper", in_frame="map", transform=STILL)
        assert caught[0].filename == __file__

    def test_points_at_the_line_that_applied_it(self, world):
        world.add_frame("gripper")
        with pytest.warns(SuspiciousName) as caught:
            world.apply([Fix(of="griper", in_frame="map", transform=STILL)])
        assert caught[0].filename == __file__

    def test_that_is_made_an_error_stores_nothing(self, world):
        world.add_frame("gripper")
        for _ in range(2):
            with pytest.raises(SuspiciousName):
                world.fix(of="cup", in_frame="griper", transform=STILL)
        assert world.frames() == ("gripper",)

    def test_is_seen_however_often_old_names_are_declared(self, world):
        for _ in range(6000):
            world.add_frame("gripper")
        world.add_frame("camera")
        assert warned(world, "camra")

    def test_is_seen_behind_a_name_that_was_refused(self, world):
        world.add_frame("gripper")
        with pytest.raises(ValueError, match="in itself"), pytest.warns(SuspiciousName):
            world.fix(of="griper", in_frame="griper", transform=STILL)
        assert warned(world, "griper")


class TestAWorldOfDeclaredFrames:
    @pytest.fixture
    def strict(self):
        with World(frames="declared") as world:
            world.add_frame("map", "robot")
            yield world

    def test_takes_what_was_declared(self, strict):
        strict.fix(of="robot", in_frame="map", transform=STILL)
        assert strict.can_pose(of="robot", in_frame="map")

    @pytest.mark.parametrize("names", [{"of": "robott", "in_frame": "map"}, {"of": "robot", "in_frame": "maps"}])
    def test_refuses_what_was_not(self, strict, names):
        with pytest.raises(UnknownFrame, match="Did you mean"):
            strict.set_pose(**names, transform=STILL, at=0)
        with pytest.raises(UnknownFrame):
            strict.set_poses(**names, transforms=[[0, 0, 0, 1, 0, 0, 0]], at=[0])
        with pytest.raises(UnknownFrame):
            strict.fix(**names, transform=STILL)
        assert strict.frames() == ("map", "robot")
        assert strict.relations() == ()

    def test_never_warns(self, strict):
        strict.add_frame("robots")
        strict.fix(of="robots", in_frame="map", transform=STILL)


class TestDeclaringFrames:
    def test_twice_changes_nothing(self, world):
        world.add_frame("a", "b")
        world.add_frame("b", "a", "a")
        assert world.frames() == ("a", "b")

    def test_none_changes_nothing(self, world):
        world.add_frame()
        assert world.frames() == ()

    def test_declares_all_or_none(self, world):
        with pytest.raises(InvalidName):
            world.add_frame("a", "/b")
        assert world.frames() == ()
