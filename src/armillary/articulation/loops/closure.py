"""What closes a loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from armillary.articulation.constraints import Constraint
from armillary.articulation.expressions import PointExpression, PoseExpression, VectorExpression
from armillary.articulation.geometry import stack
from armillary.articulation.loops._implicit import following
from armillary.articulation.loops.solver import LoopSolver
from armillary.articulation.variables import Order, Variable
from armillary.errors import InvalidArgument
from armillary.transforms import Transform

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Closure"]


class Closure:
    """Numbers that must be zero, and the variables that see to it.

    The `dependents` follow from the other variables of the residual, its `drivers`. Expressions in which the
    dependents occur become expressions of the drivers with `closed`: their gradients, velocities and Jacobians are
    those of the loop.

    Args:
        residual: What is zero where the loop is closed; more rows than dependents are fine if they agree.
        dependents: Positions that the loop determines.
        start: By dependent, where its search begins the first time: which of several branches is meant. Zero if not
            given.

    >>> from armillary.articulation import VectorExpression, position, cos, sin
    >>> crank, rod, slide = position("crank"), position("rod"), position("slide")
    >>> engine = Closure(
    ...     VectorExpression([0.05 * sin(crank) + 0.15 * sin(rod), 0.05 * cos(crank) + 0.15 * cos(rod) - slide]),
    ...     dependents=[rod, slide],
    ...     start={slide: 0.2},
    ... )
    >>> round(engine.solver().solve({crank: 0.0})[slide], 9)
    0.2
    """

    def __init__(
        self, residual: Any, *, dependents: Sequence[Variable], start: Mapping[Variable, float] | None = None
    ) -> None:
        self.residual = residual if isinstance(residual, VectorExpression) else VectorExpression(residual)
        self.dependents = _as_dependents(dependents, self.residual)
        self.start = _as_start(start or {}, self.dependents)
        self._following: Mapping[Variable, Any] | None = None

    @classmethod
    def of_poses(
        cls,
        left: PoseExpression | Transform,
        right: PoseExpression | Transform,
        *,
        dependents: Sequence[Variable],
        start: Mapping[Variable, float] | None = None,
    ) -> Closure:
        """Two frames that are one: the tray in the left hand and the same tray in the right hand."""
        first, second = _as_pose(left), _as_pose(right)
        # All nine entries of the rotations: their antisymmetric part alone is zero at half a turn as well.
        turned = first.rotation.matrix - second.rotation.matrix
        residual = stack([first.translation - second.translation, *(turned[i, j] for i in range(3) for j in range(3))])
        return cls(residual, dependents=dependents, start=start)

    @classmethod
    def of_points(
        cls,
        left: PointExpression,
        right: PointExpression,
        *,
        dependents: Sequence[Variable],
        start: Mapping[Variable, float] | None = None,
    ) -> Closure:
        """Two points that are one: a pin through two bars."""
        return cls(VectorExpression(left - right), dependents=dependents, start=start)

    @property
    def drivers(self) -> tuple[Variable, ...]:
        """The other variables of the residual, by name."""
        others = self.residual.free_variables - set(self.dependents)
        return tuple(sorted(others, key=lambda variable: (variable.name, variable.order)))

    @property
    def constraints(self) -> Mapping[str, Constraint]:
        """That each row of the residual is zero, by its number."""
        return {str(row): Constraint(0.0, 0.0, entry) for row, entry in enumerate(self.residual)}

    def closed(self, expression: Any) -> Any:
        """The same value, with a gradient along the drivers in place of the dependents."""
        if self._following is None:
            self._following = following(self.residual, self.dependents)
        return expression.substitute(self._following)

    def solver(self) -> LoopSolver:
        """What finds the dependents."""
        return LoopSolver(self.residual, self.drivers, self.dependents, self.start)

    def __repr__(self) -> str:
        names = ", ".join(map(str, self.dependents))
        return f"Closure({len(self.residual)} equations for {names}, driven by {', '.join(map(str, self.drivers))})"


def _as_pose(pose: PoseExpression | Transform) -> PoseExpression:
    return PoseExpression.from_transform(pose) if isinstance(pose, Transform) else pose


def _as_dependents(dependents: Sequence[Variable], residual: VectorExpression) -> tuple[Variable, ...]:
    given = tuple(dependents)
    if not given or len(set(given)) != len(given):
        raise InvalidArgument(f"A loop has dependents, each once, got {list(given)}.", dependents)
    for variable in given:
        if not isinstance(variable, Variable) or variable.order is not Order.POSITION:
            raise InvalidArgument(f"The dependents of a loop are positions, got {variable!r}.", dependents)
        if variable not in residual.free_variables:
            raise InvalidArgument(
                f"{variable!r} does not occur in the loop, so that it cannot follow from it.", dependents
            )
    if len(residual) < len(given):
        raise InvalidArgument(
            f"{len(given)} dependents were given for {len(residual)} equations. Let some of them be drivers.",
            dependents,
        )
    return given


def _as_start(start: Mapping[Variable, float], dependents: Sequence[Variable]) -> dict[Variable, float]:
    strange = [variable for variable in start if variable not in dependents]
    if strange:
        raise InvalidArgument(f"start= names {strange}, which the loop does not determine.", start)
    return {variable: float(start.get(variable, 0.0)) for variable in dependents}
