"""Operations at their place, with what they read and gave when they ran."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from armillary.articulation._places import Place
from armillary.articulation.links import Link
from armillary.articulation.operations._operation import Operation, Reading
from armillary.articulation.paths import as_path
from armillary.errors import InvalidOperation, OperationFailed, UndeclaredRead, UndeclaredWrite

__all__ = ["Step", "new_step", "outputs_of", "same_value"]

_MUTABLE = (list, dict, set, bytearray)


@dataclass(frozen=True, slots=True)
class Step:
    """One operation in the sequence.

    Attributes:
        operation: What runs.
        place: Where it stands; the item is its tag.
        reads: What it declares to read.
        writes: What it declares to write.
        seen: What it read when it ran last; None where it has to run.
        outputs: What it gave then.
    """

    operation: Operation
    place: Place[str]
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    seen: Mapping[str, Any] | None
    outputs: Mapping[str, Any]

    @property
    def tag(self) -> str:
        """The name of the operation in its model."""
        return self.place.item


def new_step(operation: object, place: Place[str], outputs: Mapping[str, Any]) -> Step:
    """A step that has not run; `outputs` are those of the one it replaces."""
    if not isinstance(operation, Operation):
        raise InvalidOperation(
            f"'{place.item}' was to be {operation!r}, which is no operation. Give an instance of a class derived from "
            "Operation, or a call of a function decorated with @operation(...).",
            operation,
        )
    reads = tuple(dict.fromkeys(as_path(path) for path in operation.reads))
    writes = tuple(dict.fromkeys(as_path(path) for path in operation.writes))
    if not writes:
        raise InvalidOperation(
            f"Operation '{place.item}' writes nothing: it would do nothing. Declare a path.", operation
        )
    return Step(operation, place, reads, writes, None, outputs)


def outputs_of(step: Step, read: Reading) -> dict[str, Any]:
    """Run it; what it gives is checked against what it declares."""
    try:
        answer = step.operation.run(read)
    except UndeclaredRead:
        raise
    except Exception as cause:
        raise OperationFailed(step.tag, cause) from cause
    if not isinstance(answer, Mapping):
        raise UndeclaredWrite(step.tag, step.writes, ())
    missing, strange = [p for p in step.writes if p not in answer], [str(p) for p in answer if p not in step.writes]
    if missing or strange:
        raise UndeclaredWrite(step.tag, missing, strange)
    for path in step.writes:
        _check_value(step, path, answer[path])
    return dict(answer)


def _check_value(step: Step, path: str, value: object) -> None:
    if value is None:
        raise UndeclaredWrite(step.tag, (path,), ())
    if isinstance(value, _MUTABLE):
        raise InvalidOperation(
            f"Operation '{step.tag}' gave a {type(value).__name__} for '{path}', which could be changed behind the "
            "model's back. Give a tuple, a frozen dataclass or an expression.",
            value,
        )
    if isinstance(value, Link) and value.parent is not None and value.parent not in (*step.reads, *step.writes):
        raise UndeclaredRead(step.tag, value.parent, step.reads)


def same_value(one: object, other: object) -> bool:
    """Whether nobody can tell the two apart; False where that cannot be known."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, float) and isinstance(other, float) and (one == other == 0.0):
        return math.copysign(1.0, one) == math.copysign(1.0, other)
    is_same = getattr(one, "is_same", None)
    try:
        return bool(is_same(other) if is_same is not None else one == other)
    except Exception:  # noqa: BLE001  (whatever a stranger's object raises)
        return False
