"""Where the names and coordinates of a relation are kept: frozen, comparable, and apart from the algebra.

The algebra uses attributes and `_replace` only, so that a native class can take the place of this one.
"""

from __future__ import annotations

from functools import lru_cache
from operator import index
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from armillary.errors import InvalidName, InvalidStamp
from armillary.relations._numbers import as_covariance
from armillary.transforms import check_name

_NAMES_REMEMBERED = 4096
_FURTHEST_STAMP_NS = 2**62

Relations = tuple[tuple[str, str, str], ...]


@lru_cache(maxsize=_NAMES_REMEMBERED)
def _checked(name: str) -> str:
    return check_name(name)


def as_name(value: object, what: str) -> str:
    """The name in its stored form; a refusal says which name it was."""
    if not isinstance(value, str):
        raise InvalidName(f"{what} must be a name (str), got {value!r}.")
    return _checked(value)


def as_names(names: dict[str, str | None], defaults: dict[str, str]) -> dict[str, str]:
    """Every name checked; one that is not given is that of the name it defaults to."""
    result: dict[str, str] = {}
    for what, value in names.items():
        is_given = value is not None or what not in defaults
        result[what] = as_name(value, what) if is_given else result[defaults[what]]
    return result


def as_stamp(value: Any) -> int | None:
    """Integer nanoseconds, or None for what holds always."""
    if value is None:
        return None
    try:
        stamp = index(value)
    except TypeError:
        hint = f" Pass seconds({value!r})." if isinstance(value, float) else ""
        raise InvalidStamp(f"stamp must be integer nanoseconds, got {value!r}.{hint}") from None
    if isinstance(value, bool) or abs(stamp) >= _FURTHEST_STAMP_NS:
        raise InvalidStamp(f"stamp must be integer nanoseconds within 146 years of zero, got {value!r}.")
    return stamp


def as_origin(size: int, origin: dict[str, Any]) -> dict[str, Any]:
    """What is known of where a value comes from, checked; `size` is that of its covariance."""
    return {
        "stamp": as_stamp(origin["stamp"]),
        "covariance": as_covariance(origin["covariance"], "covariance", size),
        "held": bool(origin["held"]),
        "predicted": bool(origin["predicted"]),
        "relations": tuple(origin["relations"]),
    }


_Value = TypeVar("_Value", bound="Stored")


class Stored:
    """A frozen value of named fields."""

    __slots__ = ()
    _FIELDS: ClassVar[tuple[str, ...]] = ()
    _NAMES: ClassVar[tuple[str, ...]] = ()
    _COMPARED: ClassVar[tuple[str, ...]] = ()

    @staticmethod
    def _face(coordinates: Any) -> Any:
        """The coordinates with the methods of their protocol."""
        return coordinates

    def _fill(self, fields: dict[str, Any]) -> None:
        for name in self._FIELDS:
            object.__setattr__(self, name, fields[name])

    def _replace(self, **changes: Any) -> Self:
        """With other fields that are known to be good."""
        return trusted(type(self), **(self._fields() | changes))

    def _check(self) -> None:
        """What a new value of this kind must fulfil, beyond good names and coordinates."""

    def _fields(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._FIELDS}

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen: it cannot get another '{name}'. Make a new one.")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen: it cannot lose its '{name}'.")

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(self._same(name, getattr(self, name), getattr(other, name)) for name in self._COMPARED)

    def _same(self, name: str, mine: Any, other: Any) -> bool:
        if name == "coordinates":
            return type(mine) is type(other) and bool(self._face(mine) == self._face(other))
        if isinstance(mine, np.ndarray) and isinstance(other, np.ndarray):
            return np.array_equal(mine, other)
        return bool(mine is other or (type(mine) is type(other) and mine == other))

    def __hash__(self) -> int:
        return hash((type(self), *(getattr(self, name) for name in self._NAMES)))

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self._fields())

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, _: dict[int, Any]) -> Self:
        return self

    def _same_names(self, other: Stored) -> bool:
        return all(getattr(self, name) == getattr(other, name) for name in self._NAMES)


ORIGIN: tuple[str, ...] = ("stamp", "covariance", "held", "predicted", "relations")
_UNKNOWN = {"stamp": None, "covariance": None, "held": False, "predicted": False, "relations": (), "method": "measured"}


class Dated(Stored):
    """A part of a pose or twist: with the instant, the certainty and the relations of the whole.

    Each class has the slots `ORIGIN` itself, as bases with slots of their own do not mix.
    """

    __slots__ = ()

    stamp: int | None
    covariance: Any
    held: bool
    predicted: bool
    relations: Relations

    def _fill(self, fields: dict[str, Any]) -> None:
        super()._fill(_UNKNOWN | fields)

    def stamped(self, stamp: int | None) -> Self:
        """The same said of another instant; None: of every instant."""
        return self._replace(stamp=as_stamp(stamp))


def origin_of(value: Any) -> dict[str, Any]:
    """When and from what a value is known, and how; its covariance is another matter."""
    names = ("stamp", "held", "predicted", "relations", "method")
    return {name: getattr(value, name) for name in names if name in value._FIELDS}  # noqa: SLF001 - a value of ours


def origin_of_both(a: Any, b: Any, stamp: int | None) -> dict[str, Any]:
    """When and from what two values together are known."""
    fields = {"stamp": stamp, "held": a.held or b.held, "predicted": a.predicted or b.predicted}
    fields |= {"relations": tuple(dict.fromkeys((*b.relations, *a.relations)))}
    if "method" in a._FIELDS and "method" in b._FIELDS:  # noqa: SLF001 - values of ours
        fields |= {"method": a.method if a.method == b.method else "mixed"}
    return fields


def are_independent(a: Any, b: Any) -> bool:
    """Whether no relation went into both."""
    return set(a.relations).isdisjoint(b.relations)


def trusted(kind: type[_Value], **fields: Any) -> _Value:
    """From fields that are known to be good: nothing is checked again."""
    value = kind.__new__(kind)
    value._fill(fields)  # noqa: SLF001 - its own part
    return value


def _restored(kind: type[Stored], fields: dict[str, Any]) -> Stored:
    for value in fields.values():
        if isinstance(value, np.ndarray):
            value.setflags(write=False)
    return trusted(kind, **fields)
