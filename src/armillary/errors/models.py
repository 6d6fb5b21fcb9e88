"""Errors about articulation models: operations and tags, expressions, tapes, kinematic loops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from armillary.errors.base import ArmillaryError, GivenValue
from armillary.errors.format import format_stamp, list_names, nearest_name

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "CannotCompile",
    "InvalidExpression",
    "InvalidOperation",
    "InvalidPath",
    "InvalidTape",
    "LinkLoop",
    "LoopBranchUncertain",
    "LoopError",
    "MachineCodeFailed",
    "MissingRead",
    "MountOutdated",
    "NoSuchEntry",
    "NoSuchOrder",
    "NotGrounded",
    "OpenLoop",
    "OperationFailed",
    "SingularLoop",
    "TagTaken",
    "UndeclaredRead",
    "UndeclaredWrite",
    "UndoneAtModel",
    "UnknownPath",
    "UnknownTag",
    "UnloadableTape",
    "UnreachableLoop",
    "WrongValue",
]


def _hint(asked: str, known: Sequence[str], empty: str) -> str:
    near = nearest_name(asked, known)
    if near is not None:
        return f"Did you mean '{near}'?"
    return f"Known: {list_names(known)}." if known else empty


class InvalidPath(GivenValue, ArmillaryError, ValueError):
    """The value cannot be a path in a model."""


class InvalidOperation(GivenValue, ArmillaryError, TypeError, ValueError):
    """The value is not an operation, or its declaration contradicts itself."""


class UnknownPath(ArmillaryError, LookupError):
    """The model holds nothing at this path."""

    def __init__(self, path: str, known: Sequence[str]) -> None:
        self.path, self.known = path, tuple(known)
        super().__init__(path)

    def __str__(self) -> str:
        """The message; similar paths are searched for only when it is read."""
        hint = _hint(self.path, self.known, "The model is empty: apply an operation first.")
        return f"This model holds nothing at '{self.path}'. {hint}"


class WrongValue(ArmillaryError, TypeError):
    """The value at a path is of another type than was asked for."""

    def __init__(self, path: str, wanted: str, found: str) -> None:
        self.path, self.wanted, self.found = path, wanted, found
        super().__init__(f"'{path}' holds a {found}, and a {wanted} was asked for. model.value('{path}') returns it.")


class UnknownTag(ArmillaryError, LookupError):
    """No operation of the model has this tag."""

    def __init__(self, tag: str, known: Sequence[str]) -> None:
        self.tag, self.known = tag, tuple(known)
        super().__init__(tag)

    def __str__(self) -> str:
        """The message; similar tags are searched for only when it is read."""
        hint = _hint(self.tag, self.known, "Nothing was applied yet.")
        return f"No operation of this model has the tag '{self.tag}'. {hint}"


class TagTaken(ArmillaryError, ValueError):
    """Another operation of the model has this tag."""

    def __init__(self, tag: str) -> None:
        self.tag = tag
        super().__init__(
            f"The tag '{tag}' is taken by an operation of this model. Choose another one to insert, or replace that "
            f"operation where it is: model.apply(operation, tag='{tag}')."
        )


class MissingRead(ArmillaryError, LookupError):
    """An operation would read a path that nothing before it writes; `writer` is an operation that writes it later."""

    def __init__(self, tag: str, path: str, writer: str | None) -> None:
        self.tag, self.path, self.writer = tag, path, writer
        late = f" ('{writer}' does, but later)" if writer is not None else ""
        hint = f"Insert it after '{writer}'" if writer is not None else f"Apply what writes '{path}' first"
        super().__init__(
            f"Operation '{tag}' reads '{path}', which nothing before it writes{late}. {hint}, or take '{tag}' out in "
            "the same edit. Nothing was changed."
        )


class UndeclaredRead(ArmillaryError, LookupError):
    """An operation read a path that it does not declare."""

    def __init__(self, tag: str, path: str, declared: Sequence[str]) -> None:
        self.tag, self.path, self.declared = tag, path, tuple(declared)
        super().__init__(
            f"Operation '{tag}' read '{path}', which is not among its reads ({', '.join(self.declared) or 'none'}). "
            "Declare it, so that the operation runs again when that changes."
        )


class UndeclaredWrite(ArmillaryError, ValueError):
    """An operation did not return exactly its declared writes: `missing` and `strange` are the paths."""

    def __init__(self, tag: str, missing: Sequence[str], strange: Sequence[str]) -> None:
        self.tag, self.missing, self.strange = tag, tuple(missing), tuple(strange)
        faults = [f"gave nothing for {', '.join(self.missing)}"] if self.missing else []
        if self.strange:
            faults.append(f"gave {', '.join(self.strange)}, which it does not declare")
        super().__init__(
            f"Operation '{tag}' {' and '.join(faults)}. Its answer must hold a value for each "
            "of its writes and for nothing else."
        )


class OperationFailed(ArmillaryError, RuntimeError):
    """An operation raised an exception, `cause`."""

    def __init__(self, tag: str, cause: BaseException) -> None:
        self.tag, self.cause = tag, cause
        super().__init__(
            f"Operation '{tag}' failed with {type(cause).__name__}: {cause} Nothing was changed; mend it or its inputs."
        )


class LinkLoop(ArmillaryError, ValueError):
    """Links would form a cycle of parents; `path` leads from a link up to itself."""

    def __init__(self, path: Sequence[str]) -> None:
        self.path = tuple(path)
        super().__init__(
            f"These links would carry each other: {' on '.join(self.path)}. A mechanism that closes on itself is a "
            "tree and a closure constraint: leave one of these connections out. Nothing was changed."
        )


class UndoneAtModel(ArmillaryError, ValueError):
    """The last change of a world came from an edit of a mounted model; `under` is the path that is mounted."""

    def __init__(self, under: str) -> None:
        self.under = under
        what = f"'{under}'" if under else "a model"
        super().__init__(
            f"The last change of this world was an edit of {what}, which is mounted here. Undo it at the model: "
            "`mount.model.undo()`; the world follows."
        )


class MountOutdated(ArmillaryError, ValueError):
    """A mount cannot be redone because its model was edited since; `under` is the path that was mounted."""

    def __init__(self, under: str) -> None:
        self.under = under
        what = f"'{under}'" if under else "A model"
        super().__init__(
            f"{what} was to be mounted again as it was, and has been edited since. Mount it with `world.mount`."
        )


class NotGrounded(ArmillaryError, ValueError):
    """An expression has no value while `variables` are free."""

    def __init__(self, variables: Sequence[str]) -> None:
        self.variables = tuple(variables)
        free = ", ".join(self.variables)
        super().__init__(f"A value was asked, and these variables have none: {free}. Give a number for each of them.")


class NoSuchOrder(ArmillaryError, ValueError):
    """A jerk has no derivative and a position no integral here; `asked` is which was asked of `variable`."""

    def __init__(self, variable: str, asked: str) -> None:
        self.variable, self.asked = variable, asked
        super().__init__(
            f"The {asked} of {variable} was asked, and variables reach from position to jerk. "
            "Differentiate less often, or begin with a lower order."
        )


class NoSuchEntry(ArmillaryError, IndexError):
    """A vector or matrix has no such entry; `place` is the index, `count` the number of entries."""

    def __init__(self, place: object, count: int, what: str) -> None:
        self.place, self.count = place, count
        asked = f"{place.start}:{place.stop}:{place.step}" if isinstance(place, slice) else repr(place)
        super().__init__(
            f"[{asked}] was asked of {count} {what}. Count from 0 to {count - 1}, from the end with -1, "
            "or give a slice that chooses at least one."
        )


class CannotCompile(ArmillaryError, RuntimeError):
    """An expression could not be compiled to machine code; `reason` says why."""

    def __init__(self, reason: str, hint: str) -> None:
        self.reason = reason
        super().__init__(f"The expression cannot become machine code: {reason}. {hint}")


class MachineCodeFailed(UserWarning):
    """An expression was to become machine code and does not; its tape goes on being run. `reason` says why."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)

    def __str__(self) -> str:
        return f"{self.reason} Its tape goes on being run: the same numbers, more slowly."


class InvalidExpression(ArmillaryError, ValueError):
    """A document is not an expression; `field` leads to the fault, as in `atoms[2].gradient[0]`."""

    def __init__(self, field: str, reason: str) -> None:
        self.field, self.reason = field, reason
        where = f" at {field}" if field else ""
        super().__init__(
            f"The expression is refused{where}: {reason}. Write it again with expression_to_document(...)."
        )


class InvalidTape(ArmillaryError, ValueError):
    """Code or bytes are not a valid tape; `instruction` is the number of the faulty instruction, if it is one."""

    def __init__(self, reason: str, instruction: int | None = None) -> None:
        self.reason, self.instruction = reason, instruction
        where = "" if instruction is None else f" at instruction {instruction}"
        super().__init__(
            f"This tape is refused{where}: {reason}. Compile the expression again, or ask again for the bytes."
        )


class UnloadableTape(ArmillaryError, OSError):
    """A shared library holds no compiled tape; `reason` is the message of the system's loader."""

    def __init__(self, path: str, symbol: str, reason: str) -> None:
        self.path, self.symbol, self.reason = path, symbol, reason
        super().__init__(
            f"The compiled tape '{symbol}' cannot be loaded from '{path}': {reason}. Compile it again on this machine."
        )


class LoopError(ArmillaryError, ValueError):
    """A kinematic loop cannot be closed for the values `drivers` of its driving variables.

    `row` is their row, if they were one of several rows.
    """

    row: int | None = None

    def __init__(self, drivers: Mapping[str, float], message: str) -> None:
        self.drivers = dict(drivers)
        super().__init__(message)

    def __str__(self) -> str:
        """The message, with the row where there is one."""
        message = super().__str__()
        return message if self.row is None else f"In row {self.row}: {message}"


class UnreachableLoop(LoopError):
    """No values of the dependent variables close the kinematic loop; `residual` is the error that remains."""

    def __init__(self, drivers: Mapping[str, float], residual: float, tolerance: float) -> None:
        self.residual, self.tolerance = residual, tolerance
        super().__init__(
            drivers,
            f"The loop was to be closed for {_listed(drivers)}, and it stays open by {residual:.3g} (allowed: "
            f"{tolerance:.3g}). Drive it to where its parts reach each other, or begin nearer with start=.",
        )


class SingularLoop(LoopError):
    """The drivers determine only `determined` of the `dependents` dependent variables of a kinematic loop."""

    def __init__(self, drivers: Mapping[str, float], determined: int, dependents: int) -> None:
        self.determined, self.dependents = determined, dependents
        super().__init__(
            drivers,
            f"The loop was to be closed for {_listed(drivers)}, and there it determines {determined} of its "
            f"{dependents} dependent variables. Keep away from this configuration, or make another variable a driver.",
        )


class LoopBranchUncertain(UserWarning):
    """A kinematic loop could not be followed to these values of its `drivers`: which branch it is on cannot be told."""

    def __init__(self, drivers: Mapping[str, float]) -> None:
        self.drivers = dict(drivers)
        super().__init__(
            f"On the way to {_listed(drivers)} the loop passes where its branches meet, or where its parts do not "
            "reach each other: which branch it is on cannot be told from its drivers. Set them more often, or set a "
            "dependent joint with them."
        )


class OpenLoop(ArmillaryError, LookupError):
    """The joint values at the instant `requested` do not close the kinematic loop of the relation `edge`."""

    def __init__(self, edge: tuple[str, str, str], requested: int | None) -> None:
        self.edge, self.requested = edge, requested
        when = "" if requested is None else f" at {format_stamp(requested)}"
        super().__init__(
            f"The pose of '{edge[0]}' in '{edge[1]}' was asked{when}, and the joints there do not close its loop: "
            "between two samples its parts do not reach each other. Set the joints more often, or keep within reach."
        )


def _listed(drivers: Mapping[str, float]) -> str:
    return ", ".join(f"{name} = {value:.6g}" for name, value in drivers.items()) or "no driver"
