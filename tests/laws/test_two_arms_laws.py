"""Laws of two arms that hold one tray: however they are driven, they are where a fine continuation leads."""

from __future__ import annotations

from functools import cache

import numpy as np
import pinocchio
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from armillary import Transform, World, errors, seconds
from armillary.articulation import ArticulationModel
from unit.formats.kit import robot_file

SAME_RAD = 1e-8
STEPS = 150
HOME = {"left": (0.0, -0.4, 0.0, -2.0, 0.0, 1.7, 0.5, 0.02), "right": (0.2, -0.3, 0.1, -2.1, 0.1, 1.8, 0.4, 0.02)}
LEFT, RIGHT = ([f"{side}/panda_joint{i}" for i in range(1, 8)] for side in ("left", "right"))
STAND = Transform.from_xyz_rpy(xyz=(1.2, 0.0, 0.0), rpy=(0.0, 0.0, np.pi))


class Arms:
    """Both arms in pinocchio: the last six joints of the right one follow, by Newton's method in small steps."""

    def __init__(self) -> None:
        self.peer = pinocchio.buildModelFromUrdf(str(robot_file("panda.urdf")), mimic=True)
        self.data, self.stand = self.peer.createData(), pinocchio.SE3(STAND.matrix)
        self.hand = self.peer.getFrameId("panda_hand", pinocchio.FrameType.BODY)
        left, right = (np.array(HOME[side]) for side in ("left", "right"))
        self.left_T_right = self.pose(left).inverse() * self.stand * self.pose(right)

    def pose(self, q):
        pinocchio.framesForwardKinematics(self.peer, self.data, q)
        return self.data.oMf[self.hand].copy()

    def closed(self, left, right):
        """The right arm, found from where it is; None where it does not reach."""
        wanted, right = self.pose(left) * self.left_T_right, right.copy()
        for _ in range(30):
            pinocchio.computeJointJacobians(self.peer, self.data, right)
            gap = pinocchio.log6((self.stand * self.pose(right)).inverse() * wanted).vector
            if np.abs(gap).max() < 1e-13:
                return right
            slope = pinocchio.getFrameJacobian(self.peer, self.data, self.hand, pinocchio.LOCAL)[:, 1:7]
            right[1:7] += np.linalg.solve(slope, gap)
        return right if np.abs(gap).max() < 1e-9 else None

    def followed(self, before, after):
        """Both arms after a straight way of the drivers; None where the right one does not reach somewhere on it."""
        (left, right), (left_end, first_end) = before, after
        for part in np.arange(1, STEPS + 1) / STEPS:
            right = right.copy()
            right[0] += (first_end - before[1][0]) / STEPS
            right = self.closed(left + part * (left_end - left), right)
            if right is None:
                return None
        return left_end, right


@cache
def arms() -> Arms:
    return Arms()


def holding() -> World:
    """A world with both arms, which hold the tray since 0 s."""
    world = World(history=None)
    world.fix(of="stand", in_frame="map", transform=STAND)
    for side, frame in (("left", "map"), ("right", "stand")):
        model = ArticulationModel()
        model.load_urdf(robot_file("panda.urdf"), name=side)
        world.mount(model, in_frame=frame, shapes="none")
    joints = dict(zip([*LEFT, *RIGHT], [*HOME["left"][:7], *HOME["right"][:7]], strict=True))
    world.set_joints(joints, at=seconds(0))
    world.close_loop(of="right/panda_hand", on="left/panda_hand", dependents=RIGHT[1:], at=seconds(0))
    return world


def drawn(seed, count, reach_rad):
    """Random places of the eight drivers around home, each reachable along a straight way; with both arms there."""
    draw, found = np.random.default_rng(seed), [tuple(np.array(HOME[side]) for side in ("left", "right"))]
    while len(found) <= count:
        left, first = found[0][0].copy(), found[0][1][0] + draw.uniform(-reach_rad, reach_rad)
        left[:7] += draw.uniform(-reach_rad, reach_rad, 7)
        reached = arms().followed(found[-1], (left, first))
        if reached is not None:
            found.append(reached)
    return found[1:]


def set_drivers(world, left, right, at_s):
    world.set_joints({**dict(zip(LEFT, left[:7], strict=True)), RIGHT[0]: right[0]}, at=seconds(float(at_s)))


class TestTwoArmsThatHoldATray:
    @pytest.mark.filterwarnings("ignore::armillary.errors.LoopBranchUncertain")  # where a way is not the final one
    @settings(max_examples=8)
    @given(seed=st.integers(0, 2**32 - 1), reach_rad=st.sampled_from([0.02, 0.1, 0.2]), data=st.data())
    def test_are_where_a_fine_continuation_leads_in_any_order_of_samples(self, seed, reach_rad, data):
        ways, world = drawn(seed, 6, reach_rad), holding()
        stamps = np.cumsum(np.random.default_rng(seed).uniform(0.01, 2.0, len(ways))).round(6)
        for k in data.draw(st.permutations(range(len(ways)))):
            try:
                set_drivers(world, *ways[k], stamps[k])
            except errors.UnreachableLoop:  # on the way from another sample, while the one before has not come
                reject()
        for (_, right), stamp in zip(ways, stamps, strict=True):
            found = [world.joint(name, at=seconds(float(stamp))).value for name in RIGHT]
            np.testing.assert_allclose(found, right[:7], rtol=0, atol=SAME_RAD)

    @settings(max_examples=8)
    @given(seed=st.integers(0, 2**32 - 1), part=st.floats(0.05, 0.95))
    def test_hold_it_between_samples(self, seed, part):
        ways, world = drawn(seed, 2, 0.15), holding()
        for k, way in enumerate(ways, start=1):
            set_drivers(world, *way, k)
        middle = (ways[0][0] + part * (ways[1][0] - ways[0][0]), ways[0][1][0] + part * (ways[1][1][0] - ways[0][1][0]))
        _, expected = arms().followed(ways[0], middle)
        at = seconds(1.0 + part)
        np.testing.assert_allclose([world.joint(n, at=at).value for n in RIGHT], expected[:7], rtol=0, atol=1e-6)
        held = world.pose(of="right/panda_hand", in_frame="left/panda_hand", at=at).transform
        np.testing.assert_allclose(held.matrix, arms().left_T_right.homogeneous, atol=1e-9)
