"""Setting of the pushing demonstration: the kitchen, three robots in front of it, and how each of them stands."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from armillary.articulation import (
    AddJoint,
    Apply,
    ArticulationModel,
    Connect,
    DifferentialDrive,
    FixedJoint,
    OmniBase,
    Variable,
    norm,
    stack,
)
from armillary.articulation.constraints import limits_of
from armillary.articulation.joints import Joint
from armillary.demos.models import HANDLES, TRACK_M, WHEEL_RADIUS_M, kitchen, mobile_manipulator, two_armed_robot
from armillary.formats import RobotDescription, ShapeDescription, SphereForm
from armillary.motion import ExpressionGoal, Goal, PointingGoal, PostureGoal
from armillary.motion.pushing import Handle, Push, Tool
from armillary.transforms import Transform

__all__ = ["OPEN", "ROBOTS", "Kind", "Setting"]

OPEN = 0.4
"""How far everything is open at the beginning: metres or radians."""
DT_S = 0.1
PAD_RADIUS_M = 0.02
_START = {"x": 1.3, "y": 0.75, "yaw": math.pi - 0.1}
_ARM_READY = {
    "shoulder_pan": 0.0,
    "shoulder_lift": -0.6,
    "upper_arm_roll": 0.0,
    "elbow_flex": 1.6,
    "forearm_roll": 0.0,
    "wrist_flex": -0.6,
    "wrist_roll": 0.0,
}
_CAMERA = "robot/links/camera_optical"
_STAND_M = (0.6, 0.85)


@dataclass(frozen=True)
class Kind:
    """A kind of robot.

    Attributes:
        name: In reports.
        description: Its links and joints.
        drive: The joint that it moves by.
        prefix: Put before the names of the parts of the arm that pushes.
        still: Joints that are not used.
    """

    name: str
    description: RobotDescription
    drive: Joint
    prefix: str = ""
    still: tuple[str, ...] = ()


def _kinds() -> tuple[Kind, ...]:
    spare = ("left_wheel", "right_wheel", "bellows", "left_finger", "right_finger")
    fingers = tuple(f"{side}_{finger}_finger" for side in ("left", "right") for finger in ("left", "right"))
    wheels = DifferentialDrive(
        variable="robot/drive", wheel_radius_m=WHEEL_RADIUS_M, wheel_distance_m=TRACK_M, wheel_limit_rad_s=17.4
    )
    omni = OmniBase(variable="robot/drive", speed_limit_m_s=1.0, turn_limit_rad_s=2.0)
    return (
        Kind("omni", mobile_manipulator(), omni, still=spare),
        Kind("differential", mobile_manipulator(), wheels, still=spare),
        Kind("two-armed", two_armed_robot(), omni, prefix="right_", still=fingers),
    )


ROBOTS: Mapping[str, Kind] = {kind.name: kind for kind in _kinds()}


class Setting:
    """A kitchen and a robot in one model.

    Attributes:
        model: Of both.
        controls: Of the robot.
        tool: What it pushes with.
        start: Where everything is at the beginning; the kitchen is closed.

    Args:
        kind: Of the robot.
    """

    def __init__(self, kind: Kind) -> None:
        self.kind, self.model = kind, ArticulationModel()
        self.model.add_robot(kitchen(), name="kitchen")
        self.model.add_robot(kind.description, name="robot")
        base = "robot/links/base_link"
        self.model.edit(
            [
                Apply("create drive", AddJoint(path="robot/joints/drive", joint=kind.drive)),
                Apply("connect drive", Connect(child=base, joint="robot/joints/drive")),
            ]
        )
        ball = ShapeDescription(form=SphereForm(PAD_RADIUS_M), link_T_shape=Transform.identity())
        on_tool = FixedJoint(parent_T_joint=Transform.from_translation((0.02, 0.0, 0.0)))
        pad = "robot/links/pad"
        self.model.add(pad, on_tool, f"robot/links/{kind.prefix}tool", visuals=[ball], collisions=[ball])
        self.tool = Tool.of(self.model, pad)
        still = {f"robot/{name}_joint" for name in kind.still}
        self.controls = tuple(one for one in self.model.controls("robot") if one.name not in still)
        self.ready = {
            f"robot/{prefix}{name}_joint": value
            for prefix in ({kind.prefix, "left_"} if kind.prefix else {""})
            for name, value in _ARM_READY.items()
        }
        place = {f"robot/drive/{name}": value for name, value in _START.items()}
        self.start = {variable.name: 0.0 for variable in self.model.variables()} | self.ready | place

    @property
    def handles(self) -> tuple[str, ...]:
        """The paths of the links of the twelve handles."""
        return tuple(f"kitchen/links/{name}" for name in HANDLES)

    def joint(self, handle: str) -> Variable:
        """Return the joint that moves a handle."""
        (joint,) = self.model.pose(handle).free_variables
        return joint

    def push(
        self, handle: str, configuration: Mapping[str, float], *, tolerance: float = 2e-3, press_m: float = 0.0
    ) -> Push:
        """Return the push that closes what has this handle."""
        efforts = {control.name: 1e-3 for control in self.controls}
        efforts |= {name: 4e-3 for name in efforts if name.startswith("robot/drive")}
        return Push(
            self.model,
            controls=self.controls,
            dt_s=DT_S,
            tool=self.tool,
            handle=Handle.of(self.model, handle),
            joint=self.joint(handle),
            target=0.0,
            goals=self._goals(handle),
            start=configuration,
            efforts=efforts,
            tolerance=tolerance,
            press_m=press_m,
        )

    def limits(self, handle: str) -> tuple[float, float]:
        """Return the limits of the joint that moves a handle."""
        joint = self.joint(handle)
        return limits_of(self.model.constraints([joint]).values())[joint]

    def _goals(self, handle: str) -> list[Goal]:
        base_T_handle = self.model.pose(handle, in_frame="robot/links/base_link")
        x, y, _ = base_T_handle.translation
        ahead = norm(stack([x, y]))
        return [
            ExpressionGoal(2.0 * y / (ahead + x + 0.01), 0.0, weight=0.05, gain=0.3, tolerance=math.inf, name="facing"),
            ExpressionGoal(ahead, _STAND_M, weight=0.5, gain=0.5, speed_limit=0.8, tolerance=math.inf, name="standing"),
            PostureGoal(self.ready, weight=2e-3, gain=0.2),
            PointingGoal(_CAMERA, at=handle, weight=1e-3, gain=0.5, tolerance=math.inf, name="gaze"),
        ]
