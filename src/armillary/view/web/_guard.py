"""Who may talk to the viewer: pages that it served itself, under a name that belongs to this computer.

A browser lets every page open a websocket to every address, also to this computer, and sends along from which page it
comes (`Origin`) and which name was asked for (`Host`). A page of another site has another origin. A site whose name was
made to point to this computer (DNS rebinding) has an origin of its own, but its name is not one of this computer.
"""

from __future__ import annotations

import contextlib
import ipaddress
import logging
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from armillary.errors import ArmillaryError

_ANY_ADDRESS = frozenset({"0.0.0.0", "::"})  # noqa: S104  (compared, not bound)
_STARTING = threading.Lock()
"""Held while a server starts: `guarding` replaces a function of websockets for so long."""


def refusal(headers: Any, host: str) -> str:
    """Return why a request is refused; empty if it is not.

    Args:
        headers: Headers of the request.
        host: Address that the viewer listens on.
    """
    asked, origins = headers.get_all("Host"), headers.get_all("Origin")
    if len(asked) != 1 or not _is_own_name(_name(f"//{asked[0]}"), host):
        return f"This viewer is not called {_quoted(asked)}. Open it by the address that it printed."
    if any(_page(origin) != asked[0].lower() for origin in origins):
        return f"Pages of {_quoted(origins)} may not talk to this viewer."
    return ""


def _is_own_name(name: str | None, host: str) -> bool:
    """Whether a name can only mean this computer. A number always does: nobody else decides where it leads."""
    if name is None:
        return False
    if name in {"localhost", host.lower()}:
        return True
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return host in _ANY_ADDRESS and name in {socket.gethostname().lower(), socket.getfqdn().lower()}
    return address.is_loopback or host in _ANY_ADDRESS


def _name(url: str) -> str | None:
    with contextlib.suppress(ValueError):
        return urlsplit(url).hostname
    return None


def _page(origin: str) -> str | None:
    """Return name and port of the site that a page is from; None if it is from none, such as a file."""
    with contextlib.suppress(ValueError):
        parts = urlsplit(origin)
        return parts.netloc.lower() if parts.scheme in {"http", "https"} else None
    return None


def _quoted(values: list[str]) -> str:
    return ", ".join(f"'{value}'" for value in values) or "by no name"


@contextlib.contextmanager
def guarding(host: str) -> Iterator[None]:
    """Refuse strangers at the server that viser starts in this context.

    viser has no setting for it, hence the function that opens its port is replaced while it starts.

    Raises:
        ArmillaryError: viser opened its port in another way, so that nobody would be refused.
    """
    from websockets.asyncio import server  # noqa: PLC0415  (comes with viser)

    opened, guarded = server.serve, []

    def serve(handler: Callable[..., Any], *args: Any, process_request: Any = None, **options: Any) -> Any:
        if not str(getattr(handler, "__module__", "")).startswith("viser."):
            return opened(handler, *args, process_request=process_request, **options)
        guarded.append(handler)
        # A browser opens spare connections and drops them; websockets reports each with a traceback.
        quiet = logging.getLogger("armillary.viewer.connections")
        quiet.setLevel(logging.CRITICAL)
        return opened(handler, *args, process_request=_guarded(process_request, host), **options | {"logger": quiet})

    with _STARTING:
        server.serve = serve  # type: ignore[assignment, misc]  # a function in place of a class that is only called
        try:
            yield
        finally:
            server.serve = opened  # type: ignore[misc]
    if not guarded:
        raise ArmillaryError(
            "This version of viser opens its port in an unknown way, so that pages of other sites could not be kept "
            "out. Install another one: pip install 'viser>=1.1,<1.2'."
        )


def _guarded(answer: Callable[..., Any] | None, host: str) -> Callable[..., Awaitable[Any]]:
    """Return a function that answers requests as `answer` does, but refuses strangers, and frames of other pages."""

    async def guarded(connection: Any, request: Any) -> Any:
        reason = refusal(request.headers, host)
        if reason:
            return connection.respond(HTTPStatus.FORBIDDEN, f"{reason}\n")
        response = answer(connection, request) if answer is not None else None
        if isinstance(response, Awaitable):
            response = await response
        if response is not None:
            # A page that shows the viewer inside itself could lead a click to one of its sliders.
            response.headers["Content-Security-Policy"] = "frame-ancestors 'self'"
        return response

    return guarded
