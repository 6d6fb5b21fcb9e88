"""A hostile page in a real browser: it tries to read a world that is viewed on the same computer, and to move it."""

from __future__ import annotations

import http.server
import re
import threading
import time
from contextlib import contextmanager

import pytest

from armillary import World, seconds
from armillary.articulation import ArticulationModel
from armillary.view.web import rest_joints
from browser.chromium import FLAGS, PATIENCE_S, chromium
from browser.test_viewer_page import ROBOT
from unit.kit import FakeClock
from unit.share.kit import eventually

viser = pytest.importorskip("viser", reason="viser is not installed: pip install 'armillary[view]'")

FOREIGN = "evil.example"
# Opens a websocket as the viewer's own page does, and counts what it is told; asks for the page, too.
PAGE = """<!doctype html><title>harmless</title><script>
window.outcome = new Promise(told => {
  let bytes = 0;
  const socket = new WebSocket("ws://%s", ["viser-v%s"]);
  socket.binaryType = "arraybuffer";
  socket.onopen = () => setTimeout(() => told({opened: true, bytes}), 3000);
  socket.onmessage = event => { bytes += event.data.byteLength || event.data.length; };
  socket.onerror = () => told({opened: false, bytes});
});
window.fetched = fetch("http://%s/").then(answer => answer.text()).then(text => text.length, () => 0);
</script>"""


class Site(http.server.ThreadingHTTPServer):
    """A site of somebody else, on this computer only for the test."""

    def __init__(self, address: str) -> None:
        page = (PAGE % (address, viser.__version__, address)).encode()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                self.wfile.write(page)

            def log_message(self, *_: object) -> None:
                pass

        super().__init__(("127.0.0.1", 0), Handler)


@contextmanager
def site(address: str):
    served = Site(address)
    thread = threading.Thread(target=served.serve_forever, daemon=True)
    thread.start()
    try:
        yield served.server_address[1]
    finally:
        served.shutdown()
        served.server_close()
        thread.join()


@contextmanager
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="pip install playwright")
    # The foreign name leads to this computer, as that of an attacker's site can be made to.
    mapped = [flag for flag in FLAGS if "host-resolver" not in flag]
    mapped.append(f"--host-resolver-rules=MAP {FOREIGN} 127.0.0.1 , MAP * ~NOTFOUND , EXCLUDE 127.0.0.1")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=chromium(), headless=True, args=mapped)
        try:
            page = opened.new_page()
            page.set_default_timeout(1e3 * PATIENCE_S)
            yield page
        finally:
            opened.close()


@pytest.fixture
def crane():
    with World("yard", clock=FakeClock(seconds(10.0))) as world:
        model = ArticulationModel()
        model.load_urdf(ROBOT, name="crane")
        world.mount(model, in_frame="map")
        rest_joints(world)
        yield world


def outcome(page, address: str) -> dict:
    with site(address) as port:
        page.goto(f"http://{FOREIGN}:{port}/")
        assert page.title() == "harmless"
        return page.evaluate("async () => ({...await window.outcome, fetched: await window.fetched})")


class TestAHostilePage:
    @pytest.mark.parametrize("name", ["127.0.0.1", FOREIGN], ids=["by number", "by a name made to lead here"])
    def test_reads_nothing(self, crane, name):
        with crane.view(quiet=True) as viewer, browser() as page:
            assert outcome(page, f"{name}:{viewer.port}") == {"opened": False, "bytes": 0, "fetched": 0}

    def test_moves_no_joint(self, crane):
        """What a page of the viewer sends to move a joint is recorded, and sent again by a hostile one."""
        with crane.view(quiet=True) as viewer, browser() as page:
            message = recorded_drag(crane, viewer, page)
            before = crane.joint("crane/lift").value
            hostile_send(page, viewer, message)
            assert crane.joint("crane/lift").value == before

    def test_would_be_let_in_by_a_viewer_without_guard(self, crane, monkeypatch):
        """The test can fail: without the guard the same page reads the world."""
        monkeypatch.setattr("armillary.view.web._guard.refusal", lambda headers, host: "")
        with crane.view(quiet=True) as viewer, browser() as page:
            found = outcome(page, f"127.0.0.1:{viewer.port}")
        assert found["opened"]
        assert found["bytes"] > 0


def recorded_drag(world, viewer, page) -> list[int]:
    """Move the joint as a user does, back again, and return the bytes of the message that moved it."""
    sent: list[bytes | str] = []

    def record(frame: bytes | str) -> None:
        sent.append(frame)

    page.on("websocket", lambda socket: socket.on("framesent", record))
    page.goto(viewer.url)
    named = page.locator("label", has_text="lift").first.get_attribute("for")
    slider = page.locator(f"[id='{named}'] [role=slider]")
    slider.press("End")
    page.wait_for_function(
        "([id]) => document.querySelector(id).ariaValueNow > 1", arg=[f"[id='{named}'] [role=slider]"]
    )
    assert eventually(lambda: world.joint("crane/lift").value > 1.0)
    page.goto("about:blank")  # it sends no more
    drags = [frame for frame in sent if isinstance(frame, bytes) and re.search(rb"GuiUpdate", frame)]
    assert drags, "the page sent nothing that moves a joint"
    _let_settle(world)
    world.set_joints({"crane/lift": 0.0}, at=world.joint("crane/lift").stamp + 1)
    return list(drags[-1])


def _let_settle(world) -> None:
    """Wait until what a page sent before it went has arrived."""
    stamp = None
    while stamp != (stamp := world.joint("crane/lift").stamp):
        time.sleep(0.5)


def hostile_send(page, viewer, message: list[int]) -> None:
    with site(f"127.0.0.1:{viewer.port}") as port:
        page.goto(f"http://{FOREIGN}:{port}/")
        opened = page.evaluate(
            """([address, protocol, bytes]) => new Promise(told => {
                const socket = new WebSocket(address, [protocol]);
                socket.onopen = () => { socket.send(new Uint8Array(bytes)); setTimeout(() => told(true), 2000); };
                socket.onerror = () => told(false);
            })""",
            [f"ws://127.0.0.1:{viewer.port}", f"viser-v{viser.__version__}", message],
        )
    assert not opened
