"""The algebra of twists, over attributes only: it does not care how a twist is stored.

Each operation answers with the fields that change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from armillary import errors
from armillary.relations import _checks
from armillary.relations._checks import Asked
from armillary.relations._orientation import Orientation, turn_to
from armillary.relations._position import Position
from armillary.relations._velocity import AngularVelocity, LinearVelocity
from armillary.relations.arrays import added, both_turned, frozen, point_moved, seen_through
from armillary.relations.representations import NATIVE, Representation
from armillary.relations.representations._twists import LinearAngular
from armillary.relations.representations.faces import given, twist_face, vector_face
from armillary.relations.storage import are_independent, origin_of, origin_of_both, trusted

if TYPE_CHECKING:
    from armillary.relations._twist import Twist

Fields = dict[str, Any]

_INVERSE_FORMS = {"free": "free", "body": "spatial", "spatial": "body"}
_MEANING = {
    "body": "a body twist is at the origin and along the axes of one frame on the body",
    "spatial": "a spatial twist is at the origin and along the axes of one frame on the reference body",
    "hybrid": "a hybrid twist is at a point of the body, along axes of the reference body",
}


def linear(twist: Twist) -> Any:
    """The linear part, with the methods of `VectorCoordinates`."""
    return vector_face(twist_face(twist.coordinates).linear)


def angular(twist: Twist) -> Any:
    """The angular part, with the methods of `VectorCoordinates`."""
    return vector_face(twist_face(twist.coordinates).angular)


def velocity(twist: Twist) -> LinearVelocity:
    """The linear part."""
    return trusted(
        LinearVelocity,
        point=twist.point,
        body=twist.body,
        reference_body=twist.reference_body,
        expressed_in=twist.expressed_in,
        coordinates=given(linear(twist)),
        covariance=None if twist.covariance is None else frozen(twist.covariance[:3, :3]),
        **origin_of(twist),
    )


def angular_velocity(twist: Twist) -> AngularVelocity:
    """The angular part."""
    return trusted(
        AngularVelocity,
        body=twist.body,
        reference_body=twist.reference_body,
        expressed_in=twist.expressed_in,
        coordinates=given(angular(twist)),
        covariance=None if twist.covariance is None else frozen(twist.covariance[3:, 3:]),
        **origin_of(twist),
    )


def check_representable(twist: Twist) -> None:
    """A body or spatial twist has the point and the axes of one frame, a hybrid one those of two."""
    form = twist_face(twist.coordinates).form
    is_one_frame = twist.point == twist.expressed_in
    if form != "free" and is_one_frame == (form == "hybrid"):
        raise _not_representable(Asked("make", "make {}", (twist,)), form, twist.point, twist.expressed_in)


def _not_representable(asked: Asked, form: str, point: str, axes: str) -> errors.SemanticError:
    hint = (
        "Use free coordinates, .converted(NATIVE) (from armillary.relations import NATIVE), or change the form: "
        ".to_body(pose), .to_spatial(pose), .to_hybrid(pose)."
    )
    return asked.refuse(errors.NotRepresentable, _MEANING[form], f"point='{point}', expressed_in='{axes}'", hint)


def joined(line: LinearVelocity, turn: AngularVelocity, representation: Representation | None) -> Fields:
    """The fields of the twist with these two parts."""
    asked = _checks.joining("Twist", line, turn)
    _checks.kind(asked, line, LinearVelocity)
    _checks.kind(asked, turn, AngularVelocity)
    _checks.same_motion(asked, line, turn)
    return {
        "point": line.point,
        "body": line.body,
        "reference_body": line.reference_body,
        "expressed_in": line.expressed_in,
        "coordinates": given((representation or NATIVE).twist(line.vector, turn.vector)),
    } | origin_of_both(line, turn, _checks.stamp(asked, line.stamp, turn.stamp))


def converted(twist: Twist, representation: Representation) -> Any:
    """Free coordinates of another representation."""
    line, turn = (representation.vector(part.numbers()) for part in (linear(twist), angular(twist)))
    return given(representation.twist(vector_face(line), vector_face(turn)))


def inverse(twist: Twist) -> Fields:
    """The fields of the reference relative to the body."""
    face = twist_face(twist.coordinates)
    if face.form == "hybrid":
        raise _not_representable(Asked("inverse", "invert {}", (twist,)), "hybrid", twist.point, twist.expressed_in)
    coordinates = face.with_parts(-linear(twist), -angular(twist), _INVERSE_FORMS[face.form])
    return {"body": twist.reference_body, "reference_body": twist.body, "coordinates": given(coordinates)}


def compose(a: Twist, b: Twist) -> Fields:
    """The fields of the body of `b` relative to the reference of `a`."""
    asked = _checks.composing(a, b)
    _checks.kind(asked, b, type(a))
    _checks.coordinate_frame(asked, a.expressed_in, b.expressed_in)
    _checks.point(asked, a.point, b.point)
    _checks.inner_body(asked, a, b)
    return {
        "body": b.body,
        "coordinates": _sum(asked, a, b),
        "covariance": added(a.covariance, b.covariance) if are_independent(a, b) else None,
    } | origin_of_both(a, b, _checks.stamp(asked, a.stamp, b.stamp))


def _sum(asked: Asked, a: Twist, b: Twist) -> Any:
    first, second = twist_face(a.coordinates), twist_face(b.coordinates)
    if type(first) is not type(second) and not (isinstance(first, LinearAngular) and isinstance(second, LinearAngular)):
        hint = "Convert one of them, in so many words: .converted(representation)."
        names = type(a.coordinates).__name__, type(b.coordinates).__name__
        raise asked.refuse(errors.RepresentationDiffers, *names, hint)
    parts = linear(a) + linear(b), angular(a) + angular(b)
    return given(second.with_parts(*parts, _form_of_sum(first.form, second.form)))


def _form_of_sum(first: str, second: str) -> str:
    """The point stays that of the body of the second, the axes those of the reference of the first."""
    if second == "body" or first == second == "hybrid":
        return second
    return "spatial" if first == "spatial" else "free"


def change_point(twist: Twist, helper: Position) -> Fields:
    """The fields at another point of the body."""
    asked = _checks.changing("change_point", twist, helper)
    helper = _checks.part(asked, helper, Position)
    _checks.helper_point(asked, twist, helper)
    face = twist_face(twist.coordinates)
    if face.form in {"body", "spatial"}:
        raise _not_representable(asked, face.form, helper.point, twist.expressed_in)
    line = linear(twist) + vector_face(angular(twist).cross(helper.vector))
    covariance = None if twist.covariance is None else seen_through(point_moved(helper.xyz), twist.covariance)
    coordinates = face.with_parts(vector_face(line), angular(twist), face.form)
    return {"point": helper.point, "coordinates": given(coordinates), "covariance": covariance}


def change_coordinate_frame(twist: Twist, helper: Orientation) -> Fields:
    """The fields along other axes."""
    asked = _checks.changing("change_coordinate_frame", twist, helper)
    turn = turn_to(twist, helper)
    face = twist_face(twist.coordinates)
    is_still_hybrid = helper.reference_body == twist.reference_body and helper.in_frame != twist.point
    if face.form in {"body", "spatial"} or (face.form == "hybrid" and not is_still_hybrid):
        raise _not_representable(asked, face.form, twist.point, helper.in_frame)
    parts = vector_face(turn.rotate(linear(twist))), vector_face(turn.rotate(angular(twist)))
    known = twist.covariance is not None
    return {
        "expressed_in": helper.in_frame,
        "coordinates": given(face.with_parts(*parts, face.form)),
        "covariance": seen_through(both_turned(helper.rotation.matrix), twist.covariance) if known else None,
    }
