"""Kinematic loops: links that meet again, and the variables that follow from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from armillary.articulation._overlay import Overlay
from armillary.articulation._terms import Term, atom_term, build, casadi, term_of
from armillary.articulation.constraints import Constraint
from armillary.articulation.expressions import Expression, PointExpression, PoseExpression, VectorExpression
from armillary.articulation.expressions._gradients import directions, jacobian_of
from armillary.articulation.geometry import stack
from armillary.articulation.loop_solver import LoopSolver
from armillary.articulation.variables import Numbers, Order, Variable, VariableLike, as_numbers, as_variable, by_name
from armillary.errors import InvalidArgument
from armillary.transforms import Transform

__all__ = ["Closure", "Loops", "check_loops", "dependent_expressions"]


class Closure:
    """What closes a kinematic loop: a residual that is zero, and the variables that are determined by it.

    The `dependents` follow from the other variables of the residual, its `drivers`. Expressions in which the
    dependents occur become expressions of the drivers with `closed`: their gradients, velocities and Jacobians are
    those of the loop.

    Args:
        residual: An expression that is zero where the loop is closed; more rows than dependents are fine if they agree.
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

    def __init__(self, residual: Any, *, dependents: Sequence[VariableLike], start: Numbers | None = None) -> None:
        self.residual = residual if isinstance(residual, VectorExpression) else VectorExpression(residual)
        self.dependents = _as_dependents(dependents, self.residual)
        self.start = _as_start(start or {}, self.dependents)
        self._dependent_expressions: Mapping[Variable, Any] | None = None

    @classmethod
    def of_poses(
        cls,
        left: PoseExpression | Transform,
        right: PoseExpression | Transform,
        *,
        dependents: Sequence[VariableLike],
        start: Numbers | None = None,
    ) -> Closure:
        """Make a closure of two frames that coincide: the tray in the left hand and the same tray in the right hand."""
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
        dependents: Sequence[VariableLike],
        start: Numbers | None = None,
    ) -> Closure:
        """Make a closure of two points that coincide: a pin through two bars."""
        return cls(VectorExpression(left - right), dependents=dependents, start=start)

    @property
    def drivers(self) -> tuple[Variable, ...]:
        """The other variables of the residual, by name."""
        return tuple(by_name(self.residual.free_variables - set(self.dependents)))

    @property
    def constraints(self) -> Mapping[str, Constraint]:
        """By its number, the constraint that each row of the residual is zero."""
        return {str(row): Constraint(0.0, 0.0, entry) for row, entry in enumerate(self.residual)}

    def closed(self, expression: Any) -> Any:
        """Return the same value, with a gradient along the drivers in place of the dependents."""
        if self._dependent_expressions is None:
            self._dependent_expressions = dependent_expressions(self.residual, self.dependents)
        return expression.substitute(self._dependent_expressions)

    def solver(self) -> LoopSolver:
        """Make a solver for the dependents."""
        return LoopSolver(self.residual, self.drivers, self.dependents, self.start)

    def __repr__(self) -> str:
        names = ", ".join(map(str, self.dependents))
        return f"Closure({len(self.residual)} equations for {names}, driven by {', '.join(map(str, self.drivers))})"


def _as_pose(pose: PoseExpression | Transform) -> PoseExpression:
    return PoseExpression.from_transform(pose) if isinstance(pose, Transform) else pose


def _as_dependents(dependents: Sequence[VariableLike], residual: VectorExpression) -> tuple[Variable, ...]:
    given = tuple(map(as_variable, dependents))
    if not given or len(set(given)) != len(given):
        raise InvalidArgument(f"A loop has dependents, each once, got {list(given)}.", dependents)
    for variable in given:
        if variable.order is not Order.POSITION:
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


def _as_start(given: Numbers, dependents: Sequence[Variable]) -> dict[Variable, float]:
    start = as_numbers(given)
    unknown = [variable for variable in start if variable not in dependents]
    if unknown:
        raise InvalidArgument(f"start= names {unknown}, which the loop does not determine.", start)
    return {variable: float(start.get(variable, 0.0)) for variable in dependents}


class Loops:
    """The kinematic loops of a model, each after those that determine its drivers.

    Loops that need each other are one system of equations.
    """

    def __init__(self, closures: Iterable[Closure]) -> None:
        self.systems = _in_order(list(closures))
        self._solvers = [system.solver() for system in self.systems] if self.systems else []

    @property
    def dependents(self) -> frozenset[Variable]:
        """Every variable that follows from others."""
        return frozenset(variable for system in self.systems for variable in system.dependents)

    def system_of(self, variables: Iterable[Variable]) -> Closure:
        """Return everything that determines these variables, as one system."""
        wanted = set(variables)
        needed: list[Closure] = []
        for system in reversed(self.systems):
            if wanted.intersection(system.dependents):
                needed.insert(0, system)
                wanted.update(system.drivers)
        return needed[0] if len(needed) == 1 else _as_one(needed)

    def closed(self, expression: Any) -> Any:
        """Return the expression with gradients along the drivers of the loops."""
        for system in reversed(self.systems):
            if expression.free_variables.intersection(system.dependents):
                expression = system.closed(expression)
        return expression

    def solve(self, values: Mapping[Variable, float], start: Mapping[Variable, float] | None) -> dict[Variable, float]:
        """Return the values, and those of all dependents."""
        known = {variable: float(value) for variable, value in values.items() if variable not in self.dependents}
        for system, solver in zip(self.systems, self._solvers, strict=True):
            begin = None if start is None else {v: start.get(v, system.start[v]) for v in system.dependents}
            known |= solver.solve(known, start=begin)
        return known


def check_loops(values: Overlay[str, Any], changed: Iterable[str]) -> None:
    """Check that no variable is determined by two kinematic loops."""
    if any(isinstance(values.get(path), Closure) for path in changed):
        _refuse_shared([value for value in (values[path] for path in values) if isinstance(value, Closure)])


def _in_order(left: list[Closure]) -> list[Closure]:
    ordered: list[Closure] = []
    while left:
        sought = {variable for closure in left for variable in closure.dependents}
        ready = [closure for closure in left if not sought.intersection(closure.drivers)]
        ordered += ready or [_as_one(left)]
        left = [closure for closure in left if closure not in ready] if ready else []
    return ordered


def _refuse_shared(closures: list[Closure]) -> None:
    seen: set[Variable] = set()
    for closure in closures:
        shared = seen.intersection(closure.dependents)
        if shared:
            names = ", ".join(sorted(map(str, shared)))
            raise InvalidArgument(f"Two kinematic loops determine {names}. Let it be a driver of one of them.", closure)
        seen.update(closure.dependents)


def _as_one(closures: list[Closure]) -> Closure:
    dependents = [variable for closure in closures for variable in closure.dependents]
    start = {variable: value for closure in closures for variable, value in closure.start.items()}
    return Closure(stack([closure.residual for closure in closures]), dependents=dependents, start=start)


def dependent_expressions(residual: VectorExpression, dependents: Sequence[Variable]) -> Mapping[Variable, Any]:
    """Return, by dependent variable, an expression of the same value that changes with the drivers.

    A kinematic loop is r(q, d) = 0. Where its drivers q move, the dependents d move so that it stays zero:
    dr/dd * d' + dr/dq * q' = 0, the implicit function theorem. A dependent variable is therefore an atom: its value is
    the variable itself, its gradient is along the drivers alone.
    """
    rates = _Rates(residual, dependents)
    rates.atoms = {
        variable: Expression.of_term(atom_term(term_of(variable), partial(rates.of, row)))
        for row, variable in enumerate(dependents)
    }
    return rates.atoms


class _Rates:
    """The rates of the dependents along the drivers: the solution of one linear system, made on first use.

    It contains the `atoms` themselves, so that the second derivative includes that dependents move.
    """

    def __init__(self, residual: VectorExpression, dependents: Sequence[Variable]) -> None:
        self._residual, self._dependents = residual, dependents
        self.atoms: Mapping[Variable, Any] = {}
        self._along: list[Variable] = []
        self._solution: Term | None = None

    def of(self, row: int) -> dict[Variable, Term]:
        solution = self._solved()
        return {key: solution.with_sx(solution.sx[row, column]) for column, key in enumerate(self._along)}

    def _solved(self) -> Term:
        if self._solution is None:
            own = {variable.derivative for variable in self._dependents}
            term = term_of(self._residual)
            self._along = [direction for direction in directions(term) if direction not in own]
            sides = [jacobian_of(term, [v.derivative for v in self._dependents]), jacobian_of(term, self._along)]
            kind = type(self._residual)
            moving = [term_of(kind.of_term(side).substitute(self.atoms)) for side in sides]
            self._solution = build(_least_squares, *moving)
        return self._solution


def _least_squares(left: Any, right: Any) -> Any:
    """Return -left^+ right. The equations of a loop in space may be redundant: more rows than unknowns."""
    if left.size1() == left.size2():
        return -casadi.solve(left, right)
    return -casadi.solve(casadi.mtimes(left.T, left), casadi.mtimes(left.T, right))
