"""Web viewer: a server that shows a world sixty times a second."""

from __future__ import annotations

import atexit
import contextlib
import io
import ipaddress
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Self, TextIO

import numpy as np

from armillary.errors import InvalidArgument, MissingExtra
from armillary.view.web._controls import configure_theme
from armillary.view.web._guard import guarding
from armillary.view.web._scene_view import SceneView

if TYPE_CHECKING:
    from types import TracebackType

    import viser
    from numpy import float64
    from numpy.typing import ArrayLike, NDArray

    from armillary.view._world_protocol import ViewableWorld


LOOPBACK = "127.0.0.1"
_PORTS = range(8080, 8180)
_LAST_PORT = 65535
_IDLE_PERIOD_S = 0.1
_AFTER_ERROR_S = 1.0
_JOIN_TIMEOUT_S = 5.0


def is_loopback(host: str) -> bool:
    """Whether a host can be reached from this computer only."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def describe_reach(host: str) -> str:
    """Return a description of who can connect to a host."""
    if is_loopback(host):
        return "to this computer only"
    return "to everybody who reaches this computer: there is no password"


def serve(host: str, port: int | None, label: str) -> viser.ViserServer:
    """Start a server, on the first free port from 8080 on if none is given.

    Raises:
        MissingExtra: viser is not installed.
        InvalidArgument: The port is in use, or the host is not an address of this computer.
    """
    try:
        import viser  # noqa: PLC0415  (an extra)
    except ImportError as missing:
        raise MissingExtra("view", "viser") from missing
    chosen = _free_port(host, port)
    with _without_messages(), _stopped_on_error() as opened, guarding(host):
        opened.append(viser.ViserServer(host=host, port=chosen, label=label, verbose=False))
    (server,) = opened
    configure_theme(server.gui)
    return server


@contextlib.contextmanager
def _stopped_on_error() -> Iterator[list[viser.ViserServer]]:
    """Yield a list for servers; stop them after an error."""
    opened: list[viser.ViserServer] = []
    try:
        yield opened
    except BaseException:
        for server in opened:
            stop(server)
        raise


def stop(server: viser.ViserServer) -> None:
    """Stop the server and disconnect its clients."""
    with _without_messages():
        server.stop()


def _free_port(host: str, port: int | None) -> int:
    if port is not None and not 0 <= port <= _LAST_PORT:
        raise InvalidArgument(
            f"A port is a number from 0 to {_LAST_PORT}, got {port}. Leave it out for a free one.", port
        )
    tried = _PORTS if port is None else [port]
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    refused: OSError | None = None
    for candidate in tried:
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, candidate))
            except OSError as error:
                refused = error
            else:
                return int(probe.getsockname()[1])
    raise InvalidArgument(
        f"Nothing can be served at {host}:{tried[0]}: {refused}. Give another port=, or leave it out.", port
    )


@contextlib.contextmanager
def _without_messages() -> Iterator[None]:
    """Suppress the messages of viser on stdout; output of other threads is kept."""
    import rich  # noqa: PLC0415  (comes with viser)

    rich.get_console()  # shared with viser: created below, it would take the terminal for a file permanently
    with contextlib.redirect_stdout(_FilteredStdout(sys.stdout)):
        yield


class _FilteredStdout(io.TextIOBase):
    """Stream that drops the output of this thread, and messages of viser."""

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._muted = stream, threading.get_ident()

    def write(self, text: str) -> int:
        is_muted = threading.get_ident() == self._muted or "(viser)" in text
        return len(text) if is_muted else self._stream.write(text)

    def flush(self) -> None:
        self._stream.flush()


class Viewer:
    """Shows a world in a browser until it is closed.

    It reads the world and observes its scene; only the sliders of joints write to it. Every page that is opened has its
    own selection, search, instant and viewpoint.

    Args:
        world: The world to show.
        in_frame: Fixed frame of the view; by default the root.
        host: Address to listen on; by default only this computer can connect.
        port: By default the first free one from 8080 on.
        rate_hz: How often the view is updated.
        read_only: Without sliders for joints: whoever looks can change nothing.
        on_error: Called with errors while drawing, which is then tried again.

    Raises:
        MissingExtra: viser is not installed.
        InvalidArgument: The port is in use, or the rate is not positive.
    """

    def __init__(
        self,
        world: ViewableWorld,
        *,
        in_frame: str | None = None,
        host: str = LOOPBACK,
        port: int | None = None,
        rate_hz: float = 60.0,
        read_only: bool = False,
        on_error: Callable[[BaseException], object] | None = None,
    ) -> None:
        if not rate_hz > 0.0:
            raise InvalidArgument(f"rate_hz must be more than 0, got {rate_hz!r}. Give rate_hz=60.", rate_hz)
        self._world, self._period_s, self._on_error = world, 1.0 / rate_hz, on_error
        self._server = serve(host, port, _title(world))
        self.host, self.port = host, self._server.get_port()
        self._in_frame, self.read_only = in_frame, read_only
        self._views: dict[int, SceneView] = {}
        self._look: tuple[NDArray[float64], NDArray[float64]] | None = None
        world.scene.attach(self._mark_outdated)
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="armillary-viewer", daemon=True)
        self._thread.start()
        atexit.register(self.close)

    @property
    def url(self) -> str:
        """Address to open in a browser."""
        host = "localhost" if self.host in {"0.0.0.0", "::"} else self.host  # noqa: S104  (displayed, not bound)
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"

    @property
    def is_loopback(self) -> bool:
        """Whether only this computer can connect."""
        return is_loopback(self.host)

    @property
    def is_open(self) -> bool:
        """Whether the viewer is not closed."""
        return not self._closing.is_set()

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait until the viewer is closed, or for a timeout; return whether it is closed."""
        return self._closing.wait(timeout_s)

    def look(self, *, at: ArrayLike, from_: ArrayLike) -> None:
        """Turn the cameras of all pages, also of those that are opened later, to a place.

        Args:
            at: (3,) the place to look at [m], in the frame of the picture.
            from_: (3,) where the camera is [m].

        Raises:
            InvalidArgument: One of them is not a place, or both are the same.
        """
        camera, target = np.array(from_, dtype=float), np.array(at, dtype=float)
        is_place = all(place.shape == (3,) and np.isfinite(place).all() for place in (camera, target))
        if not is_place or np.array_equal(camera, target):
            raise InvalidArgument(f"at and from_ must be two places (x, y, z), got {at!r} and {from_!r}.", at)
        self._look = camera, target
        for view in tuple(self._views.values()):
            view.look(*self._look)

    def close(self) -> None:
        """Stop the server; can be called twice."""
        if self._closing.is_set():
            return
        self._closing.set()
        atexit.unregister(self.close)
        if self._thread is not threading.current_thread():
            self._thread.join(_JOIN_TIMEOUT_S)
        self._world.scene.detach(self._mark_outdated)
        stop(self._server)
        for view in self._views.values():
            view.close()
        self._views = {}

    def _mark_outdated(self, changes: object = None) -> None:
        for view in tuple(self._views.values()):
            view.mark_outdated(changes)

    def _run(self) -> None:
        before_s = due_s = time.monotonic()
        while not self._closing.wait(max(0.0, due_s - time.monotonic())):
            now_s = time.monotonic()
            self._tick(now_s - before_s)
            # A late tick does not delay later ones, and missed ticks are skipped.
            before_s, due_s = now_s, max(due_s, now_s - self._pause_s()) + self._pause_s()

    def _pause_s(self) -> float:
        return self._period_s if self._server.get_clients() else _IDLE_PERIOD_S

    def _tick(self, elapsed_s: float) -> None:
        try:
            for view in self._present_views():
                view.tick(elapsed_s)
        except Exception as error:  # noqa: BLE001  (an error in one tick must not end the next)
            if self._on_error is not None:
                self._on_error(error)
            self._closing.wait(_AFTER_ERROR_S)

    def _present_views(self) -> tuple[SceneView, ...]:
        """Return the views of all connected clients; forget those of clients that are gone."""
        clients = self._server.get_clients()
        for gone in self._views.keys() - clients.keys():
            self._views.pop(gone).close()
        for key in clients.keys() - self._views.keys():
            self._views[key] = SceneView(
                self._world,
                clients[key],
                initial_camera=self._server.initial_camera,
                in_frame=self._in_frame,
                read_only=self.read_only,
            )
            if self._look is not None:
                self._views[key].look(*self._look)
        return tuple(self._views.values())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __str__(self) -> str:
        """Return the address of the viewer, and who can connect."""
        note = " Nobody can change it there." if self.read_only else ""
        return f"{_title(self._world)} is shown at {self.url}, {describe_reach(self.host)}.{note}"

    def __repr__(self) -> str:
        return f"Viewer({self.url}, {'open' if self.is_open else 'closed'})"


def _title(world: ViewableWorld) -> str:
    return f"World '{world.name}'" if world.name else "The world"
