"""The checks of the geometric semantics: what must be equal, and the hint that says which call repairs it.

Also the methods that a kind of relation does not support, and composition in whichever order passes the checks.
"""

from __future__ import annotations

from typing import Any, NamedTuple, NoReturn

import numpy as np

from armillary import errors
from armillary._core import Pose as NativePose
from armillary.relations._display import pose_names
from armillary.transforms import Rotation, Transform

_OWN_NAMES = frozenset(("Rotation", "Transform", "Position", "Orientation", "Pose", "Twist", "Force", "Wrench"))
_NUMBERS = (np.ndarray, list, tuple, Transform, Rotation)
_HINTS_FOR_NUMBERS = {
    "Pose": "Numbers without names are not composed: write pose.transform @ points for points, or name it, "
    "Pose(of=..., in_frame=..., transform=...).",
    "Orientation": "Numbers without names are not composed: write orientation.rotation @ vectors for vectors, or name "
    "it, Orientation(of=..., in_frame=..., rotation=...).",
}


class Asked(NamedTuple):
    """An operation and its operands; its text is made only when an error needs it."""

    operation: str
    template: str
    operands: tuple[object, ...] = ()

    def error(
        self, kind: type[errors.SemanticError], expected: object, found: object, hint: str, reason: str | None = None
    ) -> errors.SemanticError:
        """Return the error; `reason` replaces its own text where that does not fit."""
        asked = self.template.format(*(_shown(operand) for operand in self.operands))
        names = {"expected": str(expected), "found": str(found)}
        return kind(operation=self.operation, asked=asked, hint=hint, reason=reason, **names)


def _shown(operand: object) -> str:
    if isinstance(operand, np.ndarray):
        return f"an array of shape {operand.shape}"
    return pose_names(operand) if isinstance(operand, NativePose) else repr(operand)


def composing(a: object, b: object) -> Asked:
    """Return the operation `a @ b`."""
    return Asked("compose", "compose {} @ {}", (a, b))


def adding(a: object, b: object) -> Asked:
    """Return the operation `a + b`."""
    return Asked("add", "add {} + {}", (a, b))


def changing(operation: str, value: object, helper: object) -> Asked:
    """Return the operation `value.operation(helper)`."""
    what = operation.removeprefix("change_").replace("_", " ")
    return Asked(operation, f"change the {what} of {{}} by {{}}", (value, helper))


def joining(kind: str, a: object, b: object) -> Asked:
    """Return the operation `kind.from_parts(a, b)`."""
    return Asked("from_parts", f"make a {kind} of {{}} and {{}}", (a, b))


def kind(asked: Asked, value: object, expected: type) -> None:
    """Check that an operand is a relation of this kind."""
    if not isinstance(value, expected):
        wanted = _an(expected.__name__)
        hint = (
            _HINTS_FOR_NUMBERS.get(expected.__name__, "")
            if isinstance(value, _NUMBERS) and "@" in asked.template
            else ""
        )
        raise asked.error(errors.KindDiffers, wanted, kind_of(value), hint or f"Pass {wanted}.")


def part(asked: Asked, value: Any, expected: type) -> Any:
    """Return the operand, or of a pose the part that is a relation of this kind."""
    if isinstance(value, expected):
        return value
    of_pose = getattr(value, expected.__name__.lower(), None)
    kind(asked, value if of_pose is None else of_pose, expected)
    return of_pose


def kind_of(value: object) -> str:
    """Return the type of an operand with its article, and with its library where another one has the same name."""
    if isinstance(value, np.ndarray):
        return "an array"
    kind, library = type(value), type(value).__module__.partition(".")[0]
    is_foreign = kind.__name__ in _OWN_NAMES and library not in {"armillary", "__main__"}
    return _an(f"{library} {kind.__name__}" if is_foreign else kind.__name__)


def also_given(asked: Asked, value: Any, helper: object, argument: str, expected: type, *, why: str) -> None:
    """Check that the other relation which the operation needs is given, and of its kind."""
    if helper is None:
        names = f"body='{value.body}', reference_body='{value.reference_body}', ..."
        hint = f"{why} Pass {argument}={expected.__name__}({names}) to the method."
        raise asked.error(errors.RelationMissing, argument, "none", hint)
    kind(asked, helper, expected)


def coordinate_frame(asked: Asked, expected: str, found: str) -> None:
    """Check that coordinates are along the same axes."""
    if expected != found:
        hint = (
            f"Turn one of them first: .change_coordinate_frame(Orientation(of='{found}', in_frame='{expected}', "
            "rotation=...))."
        )
        raise asked.error(errors.CoordinateFrameDiffers, expected, found, hint)


def point(asked: Asked, expected: str, found: str) -> None:
    """Check that velocities, moments or accelerations are at the same point."""
    if expected != found:
        moved: Any = asked.operands[-1]
        hint = (
            f"Move one of them first: .change_point(Position.within('{moved.body}', point='{expected}', "
            f"reference_point='{found}', xyz=..., expressed_in='{moved.expressed_in}'))."
        )
        raise asked.error(errors.PointDiffers, expected, found, hint)


def inner_point(asked: Asked, a: Any, b: Any) -> None:
    """Check that the point of the first is the reference point of the second."""
    if a.point != b.reference_point:
        hint = f"Insert the relation of '{b.reference_point}' to '{a.point}' between them, or change one of the points."
        raise asked.error(errors.InnerPointDiffers, a.point, b.reference_point, hint)


def inner_orientation_frame(asked: Asked, a: Any, b: Any) -> None:
    """Check that the axes of the first are the reference axes of the second."""
    if a.of != b.in_frame:
        hint = (
            f"Insert the orientation of '{b.in_frame}' in '{a.of}' between them: "
            f".change_orientation_frame(Orientation(of='{b.in_frame}', in_frame='{a.of}', ...))."
        )
        raise asked.error(errors.InnerOrientationFrameDiffers, a.of, b.in_frame, hint)


def inner_body(asked: Asked, a: Any, b: Any) -> None:
    """Check that the body that moves in the first is the reference body of the second."""
    if a.body != b.reference_body:
        hint = (
            f"Insert the relation of '{b.reference_body}' to '{a.body}' between them; or, if these are one body, name "
            f"it in both: body='{a.body}' and reference_body='{a.body}'."
        )
        raise asked.error(errors.InnerBodyDiffers, a.body, b.reference_body, hint)


def body(asked: Asked, expected: str, found: str) -> None:
    """Check that both are about the same moving body."""
    if expected != found:
        hint = f"Both must be of one body: name it in both, body='{expected}'."
        raise asked.error(errors.BodyDiffers, expected, found, hint)


def reference_body(asked: Asked, expected: str, found: str) -> None:
    """Check that both are relative to the same body."""
    if expected != found:
        hint = f"Compose one of them with the motion of '{found}' relative to '{expected}' first."
        raise asked.error(errors.ReferenceBodyDiffers, expected, found, hint)


def same_motion(asked: Asked, value: Any, helper: Any) -> None:
    """Check that a helper is of the same two bodies, along the same axes."""
    body(asked, value.body, helper.body)
    reference_body(asked, value.reference_body, helper.reference_body)
    coordinate_frame(asked, value.expressed_in, helper.expressed_in)


def helper_point(asked: Asked, value: Any, helper: Any) -> None:
    """Check that a position leads from the present point to the new one, within the moving body."""
    coordinate_frame(asked, value.expressed_in, helper.expressed_in)
    if helper.reference_point != value.point:
        hint = (
            f"Pass the position of the new point from '{value.point}': Position(reference_point='{value.point}', ...)."
        )
        raise asked.error(errors.HelperPointDiffers, value.point, helper.reference_point, hint)
    _helper_body(asked, value.body, helper)


def helper_reference_point(asked: Asked, value: Any, helper: Any) -> None:
    """Check that a position leads from the new reference point to the present one, within the reference body."""
    coordinate_frame(asked, value.expressed_in, helper.expressed_in)
    if helper.point != value.reference_point:
        hint = (
            f"Pass the position of '{value.reference_point}' from the new reference point: "
            f"Position(point='{value.reference_point}', ...)."
        )
        raise asked.error(errors.HelperPointDiffers, value.reference_point, helper.point, hint)
    _helper_body(asked, value.reference_body, helper)


def helper_orientation_frame(asked: Asked, value: Any, helper: Any) -> None:
    """Check that an orientation is that of the new axes in the present ones, within the moving body."""
    if helper.in_frame != value.of:
        hint = f"Pass the orientation of the new frame in '{value.of}': Orientation(in_frame='{value.of}', ...)."
        raise asked.error(errors.HelperOrientationFrameDiffers, value.of, helper.in_frame, hint)
    _helper_body(asked, value.body, helper)


def helper_reference_orientation_frame(asked: Asked, value: Any, helper: Any) -> None:
    """Check that an orientation is that of the present reference axes in the new ones, within the reference body."""
    if helper.of != value.in_frame:
        hint = f"Pass the orientation of '{value.in_frame}' in the new frame: Orientation(of='{value.in_frame}', ...)."
        raise asked.error(errors.HelperOrientationFrameDiffers, value.in_frame, helper.of, hint)
    _helper_body(asked, value.reference_body, helper)


def helper_coordinate_frame(asked: Asked, value: Any, helper: Any) -> None:
    """Check that an orientation is that of the present axes in the new ones."""
    if helper.of != value.expressed_in:
        hint = f"Pass Orientation(of='{value.expressed_in}', in_frame=<the new axes>, ...)"
        hint += ", or its .inverse()." if helper.in_frame == value.expressed_in else "."
        raise asked.error(errors.HelperCoordinateFrameDiffers, value.expressed_in, helper.of, hint)


def _helper_body(asked: Asked, own: str, helper: Any) -> None:
    if helper.body != helper.reference_body:
        hint = f"Only what is fixed to one body can be exchanged: name it, body='{own}' and reference_body='{own}'"
        hint += f", or Position.within('{own}', ...)." if hasattr(helper, "reference_point") else "."
        raise asked.error(errors.HelperBodiesDiffer, helper.reference_body, helper.body, hint)
    if helper.body != own:
        hint = f"It must be fixed to '{own}': pass a helper with body='{own}' and reference_body='{own}'."
        raise asked.error(errors.HelperBodyDiffers, own, helper.body, hint)


def stamp(asked: Asked, a: int | None, b: int | None) -> int | None:
    """Return the instant of both; a value without a stamp holds at every instant."""
    if a is None or b is None or a == b:
        return b if a is None else a
    hint = "Ask for both at one instant, or take the stamp off what does not change: .stamped(None)."
    raise asked.error(errors.StampDiffers, a, b, hint)


def representation(asked: Asked, a: Any, b: Any) -> None:
    """Check that coordinates are of the same representation."""
    if a != b:
        hint = "Convert one of them explicitly: .converted(representation)."
        raise asked.error(errors.RepresentationDiffers, a.name, b.name, hint)


def _an(name: str) -> str:
    return f"{'an' if name[:1] in 'AEIOUaeiou' else 'a'} {name}"


def frame(asked: Asked, expected: str, found: str) -> None:
    """Check that both are about the same frame."""
    if expected != found:
        raise asked.error(errors.OrientationFrameDiffers, expected, found, "Pass two poses of the same frames.")


def no_point(self: Any, *_: Any, **__: Any) -> NoReturn:
    """Raise: a force or an angular vector has no point that could be changed."""
    asked = Asked("change_point", "change the point of {}", (self,))
    hint = f"A force acts on all of '{self.body}' alike and has no point; its moment has one: use a Wrench."
    expected = "a Torque or a Wrench"
    if self._is_angular:
        hint = f"It has no point: all of '{self.body}' turns alike. Use it as it is."
        expected = "a relation that has a point"
    raise asked.error(errors.KindDiffers, expected, kind_of(self), hint)


def no_reference_point(self: Any, *_: Any, **__: Any) -> NoReturn:
    """Raise: a motion has no reference point that could be changed."""
    asked = Asked("change_reference_point", "change the reference point of {}", (self,))
    hint = (
        f"It has no reference point: it is the same seen from every point of '{self.reference_body}'. Use it as it is."
    )
    raise asked.error(errors.KindDiffers, "a Position or a Pose", kind_of(self), hint)


def no_place(self: Any, *_: Any, **__: Any) -> NoReturn:
    """Raise: axes have no point, nor a reference point, that could be changed."""
    asked = Asked("change_point", "change a point of {}", (self,))
    hint = (
        "It has no point: axes have directions, and no place. Use it as it is, or change the axes: "
        ".change_orientation_frame(orientation), .change_reference_orientation_frame(orientation)."
    )
    raise asked.error(errors.KindDiffers, "a relation that has a point", kind_of(self), hint)


def no_exerting_point(self: Any, *_: Any, **__: Any) -> NoReturn:
    """Raise: a force or a moment has no reference point that could be changed."""
    asked = Asked("change_reference_point", "change the reference point of {}", (self,))
    hint = f"It has no reference point: '{self.reference_body}' is the body that exerts it. Use it as it is."
    raise asked.error(errors.KindDiffers, "a Position or a Pose", kind_of(self), hint)


def no_sum(self: Any, other: Any) -> NoReturn:
    """Raise: relations are composed, not added, and the order has a meaning."""
    asked = adding(self, other)
    if type(other) is not type(self):
        hint = f"Compose it with another {type(self).__name__}, reference first: a @ b."
    else:
        order = "a @ b, where b starts from what a leads to"
        if _misfits(self, other) == 0:
            order = "a @ b, in this order"
        elif _misfits(other, self) == 0:
            order = "b @ a, the other way round"
        hint = f"Compose them, reference first: {order}."
    raise asked.error(errors.KindDiffers, "a Force, a Torque or a Wrench", kind_of(self), hint)


def compose_any(a: Any, b: Any) -> Any:
    """Return `a @ b` or `b @ a`, whichever has a meaning.

    Raises:
        AmbiguousOrder: Both have one, and they mean different things.
        SemanticError: Neither has one; the reason is that of the order that fits better.

    >>> from armillary.relations import Position
    >>> tip = Position(point="tip", reference_point="arm", coordinates=(1, 0, 0))
    >>> arm = Position(point="arm", reference_point="map", expressed_in="arm", coordinates=(0, 2, 0))
    >>> compose_any(tip, arm).xyz.tolist()
    [1.0, 2.0, 0.0]
    """
    first, second = _tried(a, b), _tried(b, a)
    if not isinstance(first, errors.SemanticError) and not isinstance(second, errors.SemanticError):
        hint = "Write the order you mean: a.compose(b), or b.compose(a)."
        asked = Asked("compose_any", "compose {} and {} in any order", (a, b))
        raise asked.error(errors.AmbiguousOrder, repr(first), repr(second), hint)
    if not isinstance(first, errors.SemanticError):
        return first
    if not isinstance(second, errors.SemanticError):
        return second
    raise second if _misfits(b, a) < _misfits(a, b) else first


def _tried(a: Any, b: Any) -> Any:
    try:
        return a.compose(b)
    except errors.SemanticError as error:
        return error


def _misfits(a: Any, b: Any) -> int:
    """Return how many of the names that must be equal for `a @ b` differ."""
    pairs = (("point", "reference_point"), ("of", "in_frame"), ("body", "reference_body"))
    return sum(
        getattr(a, target) != getattr(b, reference)
        for target, reference in pairs
        if hasattr(a, target) and hasattr(b, reference)
    )
