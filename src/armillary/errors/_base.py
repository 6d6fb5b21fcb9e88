"""The root of the tree of errors."""

from __future__ import annotations


def _restored(kind: type[ArmillaryError], args: tuple[object, ...], evidence: dict[str, object]) -> ArmillaryError:
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(evidence)
    return error


class ArmillaryError(Exception):
    """The root of everything Armillary raises."""

    def __reduce__(self) -> tuple[object, ...]:
        """Errors travel between processes with their evidence."""
        return _restored, (type(self), self.args, self.__dict__)


ArmillaryError.__module__ = "armillary.errors"
