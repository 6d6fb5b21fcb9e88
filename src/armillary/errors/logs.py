"""Logs and recordings that cannot be read, written, or played."""

from __future__ import annotations

from armillary.errors.base import ArmillaryError

__all__ = ["InvalidLog", "NoSuchTopic", "RecordingFailed"]


class InvalidLog(ArmillaryError, ValueError):
    """A file is no log that can be read; `reason` says what was found instead."""

    def __init__(self, path: str, reason: str, hint: str = "") -> None:
        self.path, self.reason, self.hint = path, reason, hint
        super().__init__(f"'{path}' cannot be read as a log: {reason}." + (f" {hint}" if hint else ""))


class NoSuchTopic(ArmillaryError, LookupError):
    """A log has no such topic, or none of this kind; `known` are those that it has."""

    def __init__(self, path: str, topic: str, known: tuple[str, ...]) -> None:
        self.path, self.topic, self.known = path, topic, known
        listed = ", ".join(known[:20]) if known else "none"
        super().__init__(f"'{path}' has no topic '{topic}' that can be read so. It has: {listed}.")


class RecordingFailed(ArmillaryError, OSError):
    """A recording could not be written any further; what was written before can be replayed."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"Recording into '{path}' has ended: {reason}. What was written before can be replayed.")
