"""JSON forms of the annotated types that operations and joints have as fields.

Where the type allows one form, a value is written bare: a text, a number, a list, an object with the fields of a
dataclass. Where several types are possible, the object names one: `{"type": "revolute", ...}`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from numbers import Real
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from armillary._core import Transform
from armillary.articulation.constraints import Constraint
from armillary.articulation.documents import KINDS, expression_from_document, expression_to_document
from armillary.articulation.expressions import Expression
from armillary.articulation.variables import Variable
from armillary.errors import ArmillaryError, InvalidArgument, InvalidExpression
from armillary.formats.fields import Field

__all__ = ["EXPRESSIONS", "Codec", "Codecs", "decoded_expression", "transform_in"]

EXPRESSIONS = tuple(kind for kind, _ in KINDS.values())


def decoded_expression(field: Field, kind: type[Any]) -> Any:
    """Decode an expression of this kind; errors name the place in the file."""
    try:
        found = expression_from_document(field.value)
    except InvalidExpression as error:
        place = ".".join(part for part in (field.place, error.field.lstrip(".")) if part)
        raise field.error(field.file, place, error.reason) from None
    if type(found) is not kind:
        raise field.at("kind").refused(f"a {kind.__name__} is expected")
    return found


_Part = tuple[str, "Codec", Any]
"""A field of a dataclass: its name, its codec, its default."""
_PARTS = ("lower", "upper", "expression")


@dataclass(frozen=True, slots=True)
class Codec:
    """Conversion between a value and its JSON form; `encode` raises InvalidArgument for what has no form."""

    encode: Callable[[Any], Any]
    decode: Callable[[Field], Any]


class Codecs:
    """The codecs of all types that files may contain.

    Args:
        classes: By name in files, the dataclasses that are allowed where several types are possible.
    """

    def __init__(self, classes: Mapping[str, type[Any]]) -> None:
        self._classes = dict(classes)
        self._names = {kind: name for name, kind in classes.items()}
        self._codecs: dict[Any, Codec] = dict(_PLAIN)
        self._codecs |= {kind: self._expression(kind) for kind in EXPRESSIONS}
        self._codecs[Constraint] = _CONSTRAINT
        self._codecs[Any] = Codec(self._encode_any, self._decode_any)
        self._fields: dict[type[Any], Codec] = {}

    @staticmethod
    def _expression(kind: type[Any]) -> Codec:
        return Codec(expression_to_document, lambda field: decoded_expression(field, kind))

    def of(self, annotation: Any) -> Codec:
        """Return the codec of a type, or raise InvalidArgument for one that has none."""
        if annotation not in self._codecs:
            self._codecs[annotation] = self._made(annotation)
        return self._codecs[annotation]

    def _made(self, annotation: Any) -> Codec:
        origin, parts = get_origin(annotation), get_args(annotation)
        if origin in {Union, UnionType}:
            return self._union(parts)
        if origin is tuple:
            return self._tuple(parts)
        if origin is Literal:
            return _literal(parts)
        if not isinstance(annotation, type):
            raise InvalidArgument(f"holds a {annotation}, which has no form in files", annotation)
        known = [kind for kind in self._classes.values() if issubclass(kind, annotation)]
        return self._tagged(known) if known else self.fields_of(annotation)

    def fields_of(self, kind: type[Any]) -> Codec:
        """Return the codec of a dataclass as the object of its fields, without its name."""
        if kind not in self._fields:
            if not is_dataclass(kind):
                raise InvalidArgument(f"holds a {kind.__name__}, which has no form in files", kind)
            parts: list[_Part] = []
            self._fields[kind] = Codec(
                lambda value: _encode_fields(parts, value), lambda field: _decode_fields(kind, parts, field)
            )
            hints = get_type_hints(kind)
            parts += [(own.name, self.of(hints[own.name]), own.default) for own in fields(kind) if own.init]
        return self._fields[kind]

    def _union(self, kinds: tuple[Any, ...]) -> Codec:
        rest = tuple(kind for kind in kinds if kind is not NoneType)
        inner = self.of(rest[0]) if len(rest) == 1 else self._tagged([k for k in rest if isinstance(k, type)])
        if len(rest) == len(kinds):
            return inner
        return Codec(
            lambda value: None if value is None else inner.encode(value),
            lambda field: None if field.value is None else inner.decode(field),
        )

    def _tagged(self, kinds: Iterable[type[Any]]) -> Codec:
        allowed = {self._names[kind]: kind for kind in kinds if kind in self._names}
        return Codec(
            lambda value: self._encode_tagged(value, allowed), lambda field: self._decode_tagged(field, allowed)
        )

    def _encode_tagged(self, value: Any, allowed: Mapping[str, type[Any]]) -> Any:
        name = self._names.get(type(value))
        if name not in allowed:
            raise InvalidArgument(f"holds a {type(value).__name__}, which has no name in files", value)
        return self.fields_of(type(value)).encode(value) | {"type": name}

    def _decode_tagged(self, field: Field, allowed: Mapping[str, type[Any]]) -> Any:
        members = field.mapping()
        if "type" not in members:
            raise field.refused("'type' is missing")
        name = members["type"].text()
        if name not in allowed:
            raise members["type"].refused(f"one of {', '.join(sorted(allowed))} is expected")
        return self.fields_of(allowed[name]).decode(field.without("type"))

    def _tuple(self, parts: tuple[Any, ...]) -> Codec:
        if len(parts) == 2 and parts[1] is Ellipsis:  # noqa: PLR2004
            inner = self.of(parts[0])
            return Codec(
                lambda value: [inner.encode(one) for one in value],
                lambda field: tuple(inner.decode(one) for one in field.items()),
            )
        each = [self.of(part) for part in parts]
        return Codec(
            lambda value: [codec.encode(one) for codec, one in zip(each, value, strict=True)],
            lambda field: tuple(c.decode(one) for c, one in zip(each, field.items(len(each)), strict=True)),
        )

    def _encode_any(self, value: Any) -> Any:
        if type(value) in {bool, int, str}:
            return value
        if isinstance(value, float):
            return _encode_float(value)
        if type(value) is tuple:
            return {"type": "tuple", "items": [self._encode_any(one) for one in value]}
        for name, kind in _NAMED.items():
            if type(value) is kind:
                return {"type": name, "value": self.of(kind).encode(value)}
        return self._encode_tagged(value, self._classes)

    def _decode_any(self, field: Field) -> Any:
        if not isinstance(field.value, dict) or "float" in field.value:
            return _decode_plain(field)
        members = field.value.get("type")
        if members == "tuple":
            return tuple(self._decode_any(one) for one in field.members(("type", "items"))["items"].items())
        if isinstance(members, str) and members in _NAMED:
            return self.of(_NAMED[members]).decode(field.members(("type", "value"))["value"])
        return self._decode_tagged(field, self._classes)


def _encode_fields(parts: list[_Part], value: Any) -> dict[str, Any]:
    """Encode the fields that differ from their defaults."""
    found = {}
    for name, codec, default in parts:
        own = getattr(value, name)
        if default is MISSING or own != default:
            found[name] = codec.encode(own)
    return found


def _decode_fields(kind: type[Any], parts: list[_Part], field: Field) -> Any:
    required = [name for name, _, default in parts if default is MISSING]
    members = field.members(required, [name for name, _, _ in parts])
    given = {name: codec.decode(members[name]) for name, codec, _ in parts if name in members}
    try:
        return kind(**given)
    except Exception as error:  # noqa: BLE001  (a class of the user may raise anything)
        raise field.refused(str(error).rstrip(".")) from None


def _literal(texts: tuple[Any, ...]) -> Codec:
    return Codec(lambda value: value, lambda field: field.one_of(texts))


def _as_it_is(value: Any, kind: type[Any]) -> Any:
    if type(value) is not kind:
        raise InvalidArgument(f"holds {value!r} where a {kind.__name__} is expected", value)
    return value


def _encode_float(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InvalidArgument(f"holds {value!r} where a float is expected", value)
    number = float(value)
    if math.isnan(number):
        raise InvalidArgument("holds a number that is none (NaN)", value)
    return {"float": "inf" if number > 0 else "-inf"} if math.isinf(number) else number


def transform_in(field: Field) -> Transform:
    """Decode a transform from its seven numbers, to the last bit."""
    numbers = tuple(float(number) for number in field.numbers(7))
    made = Transform.__new__(Transform)
    try:
        made.__setstate__(numbers)  # from_xyz_wxyz would normalise what is normal up to rounding
    except ArmillaryError as error:
        raise field.refused(str(error).rstrip(".")) from None
    return made


def _decode_variable(field: Field) -> Variable:
    name, order = field.items(2)
    try:
        return Variable(name.text(), order.integer())  # type: ignore[arg-type]
    except ArmillaryError as error:
        raise field.refused(str(error).rstrip(".")) from None


def _decode_plain(field: Field) -> Any:
    if isinstance(field.value, str):
        return field.text()
    if isinstance(field.value, bool):
        return field.value
    return field.integer() if isinstance(field.value, int) else field.real()


def _encode_part(part: Expression) -> Any:
    """Encode a bound or an expression; most bounds are plain numbers, and are written as such."""
    return _encode_float(float(part)) if part.is_grounded and not part.gradient() else expression_to_document(part)


def _decode_part(field: Field) -> Expression:
    is_number = not isinstance(field.value, dict) or "float" in field.value
    found: Expression = Expression(field.real()) if is_number else decoded_expression(field, Expression)
    return found


_CONSTRAINT = Codec(
    lambda value: {name: _encode_part(getattr(value, name)) for name in _PARTS},
    lambda field: Constraint(**{name: _decode_part(one) for name, one in field.members(_PARTS).items()}),
)
_PLAIN: dict[Any, Codec] = {
    str: Codec(lambda value: _as_it_is(value, str), Field.text),
    bool: Codec(lambda value: _as_it_is(value, bool), Field.boolean),
    int: Codec(lambda value: _as_it_is(value, int), Field.integer),
    float: Codec(_encode_float, Field.real),
    Transform: Codec(lambda value: list(value.__getstate__()), transform_in),
    Variable: Codec(lambda variable: [variable.name, int(variable.order)], _decode_variable),
}
_NAMED: dict[str, type[Any]] = {
    "transform": Transform,
    "variable": Variable,
    "constraint": Constraint,
    **{kind.__name__: kind for kind in EXPRESSIONS},
}
