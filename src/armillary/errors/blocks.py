"""What function blocks refuse."""

from __future__ import annotations

from typing import TYPE_CHECKING

from armillary.errors._base import ArmillaryError
from armillary.errors.format import nearest_name

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["BlockFailed", "PortMismatch", "UnknownBlock", "UnusableBlock"]

_A_SUBCLASS = "Its entry point must name a subclass of armillary.scene.FunctionBlock."


class UnknownBlock(ArmillaryError, LookupError):
    """A name that no installed block has; `block` is that name."""

    def __init__(self, block: str, known: Sequence[str]) -> None:
        self.block, self.known = block, tuple(known)
        near = nearest_name(block, self.known)
        hint = f"Did you mean '{near}'?" if near else f"Installed: {', '.join(self.known)}."
        super().__init__(f"No function block is named '{block}'. {hint}")


class UnusableBlock(ArmillaryError, TypeError):
    """An installed block that cannot be used; `reason` says why."""

    def __init__(self, block: str, reason: str, hint: str = _A_SUBCLASS) -> None:
        self.block, self.reason = block, reason
        super().__init__(f"The block '{block}' is installed, but cannot be used: {reason}. {hint}")


class PortMismatch(ArmillaryError, TypeError):
    """Data that a port of a block does not take; `block` and `port` are their names."""

    def __init__(self, block: str, port: str, reason: str, hint: str) -> None:
        self.block, self.port = block, port
        where = f"Port '{port}' of the block '{block}'" if port else f"The block '{block}'"
        super().__init__(f"{where}: {reason}. {hint}")


class BlockFailed(ArmillaryError, RuntimeError):
    """A block that raised; `reason` is what, and the scene is as it was."""

    def __init__(self, block: str, reason: Exception) -> None:
        self.block, self.reason = block, reason
        super().__init__(
            f"The block '{block}' failed, and the scene is as it was: {type(reason).__name__}: {_told(reason)}. "
            "Mend the block, its data or its parameters, and execute it again."
        )


def _told(reason: Exception) -> str:
    """Without the full stop that the sentence around it has."""
    return str(reason).rstrip(".")
