"""What `print` shows of a relation: its names, and its numbers to six digits.

`repr` has the names only. Expressions have no numbers, and are shown by their names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from armillary.errors import NotNumeric

if TYPE_CHECKING:
    from collections.abc import Callable

    from armillary.relations._orientation import Orientation
    from armillary.relations._pose import Pose
    from armillary.relations._twist import Twist
    from armillary.relations._vector import VectorRelation
    from armillary.relations._wrench import Wrench

_NOISE = 1e-12  # of the largest component: what rounding leaves where 0 is meant
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


def of_vector(value: VectorRelation, unit: str) -> str:
    """Names, and the vector with its unit."""
    return _told(value, lambda: f"{components(value.xyz)} {unit}")


def of_orientation(value: Orientation) -> str:
    """Names, and the rotation as angles."""
    return _told(value, lambda: _angles(value.turn))


def of_pose(value: Pose) -> str:
    """Names, the kind of coordinates unless it is a transform, position and rotation."""
    return _told(value, lambda: f"{_form(value)}xyz {components(value.xyz)} m, {_rotation(value)}")


def of_twist(value: Twist) -> str:
    """Names, the form unless it is free, and both velocities."""
    form = value.parts.form
    prefix = "" if form == "free" else f"{form} twist, "
    return _told(
        value, lambda: f"{prefix}linear {components(value.linear)} m/s, angular {components(value.angular)} rad/s"
    )


def of_wrench(value: Wrench) -> str:
    """Names, force and moment."""
    return _told(value, lambda: f"force {components(value.force)} N, torque {components(value.torque)} N m")


def _told(value: object, numbers: Callable[[], str]) -> str:
    try:
        return f"{value!r}: {numbers()}"
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
    """In the convention of its own, or roll, pitch and yaw."""
    if hasattr(turn, "convention"):
        return f"{turn.convention} {components(turn.angles, least_scale=1.0)} rad"
    return f"rpy {components(turn.numbers().rpy, least_scale=1.0)} rad"
