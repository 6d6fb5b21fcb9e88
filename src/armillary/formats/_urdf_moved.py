"""Joints as URDF has them: the child sits in the joint's own frame."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from armillary._core import Transform
from armillary.formats.descriptions import JointDescription

__all__ = ["moved_to_child"]

_IDENTITY = Transform.identity()
_ON_AXIS_M = 1e-12


def moved_to_child(joint: JointDescription) -> tuple[JointDescription, bool]:
    """The joint with its frame in that of its child, and whether it still moves in the same way.

    It does where it slides, and where it turns about an axis through the child's origin.
    """
    if joint.joint_T_child == _IDENTITY:
        return joint, True
    x, y, z = joint.joint_T_child.rotation.inverse() @ np.array(joint.axis)
    moved = replace(
        joint,
        parent_T_joint=joint.parent_T_joint @ joint.joint_T_child,
        joint_T_child=_IDENTITY,
        axis=(float(x), float(y), float(z)),
    )
    return moved, _moves_alike(joint)


def _moves_alike(joint: JointDescription) -> bool:
    match joint.kind:
        case "fixed" | "prismatic":
            return True
        case "revolute" | "continuous":
            off_axis = np.cross(np.array(joint.axis), joint.joint_T_child.translation)
            return float(np.linalg.norm(off_axis)) < _ON_AXIS_M
    return False
