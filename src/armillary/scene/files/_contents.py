"""What nodes carry, in files: shapes with their arrays, and the ends of connections."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from armillary.errors import ArmillaryError
from armillary.formats.fields import Field
from armillary.shapes import Levels, Shape
from armillary.store.payloads import Connection, connection_payload, shape_payload

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from armillary._core import ChangeRecord

__all__ = [
    "CONNECTION",
    "connection_entry",
    "connection_in",
    "content_entries",
    "contents_in",
    "shape_entry",
    "shape_in",
]

CONNECTION = ("sources", "targets", "start_ns", "end_ns")
"""The keys of the ends of a connection."""
_CONTENT, _SHAPE = ("digest", "levels", "is_always"), ("kind", "fields", "arrays")


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
    if not Shape.is_kind(kind):
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


def content_entries(records: Sequence[ChangeRecord], arrays: dict[str, NDArray[Any]]) -> Iterator[dict[str, Any]]:
    """Yield what the nodes of records carry, each once."""
    written: set[str] = set()
    for record in records:
        content = record.content_object
        if content is None or record.content in written:
            continue
        written.add(record.content)
        if isinstance(content, Connection):
            yield {"digest": record.content, **connection_entry(content)}
        else:
            levels = [shape_entry(level, arrays) for level in content]
            yield {"digest": record.content, "levels": levels, "is_always": content.is_always}


def contents_in(field: Field, arrays: Mapping[str, NDArray[Any]]) -> dict[str, Levels | Connection]:
    """Read what nodes carry, by digest."""
    found: dict[str, Levels | Connection] = {}
    for entry in field.items():
        levels = _levels_of_numbers(entry.value)
        if levels is not None and levels[0] not in found:
            found[levels[0]] = levels[1]
            continue
        digest, content = _connection(entry) if "sources" in entry.mapping() else _levels(entry, arrays)
        named = entry.at("digest").text()
        if named in found:
            raise entry.at("digest").refused("this content is given twice")
        if named != digest.hex():
            raise entry.at("digest").refused("this is not the digest of what is there")
        found[named] = content
    return found


def _levels_of_numbers(entry: Any) -> tuple[str, Levels] | None:
    """Read shapes without arrays, with their digest; None where anything about them is not as it is written.

    Most shapes are such: this takes a third of the time that checking each value with its place in the file does.
    """
    try:
        digest, levels, is_always = entry["digest"], entry["levels"], entry["is_always"]
        if len(entry) != len(_CONTENT) or type(is_always) is not bool:
            return None
        shapes = []
        for level in levels:
            if level["arrays"] or len(level) != len(_SHAPE) or not isinstance(level["arrays"], dict):
                return None
            shapes.append(Shape.of_kind(level["kind"], level["fields"], {}))
        made, found = shape_payload(shapes[0], shapes[1:], is_always=is_always)
    except (ArmillaryError, TypeError, ValueError, LookupError, OverflowError):
        return None
    return (digest, made) if found.hex() == digest else None


def _connection(entry: Field) -> tuple[bytes, Connection]:
    connection = connection_in(entry.members(("digest", *CONNECTION)))
    return connection.digest(), connection


def _levels(entry: Field, arrays: Mapping[str, NDArray[Any]]) -> tuple[bytes, Levels]:
    parts = entry.members(_CONTENT)
    is_always = parts["is_always"].boolean()
    shapes = [shape_in(level, arrays) for level in parts["levels"].items()]
    if not shapes:
        raise parts["levels"].refused("at least one level is expected")
    levels, digest = parts["levels"].checked(partial(shape_payload, shapes[0], shapes[1:], is_always=is_always))
    return digest, levels
