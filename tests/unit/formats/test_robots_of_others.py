"""Every robot of example-robot-data: read as pinocchio reads it, or refused for a true reason."""

from __future__ import annotations

import numpy as np
import pinocchio
import pytest

from armillary import errors
from armillary.formats import read_urdf, urdf_losses, write_urdf
from unit.formats.kit import robot_files
from unit.formats.likeness import differences
from unit.formats.motions import link_poses, positions_of

CLOSE = 1e-9
BROKEN = {
    "alex_psyonic_hands.urdf": "it follows the joint 'index_q1', which is not there",
    "ur3.urdf": "it has no link",
}
FILES = robot_files()
SOUND = [path for path in FILES if path.name not in BROKEN]
each_sound_robot = pytest.mark.parametrize("path", SOUND, ids=lambda path: path.name)
MOVING = {"revolute", "continuous", "prismatic"}


# Here the leading joint comes after the one that follows, and pinocchio can read them only as free.
LEADER_LAST = {"romeo.urdf", "talos_full_v2.urdf", "talos_full_v2_box.urdf"}


def peer_of(path):
    return pinocchio.buildModelFromUrdf(str(path), mimic=path.name not in LEADER_LAST)


def free_joints(robot, path):
    moving = [joint for joint in robot.joints if joint.kind in MOVING]
    return moving if path.name in LEADER_LAST else [joint for joint in moving if joint.mimic is None]


class TestTheCollection:
    def test_is_there(self):
        assert len(FILES) > 60
        assert {path.name for path in FILES} >= set(BROKEN)

    @pytest.mark.parametrize("path", [path for path in FILES if path.name in BROKEN], ids=lambda path: path.name)
    def test_has_robots_that_are_broken(self, path):
        with pytest.raises(errors.InvalidRobotFile, match=BROKEN[path.name]):
            read_urdf(path)


@each_sound_robot
class TestEachRobot:
    def test_has_the_joints_that_pinocchio_finds(self, path):
        robot, peer = read_urdf(path), peer_of(path)
        moving = {joint.name for joint in robot.joints if joint.kind != "fixed"}
        assert moving == set(peer.names) - {"universe"}
        assert {link.name for link in robot.links} == {
            frame.name for frame in peer.frames if frame.type == pinocchio.FrameType.BODY
        } - {"universe"}

    def test_has_the_limits_that_pinocchio_finds(self, path):
        robot, peer = read_urdf(path), peer_of(path)
        for joint in [joint for joint in free_joints(robot, path) if joint.kind != "continuous"]:
            place, speed = (getattr(peer.joints[peer.getJointId(joint.name)], name) for name in ("idx_q", "idx_v"))
            bounds = peer.lowerPositionLimit[place], peer.upperPositionLimit[place]
            assert (joint.limits.lower, joint.limits.upper) == pytest.approx(bounds, abs=CLOSE)
            assert joint.limits.velocity == pytest.approx(peer.velocityLimit[speed])
            assert joint.limits.effort == pytest.approx(peer.effortLimit[speed])

    def test_moves_as_it_does_in_pinocchio(self, path):
        robot, peer = read_urdf(path), peer_of(path)
        random = np.random.default_rng(7)
        drawn = {joint.name: float(random.uniform(-1.5, 1.5)) for joint in robot.joints if joint.mimic is None}
        data, joints = peer.createData(), free_joints(robot, path)
        pinocchio.framesForwardKinematics(peer, data, configuration(peer, joints, positions_of(robot, drawn)))
        root_T_link = link_poses(robot, drawn)
        for link in robot.links:
            expected = data.oMf[peer.getFrameId(link.name, pinocchio.FrameType.BODY)].homogeneous
            np.testing.assert_allclose(root_T_link[link.name].matrix, expected, atol=CLOSE, err_msg=link.name)

    def test_is_the_same_when_it_is_written_and_read(self, path):
        robot = read_urdf(path)
        assert urdf_losses(robot) == ()
        again = read_urdf(write_urdf(robot), packages={"example-robot-data": path.parents[3]})
        assert differences(robot, again) == []


def configuration(peer, joints, positions):
    q = pinocchio.neutral(peer)
    for joint in joints:
        place = peer.joints[peer.getJointId(joint.name)].idx_q
        angle = positions[joint.name]
        if joint.kind == "continuous":
            q[place : place + 2] = np.cos(angle), np.sin(angle)
        else:
            q[place] = angle
    return q
