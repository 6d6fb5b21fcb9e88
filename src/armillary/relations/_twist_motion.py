"""Twists and poses together: the forms of a twist, integration and differentiation."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from armillary import errors
from armillary.relations import _checks
from armillary.relations._checks import Asked
from armillary.relations._pose import Pose
from armillary.relations._twist_algebra import angular, linear
from armillary.relations.arrays import (
    Array,
    added,
    both_turned,
    point_moved,
    right_jacobian,
    seen_through,
)
from armillary.relations.representations import LinearAngular
from armillary.relations.representations.faces import given, pose_face, twist_face, vector_face
from armillary.relations.storage import origin_of_both
from armillary.transforms import Transform

if TYPE_CHECKING:
    from armillary.relations._twist import Twist

Fields = dict[str, Any]

_NS_PER_S = 1_000_000_000


def to_form(twist: Twist, pose: Pose, form: str) -> Fields:
    """The fields of the same motion at the point and along the axes of that form."""
    asked = Asked(f"to_{form}", f"make a {form} twist of {{}} by {{}}", (twist, pose))
    _checks.kind(asked, pose, Pose)
    _same_bodies(asked, twist, pose)
    _at_its_frames(asked, twist, pose)
    point = pose.in_frame if form == "spatial" else pose.of
    axes = pose.of if form == "body" else pose.in_frame
    face = twist_face(twist.coordinates)
    coordinates = face.with_parts(*_moved(twist, pose, point, axes), form)
    return {
        "point": point,
        "expressed_in": axes,
        "coordinates": given(coordinates),
        "covariance": _moved_covariance(twist, pose, point, axes),
    }


def _same_bodies(asked: Asked, twist: Twist, pose: Pose) -> None:
    _checks.body(asked, twist.body, pose.body)
    _checks.reference_body(asked, twist.reference_body, pose.reference_body)


def _at_its_frames(asked: Asked, twist: Twist, pose: Pose) -> None:
    """The pose joins exactly two points and two axes: the twist must be at one of each."""
    hint = "Pass the pose between the frames whose origin is the twist's point and whose axes are its axes."
    if not pose.is_frame_form:
        found = "a pose whose points or axes are not those of its frames"
        raise asked.refuse(errors.NotRepresentable, "it takes the pose of a frame in a frame", found, hint)
    if twist.point not in {pose.of, pose.in_frame}:
        reason = f"its point '{twist.point}' is not the origin of '{pose.of}' or '{pose.in_frame}'"
        raise asked.refuse(errors.PointDiffers, pose.of, twist.point, hint, reason)
    if twist.expressed_in not in {pose.of, pose.in_frame}:
        reason = f"its axes '{twist.expressed_in}' are not those of '{pose.of}' or '{pose.in_frame}'"
        raise asked.refuse(errors.CoordinateFrameDiffers, pose.of, twist.expressed_in, hint, reason)


def _moved(twist: Twist, pose: Pose, point: str, axes: str) -> tuple[Any, Any]:
    """Both parts at another point and along other axes; the lever arm is along the reference's axes."""
    line, turn = linear(twist), angular(twist)
    rotation, arm = pose.orientation.turn, pose.position.vector
    if twist.expressed_in != pose.in_frame:
        line, turn = vector_face(rotation.rotate(line)), vector_face(rotation.rotate(turn))
    if twist.point != point:
        lever = vector_face(turn.cross(arm if point == pose.of else -arm))
        line = vector_face(line + lever)
    if axes != pose.in_frame:
        back = rotation.inverse()
        line, turn = vector_face(back.rotate(line)), vector_face(back.rotate(turn))
    return line, turn


def _moved_covariance(twist: Twist, pose: Pose, point: str, axes: str) -> Array | None:
    if twist.covariance is None:
        return None
    R, arm, J = pose.rotation.matrix, pose.xyz, np.eye(6)
    if twist.expressed_in != pose.in_frame:
        J = both_turned(R)
    if twist.point != point:
        J = point_moved(arm if point == pose.of else -arm) @ J
    if axes != pose.in_frame:
        J = both_turned(R.T) @ J
    return seen_through(J, twist.covariance)


def integrate(twist: Twist, pose: Pose, duration_s: float) -> Pose:
    """The pose after a motion with a constant body twist."""
    asked = Asked("integrate", "integrate {} from {}", (twist, pose))
    _checks.kind(asked, pose, Pose)
    duration_s = _checked_duration(duration_s)
    _same_bodies(asked, twist, pose)
    _at_its_frames(asked, twist, pose)
    if not twist.point == twist.expressed_in == pose.of:
        twist = twist._replace(**to_form(twist, pose, "body"))
    face = pose_face(pose.coordinates)
    stamp = None if pose.stamp is None else pose.stamp + round(duration_s * _NS_PER_S)
    return pose._replace(
        coordinates=given(face.compose(_step(twist, face.representation, duration_s))),
        covariance=_grown(twist, pose, duration_s),
        **origin_of_both(pose, twist, stamp),
    )


def _step(twist: Twist, representation: Any, duration_s: float) -> Any:
    """The motion of that time: a representation with an `exp` of its own is asked, others get numbers."""
    if hasattr(representation, "exp"):
        return pose_face(representation.exp(linear(twist), angular(twist), duration_s))
    step = Transform.exp(_tangent(twist, duration_s))
    vector, rotation = representation.vector(step.translation), representation.rotation(step.rotation)
    return pose_face(representation.pose(vector, rotation, is_frame_form=True))


def _tangent(twist: Twist, duration_s: float) -> Array:
    return duration_s * np.concatenate([twist.linear, twist.angular])


def _grown(twist: Twist, pose: Pose, duration_s: float) -> Array | None:
    if pose.covariance is None or twist.covariance is None:
        return None
    tangent = _tangent(twist, duration_s)
    carried = seen_through(Transform.exp(tangent).inverse().adjoint, pose.covariance)
    return added(carried, seen_through(duration_s * right_jacobian(tangent), twist.covariance))


def between(earlier: Pose, later: Pose, duration_s: float | None) -> Fields:
    """The fields of the constant twist from one pose to the other, in the place of a body twist."""
    asked = Asked("between", "differentiate from {} to {}", (earlier, later))
    _checks.kind(asked, earlier, Pose)
    _checks.kind(asked, later, Pose)
    _checks.frame(asked, earlier.of, later.of)
    _checks.frame(asked, earlier.in_frame, later.in_frame)
    _same_bodies_of_poses(asked, earlier, later)
    duration_s = _duration(earlier, later, duration_s)
    step = (earlier.transform.inverse() @ later.transform).log()
    rate = step / duration_s
    return {
        "point": earlier.of,
        "body": earlier.body,
        "reference_body": earlier.reference_body,
        "expressed_in": earlier.of,
        "coordinates": LinearAngular(linear=rate[:3], angular=rate[3:]),
        "covariance": _covariance_between(earlier, later, step, duration_s),
        "stamp": _middle(earlier.stamp, later.stamp),
        "method": "differentiated",
        "held": earlier.held or later.held,
        "predicted": earlier.predicted or later.predicted,
        "relations": tuple(dict.fromkeys((*earlier.relations, *later.relations))),
    }


def _same_bodies_of_poses(asked: Asked, earlier: Pose, later: Pose) -> None:
    _checks.body(asked, earlier.body, later.body)
    _checks.reference_body(asked, earlier.reference_body, later.reference_body)


def _middle(earlier: int | None, later: int | None) -> int | None:
    return None if earlier is None or later is None else (earlier + later) // 2


def _duration(earlier: Pose, later: Pose, duration_s: float | None) -> float:
    if duration_s is None and earlier.stamp is not None and later.stamp is not None:
        duration_s = (later.stamp - earlier.stamp) / _NS_PER_S
    if duration_s is None:
        raise errors.InvalidArgument("Poses without stamps have no time between them. Pass duration_s=.")
    if _checked_duration(duration_s) == 0.0:
        raise errors.InvalidArgument("duration_s is 0: no velocity leads from one pose to another in no time.")
    return duration_s


def _checked_duration(duration_s: float) -> float:
    if not isinstance(duration_s, int | float | np.number) or not math.isfinite(duration_s):
        raise errors.InvalidArgument(f"duration_s must be a finite number of seconds, got {duration_s!r}.")
    return float(duration_s)


def _covariance_between(earlier: Pose, later: Pose, step: Array, duration_s: float) -> Array | None:
    """Exp(-a) X Exp(b) is Exp(x + Jr^-1 b - Jl^-1 a) to first order, with Jl(x) = Jr(-x)."""
    if earlier.covariance is None or later.covariance is None:
        return None
    after = seen_through(_inverted(right_jacobian(step)) / duration_s, later.covariance)
    before = seen_through(_inverted(right_jacobian(-step)) / duration_s, earlier.covariance)
    return added(after, before)


def _inverted(matrix: Array) -> Array:
    return np.asarray(np.linalg.inv(matrix), dtype=float)
