"""Signatures of the functions of the C++ core, for `inspect`, and sentences for calls that do not fit them."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Mapping, Sequence
from functools import lru_cache
from inspect import Parameter, Signature
from numbers import Integral, Real
from typing import Any

from armillary.errors import InvalidArgument
from armillary.errors.format import nearest_name, short_repr

__all__ = ["refusal", "refused_constructor", "signature_of", "signature_of_bound"]

_DEFAULT = re.compile(r"\\(\d+)")
_CONTAINERS = {"Sequence": Sequence, "Mapping": Mapping}
_PLAIN = {"int": Integral, "float": Real, "str": str, "bool": bool, "None": type(None)}


class _Text:
    """A default value that is shown as it is written."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def signature_of(function: Any) -> Signature:
    """Return the signature of a native function; of several overloads, the first."""
    text, _, defaults = function.__nb_signature__[0]
    return _parsed(text, () if defaults is None else tuple(defaults))


def signature_of_bound(method: Any) -> Signature:
    """Return the signature of a native method as it is called: without its object."""
    whole = signature_of(method.__func__)
    return whole.replace(parameters=list(whole.parameters.values())[1:])


def _parsed(text: str, defaults: tuple[Any, ...]) -> Signature:
    return _of_definition(_definition(text), defaults)


@lru_cache(maxsize=512)
def _definition(text: str) -> ast.FunctionDef:
    source = _DEFAULT.sub(r"default_\1_", text)
    found = ast.parse(source if source.rstrip().endswith("...") else f"{source}: ...").body[0]
    if not isinstance(found, ast.FunctionDef):
        raise TypeError(f"The bindings declare {text!r}, which is no function.")
    return found


def _of_definition(found: ast.FunctionDef, defaults: tuple[Any, ...]) -> Signature:
    given = found.args
    plain: list[tuple[ast.arg, Any]] = [(one, Parameter.POSITIONAL_ONLY) for one in given.posonlyargs]
    plain += [(one, Parameter.POSITIONAL_OR_KEYWORD) for one in given.args]
    values: list[ast.expr | None] = [None] * (len(plain) - len(given.defaults))
    parameters = [
        _parameter(one, kind, value, defaults)
        for (one, kind), value in zip(plain, [*values, *given.defaults], strict=True)
    ]
    if given.vararg is not None:
        parameters.append(_parameter(given.vararg, Parameter.VAR_POSITIONAL, None, defaults))
    for one, value in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        parameters.append(_parameter(one, Parameter.KEYWORD_ONLY, value, defaults))
    if given.kwarg is not None:
        parameters.append(_parameter(given.kwarg, Parameter.VAR_KEYWORD, None, defaults))
    answer = Signature.empty if found.returns is None else _written(found.returns)
    return Signature(parameters, return_annotation=answer)


def _parameter(one: ast.arg, kind: Any, value: ast.expr | None, defaults: tuple[Any, ...]) -> Parameter:
    annotation = Parameter.empty if one.annotation is None else _written(one.annotation)
    default = Parameter.empty if value is None else _value(value, defaults)
    return Parameter(one.arg, kind, default=default, annotation=annotation)


def _written(annotation: ast.expr) -> str:
    return ast.unparse(annotation).replace("armillary._core.", "")


def _value(expression: ast.expr, defaults: tuple[Any, ...]) -> Any:
    written = ast.unparse(expression)
    place = re.fullmatch(r"default_(\d+)_", written)
    if place is not None:
        return defaults[int(place[1])]
    try:
        return ast.literal_eval(expression)
    except ValueError:
        return _Text(written)


def refusal(function: Any, positional: Sequence[Any], named: Mapping[str, Any]) -> InvalidArgument | None:
    """Return the error of a call whose arguments no overload takes; None where it cannot tell which is wrong."""
    if len(function.__nb_signature__) > 1 or "@overload" in function.__nb_signature__[0][0]:
        return None
    name, parameters = function.__name__, dict(signature_of(function).parameters)
    if "self" in parameters and positional:
        del parameters["self"]
        positional = positional[1:]
    by_place = [one for one in parameters.values() if one.kind is not Parameter.KEYWORD_ONLY]
    unknown = next((key for key in named if key not in parameters), None)
    if unknown is not None:
        return InvalidArgument(f"{name}() has no argument {unknown!r}.{_hint(unknown, parameters)}", named[unknown])
    if len(positional) > len(by_place):
        return InvalidArgument(_too_many(name, len(positional), len(by_place), parameters), positional[len(by_place)])
    given = {one.name: value for one, value in zip(by_place, positional, strict=False)} | dict(named)
    missing = [one.name for one in parameters.values() if one.default is Parameter.empty and one.name not in given]
    if missing:
        lacking = ", ".join(f"{one}=" for one in missing)
        return InvalidArgument(f"{name}() is missing {lacking}. It takes {_listed(parameters)}.")
    wrong = next((key for key, value in given.items() if not _fits(value, parameters[key].annotation)), None)
    if wrong is None:
        return None
    wanted = parameters[wrong].annotation
    return InvalidArgument(f"{name}(): {wrong} must be {wanted}, got {short_repr(given[wrong])}.", given[wrong])


def refused_constructor(kind: type) -> InvalidArgument:
    """Return the error for a call of a type whose values are made by static methods."""
    makers = [f"{kind.__name__}.{name}(...)" for name in sorted(vars(kind)) if name.startswith("from_")]
    return InvalidArgument(
        f"{kind.__name__}(...) would not say what its numbers mean; the calls that make one do so by their names. "
        f"Use {', '.join(makers[:-1])} or {makers[-1]}."
    )


def _hint(unknown: str, parameters: Mapping[str, Parameter]) -> str:
    near = nearest_name(unknown, parameters)
    return f" Did you mean {near!r}?" if near is not None else f" It takes {_listed(parameters)}."


def _too_many(name: str, given: int, possible: int, parameters: Mapping[str, Parameter]) -> str:
    if not parameters:
        return f"{name}() takes no arguments, got {given}."
    if possible == 0:
        return f"{name}() takes its arguments by name: {name}({', '.join(f'{one}=...' for one in parameters)})."
    most = "one argument" if possible == 1 else f"{possible} arguments"
    return f"{name}() takes at most {most} without a name, got {given}. It takes {_listed(parameters)}."


def _listed(parameters: Mapping[str, Parameter]) -> str:
    shown = [
        one.name if one.default is Parameter.empty else f"{one.name}={one.default!r}" for one in parameters.values()
    ]
    return ", ".join(shown) if shown else "no arguments"


def _fits(value: Any, annotation: Any) -> bool:
    """Whether a value may be of a type as it is written; types that are not known here fit everything."""
    core = sys.modules["armillary._core"]  # it imports this module when it refuses a call
    if not isinstance(annotation, str):
        return True
    parts = annotation.split(" | ")
    if value is None:
        return not {"None", "Any", "object"}.isdisjoint(parts)
    kinds = [_PLAIN.get(part) or _CONTAINERS.get(part.partition("[")[0]) or getattr(core, part, None) for part in parts]
    return any(kind is None or (isinstance(value, kind) and _is_taken(value, kind)) for kind in kinds)


def _is_taken(value: Any, kind: type) -> bool:
    """Whether the core takes a value of this kind: a text that has a form in UTF-8, a number that is a double."""
    try:
        if kind is str:
            value.encode()
        elif kind is Real:
            float(value)
    except (UnicodeEncodeError, OverflowError):
        return False
    return kind is not Sequence or not isinstance(value, str | bytes)
