"""Storage of relations: frozen values of names, coordinates and origin, comparable and picklable.

The algebra uses attributes and `_replace` only, so that poses and twists can be stored natively.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypedDict, TypeVar

import numpy as np

from armillary.errors import InvalidArgument, InvalidName
from armillary.relations.arrays import as_covariance
from armillary.stamps import as_stamp
from armillary.transforms import HeldSample, check_name, joined_held

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

_MAX_CHECKED_NAMES = 4096

Relations = tuple[tuple[str, str, str], ...]


@lru_cache(maxsize=_MAX_CHECKED_NAMES)
def _checked(name: str) -> str:
    return check_name(name)


def as_name(value: object, what: str) -> str:
    """Check a name and return it in its stored form; `what` is the argument in the error."""
    if not isinstance(value, str):
        raise InvalidName(f"{what} must be a name (str), got {value!r}.")
    return _checked(value)


def as_names(names: dict[str, str | None], defaults: dict[str, str]) -> dict[str, str]:
    """Check names; a name that is not given takes the value of the one it defaults to."""
    result: dict[str, str] = {}
    for what, value in names.items():
        is_given = value is not None or what not in defaults
        result[what] = as_name(value, what) if is_given else result[defaults[what]]
    return result


class Origin(TypedDict, total=False):
    """The origin of a value: its instant, covariance, and what it was computed from."""

    stamp: int | None
    covariance: ArrayLike | None
    held: tuple[HeldSample, ...]
    predicted: bool
    relations: Relations


class PoseOrigin(Origin, total=False):
    """The origin of a pose or its parts."""

    integrated: bool


class MotionOrigin(Origin, total=False):
    """The origin of a twist or its parts."""

    method: str


ORIGIN: tuple[str, ...] = ("stamp", "covariance", "held", "predicted", "relations")
POSE_ORIGIN: tuple[str, ...] = (*ORIGIN, "integrated")
MOTION_ORIGIN: tuple[str, ...] = (*ORIGIN, "method")

_UNKNOWN: dict[str, Any] = {"stamp": None, "covariance": None, "held": (), "predicted": False, "relations": ()}
_UNKNOWN |= {"integrated": False, "method": "measured"}


def as_origin(size: int, names: tuple[str, ...], origin: Mapping[str, Any]) -> dict[str, Any]:
    """Check the origin of a value, and complete it with defaults.

    Args:
        size: The size of its covariance.
        names: The fields of the origin of this kind of value.
        origin: The fields that are given.
    """
    foreign = [name for name in origin if name not in names]
    if foreign:
        raise TypeError(f"got an unexpected keyword argument '{foreign[0]}'")
    known = {name: origin.get(name, _UNKNOWN[name]) for name in names}
    flags = {name: bool(known[name]) for name in ("predicted", "integrated") if name in names}
    covariance = as_covariance(known["covariance"], "covariance", size)
    stamp, relations = as_stamp(known["stamp"]), tuple(known["relations"])
    held = as_held(known["held"])
    return known | flags | {"stamp": stamp, "covariance": covariance, "held": held, "relations": relations}


def as_held(value: Any) -> tuple[HeldSample, ...]:
    """Check what was held: samples, or nothing."""
    if value is None or value is False:
        return ()
    samples = tuple(value) if isinstance(value, tuple | list) else (value,)
    if not all(isinstance(sample, HeldSample) for sample in samples):
        raise InvalidArgument(f"held is a tuple of HeldSample, empty where nothing was held, got {value!r}.", value)
    return samples


_Value = TypeVar("_Value", bound="Stored")


class Stored:
    """A frozen value of named fields."""

    __slots__ = ()
    _FIELDS: ClassVar[tuple[str, ...]] = ()
    _NAMES: ClassVar[tuple[str, ...]] = ()
    _COMPARED: ClassVar[tuple[str, ...]] = ()

    @staticmethod
    def _adapter(coordinates: Any) -> Any:
        """Return the coordinates with the methods of their protocol."""
        return coordinates

    def _fill(self, fields: dict[str, Any]) -> None:
        for name in self._FIELDS:
            object.__setattr__(self, name, fields[name])

    def _replace(self, **changes: Any) -> Self:
        """Return a copy with other fields, which are not checked."""
        return trusted(type(self), **(self._fields() | changes))

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
            return type(mine) is type(other) and bool(self._adapter(mine) == self._adapter(other))
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


class Dated(Stored):
    """A part of a pose or twist, with the origin of the whole.

    Each class has the slots of its origin itself: two bases with slots cannot be combined.
    """

    __slots__ = ()
    _ORIGIN: ClassVar[tuple[str, ...]] = ORIGIN

    stamp: int | None
    covariance: Any
    held: tuple[HeldSample, ...]
    predicted: bool
    relations: Relations

    def _fill(self, fields: dict[str, Any]) -> None:
        super()._fill(_UNKNOWN | fields)

    def stamped(self, stamp: int | None) -> Self:
        """Return the value at another instant; None: at every instant."""
        return self._replace(stamp=as_stamp(stamp))


def origin_of(value: Any) -> dict[str, Any]:
    """Return the origin of a value, without its covariance."""
    return {name: getattr(value, name) for name in _UNKNOWN if name in value._FIELDS and name != "covariance"}  # noqa: SLF001 - a value of this module


def origin_of_both(a: Any, b: Any, stamp: int | None) -> dict[str, Any]:
    """Return the origin of two values together, in the fields that both have."""
    return origin_with(a, origin_of(b)) | {"stamp": stamp}


def origin_with(reference: Any, target: Mapping[str, Any]) -> dict[str, Any]:
    """Return an origin joined with that of its reference, in the fields that both have, without the stamp."""
    first = origin_of(reference)
    return {name: joined(name, first[name], target[name]) for name in first if name in target and name != "stamp"}


def joined(name: str, first: Any, second: Any) -> Any:
    """Return one field of the origin of a whole from those of its two parts: the reference, and the target."""
    if name == "relations":
        return tuple(dict.fromkeys((*second, *first)))
    if name == "held":
        return joined_held(second, first)
    if name == "method":
        return first if first == second else "mixed"
    return first or second


def are_independent(a: Any, b: Any) -> bool:
    """Whether two values were computed from different relations."""
    return set(a.relations).isdisjoint(b.relations)


def spread_of_helper(value: Any, helper: Any) -> Any:
    """Return the covariance of what moves a value to other axes or another point; 0.0 where it is exact.

    None where it is unknown: it has none though it holds at one instant only, or it was computed from what the value
    was computed from.
    """
    if helper.covariance is None:
        return 0.0 if helper.stamp is None else None
    is_exact = not np.any(helper.covariance)
    return helper.covariance if is_exact or are_independent(value, helper) else None


def trusted(kind: type[_Value], **fields: Any) -> _Value:
    """Make a value of fields that are not checked."""
    value = kind.__new__(kind)
    value._fill(fields)  # noqa: SLF001 - a value of this module
    return value


def field_names(kind: type[Stored]) -> tuple[str, ...]:
    """Return the names of all fields that values of a kind have: for copies of them in other processes."""
    return tuple(kind._FIELDS)  # noqa: SLF001 - a class of this module


def _restored(kind: type[Stored], fields: dict[str, Any]) -> Stored:
    for value in fields.values():
        if isinstance(value, np.ndarray):
            value.setflags(write=False)
    return trusted(kind, **fields)
