"""Samples of others come while somebody here asks for them; no answer is given from what has ended."""

from __future__ import annotations

import secrets
import threading
import time

import numpy as np
import pytest

from armillary import LATEST, Transform, World, seconds
from armillary.errors import AfterHistory, NotReceived, StampOutOfRange
from armillary.scene import AddJoints
from unit.share.kit import PATIENCE_S, eventually, shared_worlds

pytest.importorskip("zenoh")

MS = 1_000_000


def at_x(x):
    return Transform.from_translation((x, 0.0, 0.0))


def give(world, k, of="base", in_frame="map"):
    """The k-th sample: a millisecond later, a millimetre further."""
    world.set_pose(of=of, in_frame=in_frame, transform=at_x(0.001 * k), at=k * MS)


def x_of(world, at=LATEST, of="base", in_frame="map"):
    return float(world.pose(of=of, in_frame=in_frame, at=at).xyz[0])


def knows(world, of="base", in_frame="map"):
    """Whether it has heard, in time, that another process gives samples of the relation."""

    def has_heard():
        relations = [one for one in world.relations() if (one.of, one.in_frame) == (of, in_frame)]
        return any(
            world.store.has_ended("pose", world.store.relation_id(of, in_frame, one.source)) for one in relations
        )

    return eventually(has_heard)


def subscribed(world):
    return {channel.of or channel.joints for channel in world._share.subscribed()}


class TestAQuestion:
    def test_gets_samples_that_nobody_asked_for_before(self):
        with shared_worlds("robot", "planner") as (robot, planner):
            for k in range(100):
                give(robot, k)
            assert knows(planner)
            assert eventually(lambda: x_of(planner) == pytest.approx(0.099))
            assert x_of(planner, at=50 * MS) == pytest.approx(0.05)

    def test_gets_what_is_new_each_time(self):
        with shared_worlds("robot", "planner") as (robot, planner):
            give(robot, 0)
            assert knows(planner)
            for k in range(1, 20):
                give(robot, k)
                time.sleep(0.02)
                assert x_of(planner) == pytest.approx(0.001 * k)

    def test_brings_only_what_it_needs(self):
        with shared_worlds("robot", "planner") as (robot, planner):
            for k in range(3):
                give(robot, k)
                give(robot, k, of="cup", in_frame="hand")
            assert knows(planner)
            assert knows(planner, "cup", "hand")
            assert eventually(lambda: x_of(planner) == pytest.approx(0.002))
            relation = planner.store.relation_id("cup", "hand", "robot")
            assert planner.store.newest_sample("pose", relation) is None

    def test_over_several_relations_is_answered_at_once(self):
        with shared_worlds("robot", "planner") as (robot, planner):
            for k in range(5):
                give(robot, k)
                give(robot, k, of="arm", in_frame="base")
                give(robot, k, of="hand", in_frame="arm")
            assert knows(planner, "hand", "arm")
            assert eventually(lambda: planner.can_pose(of="hand", in_frame="map"))
            assert x_of(planner, of="hand") == pytest.approx(0.012)

    def test_for_many_instants_is_answered(self):
        with shared_worlds("robot", "planner") as (robot, planner):
            for k in range(50):
                give(robot, k)
            assert knows(planner)
            assert eventually(lambda: planner.can_pose(of="base", in_frame="map", at=49 * MS))
            found = planner.transforms(of="base", in_frame="map", at=np.arange(0, 50) * MS)
            assert np.allclose(found[:, 0, 3], 0.001 * np.arange(50))

    def test_of_a_joint_is_answered(self):
        with shared_worlds("robot", "planner") as (robot, planner):
            robot.apply([AddJoints({"hinge": "linear", "slide": "linear"})])
            for k in range(10):
                robot.set_joints({"hinge": 0.1 * k, "slide": 1.0}, at=k * MS)
            assert eventually(lambda: "hinge" in planner.joints() and planner.store.joint_sources("hinge"))
            assert planner.joint("hinge").value == pytest.approx(0.9)
            assert len(planner.joint_samples("slide").stamps) == 10

    def test_of_everything_has_what_was_not_asked_for(self):
        with shared_worlds("robot", "planner") as (robot, planner):
            for k in range(3):
                give(robot, k)
                give(robot, k, of="cup", in_frame="base")
            assert knows(planner, "cup", "base")
            assert knows(planner)
            assert eventually(lambda: {"base", "cup"} <= set(planner.snapshot(in_frame="map")))


class TestAWait:
    def test_is_answered_by_what_comes_later(self):
        with shared_worlds("robot", "planner") as (robot, planner):
            give(robot, 0)
            assert knows(planner)
            found = []
            waiting = threading.Thread(
                target=lambda: found.append(
                    planner.wait_for_pose(of="base", in_frame="map", at=5 * MS, timeout_s=PATIENCE_S)
                )
            )
            waiting.start()
            assert eventually(lambda: "base" in subscribed(planner))
            for k in range(1, 8):
                give(robot, k)
            waiting.join(PATIENCE_S)
            assert found[0].xyz[0] == pytest.approx(0.005)

    def test_outlasts_the_time_after_which_samples_are_released(self):
        with shared_worlds("robot", "planner", idle_s=0.1) as (robot, planner):
            give(robot, 0)
            assert knows(planner)
            found = []
            asked = {"of": "base", "in_frame": "map", "at": 5 * MS}
            waiting = threading.Thread(
                target=lambda: found.append(planner.wait_for_pose(**asked, timeout_s=PATIENCE_S))
            )
            waiting.start()
            assert eventually(lambda: "base" in subscribed(planner))
            time.sleep(1.5)  # doubted at least once
            give(robot, 9)
            waiting.join(PATIENCE_S)
            assert found[0].xyz[0] == pytest.approx(0.005)


class TestSamplesThatNobodyAsksForAnyMore:
    def test_are_released(self):
        with shared_worlds("robot", "planner", idle_s=0.05) as (robot, planner):
            give(robot, 0)
            assert knows(planner)
            planner.wait_for_pose(of="base", in_frame="map", timeout_s=PATIENCE_S)
            assert eventually(lambda: "base" in subscribed(planner))
            assert eventually(lambda: subscribed(planner) == set())

    def test_are_answered_inside_of_what_came_and_fetched_after_it(self):
        with shared_worlds("robot", "planner", idle_s=0.05) as (robot, planner):
            for k in range(10):
                give(robot, k)
            assert knows(planner)
            planner.wait_for_pose(of="base", in_frame="map", at=9 * MS, timeout_s=PATIENCE_S)
            assert eventually(lambda: subscribed(planner) == set())
            for k in range(10, 30):
                give(robot, k)
            time.sleep(0.02)
            assert x_of(planner, at=5 * MS) == pytest.approx(0.005)
            assert x_of(planner) == pytest.approx(0.029)
            assert x_of(planner, at=15 * MS) == pytest.approx(0.015)

    def test_leave_a_gap_where_their_giver_has_forgotten_them(self):
        name = f"test-{secrets.token_hex(6)}"
        with World("robot", history=seconds(0.05)) as robot, World("planner") as planner:
            robot.share(name)
            share = planner.share(name, idle_s=0.05)
            assert share.wait_for_peers(1, PATIENCE_S)
            for k in range(10):
                give(robot, k)
            assert knows(planner)
            assert eventually(lambda: x_of(planner) == pytest.approx(0.009))
            assert eventually(
                lambda: planner.store.has_ended("pose", planner.store.relation_id("base", "map", "robot"))
            )
            for k in range(10, 1000):
                give(robot, k)
            time.sleep(0.05)
            assert x_of(planner) == pytest.approx(0.999)
            assert x_of(planner, at=5 * MS) == pytest.approx(0.005)
            with pytest.raises(AfterHistory):
                planner.pose(of="base", in_frame="map", at=500 * MS)
            held = planner.pose(of="base", in_frame="map", at=500 * MS, outside="hold")
            assert held.xyz[0] == pytest.approx(0.009)


class TestSamplesWhoseGiverHasGone:
    def test_are_not_taken_for_the_newest(self):
        with shared_worlds("robot", "planner", "other") as (robot, planner, _):
            give(robot, 0)
            give(robot, 1)
            assert knows(planner)
            assert eventually(lambda: x_of(planner) == pytest.approx(0.001))
            robot._share._session.close()  # as if it were killed: it does not say goodbye
            assert eventually(lambda: not all(peer.is_alive for peer in planner.peers()))
            with pytest.raises(NotReceived, match=r"world\.peers"):
                planner.pose(of="base", in_frame="map")
            assert x_of(planner, at=1 * MS) == pytest.approx(0.001)

    def test_are_all_where_it_left_in_good_order(self):
        with shared_worlds("robot", "planner") as (robot, planner):
            give(robot, 0)
            give(robot, 1)
            assert knows(planner)
            planner.wait_for_pose(of="base", in_frame="map", at=1 * MS, timeout_s=PATIENCE_S)
            robot.close()
            assert eventually(lambda: not planner.peers()[0].is_alive)
            assert x_of(planner) == pytest.approx(0.001)


class TestRivals:
    def test_of_whom_one_is_not_received_are_not_mistaken_for_one(self):
        with shared_worlds("robot", "planner") as (robot, planner):
            robot.set_pose(of="cup", in_frame="map", transform=at_x(5.0), at=seconds(1), source="camera")
            assert knows(planner, "cup")
            planner.set_pose(of="cup", in_frame="map", transform=at_x(1.0), at=seconds(1))
            assert eventually(
                lambda: planner.store.has_ended("pose", planner.store.relation_id("cup", "map", "camera"))
            )
            assert not planner.can_pose(of="cup", in_frame="map", at=seconds(1))


class Ride:
    """A robot that goes one metre a second, and a planner that checks every answer about it."""

    def __init__(self, robot, planner):
        self.robot, self.planner = robot, planner
        self.given, self.answers, self.wrong = 0, 0, []
        self.stop = threading.Event()

    def drive(self):
        while not self.stop.is_set():
            self.given += 1
            give(self.robot, self.given)
            if self.given % 5 == 0:
                time.sleep(0.002)

    def ask(self, pauses_s, past):
        for pause_s, share in zip(pauses_s, past, strict=True):
            if self.stop.wait(pause_s):
                return
            before = self.given
            at = int(share * before) * MS
            try:
                newest, then = self.planner.pose(of="base", in_frame="map"), x_of(self.planner, at=at)
            except StampOutOfRange:
                continue
            self.answers += 1
            is_right = abs(newest.xyz[0] - 1e-9 * newest.stamp) < 1e-6 and abs(then - 1e-9 * at) < 1e-6
            if not is_right or 0.001 * before - newest.xyz[0] > 1.0:
                self.wrong.append((newest, at, then, before))


class TestARaceOfQuestionsAndSubscriptions:
    def test_gives_no_wrong_answer(self):
        generator = np.random.default_rng(5)
        with shared_worlds("robot", "planner", idle_s=0.02) as (robot, planner):
            give(robot, 0)
            assert knows(planner)
            ride = Ride(robot, planner)
            asked = [(generator.uniform(0, most_s, 2000), generator.uniform(0, 1, 2000)) for most_s in (0.005, 0.08)]
            threads = [threading.Thread(target=ride.ask, args=one) for one in asked]
            threads.append(threading.Thread(target=ride.drive))
            for thread in threads:
                thread.start()
            time.sleep(2.5)
            ride.stop.set()
            for thread in threads:
                thread.join(PATIENCE_S)
            assert ride.wrong == []
            assert ride.answers > 50
