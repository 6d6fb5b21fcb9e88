"""A viewer as a program sees it; tests/browser sees it as a person does."""

from __future__ import annotations

import socket
import threading
import urllib.request

import pytest

from armillary import World
from armillary.errors import InvalidArgument, WorldClosed
from armillary.view.web._viewer import describe_reach
from unit.kit import WAIT_S, drive, run_python

pytest.importorskip("viser", reason="viser is not installed: pip install 'armillary[view]'")


@pytest.fixture
def robot(world):
    drive(world, 1.0, 2.0)
    return world


@pytest.fixture
def viewer(robot):
    with robot.view(quiet=True) as opened:
        yield opened


def threads_of_viewers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "armillary-viewer"]


class TestAViewer:
    def test_serves_a_page_to_this_computer(self, viewer):
        with urllib.request.urlopen(viewer.url, timeout=WAIT_S) as page:
            assert page.status == 200
        assert viewer.url.startswith("http://127.0.0.1:")
        assert viewer.is_loopback

    def test_is_not_reached_by_other_addresses_of_this_computer(self, viewer):
        with socket.socket() as probe:
            probe.settimeout(WAIT_S)
            assert probe.connect_ex(("127.0.0.2", viewer.port)) != 0

    def test_reports_where_it_is_and_for_whom(self, robot, capsys):
        with robot.view() as viewer:
            assert capsys.readouterr() == ("", f"The world is shown at {viewer.url}, to this computer only.\n")

    @pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.2", "robot.local"])
    def test_reports_that_others_can_look_where_they_can(self, host):
        assert describe_reach(host) == "to everybody who reaches this computer: there is no password"

    @pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "::1", "localhost"])
    def test_reports_that_nobody_else_can_where_they_cannot(self, host):
        assert describe_reach(host) == "to this computer only"

    def test_takes_another_port_beside_another(self, viewer, robot):
        with robot.view(quiet=True) as second:
            assert second.port != viewer.port

    def test_refuses_a_port_that_is_taken(self, viewer, robot):
        with pytest.raises(InvalidArgument, match="Give another port="):
            robot.view(port=viewer.port, quiet=True)

    @pytest.mark.parametrize("port", [-1, 65536, 99999])
    def test_refuses_a_port_that_is_none(self, robot, port):
        with pytest.raises(InvalidArgument, match="from 0 to 65535"):
            robot.view(port=port, quiet=True)

    @pytest.mark.parametrize("rate_hz", [0.0, -1.0, float("nan")])
    def test_refuses_rates_that_are_none(self, robot, rate_hz):
        with pytest.raises(InvalidArgument, match="rate_hz=60"):
            robot.view(rate_hz=rate_hz, quiet=True)

    def test_writes_nothing_to_the_world(self, robot):
        before = robot.digest(), [info.samples for info in robot.relations()]
        with robot.view(quiet=True) as viewer:
            assert not viewer.wait(0.3)
        assert (robot.digest(), [info.samples for info in robot.relations()]) == before

    def test_of_an_empty_world_waits_for_something(self, world):
        with world.view(quiet=True) as viewer:
            assert not viewer.wait(0.2)
            drive(world, 1.0)
            assert not viewer.wait(0.3)


class TestClosing:
    def test_ends_its_thread_and_its_server(self, robot):
        viewer = robot.view(quiet=True)
        viewer.close()
        viewer.close()
        assert threads_of_viewers() == []
        with socket.socket() as probe:
            assert probe.connect_ex(("127.0.0.1", viewer.port)) != 0

    def test_the_world_closes_its_viewers(self, robot):
        viewer = robot.view(quiet=True)
        robot.close()
        assert not viewer.is_open
        assert viewer.wait(0.0)

    def test_the_world_refuses_to_be_viewed_afterwards(self, robot):
        robot.close()
        with pytest.raises(WorldClosed):
            robot.view(quiet=True)

    def test_is_silent_also_at_the_end_of_a_program(self):
        ran = run_python("import armillary\nworld = armillary.World()\nworld.view(quiet=True)\n")
        assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


class TestTrouble:
    def test_is_reported_and_does_not_end_the_viewer(self, robot, mailbox, monkeypatch):
        robot.on_error = mailbox
        with robot.view(quiet=True) as viewer:
            monkeypatch.setattr(viewer, "_present_views", lambda: 1 / 0)
            assert isinstance(mailbox.wait()[0], ZeroDivisionError)
            assert viewer.is_open

    def test_without_viser_is_one_line_with_what_to_install(self):
        ran = run_python(
            "import sys\nsys.modules['viser'] = None\nimport armillary\n"
            "try:\n    armillary.World().view()\n"
            "except armillary.errors.MissingExtra as error:\n    print(error)\n"
        )
        assert "pip install 'armillary[view]'" in ran.stdout
        assert World.view.__doc__


class TestLooking:
    @pytest.mark.parametrize("at", [(0, 0), (0, 0, float("nan")), (1, 2, 3)])
    def test_is_refused_without_two_places(self, viewer, at):
        with pytest.raises(InvalidArgument, match="two places"):
            viewer.look(at=at, from_=(1, 2, 3))

    def test_waits_for_pages_that_are_opened_later(self, viewer):
        viewer.look(at=(0, 0, 0), from_=(1, 1, 1))
        assert viewer.is_open
