"""All loops of a model together: which follows from which."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from armillary.articulation._overlay import Overlay
from armillary.articulation.geometry import stack
from armillary.articulation.loops.closure import Closure
from armillary.articulation.variables import Variable
from armillary.errors import InvalidArgument

__all__ = ["Loops", "check_loops"]


class Loops:
    """The closures of a model, each after those that determine its drivers.

    Closures that need each other are one system of equations.
    """

    def __init__(self, closures: Iterable[Closure]) -> None:
        self.systems = _in_order(list(closures))
        self._solvers = [system.solver() for system in self.systems] if self.systems else []

    @property
    def dependents(self) -> frozenset[Variable]:
        """Every variable that follows from others."""
        return frozenset(variable for system in self.systems for variable in system.dependents)

    def system_of(self, variables: Iterable[Variable]) -> Closure:
        """All that determines these variables, as one system."""
        wanted = set(variables)
        needed: list[Closure] = []
        for system in reversed(self.systems):
            if wanted.intersection(system.dependents):
                needed.insert(0, system)
                wanted.update(system.drivers)
        return needed[0] if len(needed) == 1 else _as_one(needed)

    def closed(self, expression: Any) -> Any:
        """The expression, with gradients along what drives the loops."""
        for system in reversed(self.systems):
            if expression.free_variables.intersection(system.dependents):
                expression = system.closed(expression)
        return expression

    def solve(self, values: Mapping[Variable, float], start: Mapping[Variable, float] | None) -> dict[Variable, float]:
        """The values, and those of all dependents."""
        known = {variable: float(value) for variable, value in values.items() if variable not in self.dependents}
        for system, solver in zip(self.systems, self._solvers, strict=True):
            begin = None if start is None else {v: start.get(v, system.start[v]) for v in system.dependents}
            known |= solver.solve(known, start=begin)
        return known


def check_loops(values: Overlay[str, Any], changed: Iterable[str]) -> None:
    """No variable follows from two loops."""
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
            raise InvalidArgument(f"Two loops both determine {names}. Let it be a driver of one of them.", closure)
        seen.update(closure.dependents)


def _as_one(closures: list[Closure]) -> Closure:
    dependents = [variable for closure in closures for variable in closure.dependents]
    start = {variable: value for closure in closures for variable, value in closure.start.items()}
    return Closure(stack([closure.residual for closure in closures]), dependents=dependents, start=start)
