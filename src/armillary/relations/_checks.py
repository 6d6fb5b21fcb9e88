"""Every check of the geometric semantics, once: what must be equal, and which call repairs what is not.

Numbers as in the table of checks: compose, change of point, of reference point, of orientation frames, of coordinates.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from armillary import errors
from armillary.transforms import Rotation, Transform

_NAMES_OF_OURS = frozenset(("Rotation", "Transform", "Position", "Orientation", "Pose", "Twist", "Force", "Wrench"))
_NUMBERS = (np.ndarray, list, tuple, Transform, Rotation)
_BARE = {
    "Pose": "Numbers without names are not composed: write pose.transform @ points for points, or name it, "
    "Pose(of=..., in_frame=..., transform=...).",
    "Orientation": "Numbers without names are not composed: write orientation.rotation @ vectors for vectors, or name "
    "it, Orientation(of=..., in_frame=..., rotation=...).",
}


class Asked(NamedTuple):
    """An operation and its operands; its sentence is written only when it is refused."""

    operation: str
    template: str
    operands: tuple[object, ...] = ()

    def refuse(
        self, kind: type[errors.SemanticError], expected: object, found: object, hint: str, reason: str | None = None
    ) -> errors.SemanticError:
        """The error, ready to be raised; `reason` where its own sentence does not fit."""
        asked = self.template.format(*(_shown(operand) for operand in self.operands))
        names = {"expected": str(expected), "found": str(found)}
        return kind(operation=self.operation, asked=asked, hint=hint, reason=reason, **names)


def _shown(operand: object) -> str:
    if isinstance(operand, np.ndarray):
        return f"an array of shape {operand.shape}"
    return str(operand._named()) if hasattr(operand, "_named") else repr(operand)  # noqa: SLF001 - a value of ours


def composing(a: object, b: object) -> Asked:
    """`a @ b`."""
    return Asked("compose", "compose {} @ {}", (a, b))


def adding(a: object, b: object) -> Asked:
    """`a + b`."""
    return Asked("add", "add {} + {}", (a, b))


def changing(operation: str, value: object, helper: object) -> Asked:
    """`value.operation(helper)`."""
    what = operation.removeprefix("change_").replace("_", " ")
    return Asked(operation, f"change the {what} of {{}} by {{}}", (value, helper))


def joining(kind: str, a: object, b: object) -> Asked:
    """`kind.from_parts(a, b)`."""
    return Asked("from_parts", f"make a {kind} of {{}} and {{}}", (a, b))


def kind(asked: Asked, value: object, expected: type) -> None:
    """The operand is a relation of this kind."""
    if not isinstance(value, expected):
        wanted = _an(expected.__name__)
        hint = _BARE.get(expected.__name__, "") if isinstance(value, _NUMBERS) and "@" in asked.template else ""
        raise asked.refuse(errors.KindDiffers, wanted, kind_of(value), hint or f"Pass {wanted}.")


def part(asked: Asked, value: Any, expected: type) -> Any:
    """The operand, or of a pose the part that is a relation of this kind."""
    if isinstance(value, expected):
        return value
    of_pose = getattr(value, expected.__name__.lower(), None)
    kind(asked, value if of_pose is None else of_pose, expected)
    return of_pose


def kind_of(value: object) -> str:
    """What an operand is, with its article; of another library, with its name, as names of types repeat."""
    if isinstance(value, np.ndarray):
        return "an array"
    kind, library = type(value), type(value).__module__.partition(".")[0]
    is_foreign = kind.__name__ in _NAMES_OF_OURS and library not in {"armillary", "__main__"}
    return _an(f"{library} {kind.__name__}" if is_foreign else kind.__name__)


def also_given(asked: Asked, value: Any, helper: object, argument: str, expected: type, *, why: str) -> None:
    """The other relation that the operation needs, between the same bodies, is there and of its kind."""
    if helper is None:
        names = f"body='{value.body}', reference_body='{value.reference_body}', ..."
        hint = f"{why} Pass {argument}={expected.__name__}({names}) to the method."
        raise asked.refuse(errors.RelationMissing, argument, "none", hint)
    kind(asked, helper, expected)


def coordinate_frame(asked: Asked, expected: str, found: str) -> None:
    """Numbers are added along the same axes only."""
    if expected != found:
        hint = (
            f"Turn one of them first: .change_coordinate_frame(Orientation(of='{found}', in_frame='{expected}', "
            "rotation=...))."
        )
        raise asked.refuse(errors.CoordinateFrameDiffers, expected, found, hint)


def point(asked: Asked, expected: str, found: str) -> None:
    """Velocities, moments and accelerations are added at the same point only."""
    if expected != found:
        moved: Any = asked.operands[-1]
        hint = (
            f"Move one of them first: .change_point(Position.within('{moved.body}', point='{expected}', "
            f"reference_point='{found}', xyz=..., expressed_in='{moved.expressed_in}'))."
        )
        raise asked.refuse(errors.PointDiffers, expected, found, hint)


def inner_point(asked: Asked, a: Any, b: Any) -> None:
    """The point of the first is the reference point of the second."""
    if a.point != b.reference_point:
        hint = f"Insert the relation of '{b.reference_point}' to '{a.point}' between them, or change one of the points."
        raise asked.refuse(errors.InnerPointDiffers, a.point, b.reference_point, hint)


def inner_orientation_frame(asked: Asked, a: Any, b: Any) -> None:
    """The axes of the first are the reference axes of the second."""
    if a.of != b.in_frame:
        hint = (
            f"Insert the orientation of '{b.in_frame}' in '{a.of}' between them: "
            f".change_orientation_frame(Orientation(of='{b.in_frame}', in_frame='{a.of}', ...))."
        )
        raise asked.refuse(errors.InnerOrientationFrameDiffers, a.of, b.in_frame, hint)


def inner_body(asked: Asked, a: Any, b: Any) -> None:
    """The body that moves in the first is the reference body of the second."""
    if a.body != b.reference_body:
        hint = (
            f"Insert the relation of '{b.reference_body}' to '{a.body}' between them; or, if these are one body, name "
            f"it in both: body='{a.body}' and reference_body='{a.body}'."
        )
        raise asked.refuse(errors.InnerBodyDiffers, a.body, b.reference_body, hint)


def body(asked: Asked, expected: str, found: str) -> None:
    """Both are about the same moving body."""
    if expected != found:
        hint = f"Both must be of one body: name it in both, body='{expected}'."
        raise asked.refuse(errors.BodyDiffers, expected, found, hint)


def reference_body(asked: Asked, expected: str, found: str) -> None:
    """Both are relative to the same body."""
    if expected != found:
        hint = f"Compose one of them with the motion of '{found}' relative to '{expected}' first."
        raise asked.refuse(errors.ReferenceBodyDiffers, expected, found, hint)


def same_motion(asked: Asked, value: Any, helper: Any) -> None:
    """A velocity that helps must be of the same two bodies, along the same axes."""
    body(asked, value.body, helper.body)
    reference_body(asked, value.reference_body, helper.reference_body)
    coordinate_frame(asked, value.expressed_in, helper.expressed_in)


def helper_point(asked: Asked, value: Any, helper: Any) -> None:
    """The position leads from the present point to the new one, within the moving body."""
    coordinate_frame(asked, value.expressed_in, helper.expressed_in)
    if helper.reference_point != value.point:
        hint = (
            f"Pass the position of the new point from '{value.point}': Position(reference_point='{value.point}', ...)."
        )
        raise asked.refuse(errors.HelperPointDiffers, value.point, helper.reference_point, hint)
    _helper_body(asked, value.body, helper)


def helper_reference_point(asked: Asked, value: Any, helper: Any) -> None:
    """The position leads from the new reference point to the present one, within the reference body."""
    coordinate_frame(asked, value.expressed_in, helper.expressed_in)
    if helper.point != value.reference_point:
        hint = (
            f"Pass the position of '{value.reference_point}' from the new reference point: "
            f"Position(point='{value.reference_point}', ...)."
        )
        raise asked.refuse(errors.HelperPointDiffers, value.reference_point, helper.point, hint)
    _helper_body(asked, value.reference_body, helper)


def helper_orientation_frame(asked: Asked, value: Any, helper: Any) -> None:
    """The orientation is that of the new axes in the present ones, within the moving body."""
    if helper.in_frame != value.of:
        hint = f"Pass the orientation of the new frame in '{value.of}': Orientation(in_frame='{value.of}', ...)."
        raise asked.refuse(errors.HelperOrientationFrameDiffers, value.of, helper.in_frame, hint)
    _helper_body(asked, value.body, helper)


def helper_reference_orientation_frame(asked: Asked, value: Any, helper: Any) -> None:
    """The orientation is that of the present reference axes in the new ones, within the reference body."""
    if helper.of != value.in_frame:
        hint = f"Pass the orientation of '{value.in_frame}' in the new frame: Orientation(of='{value.in_frame}', ...)."
        raise asked.refuse(errors.HelperOrientationFrameDiffers, value.in_frame, helper.of, hint)
    _helper_body(asked, value.reference_body, helper)


def helper_coordinate_frame(asked: Asked, value: Any, helper: Any) -> None:
    """The orientation is that of the present axes in the new ones."""
    if helper.of != value.expressed_in:
        hint = f"Pass Orientation(of='{value.expressed_in}', in_frame=<the new axes>, ...)"
        hint += ", or its .inverse()." if helper.in_frame == value.expressed_in else "."
        raise asked.refuse(errors.HelperCoordinateFrameDiffers, value.expressed_in, helper.of, hint)


def _helper_body(asked: Asked, own: str, helper: Any) -> None:
    if helper.body != helper.reference_body:
        hint = f"Only what is fixed to one body can be exchanged: name it, body='{own}' and reference_body='{own}'"
        hint += f", or Position.within('{own}', ...)." if hasattr(helper, "reference_point") else "."
        raise asked.refuse(errors.HelperBodiesDiffer, helper.reference_body, helper.body, hint)
    if helper.body != own:
        hint = f"It must be fixed to '{own}': pass a helper with body='{own}' and reference_body='{own}'."
        raise asked.refuse(errors.HelperBodyDiffers, own, helper.body, hint)


def stamp(asked: Asked, a: int | None, b: int | None) -> int | None:
    """The instant of both; what has none holds at every instant."""
    if a is None or b is None or a == b:
        return b if a is None else a
    hint = "Ask for both at one instant, or take the stamp off what does not change: .stamped(None)."
    raise asked.refuse(errors.StampDiffers, a, b, hint)


def representation(asked: Asked, a: Any, b: Any) -> None:
    """Coordinates of two representations are never mixed silently."""
    if a != b:
        hint = "Convert one of them, in so many words: .converted(representation)."
        raise asked.refuse(errors.RepresentationDiffers, a.name, b.name, hint)


def _an(name: str) -> str:
    return f"{'an' if name[:1] in 'AEIOUaeiou' else 'a'} {name}"


def frame(asked: Asked, expected: str, found: str) -> None:
    """Both are about the same frame."""
    if expected != found:
        raise asked.refuse(errors.OrientationFrameDiffers, expected, found, "Pass two poses of the same frames.")
