"""One step of inverse kinematics: a Panda, and a PR2 with its base and both arms, beside pink and pinocchio with daqp.

Everybody gets the same targets and limits, and gives velocities that keep them. pink is asked with two solvers; by
hand, a program writes what it needs and nothing else: no names, no checks of numbers, limits of joints alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Any

import numpy as np

from armillary import Transform
from armillary.articulation import AddJoint, Apply, ArticulationModel, Connect, OmniBase
from armillary.motion import Controller, PoseGoal, PostureGoal
from context import Bench, cpu_ns
from table import Row

STEPS = 100
DT_S = 0.02
OURS, PINK_DAQP, PINK_QUADPROG, BY_HAND = "ours", "pink with daqp", "pink with quadprog", "pinocchio and daqp by hand"
PANDA_HOME = {f"panda_joint{i}": value for i, value in enumerate((0.0, -0.4, 0.0, -2.0, 0.0, 1.7, 0.5), start=1)}


def rows(bench: Bench) -> Iterator[Row]:
    for robot in (Panda, WholeBodyPr2):
        path = _robot_file(robot.file)
        if path is None:
            continue
        yield from _race(bench, robot(path))


def _robot_file(name: str) -> Path | None:
    try:
        import pink  # noqa: F401
        import pinocchio  # noqa: F401

        found = [entry for entry in files("example-robot-data") or () if entry.name == name]
    except (PackageNotFoundError, ImportError):
        return None
    return Path(str(found[0].locate())).resolve() if found else None


def _race(bench: Bench, robot: Robot) -> Iterator[Row]:
    reached = [robot.reached_by_us(), robot.reached_by_pink()]
    yield Row.at_most(f"{robot.name}: what is left after 200 steps, ours and pink", max(reached), "m, rad", asked=1e-3)
    ways: dict[str, Callable[[], object]] = {
        OURS: robot.our_steps,
        PINK_DAQP: lambda: robot.pink_steps("daqp"),
        PINK_QUADPROG: lambda: robot.pink_steps("quadprog"),
        BY_HAND: robot.steps_by_hand,
    }
    best = bench.race({name: lambda _, way=way: cpu_ns(way, STEPS) for name, way in ways.items()}, repeats=10)
    for peer in (PINK_DAQP, PINK_QUADPROG, BY_HAND):
        asked = 1.0 if peer != BY_HAND else None
        yield Row.faster(f"{robot.name}: one step of inverse kinematics", best[OURS], best[peer], peer, asked=asked)


class Robot:
    """The same robot, configurations and targets for all of them."""

    file = ""
    name = ""
    frames: tuple[str, ...] = ()

    def __init__(self, path: Path) -> None:
        import daqp
        import pink
        import pinocchio as pin

        self.pin, self.pink, self.daqp = pin, pink, daqp
        self.pin_model = self._pin_model(path)
        self.pin_data = self.pin_model.createData()
        self.model = self._model(path)
        self.start = self._start()
        self.q = self._pin_q(self.start)
        self.targets = self._targets()
        self._make_ours()
        self._make_pink()
        self._make_by_hand()

    # -- ours

    def _make_ours(self) -> None:
        self.controller = Controller(self.model, controls=self.model.controls("it"), dt_s=DT_S, efforts=1e-6)
        for frame, target in self.targets.items():
            self.controller.add(PoseGoal(f"it/links/{frame}", target))
        self.controller.add(PostureGoal(self.start, weight=1e-6))
        self.controller.step(self.start)

    def our_steps(self) -> None:
        for _ in range(STEPS):
            self.controller.step(self.start)

    def reached_by_us(self) -> float:
        now = self.start
        for _ in range(200):
            now = self.model.integrate(now, self.controller.step(now).velocities, dt_s=DT_S)
        return max(self._off(self.model.pose(f"it/links/{frame}").evaluate(now), frame) for frame in self.frames)

    def _off(self, pose: Transform, frame: str) -> float:
        return float(np.abs(np.asarray((self.targets[frame].inverse() @ pose).log())).max())

    # -- pink

    def _make_pink(self) -> None:
        tasks = self.pink.tasks
        self.tasks: list[Any] = []
        for frame, target in self.targets.items():
            task = tasks.FrameTask(frame, position_cost=1.0, orientation_cost=1.0)
            task.set_target(self.pin.SE3(np.array(target.matrix)))
            self.tasks.append(task)
        posture = tasks.PostureTask(cost=1e-3)
        posture.set_target(self.q)
        self.tasks.append(posture)
        self.configuration = self.pink.Configuration(self.pin_model, self.pin_data, self.q)

    def pink_steps(self, solver: str) -> None:
        for _ in range(STEPS):
            self.configuration.update(self.q)
            self.pink.solve_ik(self.configuration, self.tasks, DT_S, solver=solver, damping=1e-6)

    def reached_by_pink(self) -> float:
        configuration = self.pink.Configuration(self.pin_model, self.pin_data, self.q)
        for _ in range(200):
            velocity = self.pink.solve_ik(configuration, self.tasks, DT_S, solver="quadprog", damping=1e-6)
            configuration.integrate_inplace(velocity, DT_S)
        poses = {
            f: Transform.from_matrix(configuration.get_transform_frame_to_world(f).homogeneous) for f in self.frames
        }
        return max(self._off(pose, frame) for frame, pose in poses.items())

    # -- by hand

    def _make_by_hand(self) -> None:
        pin, size = self.pin, self.pin_model.nv
        self.frame_ids = [self.pin_model.getFrameId(frame) for frame in self.frames]
        self.wanted = [pin.SE3(np.array(target.matrix)) for target in self.targets.values()]
        limit = np.minimum(self.pin_model.velocityLimit, 1e3)
        self.limit = np.where(limit > 0.0, limit, 1e3)
        low, high = self.pin_model.lowerPositionLimit, self.pin_model.upperPositionLimit
        bounded = [j for j in self.pin_model.joints if j.nq == 1 and j.nv == 1]
        self.q_of = np.array([j.idx_q for j in bounded])
        self.v_of = np.array([j.idx_v for j in bounded])
        self.low, self.high = low[self.q_of], high[self.q_of]
        self.solver: Any = None
        self.rows = np.zeros((0, size))

    def steps_by_hand(self) -> None:
        for _ in range(STEPS):
            self._step_by_hand()

    def _step_by_hand(self) -> Any:
        pin, model, data = self.pin, self.pin_model, self.pin_data
        pin.computeJointJacobians(model, data, self.q)
        pin.updateFramePlacements(model, data)
        hessian = 1e-6 * np.eye(model.nv)
        hessian[np.diag_indices(model.nv)] += 1e-6
        linear = np.zeros(model.nv)
        for frame, wanted in zip(self.frame_ids, self.wanted, strict=True):
            error = pin.log6(data.oMf[frame].actInv(wanted)).vector
            jacobian = pin.getFrameJacobian(model, data, frame, pin.ReferenceFrame.LOCAL)
            hessian += jacobian.T @ jacobian
            linear -= jacobian.T @ (error / DT_S)
        lower, upper = -self.limit.copy(), self.limit.copy()
        here = self.q[self.q_of]
        lower[self.v_of] = np.maximum(lower[self.v_of], (self.low - here) / DT_S)
        upper[self.v_of] = np.minimum(upper[self.v_of], (self.high - here) / DT_S)
        if self.solver is None:
            self.solver = self.daqp.Model()
            self.solver.setup(hessian, linear, self.rows, upper, lower, np.zeros(len(upper), dtype=np.int32))
        else:
            self.solver.update(H=hessian, f=linear, bupper=upper, blower=lower)
        return self.solver.solve()[0]

    # -- the robot

    def _pin_model(self, path: Path) -> Any:
        return self.pin.buildModelFromUrdf(str(path))

    def _model(self, path: Path) -> ArticulationModel:
        model = ArticulationModel()
        model.load_urdf(path, name="it", packages={"example-robot-data": path.parents[3]})
        return model

    def _start(self) -> dict[str, float]:
        raise NotImplementedError

    def _pin_q(self, values: dict[str, float]) -> Any:
        q = self.pin.neutral(self.pin_model)
        for joint, name in zip(self.pin_model.joints, self.pin_model.names, strict=True):
            if f"it/{name}" in values and joint.nq == 1:
                q[joint.idx_q] = values[f"it/{name}"]
        return q

    def _targets(self) -> dict[str, Transform]:
        shift = Transform.from_xyz_rpy(xyz=(0.1, 0.15, -0.1), rpy=(0.2, -0.1, 0.3))
        return {frame: self.model.pose(f"it/links/{frame}").evaluate(self.start) @ shift for frame in self.frames}


class Panda(Robot):
    file, name, frames = "panda.urdf", "Panda", ("panda_hand",)

    def _start(self) -> dict[str, float]:
        found = {variable.name: 0.02 for variable in self.model.variables()}
        return found | {f"it/{name}": value for name, value in PANDA_HOME.items()}


class WholeBodyPr2(Robot):
    file, name = "pr2.urdf", "PR2, base and both arms"
    frames = ("r_gripper_tool_frame", "l_gripper_tool_frame")

    def _pin_model(self, path: Path) -> Any:
        return self.pin.buildModelFromUrdf(str(path), self.pin.JointModelPlanar())

    def _model(self, path: Path) -> ArticulationModel:
        model = super()._model(path)
        base = OmniBase(variable="it/base", speed_limit_m_s=1.0, turn_limit_rad_s=2.0)
        root = next(path for path, link in model.links().items() if link.joint is None)
        model.edit(
            [
                Apply("create base", AddJoint(path="it/joints/base", joint=base)),
                Apply("connect base", Connect(child=root, joint="it/joints/base")),
            ]
        )
        return model

    def _start(self) -> dict[str, float]:
        usual = {"torso_lift_joint": 0.1, "head_pan_joint": 0.0}
        for side, sign in (("r", -1.0), ("l", 1.0)):
            usual |= {
                f"{side}_shoulder_pan_joint": 0.3 * sign,
                f"{side}_shoulder_lift_joint": 0.3,
                f"{side}_upper_arm_roll_joint": 0.5 * sign,
                f"{side}_elbow_flex_joint": -1.2,
                f"{side}_forearm_roll_joint": 0.2,
                f"{side}_wrist_flex_joint": -0.6,
                f"{side}_wrist_roll_joint": 0.1,
                f"{side}_gripper_joint": 0.01,
            }
        found = {variable.name: 0.01 for variable in self.model.variables()}
        found |= {f"it/base/{name}": 0.0 for name in ("x", "y", "yaw")}
        return found | {f"it/{name}": value for name, value in usual.items() if f"it/{name}" in found}
