"""What stops a program: a world that is closed, a limit that is reached, a part that is not installed."""

from __future__ import annotations

from armillary.errors._base import ArmillaryError

__all__ = ["LimitReached", "MissingExtra", "WorldClosed"]


class WorldClosed(ArmillaryError, RuntimeError):
    """A world that was closed cannot be waited on."""

    def __init__(self) -> None:
        super().__init__("This world is closed: nothing more can be waited for. Make a new World().")


class LimitReached(ArmillaryError, RuntimeError):
    """A limit given at construction."""

    def __init__(self, what: str, limit: int, hint: str) -> None:
        self.what, self.limit = what, limit
        super().__init__(f"At most {limit} {what} are kept. {hint}")


class MissingExtra(ArmillaryError, ImportError):
    """An optional part that is not installed."""

    def __init__(self, extra: str, package: str) -> None:
        self.extra, self.package = extra, package
        super().__init__(
            f"This needs '{package}', which is not installed. Install it with: pip install 'armillary[{extra}]'"
        )
