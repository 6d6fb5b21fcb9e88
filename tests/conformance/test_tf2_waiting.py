"""Rows W1 to W15 of the tf2 conformance table: waiting for a pose that is not there yet."""

import asyncio
import queue
import threading
import time

import numpy as np
import pytest

import armillary
from armillary import LATEST, World, errors, seconds
from conformance.scenes import IDENTITY, set_along_x, x_of

PATIENCE_S = 10.0  # for what must come; a failure costs this long, a success nothing
A_MOMENT_S = 0.05  # for what must not come while somebody waits

# Where c was at 1 s, seen from b at 5 s, through a, which did not move.
TWO_INSTANTS = {"of": "c", "of_at": seconds(1), "in_frame": "b", "at": seconds(5), "fixed_frame": "a"}


class Inbox:
    """A callback that keeps what it was given, for the thread that waits."""

    def __init__(self):
        self._letters = queue.SimpleQueue()

    def __call__(self, *letter):
        self._letters.put(letter)

    def next(self):
        return self._letters.get(timeout=PATIENCE_S)

    def take(self, count):
        return [self.next()[0] for _ in range(count)]

    def is_empty(self, world):
        """Asked after everything that the world's dispatcher had in hand was delivered."""
        done = Inbox()
        world.on_pose(done, of="anchor", in_frame="anchor")
        done.next()
        return self._letters.empty()


@pytest.fixture
def anchored(world):
    """A world with a frame that can always be asked for."""
    world.add_frame("anchor")
    return world


def jump_to(world, at_s):
    """Two samples of b in a, in one call, that leave everything before them behind."""
    stamps = np.array([seconds(at_s), seconds(at_s + 1)])
    rows = np.tile([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], (2, 1))
    world.set_poses(of="b", in_frame="a", transforms=rows, at=stamps)


def from_another_thread(action):
    thread = threading.Thread(target=action)
    thread.start()
    return thread


class TestACallback:
    def test_w1_comes_also_for_what_is_known_already(self, world):
        arrived = Inbox()
        set_along_x(world, of="b", in_frame="a", at_s=[1])
        world.on_pose(arrived, of="b", in_frame="a", at=seconds(1))
        assert arrived.next()[0].stamp == seconds(1)

    def test_w2_comes_with_the_sample_that_completes_it(self, anchored):
        arrived = Inbox()
        anchored.on_pose(arrived, of="b", in_frame="a", at=seconds(10))
        set_along_x(anchored, of="b", in_frame="a", at_s=range(1, 10))
        assert arrived.is_empty(anchored)
        set_along_x(anchored, of="b", in_frame="a", at_s=[10])
        (pose,) = arrived.next()
        assert (pose.of, pose.in_frame, pose.stamp) == ("b", "a", seconds(10))
        assert pose.transform.translation[0] == 10.0

    def test_w2_comes_once(self, anchored):
        arrived = Inbox()
        anchored.on_pose(arrived, of="b", in_frame="a", at=seconds(2))
        set_along_x(anchored, of="b", in_frame="a", at_s=[2, 3, 4])
        arrived.next()
        assert arrived.is_empty(anchored)

    def test_w3_comes_with_a_late_sample_too(self, anchored):
        arrived = Inbox()
        anchored.on_pose(arrived, of="b", in_frame="a", at=seconds(1))
        set_along_x(anchored, of="b", in_frame="a", at_s=range(10, 1, -1))
        assert arrived.is_empty(anchored)
        set_along_x(anchored, of="b", in_frame="a", at_s=[1])
        assert arrived.next()[0].transform.translation[0] == 1.0

    def test_w5_comes_for_a_frame_seen_from_itself(self, world):
        arrived = Inbox()
        set_along_x(world, of="b", in_frame="a", at_s=[1])
        world.on_pose(arrived, of="b", in_frame="b", at=seconds(99))
        assert arrived.next()[0].transform.is_close(IDENTITY, m=0.0, rad=0.0)

    def test_w7_never_comes_after_it_was_cancelled(self, anchored):
        arrived = Inbox()
        handle = anchored.on_pose(arrived, of="b", in_frame="a", at=seconds(1))
        handle.cancel()
        set_along_x(anchored, of="b", in_frame="a", at_s=[1])
        assert arrived.is_empty(anchored)


class TestAWaitThatCannotSucceed:
    def test_w4_ends_at_once_when_its_instant_is_forgotten(self, world):
        arrived, failed = Inbox(), Inbox()
        set_along_x(world, of="b", in_frame="a", at_s=[99, 100])
        world.on_pose(arrived, of="b", in_frame="a", at=seconds(80), on_failure=failed)
        assert isinstance(failed.next()[0], errors.BeforeHistory)

    def test_w4_ends_when_its_instant_becomes_forgotten(self, world):
        arrived, failed = Inbox(), Inbox()
        set_along_x(world, of="b", in_frame="a", at_s=[70])
        world.on_pose(arrived, of="b", in_frame="a", at=seconds(80), on_failure=failed)
        jump_to(world, 200)
        assert isinstance(failed.next()[0], errors.BeforeHistory)

    def test_w4_raises_its_error_before_the_timeout(self, world):
        set_along_x(world, of="b", in_frame="a", at_s=[99, 100])
        with pytest.raises(errors.BeforeHistory):
            world.wait_for_pose(of="b", in_frame="a", at=seconds(80), timeout_s=PATIENCE_S)


class TestBlocking:
    def test_w6_returns_what_is_known_already(self, world):
        set_along_x(world, of="b", in_frame="a", at_s=[1])
        assert world.wait_for_pose(of="b", in_frame="a", at=seconds(1), timeout_s=0.0).stamp == seconds(1)

    def test_w6_returns_what_arrives_meanwhile(self, world):
        thread = from_another_thread(lambda: set_along_x(world, of="b", in_frame="a", at_s=[1, 2]))
        pose = world.wait_for_pose(of="b", in_frame="a", at=seconds(1.5), timeout_s=PATIENCE_S)
        thread.join()
        assert pose.transform.translation[0] == pytest.approx(1.5)

    def test_w6_gives_up_after_the_timeout_and_not_before(self, world):
        begin = time.monotonic()
        with pytest.raises(errors.WaitTimeout):
            world.wait_for_pose(of="b", in_frame="a", at=seconds(1), timeout_s=A_MOMENT_S)
        assert time.monotonic() - begin >= A_MOMENT_S

    def test_w8_needs_no_thread_of_its_own_to_be_declared(self, world):
        set_along_x(world, of="b", in_frame="a", at_s=[1])
        with pytest.raises(errors.WaitTimeout):
            world.wait_for_pose(of="b", in_frame="a", at=seconds(9), timeout_s=A_MOMENT_S)
        assert x_of(world, of="b", in_frame="a", at=seconds(1)) == 1.0

    def test_w9_is_woken_by_the_sample_and_does_not_poll(self, world):
        """tf2 looks a hundred times per timeout: it would look once in three hours here."""
        for at_s in range(1, 12):
            thread = from_another_thread(lambda at_s=at_s: set_along_x(world, of="b", in_frame="a", at_s=[at_s]))
            pose = world.wait_for_pose(of="b", in_frame="a", at=seconds(at_s), timeout_s=1e6)
            thread.join()
            assert pose.stamp == seconds(at_s)


class TestAwaiting:
    def test_w10_ends_at_once_when_the_pose_is_known(self, world):
        set_along_x(world, of="b", in_frame="a", at_s=[1])
        pose = asyncio.run(world.pose_when_ready(of="b", in_frame="a", at=seconds(1)))
        assert pose.stamp == seconds(1)

    def test_w10_ends_with_the_sample_that_completes_it(self, world):
        async def ask_then_insert():
            asked = asyncio.create_task(world.pose_when_ready(of="b", in_frame="a", at=seconds(2)))
            await asyncio.sleep(0)
            set_along_x(world, of="b", in_frame="a", at_s=[1])
            await asyncio.sleep(0)
            was_early = asked.done()
            set_along_x(world, of="b", in_frame="a", at_s=[2])
            return was_early, await asyncio.wait_for(asked, PATIENCE_S)

        was_early, pose = asyncio.run(ask_then_insert())
        assert not was_early
        assert pose.transform.translation[0] == 2.0

    def test_w10_waits_for_the_latest_too(self, world):
        async def ask_then_insert():
            asked = asyncio.create_task(world.pose_when_ready(of="b", in_frame="a", at=LATEST))
            await asyncio.sleep(0)
            set_along_x(world, of="b", in_frame="a", at_s=[3])
            return await asyncio.wait_for(asked, PATIENCE_S)

        assert asyncio.run(ask_then_insert()).stamp == seconds(3)


class TestAQuestionWithTwoInstants:
    @pytest.fixture
    def half_known(self, world):
        set_along_x(world, of="c", in_frame="a", at_s=[1])
        return world

    def test_w10_is_awaited_like_any_other(self, half_known):
        async def ask_then_insert():
            asked = asyncio.create_task(half_known.pose_when_ready(**TWO_INSTANTS))
            await asyncio.sleep(0)
            set_along_x(half_known, of="b", in_frame="a", at_s=[5])
            return await asyncio.wait_for(asked, PATIENCE_S)

        assert asyncio.run(ask_then_insert()).transform.translation[0] == -4.0

    def test_w2_calls_back_like_any_other(self, half_known):
        arrived = Inbox()
        half_known.on_pose(arrived, **TWO_INSTANTS)
        set_along_x(half_known, of="b", in_frame="a", at_s=[5])
        assert arrived.next()[0].transform.translation[0] == -4.0

    def test_w6_blocks_like_any_other(self, half_known):
        thread = from_another_thread(lambda: set_along_x(half_known, of="b", in_frame="a", at_s=[5]))
        pose = half_known.wait_for_pose(**TWO_INSTANTS, timeout_s=PATIENCE_S)
        thread.join()
        assert pose.transform.translation[0] == -4.0


class TestTheClock:
    def test_w11_is_the_wall_when_none_is_given(self):
        with World(clock=None) as world:
            assert abs(world.now() - armillary.now()) < seconds(PATIENCE_S)

    def test_w11_is_whatever_is_given(self):
        with World(clock=lambda: seconds(42)) as world:
            assert world.now() == seconds(42)

    def test_w14_goes_backwards_only_by_reset_time(self, world):
        set_along_x(world, of="b", in_frame="a", at_s=[100])
        with pytest.raises(errors.BeforeHistory):
            set_along_x(world, of="b", in_frame="a", at_s=[80])
        assert x_of(world, of="b", in_frame="a", at=seconds(100)) == 100.0

    def test_w14_starts_a_new_epoch_without_the_old_samples(self, world):
        set_along_x(world, of="b", in_frame="a", at_s=[100])
        epoch = world.time_epoch
        world.reset_time()
        set_along_x(world, of="b", in_frame="a", at_s=[80])
        assert world.time_epoch == epoch + 1
        assert not world.can_pose(of="b", in_frame="a", at=seconds(100))
        assert x_of(world, of="b", in_frame="a", at=seconds(80)) == 80.0


class TestAQueueOfStampedItems:
    @pytest.fixture
    def delivered(self):
        return Inbox()

    @pytest.fixture
    def dropped(self):
        return Inbox()

    def test_w12_passes_an_item_in_the_frame_itself(self, anchored, delivered):
        items = anchored.stamped_queue(delivered, in_frames=["anchor"])
        items.put("scan", frame="anchor", at=seconds(1))
        assert delivered.take(1) == ["scan"]

    def test_w12_passes_an_item_whose_pose_is_known_together_with_it(self, world, delivered):
        set_along_x(world, of="b", in_frame="a", at_s=[1])
        world.stamped_queue(delivered, in_frames=["a"]).put("scan", frame="b", at=seconds(1))
        item, poses = delivered.next()
        assert item == "scan"
        assert poses["a"].transform.translation[0] == 1.0

    def test_w12_holds_an_item_until_its_pose_arrives(self, anchored, delivered):
        anchored.stamped_queue(delivered, in_frames=["a"]).put("scan", frame="b", at=seconds(1))
        assert delivered.is_empty(anchored)
        set_along_x(anchored, of="b", in_frame="a", at_s=[1])
        assert delivered.take(1) == ["scan"]

    def test_w12_drops_the_oldest_when_it_is_full(self, world, delivered, dropped):
        items = world.stamped_queue(delivered, in_frames=["a"], size=10, on_drop=dropped)
        for number in range(20):
            items.put(number, frame="b", at=seconds(1))
        assert dropped.take(10) == list(range(10))
        set_along_x(world, of="b", in_frame="a", at_s=[1])
        assert delivered.take(10) == list(range(10, 20))

    def test_w12_hands_on_in_the_order_of_arrival(self, world, delivered):
        """Also what came while a callback was slow, and was not looked at yet when the data came."""
        items, slow, go_on = world.stamped_queue(delivered, in_frames=["a"]), threading.Event(), threading.Event()
        items.put(0, frame="b", at=seconds(1))
        set_along_x(world, of="hand", in_frame="a", at_s=[1])
        world.stamped_queue(lambda *_: slow.set() or go_on.wait(20), in_frames=["a"]).put(
            None, frame="hand", at=seconds(1)
        )
        assert slow.wait(20)
        items.put(1, frame="b", at=seconds(1))
        set_along_x(world, of="b", in_frame="a", at_s=[1])
        go_on.set()
        assert delivered.take(2) == [0, 1]

    def test_w12_gives_no_place_to_an_item_that_is_known_already(self, world, delivered, dropped):
        set_along_x(world, of="b", in_frame="a", at_s=[1])
        items = world.stamped_queue(delivered, in_frames=["a"], size=1, on_drop=dropped)
        items.put("waits", frame="b", at=seconds(9))
        items.put("known", frame="b", at=seconds(1))
        assert delivered.take(1) == ["known"]
        set_along_x(world, of="b", in_frame="a", at_s=[9])
        assert delivered.take(1) == ["waits"]

    def test_w12_needs_every_frame_it_was_given(self, anchored, delivered):
        items = anchored.stamped_queue(delivered, in_frames=["a", "c"])
        items.put("scan", frame="b", at=seconds(1))
        set_along_x(anchored, of="b", in_frame="a", at_s=[1])
        assert delivered.is_empty(anchored)
        set_along_x(anchored, of="c", in_frame="a", at_s=[1])
        assert delivered.take(1) == ["scan"]

    def test_w12_needs_data_a_tolerance_later_as_well(self, anchored, delivered):
        items = anchored.stamped_queue(delivered, in_frames=["a"], tolerance_s=0.2)
        items.put("scan", frame="b", at=seconds(1))
        set_along_x(anchored, of="b", in_frame="a", at_s=[1, 1.1])
        assert delivered.is_empty(anchored)
        set_along_x(anchored, of="b", in_frame="a", at_s=[1.3])
        assert delivered.take(1) == ["scan"]

    def test_w12_calls_back_from_the_thread_of_the_world(self, world):
        callers = Inbox()
        items = world.stamped_queue(lambda *_: callers(threading.get_ident()), in_frames=["a"])
        set_along_x(world, of="b", in_frame="a", at_s=[1])
        items.put("scan", frame="b", at=seconds(1))
        assert callers.next()[0] != threading.get_ident()

    def test_w13_says_that_an_item_is_older_than_the_history(self, world, dropped, delivered):
        jump_to(world, 10_000)
        items = world.stamped_queue(delivered, in_frames=["a"], on_drop=dropped)
        items.put("scan", frame="b", at=seconds(1))
        item, reason = dropped.next()
        assert item == "scan"
        assert isinstance(reason, errors.BeforeHistory)

    def test_w13_says_that_an_item_became_older_than_the_history(self, world, dropped, delivered):
        items = world.stamped_queue(delivered, in_frames=["a"], on_drop=dropped)
        items.put("scan", frame="b", at=seconds(2))
        set_along_x(world, of="b", in_frame="a", at_s=[1])
        jump_to(world, 10_000)
        item, reason = dropped.next()
        assert item == "scan"
        assert isinstance(reason, errors.BeforeHistory)

    def test_w13_says_that_it_was_full(self, world, dropped, delivered):
        items = world.stamped_queue(delivered, in_frames=["a"], size=1, on_drop=dropped)
        items.put("first", frame="b", at=seconds(1))
        items.put("second", frame="b", at=seconds(1))
        item, reason = dropped.next()
        assert item == "first"
        assert isinstance(reason, errors.LimitReached)

    def test_w13_says_so_from_the_thread_of_the_world(self, world):
        callers = Inbox()
        items = world.stamped_queue(print, in_frames=["a"], size=1, on_drop=lambda *_: callers(threading.get_ident()))
        items.put("first", frame="b", at=seconds(1))
        items.put("second", frame="b", at=seconds(1))
        assert callers.next()[0] != threading.get_ident()

    def test_w13_says_that_nothing_came_in_time(self, world, dropped, delivered):
        items = world.stamped_queue(delivered, in_frames=["a"], timeout_s=A_MOMENT_S, on_drop=dropped)
        items.put("scan", frame="b", at=seconds(1))
        item, reason = dropped.next()
        assert item == "scan"
        assert isinstance(reason, errors.WaitTimeout)

    def test_w13_refuses_an_item_without_a_frame(self, world, delivered):
        items = world.stamped_queue(delivered, in_frames=["a"])
        with pytest.raises(errors.InvalidName):
            items.put("scan", frame="", at=seconds(1))
