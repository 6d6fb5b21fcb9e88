"""The stamped queue: data that waits for its transforms."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from armillary import LATEST, World, seconds
from armillary.errors import (
    AmbiguousPath,
    BeforeHistory,
    InvalidArgument,
    InvalidName,
    InvalidStamp,
    LimitReached,
    WaitTimeout,
    WorldClosed,
)
from unit.kit import PROMPT_S, STILL, WAIT_S, Mailbox, drain, drive, moved, x_of


@pytest.fixture
def done():
    return Mailbox()


@pytest.fixture
def dropped():
    return Mailbox()


@pytest.fixture
def queue(world, done, dropped):
    return world.stamped_queue(done, in_frames=["map"], size=3, on_drop=dropped)


def put(queue, *times, frame="robot"):
    for t in times:
        queue.put(f"scan {t}", frame=frame, at=seconds(t))


def items(mailbox):
    return [item for item, _ in mailbox.letters]


class TestAStampedQueue:
    def test_hands_on_what_is_known_already(self, world, queue, done):
        drive(world, 1, 2)
        put(queue, 1.5)
        ((item, poses),) = done.wait()
        assert (item, list(poses), x_of(poses["map"]), poses["map"].stamp) == ("scan 1.5", ["map"], 1.5, seconds(1.5))
        assert len(queue) == 0

    def test_holds_what_is_not(self, world, queue, done):
        put(queue, 1.5)
        assert len(queue) == 1
        assert repr(queue) == "StampedQueue(to be seen from 'map': 1 wait, 0 dropped)"
        drive(world, 1)
        drain(world)
        assert done.letters == []
        drive(world, 2)
        assert x_of(done.wait()[0][1]["map"]) == 1.5
        assert len(queue) == 0

    def test_hands_on_each_when_it_is_ready(self, world, queue, done):
        put(queue, 3, 2, 1)
        drive(world, 0, 1)
        done.wait()
        drive(world, 2)
        done.wait(2)
        drive(world, 3)
        done.wait(3)
        assert items(done) == ["scan 1", "scan 2", "scan 3"]

    def test_calls_on_the_thread_of_the_world(self, world, queue, done, dropped):
        drive(world, 1, 2)
        put(queue, 1)
        done.wait()
        put(queue, 8, 8, 8, 8)
        dropped.wait()
        assert done.threads == dropped.threads == {"armillary-dispatcher"}

    def test_keeps_any_item_as_it_is(self, world, queue, done):
        item = np.zeros(3)
        world.fix(of="robot", in_frame="map", transform=STILL)
        queue.put(item, frame="robot", at=1)
        queue.put(None, frame="robot", at=1)
        assert done.wait(2)[0][0] is item
        assert done.letters[1][0] is None

    def test_takes_data_of_the_target_itself(self, world, queue, done):
        world.add_frame("map")
        put(queue, 5, frame="map")
        assert done.wait()[0][1]["map"].transform == STILL

    def test_takes_fixed_frames_at_any_time(self, world, queue, done):
        world.fix(of="lamp", in_frame="map", transform=moved(4))
        put(queue, 5, frame="lamp")
        assert x_of(done.wait()[0][1]["map"]) == 4.0

    def test_takes_stamps_of_numpy(self, world, queue, done):
        drive(world, 1, 2)
        queue.put("scan", frame="robot", at=np.int64(seconds(1)))
        assert x_of(done.wait()[0][1]["map"]) == 1.0

    def test_is_empty_after_clear(self, world, queue, done, dropped):
        put(queue, 1, 2)
        queue.clear()
        drive(world, 0, 5)
        drain(world)
        assert (len(queue), done.letters, dropped.letters, world.store.waits_pending()) == (0, [], [], 0)


class TestAQueueForSeveralFrames:
    @pytest.fixture
    def both(self, world, done, dropped):
        return world.stamped_queue(done, in_frames=["map", "odom", "map"], on_drop=dropped)

    def test_waits_for_all_of_them(self, world, both, done):
        put(both, 1)
        drive(world, 0, 2, in_frame="odom")
        drain(world)
        assert done.letters == []
        drive(world, 0, 2, of="odom")
        _, poses = done.wait()[0]
        assert {name: (pose.in_frame, x_of(pose)) for name, pose in poses.items()} == {
            "map": ("map", 2.0),
            "odom": ("odom", 1.0),
        }

    def test_hands_on_at_once_where_all_is_known(self, world, both, done):
        drive(world, 0, 2, in_frame="odom")
        drive(world, 0, 2, of="odom")
        put(both, 1)
        assert sorted(done.wait()[0][1]) == ["map", "odom"]

    def test_drops_once_however_many_fail(self, world, both, done, dropped):
        with World(history=seconds(1)) as short:
            both = short.stamped_queue(done, in_frames=["map", "odom"], on_drop=dropped)
            drive(short, 8, 9, in_frame="odom")
            drive(short, 8, 9, of="odom")
            put(both, 1)
            (item, reason) = dropped.wait()[0]
            drain(short)
            assert (item, type(reason), len(dropped.letters)) == ("scan 1", BeforeHistory, 1)
            assert short.store.waits_pending() == 0

    def test_leaves_no_wait_behind_when_one_of_them_fails(self, world, both, dropped):
        world.fix(of="robot", in_frame="map", transform=STILL, source="a")
        world.fix(of="robot", in_frame="map", transform=STILL, source="b")
        for i in range(50):
            both.put(i, frame="robot", at=i)
        dropped.wait(50)
        drain(world)
        assert {type(reason) for _, reason in dropped.letters} == {AmbiguousPath}
        assert (len(both), world.store.waits_pending(), world.store.dispatcher._waits) == (0, 0, {})


class TestTolerance:
    def test_asks_for_the_transforms_a_little_later_too(self, world, done):
        queue = world.stamped_queue(done, in_frames=["map"], tolerance_s=0.5)
        put(queue, 1)
        drive(world, 0, 1.4)
        drain(world)
        assert done.letters == []
        drive(world, 1.5)
        pose = done.wait()[0][1]["map"]
        assert (x_of(pose), pose.stamp) == (1.0, seconds(1))

    def test_hands_on_the_pose_of_the_stamp_itself(self, world, done):
        queue = world.stamped_queue(done, in_frames=["map", "odom"], tolerance_s=0.5)
        drive(world, 0, 3)
        world.fix(of="odom", in_frame="map", transform=STILL)
        put(queue, 1)
        assert {name: x_of(pose) for name, pose in done.wait()[0][1].items()} == {"map": 1.0, "odom": 1.0}


class TestWhatIsGivenUp:
    def test_when_its_time_is_over(self, world, done, dropped):
        queue = world.stamped_queue(done, in_frames=["map"], timeout_s=PROMPT_S, on_drop=dropped)
        put(queue, 1)
        ((item, reason),) = dropped.wait()
        assert (item, type(reason), reason.timeout_s) == ("scan 1", WaitTimeout, PROMPT_S)
        assert "robot" in str(reason.reason)
        assert len(queue) == 0

    def test_when_the_queue_is_full_the_oldest(self, queue, dropped):
        put(queue, 1, 2, 3, 4, 5)
        letters = dropped.wait(2)
        assert [item for item, _ in letters] == ["scan 1", "scan 2"]
        assert all((type(reason), reason.limit) == (LimitReached, 3) for _, reason in letters)
        assert len(queue) == 3

    def test_when_it_can_never_come(self, done, dropped):
        with World(history=seconds(2)) as world:
            queue = world.stamped_queue(done, in_frames=["map"], timeout_s=WAIT_S, on_drop=dropped)
            drive(world, 8, 9)
            put(queue, 1)
            assert isinstance(dropped.wait()[0][1], BeforeHistory)

    def test_when_the_world_closes(self, world, queue, dropped):
        put(queue, 1, 2)
        drain(world)
        world.close()
        assert items(dropped) == ["scan 1", "scan 2"]
        assert {type(reason) for _, reason in dropped.letters} == {WorldClosed}
        assert len(queue) == 0

    def test_is_not_reported_without_on_drop(self, world, done, capfd):
        queue = world.stamped_queue(done, in_frames=["map"], size=1)
        world.on_error = done
        put(queue, 1, 2, 3)
        drain(world)
        world.close()
        assert done.letters == []
        assert capfd.readouterr().err == ""

    def test_is_not_what_was_ready_when_it_came(self, world, queue, done, dropped):
        drive(world, 1, 2)
        put(queue, 8, 9, 10, 1.25, 1.5, 1.75)
        done.wait(3)
        assert dropped.letters == []


class TestCallbacksOfAQueue:
    def test_that_raise_are_reported(self, world, mailbox):
        def fail(*_):
            raise KeyError("my fault")

        world.on_error = mailbox
        drive(world, 1, 2)
        queue = world.stamped_queue(fail, in_frames=["map"], on_drop=fail, size=1)
        put(queue, 1, 8, 9)
        assert [type(error) for error in mailbox.wait(2)] == [KeyError, KeyError]

    def test_may_put_again(self, world, done):
        def again(item, poses):
            done(item)
            if item < 5:
                queue.put(item + 1, frame="robot", at=seconds(1))

        drive(world, 1, 2)
        queue = world.stamped_queue(again, in_frames=["map"])
        queue.put(0, frame="robot", at=seconds(1))
        assert done.wait(6) == [0, 1, 2, 3, 4, 5]


class TestManyThreads:
    def test_putting_and_inserting_lose_nothing(self, done, dropped):
        with World(history=seconds(100)) as world:
            queue = world.stamped_queue(done, in_frames=["map"], size=10_000, on_drop=dropped, timeout_s=WAIT_S)
            drive(world, 0)

            def sense(k):
                for t in range(1, 51):
                    queue.put((k, t), frame="robot", at=seconds(t))

            threads = [threading.Thread(target=sense, args=(k,)) for k in range(3)]
            threads.append(threading.Thread(target=drive, args=(world, *range(1, 51))))
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(WAIT_S)
            done.wait(150)
            assert dropped.letters == []
            assert sorted(items(done)) == [(k, t) for k in range(3) for t in range(1, 51)]
            assert all(x_of(poses["map"]) == t for (_, t), poses in done.letters)

    def test_pushing_each_other_out_account_for_everything(self, world, done, dropped):
        queue = world.stamped_queue(done, in_frames=["map", "odom"], size=5, on_drop=dropped)

        def sense(k):
            for i in range(100):
                queue.put((k, i), frame="robot", at=seconds(i % 10))

        threads = [threading.Thread(target=sense, args=(k,)) for k in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(WAIT_S)
        drive(world, 0, 9, in_frame="odom")
        drive(world, 0, 9, of="odom")
        done.wait(5)
        drain(world)
        assert sorted(items(done) + items(dropped)) == [(k, i) for k in range(3) for i in range(100)]
        assert queue.dropped == len(dropped.letters)
        assert (len(queue), world.store.waits_pending()) == (0, 0)


class TestWrongUse:
    @pytest.mark.parametrize(
        ("options", "kind", "sentence"),
        [
            ({"in_frames": []}, InvalidArgument, r"in_frames=\['map'\]"),
            ({"in_frames": "map"}, InvalidArgument, r"in_frames=\['map'\]"),
            ({"in_frames": 5}, InvalidArgument, r"in_frames=\['map'\]"),
            ({"in_frames": None}, InvalidArgument, r"in_frames=\['map'\]"),
            ({"in_frames": ["/map"]}, InvalidName, "Drop it"),
            ({"in_frames": [5]}, InvalidName, "is a str"),
            ({"size": 0}, InvalidArgument, "size"),
            ({"size": -1}, InvalidArgument, "size"),
            ({"size": 1.5}, InvalidArgument, "size"),
            ({"size": "many"}, InvalidArgument, "size"),
            ({"tolerance_s": -0.1}, InvalidArgument, "tolerance_s"),
            ({"tolerance_s": float("nan")}, InvalidArgument, "tolerance_s"),
            ({"tolerance_s": float("inf")}, InvalidArgument, "tolerance_s"),
            ({"tolerance_s": "some"}, InvalidArgument, "tolerance_s"),
        ],
    )
    def test_is_refused_when_it_is_made(self, world, done, options, kind, sentence):
        with pytest.raises(kind, match=sentence):
            world.stamped_queue(done, **({"in_frames": ["map"]} | options))

    @pytest.mark.parametrize(
        ("where", "kind"),
        [
            ({"at": 1.5}, InvalidStamp),
            ({"at": LATEST}, InvalidStamp),
            ({"at": None}, TypeError),
            ({"frame": "/robot"}, InvalidName),
            ({"frame": 5}, InvalidName),
        ],
    )
    @pytest.mark.parametrize("tolerance_s", [0.0, 0.5])
    def test_is_refused_when_something_is_put_in(self, world, done, where, kind, tolerance_s):
        queue = world.stamped_queue(done, in_frames=["map"], tolerance_s=tolerance_s)
        with pytest.raises(kind):
            queue.put("scan", **({"frame": "robot", "at": 5} | where))
        assert (len(queue), world.store.waits_pending()) == (0, 0)

    def test_after_closing_is_refused_and_keeps_nothing(self, world, queue):
        drive(world, 1, 2)
        world.close()
        for t in (1, 9):
            with pytest.raises(WorldClosed):
                put(queue, t)
        assert len(queue) == 0

    def test_of_a_world_that_is_gone_is_refused(self, done):
        queue = World().stamped_queue(done, in_frames=["map"])
        with pytest.raises(WorldClosed):
            put(queue, 1)
        assert len(queue) == 0
