"""Robots of others in a model: poses and Jacobians as pinocchio finds them."""

from __future__ import annotations

import numpy as np
import pinocchio
import pytest

from armillary.articulation import ArticulationModel, stack
from armillary.errors import InvalidRobotFile
from armillary.formats import read_urdf
from unit.formats.kit import robot_file, robot_files

CLOSE = 1e-9
ROBOTS = [
    "anymal.urdf",
    "baxter.urdf",
    "go2.urdf",
    "icub.urdf",
    "kinova.urdf",
    "panda.urdf",
    "pr2.urdf",
    "hyq_no_sensors.urdf",
    "solo12.urdf",
    "talos_reduced.urdf",
    "tiago.urdf",
    "ur5_robot.urdf",
]


class Pair:
    """A robot here and there, with the same numbers for its joints."""

    def __init__(self, name: str) -> None:
        path = robot_file(name)
        self.model, self.peer = ArticulationModel(), pinocchio.buildModelFromUrdf(str(path), mimic=True)
        self.model.load_urdf(path, name="robot")
        self.data, self.variables = self.peer.createData(), self.model.variables()
        self.values = dict(zip(self.variables, np.random.default_rng(3).uniform(-1.5, 1.5, 200), strict=False))

    @property
    def frames(self) -> dict[str, int]:
        """By link, what pinocchio calls it."""
        names = [path.rpartition("/")[2] for path in self.model.links()]
        return {name: self.peer.getFrameId(name, pinocchio.FrameType.BODY) for name in names}

    def joint(self, variable):
        return self.peer.joints[self.peer.getJointId(variable.name.removeprefix("robot/"))]

    def configuration(self) -> np.ndarray:
        q = pinocchio.neutral(self.peer)
        for variable, value in self.values.items():
            place = self.joint(variable).idx_q
            if self.joint(variable).nq == 2:
                q[place : place + 2] = np.cos(value), np.sin(value)
            else:
                q[place] = value
        return q


@pytest.fixture(scope="module", params=ROBOTS)
def pair(request) -> Pair:
    return Pair(request.param)


class TestEveryRobotOfOthers:
    @pytest.mark.parametrize("path", robot_files(), ids=lambda path: path.name)
    def test_becomes_a_model_that_can_be_saved(self, path):
        try:
            robot = read_urdf(path)
        except InvalidRobotFile:
            return
        model = ArticulationModel()
        model.add_robot(robot, name="robot")
        assert (len(model.links()), len(model.joints())) == (len(robot.links), len(robot.joints))
        assert ArticulationModel.from_bytes(model.to_bytes()).values() == model.values()


class TestARobotOfOthers:
    def test_has_the_variables_that_pinocchio_has(self, pair):
        assert len(pair.variables) == pair.peer.nv
        assert pair.model.is_valid({})

    def test_has_the_poses_of_pinocchio(self, pair):
        pinocchio.framesForwardKinematics(pair.peer, pair.data, pair.configuration())
        frames = pair.frames
        every = stack([pair.model.pose(f"robot/links/{name}") for name in frames]).compile(order=pair.variables)
        found = every(list(pair.values.values())).reshape(-1, 4, 4)
        expected = [pair.data.oMf[frame].homogeneous for frame in frames.values()]
        np.testing.assert_allclose(found, expected, atol=CLOSE)

    def test_moves_as_it_does_in_pinocchio(self, pair):
        deepest = max(pair.model.links(), key=lambda path: len(pair.model.pose(path).free_variables))
        pose, frame = pair.model.pose(deepest), pair.frames[deepest.rpartition("/")[2]]
        pinocchio.computeJointJacobians(pair.peer, pair.data, pair.configuration())
        whole = pinocchio.computeFrameJacobian(
            pair.peer, pair.data, pair.configuration(), frame, pinocchio.ReferenceFrame.LOCAL
        )
        own = [variable for variable in pair.variables if variable in pose.free_variables]
        found = pose.body_jacobian(own).evaluate(pair.values)
        np.testing.assert_allclose(found, whole[:, [pair.joint(variable).idx_v for variable in own]], atol=CLOSE)
