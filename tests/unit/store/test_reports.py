"""Looking inside: relations, samples, snapshots and the tree."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from armillary import World, seconds
from armillary.errors import (
    AfterHistory,
    AmbiguousPath,
    InvalidArgument,
    InvalidStamp,
    NotConnected,
    UnknownFrame,
)
from unit.kit import STILL, drive, moved, x_of

COVARIANCE = np.diag([0.01, 0.02, 0.03, 0.001, 0.002, 0.003])


def only(items):
    (item,) = items
    return item


class TestRelations:
    @pytest.fixture
    def timed(self, clock):
        with World(clock=clock) as world:
            clock.ns = seconds(10)
            yield world

    def test_have_rate_age_and_span(self, timed):
        drive(timed, 5, 5.25, 5.5, 6)
        info = only(timed.relations())
        assert (info.of, info.in_frame, info.source, info.kind) == ("robot", "map", "", "sampled")
        assert (info.samples, info.first, info.last) == (4, seconds(5), seconds(6))
        assert (info.rate_hz, info.span_s, info.age_s) == (3.0, 1.0, 4.0)

    def test_age_by_the_clock_of_the_world(self, timed, clock):
        drive(timed, 5)
        clock.ns = seconds(12.5)
        assert only(timed.relations()).age_s == 7.5
        clock.ns = seconds(4)
        assert only(timed.relations()).age_s == -1.0

    def test_have_no_rate_with_one_sample(self, timed):
        drive(timed, 5)
        info = only(timed.relations())
        assert (info.samples, info.rate_hz, info.span_s, info.age_s) == (1, None, 0.0, 5.0)

    def test_that_are_fixed_have_no_samples(self, timed):
        timed.fix(of="cup", in_frame="map", transform=STILL, at=seconds(3), source="me")
        info = only(timed.relations())
        assert (info.kind, info.source, info.samples, info.first, info.last) == ("fixed", "me", 0, None, None)
        assert (info.rate_hz, info.span_s, info.age_s) == (None, 0.0, None)

    def test_that_were_cleared_stay_and_are_empty(self, timed):
        drive(timed, 5, 6)
        timed.clear()
        info = only(timed.relations())
        assert (info.kind, info.samples, info.first, info.last, info.age_s) == ("sampled", 0, None, None, None)

    def test_that_were_fixed_and_then_sampled_have_samples(self, timed):
        timed.fix(of="robot", in_frame="map", transform=STILL)
        drive(timed, 5, 6)
        info = only(timed.relations())
        assert (info.kind, info.samples, info.first, info.last) == ("sampled", 2, seconds(5), seconds(6))

    def test_are_one_for_each_parent_and_source(self, timed):
        drive(timed, 1, source="a")
        drive(timed, 1, source="b")
        drive(timed, 2, in_frame="odom", source="a")
        found = {(info.of, info.in_frame, info.source) for info in timed.relations()}
        assert found == {("robot", "map", "a"), ("robot", "map", "b"), ("robot", "odom", "a")}

    def test_of_an_empty_world_are_none(self, world):
        assert world.relations() == ()

    def test_cannot_be_changed(self, world):
        drive(world, 1)
        with pytest.raises(AttributeError):
            only(world.relations()).samples = 9


class TestSamples:
    def test_come_back_as_they_were_given(self, world):
        drive(world, 3, 1, 2)
        kept = world.samples(of="robot", in_frame="map")
        assert len(kept) == 3
        assert kept.stamps.tolist() == [seconds(1), seconds(2), seconds(3)]
        assert kept.transforms.tolist() == [moved(t).xyz_wxyz.tolist() for t in (1, 2, 3)]
        assert (kept.stamps.dtype, kept.transforms.dtype) == (np.int64, np.float64)

    @pytest.mark.parametrize(
        ("between", "expected"),
        [
            ({}, [1, 2, 3, 4]),
            ({"start": seconds(2)}, [2, 3, 4]),
            ({"end": seconds(3)}, [1, 2, 3]),
            ({"start": seconds(2), "end": seconds(3)}, [2, 3]),
            ({"start": seconds(2) + 1, "end": seconds(3) - 1}, []),
            ({"start": seconds(9)}, []),
            ({"start": seconds(3), "end": seconds(2)}, []),
            ({"start": np.int64(seconds(4)), "end": None}, [4]),
        ],
    )
    def test_are_cut_with_both_ends_included(self, world, between, expected):
        drive(world, 1, 2, 3, 4)
        kept = world.samples(of="robot", in_frame="map", **between)
        assert kept.stamps.tolist() == [seconds(t) for t in expected]
        assert kept.transforms.shape == (len(expected), 7)

    def test_have_covariances_with_nan_where_unknown(self, world):
        drive(world, 1)
        drive(world, 2, covariance=COVARIANCE)
        kept = world.samples(of="robot", in_frame="map")
        assert np.isnan(kept.covariances[0]).all()
        np.testing.assert_allclose(kept.covariances[1], COVARIANCE)

    def test_have_no_covariances_where_none_is_known(self, world):
        drive(world, 1, 2)
        assert world.samples(of="robot", in_frame="map").covariances is None

    def test_do_not_show_the_default_covariance_as_measured(self):
        world = World(default_covariance=COVARIANCE)
        drive(world, 1)
        assert world.samples(of="robot", in_frame="map").covariances is None

    def test_cannot_be_changed(self, world):
        drive(world, 1, covariance=COVARIANCE)
        kept = world.samples(of="robot", in_frame="map")
        for array in (kept.stamps, kept.transforms, kept.covariances):
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0

    def test_are_a_copy(self, world):
        drive(world, 1)
        kept = world.samples(of="robot", in_frame="map")
        drive(world, 2)
        world.clear()
        assert kept.stamps.tolist() == [seconds(1)]

    def test_of_a_fixed_relation_are_none(self, world):
        world.fix(of="cup", in_frame="map", transform=STILL)
        assert len(world.samples(of="cup", in_frame="map")) == 0

    def test_belong_to_one_source(self, world):
        drive(world, 1, source="a")
        assert len(world.samples(of="robot", in_frame="map")) == 1
        drive(world, 1, 2, source="b")
        assert len(world.samples(of="robot", in_frame="map", source="b")) == 2

    @pytest.mark.parametrize(
        ("asked", "kind", "sentence"),
        [
            ({"of": "robott"}, UnknownFrame, "Did you mean 'robot'"),
            ({"of": "map", "in_frame": "robot"}, InvalidArgument, "world.relations\\(\\) lists what there is"),
            ({"source": "nobody"}, InvalidArgument, "No source 'nobody' places 'robot' directly in 'map'"),
            ({"start": 1.5}, InvalidStamp, r"Pass seconds\(1.5\)"),
            ({"end": "now"}, InvalidStamp, "integer nanoseconds"),
        ],
    )
    def test_that_nobody_gave_are_refused(self, world, asked, kind, sentence):
        drive(world, 1)
        with pytest.raises(kind, match=sentence):
            world.samples(**({"of": "robot", "in_frame": "map"} | asked))


class TestASnapshot:
    @pytest.fixture
    def kitchen(self, world):
        drive(world, 1, 2, of="robot")
        drive(world, 1, 3, of="cart")
        world.fix(of="camera", in_frame="robot", transform=moved(0, 1))
        world.fix(of="table", in_frame="map", transform=moved(5))
        world.add_frame("moon")
        return world

    def test_with_a_stamp_sees_all_at_that_instant(self, kitchen):
        seen = kitchen.snapshot(in_frame="map", at=seconds(1.5))
        assert {name: transform.translation[0] for name, transform in seen.items()} == {
            "robot": 1.5,
            "map": 0.0,
            "cart": 1.5,
            "camera": 1.5,
            "table": 5.0,
        }
        assert dict(seen.stamps) == dict.fromkeys(["robot", "map", "cart", "camera"], seconds(1.5)) | {"table": None}

    def test_of_the_latest_sees_each_when_it_was_last_seen(self, kitchen):
        stamps = kitchen.snapshot(in_frame="map").stamps
        assert stamps["robot"] == stamps["camera"] == seconds(2)
        assert stamps["cart"] == seconds(3)
        assert stamps["table"] is None

    def test_equals_the_single_answers(self, kitchen):
        seen = kitchen.snapshot(in_frame="camera", at=seconds(1.25))
        for name, transform in seen.items():
            assert transform.is_close(kitchen.pose(of=name, in_frame="camera", at=seconds(1.25)).transform)

    def test_lists_what_is_missing_and_why(self, kitchen):
        missing = kitchen.snapshot(in_frame="map", at=seconds(2.5)).missing
        assert {name: type(error) for name, error in missing.items()} == {
            "robot": AfterHistory,
            "camera": AfterHistory,
            "moon": NotConnected,
        }
        assert missing["camera"].edge == ("robot", "map", "")
        assert missing["moon"].of == "moon"

    def test_names_contested_frames_as_missing(self, kitchen):
        kitchen.fix(of="table", in_frame="map", transform=STILL, source="other")
        assert isinstance(kitchen.snapshot(in_frame="map").missing["table"], AmbiguousPath)

    def test_lists_what_was_held(self, kitchen):
        seen = kitchen.snapshot(in_frame="map", at=seconds(2.5), outside="hold")
        assert seen.held == {"robot", "camera"}
        assert seen["robot"] == moved(2)

    def test_is_a_mapping(self, kitchen):
        seen = kitchen.snapshot(in_frame="map", at=seconds(1))
        assert len(seen) == len(list(seen)) == 5
        assert "robot" in seen
        assert seen.get("moon") is None
        with pytest.raises(KeyError):
            seen["moon"]

    def test_gives_all_values_and_one_array_in_the_order_of_its_names(self, world):
        for i, name in enumerate(("cup", "table", "base")):
            world.fix(of=name, in_frame="map", transform=moved(i + 1))
        snapshot = world.snapshot(in_frame="map")
        assert list(snapshot.values()) == [snapshot[name] for name in snapshot]
        assert list(snapshot.items()) == list(zip(snapshot, snapshot.values(), strict=True))
        assert snapshot["cup"] in snapshot.values()
        assert snapshot.xyz_wxyz().tolist() == snapshot.xyz_wxyz(list(snapshot)).tolist()

    def test_does_not_change_when_the_world_does(self, kitchen):
        seen = kitchen.snapshot(in_frame="map")
        before = dict(seen), dict(seen.stamps), set(seen.missing)
        drive(kitchen, 9)
        kitchen.remove_frame("table")
        kitchen.add_frame("sun")
        assert (dict(seen), dict(seen.stamps), set(seen.missing)) == before

    def test_can_be_compared(self, kitchen):
        assert kitchen.snapshot(in_frame="map") == kitchen.snapshot(in_frame="map")
        assert kitchen.snapshot(in_frame="map") != kitchen.snapshot(in_frame="table")

    def test_cannot_be_changed(self, kitchen):
        seen = kitchen.snapshot(in_frame="map")
        for mapping in (seen, seen.missing, seen.stamps):
            with pytest.raises(TypeError):
                mapping["robot"] = 1

    def test_prints_its_size(self, kitchen):
        assert repr(kitchen.snapshot(in_frame="map")) == "Snapshot(5 frames in map, 1 missing)"

    def test_of_an_unknown_frame_is_refused(self, kitchen):
        with pytest.raises(UnknownFrame):
            kitchen.snapshot(in_frame="mapp")

    def test_after_removals_names_the_right_frames(self, kitchen):
        kitchen.remove_frame("robot", subtree=True)
        kitchen.fix(of="lamp", in_frame="map", transform=moved(7))
        kitchen.fix(of="door", in_frame="map", transform=moved(8))
        seen = kitchen.snapshot(in_frame="map")
        assert {name: x_of(kitchen.pose(of=name, in_frame="map")) for name in seen} == {
            name: float(transform.translation[0]) for name, transform in seen.items()
        }
        assert set(seen) == {"map", "cart", "table", "lamp", "door"}


class TestTheTree:
    def test_of_an_empty_world_is_a_note(self, world):
        assert str(world.tree()) == "(no frames)"

    def test_draws_branches_and_notes(self, world):
        drive(world, 1, 1.5, 2)
        world.fix(of="camera", in_frame="robot", transform=STILL, source="urdf")
        drive(world, 1, of="arm", in_frame="robot")
        world.fix(of="table", in_frame="map", transform=STILL)
        assert str(world.tree()).splitlines() == [
            "map",
            "├── robot  [3 samples, 2 Hz]",
            "│   ├── camera  [fixed by 'urdf']",
            "│   └── arm  [1 sample]",
            "└── table  [fixed]",
        ]

    def test_draws_every_tree(self, world):
        world.add_frame("moon", "sun")
        assert str(world.tree()) == "moon\nsun"
        assert world.tree().roots == ("moon", "sun")

    def test_names_the_sources_that_contest_a_frame(self, world):
        world.fix(of="cup", in_frame="table", transform=STILL, source="left")
        world.fix(of="cup", in_frame="tray", transform=STILL, source="right")
        assert "cup  contested by 'left', 'right'" in str(world.tree()).splitlines()

    def test_names_the_sources_that_contest_a_frame_in_a_contested_one(self, world):
        for source in ("left", "right"):
            world.fix(of="table", in_frame="map", transform=STILL, source=source)
            world.fix(of="cup", in_frame="table", transform=STILL, source=source)
        assert str(world.tree()).splitlines() == [
            "table  contested by 'left', 'right'",
            "map",
            "cup  contested by 'left', 'right'",
        ]

    def test_with_a_preference_shows_the_preferred_source(self, world):
        world.fix(of="cup", in_frame="table", transform=STILL, source="left")
        world.fix(of="cup", in_frame="tray", transform=STILL, source="right")
        world.prefer(of="cup", source="right")
        assert str(world.tree()) == "table\ntray\n└── cup  [fixed by 'right']"

    def test_before_anybody_spoke_is_not_contested(self, world):
        world.fix(of="cup", in_frame="table", transform=STILL, source="left", at=seconds(5))
        world.fix(of="cup", in_frame="tray", transform=STILL, source="right", at=seconds(9))
        assert "contested" not in str(world.tree(at=seconds(1)))
        assert "contested" in str(world.tree(at=seconds(9)))

    def test_is_of_one_time(self, world):
        drive(world, 1, 2, of="cup", in_frame="table")
        drive(world, 3, 4, of="cup", in_frame="tray")
        assert world.tree(at=seconds(2)).parents["cup"] == ("table", "")
        assert world.tree(at=seconds(3)).parents["cup"] == ("tray", "")
        assert world.tree().children("tray") == ("cup",)

    def test_draws_frames_that_turned_round(self, world):
        drive(world, 1, 5, of="a", in_frame="b")
        drive(world, 6, 8, of="b", in_frame="a")
        assert str(world.tree(at=seconds(3))).splitlines()[0] == "b"
        assert str(world.tree(at=seconds(7))).splitlines()[0] == "a"
        assert len(str(world.tree()).splitlines()) == 2

    def test_of_a_long_chain_is_drawn(self, world):
        for parent, child in pairwise(f"f{i}" for i in range(1500)):
            world.fix(of=child, in_frame=parent, transform=STILL)
        assert len(str(world.tree()).splitlines()) == 1500

    @pytest.mark.parametrize("at", [1.5, "now", None])
    def test_at_no_time_is_refused(self, world, at):
        with pytest.raises((InvalidStamp, TypeError)):
            world.tree(at=at)
