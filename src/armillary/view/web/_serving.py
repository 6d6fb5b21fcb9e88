"""The web server behind a viewer: to this computer alone, unless somebody wants it otherwise."""

from __future__ import annotations

import contextlib
import io
import ipaddress
import socket
import sys
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, TextIO

from armillary.errors import InvalidArgument, MissingExtra

if TYPE_CHECKING:
    import viser

__all__ = ["LOOPBACK", "is_loopback", "reach_of", "serve", "stop"]

LOOPBACK = "127.0.0.1"
_PORTS = range(8080, 8180)


def is_loopback(host: str) -> bool:
    """Whether only this computer reaches it."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def reach_of(host: str) -> str:
    """Who can look, in words."""
    if is_loopback(host):
        return "to this computer only"
    return "to everybody who reaches this computer: there is no password"


def serve(host: str, port: int | None, label: str) -> viser.ViserServer:
    """Start a server. Without a port the first free one from 8080 on is taken.

    Raises:
        MissingExtra: viser is not installed.
        InvalidArgument: The port is taken, or the host is not of this computer.
    """
    try:
        import viser  # noqa: PLC0415  (an extra)
    except ImportError as missing:
        raise MissingExtra("view", "viser") from missing
    chosen = _free_port(host, port)
    with _silenced():
        server = viser.ViserServer(host=host, port=chosen, label=label, verbose=False)
    server.gui.configure_theme(control_width="medium", show_logo=False, show_share_button=False)
    return server


def stop(server: viser.ViserServer) -> None:
    """End it, and whoever looks."""
    with _silenced():
        server.stop()


def _free_port(host: str, port: int | None) -> int:
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
def _silenced() -> Iterator[None]:
    """Drop what viser tells on stdout of its beginning and end; what other threads write meanwhile is written."""
    import rich  # noqa: PLC0415  (comes with viser)

    rich.get_console()  # viser's and everybody's: made below, it would take the terminal for a file for ever
    with contextlib.redirect_stdout(_Others(sys.stdout)):
        yield


class _Others(io.TextIOBase):
    """What this thread writes is dropped, and what the threads of viser say of themselves."""

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._muted = stream, threading.get_ident()

    def write(self, text: str) -> int:
        is_muted = threading.get_ident() == self._muted or text.startswith("(viser)")
        return len(text) if is_muted else self._stream.write(text)

    def flush(self) -> None:
        self._stream.flush()
