"""Robots of others in a model: poses and Jacobians as pinocchio finds them."""

from __future__ import annotations

import numpy as np
import pinocchio
import pytest

import randomness
from armillary.articulation import ArticulationModel, Variable, stack
from armillary.formats import read_urdf
from unit.formats.kit import robot_file, robot_files

CLOSE = 1e-9
CONFIGURATIONS = range(3)
REFUSED = {"alex_psyonic_hands.urdf", "ur3.urdf"}  # a link twice; a file of parts for xacro without a link
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
        self.values: dict[Variable, float] = {}
        self.choose(0)

    def choose(self, number: int) -> None:
        """Another configuration."""
        self.values = dict(zip(self.variables, randomness.rng(number).uniform(-1.5, 1.5, 200), strict=False))

    @property
    def frames(self) -> dict[str, int]:
        """By link, what pinocchio calls it."""
        names = [path.rpartition("/")[2] for path in self.model.links()]
        return {name: self.peer.getFrameId(name, pinocchio.FrameType.BODY) for name in names}

    def some_links(self, number: int) -> list[str]:
        """The one that most joints move, and two others that any moves."""
        moving = [path for path in self.model.links() if self.model.pose(path).free_variables]
        deepest = max(moving, key=lambda path: len(self.model.pose(path).free_variables))
        return [deepest, *randomness.chance(number).sample(moving, 2)]

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
    @pytest.mark.parametrize(
        "path", [path for path in robot_files() if path.name not in REFUSED], ids=lambda path: path.name
    )
    def test_becomes_a_model_that_can_be_saved(self, path):
        robot, model = read_urdf(path), ArticulationModel()
        model.add_robot(robot, name="robot")
        assert (len(model.links()), len(model.joints())) == (len(robot.links), len(robot.joints))
        assert ArticulationModel.from_bytes(model.to_bytes()).values() == model.values()


class TestARobotOfOthers:
    def test_has_the_variables_that_pinocchio_has(self, pair):
        assert len(pair.variables) == pair.peer.nv
        assert pair.model.is_valid({})

    @pytest.mark.parametrize("number", CONFIGURATIONS)
    def test_has_the_poses_of_pinocchio(self, pair, number):
        pair.choose(number)
        pinocchio.framesForwardKinematics(pair.peer, pair.data, pair.configuration())
        frames = pair.frames
        every = stack([pair.model.pose(f"robot/links/{name}") for name in frames]).compile(order=pair.variables)
        found = every(list(pair.values.values())).reshape(-1, 4, 4)
        expected = [pair.data.oMf[frame].homogeneous for frame in frames.values()]
        np.testing.assert_allclose(found, expected, atol=CLOSE)

    @pytest.mark.parametrize("number", CONFIGURATIONS)
    def test_moves_as_it_does_in_pinocchio(self, pair, number):
        pair.choose(number)
        pinocchio.computeJointJacobians(pair.peer, pair.data, pair.configuration())
        for path in pair.some_links(number):
            pose, frame = pair.model.pose(path), pair.frames[path.rpartition("/")[2]]
            at = pinocchio.ReferenceFrame.LOCAL
            whole = pinocchio.computeFrameJacobian(pair.peer, pair.data, pair.configuration(), frame, at)
            own = [variable for variable in pair.variables if variable in pose.free_variables]
            found = pose.body_jacobian(own).evaluate(pair.values)
            np.testing.assert_allclose(found, whole[:, [pair.joint(one).idx_v for one in own]], atol=CLOSE)
