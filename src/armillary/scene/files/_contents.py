"""What nodes carry, in files: shapes with their arrays, and the ends of connections."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from armillary.formats.fields import Field
from armillary.shapes import Shape
from armillary.store.payloads import Connection, connection_payload

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["CONNECTION", "connection_entry", "connection_in", "shape_entry", "shape_in"]

CONNECTION = ("sources", "targets", "start_ns", "end_ns")
"""The keys of the ends of a connection."""


def shape_entry(shape: Shape, arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
    """Return the entry of a shape; what it has of arrays is added to `arrays`."""
    plain, own = shape.to_fields()
    names = {}
    for field, array in own.items():
        names[field] = f"array_{len(arrays)}"
        arrays[names[field]] = array
    return {"kind": shape.kind, "fields": plain, "arrays": names}


def shape_in(field: Field, arrays: Mapping[str, NDArray[Any]]) -> Shape:
    """Read a shape, with the arrays of the file beside."""
    parts = field.members(("kind", "fields", "arrays"))
    kind, plain = parts["kind"].text(), parts["fields"].mapping()
    if kind not in Shape.kinds():
        reason = f"no kind of shape is named '{kind}' here; there are {', '.join(Shape.kinds())}"
        raise parts["kind"].refused(reason, "import the module that defines it, and load the file again")
    named = {name: _array(ref, arrays) for name, ref in parts["arrays"].mapping().items()}
    values = {name: value.value for name, value in plain.items()}
    shape: Shape = field.checked(lambda: Shape.of_kind(kind, values, named))
    return shape


def _array(field: Field, arrays: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
    name = field.text()
    if name not in arrays:
        raise field.refused(f"there is no array '{name}' in the file beside")
    return arrays[name]


def connection_entry(connection: Connection) -> dict[str, Any]:
    """Return the entry of the ends of a connection."""
    ends = {name: [str(end) for end in getattr(connection, name)] for name in ("sources", "targets")}
    return ends | {"start_ns": connection.start, "end_ns": connection.end}


def connection_in(parts: Mapping[str, Field]) -> Connection:
    """Read the ends of a connection from the fields `CONNECTION`."""
    sources, targets = (tuple(end.node() for end in parts[name].items()) for name in ("sources", "targets"))
    start, end = (parts[name].optional(Field.stamp) for name in ("start_ns", "end_ns"))
    return parts["end_ns"].checked(partial(connection_payload, sources, targets, start, end))[0]
