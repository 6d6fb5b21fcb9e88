"""What tapes are refused for."""

from __future__ import annotations

from armillary.errors._base import ArmillaryError

__all__ = ["InvalidTape", "UnloadableTape"]


class InvalidTape(ArmillaryError, ValueError):
    """Code or bytes that are no tape; `instruction` is the number of the one at fault, where it is one."""

    def __init__(self, reason: str, instruction: int | None = None) -> None:
        self.reason, self.instruction = reason, instruction
        where = "" if instruction is None else f" at instruction {instruction}"
        super().__init__(
            f"This tape is refused{where}: {reason}. Compile the expression again, or ask again for the bytes."
        )


class UnloadableTape(ArmillaryError, OSError):
    """A library that holds no compiled tape; `reason` is what the system's loader says of it."""

    def __init__(self, path: str, symbol: str, reason: str) -> None:
        self.path, self.symbol, self.reason = path, symbol, reason
        super().__init__(
            f"The compiled tape '{symbol}' cannot be loaded from '{path}': {reason}. Compile it again on this machine."
        )
