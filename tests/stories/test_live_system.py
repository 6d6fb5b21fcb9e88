"""Odometry and detections in threads, a planner in asyncio, a callback, and a filter: one world serves all of them."""

from __future__ import annotations

import asyncio
import threading

import numpy as np
import pytest

from armillary import World
from armillary.errors import WaitTimeout
from unit.kit import WAIT_S, Mailbox, moved

VARIANCES = [1e-4] * 6
LATE_NS = 30_000_000


class Robot:
    """Writes odometry at 200 Hz, and what a camera sees of a cup, 30 ms late, at 50 Hz."""

    def __init__(self, world: World) -> None:
        self.world, self.is_over = world, threading.Event()
        self.threads = [threading.Thread(target=work) for work in (self.odometry, self.detections)]

    def odometry(self) -> None:
        while not self.is_over.wait(0.005):
            self.world.set_pose(
                of="base", in_frame="odom", transform=moved(1), at=self.world.now(), covariance=VARIANCES
            )

    def detections(self) -> None:
        while not self.is_over.wait(0.02):
            at = self.world.now() - LATE_NS
            self.world.set_pose(of="cup", in_frame="camera", transform=moved(0, 1), at=at, covariance=VARIANCES)

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        self.world.wait_for_pose(of="base", in_frame="odom", timeout_s=WAIT_S)
        return self

    def __exit__(self, *_: object) -> None:
        self.is_over.set()
        for thread in self.threads:
            thread.join()


@pytest.fixture
def live():
    with World("robot") as world:
        world.fix(of="camera", in_frame="base", transform=moved(0.2))
        with Robot(world):
            yield world


async def planned(world: World, rounds: int):
    return [
        await world.pose_when_ready(of="camera", in_frame="odom", at=world.now(), timeout_s=WAIT_S)
        for _ in range(rounds)
    ]


class TestALiveSystem:
    def test_answers_a_planner_at_the_instants_it_asks_for(self, live):
        poses = asyncio.run(planned(live, 20))
        assert [pose.stamp for pose in poses] == sorted(pose.stamp for pose in poses)
        np.testing.assert_allclose(poses[-1].xyz, [1.2, 0, 0])

    def test_places_late_images_where_the_camera_was(self, live):
        mailbox = Mailbox()
        live.on_pose(mailbox, of="cup", in_frame="odom", timeout_s=WAIT_S)
        (cup,) = mailbox.wait()
        np.testing.assert_allclose(cup.xyz, [1.2, 1, 0])

    def test_filters_what_the_camera_sees(self, live):
        live.wait_for_pose(of="cup", in_frame="odom", timeout_s=WAIT_S)
        found = live.wait_for_pose(of="cup", in_frame="odom", policy="filter", timeout_s=WAIT_S)
        np.testing.assert_allclose(found.xyz, [1.2, 1, 0], atol=1e-6)

    def test_ends_a_wait_for_what_never_comes(self, live):
        with pytest.raises(WaitTimeout):
            live.wait_for_pose(of="cup", in_frame="odom", at=live.now() + 10**12, timeout_s=0.05)
