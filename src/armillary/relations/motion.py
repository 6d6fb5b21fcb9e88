"""Twists and poses together: the forms of a twist, integration, differentiation, and residuals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from armillary import errors
from armillary.relations import _checks
from armillary.relations._checks import Asked
from armillary.relations._pose import Pose
from armillary.relations.arrays import (
    Array,
    added,
    both_turned,
    point_moved,
    right_jacobian,
    seen_through,
    skew,
    with_helper,
)
from armillary.relations.representations import LinearAngular
from armillary.relations.representations.adapters import adapt_pose, adapt_vector, unwrap
from armillary.relations.storage import origin_of_both, spread_of_helper
from armillary.transforms import Transform, joined_held

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

    from armillary.relations._twist import Twist


Fields = dict[str, Any]

_NS_PER_S = 1_000_000_000


def vectors(twist: Twist) -> tuple[Any, Any]:
    """The linear and the angular part, with the methods of `VectorCoordinates`."""
    parts = twist.parts
    return adapt_vector(parts.linear), adapt_vector(parts.angular)


def to_form(twist: Twist, pose: Pose, form: str) -> Fields:
    """Return the fields of the same motion at the point and along the axes of a form."""
    asked = Asked(f"to_{form}", f"make a {form} twist of {{}} by {{}}", (twist, pose))
    _checks.kind(asked, pose, Pose)
    _check_bodies(asked, twist, pose)
    _check_frames(asked, twist, pose)
    point = pose.in_frame if form == "spatial" else pose.of
    axes = pose.of if form == "body" else pose.in_frame
    coordinates = twist.parts.with_parts(*_moved(twist, pose, point, axes), form)
    return {
        "point": point,
        "expressed_in": axes,
        "coordinates": unwrap(coordinates),
        "covariance": _moved_covariance(twist, pose, point, axes),
    }


def _check_bodies(asked: Asked, value: Pose | Twist, pose: Pose) -> None:
    _checks.body(asked, value.body, pose.body)
    _checks.reference_body(asked, value.reference_body, pose.reference_body)


def _check_frames(asked: Asked, twist: Twist, pose: Pose) -> None:
    """Check that the twist is at the origin and along the axes of one of the two frames of the pose."""
    hint = "Pass the pose between the frames whose origin is the twist's point and whose axes are its axes."
    if not pose.is_frame_form:
        found = "a pose whose points or axes are not those of its frames"
        raise asked.error(errors.NotRepresentable, "it takes the pose of a frame in a frame", found, hint)
    if twist.point not in {pose.of, pose.in_frame}:
        reason = f"its point '{twist.point}' is not the origin of '{pose.of}' or '{pose.in_frame}'"
        raise asked.error(errors.PointDiffers, pose.of, twist.point, hint, reason)
    if twist.expressed_in not in {pose.of, pose.in_frame}:
        reason = f"its axes '{twist.expressed_in}' are not those of '{pose.of}' or '{pose.in_frame}'"
        raise asked.error(errors.CoordinateFrameDiffers, pose.of, twist.expressed_in, hint, reason)


def _moved(twist: Twist, pose: Pose, point: str, axes: str) -> tuple[Any, Any]:
    """Return both parts at another point and along other axes; the lever arm is along the axes of the reference."""
    line, turn = vectors(twist)
    rotation, arm = pose.orientation.turn, pose.position.vector
    if twist.expressed_in != pose.in_frame:
        line, turn = adapt_vector(rotation.rotate(line)), adapt_vector(rotation.rotate(turn))
    if twist.point != point:
        lever = adapt_vector(turn.cross(arm if point == pose.of else -arm))
        line = adapt_vector(line + lever)
    if axes != pose.in_frame:
        back = rotation.inverse()
        line, turn = adapt_vector(back.rotate(line)), adapt_vector(back.rotate(turn))
    return line, turn


def _moved_covariance(twist: Twist, pose: Pose, point: str, axes: str) -> Array | None:
    if twist.covariance is None:
        return None
    R, J = pose.rotation.matrix, np.eye(6)
    arm = pose.xyz if point == pose.of else -pose.xyz
    line, turn, by_pose = twist.linear, twist.angular, np.zeros((6, 6))  # by_pose: of the error in the tangent of `of`
    if twist.expressed_in != pose.in_frame:
        by_pose[:, 3:] = np.vstack([-R @ skew(line), -R @ skew(turn)])
        J, line, turn = both_turned(R), R @ line, R @ turn
    if twist.point != point:
        moved = point_moved(arm)
        by_pose = moved @ by_pose
        by_pose[:3, :3] += skew(turn) @ (R if point == pose.of else -R)
        J, line = moved @ J, line + np.cross(turn, arm)
    if axes != pose.in_frame:
        by_pose = both_turned(R.T) @ by_pose
        by_pose[:, 3:] += np.vstack([skew(R.T @ line), skew(R.T @ turn)])
        J = both_turned(R.T) @ J
    return with_helper(seen_through(J, twist.covariance), by_pose, spread_of_helper(twist, pose))


def integrate(twist: Twist, pose: Pose, duration_s: float) -> Pose:
    """Return the pose after a motion with a constant body twist."""
    asked = Asked("integrate", "integrate {} from {}", (twist, pose))
    _checks.kind(asked, pose, Pose)
    duration_s = _checked_duration(duration_s)
    _check_bodies(asked, twist, pose)
    _check_frames(asked, twist, pose)
    if not twist.point == twist.expressed_in == pose.of:
        exact = pose._replace(covariance=np.zeros((6, 6)))  # its error is carried along with the pose
        twist = twist._replace(**to_form(twist, exact, "body"))
    parts = pose.parts
    stamp = None if pose.stamp is None else pose.stamp + round(duration_s * _NS_PER_S)
    return pose._replace(
        coordinates=unwrap(parts.compose(_step(twist, parts.representation, duration_s))),
        covariance=_grown(twist, pose, duration_s),
        **origin_of_both(pose, twist, stamp),
    )


def _step(twist: Twist, representation: Any, duration_s: float) -> Any:
    """Return the motion of that time: by the `exp` of the representation if it has one, else by numbers."""
    if hasattr(representation, "exp"):
        return adapt_pose(representation.exp(*vectors(twist), duration_s))
    step = Transform.exp(_tangent(twist, duration_s))
    vector, rotation = representation.vector(step.translation), representation.rotation(step.rotation)
    return adapt_pose(representation.pose(vector, rotation, is_frame_form=True))


def _tangent(twist: Twist, duration_s: float) -> Array:
    return duration_s * np.concatenate([twist.linear, twist.angular])


def _grown(twist: Twist, pose: Pose, duration_s: float) -> Array | None:
    if pose.covariance is None or twist.covariance is None:
        return None
    tangent = _tangent(twist, duration_s)
    carried = seen_through(Transform.exp(tangent).inverse().adjoint, pose.covariance)
    return added(carried, seen_through(duration_s * right_jacobian(tangent), twist.covariance))


def between(earlier: Pose, later: Pose, duration_s: float | None) -> Fields:
    """Return the fields of the constant twist from one pose to the other, at the point and axes of a body twist."""
    asked = Asked("between", "differentiate from {} to {}", (earlier, later))
    _checks.kind(asked, earlier, Pose)
    _checks.kind(asked, later, Pose)
    _checks.frame(asked, earlier.of, later.of)
    _checks.frame(asked, earlier.in_frame, later.in_frame)
    _check_bodies(asked, earlier, later)
    duration_s = _duration(earlier, later, duration_s)
    step = (earlier.transform.inverse() @ later.transform).log()
    rate = step / duration_s
    stamp = None if earlier.stamp is None or later.stamp is None else (earlier.stamp + later.stamp) // 2
    return {
        "point": earlier.of,
        "body": earlier.body,
        "reference_body": earlier.reference_body,
        "expressed_in": earlier.of,
        "coordinates": LinearAngular(linear=rate[:3], angular=rate[3:]),
        "covariance": _covariance_between(earlier, later, step, duration_s),
        "stamp": stamp,
        "method": "differentiated",
        "held": joined_held(earlier.held, later.held),
        "predicted": earlier.predicted or later.predicted,
        "relations": tuple(dict.fromkeys((*earlier.relations, *later.relations))),
    }


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
    J_later, J_earlier = (np.asarray(np.linalg.inv(right_jacobian(x)), dtype=float) / duration_s for x in (step, -step))
    after, before = seen_through(J_later, later.covariance), seen_through(J_earlier, earlier.covariance)
    return added(after, before)


@dataclass(frozen=True, slots=True, kw_only=True)
class TwistResidual:
    """A measured twist, beside the derivative of the poses.

    Attributes:
        measured: The measured twist.
        derived: The derivative of the poses: same point, bodies, axes and instant.
    """

    measured: Twist
    derived: Twist

    @property
    def linear(self) -> NDArray[float64]:
        """Measured less derived [m/s], shape (3,)."""
        return self.measured.linear - self.derived.linear

    @property
    def angular(self) -> NDArray[float64]:
        """Measured less derived [rad/s], shape (3,)."""
        return self.measured.angular - self.derived.angular

    @property
    def mahalanobis(self) -> float | None:
        """The difference in standard deviations of both together; None where one of them is unknown.

        The two count as independent. Where neither is uncertain, any difference is infinitely far.
        """
        if self.measured.covariance is None or self.derived.covariance is None:
            return None
        difference = np.concatenate([self.linear, self.angular])
        total = self.measured.covariance + self.derived.covariance
        explained = total @ np.linalg.pinv(total, hermitian=True) @ difference
        if not np.allclose(explained, difference, rtol=1e-6, atol=1e-12):
            return float("inf")
        return float(np.sqrt(difference @ np.linalg.pinv(total, hermitian=True) @ difference))

    def __repr__(self) -> str:
        off = f"{np.linalg.norm(self.linear):.6g} m/s and {np.linalg.norm(self.angular):.6g} rad/s off"
        return f"TwistResidual({self.measured!r}: {off} the derivative of the poses)"
