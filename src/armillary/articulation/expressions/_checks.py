"""What expressions take from outside, checked once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from armillary.articulation.expressions._operators import scalar_term
from armillary.errors import InvalidArgument

if TYPE_CHECKING:
    from armillary.articulation.expressions._terms import Term
    from armillary.articulation.variables import Variable

__all__ = ["as_direction", "as_numbers", "as_values", "as_variable", "as_variables"]


def as_variable(value: Any) -> Variable:
    """A variable, and nothing else."""
    from armillary.articulation.variables import Variable  # noqa: PLC0415  (a variable can be calculated with)

    if not isinstance(value, Variable):
        raise InvalidArgument(f"A variable is wanted, got {value!r}. Make one with position(name).", value)
    return value


def as_variables(values: Any) -> list[Variable]:
    """Several, in this order, each once."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InvalidArgument(f"A list of variables is wanted, got {values!r}.", values)
    found = [as_variable(value) for value in values]
    twice = next((variable for i, variable in enumerate(found) if variable in found[:i]), None)
    if twice is not None:
        raise InvalidArgument(f"{twice!r} stands twice in the list of variables. Name it once.", twice)
    return found


def as_direction(value: Any) -> Variable:
    """A variable that another one can change along."""
    variable = as_variable(value)
    if not variable.order:
        raise InvalidArgument(
            f"{variable!r} is no key of a gradient: an expression changes along velocities and higher orders. "
            f"Use {variable.derivative!r}.",
            variable,
        )
    return variable


def as_values(values: Any) -> dict[Variable, Term]:
    """What stands for which variable."""
    return {as_variable(key): scalar_term(value, f"What stands for {key!r}") for key, value in _mapping(values).items()}


def as_numbers(values: Any) -> dict[Variable, float]:
    """Numbers of variables."""
    try:
        return {as_variable(key): float(value) for key, value in _mapping(values).items()}
    except (TypeError, ValueError) as error:
        if isinstance(error, InvalidArgument):
            raise
        raise InvalidArgument(f"The values of variables are numbers: {error}.", values) from error


def _mapping(values: Any) -> Mapping[Any, Any]:
    if not isinstance(values, Mapping):
        raise InvalidArgument(f"Values are given by variable, as in {{q: 0.3}}, got {values!r}.", values)
    return values
