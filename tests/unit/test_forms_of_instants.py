"""Instants in every common form: integers, datetime64, datetime, pandas timestamps, wherever one is taken."""

from __future__ import annotations

import datetime as dt
import math
import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from armillary import LATEST, Pose, World, seconds, stamp
from armillary.errors import AfterHistory, InvalidArgument, InvalidStamp
from armillary.errors.format import format_stamp
from armillary.scene import Box
from armillary.stamps import as_stamp, as_stamps, as_when
from unit.kit import STILL, drive, moved, run_python, x_of
from unit.test_hostile_input import CALLS, called, fresh_world

BERLIN = dt.timezone(dt.timedelta(hours=1))
FORMS = {
    "numpy integer": np.int64,
    "small numpy integer": np.array,
    "datetime64[s]": lambda ns: np.datetime64(ns // 10**9, "s"),
    "datetime64[us]": lambda ns: np.datetime64(ns // 10**3, "us"),
    "datetime64[ns]": lambda ns: np.datetime64(ns, "ns"),
    "datetime": lambda ns: dt.datetime.fromtimestamp(ns // 10**9, BERLIN),
    "time of ROS 2": lambda ns: SimpleNamespace(sec=ns // 10**9, nanosec=ns % 10**9),
    "time of ROS 1": lambda ns: SimpleNamespace(secs=ns // 10**9, nsecs=ns % 10**9),
    "time with numpy integers": lambda ns: SimpleNamespace(sec=np.int32(ns // 10**9), nanosec=np.uint32(ns % 10**9)),
    "Timestamp": lambda ns: pd.Timestamp(ns, unit="ns"),
    "Timestamp with a zone": lambda ns: pd.Timestamp(ns, unit="ns", tz="Europe/Berlin"),
}
BATCHES = {
    "uint64": lambda ns: np.array(ns, dtype=np.uint64),
    "int32 list": lambda ns: [int(one) for one in ns],
    "datetime64[s]": lambda ns: np.array(ns).astype("datetime64[ns]").astype("datetime64[s]"),
    "datetime64[us]": lambda ns: np.array(ns).astype("datetime64[ns]").astype("datetime64[us]"),
    "datetime64[ns]": lambda ns: np.array(ns).astype("datetime64[ns]"),
    "list of datetimes": lambda ns: [dt.datetime.fromtimestamp(one // 10**9, BERLIN) for one in ns],
    "tuple of integers and datetimes": lambda ns: (ns[0], *(np.datetime64(one, "ns") for one in ns[1:])),
    "Series": lambda ns: pd.Series(pd.to_datetime(ns, unit="ns")),
    "Series of microseconds": lambda ns: pd.Series(pd.to_datetime(ns, unit="ns")).astype("datetime64[us]"),
    "Series with a zone": lambda ns: pd.Series(pd.to_datetime(ns, unit="ns", utc=True)).dt.tz_convert("Europe/Berlin"),
    "Series of integers": lambda ns: pd.Series(ns, dtype="Int64"),
    "DatetimeIndex": lambda ns: pd.to_datetime(ns, unit="ns"),
    "DatetimeIndex with a zone": lambda ns: pd.to_datetime(ns, unit="ns", utc=True).tz_convert("Asia/Tokyo"),
}
INSTANTS = {"at", "of_at", "start", "end", "to"}


def with_instants() -> list[tuple[str, str]]:
    """Methods of World, each with an argument that is one instant."""
    found = [(name, key) for name, arguments in CALLS.items() for key in arguments if key in INSTANTS]
    return [(name, key) for name, key in found if not isinstance(CALLS[name][key], (str, list))]


def outcome(name: str, key: str, value: Any) -> str:
    """What a call ends with, in a world of its own."""
    more = {"fixed_frame": "map"} if key == "of_at" else {}
    with fresh_world() as world:
        try:
            answer = called(getattr(world, name), CALLS[name] | more | {key: value})
        except (LookupError, ValueError, TimeoutError) as error:
            answer = error
        return re.sub(
            r"0x[0-9a-f]+|[0-9a-f-]{36}|age_s=[0-9.]+",
            "",
            f"{answer!r} {answer} {world.relations()} {world.tree(seconds(2))}",
        )


class TestOneInstant:
    @pytest.mark.parametrize(("name", "key"), with_instants(), ids=lambda it: it)
    def test_may_have_any_form_where_a_world_takes_one(self, name, key):
        expected = outcome(name, key, seconds(2))
        assert "InvalidStamp" not in expected
        for form, made in FORMS.items():
            assert outcome(name, key, made(seconds(2))) == expected, form

    @pytest.mark.parametrize("form", FORMS)
    def test_may_have_any_form_where_a_scene_takes_one(self, form):
        at = FORMS[form]
        with World("w", clock=lambda: seconds(9)) as world:
            scene = world.scene
            group = scene.add_group(parent=scene.root, at=at(seconds(1)))
            thing = scene.add_transform(parent=group, transform=moved(1), at=at(seconds(1)))
            scene.set_transform(thing, moved(2), at=at(seconds(2)))
            box = scene.add_geometry(parent=thing, shape=Box((1, 1, 1)), at=at(seconds(1)))
            scene.set_attributes(group, {"name": "shelf"}, at=at(seconds(2)))
            scene.remove(box, at=at(seconds(4)))
            assert x_of(world.pose(of=scene.frame(thing), in_frame="map", at=at(seconds(2)))) == 2.0
            assert scene.as_of(at(seconds(3))).geometry(box) == Box((1, 1, 1))
            assert scene.bounding_sphere(group, at=at(seconds(2))) == scene.bounding_sphere(group, at=seconds(2))

    @pytest.mark.parametrize("form", FORMS)
    def test_may_have_any_form_where_a_value_has_one(self, form):
        pose = Pose(of="a", in_frame="b", transform=STILL, stamp=FORMS[form](seconds(3)))
        assert pose.stamp == seconds(3)
        assert type(pose.stamp) is int

    def test_may_have_any_form_in_a_picture(self, tmp_path):
        with World("w") as world:
            drive(world, 1, 2, 3)
            at = np.datetime64(seconds(2), "ns")
            for name, call in {"draw": world.draw, "draw_tree": world.draw_tree}.items():
                drawn = [
                    call(tmp_path / f"{name}_{k}.svg", at=one).read_text() for k, one in enumerate((seconds(2), at))
                ]
                assert drawn[0] == drawn[1]
            span = {"start": seconds(1), "end": np.datetime64(seconds(2), "ns")}
            assert world.plot_history(tmp_path / "plot.svg", of="robot", in_frame="map", **span).exists()

    @pytest.mark.parametrize("unit", ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "10s", "25us"])
    def test_may_be_a_datetime64_of_any_unit(self, unit):
        value = np.datetime64("1970-01-01T00:00:00.00000", "ns").astype(f"datetime64[{unit}]") + 3
        assert as_stamp(value) == int(value.astype("datetime64[ns]").astype(np.int64))

    def test_is_exact(self):
        ns = stamp(sec=1_794_827_655, nanosec=123_456_789)
        assert as_stamp(np.datetime64(ns, "ns")) == as_stamp(pd.Timestamp(ns)) == ns
        aware = dt.datetime(2026, 11, 16, 11, 14, 15, 123_457, tzinfo=dt.UTC)
        assert as_stamp(aware) == stamp(sec=1_794_827_655, nanosec=123_457_000)
        assert as_stamp(dt.datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=dt.UTC)) == -1000

    def test_of_pandas_without_a_zone_is_what_the_series_holds(self):
        series = pd.Series(pd.to_datetime(["2026-11-16 12:00"]))
        assert as_stamp(series[0]) == as_stamps(series)[0] == as_stamp(np.datetime64("2026-11-16T12:00", "s"))

    def test_or_latest(self):
        assert as_when(LATEST) is LATEST
        assert as_when(np.datetime64(5, "ns")) == 5
        with pytest.raises(InvalidStamp, match="None"):
            as_when(None)


class TestSeveralInstants:
    @pytest.mark.parametrize("form", BATCHES)
    def test_may_have_any_form(self, form):
        at = BATCHES[form]([seconds(s) for s in (1, 2, 3)])
        with World("w") as world:
            rows = np.array([moved(x).xyz_wxyz for x in (1, 2, 3)])
            world.set_poses(of="robot", in_frame="map", transforms=rows, at=at)
            edge = {"of": "robot", "in_frame": "map"}
            assert world.samples(**edge).stamps.tolist() == [seconds(1), seconds(2), seconds(3)]
            assert world.transforms(**edge, at=at)[:, 0, 3].tolist() == [1, 2, 3]
            assert world.transforms(**edge, at=at, policy="latest")[:, 0, 3].tolist() == [1, 2, 3]
            points = np.zeros((3, 3))
            for policy in ("unique", "latest"):
                mapped = world.map_points(points, from_frame="robot", to_frame="map", at=at, policy=policy)
                assert mapped[:, 0].tolist() == [1, 2, 3]
            assert world.twists(of="robot", relative_to="map", at=at).shape == (3, 6)
            expressed = world.express(points, kind="points", from_frame="robot", in_frame="map", at=at)
            assert np.allclose(np.asarray(expressed)[:, 0], [1, 2, 3])

    @pytest.mark.parametrize("form", BATCHES)
    def test_of_joints_may_have_any_form(self, form):
        with fresh_world() as world:
            world.set_joint_series(["hinge"], positions=[[0.1], [0.2]], at=BATCHES[form]([seconds(2), seconds(3)]))
            assert world.joint("hinge", at=np.datetime64(3, "s")).value == 0.2

    def test_of_one_instant_for_all_points(self):
        with World("w") as world:
            drive(world, 1, 2)
            for made in FORMS.values():
                mapped = world.map_points(np.zeros((4, 3)), from_frame="robot", to_frame="map", at=made(seconds(2)))
                assert mapped[:, 0].tolist() == [2, 2, 2, 2]

    def test_are_not_copied_where_they_are_int64(self):
        stamps = np.arange(5)
        assert as_stamps(stamps) is stamps

    def test_may_be_none(self):
        assert as_stamps([]).dtype == np.int64
        assert as_stamps(np.array([], dtype="datetime64[s]")).size == 0


class TestRefused:
    @pytest.mark.parametrize(
        ("value", "sentence"),
        [
            (np.datetime64("NaT"), "at is NaT"),
            (np.datetime64("NaT", "ns"), "at is NaT"),
            (pd.NaT, "at is NaT"),
            (dt.datetime(2026, 1, 1), "no time zone.*tzinfo"),  # noqa: DTZ001
            (dt.date(2026, 1, 1), "integer nanoseconds"),
            (np.timedelta64(5, "s"), "integer nanoseconds"),
            (dt.timedelta(seconds=5), "integer nanoseconds"),
            (np.datetime64("3000-01-01"), "146 years"),
            (np.datetime64("2117", "Y"), "146 years"),
            (np.datetime64("1823-01-01T00:00", "s"), "146 years"),
            (dt.datetime(9000, 1, 1, tzinfo=dt.UTC), "146 years"),
            (1.5, r"seconds\(1.5\)"),
            (np.float64(1.5), "seconds"),
            (True, "integer nanoseconds"),
            (math.nan, "seconds"),
            (np.array([5]), "integer nanoseconds"),
            ("2026-01-01", "integer nanoseconds"),
        ],
        ids=repr,
    )
    def test_is_what_is_no_instant(self, value, sentence):
        with World("w") as world:
            drive(world, 1, 2)
            with pytest.raises(InvalidStamp, match=sentence):
                world.pose(of="robot", in_frame="map", at=value)
            with pytest.raises(InvalidStamp, match=sentence):
                world.set_pose(of="robot", in_frame="map", transform=STILL, at=value)
            with pytest.raises(InvalidStamp):
                as_stamp(value, "at")

    @pytest.mark.parametrize(
        ("values", "sentence"),
        [
            (np.array(["2026-01-01", "NaT"], dtype="datetime64[s]"), r"at\[1\] is NaT"),
            (pd.Series(pd.to_datetime(["2026-01-01", None])), r"at\[1\] is NaT"),
            (np.array(["2026-01-01", "3000-01-01"], dtype="datetime64[D]"), r"at\[1\] .*146 years"),
            ([dt.datetime(2026, 1, 1)], r"at\[0\] .*no time zone"),  # noqa: DTZ001
            (np.array([1.5]), r"seconds with \(1e9"),
            (pd.Series([1.5]), r"seconds with \(1e9"),
            (np.array([5], dtype="timedelta64[s]"), "datetime64, got dtype timedelta64"),
            ([None], r"at\[0\] .*None"),
            (np.array([2**63], dtype=np.uint64), "146 years"),
            ([2**62], r"146 years"),
        ],
        ids=repr,
    )
    def test_is_a_batch_with_what_is_no_instant(self, values, sentence):
        with World("w") as world:
            drive(world, 1, 2)
            with pytest.raises(InvalidStamp, match=sentence):
                world.transforms(of="robot", in_frame="map", at=values)

    def test_is_a_batch_of_another_shape(self):
        with pytest.raises(InvalidArgument, match=r"\(N,\)"):
            as_stamps(np.zeros((2, 2), dtype="datetime64[s]"))

    def test_is_an_instant_for_a_duration(self):
        with World("w") as world:
            drive(world, 1, 2)
            for given in (np.datetime64(5, "s"), pd.Timestamp(5)):
                with pytest.raises(InvalidArgument, match="window"):
                    world.twist(of="robot", relative_to="map", window=given)
                with pytest.raises(InvalidArgument, match="history"):
                    World(history=given)


class TestMicroseconds:
    """Integers are taken for nanoseconds; an answer that cannot be given names the unit that was probably meant."""

    @pytest.mark.parametrize(("factor", "unit"), [(10**3, "microseconds"), (10**6, "milliseconds"), (10**9, "seconds")])
    def test_in_place_of_nanoseconds_are_recognised(self, factor, unit):
        now = stamp(sec=1_794_827_655, nanosec=123_456_789)
        with World("w") as world:
            for ns in (now, now + seconds(1)):
                world.set_pose(of="robot", in_frame="map", transform=STILL, at=ns // factor)
            with pytest.raises(AfterHistory, match=f"samples.*look like {unit}"):
                world.pose(of="robot", in_frame="map", at=now)
        with World("w") as world:
            for ns in (now, now + seconds(1)):
                world.set_pose(of="robot", in_frame="map", transform=STILL, at=ns)
            with pytest.raises(LookupError, match=f"instant .*looks like {unit}"):
                world.pose(of="robot", in_frame="map", at=now // factor)
            with pytest.raises(LookupError, match=f"instant .*looks like {unit}"):
                world.set_pose(of="robot", in_frame="map", transform=STILL, at=now // factor)

    def test_are_not_suspected_without_a_wall_clock(self):
        with World("w") as world:
            drive(world, 0.001, 0.002)
            with pytest.raises(AfterHistory) as caught:
                world.pose(of="robot", in_frame="map", at=seconds(1))
            assert "look" not in str(caught.value)


class TestPrinting:
    NOW = stamp(sec=1_794_827_655, nanosec=123_456_789)

    def test_of_a_stamp_is_in_full(self):
        assert format_stamp(self.NOW) == "1794827655.123456789 s (2026-11-16 11:14:15 UTC)"
        assert format_stamp(seconds(1.5)) == "1.500 s"
        assert format_stamp(-1) == "-0.000000001 s"

    def test_of_a_pose_is_in_full(self):
        with World("w") as world:
            world.set_pose(of="a", in_frame="b", transform=STILL, at=self.NOW)
            pose = world.pose(of="a", in_frame="b")
            for text in (repr(pose), str(pose), pose._repr_html_(), world._repr_html_()):
                assert "1794827655.123456789 s" in text

    def test_of_a_picture_is_in_full(self, tmp_path):
        with World("w") as world:
            world.set_pose(of="a", in_frame="map", transform=STILL, at=self.NOW)
            for drawn in (world.draw, world.draw_tree):
                assert "1794827655.123456789 s" in drawn(tmp_path / "picture.svg", at=self.NOW).read_text()


def test_pandas_is_not_imported():
    code = (
        "import sys, datetime; from armillary.stamps import as_stamp; "
        "as_stamp(5), as_stamp(datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)); "
        "print('pandas' in sys.modules)"
    )
    assert run_python(code).stdout == "False\n"
