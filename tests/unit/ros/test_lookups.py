"""Why a lookup failed in the field: from the log alone, and without the program that made it."""

from __future__ import annotations

import json

import pytest

from armillary import World
from armillary.cli import main
from unit.ros.bags import BEGIN, write

MS = 1_000_000
STILL = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]


@pytest.fixture(params=["plain.bag", "mcap"])
def log(request, tmp_path):
    """Odometry comes 5 ms after its stamp, the map 80 ms; for half a second, from 1 s on, it does not come at all."""

    def tell(messages):
        entries = []
        for i in range(0, 3000, 20):
            at = BEGIN + i * MS
            entries.append((at + 5 * MS, "/tf", messages.transforms(("odom", "base_link", at, STILL))))
            if not 1000 <= i < 1500:
                entries.append((at + 80 * MS, "/tf", messages.transforms(("map", "odom", at, STILL))))
        yield "/tf_static", BEGIN, messages.transforms(("base_link", "camera", BEGIN, STILL))
        for log_time, topic, message in sorted(entries, key=lambda entry: entry[0]):
            yield topic, log_time, message

    return write(tmp_path, request.param, tell)


def explained(log, at_ms, asked_ms=None, of="camera", in_frame="map"):
    asked_at = None if asked_ms is None else BEGIN + asked_ms * MS
    return World.explain_lookup(log, of=of, in_frame=in_frame, at=BEGIN + at_ms * MS, asked_at=asked_at)


class TestALookupOfTheField:
    def test_came_too_early(self, log):
        report = explained(log, 700)
        assert not report.then.is_visible
        assert report.later.is_visible
        assert report.answerable_from == BEGIN + 780 * MS
        assert "'odom' in 'map'" in report.reason
        assert "80 ms after it was asked" in report.reason
        assert "timeout" in report.hint
        by_frame = {link.of: link for link in report.links}
        assert by_frame["odom"].newest == BEGIN + 620 * MS
        assert by_frame["odom"].delay_s == pytest.approx(0.08)
        assert by_frame["base_link"].came == BEGIN + 705 * MS

    def test_succeeded_when_it_was_asked_later(self, log):
        report = explained(log, 700, asked_ms=780)
        assert report.then.is_visible
        assert report.hint == ""
        assert "could be seen" in report.reason

    def test_fell_into_a_gap(self, log):
        report = explained(log, 1200)
        assert report.answerable_from == BEGIN + 1580 * MS
        assert "380 ms after it was asked" in report.reason

    def test_was_for_an_instant_that_never_came(self, log):
        report = explained(log, 9000)
        assert report.answerable_from is None
        assert not report.later.is_visible
        assert report.reason == report.later.reason

    def test_was_for_what_was_forgotten_by_then(self, tmp_path):
        def tell(messages):
            for i in range(0, 20_000, 100):
                yield "/tf", BEGIN + i * MS, messages.transforms(("map", "base", BEGIN + i * MS, STILL))

        report = explained(write(tmp_path, "plain.bag", tell), 1000, asked_ms=15_000, of="base")
        assert report.then.cause == "forgotten" or "before" in report.then.reason or not report.then.is_visible
        assert report.later.is_visible

    def test_named_a_frame_that_nobody_told(self, log):
        report = explained(log, 700, of="lidar")
        assert not report.then.is_visible
        assert "lidar" in report.reason


class TestTheDoctor:
    def test_takes_a_log_and_a_time_of_day(self, log, capsys):
        assert main(["doctor", str(log), "camera", "map", "--at", "22:13:20.7"]) == 1
        out = capsys.readouterr().out
        assert "80 ms after it was asked" in out
        assert main(["doctor", str(log), "camera", "map", "--at", "22:13:20.7", "--asked-at", "22:13:20.8"]) == 0

    def test_answers_programs(self, log, capsys):
        at = f"{(BEGIN + 700 * MS) / 1e9:.3f}"
        assert main(["doctor", "camera", "map", "--world", str(log), "--at", at, "--json"]) == 1
        assert json.loads(capsys.readouterr().out)["answerable_from"] == BEGIN + 780 * MS

    def test_knows_when_it_was_asked_of_logs_alone(self, log, capsys):
        assert main(["doctor", "camera", "map", "--world", str(log), "--asked-at", "5"]) == 1
        assert "--asked-at is for logs" in capsys.readouterr().err
