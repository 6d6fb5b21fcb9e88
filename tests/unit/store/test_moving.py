"""Frames that are attached, let go, and claimed by several."""

from __future__ import annotations

import pytest

from armillary import World, seconds
from armillary.errors import (
    AfterHistory,
    AmbiguousPath,
    BeforeHistory,
    InvalidArgument,
    InvalidName,
    InvalidStamp,
    NoSamples,
    NotConnected,
    SingleSample,
    UnknownFrame,
)
from unit.kit import STILL, drive, moved, x_of

ROBOT = {"of": "robot", "in_frame": "map"}


class TestAttaching:
    @pytest.fixture
    def kitchen(self, clock):
        clock.ns = seconds(10)
        world = World(clock=clock)
        world.fix(of="cup", in_frame="table", transform=moved(1))
        drive(world, 0, 8, of="hand", in_frame="table")
        return world

    def test_keeps_where_it_is(self, kitchen):
        kitchen.attach(of="cup", to="hand", at=seconds(4))
        assert x_of(kitchen.pose(of="cup", in_frame="table", at=seconds(4))) == pytest.approx(1.0)
        assert x_of(kitchen.pose(of="cup", in_frame="hand", at=seconds(7))) == pytest.approx(-3.0)

    def test_moves_with_its_parent_afterwards(self, kitchen):
        kitchen.attach(of="cup", to="hand", at=seconds(4))
        assert x_of(kitchen.pose(of="cup", in_frame="table", at=seconds(6))) == pytest.approx(3.0)

    def test_leaves_the_past_as_it_was(self, kitchen):
        kitchen.attach(of="cup", to="hand", at=seconds(4))
        assert kitchen.pose(of="cup", in_frame="table", at=seconds(3)).relations == (("cup", "table", ""),)

    def test_without_a_date_takes_where_it_was_last_seen(self, kitchen):
        kitchen.attach(of="cup", to="hand")
        assert x_of(kitchen.pose(of="cup", in_frame="hand", at=seconds(11))) == pytest.approx(-7.0)
        assert kitchen.tree(at=seconds(9)).parents["cup"] == ("table", "")

    def test_and_detaching_is_a_round_trip(self, kitchen):
        kitchen.attach(of="cup", to="hand", at=seconds(2))
        kitchen.detach(of="cup", to="table", at=seconds(6))
        assert x_of(kitchen.pose(of="cup", in_frame="table", at=seconds(99))) == pytest.approx(5.0)

    def test_has_the_world_as_source_and_is_preferred(self, kitchen):
        kitchen.fix(of="plate", in_frame="table", transform=STILL, source="camera")
        kitchen.attach(of="plate", to="hand", at=seconds(4))
        assert kitchen.pose(of="plate", in_frame="hand", at=seconds(5)).relations == (("plate", "hand", ""),)

    def test_is_a_rival_where_it_is_not_to_be_preferred(self, kitchen):
        kitchen.attach(of="cup", to="hand", at=seconds(4), source="planner", prefer=False)
        with pytest.raises(AmbiguousPath):
            kitchen.pose(of="cup", in_frame="table", at=seconds(5))

    def test_in_the_empty_name_means_that_name(self):
        world = World("me")
        world.fix(of="cup", in_frame="table", transform=STILL, source="camera")
        world.fix(of="hand", in_frame="table", transform=STILL)
        world.attach(of="cup", to="hand", at=5, source="")
        assert {info.source for info in world.relations() if info.of == "cup"} == {"camera", ""}

    @pytest.mark.parametrize(
        ("options", "kind"),
        [
            ({"of": "cupp"}, UnknownFrame),
            ({"to": "handd"}, UnknownFrame),
            ({"to": "cup"}, InvalidArgument),
            ({"of": 5}, InvalidName),
            ({"at": 1.5}, InvalidStamp),
            ({"at": seconds(9)}, AfterHistory),
            ({"at": seconds(-1)}, BeforeHistory),
            ({"to": "moon"}, NotConnected),
            ({"source": 5}, InvalidName),
            ({"outside": "guess"}, InvalidArgument),
        ],
    )
    def test_that_is_refused_changes_nothing(self, kitchen, options, kind):
        kitchen.add_frame("moon")
        before = str(kitchen.tree()), len(kitchen.relations())
        for call in (kitchen.attach, kitchen.detach):
            with pytest.raises(kind):
                call(**({"of": "cup", "to": "hand", "at": seconds(4)} | options))
        assert (str(kitchen.tree()), len(kitchen.relations())) == before

    def test_outside_the_history_is_an_option(self, kitchen):
        kitchen.attach(of="cup", to="hand", at=seconds(9), outside="hold")
        assert x_of(kitchen.pose(of="cup", in_frame="hand", at=seconds(9))) == pytest.approx(-7.0)


class TestARemovedMove:
    @pytest.fixture
    def cup(self, world):
        """On the shelf always, in the hand from 1 s, on the shelf again from 6 s; then all samples are forgotten."""
        world.fix(of="cup", in_frame="shelf", transform=STILL)
        world.set_pose(of="cup", in_frame="hand", transform=moved(1), at=seconds(1))
        world.set_pose(of="cup", in_frame="shelf", transform=moved(2), at=seconds(6))
        world.clear()
        return world

    def test_still_ends_what_was_before(self, cup):
        with pytest.raises(NoSamples):
            cup.pose(of="cup", in_frame="hand", at=seconds(2))

    def test_is_replaced_by_a_sample_of_its_instant(self, cup):
        cup.set_pose(of="cup", in_frame="hand", transform=moved(3), at=seconds(6))
        with pytest.raises(SingleSample):  # one run in the hand from 1 s on, not two
            cup.pose(of="cup", in_frame="hand", at=seconds(2))
        assert x_of(cup.pose(of="cup", in_frame="hand")) == 3.0


class TestAPoseThatIsFixedBesideSamples:
    """Whatever was replaced at its instant stays replaced, also when the source fixes the frame once more."""

    def test_keeps_the_samples_that_replaced_another(self, world):
        world.fix(of="dock", in_frame="map", transform=moved(9))
        world.fix(of="robot", in_frame="dock", transform=STILL, at=seconds(1))
        drive(world, 8, 2, 1)
        world.fix(of="robot", in_frame="dock", transform=STILL, at=seconds(6))
        assert [x_of(world.pose(**ROBOT, at=seconds(at))) for at in (1, 1.5, 2, 6, 7)] == [1.0, 1.5, 2.0, 9.0, 9.0]

    def test_is_all_there_is_where_it_replaced_the_last_sample(self):
        world = World(history=seconds(3))
        drive(world, 1, 5)
        world.fix(**ROBOT, transform=moved(9), at=seconds(5))
        assert x_of(world.pose(**ROBOT, at=seconds(2), outside="hold")) == 9.0
        with pytest.raises(BeforeHistory):
            world.pose(**ROBOT, at=seconds(2))


class TestRivals:
    @pytest.fixture
    def rivals(self, world):
        for x, who in ((1, "left"), (2, "right")):
            world.set_pose(**ROBOT, transform=moved(x), at=seconds(1), source=who)
        return world

    def test_are_not_chosen_from(self, rivals):
        with pytest.raises(AmbiguousPath):
            rivals.pose(**ROBOT)
        assert not rivals.can_pose(**ROBOT)

    @pytest.mark.parametrize(("who", "x"), [("left", 1), ("right", 2)])
    def test_are_decided_by_a_preference(self, rivals, who, x):
        rivals.prefer(of="robot", source=who)
        assert x_of(rivals.pose(**ROBOT)) == x

    def test_are_rivals_again_when_it_is_taken_back(self, rivals):
        rivals.prefer(of="robot", source="left")
        rivals.prefer(of="robot", source="right")
        assert x_of(rivals.pose(**ROBOT)) == 2
        rivals.prefer(of="robot", source=None)
        with pytest.raises(AmbiguousPath):
            rivals.pose(**ROBOT)

    def test_before_the_chosen_one_spoke_are_who_did(self, world):
        drive(world, 1, 2, 3, source="early")
        world.fix(**ROBOT, transform=moved(9), source="late", at=seconds(2))
        world.prefer(of="robot", source="late")
        assert x_of(world.pose(**ROBOT, at=seconds(1.5))) == 1.5
        assert x_of(world.pose(**ROBOT, at=seconds(2.5))) == 9

    @pytest.mark.parametrize(
        ("options", "kind", "sentence"),
        [
            (
                {"source": "nobody"},
                InvalidArgument,
                "No source 'nobody' places frame 'robot'; these do: 'left', 'right'",
            ),
            ({"of": "map", "source": "left"}, InvalidArgument, "nobody does yet"),
            ({"of": "robott"}, UnknownFrame, "Did you mean"),
            ({"source": 5}, InvalidName, "source must be a str"),
        ],
    )
    def test_are_not_decided_by_a_refused_preference(self, rivals, options, kind, sentence):
        with pytest.raises(kind, match=sentence):
            rivals.prefer(**({"of": "robot", "source": "left"} | options))
        assert not rivals.can_pose(**ROBOT)
