"""The root of the tree of errors."""

from __future__ import annotations

import pickle


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


class GivenValue:
    """For errors about one thing that cannot be taken: `value` is that, as it was given; a quaternion is (w, x, y, z).

    None where several things do not go together.
    """

    args: tuple[object, ...]

    def __init__(self, message: str, value: object = None) -> None:
        self.args, self.value = (message,), value

    def __reduce__(self) -> tuple[object, ...]:
        """It may be anything: where it cannot travel, its description does."""
        evidence = dict(self.__dict__)
        try:
            pickle.dumps(self.value)
        except Exception:  # noqa: BLE001  (whatever a stranger's object raises)
            evidence["value"] = object.__repr__(self.value)
        return _restored, (type(self), self.args, evidence)
