"""Questions, answers and errors in messages: values of a few known types, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from armillary import errors, relations
from armillary._core import NodeId, Transform
from armillary.errors import ArmillaryError, InvalidMessage
from armillary.errors.base import restored_error
from armillary.relations.representations import LinearAngular
from armillary.relations.storage import Stored, field_names, trusted
from armillary.stamps import LATEST, Latest
from armillary.transforms import HeldSample, JointState, RelationInfo

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["decoded", "encoded", "error_entry", "error_in"]

_RECORDS = {kind.__name__: kind for kind in (HeldSample, JointState, RelationInfo)}
_VALUES = {
    name: kind
    for name in relations.__all__
    if isinstance(kind := getattr(relations, name), type) and issubclass(kind, Stored)
}
_DEEPEST = 20


def encoded(value: Any, arrays: list[NDArray[Any]]) -> Any:
    """Return a value as JSON; arrays are added to `arrays`. What has no form is sent as its text."""
    if value is None or isinstance(value, bool | str | int | float):
        return value
    if isinstance(value, ArmillaryError):
        return error_entry(value, arrays)
    for kind, make in _ENCODERS:
        if isinstance(value, kind):
            return make(value, arrays)
    return str(value)


def _array_entry(value: NDArray[Any], arrays: list[NDArray[Any]]) -> Any:
    arrays.append(value)
    return {"$": "array", "of": len(arrays) - 1}


def _dict_entry(value: dict[Any, Any], arrays: list[NDArray[Any]]) -> Any:
    return {"$": "dict", "of": [[encoded(key, arrays), encoded(one, arrays)] for key, one in value.items()]}


def _record_entry(value: Any, arrays: list[NDArray[Any]]) -> Any:
    fields = {name: encoded(getattr(value, name), arrays) for name in type(value).__dataclass_fields__}
    return {"$": "record", "kind": type(value).__name__, "of": fields}


def _value_entry(value: Any, arrays: list[NDArray[Any]]) -> Any:
    """Return what `world.pose` and its relatives answer; what a policy answered goes as the plain pose that it is."""
    kind = next(known for known in type(value).__mro__ if known.__name__ in _VALUES)
    fields = {name: encoded(getattr(value, name), arrays) for name in field_names(kind)}
    return {"$": "value", "kind": kind.__name__, "of": fields}


_ENCODERS: tuple[tuple[Any, Callable[[Any, list[NDArray[Any]]], Any]], ...] = (
    (Latest, lambda _value, _arrays: {"$": "latest"}),
    (np.generic, lambda value, _arrays: value.item()),
    (list, lambda value, arrays: [encoded(one, arrays) for one in value]),
    (tuple, lambda value, arrays: {"$": "tuple", "of": [encoded(one, arrays) for one in value]}),
    (dict, _dict_entry),
    (np.ndarray, _array_entry),
    (NodeId, lambda value, _arrays: {"$": "node", "of": str(value)}),
    (Transform, lambda value, _arrays: {"$": "transform", "of": value.xyz_wxyz.tolist()}),
    (LinearAngular, lambda value, _arrays: {"$": "motion", "of": [*value.linear.tolist(), *value.angular.tolist()]}),
    (tuple(_RECORDS.values()), _record_entry),
    (tuple(_VALUES.values()), _value_entry),
)


def decoded(entry: Any, arrays: list[NDArray[Any]], depth: int = 0) -> Any:
    """Return the value of an entry.

    Raises:
        InvalidMessage: It is none.
    """
    if depth > _DEEPEST:
        raise InvalidMessage("a value is nested too deeply")
    if isinstance(entry, list):
        return [decoded(one, arrays, depth + 1) for one in entry]
    if not isinstance(entry, dict):
        return entry
    make = error_in if entry.get("$") == "error" else _DECODERS.get(str(entry.get("$")))
    if make is None:
        raise InvalidMessage("a value has an unknown type")
    try:
        return make(entry, arrays, depth + 1)
    except (ArmillaryError, KeyError, TypeError, ValueError, IndexError) as error:
        raise InvalidMessage(f"a value of type '{entry.get('$')}': {error}") from None


def _fields(entry: Any, arrays: list[NDArray[Any]], depth: int) -> dict[str, Any]:
    return {str(name): decoded(one, arrays, depth) for name, one in entry["of"].items()}


def _dict_in(entry: Any, arrays: list[NDArray[Any]], depth: int) -> Any:
    return {decoded(key, arrays, depth): decoded(one, arrays, depth) for key, one in entry["of"]}


def _value_in(entry: Any, arrays: list[NDArray[Any]], depth: int) -> Any:
    kind, fields = _VALUES[entry["kind"]], _fields(entry, arrays, depth)
    coordinates = fields.get("coordinates")
    if set(fields) != set(field_names(kind)) or not isinstance(coordinates, Transform | LinearAngular | np.ndarray):
        raise InvalidMessage("its fields do not fit")
    return trusted(kind, **fields)


_DECODERS: dict[str, Callable[[Any, list[NDArray[Any]], int], Any]] = {
    "latest": lambda _entry, _arrays, _depth: LATEST,
    "tuple": lambda entry, arrays, depth: tuple(decoded(one, arrays, depth) for one in entry["of"]),
    "dict": _dict_in,
    "array": lambda entry, arrays, _depth: arrays[entry["of"]],
    "node": lambda entry, _arrays, _depth: NodeId(entry["of"]),
    "transform": lambda entry, _arrays, _depth: Transform.from_xyz_wxyz(xyz=entry["of"][:3], wxyz=entry["of"][3:]),
    "motion": lambda entry, _arrays, _depth: LinearAngular(linear=entry["of"][:3], angular=entry["of"][3:]),
    "record": lambda entry, arrays, depth: _RECORDS[entry["kind"]](**_fields(entry, arrays, depth)),
    "value": _value_in,
}


def error_entry(error: ArmillaryError, arrays: list[NDArray[Any]]) -> dict[str, Any]:
    """Return an error with its evidence."""
    args = () if type(error).args is not Exception.args else error.args
    evidence = {name: encoded(one() if callable(one) else one, arrays) for name, one in vars(error).items()}
    return {"$": "error", "kind": type(error).__name__, "args": encoded(list(args), arrays), "of": evidence}


def error_in(entry: Any, arrays: list[NDArray[Any]], depth: int = 0) -> ArmillaryError:
    """Return the error of an entry: one of those of this library, and no other.

    Raises:
        InvalidMessage: It is none.
    """
    kind = getattr(errors, str(entry.get("kind")), None)
    if not (isinstance(kind, type) and issubclass(kind, ArmillaryError) and isinstance(entry.get("of"), dict)):
        raise InvalidMessage("an error has an unknown type")
    return restored_error(kind, tuple(decoded(entry["args"], arrays, depth)), _fields(entry, arrays, depth))
