"""Composition of two relations in whichever order fits."""

from __future__ import annotations

from typing import Any

from armillary import errors
from armillary.relations._checks import Asked


def compose_any(a: Any, b: Any) -> Any:
    """`a @ b` or `b @ a`, whichever has a meaning.

    Raises:
        AmbiguousOrder: Both have one, and they mean different things.
        SemanticError: Neither has one; the reason is that of the order that fits better.

    >>> from armillary.relations import Position
    >>> tip = Position(point="tip", reference_point="arm", coordinates=(1, 0, 0))
    >>> arm = Position(point="arm", reference_point="map", expressed_in="arm", coordinates=(0, 2, 0))
    >>> compose_any(tip, arm).xyz.tolist()
    [1.0, 2.0, 0.0]
    """
    first, second = _tried(a, b), _tried(b, a)
    if not isinstance(first, errors.SemanticError) and not isinstance(second, errors.SemanticError):
        hint = "Write the order you mean: a.compose(b), or b.compose(a)."
        asked = Asked("compose_any", "compose {} and {} in any order", (a, b))
        raise asked.refuse(errors.AmbiguousOrder, repr(first), repr(second), hint)
    if not isinstance(first, errors.SemanticError):
        return first
    if not isinstance(second, errors.SemanticError):
        return second
    raise second if _misfits(b, a) < _misfits(a, b) else first


def _tried(a: Any, b: Any) -> Any:
    try:
        return a.compose(b)
    except errors.SemanticError as error:
        return error


def _misfits(a: Any, b: Any) -> int:
    """How many of the primitives where `a @ b` should meet do not."""
    pairs = (("point", "reference_point"), ("of", "in_frame"), ("body", "reference_body"))
    return sum(
        getattr(a, target) != getattr(b, reference)
        for target, reference in pairs
        if hasattr(a, target) and hasattr(b, reference)
    )
