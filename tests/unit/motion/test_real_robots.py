"""Real robots: a step against pinocchio and an independent solver, and targets that are reached within all limits."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin
import pytest
from scipy.optimize import lsq_linear

from armillary import Transform
from armillary.articulation import AddJoint, Apply, ArticulationModel, Connect, OmniBase
from armillary.motion import Controller, PointingGoal, PoseGoal, PostureGoal
from unit.formats.kit import robot_file

HAND = "panda/links/panda_hand"
HOME = dict(zip([f"panda/panda_joint{i}" for i in range(1, 8)], (0.0, -0.4, 0.0, -2.0, 0.0, 1.7, 0.5), strict=True))
DT_S, EFFORT = 0.02, 1e-4


def panda() -> tuple[ArticulationModel, dict[str, float]]:
    model = ArticulationModel()
    model.load_urdf(robot_file("panda.urdf"), name="panda")
    return model, HOME | {"panda/panda_finger_joint1": 0.02}


def somewhere(seed: int) -> dict[str, float]:
    """A configuration of the arm, well within its limits."""
    rng = np.random.default_rng(seed)
    return {name: value + rng.uniform(-0.5, 0.5) for name, value in HOME.items()}


def velocities_by_scipy(values: dict[str, float], target: Transform) -> np.ndarray:
    """The arm's part of the least squares with bounds, from pinocchio's Jacobian."""
    model = pin.buildModelFromUrdf(str(robot_file("panda.urdf")))
    data, q = model.createData(), pin.neutral(model)
    q[:7] = [values[name] for name in HOME]
    pin.computeJointJacobians(model, data, q)
    pin.updateFramePlacements(model, data)
    frame = model.getFrameId("panda_hand")
    jacobian = pin.getFrameJacobian(model, data, frame, pin.ReferenceFrame.LOCAL)[:, :7]
    away = data.oMf[frame].actInv(pin.SE3(np.array(target.matrix)))
    wanted = np.concatenate([away.translation, pin.log3(away.rotation)]) / DT_S
    lower, upper = -model.velocityLimit[:7], model.velocityLimit[:7]
    lower = np.maximum(lower, (model.lowerPositionLimit[:7] - q[:7]) / DT_S)
    upper = np.minimum(upper, (model.upperPositionLimit[:7] - q[:7]) / DT_S)
    rows = np.vstack([jacobian, math.sqrt(EFFORT) * np.eye(7)])
    return lsq_linear(rows, np.concatenate([wanted, np.zeros(7)]), bounds=(lower, upper), method="bvls", tol=1e-14).x


class TestAPanda:
    @pytest.mark.parametrize("seed", range(8))
    def test_moves_as_an_independent_solver_says(self, seed):
        model, start = panda()
        values = start | somewhere(seed)
        target = model.pose(HAND).evaluate(start | somewhere(seed + 100))
        controller = Controller(model, controls=list(HOME), dt_s=DT_S, efforts=EFFORT)
        controller.add(PoseGoal(HAND, target))
        chosen = controller.step(values).velocities
        assert np.abs(np.array(list(chosen.values())) - velocities_by_scipy(values, target)).max() < 1e-5

    @pytest.mark.parametrize("seed", range(10))
    def test_reaches_where_it_can_within_all_limits(self, seed):
        model, start = panda()
        target = model.pose(HAND).evaluate(start | somewhere(seed))
        controller = Controller(model, controls=model.controls("panda"), dt_s=DT_S)
        controller.add(PoseGoal(HAND, target))
        reached = controller.run(start, unmet="raise")
        assert model.pose(HAND).evaluate(reached).is_close(target, m=2e-4, rad=2e-4)
        assert model.is_valid(reached, tolerance=1e-6)


class TestAPr2:
    def test_moves_its_base_and_both_arms_and_looks_at_a_hand(self):
        model = ArticulationModel()
        path = robot_file("pr2.urdf")
        model.load_urdf(path, name="pr2", packages={"example-robot-data": path.parents[3]})
        root = next(path for path, link in model.links().items() if link.joint is None)
        base = AddJoint(path="pr2/joints/base", joint=OmniBase(variable="pr2/base", speed_limit_m_s=1.0))
        model.edit([Apply("base", base), Apply("on base", Connect(child=root, joint="pr2/joints/base"))])
        start = {variable.name: 0.02 for variable in model.variables()}
        start |= {f"pr2/{side}_elbow_flex_joint": -1.2 for side in "lr"}
        start |= {f"pr2/{side}_wrist_flex_joint": -0.6 for side in "lr"}
        hands = [f"pr2/links/{side}_gripper_tool_frame" for side in "lr"]
        ahead = Transform.from_xyz_rpy(xyz=(1.5, 0.3, 0.1), rpy=(0.0, 0.0, 0.4))
        controller = Controller(model, controls=model.controls("pr2"), dt_s=0.05)
        for hand in hands:
            controller.add(PoseGoal(hand, ahead @ model.pose(hand).evaluate(start), tolerance=1e-3))
        controller.add(PointingGoal("pr2/links/high_def_optical_frame", at=hands[0], weight=0.1, tolerance=0.05))
        controller.add(PostureGoal(start, weight=1e-5))
        reached = controller.run(start, unmet="raise")
        assert math.hypot(reached["pr2/base/x"] - 1.5, reached["pr2/base/y"] - 0.3) < 0.5
        joints = {name: value for name, value in reached.items() if "base" not in name}
        assert not model.violations(joints, tolerance=1e-6)
