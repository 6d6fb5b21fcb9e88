"""Every kind of joint against plain matrices, finite differences, and its own closed form's conventions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given

from armillary import Rotation, Transform
from armillary.articulation import position, rotation_about, translation
from armillary.articulation.bases import OmniBase, PlanarJoint
from armillary.articulation.drive import interpolations_of
from armillary.articulation.geometry import pose
from armillary.articulation.joints import (
    BallJoint,
    ContinuousJoint,
    CylindricalJoint,
    ExpressionJoint,
    FixedJoint,
    FloatingJoint,
    PrismaticJoint,
    RevoluteJoint,
    ScrewJoint,
    UniversalJoint,
)
from armillary.errors import InvalidArgument, InvalidPath
from armillary.formats import Limits, SoftLimits
from strategies import transforms

CLOSE_M = CLOSE_RAD = 1e-12
STEP = 1e-6
CLOSE_TO_DIFFERENCES = 1e-8
AXIS = (0.48, -0.6, 0.64)
ORIGIN = Transform.from_xyz_rpy(xyz=(0.1, -0.2, 0.3), rpy=(0.4, 0.5, -0.6))
TOOL = Transform.from_xyz_rpy(xyz=(-0.3, 0.1, 0.2), rpy=(-0.2, 0.1, 0.9))


def turned(axis, angle: float) -> Transform:
    x, y, z = (math.sin(angle / 2) * entry for entry in axis)
    return Transform.from_rotation(Rotation.from_wxyz((math.cos(angle / 2), x, y, z)), xyz=(0.0, 0.0, 0.0))


def shifted(x: float, y: float, z: float) -> Transform:
    return Transform.from_rotation(Rotation.identity(), xyz=(x, y, z))


def along(axis, way: float) -> Transform:
    return shifted(*(entry * way for entry in axis))


def quaternion(w, x, y, z) -> Transform:
    return Transform.from_rotation(Rotation.from_wxyz((w, x, y, z)), xyz=(0.0, 0.0, 0.0))


UNIT = (0.5, -0.5, 0.1, math.sqrt(0.49))
KINDS = {
    "fixed": (FixedJoint, {}, (), shifted(0, 0, 0)),
    "revolute": (RevoluteJoint, {"axis": AXIS}, (0.7,), turned(AXIS, 0.7)),
    "continuous": (ContinuousJoint, {"axis": AXIS}, (-2.7,), turned(AXIS, -2.7)),
    "following": (RevoluteJoint, {"axis": AXIS, "multiplier": -2.0, "offset": 0.1}, (0.7,), turned(AXIS, -1.3)),
    "prismatic": (PrismaticJoint, {"axis": AXIS}, (0.7,), along(AXIS, 0.7)),
    "screw": (
        ScrewJoint,
        {"axis": AXIS, "pitch_m": 0.3},
        (0.7,),
        turned(AXIS, 0.7) @ along(AXIS, 0.3 * 0.7 / math.tau),
    ),
    "planar": (PlanarJoint, {}, (0.1, 0.2, 0.7), shifted(0.1, 0.2, 0) @ turned((0, 0, 1), 0.7)),
    "cylindrical": (CylindricalJoint, {"axis": AXIS}, (0.7, 0.2), turned(AXIS, 0.7) @ along(AXIS, 0.2)),
    "universal": (UniversalJoint, {}, (0.7, 0.2), turned((1, 0, 0), 0.7) @ turned((0, 1, 0), 0.2)),
    "ball": (BallJoint, {}, UNIT, quaternion(*UNIT)),
    "floating": (FloatingJoint, {}, (1.0, 2.0, 3.0, *UNIT), shifted(1, 2, 3) @ quaternion(*UNIT)),
    "omni": (OmniBase, {}, (0.1, 0.2, 0.7), shifted(0.1, 0.2, 0) @ turned((0, 0, 1), 0.7)),
}


def made(name: str, **more):
    kind, given, values, motion = KINDS[name]
    named = {} if kind is FixedJoint else {"variable": "robot/joint"}
    joint = kind(**named, **given, **more)
    return joint, dict(zip(joint.variables, values, strict=True)), motion


def ways(name: str, q: np.ndarray) -> np.ndarray:
    """Directions in which the variables may change: a quaternion keeps its length."""
    if name not in {"ball", "floating"}:
        return np.eye(len(q))
    w, x, y, z = q[-4:]
    turns = 0.5 * np.array([[-x, w, z, -y], [-y, -z, w, x], [-z, y, -x, w]])
    return np.block([[np.eye(len(q) - 4), np.zeros((len(q) - 4, 4))], [np.zeros((3, len(q) - 4)), turns]])


def on_the_way(name: str, q: np.ndarray) -> np.ndarray:
    if name in {"ball", "floating"}:
        q[-4:] /= np.linalg.norm(q[-4:])
    return q


@pytest.mark.parametrize("name", KINDS)
class TestEveryJoint:
    def test_moves_as_its_name_says(self, name):
        joint, values, motion = made(name)
        assert joint.motion.evaluate(values).is_close(motion, m=CLOSE_M, rad=CLOSE_RAD)

    def test_sits_where_it_is_put(self, name):
        joint, values, motion = made(name, parent_T_joint=ORIGIN, joint_T_child=TOOL)
        assert joint.parent_T_child.evaluate(values).is_close(ORIGIN @ motion @ TOOL, m=CLOSE_M, rad=CLOSE_RAD)

    def test_has_the_velocity_of_its_motion(self, name):
        joint, values, _ = made(name, parent_T_joint=ORIGIN, joint_T_child=TOOL)
        here, q = joint.parent_T_child, np.array(list(values.values()))
        jacobian = here.body_jacobian(joint.velocities).evaluate(values) if values else np.zeros((6, 0))
        for way in ways(name, q):
            before, after = (
                here.evaluate(dict(zip(values, on_the_way(name, q + step * way), strict=True)))
                for step in (-STEP, STEP)
            )
            difference = (before.inverse() @ after).log() / (2 * STEP)
            np.testing.assert_allclose(jacobian @ way, difference, atol=CLOSE_TO_DIFFERENCES)

    def test_has_a_closed_form_where_the_child_sits_right_on_it(self, name):
        joint, _, _ = made(name, parent_T_joint=ORIGIN)
        form = joint.closed_form
        assert form.origin == ORIGIN
        assert form.variables == tuple(variable.name for variable in joint.variables)
        beside, _, _ = made(name, joint_T_child=TOOL)
        assert (beside.closed_form is None) == (name != "fixed")

    def test_runs_as_tapes(self, name):
        joint, values, motion = made(name, parent_T_joint=ORIGIN, joint_T_child=TOOL)
        form = joint.tape_form
        rows = form.value.run(np.array(list(values.values()))).reshape(3, 4)
        np.testing.assert_allclose(rows, (ORIGIN @ motion @ TOOL).matrix[:3], atol=CLOSE_M)
        assert form.jacobian.outputs == 6 * len(form.velocities)

    def test_is_a_value(self, name):
        assert made(name)[0] == made(name)[0]
        assert made(name)[0] != made(name, parent_T_joint=ORIGIN)[0]

    def test_says_how_its_variables_go_on(self, name):
        joint, values, _ = made(name)
        assert set(joint.interpolations) == {variable.name for variable in values}


class TestLimits:
    def test_are_of_what_the_joint_does_itself(self):
        joint = RevoluteJoint(
            variable="leader", multiplier=-2.0, offset=0.5, limits=Limits(lower=-1.0, upper=1.0, velocity=3.0)
        )
        leader = position("leader")
        assert joint.constraints["position"].is_kept({leader: 0.7})
        assert not joint.constraints["position"].is_kept({leader: 0.8})
        assert joint.constraints["velocity"].is_kept({leader.velocity: 1.4})
        assert not joint.constraints["velocity"].is_kept({leader.velocity: 1.6})

    def test_may_be_one_sided_or_soft(self):
        q = position("q")
        joint = PrismaticJoint(variable="q", limits=Limits(lower=0.0))
        assert joint.constraints["position"].is_kept({q: 1e9})
        assert "velocity" not in joint.constraints
        soft = SoftLimits(lower=0.1, upper=0.2, k_position=1.0, k_velocity=1.0)
        joint = PrismaticJoint(variable="q", soft_limits=soft)
        assert not joint.constraints["soft_position"].is_kept({q: 0.3})

    def test_of_two_turns_have_names(self):
        joint = UniversalJoint(variable="u", limits=Limits(lower=-1.0), second_limits=Limits(velocity=1.0))
        assert set(joint.constraints) == {"first_position", "second_velocity"}

    def test_keep_a_quaternion_at_length_one(self):
        joint = BallJoint(variable="b")
        values = dict(zip(joint.variables, UNIT, strict=True))
        assert joint.constraints["unit_quaternion"].is_kept(values, tolerance=1e-12)
        assert not joint.constraints["unit_quaternion"].is_kept({**values, joint.variables[0]: 0.6}, tolerance=1e-3)


class TestAJointOfItsOwn:
    @given(transforms())
    def test_moves_as_its_expression_says(self, origin):
        a, b = position("a"), position("b")
        swing = pose(rotation_about((0, 0, 1), a * b), (0.0, 0.0, 0.0)) @ translation(b, 0.0, a)
        joint = ExpressionJoint(expression=swing, parent_T_joint=origin)
        assert joint.variables == (a, b)
        assert joint.velocities == (a.velocity, b.velocity)
        expected = origin @ turned((0, 0, 1), 0.06) @ shifted(0.3, 0.0, 0.2)
        assert joint.parent_T_child.evaluate({a: 0.2, b: 0.3}).is_close(expected, m=1e-11, rad=1e-11)


class TestRefusedJoints:
    @pytest.mark.parametrize("axis", [(0.0, 0.0, 0.0), (math.nan, 0.0, 0.0), (math.inf, 0.0, 0.0)])
    def test_have_no_direction(self, axis):
        with pytest.raises(InvalidArgument, match="direction"):
            RevoluteJoint(variable="q", axis=axis)

    def test_have_no_name(self):
        with pytest.raises(InvalidPath):
            RevoluteJoint(variable="")

    def test_have_no_numbers(self):
        with pytest.raises(InvalidArgument, match="pitch"):
            ScrewJoint(variable="q", pitch_m=math.nan)
        with pytest.raises(InvalidArgument, match="multiplier"):
            RevoluteJoint(variable="q", multiplier=math.inf)


class TestVariablesThatJointsShare:
    def test_go_on_linearly_where_the_joints_disagree(self):
        wheel, finger = ContinuousJoint(variable="q"), PrismaticJoint(variable="q", multiplier=0.1)
        assert interpolations_of([wheel]) == {"q": "wrap"}
        assert interpolations_of([wheel, finger]) == {"q": "linear"}
