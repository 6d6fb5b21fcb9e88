"""Blocking and awaiting, time-outs, and what is refused at the call."""

from __future__ import annotations

import asyncio
import math
import threading
import time

import pytest

from armillary import World, seconds
from armillary._core import ReadyQueue
from armillary.errors import BeforeHistory, InvalidArgument, InvalidName, InvalidStamp, WaitTimeout, WorldClosed
from unit.kit import PROMPT_S, WAIT_S, Mailbox, drain, drive, moved, x_of

ROBOT = {"of": "robot", "in_frame": "map"}


class CountingQueue(ReadyQueue):
    """Knows how often the dispatcher looked into it."""

    pops = 0

    def pop(self, timeout_s):
        self.pops += 1
        return super().pop(timeout_s)


def fail(*_):
    raise KeyError("a fault of the callback")


class TestATimeout:
    @pytest.mark.parametrize("timeout_s", [math.inf, 1e10, 1e300])
    def test_of_ages_is_waited_for_without_work(self, world, mailbox, timeout_s):
        queue = world.store.dispatcher._queue = CountingQueue()
        world.on_pose(mailbox, **ROBOT, timeout_s=timeout_s)
        drain(world)
        time.sleep(PROMPT_S)
        assert queue.pops < 10
        drive(world, 1)
        mailbox.wait()

    @pytest.mark.parametrize("timeout_s", [math.nan, "1", [1.0], 1j])
    def test_that_is_no_time_is_refused_at_the_call(self, world, mailbox, timeout_s):
        for call in (
            lambda: world.on_pose(mailbox, **ROBOT, timeout_s=timeout_s),
            lambda: world.wait_for_pose(**ROBOT, timeout_s=timeout_s),
            lambda: world.stamped_queue(mailbox, in_frames=["map"], timeout_s=timeout_s),
        ):
            with pytest.raises(InvalidArgument, match="timeout_s"):
                call()
        drain(world)
        assert world.store.waits_pending() == 0
        assert world.store.dispatcher._waits == {}


class TestWrongUse:
    @pytest.mark.parametrize(
        ("options", "kind"),
        [
            ({"at": 1.5}, InvalidStamp),
            ({"at": None}, TypeError),
            ({"of": ""}, InvalidName),
            ({"in_frame": 5}, InvalidName),
            ({"outside": "guess"}, InvalidArgument),
            ({"policy": "any"}, InvalidArgument),
            ({"interpolation": "cubic"}, InvalidArgument),
            ({"of_at": 5}, InvalidArgument),
            ({"fixed_frame": "map"}, InvalidArgument),
            ({"fixed_frame": "/map", "of_at": 5}, InvalidName),
        ],
    )
    def test_fails_at_the_call(self, world, options, kind):
        options = ROBOT | options
        with pytest.raises(kind):
            world.on_pose(fail, **options)
        with pytest.raises(kind):
            world.wait_for_pose(**options, timeout_s=0)
        with pytest.raises(kind):
            asyncio.run(world.pose_when_ready(**options, timeout_s=0))
        assert world.store.waits_pending() == 0

    @pytest.mark.parametrize("callback", [None, 5, "print"])
    def test_with_something_that_cannot_be_called_fails_at_the_call(self, world, callback):
        with pytest.raises(InvalidArgument, match="callback"):
            world.on_pose(callback, **ROBOT)
        with pytest.raises(InvalidArgument, match="callback"):
            world.stamped_queue(callback, in_frames=["map"])

    @pytest.mark.parametrize("callback", [5, "print"])
    def test_with_an_on_failure_that_cannot_be_called_fails_at_the_call(self, world, callback):
        with pytest.raises(InvalidArgument, match="on_failure"):
            world.on_pose(fail, **ROBOT, on_failure=callback)
        with pytest.raises(InvalidArgument, match="on_drop"):
            world.stamped_queue(fail, in_frames=["map"], on_drop=callback)


class TestAwaiting:
    def test_gives_the_pose(self, world):
        async def main():
            asyncio.get_running_loop().call_later(0.01, drive, world, 1)
            return await world.pose_when_ready(**ROBOT, timeout_s=WAIT_S)

        assert x_of(asyncio.run(main())) == 1.0

    def test_gives_many_at_once(self):
        async def main(world):
            answers = [world.pose_when_ready(**ROBOT, at=seconds(t), timeout_s=WAIT_S) for t in range(50)]
            asyncio.get_running_loop().call_later(0.01, drive, world, 0, 49)
            return await asyncio.gather(*answers)

        with World(history=seconds(100)) as long:
            assert [x_of(pose) for pose in asyncio.run(main(long))] == pytest.approx(list(range(50)))

    @pytest.mark.parametrize(
        ("options", "kind"),
        [({"timeout_s": PROMPT_S}, WaitTimeout), ({"at": seconds(-99), "of": "cup"}, BeforeHistory)],
    )
    def test_raises_the_reason(self, world, options, kind):
        drive(world, 0, 1, of="cup")
        with pytest.raises(kind):
            asyncio.run(world.pose_when_ready(**(ROBOT | options)))

    def test_that_is_cancelled_is_removed(self, world):
        async def main():
            task = asyncio.create_task(world.pose_when_ready(**ROBOT))
            await asyncio.sleep(PROMPT_S)
            task.cancel()
            await asyncio.wait([task])
            return task.cancelled()

        assert asyncio.run(main())
        drain(world)
        assert world.store.waits_pending() == 0

    def test_ends_with_the_world(self, world):
        async def main():
            asyncio.get_running_loop().call_later(PROMPT_S, world.close)
            await world.pose_when_ready(**ROBOT)

        with pytest.raises(WorldClosed):
            asyncio.run(main())


class TestBlocking:
    def test_gives_the_pose_when_it_comes(self, world):
        threading.Timer(0.01, drive, args=(world, 1, 2)).start()
        assert x_of(world.wait_for_pose(**ROBOT, at=seconds(1.5), timeout_s=WAIT_S)) == 1.5

    def test_gives_what_is_known_without_time(self, world):
        drive(world, 1)
        assert x_of(world.wait_for_pose(**ROBOT, timeout_s=0)) == 1.0
        assert x_of(world.wait_for_pose(**ROBOT, timeout_s=-5)) == 1.0

    def test_without_end_may_be_given_as_infinity(self, world):
        threading.Timer(0.01, drive, args=(world, 1)).start()
        assert x_of(world.wait_for_pose(**ROBOT, timeout_s=math.inf)) == 1.0

    def test_names_what_was_missing(self, world):
        world.fix(of="robot", in_frame="odom", transform=moved(1))
        world.add_frame("map")
        with pytest.raises(WaitTimeout, match="Set the pose of 'odom' in 'map'"):
            world.wait_for_pose(**ROBOT, timeout_s=PROMPT_S)

    def test_leaves_nothing_behind(self, world):
        for _ in range(20):
            with pytest.raises(WaitTimeout):
                world.wait_for_pose(**ROBOT, timeout_s=0)
        assert world.store.waits_pending() == 0


class EmptyMailbox(Mailbox):
    """Can be called, and counts as false: a container that is empty."""

    def __len__(self) -> int:
        return 0


class TestACallbackThatIsFalse:
    def test_gets_a_failure(self, world):
        box = EmptyMailbox()
        world.on_pose(fail, **ROBOT, on_failure=box, timeout_s=0)
        assert isinstance(box.wait()[0], WaitTimeout)

    def test_gets_errors(self, world):
        world.on_error = EmptyMailbox()
        drive(world, 1)
        world.on_pose(fail, **ROBOT)
        assert isinstance(world.on_error.wait()[0], KeyError)

    def test_gets_what_is_dropped(self, world):
        box = EmptyMailbox()
        world.stamped_queue(fail, in_frames=["map"], timeout_s=0, on_drop=box).put("scan", frame="robot", at=0)
        assert box.wait()[0][0] == "scan"
