"""Sharing: one world in many processes, on Eclipse Zenoh; and questions to it without a copy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from armillary.share.answers import answer
from armillary.share.peers import PeerInfo
from armillary.share.remote import RemoteWorld
from armillary.share.session import Connection
from armillary.share.share import Share
from armillary.wire.channels import Channel

__all__ = ["Channel", "Connection", "PeerInfo", "RemoteWorld", "Share", "connect", "share_world"]


def connect(
    name: str,
    *,
    connect: Sequence[str] = (),
    user: str | None = None,
    password: str | None = None,
    certificates: tuple[str, str, str] | None = None,
    timeout_s: float = 5.0,
) -> RemoteWorld:
    """Connect to a shared world, to ask it without holding a copy.

    Args:
        name: The name by which it is shared.
        connect: Endpoints to connect to; without them, processes of this machine are found.
        user: Name to connect with.
        password: Password to connect with.
        certificates: Paths of a certificate authority, a certificate and its key, for endpoints of "tls/".
        timeout_s: How long an answer may take [s].

    Raises:
        NoPeer: Nobody shares such a world.
    """
    how = Connection(connect=tuple(connect), user=user, password=password, certificates=certificates)
    return RemoteWorld(name, how, timeout_s)


def share_world(
    world: Any,
    name: str,
    connection: Connection,
    *,
    samples: str | Callable[[Channel], bool],
    idle_s: float,
    batch_s: float,
) -> Share:
    """Share a world; arguments as for `World.share`."""
    import warnings  # noqa: PLC0415

    if not connection.is_local and not connection.has_credentials:
        warnings.warn(
            f"'{name}' is shared beyond this machine, and whoever reaches it can change it. Give users= or "
            "certificates=.",
            stacklevel=3,
        )
    return Share(
        world.store,
        name,
        connection,
        samples=samples,
        idle_s=idle_s,
        batch_s=batch_s,
        answer=partial(answer, world),
    )
