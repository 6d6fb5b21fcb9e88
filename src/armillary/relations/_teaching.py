"""Refusals of what people write before they know the words: each says why, and what to write instead."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, NoReturn, TypeVar

from armillary.errors import ArmillaryError, KindDiffers
from armillary.relations import _checks
from armillary.relations._checks import Asked

_Kind = TypeVar("_Kind", bound=type)


def teaching(kind: _Kind) -> _Kind:
    """A class whose constructor explains the arguments that it does not take.

    Nothing is looked at before a call has failed; the sentences are imported then.
    """
    plain: Callable[..., None] = kind.__init__  # type: ignore[misc]

    @wraps(plain)
    def __init__(self: Any, *positional: Any, **given: Any) -> None:  # noqa: N807 - it takes its place
        try:
            plain(self, *positional, **given)
        except TypeError as error:
            if isinstance(error, ArmillaryError):
                raise
            from armillary.relations._arguments import refusal  # noqa: PLC0415 - most programs never need it

            raise refusal(kind.__name__, positional, given, error) from None

    kind.__init__ = __init__  # type: ignore[misc]
    return kind


def no_point(self: Any, *_: Any, **__: Any) -> NoReturn:
    """Refused: it has no point that could be changed."""
    asked = Asked("change_point", "change the point of {}", (self,))
    hint = f"A force acts on all of '{self.body}' alike and has no point; its moment has one: use a Wrench."
    expected = "a Torque or a Wrench"
    if self._is_angular:
        hint = f"It has no point: all of '{self.body}' turns alike. Use it as it is."
        expected = "a relation that has a point"
    raise asked.refuse(KindDiffers, expected, _checks.kind_of(self), hint)


def no_reference_point(self: Any, *_: Any, **__: Any) -> NoReturn:
    """Refused: it has no reference point that could be changed."""
    asked = Asked("change_reference_point", "change the reference point of {}", (self,))
    hint = (
        f"It has no reference point: it is the same seen from every point of '{self.reference_body}'. Use it as it is."
    )
    raise asked.refuse(KindDiffers, "a Position or a Pose", _checks.kind_of(self), hint)


def no_place(self: Any, *_: Any, **__: Any) -> NoReturn:
    """Refused: axes have no point, nor a reference point, that could be changed."""
    asked = Asked("change_point", "change a point of {}", (self,))
    hint = (
        "It has no point: axes have directions, and no place. Use it as it is, or change the axes: "
        ".change_orientation_frame(orientation), .change_reference_orientation_frame(orientation)."
    )
    raise asked.refuse(KindDiffers, "a relation that has a point", _checks.kind_of(self), hint)


def no_exerting_point(self: Any, *_: Any, **__: Any) -> NoReturn:
    """Refused: it has no reference point that could be changed."""
    asked = Asked("change_reference_point", "change the reference point of {}", (self,))
    hint = f"It has no reference point: '{self.reference_body}' is the body that exerts it. Use it as it is."
    raise asked.refuse(KindDiffers, "a Position or a Pose", _checks.kind_of(self), hint)


def no_sum(self: Any, other: Any) -> NoReturn:
    """Refused: relations are composed, and the order has a meaning."""
    asked = _checks.adding(self, other)
    if type(other) is not type(self):
        hint = f"Compose it with another {type(self).__name__}, reference first: a @ b."
    else:
        hint = f"Compose them, reference first: {_order(self, other)}."
    raise asked.refuse(KindDiffers, "a Force, a Torque or a Wrench", _checks.kind_of(self), hint)


def _order(a: Any, b: Any) -> str:
    """The product that is meant: what the first factor leads to is what the second one starts from."""
    if _meet(a, b):
        return "a @ b, in this order"
    return "b @ a, the other way round" if _meet(b, a) else "a @ b, where b starts from what a leads to"


def _meet(a: Any, b: Any) -> bool:
    pairs = (("body", "reference_body"), ("of", "in_frame"), ("point", "reference_point"))
    return all(getattr(a, end) == getattr(b, start) for end, start in pairs if hasattr(a, end) and hasattr(b, start))
