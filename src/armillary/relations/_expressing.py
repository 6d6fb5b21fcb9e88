"""What an observer in another frame would say of the same thing.

A pose, a position, an orientation is seen from the new frame. A velocity, an acceleration, a force keeps its meaning
and gets other axes. A wrench is taken about the origin of the new frame, lever arm included.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from armillary.errors import InvalidArgument
from armillary.relations import _checks
from armillary.relations._acceleration import AngularAcceleration, LinearAcceleration
from armillary.relations._force import Force, Torque
from armillary.relations._numbers import added, both_turned, point_moved, seen_through
from armillary.relations._orientation import Orientation
from armillary.relations._pose import Pose
from armillary.relations._pose_algebra import is_frame_form
from armillary.relations._position import Position
from armillary.relations._storage import are_independent, origin_of_both
from armillary.relations._twist import Twist
from armillary.relations._velocity import AngularVelocity, LinearVelocity
from armillary.relations._wrench import Wrench
from armillary.relations.representations import PositionQuaternion

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy import float64
    from numpy.typing import NDArray

    from armillary.transforms import Rotation

    Seen = Callable[[str], Pose]


def expressed(value: Any, seen: Seen) -> Any:
    """`value` for another observer.

    Args:
        value: A relation.
        seen: The pose of any frame in the observer's frame.
    """
    how = _HOW.get(type(value))
    if how is None:
        names = ", ".join(kind.__name__ for kind in _HOW)
        raise InvalidArgument(
            f"express() takes a relation ({names}), or an array together with kind= and from_frame=; got {value!r}."
        )
    return how(value, seen)


def _pose(value: Pose, seen: Seen) -> Pose:
    helper = seen(value.in_frame)
    if is_frame_form(value):
        return _meeting(helper, value) @ value
    return _pose_of_a_point(value, helper, seen)


def _pose_of_a_point(value: Pose, helper: Pose, seen: Seen) -> Pose:
    """The same point and axes, from the observer's origin and along the observer's axes."""
    xyz = seen(value.reference_point).xyz + _axes(value, helper, seen) @ value.xyz
    return Pose(
        of=value.of,
        point=value.point,
        body=value.body,
        in_frame=helper.in_frame,
        reference_body=helper.reference_body,
        coordinates=PositionQuaternion(xyz, helper.rotation @ value.rotation),
        covariance=_spread_of_pose(value, helper, xyz),
        **origin_of_both(helper, value, _instant(value, helper)),
    )


def _axes(value: Pose, helper: Pose, seen: Seen) -> Rotation:
    """The axes of the position, seen by the observer; those of a pose's own frames need not be known to others."""
    if value.expressed_in == value.of:
        turned: Rotation = helper.rotation @ value.rotation
        return turned
    return helper.rotation if value.expressed_in == value.in_frame else seen(value.expressed_in).rotation


def _spread_of_pose(value: Pose, helper: Pose, xyz: NDArray[float64]) -> NDArray[float64] | None:
    """Its own, and that of its reference carried to the point; unknown along axes of a third frame."""
    is_along_known = value.expressed_in in {value.of, value.in_frame, helper.in_frame}
    if helper.covariance is None or not is_along_known or not are_independent(value, helper):
        return None
    arm = helper.rotation.matrix.T @ (xyz - helper.xyz)
    J = both_turned(value.rotation.matrix.T) @ point_moved(arm)
    return added(value.covariance, seen_through(J, helper.covariance))


def _instant(value: Any, helper: Pose) -> int | None:
    asked = _checks.Asked("express", "express {} through {}", (value, helper))
    return _checks.stamp(asked, value.stamp, helper.stamp)


def _meeting(helper: Pose, value: Any) -> Pose:
    """The helper on the body that the value names: who gave the value may not know of bodies."""
    return helper._replace(body=value.reference_body)


def _position(value: Position, seen: Seen) -> Position:
    reference = seen(value.reference_point)
    xyz = reference.xyz + seen(value.expressed_in).rotation @ value.xyz
    return Position(
        point=value.point,
        body=value.body,
        reference_point=reference.in_frame,
        reference_body=reference.reference_body,
        coordinates=xyz,
        covariance=_spread_of_position(value, reference),
        **origin_of_both(reference, value, _instant(value, reference)),
    )


def _spread_of_position(value: Position, reference: Pose) -> NDArray[float64] | None:
    """Its own, and that of the frame it was given in, over the lever arm."""
    is_known = value.covariance is not None and reference.covariance is not None and are_independent(value, reference)
    if not is_known or value.expressed_in != reference.of:
        return None
    J = np.hstack([np.eye(3), -_cross(value.xyz)])
    R = reference.rotation.matrix
    return _frozen(R @ (value.covariance + J @ reference.covariance @ J.T) @ R.T)


def _orientation(value: Orientation, seen: Seen) -> Orientation:
    return _meeting(seen(value.in_frame), value).orientation @ value


def _along_other_axes(value: Any, seen: Seen) -> Any:
    return value.change_coordinate_frame(seen(value.expressed_in).orientation)


def _velocity(value: Any, seen: Seen) -> Any:
    """Along other axes; that they are not known exactly makes it less certain."""
    helper = seen(value.expressed_in)
    turned = value.change_coordinate_frame(helper.orientation)
    flags = {"held": value.held or helper.held, "predicted": value.predicted or helper.predicted}
    if turned.covariance is None or helper.covariance is None:
        return turned._replace(covariance=None, **flags)
    J = -helper.rotation.matrix @ _cross(value.xyz)
    return turned._replace(covariance=_frozen(turned.covariance + J @ helper.covariance[3:, 3:] @ J.T), **flags)


def _twist(value: Twist, seen: Seen) -> Twist:
    """Along other axes; that they are not known exactly makes the twist less certain."""
    helper = seen(value.expressed_in)
    turned = value.change_coordinate_frame(helper.orientation)
    if turned.covariance is None or helper.covariance is None:
        return turned._replace(covariance=None)
    # R Exp(d) v = R v - R [v] d, for the linear and the angular part alike.
    R = helper.rotation.matrix
    J = np.vstack([-R @ _cross(value.linear), -R @ _cross(value.angular)])
    return turned._replace(covariance=_frozen(turned.covariance + J @ helper.covariance[3:, 3:] @ J.T))


def _torque(value: Torque, _: Seen) -> Torque:
    raise InvalidArgument(
        f"express() cannot take {value!r} about another point: that needs the force as well. Pass the Wrench; "
        "or turn the axes alone with change_coordinate_frame(...)."
    )


def _wrench(value: Wrench, seen: Seen) -> Wrench:
    axes = seen(value.expressed_in)
    turned = value.change_coordinate_frame(axes.orientation)
    point = seen(value.point)
    new_from_old = Position(
        point=point.in_frame,
        reference_point=value.point,
        body=value.body,
        reference_body=value.body,
        expressed_in=point.in_frame,
        coordinates=-point.xyz,
    )
    return turned.change_point(new_from_old)


_HOW: dict[type, Callable[[Any, Seen], Any]] = {
    Pose: _pose,
    Position: _position,
    Orientation: _orientation,
    Twist: _twist,
    LinearVelocity: _velocity,
    AngularVelocity: _velocity,
    LinearAcceleration: _along_other_axes,
    AngularAcceleration: _along_other_axes,
    Force: _along_other_axes,
    Torque: _torque,
    Wrench: _wrench,
}


def _cross(v: NDArray[float64]) -> NDArray[float64]:
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


def _frozen(array: NDArray[float64]) -> NDArray[float64]:
    array.setflags(write=False)
    return array
