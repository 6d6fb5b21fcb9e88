"""Worlds that share a name hold the same structure, and the samples that they take."""

from __future__ import annotations

import secrets

import numpy as np
import pytest

from armillary import Box, PointCloud, Transform, World, seconds
from armillary.errors import ClocksDiffer, InvalidArgument, NotShared
from armillary.scene import AddJoints
from unit.share.kit import PATIENCE_S, eventually, in_step, shared_worlds

pytest.importorskip("zenoh")

X = [Transform.from_xyz_rpy(xyz=(float(k), 0, 0), rpy=(0, 0, 0)) for k in range(10)]


def drive(world, source="robot", first=0):
    for k in range(first, 10):
        world.set_pose(of="base", in_frame="map", transform=X[k], at=seconds(k), source=source)


class TestAPoseOfAnotherProcess:
    def test_is_answered_here(self):
        with shared_worlds("robot", "planner") as (robot, planner):
            robot.fix(of="camera", in_frame="base", transform=X[1])
            drive(robot)
            pose = planner.wait_for_pose(of="camera", in_frame="map", at=seconds(4.5), timeout_s=PATIENCE_S)
            assert pose.xyz.tolist() == [5.5, 0.0, 0.0]

    def test_has_its_covariance(self):
        covariance = np.diag([1.0, 2, 3, 4, 5, 6])
        with shared_worlds("robot", "planner") as (robot, planner):
            robot.set_pose(of="base", in_frame="map", transform=X[3], at=seconds(1), covariance=covariance)
            robot.set_pose(of="base", in_frame="map", transform=X[4], at=seconds(2))
            pose = planner.wait_for_pose(of="base", in_frame="map", at=seconds(1), timeout_s=PATIENCE_S)
            assert np.array_equal(pose.covariance, covariance)

    def test_of_before_it_came_is_answered_too(self):
        with World("robot") as robot, World("late") as late:
            name = secrets.token_hex(6)
            robot.share(name)
            drive(robot)
            assert late.share(name).wait_for_peers(1, PATIENCE_S)
            assert late.wait_for_pose(of="base", in_frame="map", at=seconds(2.5), timeout_s=PATIENCE_S).xyz[0] == 2.5

    def test_is_there_for_who_comes_after_its_giver_has_gone(self):
        with shared_worlds("robot", "keeper") as (robot, keeper), World("late") as late:
            drive(robot)
            keeper.wait_for_pose(of="base", in_frame="map", at=seconds(9), timeout_s=PATIENCE_S)
            share = late.share(keeper._share.name)
            robot.close()
            assert share.wait_for_peers(1, PATIENCE_S)
            assert late.wait_for_pose(of="base", in_frame="map", at=seconds(2.5), timeout_s=PATIENCE_S).xyz[0] == 2.5


class TestTwistsAndJoints:
    def test_of_another_process_are_known_here(self):
        with shared_worlds("robot", "planner") as (robot, planner):
            robot.add_frame("map", "base")
            motion = {"linear": (1, 2, 3), "angular": (0.1, 0, 0), "expressed_in": "base"}
            robot.set_twist(of="base", relative_to="map", at=seconds(1), **motion)
            asked = {"of": "base", "relative_to": "map", "expressed_in": "base", "at": seconds(1)}
            found = planner.wait_for_twist(**asked, timeout_s=PATIENCE_S)
            assert found.linear.tolist() == [1, 2, 3]
            assert found.method == "measured"

    def test_of_joints_have_their_velocities(self):
        with shared_worlds("robot", "planner") as (robot, planner):
            robot.apply([AddJoints({"hinge": "linear"})])
            assert eventually(lambda: "hinge" in planner.joints())
            robot.set_joints({"hinge": 0.5}, velocities={"hinge": 2.0}, at=seconds(1))
            assert eventually(lambda: len(planner.joint_samples("hinge").stamps) == 1)
            state = planner.joint("hinge", at=seconds(1))
            assert (state.value, state.velocity) == (0.5, 2.0)


class TestTheSceneOfAnotherProcess:
    def test_has_its_shapes_and_attributes(self):
        with shared_worlds("robot", "planner") as (robot, planner):
            scene = robot.scene
            cup = scene.add_transform(parent=scene.root, transform=X[2], attributes={"name": "cup"}, at=seconds(1))
            scene.add_geometry(parent=cup, shape=Box((1, 2, 3)), at=seconds(1))
            cloud = PointCloud(np.arange(30.0).reshape(10, 3))
            scene.add_geometry(parent=cup, shape=cloud, at=seconds(1), attributes={"name": "cloud"})
            assert in_step([robot, planner])
            (found,) = planner.scene.find({"name": "cloud"})
            assert np.array_equal(planner.scene.geometry(found).points, cloud.points)

    def test_moves_with_it(self):
        with shared_worlds("robot", "planner") as (robot, planner):
            cup = robot.scene.add_transform(parent=robot.scene.root, transform=X[2], at=seconds(1))
            robot.scene.set_transform(cup, X[7], at=seconds(2))
            assert eventually(lambda: planner.can_pose(of=cup, in_frame="map", at=seconds(2)))
            assert planner.pose(of=cup, in_frame="map", at=seconds(2)).xyz[0] == 7.0

    def test_follows_undo(self):
        with shared_worlds("robot", "planner") as (robot, planner):
            cup = robot.scene.add_group(parent=robot.scene.root)
            assert eventually(lambda: cup in planner.scene.find({}))
            robot.undo()
            assert eventually(lambda: cup not in planner.scene.find({}))


class TestAShare:
    def test_that_both_sides_edit_ends_with_equal_worlds(self):
        with shared_worlds("a", "b", "c") as worlds:
            for k in range(60):
                world = worlds[k % 3]
                world.fix(of=f"frame {k % 7}", in_frame="map", transform=X[k % 10])
                world.scene.add_group(parent=world.scene.root, attributes={"k": k})
            assert in_step(worlds)
            assert len(worlds[0].scene.find({})) >= 60

    def test_acknowledges_what_another_peer_holds(self):
        with shared_worlds("a", "b") as (one, other):
            one.fix(of="camera", in_frame="base", transform=X[1])
            assert one._share.flush(PATIENCE_S)
            assert "camera" in other.frames()

    def test_is_left_by_closing_the_world(self):
        with shared_worlds("a", "b") as (one, other):
            one.close()
            assert eventually(lambda: not other.peers()[0].is_alive)

    def test_says_who_is_there(self):
        with shared_worlds("a", "b") as (one, _):
            (peer,) = one.peers()
            assert (peer.name, peer.is_alive, peer.is_in_step) == ("b", True, True)
            assert peer.round_trip_s > 0

    def test_takes_the_samples_that_were_chosen(self):
        with shared_worlds("a", "b", samples=lambda channel: channel.source == "odometry") as (one, other):
            drive(one, source="odometry")
            one.set_pose(of="cup", in_frame="map", transform=X[1], at=seconds(1), source="camera")
            other.wait_for_pose(of="base", in_frame="map", at=seconds(1), timeout_s=PATIENCE_S)
            assert "cup" in other.frames()
            assert not other.can_pose(of="cup", in_frame="map", at=seconds(1))


class TestAWorld:
    def test_is_shared_once_at_a_time(self):
        with shared_worlds("a", "b") as (one, _), pytest.raises(InvalidArgument, match=r"world\.leave\(\)"):
            one.share("another")

    def test_that_is_not_shared_has_no_peers(self, world):
        with pytest.raises(NotShared, match=r"world\.share"):
            world.peers()

    def test_takes_nothing_of_a_world_with_another_kind_of_clock(self):
        reported = []
        with World("robot") as robot, World("simulated", clock=lambda: 5) as simulated:
            simulated.on_error = reported.append
            name = secrets.token_hex(6)
            robot.fix(of="camera", in_frame="base", transform=X[1])
            robot.share(name)
            simulated.share(name)
            assert eventually(lambda: any(isinstance(error, ClocksDiffer) for error in reported))
            assert "camera" not in simulated.frames()
