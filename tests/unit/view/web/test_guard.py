"""Who may talk to the viewer, header by header; tests/browser tries it with a hostile page."""

from __future__ import annotations

import socket

import pytest

websockets = pytest.importorskip("websockets", reason="websockets comes with viser: pip install 'armillary[view]'")

from websockets.datastructures import Headers  # noqa: E402
from websockets.exceptions import InvalidStatus  # noqa: E402
from websockets.sync.client import connect  # noqa: E402

from armillary import World  # noqa: E402
from armillary.errors import ArmillaryError  # noqa: E402
from armillary.view.web._guard import guarding, refusal  # noqa: E402
from unit.kit import WAIT_S  # noqa: E402

LOOPBACK = "127.0.0.1"


def refused(*headers: tuple[str, str], host: str = LOOPBACK) -> bool:
    return refusal(Headers(headers), host) != ""


class TestARequestIsAnswered:
    @pytest.mark.parametrize("name", ["127.0.0.1:8080", "localhost:8080", "LOCALHOST:9000", "[::1]:8080", "127.0.0.1"])
    def test_where_it_asks_for_this_computer(self, name):
        assert not refused(("Host", name))

    def test_where_it_comes_from_the_page_that_was_served(self):
        assert not refused(("Host", "localhost:9000"), ("Origin", "http://localhost:9000"))

    @pytest.mark.parametrize("name", ["192.168.1.2:8080", "[fe80::1]:8080", socket.gethostname()])
    def test_by_any_address_of_this_computer_where_all_are_served(self, name):
        assert not refused(("Host", name), host="0.0.0.0")

    def test_by_the_name_that_was_given(self):
        assert not refused(("Host", "robot.local:8080"), ("Origin", "http://robot.local:8080"), host="robot.local")


class TestARequestIsRefused:
    @pytest.mark.parametrize(
        "origin",
        [
            "http://evil.example",
            "http://localhost:3000",
            "http://127.0.0.1:8081",
            "https://127.0.0.1",
            "null",
            "",
            "::",
        ],
    )
    def test_where_another_page_sends_it(self, origin):
        assert refused(("Host", "127.0.0.1:8080"), ("Origin", origin))

    @pytest.mark.parametrize("host", [LOOPBACK, "0.0.0.0", "::", "robot.local"])
    def test_where_a_foreign_name_was_made_to_lead_here(self, host):
        evil = "evil.example:8080"
        assert refused(("Host", evil), ("Origin", f"http://{evil}"), host=host)

    def test_without_a_name_or_with_two(self):
        assert refused()
        assert refused(("Host", "127.0.0.1:8080"), ("Host", "evil.example"))

    def test_by_a_number_of_another_computer(self):
        assert refused(("Host", "192.168.1.2:8080"))


class TestAServer:
    @pytest.fixture
    def viewer(self):
        with World() as world, world.view(quiet=True) as viewer:
            yield viewer

    def test_opens_no_connection_to_a_page_of_another_site(self, viewer):
        address = viewer.url.replace("http", "ws")
        with pytest.raises(InvalidStatus, match="403"):
            connect(address, origin="http://evil.example", open_timeout=WAIT_S)
        with connect(address, origin=viewer.url, open_timeout=WAIT_S):
            pass

    def test_is_not_shown_inside_another_page(self, viewer):
        with socket.create_connection((viewer.host, viewer.port), timeout=WAIT_S) as line:
            line.sendall(f"GET / HTTP/1.1\r\nHost: {viewer.host}\r\n\r\n".encode())
            answer = line.recv(4096).decode(errors="replace")
        assert " 200 " in answer.splitlines()[0]
        assert "Content-Security-Policy: frame-ancestors 'self'" in answer

    def test_that_opened_its_port_unseen_is_an_error(self):
        with pytest.raises(ArmillaryError, match="could not be kept out"), guarding(LOOPBACK):
            pass
