"""Between two samples: joints stay exact where transforms cut the corner.

A robot that shares transforms shares chords: between two samples the hand is interpolated on a straight line. A
robot that shares its joints shares the motion itself. Here an arm of two links turns at constant speed, and both are
sampled every 100 ms: the joints, and the hand. Asked in between, the joints give the hand exactly, and its velocity;
the sampled transforms are off by centimetres.

With a file name the picture of docs/joints.md is drawn into it: `python 10_between_joint_samples.py joints.svg`.
"""

import sys

import numpy as np

from armillary import Transform, World, seconds
from armillary.articulation import ArticulationModel
from armillary.formats import JointDescription, LinkDescription, RobotDescription
from armillary.view import tracks_svg


def at(x_m: float) -> Transform:
    return Transform.from_xyz_rpy(xyz=(x_m, 0.0, 0.0), rpy=(0.0, 0.0, 0.0))


UP = (0.0, 0.0, 1.0)
arm = RobotDescription(
    name="arm",
    root="base",
    links=tuple(LinkDescription(name=name) for name in ("base", "upper", "lower", "hand")),
    joints=(
        JointDescription(name="shoulder", kind="continuous", parent="base", child="upper", axis=UP),
        JointDescription(
            name="elbow", kind="continuous", parent="upper", child="lower", axis=UP, parent_T_joint=at(0.8)
        ),
        JointDescription(name="wrist", kind="fixed", parent="lower", child="hand", parent_T_joint=at(0.6)),
    ),
)
model = ArticulationModel()
model.add_robot(arm)

world = World()
world.mount(model, in_frame="map")

SPEED = {"arm/shoulder": 1.5, "arm/elbow": 2.0}  # [rad/s]
for tenth in range(11):
    t = tenth / 10
    world.set_joints({joint: speed * t for joint, speed in SPEED.items()}, at=seconds(t))
    map_T_hand = world.pose(of="arm/hand", in_frame="map", at=seconds(t)).transform
    world.set_pose(of="hand_by_transforms", in_frame="map", transform=map_T_hand, at=seconds(t))


def truth(t_s: np.ndarray) -> np.ndarray:
    """Return the exact positions of the hand."""
    shoulder = SPEED["arm/shoulder"] * t_s
    elbow = shoulder + SPEED["arm/elbow"] * t_s
    return np.stack(
        [0.8 * np.cos(shoulder) + 0.6 * np.cos(elbow), 0.8 * np.sin(shoulder) + 0.6 * np.sin(elbow)], axis=1
    )


stamps = np.arange(0, seconds(1.0), seconds(0.001))
for frame in ("arm/hand", "hand_by_transforms"):
    found = world.transforms(of=frame, in_frame="map", at=stamps)[:, :2, 3]
    error_m = np.linalg.norm(found - truth(stamps * 1e-9), axis=1)
    print(f"{frame:20} off by at most {error_m.max():.1e} m between samples 100 ms apart")

between = seconds(0.45)
exact = world.twist(of="arm/hand", relative_to="map", expressed_in="map", at=between)
chord = world.twist(of="hand_by_transforms", relative_to="map", expressed_in="map", at=between)
print(f"\nThe hand moves at {np.linalg.norm(exact.linear):.4f} m/s by its twist ({exact.method});")
print(f"by the transforms at {np.linalg.norm(chord.linear):.4f} m/s, {chord.method}.")

if len(sys.argv) > 1:
    with open(sys.argv[1], "w", encoding="utf-8") as file:  # noqa: PTH123  (a script)
        file.write(tracks_svg(world, of=["arm/hand", "hand_by_transforms"], in_frame="map", at=stamps[::5]))
