"""Slow callbacks and unexpected errors: what is pending stays bounded, and the one thread goes on."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from armillary import World, seconds
from armillary._core import ReadyQueue
from armillary.errors import LimitReached, WaitTimeout, WorldClosed
from unit.kit import STILL, WAIT_S, Mailbox, drain, drive, x_of

ROBOT = {"of": "robot", "in_frame": "map"}


class Slow:
    """A callback that is busy until it is released, and again with every call if it is to be."""

    def __init__(self, world: World) -> None:
        self.began, self._go_on = threading.Event(), threading.Event()
        world.add_frame("here")
        world.on_pose(self, of="here", in_frame="here")
        assert self.began.wait(WAIT_S)

    def __call__(self, *_: object) -> None:
        self.began.set()
        assert self._go_on.wait(WAIT_S)

    def end(self) -> None:
        self._go_on.set()


@pytest.fixture
def small():
    with World(max_waits=5, history=seconds(1000)) as world:
        drive(world, 0, 100)
        yield world


@pytest.fixture
def slow(small):
    callback = Slow(small)
    yield callback
    callback.end()


def refused(call) -> LimitReached:
    with pytest.raises(LimitReached, match="max_waits") as caught:
        call()
    return caught.value


class TestCallbacksThatArePending:
    def test_behind_a_slow_one_are_no_more_than_allowed(self, small, slow, mailbox):
        for t in range(5):
            small.on_pose(mailbox, **ROBOT, at=seconds(t))
        for _ in range(100):
            assert refused(lambda: small.on_pose(mailbox, **ROBOT)).limit == 5
        slow.end()
        assert [x_of(pose) for pose in mailbox.wait(5)] == [0, 1, 2, 3, 4]
        drain(small)
        assert len(mailbox.letters) == 5

    def test_for_an_answer_are_no_more_than_allowed(self, small, mailbox):
        for _ in range(5):
            small.on_pose(mailbox, of="cup", in_frame="map", on_failure=mailbox)
        refused(lambda: small.on_pose(mailbox, **ROBOT))
        refused(lambda: asyncio.run(small.pose_when_ready(**ROBOT)))

    def test_give_their_place_back(self, small, mailbox):
        for _ in range(20):
            handles = [small.on_pose(mailbox, of="cup", in_frame="map") for _ in range(5)]
            assert all(handle.cancel() for handle in handles)
        drive(small, 1, of="cup")
        small.on_pose(mailbox, of="cup", in_frame="map")
        mailbox.wait()

    def test_are_refused_when_blocking_waits_took_all_places(self, small, mailbox):
        def wait():
            with pytest.raises(WorldClosed):
                small.wait_for_pose(of="cup", in_frame="map")

        threads = [threading.Thread(target=wait) for _ in range(5)]
        for thread in threads:
            thread.start()
        while small.store.waits_pending() < 5:
            time.sleep(0.001)
        small.on_pose(mailbox, of="cup", in_frame="map", on_failure=mailbox)
        assert isinstance(mailbox.wait()[0], LimitReached)
        small.close()
        for thread in threads:
            thread.join(WAIT_S)

    def test_and_cancelled_leave_nothing_behind_a_slow_one(self, small, slow):
        for _ in range(2000):
            small.on_pose(print, **ROBOT, timeout_s=1000.0).cancel()
        assert len(small.store.dispatcher._queue) < 100
        assert len(small.store.dispatcher._deadlines) < 100

    def test_and_answered_leave_no_deadline(self, small):
        for _ in range(500):
            drain(small)
            small.on_pose(lambda _: None, **ROBOT, timeout_s=1000.0)
        assert len(small.store.dispatcher._deadlines) < 100


class TestAQueueBehindASlowCallback:
    @pytest.mark.parametrize("known", [True, False])
    def test_holds_no_more_than_its_size(self, small, slow, mailbox, known):
        queue = small.stamped_queue(mailbox, in_frames=["map"], size=3)
        for t in range(50):
            queue.put(t, frame="robot", at=seconds(t if known else t + 200))
            assert len(queue) <= 3
        drive(small, 300)
        slow.end()
        mailbox.wait(3)
        drain(small)
        assert [item for item, _ in mailbox.letters] == [47, 48, 49]
        assert (len(queue), queue.dropped) == (0, 47)

    def test_pushes_out_the_oldest_of_those_who_wait_for_the_same(self, small, slow, mailbox):
        dropped = Mailbox()
        queue = small.stamped_queue(mailbox, in_frames=["map"], size=2, on_drop=dropped)
        for t in (500, 1, 501, 2, 502, 3):
            queue.put(t, frame="robot", at=seconds(t))
        slow.end()
        assert [(item, type(reason), reason.limit) for item, reason in dropped.wait(2)] == [
            (500, LimitReached, 2),
            (1, LimitReached, 2),
        ]
        assert [item for item, _ in mailbox.wait(2)] == [2, 3]
        drain(small)
        assert (len(queue), small.store.waits_pending()) == (2, 2)

    def test_keeps_a_bounded_number_of_drops_and_counts_the_rest(self, small, slow):
        dropped, small.on_error = Mailbox(), Mailbox()
        queue = small.stamped_queue(print, in_frames=["map"], size=1, on_drop=dropped)
        for t in range(21):
            queue.put(t, frame="robot", at=seconds(500 + t))
        slow.end()
        (error,) = small.on_error.wait()
        assert [item for item, _ in dropped.letters] == [0, 1, 2, 3, 4]
        assert (queue.dropped, error.limit) == (20, 5)
        assert "15 more" in str(error)

    def test_drops_what_finds_no_place_among_the_waits(self, small, mailbox):
        queue = small.stamped_queue(print, in_frames=["map"], size=100, on_drop=mailbox)
        for t in range(7):
            queue.put(t, frame="robot", at=seconds(500 + t))
        assert [(item, reason.limit) for item, reason in mailbox.wait(2)] == [(5, 5), (6, 5)]
        assert len(queue) == 5

    def test_hands_on_what_was_ready_when_the_world_closes(self, small, slow, mailbox):
        queue = small.stamped_queue(mailbox, in_frames=["map"], size=10)
        for t in range(10):
            queue.put(t, frame="robot", at=seconds(t))
        closing = threading.Thread(target=small.close)
        closing.start()
        slow.end()
        closing.join(WAIT_S)
        assert [item for item, _ in mailbox.letters] == list(range(10))

    def test_clears_what_was_ready(self, small, slow, mailbox):
        queue = small.stamped_queue(mailbox, in_frames=["map"])
        queue.put("scan", frame="robot", at=seconds(1))
        queue.clear()
        slow.end()
        drain(small)
        assert (mailbox.letters, len(queue)) == ([], 0)

    def test_lets_other_callbacks_have_their_turn(self, small, mailbox):
        def again(item, _poses):
            queue.put(item, frame="robot", at=seconds(1))

        queue = small.stamped_queue(again, in_frames=["map"])
        queue.put("for ever", frame="robot", at=seconds(1))
        small.on_pose(mailbox, **ROBOT)
        mailbox.wait()
        queue.clear()


class BrokenQueue(ReadyQueue):
    """Cannot be looked into, now and then."""

    faults = 3

    def pop(self, timeout_s):
        if self.faults > 0:
            self.faults -= 1
            raise OSError("no more")
        return super().pop(timeout_s)


class TestAnErrorThatNobodyExpected:
    @pytest.fixture
    def broken(self, world):
        """A world that cannot even be asked about the robot."""
        ask = world.store.pose_or_watch

        def fail(*given, **question):
            if question["of"] == "robot":
                raise MemoryError
            return ask(*given, **question)

        world.store.pose_or_watch, world.on_error = fail, Mailbox()
        return world

    def test_is_reported_to_the_world_and_the_thread_continues(self, broken):
        broken.on_pose(print, **ROBOT)
        assert isinstance(broken.on_error.wait()[0], MemoryError)
        drain(broken)
        assert (broken.store.waits_pending(), broken.store.dispatcher._waits) == (0, {})

    def test_is_reported_to_the_wait_too(self, broken, mailbox):
        broken.on_pose(print, **ROBOT, on_failure=mailbox)
        assert isinstance(mailbox.wait()[0], MemoryError)
        assert isinstance(broken.on_error.wait()[0], MemoryError)
        with pytest.raises(MemoryError):
            asyncio.run(broken.pose_when_ready(**ROBOT))

    def test_drops_an_item_of_a_queue(self, broken, mailbox):
        broken.stamped_queue(print, in_frames=["map"], on_drop=mailbox).put("scan", frame="robot", at=0)
        item, reason = mailbox.wait()[0]
        assert (item, type(reason)) == ("scan", MemoryError)

    def test_between_callbacks_does_not_end_the_thread(self, world, mailbox):
        world.on_error = Mailbox()
        world.store.dispatcher._queue = BrokenQueue()
        drive(world, 1)
        world.on_pose(mailbox, **ROBOT)
        mailbox.wait()
        assert {type(error) for error in world.on_error.letters} == {OSError}

    def test_when_a_thread_cannot_be_started_is_raised_and_nothing_is_kept(self, world, mailbox, monkeypatch):
        def fail(_):
            raise RuntimeError("can't start new thread")

        with monkeypatch.context() as patch:
            patch.setattr(threading.Thread, "start", fail)
            with pytest.raises(RuntimeError):
                world.on_pose(mailbox, **ROBOT)
        assert world.store.dispatcher._waits == {}
        world.on_pose(mailbox, **ROBOT, on_failure=mailbox, timeout_s=0)
        assert isinstance(mailbox.wait()[0], WaitTimeout)


class TestAwaitingInACallback:
    def test_ends_in_time_and_with_an_answer(self):
        """The callback has the thread that would otherwise answer."""
        world, answers, done = World(), [], threading.Event()

        def callback(_):
            for frame, timeout_s in (("late", 0.05), ("cup", WAIT_S)):
                try:
                    answers.append(asyncio.run(world.pose_when_ready(of=frame, in_frame="map", timeout_s=timeout_s)))
                except WaitTimeout as error:
                    answers.append(error)
            done.set()

        world.on_pose(callback, of="cup", in_frame="map")
        world.fix(of="cup", in_frame="map", transform=STILL)
        assert done.wait(WAIT_S)
        assert isinstance(answers[0], WaitTimeout)
        assert answers[1].transform == STILL
