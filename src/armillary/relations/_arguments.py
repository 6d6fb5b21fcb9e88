"""Explanations of arguments that the constructor of a relation does not take: why, and which one to use instead."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple, TypeVar

from armillary.errors import ArmillaryError, InvalidArgument
from armillary.errors.format import nearest_name
from armillary.relations.storage import MOTION_ORIGIN, ORIGIN, POSE_ORIGIN


class Signature(NamedTuple):
    """The arguments of a constructor."""

    needs: tuple[str, ...]
    value: str  # the usual argument for the numbers
    takes: tuple[str, ...]


_VECTOR = ("xyz", "coordinates")
_AT_A_POINT = Signature(("point", "reference_body"), "xyz", ("body", "expressed_in", *_VECTOR))
_OF_A_BODY = Signature(("body", "reference_body"), "xyz", ("expressed_in", *_VECTOR))
_OTHER_END = ("body", "reference_body", "expressed_in")

SIGNATURES = {
    "Position": Signature(("point", "reference_point"), "xyz", (*_OTHER_END, *_VECTOR, *POSE_ORIGIN)),
    "Orientation": Signature(("of", "in_frame"), "rotation", (*_OTHER_END, "rotation", "coordinates", *POSE_ORIGIN)),
    "Pose": Signature(
        ("of", "in_frame"),
        "transform",
        ("point", "reference_point", *_OTHER_END, "transform", "coordinates", *POSE_ORIGIN),
    ),
    "LinearVelocity": _AT_A_POINT._replace(takes=(*_AT_A_POINT.takes, *MOTION_ORIGIN)),
    "LinearAcceleration": _AT_A_POINT._replace(takes=(*_AT_A_POINT.takes, *ORIGIN)),
    "Torque": _AT_A_POINT._replace(takes=(*_AT_A_POINT.takes, *ORIGIN)),
    "AngularVelocity": _OF_A_BODY._replace(takes=(*_OF_A_BODY.takes, *MOTION_ORIGIN)),
    "AngularAcceleration": _OF_A_BODY._replace(takes=(*_OF_A_BODY.takes, *ORIGIN)),
    "Force": _OF_A_BODY._replace(takes=(*_OF_A_BODY.takes, *ORIGIN)),
    "Twist": Signature(
        ("point", "reference_body"),
        "linear=..., angular",
        ("body", "expressed_in", "linear", "angular", "coordinates", *MOTION_ORIGIN),
    ),
    "Wrench": Signature(
        ("point", "reference_body"),
        "force=..., torque",
        ("body", "expressed_in", "force", "torque", "coordinates", *ORIGIN),
    ),
}

_NOUNS = {
    "LinearVelocity": "a velocity",
    "LinearAcceleration": "an acceleration",
    "AngularVelocity": "an angular velocity",
    "AngularAcceleration": "an angular acceleration",
    "Twist": "a velocity",
}
_NO_REFERENCE_POINT = "{noun} has no reference point: it is the same seen from every point of reference_body=."
_NO_REFERENCE_POINT_OF_FORCE = "{noun} has no reference point: reference_body= is the body that exerts it."
_NO_POINT_OF_BODY = "{noun} has no point: all of a body turns alike. Say body= alone."
_NO_POINT_OF_AXES = "{noun} has no point: axes have directions, and no place."

_SEEN_FROM = "what it is seen from is in_frame=."
_MEASURED_FROM = "what it is measured from is reference_point=, the axes of the numbers are expressed_in=."
_RELATIVE = "what it is relative to is reference_body=, the axes of the numbers are expressed_in=."
_BY = "the body that exerts it is reference_body=, the axes of the numbers are expressed_in=."
_SEEN_ALIASES = ("relative_to", "frame_id", "parent", "reference", "reference_frame")
_FROM_ALIASES = ("in_frame", *_SEEN_ALIASES)
_OF_ALIASES = ("child_frame_id", "child", "frame")


def _all(names: tuple[str, ...], reason: str) -> dict[str, str]:
    return dict.fromkeys(names, reason)


_MOTION = _all(_FROM_ALIASES, _RELATIVE) | {"reference_point": _NO_REFERENCE_POINT}
_POINT_MOTION = _MOTION | _all(("of", *_OF_ALIASES), "the point that moves is point=, the body it is fixed to body=.")
_BODY_MOTION = _MOTION | _all(("of", *_OF_ALIASES), "the body that turns is body=.") | {"point": _NO_POINT_OF_BODY}
_EXERTED_BY = _all(("by", *_FROM_ALIASES), _BY) | {"reference_point": _NO_REFERENCE_POINT_OF_FORCE}
_EXERTED_ON = {"of": "the body it acts on is body=.", "on": "the body it acts on is body=."}
_ONE_VECTOR = _all(("linear", "angular", "vector", "velocity", "force", "torque"), "its numbers are xyz=.")
_MOMENT = _EXERTED_BY | _EXERTED_ON | _all(("about",), "the point it is taken about is point=.")

REASONS: dict[str, dict[str, str]] = {
    "Position": _all(_FROM_ALIASES, _MEASURED_FROM)
    | _all(("of", *_OF_ALIASES), "the point is point=, the body it is fixed to body=.")
    | {"rotation": "a position has no axes of its own; a Pose has."},
    "Orientation": _all(_SEEN_ALIASES, _SEEN_FROM)
    | _all(_OF_ALIASES, "the axes that are described are of=.")
    | {"point": _NO_POINT_OF_AXES, "reference_point": _NO_POINT_OF_AXES, "matrix": "a (3, 3) matrix is coordinates=."},
    "Pose": _all(_SEEN_ALIASES, _SEEN_FROM)
    | _all(_OF_ALIASES, "the frame that is placed is of=.")
    | _all(
        ("xyz", "rotation"),
        "position and rotation are one transform=, or coordinates=PositionQuaternion(xyz, rotation).",
    )
    | _all(("position", "orientation"), "make it of both by Pose.from_parts(position, orientation).")
    | {"matrix": "a (4, 4) matrix is coordinates=."},
    "LinearVelocity": _POINT_MOTION | _ONE_VECTOR,
    "LinearAcceleration": _POINT_MOTION | _ONE_VECTOR,
    "AngularVelocity": _BODY_MOTION | _ONE_VECTOR,
    "AngularAcceleration": _BODY_MOTION | _ONE_VECTOR,
    "Twist": _POINT_MOTION
    | _all(("velocity", "angular_velocity"), "numbers are linear= and angular=; relations go to Twist.from_parts.")
    | _all(("xyz", "vector"), "its numbers are linear= and angular=."),
    "Force": _EXERTED_BY
    | _EXERTED_ON
    | _ONE_VECTOR
    | {"point": "a force has no point: it acts on all of a body alike. Its moment has one: Wrench(point=...)."},
    "Torque": _MOMENT | _ONE_VECTOR,
    "Wrench": _MOMENT | _all(("xyz", "vector"), "its numbers are force= and torque=."),
}


_Kind = TypeVar("_Kind", bound=type)


def explain_arguments(kind: _Kind) -> _Kind:
    """Make the constructor of a class explain the arguments that it does not take.

    A call that succeeds is not looked at.
    """
    plain: Callable[..., None] = kind.__init__  # type: ignore[misc]

    @wraps(plain)
    def __init__(self: Any, *positional: Any, **given: Any) -> None:  # noqa: N807 - it replaces the constructor
        try:
            plain(self, *positional, **given)
        except TypeError as error:
            if isinstance(error, ArmillaryError):
                raise
            raise argument_error(kind.__name__, positional, given, error) from None

    kind.__init__ = __init__  # type: ignore[misc]
    return kind


def argument_error(kind: str, positional: tuple[Any, ...], given: dict[str, Any], error: TypeError) -> TypeError:
    """Return the error that explains a failed call; `error` itself where it has another reason."""
    signature = SIGNATURES[kind]
    known = (*signature.needs, *signature.takes)
    unknown = [name for name in given if name not in known]
    missing = [f"{name}=" for name in signature.needs if name not in given]
    if positional:
        return InvalidArgument(f"{kind} takes names only, as positions get swapped: {_example(kind)}.")
    if unknown:
        return InvalidArgument(" ".join(f"{kind} takes no {name}=: {_reason(kind, name)}" for name in unknown))
    if missing:
        return InvalidArgument(f"{kind} also needs {' and '.join(missing)}: {_example(kind)}.")
    return error


def _example(kind: str) -> str:
    signature = SIGNATURES[kind]
    return f"{kind}({', '.join(f'{name}=...' for name in (*signature.needs, signature.value))})"


def _reason(kind: str, name: str) -> str:
    reason = REASONS[kind].get(name)
    if reason is not None:
        return reason.format(noun=_NOUNS.get(kind, f"{'an' if kind[0] in 'AEIOU' else 'a'} {kind.lower()}"))
    known = (*SIGNATURES[kind].needs, *SIGNATURES[kind].takes)
    near = nearest_name(name, known)
    return f"did you mean {near}=?" if near else f"it takes {', '.join(f'{each}=' for each in known)}."
