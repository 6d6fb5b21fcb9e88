"""The little of protobuf that logs need: descriptions of messages, and their fields one by one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

__all__ = ["FOXGLOVE_TRANSFORMS", "fields_of", "file_set", "length_field", "length_head", "number_field"]

_TYPES = {
    "double": 1,
    "int64": 3,
    "uint64": 4,
    "int32": 5,
    "string": 9,
    "bytes": 12,
    "uint32": 13,
    "sfixed64": 16,
}
_MESSAGE, _OPTIONAL, _REPEATED = 11, 1, 3
_VARINT, _EIGHT, _LENGTH, _FOUR = 0, 1, 2, 5
_MORE, _SEVEN = 0x80, 7
_MOST_BITS = 64


def _varint(value: int) -> bytes:
    found = bytearray()
    while value >= _MORE:
        found.append(value & (_MORE - 1) | _MORE)
        value >>= _SEVEN
    return bytes([*found, value])


def number_field(number: int, value: int) -> bytes:
    """Return a field with a whole number, which is not negative."""
    return _varint(number << 3 | _VARINT) + _varint(value)


def length_field(number: int, data: bytes) -> bytes:
    """Return a field with a text, bytes, a message or packed numbers."""
    return length_head(number, len(data)) + data


def length_head(number: int, size: int) -> bytes:
    """Return what is before the bytes of such a field."""
    return _varint(number << 3 | _LENGTH) + _varint(size)


def fields_of(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield the fields of a message: a number, or the bytes of a field with a length.

    Raises:
        ValueError: It is no message of protobuf.
    """
    place = 0
    while place < len(data):
        key, place = _read_varint(data, place)
        number, kind = key >> 3, key & 7
        if kind == _VARINT:
            value, place = _read_varint(data, place)
            yield number, value
            continue
        if kind == _LENGTH:
            size, place = _read_varint(data, place)
        elif kind in {_EIGHT, _FOUR}:
            size = 8 if kind == _EIGHT else 4
        else:
            raise ValueError("it has a field of an unknown kind")
        if size > len(data) - place:
            raise ValueError("it is cut off")
        yield number, data[place : place + size]
        place += size


def _read_varint(data: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while place < len(data) and shift < _MOST_BITS:
        byte = data[place]
        value |= (byte & (_MORE - 1)) << shift
        place, shift = place + 1, shift + _SEVEN
        if byte < _MORE:
            return value, place
    raise ValueError("a number in it is cut off")


# -- Descriptions

_Fields = Sequence[tuple[str, str]]


def file_set(package: str, messages: Mapping[str, _Fields], *others: bytes, needs: Sequence[str] = ()) -> bytes:
    """Return the description of messages, a FileDescriptorSet, in which everything they use is defined.

    Args:
        package: The name that is put before theirs.
        messages: By name, their fields, numbered from 1: name and type, "repeated" before it, or "." before that of a
            message.
        others: Sets with what they use.
        needs: The files of those sets.
    """
    file = length_field(1, f"{package.replace('.', '/')}.proto".encode()) + length_field(2, package.encode())
    file += b"".join(length_field(3, need.encode()) for need in needs)
    file += b"".join(length_field(4, _message(name, fields)) for name, fields in messages.items())
    return b"".join(others) + length_field(1, file + length_field(12, b"proto3"))


def _message(name: str, fields: _Fields) -> bytes:
    parts = [length_field(1, name.encode())]
    for number, (label, kind) in enumerate(fields, start=1):
        is_many = kind.startswith("repeated ")
        plain = kind.removeprefix("repeated ")
        field = length_field(1, label.encode()) + number_field(3, number)
        field += number_field(4, _REPEATED if is_many else _OPTIONAL)
        field += number_field(5, _TYPES.get(plain, _MESSAGE))
        field += b"" if plain in _TYPES else length_field(6, plain.encode())
        parts.append(length_field(2, field))
    return b"".join(parts)


_TIMESTAMP = file_set("google.protobuf", {"Timestamp": [("seconds", "int64"), ("nanos", "int32")]})
FOXGLOVE_TRANSFORMS = file_set(
    "foxglove",
    {
        "Vector3": [(axis, "double") for axis in "xyz"],
        "Quaternion": [(axis, "double") for axis in "xyzw"],
        "FrameTransform": [
            ("timestamp", ".google.protobuf.Timestamp"),
            ("parent_frame_id", "string"),
            ("child_frame_id", "string"),
            ("translation", ".foxglove.Vector3"),
            ("rotation", ".foxglove.Quaternion"),
        ],
        "FrameTransforms": [("transforms", "repeated .foxglove.FrameTransform")],
    },
    _TIMESTAMP,
    needs=("google/protobuf.proto",),
)
"""The description of foxglove.FrameTransforms and foxglove.FrameTransform."""
