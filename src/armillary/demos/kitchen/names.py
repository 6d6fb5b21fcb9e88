"""Names of frames, joints and sources of the kitchen, and the initial and final poses of its objects."""

from __future__ import annotations

from armillary import Transform

MAP = "map"
ODOM = "odom"
BASE = "robot/base_link"
TOOL = "robot/tool"
HEAD_CAMERA = "robot/camera_optical"
WALL_CAMERA = "wall_camera"
DOOR = "kitchen/cupboard_door"
WORKTOP = "kitchen/sink_area_worktop"
ISLAND = "kitchen/island_worktop"
CUP = "cup"
PLATE = "plate"
HEAD = "head camera"  # names of sources
WALL = "wall camera"
HAND = "hand"
LIFT = "torso_lift"
ARM = (
    "shoulder_pan",
    "shoulder_lift",
    "upper_arm_roll",
    "elbow_flex",
    "forearm_roll",
    "wrist_flex",
    "wrist_roll",
)
DOOR_JOINT = "kitchen/cupboard_door_joint"
CUP_RADIUS_M, CUP_HEIGHT_M = 0.035, 0.1
PLATE_RADIUS_M, PLATE_HEIGHT_M = 0.13, 0.02
_WORKTOP_Z_M = 0.88


def upright(x_m: float, y_m: float, z_m: float, yaw_rad: float = 0.0) -> Transform:
    """Return a pose with a vertical z axis."""
    return Transform.from_xyz_rpy(xyz=(x_m, y_m, z_m), rpy=(0.0, 0.0, yaw_rad))


MAP_T_CUP_FIRST = upright(0.42, 0.4, _WORKTOP_Z_M + CUP_HEIGHT_M / 2)

MAP_T_CUP_LAST = upright(2.35, 0.6, _WORKTOP_Z_M + CUP_HEIGHT_M / 2)

MAP_T_PLATE = upright(2.35, 0.95, _WORKTOP_Z_M + PLATE_HEIGHT_M / 2)


def robot_joint(name: str) -> str:
    """Return the name of a joint of the robot in the world."""
    return f"robot/{name}_joint"
