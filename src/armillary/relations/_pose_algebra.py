"""The algebra of poses, over attributes only: it does not care how a pose is stored.

Each operation answers with the fields that change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from armillary import errors
from armillary.relations import _checks, _pose_covariance
from armillary.relations._checks import Asked
from armillary.relations._orientation import Orientation, composed, turn_to
from armillary.relations._position import Position
from armillary.relations.representations import NATIVE, POSITION_QUATERNION, Representation
from armillary.relations.representations.faces import given, pose_face, rotation_face, vector_face
from armillary.relations.storage import origin_of, origin_of_both, trusted
from armillary.transforms import Transform

if TYPE_CHECKING:
    from armillary.relations._pose import Pose

Fields = dict[str, Any]


def text(pose: Pose) -> str:
    """`Pose(camera|arm in base|robot, in [base])`, with points where they are not the origins."""
    target = pose.of if pose.point == pose.of else f"({pose.point}, [{pose.of}])"
    reference = pose.in_frame
    if pose.reference_point != pose.in_frame:
        reference = f"({pose.reference_point}, [{pose.in_frame}])"
    return f"Pose({target}|{pose.body} in {reference}|{pose.reference_body}, in [{pose.expressed_in}])"


def is_frame_form(pose: Pose) -> bool:
    """Whether points and axes are those of the two frames."""
    return _is_frame_form(_names(pose))


def _names(pose: Pose) -> Fields:
    return {name: getattr(pose, name) for name in ("of", "in_frame", "point", "reference_point", "expressed_in")}


def _is_frame_form(names: Fields) -> bool:
    return bool(
        names["point"] == names["of"]
        and names["reference_point"] == names["in_frame"]
        and names["expressed_in"] == names["in_frame"]
    )


def check_representable(pose: Pose) -> None:
    """Indivisible coordinates say nothing of other points and axes."""
    if pose_face(pose.coordinates).frame_form and not is_frame_form(pose):
        raise _not_representable(Asked("make", "make {}", (pose,)), _names(pose), type(pose.coordinates).__name__)


_FREE = (
    "Use free coordinates: pass PositionQuaternion(xyz, rotation), or .converted(POSITION_QUATERNION) first "
    "(from armillary.relations import POSITION_QUATERNION)."
)
_IN_PARTS = "Read its two parts, .xyz and .rotation; or .position and .orientation, which keep their names."


def _not_representable(asked: Asked, names: Fields, kind: str, hint: str = _FREE) -> errors.SemanticError:
    reason = f"{kind} coordinates always have the points and axes of the two frames"
    pairs = (("point", "of"), ("reference_point", "in_frame"), ("expressed_in", "in_frame"))
    other = [f"{name}='{names[name]}'" for name, frame in pairs if names[name] != names[frame]]
    return asked.refuse(errors.NotRepresentable, reason, ", ".join(other), hint)


def position(pose: Pose) -> Position:
    """The position part."""
    return trusted(
        Position,
        point=pose.point,
        body=pose.body,
        reference_point=pose.reference_point,
        reference_body=pose.reference_body,
        expressed_in=pose.expressed_in,
        coordinates=given(vector_face(pose_face(pose.coordinates).position)),
        covariance=_pose_covariance.of_position(pose),
        **origin_of(pose),
    )


def orientation(pose: Pose) -> Orientation:
    """The orientation part."""
    return trusted(
        Orientation,
        of=pose.of,
        body=pose.body,
        in_frame=pose.in_frame,
        reference_body=pose.reference_body,
        expressed_in=pose.in_frame,
        coordinates=given(rotation_face(pose_face(pose.coordinates).rotation)),
        covariance=_pose_covariance.of_orientation(pose),
        **origin_of(pose),
    )


def transform(pose: Pose) -> Transform:
    """`in_frame_T_of`, of a frame form."""
    if isinstance(pose.coordinates, Transform):
        return pose.coordinates
    if not is_frame_form(pose):
        asked = Asked("transform", "read the transform of {}", (pose,))
        raise _not_representable(asked, _names(pose), "Transform", _IN_PARTS)
    return Transform.from_rotation(orientation(pose).rotation, xyz=position(pose).xyz)


def joined(place: Position, axes: Orientation, representation: Representation | None) -> Fields:
    """The fields of the pose with these two parts."""
    asked = _checks.joining("Pose", place, axes)
    _checks.kind(asked, place, Position)
    _checks.kind(asked, axes, Orientation)
    _checks.body(asked, place.body, axes.body)
    _checks.reference_body(asked, place.reference_body, axes.reference_body)
    names = {
        "of": axes.of,
        "in_frame": axes.in_frame,
        "point": place.point,
        "reference_point": place.reference_point,
        "expressed_in": place.expressed_in,
    }
    chosen = axes.turn.representation if representation is None else representation
    coordinates = _with_parts(asked, chosen, names, place.vector, axes.turn)
    names |= {"body": axes.body, "reference_body": axes.reference_body}
    origin = origin_of_both(place, axes, _checks.stamp(asked, place.stamp, axes.stamp))
    return names | {"coordinates": coordinates} | origin


def _with_parts(asked: Asked, representation: Representation, names: Fields, place: Any, turn: Any) -> Any:
    """Coordinates from parts, if these coordinates can express it."""
    coordinates = representation.pose(vector_face(place), rotation_face(turn), is_frame_form=_is_frame_form(names))
    if coordinates is None:
        raise _not_representable(asked, names, representation.name)
    return given(coordinates)


def converted(pose: Pose, representation: Representation) -> Any:
    """Coordinates of another representation."""
    asked = Asked("converted", "convert {}", (pose,))
    place, turn = representation.vector(position(pose).xyz), representation.rotation(orientation(pose).rotation)
    return _with_parts(asked, representation, _names(pose), place, turn)


def inverse(pose: Pose) -> Fields:
    """The fields of the reference seen from the target."""
    face = pose_face(pose.coordinates)
    names = {
        "of": pose.in_frame,
        "in_frame": pose.of,
        "point": pose.reference_point,
        "reference_point": pose.point,
        "expressed_in": pose.of if face.frame_form else pose.expressed_in,
    }
    if face.frame_form:
        coordinates = given(face.inverse())
    else:
        asked = Asked("inverse", "invert {}", (pose,))
        place, turn = -vector_face(face.position), rotation_face(face.rotation).inverse()
        coordinates = _with_parts(asked, face.representation, names, place, turn)
    bodies = {"body": pose.reference_body, "reference_body": pose.body}
    return names | bodies | {"coordinates": coordinates, "covariance": _pose_covariance.inverted(pose)}


def compose(a: Pose, b: Pose) -> Fields:
    """The fields of the target of `b` seen from the reference of `a`."""
    asked = _checks.composing(a, b)
    _checks.kind(asked, b, type(a))
    _checks.inner_point(asked, a, b)
    _checks.inner_orientation_frame(asked, a, b)
    _checks.inner_body(asked, a, b)
    fields = _composed_coordinates(asked, a, b)
    fields |= origin_of_both(a, b, _checks.stamp(asked, a.stamp, b.stamp))
    return fields | {"covariance": _pose_covariance.composed(a, b)}


def _composed_coordinates(asked: Asked, a: Pose, b: Pose) -> Fields:
    representation = _common(asked, a, b)
    names = {"of": b.of, "body": b.body, "point": b.point}
    if is_frame_form(a) and is_frame_form(b) and representation is not POSITION_QUATERNION:
        return names | {"coordinates": given(pose_face(a.coordinates).compose(pose_face(b.coordinates)))}
    place = _composed_position(asked, a, b)
    turn = composed(asked, orientation(a).turn, orientation(b).turn)
    outer = _names(a) | {"of": b.of, "point": b.point}
    return names | {"coordinates": _with_parts(asked, representation, outer, place, turn)}


def _composed_position(asked: Asked, a: Pose, b: Pose) -> Any:
    """The sum of the positions: along equal axes, or where the orientation of `a` is just what makes them equal."""
    first, second = position(a), position(b)
    if b.expressed_in == a.of and a.expressed_in == a.in_frame:
        return first.vector + vector_face(orientation(a).turn.rotate(second.vector))
    _checks.coordinate_frame(asked, a.expressed_in, b.expressed_in)
    return first.vector + second.vector


def _common(asked: Asked, a: Pose, b: Pose) -> Representation:
    """The representation of both; a `Transform` beside a `PositionQuaternion` counts as one."""
    first, second = pose_face(a.coordinates).representation, pose_face(b.coordinates).representation
    if {first, second} == {NATIVE, POSITION_QUATERNION}:
        return POSITION_QUATERNION
    _checks.representation(asked, first, second)
    return first  # type: ignore[no-any-return]


def _moved(asked: Asked, pose: Pose, place: Any, turn: Any, names: Fields) -> Fields:
    """With another position or rotation, and the names that go with them."""
    representation = pose_face(pose.coordinates).representation
    if pose_face(pose.coordinates).frame_form and not _is_frame_form(_names(pose) | names):
        raise _not_representable(asked, _names(pose) | names, type(pose.coordinates).__name__)
    return names | {"coordinates": _with_parts(asked, representation, _names(pose) | names, place, turn)}


def change_point(pose: Pose, helper: Position) -> Fields:
    """The fields at another point of the body."""
    asked = _checks.changing("change_point", pose, helper)
    helper = _checks.part(asked, helper, Position)
    _checks.helper_point(asked, pose, helper)
    place = position(pose).vector + helper.vector
    fields = _moved(asked, pose, place, orientation(pose).turn, {"point": helper.point})
    return fields | {"covariance": _pose_covariance.at_another_point(pose, helper)}


def change_reference_point(pose: Pose, helper: Position) -> Fields:
    """The fields from another point of the reference body."""
    asked = _checks.changing("change_reference_point", pose, helper)
    helper = _checks.part(asked, helper, Position)
    _checks.helper_reference_point(asked, pose, helper)
    place = position(pose).vector + helper.vector
    return _moved(asked, pose, place, orientation(pose).turn, {"reference_point": helper.reference_point})


def change_orientation_frame(pose: Pose, helper: Orientation) -> Fields:
    """The fields with other axes on the body."""
    asked = _checks.changing("change_orientation_frame", pose, helper)
    helper = _checks.part(asked, helper, Orientation)
    _checks.helper_orientation_frame(asked, pose, helper)
    turn = composed(asked, orientation(pose).turn, helper.turn)
    fields = _moved(asked, pose, position(pose).vector, turn, {"of": helper.of})
    return fields | {"covariance": _pose_covariance.in_other_axes(pose, helper)}


def change_reference_orientation_frame(pose: Pose, helper: Orientation) -> Fields:
    """The fields with other reference axes on the reference body."""
    asked = _checks.changing("change_reference_orientation_frame", pose, helper)
    helper = _checks.part(asked, helper, Orientation)
    _checks.helper_reference_orientation_frame(asked, pose, helper)
    turn = composed(asked, helper.turn, orientation(pose).turn)
    return _moved(asked, pose, position(pose).vector, turn, {"in_frame": helper.in_frame})


def change_coordinate_frame(pose: Pose, helper: Orientation) -> Fields:
    """The fields with the position along other axes."""
    asked = _checks.changing("change_coordinate_frame", pose, helper)
    place = turn_to(pose, helper).rotate(position(pose).vector)
    return _moved(asked, pose, vector_face(place), orientation(pose).turn, {"expressed_in": helper.in_frame})
