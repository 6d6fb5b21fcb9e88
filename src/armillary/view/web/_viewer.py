"""A viewer: looks at a world sixty times a second, and shows it in a browser."""

from __future__ import annotations

import atexit
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Self

from armillary.errors import InvalidArgument
from armillary.view.web._serving import LOOPBACK, is_loopback, reach_of, serve, stop
from armillary.view.web._show import Show

if TYPE_CHECKING:
    from types import TracebackType

    from armillary.view.web._viewed import Viewed

__all__ = ["Viewer"]

_NOBODY_LOOKS_S = 0.1
_AFTER_TROUBLE_S = 1.0
_ENDING_S = 5.0


class Viewer:
    """A world in a browser, until it is closed.

    It observes the world as any other observer does; only the sliders of joints write to it.

    Args:
        world: What is looked at.
        in_frame: The frame that the picture stands in; the root, if left out.
        host: Who can look: this computer alone, unless another address is given.
        port: The first free one from 8080 on, if left out.
        rate_hz: How often the picture moves.
        on_error: Told what goes wrong while it is drawn; it is tried again then.

    Raises:
        MissingExtra: viser is not installed.
        InvalidArgument: The port is taken, or the rate is none.
    """

    def __init__(
        self,
        world: Viewed,
        *,
        in_frame: str | None = None,
        host: str = LOOPBACK,
        port: int | None = None,
        rate_hz: float = 60.0,
        on_error: Callable[[BaseException], object] | None = None,
    ) -> None:
        if not rate_hz > 0.0:
            raise InvalidArgument(f"A picture moves more than {rate_hz!r} times a second. Give rate_hz=60.", rate_hz)
        self._world, self._period_s, self._on_error = world, 1.0 / rate_hz, on_error
        self._server = serve(host, port, _title(world))
        self.host, self.port = host, self._server.get_port()
        self._show = Show(world, self._server, in_frame)
        world.scene.attach(self._show.outdate)
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name="armillary-viewer", daemon=True)
        self._thread.start()
        atexit.register(self.close)

    @property
    def url(self) -> str:
        """What a browser opens."""
        host = "localhost" if self.host in {"0.0.0.0", "::"} else self.host  # noqa: S104  (said, not bound)
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"

    @property
    def is_loopback(self) -> bool:
        """Whether only this computer can look."""
        return is_loopback(self.host)

    @property
    def is_open(self) -> bool:
        """Whether it was not closed."""
        return not self._ending.is_set()

    def wait(self, timeout_s: float | None = None) -> bool:
        """Until it is closed, or so long; whether it was closed."""
        return self._ending.wait(timeout_s)

    def close(self) -> None:
        """Show nothing any more; safe to call twice."""
        if self._ending.is_set():
            return
        self._ending.set()
        atexit.unregister(self.close)
        if self._thread is not threading.current_thread():
            self._thread.join(_ENDING_S)
        self._world.scene.detach(self._show.outdate)
        stop(self._server)

    def _run(self) -> None:
        before_s = due_s = time.monotonic()
        while not self._ending.wait(max(0.0, due_s - time.monotonic())):
            now_s = time.monotonic()
            self._tick(now_s - before_s)
            # A tick that comes late does not delay those after it; what was missed is not made up for.
            before_s, due_s = now_s, max(due_s, now_s - self._pause_s()) + self._pause_s()

    def _pause_s(self) -> float:
        return self._period_s if self._server.get_clients() else _NOBODY_LOOKS_S

    def _tick(self, elapsed_s: float) -> None:
        try:
            self._show.tick(elapsed_s)
        except Exception as error:  # noqa: BLE001  (a picture that cannot be drawn must not end the next one)
            if self._on_error is not None:
                self._on_error(error)
            self._ending.wait(_AFTER_TROUBLE_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __str__(self) -> str:
        """What to tell who wants to look."""
        return f"{_title(self._world)} is shown at {self.url}, {reach_of(self.host)}."

    def __repr__(self) -> str:
        return f"Viewer({self.url}, {'open' if self.is_open else 'closed'})"


def _title(world: Viewed) -> str:
    return f"World '{world.name}'" if world.name else "The world"
