"""What variables and expressions refuse."""

from __future__ import annotations

from typing import TYPE_CHECKING

from armillary.errors._base import ArmillaryError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["NoSuchOrder", "NotGrounded"]


class NotGrounded(ArmillaryError, ValueError):
    """A value was asked while variables are free; `variables` are those, as they are written."""

    def __init__(self, variables: Sequence[str]) -> None:
        self.variables = tuple(variables)
        free = ", ".join(self.variables)
        super().__init__(f"A value was asked, and these variables have none: {free}. Give a number for each of them.")


class NoSuchOrder(ArmillaryError, ValueError):
    """The derivative of a jerk, or the integral of a position; `variable` is that, `asked` is which."""

    def __init__(self, variable: str, asked: str) -> None:
        self.variable, self.asked = variable, asked
        super().__init__(
            f"The {asked} of {variable} was asked, and variables reach from position to jerk. "
            "Differentiate less often, or begin with a lower order."
        )


for _name in __all__:
    globals()[_name].__module__ = "armillary.errors"
