"""The operations that close loops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from armillary._core import Transform
from armillary.articulation.expressions import VectorExpression
from armillary.articulation.loops import Closure
from armillary.articulation.operations._operation import Operation, Reading
from armillary.articulation.variables import Variable, position
from armillary.errors import InvalidOperation

__all__ = ["CloseLoop", "SetClosure"]

_IDENTITY = Transform.identity()


@dataclass(frozen=True, slots=True, kw_only=True)
class CloseLoop(Operation):
    """Let two links meet: some variables then follow from the others.

    Attributes:
        path: Of the closure.
        left: The path of one link.
        right: The path of the other.
        meets: "pose": the frames of both are one, as where two hands hold a tray. "position": only their origins, as
            with a pin.
        left_T_meeting: Where on the one link.
        right_T_meeting: Where on the other.
        dependents: The names of the variables that follow.
        start: Where each of them is looked for the first time; all zero, if left out.
    """

    kind: ClassVar[str] = "close_loop"

    path: str
    left: str
    right: str
    dependents: tuple[str, ...]
    meets: Literal["pose", "position"] = "pose"
    left_T_meeting: Transform = _IDENTITY
    right_T_meeting: Transform = _IDENTITY
    start: tuple[float, ...] = ()

    @property
    def reads(self) -> Sequence[str]:
        """Both links."""
        return (self.left, self.right)

    @property
    def writes(self) -> Sequence[str]:
        """The path of the closure."""
        return (self.path,)

    def run(self, read: Reading) -> Mapping[str, Any]:
        """The closure; it runs again when one of the links that carry the two moves otherwise."""
        left = read.pose(self.left) @ self.left_T_meeting
        right = read.pose(self.right) @ self.right_T_meeting
        dependents, start = _sought(self.dependents, self.start)
        if self.meets == "position":
            points = left.translation, right.translation
            return {self.path: Closure.of_points(*points, dependents=dependents, start=start)}
        return {self.path: Closure.of_poses(left, right, dependents=dependents, start=start)}


@dataclass(frozen=True, slots=True, kw_only=True)
class SetClosure(Operation):
    """Let an expression be zero: some of its variables then follow from the others.

    Attributes:
        path: Of the closure.
        residual: What is zero.
        dependents: The names of the variables that follow.
        start: Where each of them is looked for the first time; all zero, if left out.
    """

    kind: ClassVar[str] = "set_closure"

    path: str
    residual: VectorExpression
    dependents: tuple[str, ...]
    start: tuple[float, ...] = ()

    @property
    def writes(self) -> Sequence[str]:
        """The path of the closure."""
        return (self.path,)

    def run(self, read: Reading) -> Mapping[str, Any]:  # noqa: ARG002  (it reads nothing)
        """The closure."""
        dependents, start = _sought(self.dependents, self.start)
        return {self.path: Closure(self.residual, dependents=dependents, start=start)}


def _sought(names: Sequence[str], start: Sequence[float]) -> tuple[list[Variable], dict[Variable, float]]:
    if start and len(start) != len(names):
        raise InvalidOperation(f"{len(start)} numbers to start from were given for {len(names)} dependents.", start)
    dependents = [position(name) for name in names]
    return dependents, dict(zip(dependents, start, strict=False))
