"""What variables and expressions refuse."""

from __future__ import annotations

from typing import TYPE_CHECKING

from armillary.errors._base import ArmillaryError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["CannotCompile", "InvalidExpression", "NoSuchEntry", "NoSuchOrder", "NotGrounded"]


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


class NoSuchEntry(ArmillaryError, IndexError):
    """An entry that a vector or matrix does not have; `place` is what was asked, `count` how many there are."""

    def __init__(self, place: object, count: int, what: str) -> None:
        self.place, self.count = place, count
        asked = f"{place.start}:{place.stop}:{place.step}" if isinstance(place, slice) else repr(place)
        super().__init__(
            f"[{asked}] was asked of {count} {what}. Count from 0 to {count - 1}, from the end with -1, "
            "or give a slice that chooses at least one."
        )


class CannotCompile(ArmillaryError, RuntimeError):
    """Machine code that could not be made; `reason` says why."""

    def __init__(self, reason: str, hint: str) -> None:
        self.reason = reason
        super().__init__(f"The expression cannot become machine code: {reason}. {hint}")


class InvalidExpression(ArmillaryError, ValueError):
    """A document that is no expression; `field` leads to what is wrong in it, as in `atoms[2].gradient[0]`."""

    def __init__(self, field: str, reason: str) -> None:
        self.field, self.reason = field, reason
        where = f" at {field}" if field else ""
        super().__init__(
            f"The expression is refused{where}: {reason}. Write it again with expression_to_document(...)."
        )
