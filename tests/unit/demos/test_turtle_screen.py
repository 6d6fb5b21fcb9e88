"""The live table, drawn into a terminal of 80 columns."""

from __future__ import annotations

from io import StringIO

import pytest

pytest.importorskip("rich")

from rich.console import Console

from armillary import seconds
from armillary.demos.turtles import screen
from armillary.demos.turtles.simulation import Turtles


def lines_at(time_s):
    turtles = Turtles(history=seconds(60))
    turtles.advance(to=seconds(time_s))
    buffer = StringIO()
    Console(width=80, file=buffer).print(screen._screen(turtles, to=seconds(30)))
    return buffer.getvalue().splitlines()


def row(lines, name):
    return next(line for line in lines if line.startswith(name)).split()


class TestTheLiveTable:
    def test_fits_into_80_columns_with_its_units(self):
        lines = lines_at(12.34)
        assert max(map(len, lines)) <= 80
        assert lines[1].split("  ")[-1].strip() == "age [ms]"
        assert all(unit in lines[1] for unit in ("x [m]", "y [m]", "heading [deg]", "rate [Hz]"))

    def test_shows_pose_rate_and_age_of_both(self):
        lines = lines_at(12.345)
        assert row(lines, "turtle1  ")[-3:] == ["618", "50.0", "5"]
        assert row(lines, "turtle2  ")[-3:] == ["494", "40.0", "20"]

    def test_shows_the_follower_on_its_goal(self):
        lines = lines_at(15.0)
        assert row(lines, "turtle2  ")[1:4] == row(lines, "goal")[1:]
        assert row(lines, "distance to where it was 5 s ago")[-2:] == ["0.000", "m"]

    def test_reports_that_it_waits_for_history(self):
        lines = lines_at(2.0)
        assert row(lines, "goal")[1:] == ["-", "-", "-"]
        assert any("waiting for five seconds of history" in line for line in lines)


class TestTheLiveDrive:
    @pytest.fixture
    def impatient(self, monkeypatch):
        """A wall clock that runs a second with every look, and sleep that costs nothing."""
        times = iter(range(1000))
        monkeypatch.setattr(screen, "monotonic", lambda: next(times))
        monkeypatch.setattr(screen, "sleep", lambda _: None)

    def test_ends_exactly_at_the_end(self, impatient, capsys):
        turtles = Turtles(history=seconds(60))
        screen.show_live(turtles, to=seconds(7.5))
        assert turtles.clock.time == seconds(7.5)

    def test_stops_early_at_ctrl_c(self, impatient, monkeypatch, capsys):
        turtles = Turtles(history=seconds(60))
        naps = iter([None, None])
        monkeypatch.setattr(screen, "sleep", lambda _: next(naps, None) or _interrupt(turtles))
        screen.show_live(turtles, to=seconds(7.5))
        assert turtles.clock.time == seconds(2)


def _interrupt(turtles):
    if turtles.clock.time >= seconds(2):
        raise KeyboardInterrupt
