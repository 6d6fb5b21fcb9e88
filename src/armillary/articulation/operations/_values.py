"""The operation that puts a value into a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from armillary.articulation.operations._operation import Operation, Reading

__all__ = ["SetValue"]


@dataclass(frozen=True, slots=True)
class SetValue(Operation):
    """Put an expression, a constraint, a number, a text or a transform at a path."""

    kind: ClassVar[str] = "set_value"

    path: str
    value: Any

    @property
    def writes(self) -> Sequence[str]:
        """The path."""
        return (self.path,)

    def run(self, read: Reading) -> Mapping[str, Any]:  # noqa: ARG002  (it reads nothing)
        """The value as it is."""
        return {self.path: self.value}
