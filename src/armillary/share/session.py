"""The Zenoh session of a share: how processes find each other, and who may connect."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from socket import SO_REUSEADDR, SOL_SOCKET, socket
from tempfile import NamedTemporaryFile
from typing import Any

from armillary.errors import InvalidArgument, MissingExtra, ShareFailed

__all__ = ["Connection", "Meeting", "open_session", "world_key", "zenoh_module"]

_FIRST_PORT, _PORTS = 20_000, 10_000
_LOOPBACK = ("127.", "[::1]", "localhost")
_LEASE_MS = 1000


def zenoh_module() -> Any:
    """Import Zenoh.

    Raises:
        MissingExtra: It is not installed.
    """
    try:
        import zenoh  # noqa: PLC0415  (optional)
    except ImportError:
        raise MissingExtra("share", "eclipse-zenoh") from None
    return zenoh


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """How processes of a shared world reach each other.

    Attributes:
        connect: Endpoints to connect to, as "tcp/192.168.1.5:7447".
        listen: Endpoints to listen at. Without both, processes of this machine find each other.
        router: Forward between processes that connect here and do not reach each other.
        user: Name to connect with.
        password: Password to connect with.
        users: Names and passwords of those who may connect here; None: everybody.
        certificates: Paths of a certificate authority, a certificate and its key, for endpoints of "tls/".
    """

    connect: tuple[str, ...] = ()
    listen: tuple[str, ...] = ()
    router: bool = False
    user: str | None = None
    password: str | None = None
    users: Mapping[str, str] | None = None
    certificates: tuple[str, str, str] | None = None

    def __post_init__(self) -> None:
        for name in ("connect", "listen"):
            given = getattr(self, name)
            if isinstance(given, str) or not all(isinstance(one, str) and "/" in one for one in given):
                raise InvalidArgument(
                    f"{name} must be a list of endpoints such as 'tcp/127.0.0.1:7447', got {given!r}.", given
                )
            object.__setattr__(self, name, tuple(given))
        if (self.user is None) != (self.password is None):
            raise InvalidArgument("user and password go together. Give both, or none.", self.user)
        if self.certificates is not None and len(self.certificates) != 3:  # noqa: PLR2004
            raise InvalidArgument("certificates are three paths: of the authority, the certificate, its key.")

    @property
    def is_local(self) -> bool:
        """Whether it reaches this machine alone."""
        return all(one.split("/", 1)[1].startswith(_LOOPBACK) for one in (*self.connect, *self.listen))

    @property
    def meets(self) -> bool:
        """Whether processes of this machine find each other without endpoints."""
        return not self.connect and not self.listen

    @property
    def has_credentials(self) -> bool:
        """Whether who connects must show something."""
        return self.users is not None or self.certificates is not None


def world_key(name: str) -> str:
    """Return the part of keys that is a world's own."""
    if not isinstance(name, str) or not name or len(name) > 200:  # noqa: PLR2004
        raise InvalidArgument(f"A shared world needs a name of at most 200 characters, got {name!r}.", name)
    is_plain = name.replace("-", "").replace("_", "").isalnum() and name.isascii()
    return f"arm/1/{name if is_plain else 'x' + name.encode().hex()}"


def _meeting_port(name: str) -> int:
    """Return the port of this machine at which processes that share a name find each other."""
    return _FIRST_PORT + int.from_bytes(sha256(name.encode()).digest()[:4], "big") % _PORTS


def _settings(name: str, connection: Connection) -> dict[str, Any]:
    listen = list(connection.listen) or ["tcp/127.0.0.1:0"]
    connect = [f"tcp/127.0.0.1:{_meeting_port(name)}"] if connection.meets else list(connection.connect)
    again = {"period_init_ms": 50, "period_max_ms": 200, "period_increase_factor": 2}
    settings: dict[str, Any] = {
        "mode": "router" if connection.router else "peer",
        "listen/endpoints": listen,
        "connect/endpoints": connect,
        "listen/exit_on_failure": True,
        "connect/timeout_ms": 0,
        "connect/exit_on_failure": False,
        "connect/retry": again,
        "scouting/multicast/enabled": False,
        "scouting/gossip/enabled": True,
        "transport/link/tx/lease": _LEASE_MS,
    }
    if connection.user is not None:
        settings |= {
            "transport/auth/usrpwd/user": connection.user,
            "transport/auth/usrpwd/password": connection.password,
        }
    if connection.certificates is not None:
        authority, certificate, key = map(str, connection.certificates)
        settings |= {
            "transport/link/tls/root_ca_certificate": authority,
            "transport/link/tls/listen_certificate": certificate,
            "transport/link/tls/listen_private_key": key,
            "transport/link/tls/connect_certificate": certificate,
            "transport/link/tls/connect_private_key": key,
            "transport/link/tls/enable_mtls": True,
        }
    return settings


class Meeting:
    """The place at which processes of this machine that share a name find each other: a port of the loopback.

    Whoever comes first listens there; whoever is left when that process ends takes it over. It is a session of its own:
    one that waits for a port which is taken does not close.
    """

    def __init__(self, name: str) -> None:
        self._name, self._session = name, None

    def hold(self) -> None:
        """Listen, unless somebody does; nothing where this process does already."""
        if self._session is not None or not _is_free(_meeting_port(self._name)):
            return
        endpoint = f"tcp/127.0.0.1:{_meeting_port(self._name)}"
        with suppress(ShareFailed):  # another process was faster
            self._session = open_session(self._name, Connection(listen=(endpoint,)))

    def close(self) -> None:
        """Let another process listen."""
        if self._session is not None:
            self._session.close()
            self._session = None


def _is_free(port: int) -> bool:
    with socket() as trial:
        trial.setsockopt(SOL_SOCKET, SO_REUSEADDR, 1)
        try:
            trial.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def open_session(name: str, connection: Connection) -> Any:
    """Open the session of a share.

    Raises:
        MissingExtra: Zenoh is not installed.
        ShareFailed: It cannot listen where it should.
    """
    zenoh = zenoh_module()
    config = zenoh.Config()
    for key, value in _settings(name, connection).items():
        config.insert_json5(key, json.dumps(value))
    if connection.users is None:
        return _opened(zenoh, name, config)
    with NamedTemporaryFile("w", prefix="armillary_users_", suffix=".txt", delete=False) as file:
        file.writelines(f"{user}:{password}\n" for user, password in connection.users.items())
    try:
        config.insert_json5("transport/auth/usrpwd/dictionary_file", json.dumps(file.name))
        return _opened(zenoh, name, config)
    finally:
        Path(file.name).unlink()


def _opened(zenoh: Any, name: str, config: Any) -> Any:
    try:
        return zenoh.open(config)
    except zenoh.ZError as error:
        reason = str(error).splitlines()[0].split(" at /")[0][:200].rstrip(".")
        hint = "Is another process listening there already? Give a free endpoint, or connect= to that one."
        raise ShareFailed(name, reason, hint) from None
