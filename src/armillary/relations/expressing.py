"""Relations and arrays expressed in another frame.

A pose, a position, an orientation is seen from the new frame. A velocity, an acceleration, a force keeps its meaning
and gets other axes. A wrench is taken about the origin of the new frame, lever arm included.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from armillary.errors import InvalidArgument
from armillary.relations._acceleration import AngularAcceleration, LinearAcceleration
from armillary.relations._orientation import Orientation
from armillary.relations._pose import Pose
from armillary.relations._position import Position
from armillary.relations._twist import Twist
from armillary.relations._velocity import AngularVelocity, LinearVelocity
from armillary.relations._wrench import Force, Torque, Wrench
from armillary.relations.arrays import (
    Array,
    added,
    both_turned,
    frozen,
    moment_moved,
    point_moved,
    seen_through,
    skew,
)
from armillary.relations.representations import PositionQuaternion
from armillary.relations.representations.adapters import ForceTorque
from armillary.relations.storage import are_independent
from armillary.relations.uncertainty import along_axes, origin_through
from armillary.transforms import Transform

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


Poses = Mapping[str, Pose]
"""The poses of frames in the frame of the observer, at one instant."""


def expressed(value: Any, together: Callable[[list[str]], Poses]) -> Any:
    """Return `value` expressed in the frame of another observer.

    Args:
        value: A relation.
        together: Returns the poses of frames in the frame of the observer, all at one instant.
    """
    how = _EXPRESS.get(type(value))
    if how is None:
        names = ", ".join(kind.__name__ for kind in _EXPRESS)
        raise InvalidArgument(
            f"express() takes a relation ({names}), or an array together with kind= and from_frame=; got {value!r}."
        )
    needs, express = how
    return express(value, together(list(dict.fromkeys(getattr(value, name) for name in needs(value)))))


def _frames_of_pose(value: Pose) -> tuple[str, ...]:
    """The names whose frames are needed; of a frame form only the reference."""
    if value.is_frame_form:
        return ("in_frame",)
    own = value.expressed_in == value.of
    return ("in_frame", "reference_point") if own else ("in_frame", "reference_point", "expressed_in")


def _pose(value: Pose, seen: Poses) -> Pose:
    helper = seen[value.in_frame]
    if value.is_frame_form:
        return _on_reference_body(helper, value) @ value
    return _pose_of_a_point(value, helper, seen)


def _pose_of_a_point(value: Pose, helper: Pose, seen: Poses) -> Pose:
    """Return the pose of a point, from the origin and along the axes of the observer."""
    axes = helper.rotation @ value.rotation if value.expressed_in == value.of else seen[value.expressed_in].rotation
    xyz = seen[value.reference_point].xyz + axes @ value.xyz
    return Pose(
        of=value.of,
        point=value.point,
        body=value.body,
        in_frame=helper.in_frame,
        reference_body=helper.reference_body,
        coordinates=PositionQuaternion(xyz, helper.rotation @ value.rotation),
        covariance=_pose_covariance(value, helper, xyz),
        **origin_through(value, seen.values()),
    )


def _pose_covariance(value: Pose, helper: Pose, xyz: Array) -> Array | None:
    """Return its covariance plus that of its reference moved to the point; None along axes of a third frame."""
    is_along_known = value.expressed_in in {value.of, value.in_frame, helper.in_frame}
    if helper.covariance is None or not is_along_known or not are_independent(value, helper):
        return None
    arm = helper.rotation.matrix.T @ (xyz - helper.xyz)
    J = both_turned(value.rotation.matrix.T) @ point_moved(arm)
    return added(value.covariance, seen_through(J, helper.covariance))


def _on_reference_body(helper: Pose, value: Any) -> Pose:
    """Return the helper on the body that the value names, which may have been given without bodies."""
    return helper._replace(body=value.reference_body)


def _position(value: Position, seen: Poses) -> Position:
    reference = seen[value.reference_point]
    xyz = reference.xyz + seen[value.expressed_in].rotation @ value.xyz
    return Position(
        point=value.point,
        body=value.body,
        reference_point=reference.in_frame,
        reference_body=reference.reference_body,
        coordinates=xyz,
        covariance=_position_covariance(value, reference),
        **origin_through(value, seen.values()),
    )


def _position_covariance(value: Position, reference: Pose) -> Array | None:
    """Return its covariance plus that of the frame it was given in, over the lever arm."""
    is_known = value.covariance is not None and reference.covariance is not None and are_independent(value, reference)
    if not is_known or value.expressed_in != reference.of:
        return None
    J = np.hstack([np.eye(3), -skew(value.xyz)])
    R = reference.rotation.matrix
    return frozen(R @ (value.covariance + J @ reference.covariance @ J.T) @ R.T)


def _orientation(value: Orientation, seen: Poses) -> Orientation:
    return _on_reference_body(seen[value.in_frame], value).orientation @ value


def _vector(value: Any, seen: Poses) -> Any:
    return along_axes(value, seen[value.expressed_in], skew(value.xyz))


def _twist(value: Twist, seen: Poses) -> Twist:
    crosses = np.vstack([skew(value.linear), skew(value.angular)])
    return along_axes(value, seen[value.expressed_in], crosses)  # type: ignore[no-any-return]


def _torque(value: Torque, _: Poses) -> Torque:
    raise InvalidArgument(
        f"express() cannot take {value!r} about another point: that needs the force as well. Pass the Wrench; "
        "or turn the axes alone with change_coordinate_frame(...)."
    )


def _wrench(value: Wrench, seen: Poses) -> Wrench:
    axes, point = seen[value.expressed_in], seen[value.point]
    turned = value.change_coordinate_frame(axes.orientation._replace(covariance=np.zeros((3, 3))))
    force, torque = turned.force, turned.torque + np.cross(point.xyz, turned.force)
    covariance = None
    if value.covariance is not None:
        own = seen_through(moment_moved(point.xyz) @ both_turned(axes.rotation.matrix), value.covariance)
        covariance = added(own, _spread_of_observer(value, force, axes, point))
    return turned._replace(
        point=point.in_frame,
        coordinates=ForceTorque(force=force, torque=torque),
        covariance=covariance,
        **origin_through(value, seen.values()),
    )


def _spread_of_observer(value: Wrench, force: Array, axes: Pose, point: Pose) -> Array | None:
    """Return what the errors of the poses that move a wrench add to it; None where they are unknown."""
    if axes.covariance is None or point.covariance is None or not are_independent(value, axes):
        return None
    by_turn, by_place = wrench_effects(value.force, value.torque, force, axes, point)
    if axes.of == point.of:
        return seen_through(by_turn + by_place, axes.covariance)
    if not are_independent(value, point) or not are_independent(axes, point):
        return None
    return added(seen_through(by_turn, axes.covariance), seen_through(by_place, point.covariance))


def wrench_effects(force: Array, torque: Array, moved: Array, axes: Pose, point: Pose) -> tuple[Array, Array]:
    """Return what small errors of two poses do to a wrench that they move, (6, 6) each: in their tangents.

    Args:
        force: As it was given.
        torque: As it was given, about the origin of `point.of` and along the axes of `axes.of`.
        moved: The force along the new axes.
        axes: The given axes in the new ones.
        point: The given point in the new frame; its coordinates are along the new axes.
    """
    R, by_turn, by_place = axes.rotation.matrix, np.zeros((6, 6)), np.zeros((6, 6))
    by_turn[:3, 3:] = -R @ skew(force)
    by_turn[3:, 3:] = -R @ skew(torque) + skew(point.xyz) @ by_turn[:3, 3:]
    by_place[3:, :3] = -skew(moved) @ point.rotation.matrix
    return by_turn, by_place


def _axes(_: Any) -> tuple[str, ...]:
    return ("expressed_in",)


# For each kind: the names whose frames must be known, and the function that expresses it.
_EXPRESS: dict[type, tuple[Callable[[Any], tuple[str, ...]], Callable[[Any, Poses], Any]]] = {
    Pose: (_frames_of_pose, _pose),
    Position: (lambda _: ("reference_point", "expressed_in"), _position),
    Orientation: (lambda _: ("in_frame",), _orientation),
    Twist: (_axes, _twist),
    LinearVelocity: (_axes, _vector),
    AngularVelocity: (_axes, _vector),
    LinearAcceleration: (_axes, _vector),
    AngularAcceleration: (_axes, _vector),
    Force: (_axes, _vector),
    Torque: (lambda _: (), _torque),
    Wrench: (lambda _: ("expressed_in", "point"), _wrench),
}


_NOT_UNIT = 0.01  # tolerance of the squared length, as for every quaternion that is given
WIDTHS = {"points": 3, "directions": 3, "poses": 7, "wrenches": 6, "twists": 6}


def as_pose_rows(values: Any) -> tuple[Any, bool]:
    """Return (4, 4) or (N, 4, 4) matrices as rows (xyz, wxyz), else the values; and whether they were matrices."""
    try:
        matrices = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return values, False
    if matrices.shape[-2:] != (4, 4):
        return values, False
    rows = [Transform.from_matrix(matrix).xyz_wxyz for matrix in matrices.reshape(-1, 4, 4)]
    return np.reshape(rows, (*matrices.shape[:-2], 7)), True


def as_matrices(rows: Array) -> Array:
    """Return matrices, shape (..., 4, 4), of poses (xyz, wxyz)."""
    turned = rotated(np.repeat(rows.reshape(-1, 7)[:, 3:], 3, axis=0), np.tile(np.eye(3), (rows.size // 7, 1)))
    matrices = np.zeros((*rows.shape[:-1], 4, 4))
    matrices[..., :3, :3] = turned.reshape(*rows.shape[:-1], 3, 3).swapaxes(-1, -2)
    matrices[..., :3, 3], matrices[..., 3, 3] = rows[..., :3], 1.0
    return matrices


def as_rows(values: ArrayLike, kind: str) -> Array:
    """Return finite float64 numbers, shape (N, width of the kind)."""
    if not isinstance(kind, str) or kind not in WIDTHS:
        raise InvalidArgument(f"kind must be one of {', '.join(WIDTHS)}, got {kind!r}.", kind)
    try:
        rows = np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        rows = np.empty(0)
    if rows.ndim not in {1, 2} or rows.shape[-1] != WIDTHS[kind] or not np.isfinite(rows).all():
        raise InvalidArgument(
            f"{kind} must be finite numbers of shape ({WIDTHS[kind]},) or (N, {WIDTHS[kind]}), got shape {rows.shape}.",
            values,
        )
    if kind == "poses":
        _make_unit(rows[..., 3:])
    return rows


def _make_unit(wxyz: Array) -> None:
    """Normalise quaternions in place; raises where they are not nearly of unit length."""
    squared = np.sum(wxyz * wxyz, axis=-1, keepdims=True)
    if (np.abs(squared - 1.0) > _NOT_UNIT).any():
        raise InvalidArgument("A quaternion (w, x, y, z) of the poses is not of unit length. Normalise it.", wxyz)
    wxyz /= np.sqrt(squared)


def expressed_rows(rows: Array, kind: str, xyz_wxyz: Array) -> Array:
    """Return the rows expressed in the other frame.

    Args:
        rows: (N, k) in the frame they come from.
        kind: What they are: "points", "directions", "poses" (xyz, wxyz), "wrenches" (force, torque about the origin),
            "twists" (linear, angular, along the axes of the frame).
        xyz_wxyz: (N, 7) or (1, 7): the frame they come from, seen from the other.
    """
    return _EXPRESS_ROWS[kind](rows, xyz_wxyz[:, :3], xyz_wxyz[:, 3:])


def rotated(wxyz: Array, vectors: Array) -> Array:
    """Rotate vectors row by row: v + 2 w (u x v) + 2 u x (u x v)."""
    w, u = wxyz[:, :1], wxyz[:, 1:]
    twice = 2.0 * np.cross(u, vectors)
    turned: Array = vectors + w * twice + np.cross(u, twice)
    return turned


def product(a: Array, b: Array) -> Array:
    """Multiply quaternions row by row, scalar first."""
    w, u, x, v = a[:, :1], a[:, 1:], b[:, :1], b[:, 1:]
    scalar = w * x - np.sum(u * v, axis=1, keepdims=True)
    return np.hstack([scalar, w * v + x * u + np.cross(u, v)])


def _points(rows: Array, xyz: Array, wxyz: Array) -> Array:
    return rotated(wxyz, rows) + xyz


def _directions(rows: Array, _: Array, wxyz: Array) -> Array:
    return rotated(wxyz, rows)


def _poses(rows: Array, xyz: Array, wxyz: Array) -> Array:
    wxyz = np.broadcast_to(wxyz, (len(rows), 4))
    return np.hstack([_points(rows[:, :3], xyz, wxyz), product(wxyz, rows[:, 3:])])


def _wrenches(rows: Array, xyz: Array, wxyz: Array) -> Array:
    """Express wrenches, with the torque about the new origin: R tau + p x R f."""
    force = rotated(wxyz, rows[:, :3])
    return np.hstack([force, rotated(wxyz, rows[:, 3:]) + np.cross(xyz, force)])


def _twists(rows: Array, _: Array, wxyz: Array) -> Array:
    return np.hstack([rotated(wxyz, rows[:, :3]), rotated(wxyz, rows[:, 3:])])


_EXPRESS_ROWS: dict[str, Callable[[Array, Array, Array], Array]] = {
    "points": _points,
    "directions": _directions,
    "poses": _poses,
    "wrenches": _wrenches,
    "twists": _twists,
}


def pose_covariances(covariances: Array, poses: Array, covariance_of_frame: Array) -> Array:
    """Return covariances of poses, (N, 6, 6): their own, plus that of the frame they were given in over the lever arm.

    The frame has one covariance, (6, 6), or one for each row, (N, 6, 6).

    With T = mean Exp(xi) a product on the left leaves a covariance as it is; the error of the left factor arrives
    through Ad(b_T_c^-1).
    """
    J = np.reshape([_adjoint_of_inverse(row) for row in poses], (-1, 6, 6))
    total: Array = covariances + J @ covariance_of_frame @ J.transpose(0, 2, 1)
    return total


def _adjoint_of_inverse(row: Array) -> Array:
    R = rotated(np.broadcast_to(row[3:], (3, 4)), np.eye(3)).T
    return np.block([[R.T, -R.T @ skew(row[:3])], [np.zeros((3, 3)), R.T]])
