"""What an observer in another frame would say of the same thing.

A pose, a position, an orientation is seen from the new frame. A velocity, an acceleration, a force keeps its meaning
and gets other axes. A wrench is taken about the origin of the new frame, lever arm included.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from armillary.errors import InvalidArgument
from armillary.relations._acceleration import AngularAcceleration, LinearAcceleration
from armillary.relations._force import Force, Torque
from armillary.relations._orientation import Orientation
from armillary.relations._pose import Pose
from armillary.relations._pose_algebra import is_frame_form
from armillary.relations._position import Position
from armillary.relations._twist import Twist
from armillary.relations._velocity import AngularVelocity, LinearVelocity
from armillary.relations._wrench import Wrench
from armillary.relations.arrays import added, both_turned, frozen, point_moved, seen_through, skew
from armillary.relations.representations import PositionQuaternion
from armillary.relations.storage import are_independent
from armillary.relations.through_helpers import along_axes, origin_through

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy import float64
    from numpy.typing import NDArray

    Seen = Mapping[str, Pose]  # of frames in the observer's frame, at one instant


def expressed(value: Any, together: Callable[[list[str]], Seen]) -> Any:
    """`value` for another observer.

    Args:
        value: A relation.
        together: The poses of frames in the observer's frame, all at one instant.
    """
    how = _HOW.get(type(value))
    if how is None:
        names = ", ".join(kind.__name__ for kind in _HOW)
        raise InvalidArgument(
            f"express() takes a relation ({names}), or an array together with kind= and from_frame=; got {value!r}."
        )
    needs, express = how
    return express(value, together(list(dict.fromkeys(getattr(value, name) for name in needs(value)))))


def _frames_of_pose(value: Pose) -> tuple[str, ...]:
    """Those of a frame form are two; the target itself need not be known to others."""
    if is_frame_form(value):
        return ("in_frame",)
    own = value.expressed_in == value.of
    return ("in_frame", "reference_point") if own else ("in_frame", "reference_point", "expressed_in")


def _pose(value: Pose, seen: Seen) -> Pose:
    helper = seen[value.in_frame]
    if is_frame_form(value):
        return _meeting(helper, value) @ value
    return _pose_of_a_point(value, helper, seen)


def _pose_of_a_point(value: Pose, helper: Pose, seen: Seen) -> Pose:
    """The same point and axes, from the observer's origin and along the observer's axes."""
    axes = helper.rotation @ value.rotation if value.expressed_in == value.of else seen[value.expressed_in].rotation
    xyz = seen[value.reference_point].xyz + axes @ value.xyz
    return Pose(
        of=value.of,
        point=value.point,
        body=value.body,
        in_frame=helper.in_frame,
        reference_body=helper.reference_body,
        coordinates=PositionQuaternion(xyz, helper.rotation @ value.rotation),
        covariance=_spread_of_pose(value, helper, xyz),
        **origin_through(value, seen.values()),
    )


def _spread_of_pose(value: Pose, helper: Pose, xyz: NDArray[float64]) -> NDArray[float64] | None:
    """Its own, and that of its reference carried to the point; unknown along axes of a third frame."""
    is_along_known = value.expressed_in in {value.of, value.in_frame, helper.in_frame}
    if helper.covariance is None or not is_along_known or not are_independent(value, helper):
        return None
    arm = helper.rotation.matrix.T @ (xyz - helper.xyz)
    J = both_turned(value.rotation.matrix.T) @ point_moved(arm)
    return added(value.covariance, seen_through(J, helper.covariance))


def _meeting(helper: Pose, value: Any) -> Pose:
    """The helper on the body that the value names: who gave the value may not know of bodies."""
    return helper._replace(body=value.reference_body)


def _position(value: Position, seen: Seen) -> Position:
    reference = seen[value.reference_point]
    xyz = reference.xyz + seen[value.expressed_in].rotation @ value.xyz
    return Position(
        point=value.point,
        body=value.body,
        reference_point=reference.in_frame,
        reference_body=reference.reference_body,
        coordinates=xyz,
        covariance=_spread_of_position(value, reference),
        **origin_through(value, seen.values()),
    )


def _spread_of_position(value: Position, reference: Pose) -> NDArray[float64] | None:
    """Its own, and that of the frame it was given in, over the lever arm."""
    is_known = value.covariance is not None and reference.covariance is not None and are_independent(value, reference)
    if not is_known or value.expressed_in != reference.of:
        return None
    J = np.hstack([np.eye(3), -skew(value.xyz)])
    R = reference.rotation.matrix
    return frozen(R @ (value.covariance + J @ reference.covariance @ J.T) @ R.T)


def _orientation(value: Orientation, seen: Seen) -> Orientation:
    return _meeting(seen[value.in_frame], value).orientation @ value


def _along_other_axes(value: Any, seen: Seen) -> Any:
    return value.change_coordinate_frame(seen[value.expressed_in].orientation)


def _velocity(value: Any, seen: Seen) -> Any:
    return along_axes(value, seen[value.expressed_in], skew(value.xyz))


def _twist(value: Twist, seen: Seen) -> Twist:
    crosses = np.vstack([skew(value.linear), skew(value.angular)])
    return along_axes(value, seen[value.expressed_in], crosses)  # type: ignore[no-any-return]


def _torque(value: Torque, _: Seen) -> Torque:
    raise InvalidArgument(
        f"express() cannot take {value!r} about another point: that needs the force as well. Pass the Wrench; "
        "or turn the axes alone with change_coordinate_frame(...)."
    )


def _wrench(value: Wrench, seen: Seen) -> Wrench:
    turned = value.change_coordinate_frame(seen[value.expressed_in].orientation)
    point = seen[value.point]
    new_from_old = Position(
        point=point.in_frame,
        reference_point=value.point,
        body=value.body,
        reference_body=value.body,
        expressed_in=point.in_frame,
        coordinates=-point.xyz,
    )
    return turned.change_point(new_from_old)


def _axes(_: Any) -> tuple[str, ...]:
    return ("expressed_in",)


# Of which names the frames must be known, and what is then made of them.
_HOW: dict[type, tuple[Callable[[Any], tuple[str, ...]], Callable[[Any, Seen], Any]]] = {
    Pose: (_frames_of_pose, _pose),
    Position: (lambda _: ("reference_point", "expressed_in"), _position),
    Orientation: (lambda _: ("in_frame",), _orientation),
    Twist: (_axes, _twist),
    LinearVelocity: (_axes, _velocity),
    AngularVelocity: (_axes, _velocity),
    LinearAcceleration: (_axes, _along_other_axes),
    AngularAcceleration: (_axes, _along_other_axes),
    Force: (_axes, _along_other_axes),
    Torque: (lambda _: (), _torque),
    Wrench: (lambda _: ("expressed_in", "point"), _wrench),
}
