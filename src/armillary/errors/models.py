"""What a model and its history refuse."""

from __future__ import annotations

from collections.abc import Sequence

from armillary.errors._base import ArmillaryError, GivenValue
from armillary.errors.format import list_names, nearest_name

__all__ = [
    "InvalidModelFile",
    "InvalidOperation",
    "InvalidPath",
    "LinkLoop",
    "MissingRead",
    "MountOutdated",
    "OperationFailed",
    "TagTaken",
    "UndeclaredRead",
    "UndeclaredWrite",
    "UndoneAtModel",
    "UnknownPath",
    "UnknownTag",
    "UnsavableModel",
    "WrongValue",
]


def _hint(asked: str, known: Sequence[str], empty: str) -> str:
    near = nearest_name(asked, known)
    if near is not None:
        return f"Did you mean '{near}'?"
    return f"Known: {list_names(known)}." if known else empty


class InvalidPath(GivenValue, ArmillaryError, ValueError):
    """Something that cannot be a path in a model."""


class InvalidOperation(GivenValue, ArmillaryError, TypeError, ValueError):
    """Something that cannot be an operation, or says of itself what cannot be."""


class UnknownPath(ArmillaryError, LookupError):
    """A path at which a model holds nothing."""

    def __init__(self, path: str, known: Sequence[str]) -> None:
        self.path, self.known = path, tuple(known)
        super().__init__(path)

    def __str__(self) -> str:
        """The sentence; the search for a similar path is left until somebody reads it."""
        hint = _hint(self.path, self.known, "The model is empty: apply an operation first.")
        return f"This model holds nothing at '{self.path}'. {hint}"


class WrongValue(ArmillaryError, TypeError):
    """A path whose value is of another kind than was asked for."""

    def __init__(self, path: str, wanted: str, found: str) -> None:
        self.path, self.wanted, self.found = path, wanted, found
        super().__init__(
            f"'{path}' holds a {found}, and a {wanted} was asked for. model.value('{path}') gives what is there."
        )


class UnknownTag(ArmillaryError, LookupError):
    """A tag that no operation has."""

    def __init__(self, tag: str, known: Sequence[str]) -> None:
        self.tag, self.known = tag, tuple(known)
        super().__init__(tag)

    def __str__(self) -> str:
        """The sentence; the search for a similar tag is left until somebody reads it."""
        hint = _hint(self.tag, self.known, "Nothing was applied yet.")
        return f"No operation of this model has the tag '{self.tag}'. {hint}"


class TagTaken(ArmillaryError, ValueError):
    """A tag that another operation has."""

    def __init__(self, tag: str) -> None:
        self.tag = tag
        super().__init__(
            f"The tag '{tag}' is taken by an operation of this model. Choose another one to insert, or replace that "
            f"operation where it is: model.apply(operation, tag='{tag}')."
        )


class MissingRead(ArmillaryError, LookupError):
    """An operation that would read what nothing before it writes; `writer` is one that does so too late."""

    def __init__(self, tag: str, path: str, writer: str | None) -> None:
        self.tag, self.path, self.writer = tag, path, writer
        late = f" ('{writer}' does, but later)" if writer is not None else ""
        hint = f"Insert it after '{writer}'" if writer is not None else f"Apply what writes '{path}' first"
        super().__init__(
            f"Operation '{tag}' reads '{path}', which nothing before it writes{late}. {hint}, or take '{tag}' out in "
            "the same edit. Nothing was changed."
        )


class UndeclaredRead(ArmillaryError, LookupError):
    """An operation that read what it does not declare."""

    def __init__(self, tag: str, path: str, declared: Sequence[str]) -> None:
        self.tag, self.path, self.declared = tag, path, tuple(declared)
        super().__init__(
            f"Operation '{tag}' read '{path}', which is not among its reads ({', '.join(self.declared) or 'none'}). "
            "Declare it, so that the operation runs again when that changes."
        )


class UndeclaredWrite(ArmillaryError, ValueError):
    """An operation whose answer is not what it declares; `missing` and `strange` are the paths."""

    def __init__(self, tag: str, missing: Sequence[str], strange: Sequence[str]) -> None:
        self.tag, self.missing, self.strange = tag, tuple(missing), tuple(strange)
        lacks = f" gave nothing for {', '.join(self.missing)}" if self.missing else ""
        more = f" gave {', '.join(self.strange)}, which it does not declare" if self.strange else ""
        super().__init__(
            f"Operation '{tag}'{lacks}{' and' if lacks and more else ''}{more}. Its answer must hold a value for each "
            "of its writes and for nothing else."
        )


class OperationFailed(ArmillaryError, RuntimeError):
    """An operation that raised; `cause` is what."""

    def __init__(self, tag: str, cause: BaseException) -> None:
        self.tag, self.cause = tag, cause
        super().__init__(
            f"Operation '{tag}' failed with {type(cause).__name__}: {cause} Nothing was changed; mend it or its inputs."
        )


class LinkLoop(ArmillaryError, ValueError):
    """Links that would carry each other; `path` leads from a link up to itself."""

    def __init__(self, path: Sequence[str]) -> None:
        self.path = tuple(path)
        super().__init__(
            f"These links would carry each other: {' on '.join(self.path)}. A mechanism that closes on itself is a "
            "tree and a closure constraint: leave one of these connections out. Nothing was changed."
        )


class InvalidModelFile(ArmillaryError, ValueError):
    """A file that is no model; `field` leads to what is wrong in it, as in `operations[3].joint.axis`."""

    def __init__(self, path: str, field: str, reason: str, hint: str = "mend the file, or save it again") -> None:
        self.path, self.field, self.reason, self.hint = path, field, reason, hint
        where = f" at {field}" if field else ""
        super().__init__(f"'{path}' is refused{where}: {reason}. Nothing was loaded; {hint}.")


class UnsavableModel(ArmillaryError, ValueError):
    """A model that holds something no file can; `tag` is the operation."""

    def __init__(self, tag: str, reason: str, hint: str) -> None:
        self.tag = tag
        super().__init__(f"The model cannot be saved: operation '{tag}' {reason}. {hint}")


class UndoneAtModel(ArmillaryError, ValueError):
    """The last change of a world came from an edit of a model that stands in it; `under` is the mounted part."""

    def __init__(self, under: str) -> None:
        self.under = under
        what = f"'{under}'" if under else "a model"
        super().__init__(
            f"The last change of this world was an edit of {what}, which is mounted here. Take it back at the model: "
            "`mount.model.undo()`; the world follows."
        )


class MountOutdated(ArmillaryError, ValueError):
    """A mount that was taken back, and whose model was edited since; `under` is the part that was mounted."""

    def __init__(self, under: str) -> None:
        self.under = under
        what = f"'{under}'" if under else "A model"
        super().__init__(
            f"{what} was to be mounted again as it was, and has been edited since. Mount it with `world.mount`."
        )
