"""Errors of sharing a world between processes."""

from __future__ import annotations

from armillary.errors.base import ArmillaryError

__all__ = ["ClocksDiffer", "InvalidMessage", "NoPeer", "NotShared", "PeerBehind", "ShareFailed"]


class InvalidMessage(ArmillaryError, ValueError):
    """A message of another process that is malformed: it was counted, and nothing of it was stored."""

    def __init__(self, reason: str, key: str = "") -> None:
        self.reason, self.key = reason, key
        where = f" on '{key}'" if key else ""
        super().__init__(f"A message{where} is malformed: {reason}. Nothing of it was stored.")


class NotShared(ArmillaryError, RuntimeError):
    """The world is not shared, so that there is no peer to ask."""

    def __init__(self) -> None:
        super().__init__("This world is not shared. Share it first: world.share('kitchen').")


class ShareFailed(ArmillaryError, ConnectionError):
    """A world could not be shared, or a shared one not be reached."""

    def __init__(self, name: str, reason: str, hint: str) -> None:
        self.name, self.reason, self.hint = name, reason, hint
        super().__init__(f"'{name}' could not be reached: {reason}. {hint}")


class NoPeer(ArmillaryError, ConnectionError):
    """No process answers for a shared world."""

    def __init__(self, name: str, waited_s: float) -> None:
        self.name, self.waited_s = name, waited_s
        super().__init__(
            f"Nobody shares a world '{name}' that this process can reach (waited {waited_s:.3g} s). Call "
            f"world.share('{name}') in the process that has the world; on another machine also give listen= there and "
            "connect= here."
        )


class PeerBehind(ArmillaryError, RuntimeError):
    """A peer was away for longer than removals are remembered: what was removed meanwhile may be here still."""

    def __init__(self, peer: str) -> None:
        self.peer = peer
        super().__init__(
            f"Peer '{peer}' no longer remembers removals that this world has not seen: what was removed meanwhile may "
            "be here still. Make a new world and share that, which gets a full copy."
        )


class ClocksDiffer(ArmillaryError, RuntimeError):
    """Two worlds of one share have clocks of different kinds: their stamps mean different things."""

    def __init__(self, peer: str, theirs: str, ours: str) -> None:
        self.peer, self.theirs, self.ours = peer, theirs, ours
        super().__init__(
            f"Peer '{peer}' has a {theirs} clock and this world a {ours} one: their stamps mean different things, and "
            "nothing of it is taken. Give both worlds a clock= or none."
        )
