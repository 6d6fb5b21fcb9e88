"""Conditions on attributes, for `scene.find`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

from armillary.errors import InvalidArgument
from armillary.errors.format import short_repr

__all__ = [
    "Condition",
    "absent",
    "between",
    "contains",
    "exists",
    "greater",
    "greater_equal",
    "less",
    "less_equal",
    "same_value",
]


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on one attribute; made by the functions of this module."""

    parts: tuple[Any, ...]

    def __repr__(self) -> str:
        name, *bounds = self.parts
        if name != "between":
            return f"{name}({', '.join(map(repr, bounds))})"
        low, high, low_included, high_included = bounds
        if low is not None and high is not None:
            return f"between({low!r}, {high!r})"
        name, bound, is_included = ("less", high, high_included) if low is None else ("greater", low, low_included)
        return f"{name}{'_equal' if is_included else ''}({bound!r})"


def exists() -> Condition:
    """The attribute exists, with any value."""
    return Condition(("exists",))


def absent() -> Condition:
    """The attribute does not exist. Alone it tests every node: combine it with another condition where possible."""
    return Condition(("absent",))


def less(value: float) -> Condition:
    """The attribute is a number below this one."""
    return _within(None, value, high_included=False)


def less_equal(value: float) -> Condition:
    """The attribute is a number not above this one."""
    return _within(None, value)


def greater(value: float) -> Condition:
    """The attribute is a number above this one."""
    return _within(value, None, low_included=False)


def greater_equal(value: float) -> Condition:
    """The attribute is a number not below this one."""
    return _within(value, None)


def between(low: float, high: float) -> Condition:
    """The attribute is a number from `low` to `high`, both included."""
    return _within(low, high)


def contains(value: Any) -> Condition:
    """The attribute is a list that has this item: a text, a number, a truth value or a list, equal as in any query.

    >>> from armillary import World
    >>> scene = World().scene
    >>> cup = scene.add_group(parent=scene.root, attributes={"tags": ["red", "clean"]})
    >>> scene.find({"tags": contains("red")}) == [cup]
    True
    """
    if not isinstance(value, str | Real | list | tuple):
        raise InvalidArgument(
            f"A list of attributes never contains {short_repr(value)}. Give a text or a number.", value
        )
    return Condition(("contains", value))


def same_value(value: Any, wanted: Any) -> bool:
    """Whether an attribute, or an item of one, equals a value of a query; a truth value is no number."""
    if isinstance(value, list) and isinstance(wanted, list | tuple):
        return len(value) == len(wanted) and all(map(same_value, value, wanted))
    return isinstance(value, bool) == isinstance(wanted, bool) and bool(value == wanted)


def _within(
    low: float | None, high: float | None, *, low_included: bool = True, high_included: bool = True
) -> Condition:
    for bound in (low, high):
        if bound is not None and (isinstance(bound, bool) or not isinstance(bound, Real) or bound != bound):  # noqa: PLR0124
            raise InvalidArgument(f"Attributes are compared with numbers, got {short_repr(bound)}.", bound)
    return Condition(("between", low, high, low_included, high_included))


def conditions_of(query: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """A query in the form that the C++ core takes."""
    if not isinstance(query, Mapping):
        raise InvalidArgument('A search takes a mapping, as in find({"name": "cup"}).', query)
    return [_condition(key, wanted) for key, wanted in query.items()]


def _condition(key: str, wanted: Any) -> tuple[Any, ...]:
    if not isinstance(key, str):
        raise InvalidArgument(f"The name of an attribute is a text, got {short_repr(key)}.", key)
    if isinstance(wanted, Condition):
        return (key, *_native(wanted.parts))
    if wanted is None:
        raise InvalidArgument(f"No attribute is None. Where there must be no '{key}', ask for absent().", wanted)
    if callable(wanted) and wanted in _MAKERS:
        raise InvalidArgument(f"{wanted.__name__} makes a condition. Call it, as in exists() and greater(0.2).", wanted)
    if isinstance(wanted, re.Pattern):
        pattern = wanted
        if isinstance(pattern.pattern, bytes):
            raise InvalidArgument(f"Attributes are texts, got a pattern of bytes: {short_repr(pattern)}.", pattern)
        return (key, "matches", lambda value: isinstance(value, str) and pattern.fullmatch(value) is not None)
    return (key, "equals", wanted)


def _native(parts: tuple[Any, ...]) -> tuple[Any, ...]:
    """A condition in the form that the C++ core takes: lists are tested by a function, once per value."""
    if parts[0] != "contains":
        return parts
    wanted = parts[1]
    return ("matches", lambda value: isinstance(value, list) and any(same_value(item, wanted) for item in value))


_MAKERS = (absent, between, contains, exists, greater, greater_equal, less, less_equal)
