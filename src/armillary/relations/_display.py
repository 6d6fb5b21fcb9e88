"""What `print` and notebooks show of a relation: its names, and its numbers to six digits.

`repr` has the names only. Expressions have no numbers, and are shown by their names.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from armillary.errors import NotNumeric
from armillary.errors.format import format_stamp
from armillary.notebook import card, facts, numbers, turn

if TYPE_CHECKING:
    from collections.abc import Callable

    from armillary._core import Pose as NativePose
    from armillary.relations._orientation import Orientation
    from armillary.relations._pose import Pose
    from armillary.relations._twist import Twist
    from armillary.relations._vector import VectorRelation
    from armillary.relations._wrench import Wrench

__all__ = ["pose_html", "twist_html"]


_NOISE = 1e-12  # relative to the largest component: rounding errors of 0
_FORMS = {
    "Transform": "",
    "PositionQuaternion": "position + quaternion, ",
    "HomogeneousMatrix": "homogeneous matrix, ",
}


def components(values: Any, least_scale: float = 0.0) -> str:
    """`(0.4, 0, 1.5)`: six significant digits, rounding noise and -0 as 0."""
    numbers = np.asarray(values, dtype=float).tolist()
    noise = _NOISE * max([least_scale, *map(abs, numbers)])
    return f"({', '.join(f'{0.0 if abs(x) <= noise else x:.6g}' for x in numbers)})"


def vector_text(value: VectorRelation, unit: str) -> str:
    """The names, and the vector with its unit."""
    return _with_numbers(value, lambda: f"{components(value.xyz)} {unit}")


def orientation_text(value: Orientation) -> str:
    """The names, and the rotation as angles."""
    return _with_numbers(value, lambda: _angles(value.turn))


def pose_names(pose: NativePose) -> str:
    """`Pose(camera|arm in base|robot, in [base])`, with points where they are not the origins."""
    target = pose.of if pose.point == pose.of else f"({pose.point}, [{pose.of}])"
    reference = pose.in_frame
    if pose.reference_point != pose.in_frame:
        reference = f"({pose.reference_point}, [{pose.in_frame}])"
    return f"Pose({target}|{pose.body} in {reference}|{pose.reference_body}, in [{pose.expressed_in}])"


def pose_text(value: Pose) -> str:
    """The names, the kind of coordinates unless it is a transform, position and rotation."""
    return _with_numbers(value, lambda: f"{_form(value)}xyz {components(value.xyz)} m, {_rotation(value)}")


def twist_text(value: Twist) -> str:
    """The names, the form unless it is free, and both velocities."""
    form = value.parts.form
    prefix = "" if form == "free" else f"{form} twist, "
    return _with_numbers(
        value, lambda: f"{prefix}linear {components(value.linear)} m/s, angular {components(value.angular)} rad/s"
    )


def wrench_text(value: Wrench) -> str:
    """The names, the force and the moment."""
    return _with_numbers(value, lambda: f"force {components(value.force)} N, torque {components(value.torque)} N m")


def _with_numbers(value: object, numbers_of: Callable[[], str]) -> str:
    try:
        return f"{value!r}: {numbers_of()}"
    except NotNumeric:
        return repr(value)


def _form(pose: Pose) -> str:
    name = pose.parts.representation.name
    if hasattr(pose.coordinates, "convention"):
        return "position + Euler angles, "
    return _FORMS.get(name, f"{name}, ")


def _rotation(pose: Pose) -> str:
    if pose.parts.representation.name == "PositionQuaternion":
        return f"wxyz {components(pose.rotation.wxyz)}"
    return _angles(pose.orientation.turn)


def _angles(turn: Any) -> str:
    """The angles in the convention of the coordinates, or roll, pitch and yaw."""
    if hasattr(turn, "convention"):
        return f"{turn.convention} {components(turn.angles, least_scale=1.0)} rad"
    return f"rpy {components(turn.numbers().rpy, least_scale=1.0)} rad"


_MAX_RELATIONS = 12
_Rows = Iterator[tuple[str, str]]


def pose_html(pose: Pose) -> str:
    """HTML with the names, the numbers where it has any, and the origin."""
    return card(f"{pose.of} in {pose.in_frame}", facts([*_names(pose), *_pose_numbers(pose), *_origin(pose)]))


def twist_html(twist: Twist) -> str:
    """HTML with the names, the numbers where it has any, and the origin."""
    title = f"{twist.point} relative to {twist.reference_body}, along {twist.expressed_in}"
    return card(title, facts([*_twist_numbers(twist), *_origin(twist)]))


def _names(pose: Pose) -> _Rows:
    """The names that do not follow from the two frames."""
    plain = {"point": pose.of, "body": pose.of, "reference_point": pose.in_frame}
    plain |= {"reference_body": pose.in_frame, "expressed_in": pose.in_frame}
    for name, usual in plain.items():
        if getattr(pose, name) != usual:
            yield name.replace("_", " "), getattr(pose, name)


def _pose_numbers(pose: Pose) -> _Rows:
    try:
        yield "xyz", f"{numbers(pose.xyz)} m"
        yield from turn(pose.orientation.turn.numbers())
    except NotNumeric:
        yield "depends on", "variables"
    yield from _deviations(pose.covariance, ("xyz", "m"), ("turning", "rad"))


def _twist_numbers(twist: Twist) -> _Rows:
    try:
        yield "linear", f"{numbers(twist.linear)} m/s"
        yield "angular", f"{numbers(twist.angular)} rad/s"
    except NotNumeric:
        yield "depends on", "variables"
    yield from _deviations(twist.covariance, ("linear", "m/s"), ("angular", "rad/s"))


def _deviations(covariance: Any, first: tuple[str, str], second: tuple[str, str]) -> _Rows:
    if covariance is None:
        return
    deviations = np.sqrt(np.clip(np.diagonal(covariance), 0.0, None))
    yield f"± {first[0]}", f"{numbers(deviations[:3])} {first[1]}"
    yield f"± {second[0]}", f"{numbers(deviations[3:])} {second[1]}"


def _origin(value: Pose | Twist) -> _Rows:
    yield "at", "always" if value.stamp is None else format_stamp(value.stamp, 0)
    method = getattr(value, "method", None)
    if method is not None:
        yield "method", str(method)
    flags = [flag for flag in ("predicted", "integrated") if getattr(value, flag, False)]
    if flags:
        yield "", ", ".join(flags)
    for sample in value.held:
        yield "held", str(sample)
    if value.relations:
        yield "from", _relations(value.relations)


def _relations(relations: Any) -> str:
    listed = [f"{of} in {in_frame}" + (f" by {source}" if source else "") for of, in_frame, source in relations]
    rest = len(listed) - _MAX_RELATIONS
    return "; ".join(listed[:_MAX_RELATIONS]) + (f"; and {rest} more" if rest > 0 else "")
