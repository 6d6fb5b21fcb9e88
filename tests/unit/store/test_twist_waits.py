"""Waiting for motions: blocking, called back, awaited."""

from __future__ import annotations

import asyncio
import threading

import numpy as np
import pytest

from armillary import World, seconds
from armillary.errors import (
    AfterHistory,
    InvalidArgument,
    InvalidName,
    NotConnected,
    UnknownFrame,
    WaitTimeout,
    WorldClosed,
)
from armillary.relations import Twist
from unit.kit import PROMPT_S, WAIT_S, Mailbox, drive, moved

ROBOT = {"of": "robot", "relative_to": "map"}
FORWARD = {"linear": (1.0, 0.0, 0.0), "angular": (0.0, 0.0, 0.0)}


@pytest.fixture
def world():
    with World() as world:
        yield world


def set_twist_at(world, at, **more):
    world.set_twist(**ROBOT | {"expressed_in": "robot", "at": seconds(at)} | FORWARD | more)


class TestBlocking:
    def test_ends_with_the_answer(self, world):
        drive(world, 0)
        later = threading.Timer(PROMPT_S, drive, (world, 1))
        later.start()
        twist = world.wait_for_twist(**ROBOT, at=seconds(0.5), timeout_s=WAIT_S)
        later.join()
        assert type(twist) is Twist
        assert twist == world.twist(**ROBOT, at=seconds(0.5))
        assert (twist.method, twist.stamp) == ("differentiated", seconds(0.5))

    def test_ends_with_the_reason(self, world):
        drive(world, 0)
        with pytest.raises(
            WaitTimeout, match=r"The twist of 'robot' relative to 'map' did not become known.*0.5"
        ) as over:
            world.wait_for_twist(**ROBOT, at=seconds(0.5), timeout_s=0)
        assert isinstance(over.value.reason, LookupError)
        assert (over.value.of, over.value.in_frame, over.value.what) == ("robot", "map", "twist")

    def test_ends_when_nothing_can_come(self, world):
        drive(world, 0, 1, 100)
        with pytest.raises(LookupError) as hopeless:
            world.wait_for_twist(**ROBOT, at=seconds(0.5))
        assert not isinstance(hopeless.value, WaitTimeout)

    def test_is_refused_at_the_call_what_is_wrong_in_itself(self, world):
        world.add_body("cart")
        with pytest.raises(InvalidName):
            world.wait_for_twist(of="/robot", relative_to="map")
        with pytest.raises(InvalidArgument, match="at least 2 ns"):
            world.wait_for_twist(**ROBOT, window=1)
        with pytest.raises(InvalidArgument, match="a body without a frame of that name"):
            world.on_twist(print, of="robot", relative_to="cart")

    def test_ends_with_the_world(self, world):
        later = threading.Timer(PROMPT_S, world.close)
        later.start()
        with pytest.raises(WorldClosed):
            world.wait_for_twist(**ROBOT)
        later.join()


class TestACallback:
    def test_comes_once_when_poses_make_it_known(self, world):
        mailbox = Mailbox()
        world.on_twist(mailbox, **ROBOT)
        drive(world, 0, 1, 2)
        (twist,) = mailbox.wait()
        assert twist.linear == pytest.approx([1, 0, 0])

    @pytest.mark.parametrize("axes", ["robot", "map"])
    def test_comes_when_a_measurement_makes_it_known(self, world, axes):
        mailbox = Mailbox()
        drive(world, 0, 2, 9)
        world.on_twist(mailbox, **ROBOT | {"of": "arm"}, expressed_in=axes, at=seconds(1))
        world.fix(of="arm", in_frame="hand", transform=moved(1))
        set_twist_at(world, 0, of="hand", expressed_in="hand")
        set_twist_at(world, 2, of="hand", expressed_in="hand")
        world.fix(of="hand", in_frame="robot", transform=moved(1))
        (twist,) = mailbox.wait()
        assert twist == world.twist(**ROBOT | {"of": "arm"}, expressed_in=axes, at=seconds(1))

    def test_comes_when_a_second_sample_does(self, world):
        mailbox = Mailbox()
        drive(world, 1)
        world.on_twist(mailbox, **ROBOT, at=seconds(1))
        drive(world, 2)
        assert mailbox.wait()[0].stamp == seconds(1)

    def test_comes_for_a_body_that_is_declared_later(self, world):
        mailbox = Mailbox()
        drive(world, 1, 2)
        world.on_twist(mailbox, of="robot", relative_to="ground", expressed_in="map", at=seconds(1))
        world.add_body("ground")
        world.add_body("ground", frames=["map"])
        assert mailbox.wait()[0].reference_body == "ground"

    def test_of_poses_alone_ignores_measurements(self, world):
        mailbox, failures = Mailbox(), Mailbox()
        world.on_twist(mailbox, **ROBOT, at=seconds(1), measured=False, on_failure=failures, timeout_s=PROMPT_S)
        drive(world, 1)
        set_twist_at(world, 1)
        (error,) = failures.wait()
        assert isinstance(error, WaitTimeout)
        assert mailbox.letters == []

    def test_can_be_cancelled(self, world):
        mailbox = Mailbox()
        handle = world.on_twist(mailbox, **ROBOT)
        assert handle.cancel()
        drive(world, 1, 2)
        assert world.store.waits_pending() == 0
        assert mailbox.letters == []


class TestAwaiting:
    def test_gives_the_twist(self, world):
        async def both():
            waiting = asyncio.ensure_future(world.twist_when_ready(**ROBOT, timeout_s=WAIT_S))
            await asyncio.sleep(0)
            set_twist_at(world, 1)
            drive(world, 1)
            return await waiting

        twist = asyncio.run(both())
        np.testing.assert_allclose(twist.linear, (1, 0, 0))
        assert twist.method == "measured"

    def test_raises_what_ends_it(self, world):
        with pytest.raises(WaitTimeout) as over:
            asyncio.run(world.twist_when_ready(**ROBOT, timeout_s=0))
        assert isinstance(over.value.reason, (UnknownFrame, NotConnected, AfterHistory))
