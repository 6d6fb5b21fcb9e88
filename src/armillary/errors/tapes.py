"""What tapes are refused for."""

from __future__ import annotations

from armillary.errors._base import ArmillaryError

__all__ = ["InvalidTape"]


class InvalidTape(ArmillaryError, ValueError):
    """Code or bytes that are no tape; `instruction` is the number of the one at fault, where it is one."""

    def __init__(self, truth: str, instruction: int | None = None) -> None:
        self.truth, self.instruction = truth, instruction
        where = "" if instruction is None else f" at instruction {instruction}"
        super().__init__(
            f"This tape is refused{where}: {truth}. Compile the expression again, or ask again for the bytes."
        )


for _name in __all__:
    globals()[_name].__module__ = "armillary.errors"
