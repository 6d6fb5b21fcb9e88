"""The root of the errors, and those that any part of the library raises: invalid values, limits, missing extras."""

from __future__ import annotations

import pickle

from armillary.errors.format import with_node_names

__all__ = [
    "ArmillaryError",
    "InvalidArgument",
    "InvalidName",
    "InvalidShape",
    "InvalidStamp",
    "InvalidTransform",
    "LimitReached",
    "MissingExtra",
    "WorldClosed",
]


def restored_error(kind: type[ArmillaryError], args: tuple[object, ...], evidence: dict[str, object]) -> ArmillaryError:
    """Return an error with its evidence, without calling its constructor: for copies of it in other processes."""
    error = kind.__new__(kind)
    if args:
        error.args = args
    error.__dict__.update(evidence)
    return error


class ArmillaryError(Exception):
    """The base class of every error that Armillary raises.

    Where it calls frames or sources by ids of nodes that have names, `node_names` has those, and its text shows them.
    """

    def __str__(self) -> str:
        return with_node_names(super().__str__(), getattr(self, "node_names", {}))

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the error with its evidence, without calling its constructor."""
        return restored_error, (type(self), self.args, self.__dict__)


class FromEvidence(ArmillaryError):
    """Base of errors that are raised in loops: the sentence is made of the evidence when it is read, not before.

    A program that asks until a pose is known reads none of them, and should not pay for the text.
    """

    def __init__(self) -> None:
        """Leave `args` to the property: it would hold a sentence that nobody has asked for."""

    def __str__(self) -> str:
        return with_node_names(self._message(), getattr(self, "node_names", {}))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    def _message(self) -> str:
        raise NotImplementedError

    @property
    def args(self) -> tuple[object, ...]:  # type: ignore[override]
        """The sentence, as any exception has it."""
        return (str(self),)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the evidence alone."""
        return restored_error, (type(self), (), self.__dict__)


class GivenValue:
    """Base of errors about one invalid argument: `value` is that argument as given; a quaternion is (w, x, y, z).

    `value` is None where several arguments contradict each other.
    """

    args: tuple[object, ...]

    def __init__(self, message: str, value: object = None) -> None:
        self.args, self.value = (message,), value

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the error; a value that cannot be pickled is replaced by its description."""
        evidence = dict(self.__dict__)
        try:
            pickle.dumps(self.value)
        except Exception:  # noqa: BLE001  (a user's object may raise anything)
            evidence["value"] = object.__repr__(self.value)
        return restored_error, (type(self), self.args, evidence)


class InvalidTransform(GivenValue, ArmillaryError, ValueError):
    """The numbers are not a rigid transform."""


class InvalidName(GivenValue, ArmillaryError, ValueError):
    """The text cannot be the name of a frame."""


class InvalidStamp(GivenValue, ArmillaryError, TypeError, ValueError):
    """The value is not a stamp in integer nanoseconds."""


class InvalidArgument(GivenValue, ArmillaryError, TypeError, ValueError):
    """An argument has the wrong type, shape or value."""


class InvalidShape(GivenValue, ArmillaryError, ValueError):
    """Sizes, points or indices do not describe a shape."""


class WorldClosed(ArmillaryError, RuntimeError):
    """The world is closed, so nothing can be waited for."""

    def __init__(self) -> None:
        super().__init__("This world is closed: nothing more can be waited for. Make a new World().")


class LimitReached(ArmillaryError, RuntimeError):
    """A limit given at construction is reached."""

    def __init__(self, what: str, limit: int, hint: str) -> None:
        self.what, self.limit = what, limit
        super().__init__(f"At most {limit} {what} are kept. {hint}")


class MissingExtra(ArmillaryError, ImportError):
    """An optional dependency is not installed."""

    def __init__(self, extra: str, package: str) -> None:
        self.extra, self.package = extra, package
        super().__init__(
            f"This needs '{package}', which is not installed. Install it with: pip install 'armillary[{extra}]'"
        )
