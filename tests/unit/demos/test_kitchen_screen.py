"""The kitchen on a screen of 80 columns and 24 lines."""

from __future__ import annotations

from io import StringIO

import pytest

pytest.importorskip("rich")
pytest.importorskip("casadi")

from rich.console import Console

from armillary import seconds
from armillary.demos.kitchen import screen
from armillary.demos.kitchen.report import shown_in_browser
from armillary.demos.kitchen.simulation import Kitchen
from armillary.errors import MissingExtra

END = seconds(60)


@pytest.fixture(scope="module")
def screens():
    """By instant, the lines of the screen."""
    kitchen, found = Kitchen(history=seconds(20)), {}
    for time_s in (0.2, 3.6, 9.0, 13.0):
        kitchen.advance(to=seconds(time_s))
        buffer = StringIO()
        Console(width=80, file=buffer).print(screen.screen(kitchen, END, "Shown at http://127.0.0.1:8080."))
        found[time_s] = buffer.getvalue().splitlines()
    return found


class TestTheScreen:
    def test_fits_into_80_columns_and_24_lines(self, screens):
        for lines in screens.values():
            assert max(map(len, lines)) <= 80
            assert len(lines) <= 23
            assert not any("…" in line for line in lines)

    def test_reports_what_the_robot_does(self, screens):
        lines = [screens[time_s][0] for time_s in (0.2, 3.6, 9.0, 13.0)]
        for line, doing in zip(
            lines, ("drives to", "opens the", "sets the cup down", "brings the cup back"), strict=True
        ):
            assert line.startswith(f"The robot {doing}")
        assert lines[1].endswith("3.6 of 60 s")

    def test_shows_every_opinion_with_its_rate(self, screens):
        rows = [
            line.split() for line in screens[9.0] if line.startswith(("the head", "the wall", "the hand", "togeth"))
        ]
        assert [row[0] for row in rows].count("the") == 3
        assert [row[-2] for row in rows if "camera" in row] == ["16.7", "10.0"]

    def test_names_who_disagrees(self, screens):
        assert any(line.strip().startswith("nobody: all within") for line in screens[3.6])
        assert any(line.strip().startswith("the wall camera: ") for line in screens[9.0])

    def test_reports_what_is_not_known_yet(self, screens):
        assert sum("not known yet: BeforeHistory" in line for line in screens[0.2]) == 3

    def test_reports_where_a_browser_finds_more(self, screens):
        assert screens[3.6][-1] == "Shown at http://127.0.0.1:8080."


class TestTheLiveRun:
    @pytest.fixture
    def impatient(self, monkeypatch):
        """A wall clock that runs a second with every look, and sleep that costs nothing."""
        times = iter(range(1000))
        monkeypatch.setattr(screen, "monotonic", lambda: next(times))
        monkeypatch.setattr(screen, "sleep", lambda _: None)

    def test_ends_exactly_at_the_end(self, impatient, capsys):
        kitchen = Kitchen(history=seconds(10))
        screen.show_live(kitchen, to=seconds(2.5), page="")
        assert kitchen.clock.time == seconds(2.5)

    def test_stops_early_at_ctrl_c(self, impatient, monkeypatch, capsys):
        def interrupt(_):
            raise KeyboardInterrupt

        monkeypatch.setattr(screen, "sleep", interrupt)
        kitchen = Kitchen(history=seconds(10))
        screen.show_live(kitchen, to=seconds(2.5), page="")
        assert kitchen.clock.time == seconds(0.2)


class TestThePage:
    def test_is_left_out_where_the_extra_is_missing(self):
        class WithoutViser:
            def view(self, **_how):
                raise MissingExtra("view", "viser")

        with shown_in_browser(WithoutViser()) as lines:
            assert "pip install 'armillary[view]'" in lines
