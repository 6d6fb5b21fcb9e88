"""The kinematics of a description, computed plainly to check what a reader read."""

from __future__ import annotations

import numpy as np

from armillary import Transform
from armillary.formats import JointDescription, RobotDescription


def motion(joint: JointDescription, position: float) -> Transform:
    axis = np.array(joint.axis)
    turned, slid = np.zeros(3), np.zeros(3)
    if joint.kind in {"revolute", "continuous"}:
        turned = axis * position
    elif joint.kind == "prismatic":
        slid = axis * position
    return Transform.exp(np.concatenate([slid, turned]))


def positions_of(robot: RobotDescription, drawn: dict[str, float]) -> dict[str, float]:
    """Of every joint, those that follow others included."""

    def position(joint: JointDescription) -> float:
        if joint.mimic is None:
            return drawn.get(joint.name, 0.0)
        return joint.mimic.multiplier * position(robot.joint_by_name[joint.mimic.joint]) + joint.mimic.offset

    return {joint.name: position(joint) for joint in robot.joints}


def link_poses(robot: RobotDescription, drawn: dict[str, float]) -> dict[str, Transform]:
    """root_T_link of every link."""
    positions, root_T_link = positions_of(robot, drawn), {robot.root: Transform.identity()}
    for joint in robot.joints_from_root:
        moved = joint.parent_T_joint @ motion(joint, positions[joint.name]) @ joint.joint_T_child
        root_T_link[joint.child] = root_T_link[joint.parent] @ moved
    return root_T_link
