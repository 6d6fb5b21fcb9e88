"""Clouds and scans are read from a log when they are wanted, with the points that were written."""

from __future__ import annotations

import random

import numpy as np
import pytest

import randomness
from armillary.errors import InvalidMessage, NoSuchTopic
from armillary.ros import clouds
from armillary.ros.messages import decode
from unit.ros.bags import BEGIN, ROS1, ROS2, Messages, write

POINTS = randomness.rng(5).normal(size=(50, 3)).astype(np.float32)
RANGES = (1.0, 2.0, 0.05, float("inf"), 3.0)


def tell(messages):
    yield "/points", BEGIN, messages.cloud(BEGIN, "lidar", POINTS)
    yield "/scan", BEGIN + 1, messages.scan(BEGIN, "laser", RANGES)
    yield "/points", BEGIN + 2, messages.cloud(BEGIN + 2, "lidar", POINTS[:0])


@pytest.mark.parametrize("kind", ["plain.bag", "mcap", "sqlite3"])
class TestTheCloudsOfALog:
    def test_have_the_points_that_were_written(self, tmp_path, kind):
        first, scan, empty = clouds(write(tmp_path, kind, tell))
        assert (first.header.frame, first.header.stamp) == ("lidar", BEGIN)
        assert np.array_equal(first.points, POINTS)
        assert len(empty.points) == 0
        angles = np.array([-1.0, -0.5, 1.0])
        ranges = np.array([1.0, 2.0, 3.0])  # what is too near, or nothing, is left out
        assert np.allclose(scan.points[:, 0], ranges * np.cos(angles), atol=1e-6)
        assert np.allclose(scan.points[:, 1], ranges * np.sin(angles), atol=1e-6)
        assert np.allclose(scan.stamps - BEGIN, [0, 1_000_000, 4_000_000], atol=10)

    def test_are_those_of_one_topic_and_time(self, tmp_path, kind):
        log = write(tmp_path, kind, tell)
        assert len(list(clouds(log, "/scan"))) == 1
        assert len(list(clouds(log, "/points", start=BEGIN + 1))) == 1
        with pytest.raises(NoSuchTopic, match="/points, /scan"):
            list(clouds(log, "/camera"))


class TestAMessage:
    @pytest.mark.parametrize("store", [ROS1, ROS2], ids=["ros1", "cdr"])
    @pytest.mark.parametrize("what", ["cloud", "scan", "odometry", "imu", "joints", "text", "clock", "located"])
    def test_is_refused_where_it_is_cut_off_or_made_up(self, store, what):
        is_ros1 = store is ROS1
        messages, pose = Messages(store, is_ros1=is_ros1), [0.0, 0, 0, 1, 0, 0, 0]
        made = {
            "cloud": lambda: messages.cloud(BEGIN, "a", POINTS[:3]),
            "scan": lambda: messages.scan(BEGIN, "a", RANGES),
            "odometry": lambda: messages.odometry(BEGIN, "a", "b", pose, np.zeros(6), np.ones(6)),
            "imu": lambda: messages.imu(BEGIN, "a", (1, 2, 3), 0.1),
            "joints": lambda: messages.joints(BEGIN, ["a", "b"], [1, 2]),
            "text": lambda: messages.text("hello"),
            "clock": lambda: messages.clock(BEGIN),
            "located": lambda: messages.located(BEGIN, "a", pose, np.ones(6)),
        }[what]()
        name, form = made.__msgtype__, "ros1" if is_ros1 else "cdr"
        data = bytes((store.serialize_ros1 if is_ros1 else store.serialize_cdr)(made, name))
        decode(name, form, data)
        chance = random.Random(f"{randomness.SEED} {what}")
        for _ in range(randomness.scaled(200, 5000)):
            at = chance.randrange(len(data))
            wrong = chance.choice([data[:at], data[:at] + chance.randbytes(4) + data[at + 4 :]])
            try:
                decode(name, form, wrong)
            except InvalidMessage:
                continue
