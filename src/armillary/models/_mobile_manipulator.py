"""A mobile manipulator: a lift, an arm of seven joints, a head that pans and tilts, and a gripper of two fingers.

With its two driven wheels and the bellows of the lift it has 15 degrees of freedom. It drives as its wheels turn, which
is no joint of URDF: a model says so on top of this description. With `base="omni"` it glides over the floor instead, by
a planar joint between `odom` and `base_link`.
"""

from __future__ import annotations

import math
from typing import Literal

from armillary.formats import RobotDescription
from armillary.models._parts import DARK, WHITE, Assembly, X, Y, Z, at, box, rod

WHEEL_RADIUS_M = 0.065
TRACK_M = 0.38  # between the wheels
_ARM = (
    # name, axis, reach, where it sits on the one before, length of the link along x
    ("shoulder_pan", Z, (-1.6, 1.6), at(0.12, 0.0, 0.35), 0.12),
    ("shoulder_lift", Y, (-1.2, 1.5), at(0.12, 0.0, 0.06), 0.2),
    ("upper_arm_roll", X, (-math.pi, math.pi), at(0.21, 0.0, 0.0), 0.14),
    ("elbow_flex", Y, (-2.2, 2.2), at(0.14, 0.0, 0.0), 0.18),
    ("forearm_roll", X, (-math.pi, math.pi), at(0.19, 0.0, 0.0), 0.13),
    ("wrist_flex", Y, (-2.1, 2.1), at(0.13, 0.0, 0.0), 0.13),
    ("wrist_roll", X, (-math.pi, math.pi), at(0.13, 0.0, 0.0), 0.1),
)


def mobile_manipulator(base: Literal["differential", "omni"] = "differential") -> RobotDescription:
    """A lift, an arm of seven joints, a head that pans and tilts, and a gripper of two fingers, on wheels.

    With `base="omni"` a planar joint carries it over the floor, instead of its wheels.
    """
    body = [rod(0.27, 0.3, at(0, 0, 0.2), WHITE)]
    if base == "omni":
        made = Assembly("mobile_manipulator", "odom")
        made.glide("base_link", "odom", at(), body)
    else:
        made = Assembly("mobile_manipulator", "base_link", body)
    _base(made)
    _torso(made)
    _head(made)
    _arm(made)
    _gripper(made)
    return made.description()


def _base(made: Assembly) -> None:
    lying = (-math.pi / 2, 0.0, 0.0)
    wheel = [rod(WHEEL_RADIUS_M, 0.04, at(rpy=lying), DARK)]
    for side, sign in (("left", 1), ("right", -1)):
        made.turn(f"{side}_wheel", "base_link", at(0, sign * TRACK_M / 2, WHEEL_RADIUS_M), wheel, axis=Y)
    made.fix("laser", "base_link", at(0.24, 0, 0.28), [rod(0.03, 0.04, material=DARK)])
    made.fix("estop", "base_link", at(-0.2, 0.1, 0.36), [rod(0.02, 0.02)])


def _torso(made: Assembly) -> None:
    made.fix("torso_fixed", "base_link", at(-0.1, 0, 0.35), [box((0.2, 0.24, 0.3), at(0, 0, 0.15))])
    trunk, bellows = box((0.16, 0.2, 0.5), at(0, 0, 0.25)), box((0.02, 0.18, 0.3), at(0, 0, 0.15), DARK)
    for name, x_m, shape in (("torso_lift", 0.0, trunk), ("bellows", 0.1, bellows)):
        place = at(x_m, 0, 0.05)
        made.slide(name, "torso_fixed", place, [shape], axis=Z, reach=(0.0, 0.4), velocity=0.1, effort=450.0)


def _head(made: Assembly) -> None:
    neck, head = [box((0.1, 0.2, 0.06))], [box((0.06, 0.24, 0.06))]
    made.hinge("head_pan", "torso_lift", at(0.05, 0, 0.58), neck, reach=(-1.5, 1.5), velocity=2.5)
    made.hinge("head_tilt", "head_pan", at(0.12, 0, 0.06), head, axis=Y, reach=(-0.7, 1.4), velocity=2.5)
    made.fix("camera", "head_tilt", at(0.05, 0, 0.02), [box((0.03, 0.12, 0.03), material=DARK)])
    optical = (-math.pi / 2, 0.0, -math.pi / 2)
    made.fix("camera_optical", "camera", at(0.015, 0, 0, optical))


def _arm(made: Assembly) -> None:
    on = "torso_lift"
    for name, axis, reach, place, length in _ARM:
        shape = rod(0.05, length, at(length / 2, 0, 0, (0.0, math.pi / 2, 0.0)), WHITE)
        made.hinge(name, on, place, [shape], axis=axis, reach=reach, velocity=3.0, effort=80.0)
        on = name


def _gripper(made: Assembly) -> None:
    made.fix("gripper", "wrist_roll", at(0.14, 0, 0), [box((0.08, 0.12, 0.06), material=DARK)])
    for side, sign in (("left", 1.0), ("right", -1.0)):
        finger = [box((0.06, 0.014, 0.025), at(0.07))]
        out = (0.0, sign, 0.0)
        made.slide(f"{side}_finger", "gripper", at(0, sign * 0.016, 0), finger, axis=out, reach=(0.0, 0.05))
    made.fix("tool", "gripper", at(0.1))
