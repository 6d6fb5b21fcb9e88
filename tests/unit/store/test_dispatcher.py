"""Callbacks: once each, on one thread, whatever else happens."""

from __future__ import annotations

import asyncio
import gc
import sys
import threading
import time
import weakref

import pytest

from armillary import LATEST, World, seconds
from armillary.errors import AmbiguousPath, ArmillaryError, BeforeHistory, WaitTimeout, WorldClosed
from unit.kit import PROMPT_S, STILL, WAIT_S, Mailbox, drain, drive, x_of

ROBOT = {"of": "robot", "in_frame": "map"}


def fail(*_):
    raise KeyError("a fault of the callback")


class TestACallback:
    def test_comes_when_the_pose_is_known_already(self, world, mailbox):
        drive(world, 1, 2)
        world.on_pose(mailbox, **ROBOT, at=seconds(1.5))
        assert x_of(mailbox.wait()[0]) == 1.5

    def test_comes_when_the_pose_becomes_known(self, world, mailbox):
        world.on_pose(mailbox, **ROBOT, at=seconds(1.5))
        drive(world, 1)
        drain(world)
        assert mailbox.letters == []
        drive(world, 2)
        pose = mailbox.wait()[0]
        assert (x_of(pose), pose.stamp) == (1.5, seconds(1.5))

    def test_comes_once(self, world, mailbox):
        world.on_pose(mailbox, **ROBOT)
        drive(world, 1, 2, 3, 4)
        drain(world)
        assert len(mailbox.letters) == 1

    def test_runs_on_the_thread_of_the_world(self, world, mailbox):
        drive(world, 1)
        for _ in range(5):
            world.on_pose(mailbox, **ROBOT)
        mailbox.wait(5)
        assert mailbox.threads == {"armillary-dispatcher"}

    def test_may_ask_write_wait_and_ask_for_more(self, world, mailbox):
        def go_on(pose):
            drive(world, 3)
            assert world.wait_for_pose(**ROBOT, at=seconds(2), timeout_s=WAIT_S)
            world.on_pose(mailbox, **ROBOT, at=seconds(3))

        drive(world, 1)
        world.on_pose(go_on, **ROBOT)
        assert x_of(mailbox.wait()[0]) == 3.0

    @pytest.mark.parametrize(
        ("options", "x"),
        [
            ({"at": LATEST}, 2.0),
            ({"at": seconds(3), "outside": "hold"}, 2.0),
            ({"at": seconds(1), "of_at": seconds(2), "fixed_frame": "map"}, 2.0),
            ({"at": seconds(1.5), "interpolation": "screw"}, 1.5),
        ],
    )
    def test_takes_every_option_of_a_pose(self, world, mailbox, options, x):
        world.on_pose(mailbox, **ROBOT, **options)
        drive(world, 2)
        drive(world, 1)
        assert x_of(mailbox.wait()[0]) == pytest.approx(x)

    def test_does_not_start_a_thread_before_it_is_asked_for(self):
        before = threading.active_count()
        with World() as quiet:
            drive(quiet, 1)
            assert threading.active_count() == before


class TestCancelling:
    def test_before_the_pose_is_known_prevents_the_callback(self, world, mailbox):
        handle = world.on_pose(mailbox, **ROBOT, on_failure=mailbox)
        assert handle.cancel()
        drive(world, 1)
        drain(world)
        world.close()
        assert mailbox.letters == []

    def test_after_the_callback_is_too_late(self, world, mailbox):
        drive(world, 1)
        handle = world.on_pose(mailbox, **ROBOT)
        mailbox.wait()
        assert not handle.cancel()

    def test_twice_is_once(self, world, mailbox):
        handle = world.on_pose(mailbox, **ROBOT)
        assert [handle.cancel(), handle.cancel()] == [True, False]

    def test_after_closing_is_harmless(self, world, mailbox):
        handle = world.on_pose(mailbox, **ROBOT)
        world.close()
        assert not handle.cancel()

    def test_from_the_callback_itself_is_too_late(self, world, mailbox):
        handles = []
        handles.append(world.on_pose(lambda _: mailbox(handles[0].cancel()), **ROBOT))
        drive(world, 1)
        assert mailbox.wait() == [False]

    def test_racing_the_answer_is_either_called_or_cancelled(self, world):
        for i in range(300):
            box = Mailbox()
            handle = world.on_pose(box, of=f"f{i}", in_frame="map")
            writer = threading.Thread(target=drive, args=(world, 1), kwargs={"of": f"f{i}"})
            writer.start()
            silenced = handle.cancel()
            writer.join(WAIT_S)
            drain(world)
            assert len(box.letters) == (0 if silenced else 1)

    def test_leaves_nothing_behind(self, world):
        for _ in range(2000):
            world.on_pose(fail, **ROBOT, timeout_s=1000.0).cancel()
        drain(world)
        assert world.store.waits_pending() == 0
        assert len(world.store.dispatcher._deadlines) < 100
        assert world.store.dispatcher._waits == {}

    def test_while_it_is_asked_leaves_nothing_behind(self, world):
        handles, asked, ask = [], Mailbox(), world.store.pose_or_watch

        def cancel_first(*given, **question):
            if question["of"] == "robot":
                asked(handles[0].cancel())
            return ask(*given, **question)

        world.store.pose_or_watch = cancel_first
        with world.store.dispatcher._lock:  # the dispatcher comes no further before the handle is there
            handles.append(world.on_pose(print, **ROBOT, timeout_s=PROMPT_S))
        assert asked.wait() == [True]
        drain(world)
        assert world.store.waits_pending() == 0

    def test_by_a_finalizer_inside_the_collector_does_not_block(self):
        world = World()

        class Subscriber:
            def __init__(self):
                self.me, self.handle = self, world.on_pose(fail, **ROBOT, timeout_s=1000.0)

            def __del__(self):
                self.handle.cancel()

        def subscribe():
            for _ in range(300):
                Subscriber()

        worker = threading.Thread(target=subscribe, daemon=True)
        kept = gc.get_threshold()
        gc.set_threshold(1, 1, 1)
        worker.start()
        worker.join(WAIT_S)
        gc.set_threshold(*kept)
        assert not worker.is_alive()
        world.close()


class TestAWaitThatFails:
    def test_is_reported_when_it_can_never_succeed(self, mailbox):
        with World(history=seconds(2)) as world:
            drive(world, 8, 10)
            world.on_pose(fail, **ROBOT, at=seconds(1), on_failure=mailbox)
            assert isinstance(mailbox.wait()[0], BeforeHistory)

    def test_is_reported_when_it_can_no_longer_succeed(self, mailbox):
        with World(history=seconds(2)) as world:
            drive(world, 2, 3)
            world.on_pose(fail, **ROBOT, at=seconds(1.5), on_failure=mailbox)
            drain(world)
            assert mailbox.letters == []
            drive(world, 4, 5)
            assert isinstance(mailbox.wait()[0], BeforeHistory)

    def test_is_reported_for_rivals(self, world, mailbox):
        world.on_pose(fail, **ROBOT, on_failure=mailbox)
        drain(world)
        world.fix(of="robot", in_frame="odom", transform=STILL, source="a")
        world.fix(of="robot", in_frame="map", transform=STILL, source="b")
        assert isinstance(mailbox.wait()[0], AmbiguousPath)

    def test_is_reported_at_the_timeout(self, world, mailbox):
        world.on_pose(fail, **ROBOT, on_failure=mailbox, timeout_s=PROMPT_S)
        error = mailbox.wait()[0]
        assert isinstance(error, WaitTimeout)
        assert (error.of, error.in_frame, error.timeout_s) == ("robot", "map", PROMPT_S)
        assert "No frame named 'robot'" in str(error.reason)

    def test_is_reported_in_the_order_of_timeouts(self, world, mailbox):
        due = {}
        for timeout_s in (0.09, 0.03, 0.06):
            due[timeout_s] = time.monotonic() + timeout_s
            world.on_pose(fail, **ROBOT, on_failure=mailbox, timeout_s=timeout_s)
        assert [error.timeout_s for error in mailbox.wait(3)] == sorted(due, key=due.get)

    def test_is_reported_for_a_timeout_of_zero(self, world, mailbox):
        for timeout_s in (0, -1.0):
            world.on_pose(fail, **ROBOT, on_failure=mailbox, timeout_s=timeout_s)
        assert all(isinstance(error, WaitTimeout) for error in mailbox.wait(2))

    def test_is_reported_to_the_world_without_on_failure(self, world, mailbox):
        world.on_error = mailbox
        world.on_pose(fail, **ROBOT, timeout_s=PROMPT_S)
        assert isinstance(mailbox.wait()[0], WaitTimeout)

    def test_continues_when_its_frame_is_removed(self, world, mailbox):
        drive(world, 1)
        world.on_pose(mailbox, **ROBOT, at=seconds(2))
        drain(world)
        world.remove_frame("robot")
        drive(world, 1, 3)
        assert x_of(mailbox.wait()[0]) == 2.0


class TestACallbackThatRaises:
    @pytest.fixture
    def known(self, world):
        drive(world, 1)
        return world

    def test_is_reported_to_the_world(self, known, mailbox):
        known.on_error = mailbox
        known.on_pose(fail, **ROBOT)
        assert isinstance(mailbox.wait()[0], KeyError)

    def test_is_printed_where_nobody_listens(self, known, capfd):
        known.on_pose(fail, **ROBOT)
        drain(known)
        assert "armillary: an error in a callback" in (printed := capfd.readouterr().err)
        assert "a fault of the callback" in printed

    def test_is_reported_when_it_handles_a_failure(self, known, mailbox):
        known.on_error = mailbox
        known.on_pose(fail, of="cup", in_frame="map", on_failure=fail, timeout_s=0)
        assert isinstance(mailbox.wait()[0], KeyError)

    @pytest.mark.parametrize("ending", [SystemExit, KeyboardInterrupt, GeneratorExit])
    def test_even_to_end_everything_ends_nothing(self, known, mailbox, ending):
        def leave(_):
            raise ending

        known.on_error = Mailbox()
        known.on_pose(leave, **ROBOT)
        known.on_pose(mailbox, **ROBOT)
        mailbox.wait()
        assert isinstance(known.on_error.wait()[0], ending)

    @pytest.mark.parametrize("listener", [fail, 5, sys.exit])
    def test_survives_an_on_error_that_raises(self, known, mailbox, listener, capfd):
        known.on_error = listener
        known.on_pose(fail, **ROBOT)
        known.on_pose(mailbox, **ROBOT)
        mailbox.wait()
        assert "a fault of the callback" in capfd.readouterr().err

    def test_survives_a_missing_stderr(self, known, mailbox, monkeypatch):
        monkeypatch.setattr(sys, "stderr", None)
        known.on_pose(fail, **ROBOT)
        known.on_pose(mailbox, **ROBOT)
        mailbox.wait()


class TestClosingAWorld:
    def test_ends_pending_waits_with_the_reason(self, world, mailbox):
        for _ in range(3):
            world.on_pose(fail, **ROBOT, on_failure=mailbox)
        world.close()
        assert [type(error) for error in mailbox.letters] == [WorldClosed] * 3

    @pytest.mark.parametrize("is_drained", [True, False])
    def test_reports_nothing_without_on_failure(self, world, mailbox, is_drained):
        world.on_error = mailbox
        world.on_pose(fail, **ROBOT)
        if is_drained:
            drain(world)
        world.close()
        assert mailbox.letters == []

    def test_ends_its_thread(self, world):
        before = threading.active_count()
        world.on_pose(fail, **ROBOT)
        world.close()
        assert threading.active_count() == before

    def test_from_a_callback_does_not_block(self, world, mailbox):
        drive(world, 1)
        world.on_pose(lambda _: mailbox(world.close()), **ROBOT)
        mailbox.wait()

    def test_from_many_threads_is_closing_once(self, world, mailbox):
        world.on_pose(fail, **ROBOT, on_failure=mailbox)
        threads = [threading.Thread(target=world.close) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(WAIT_S)
        assert len(mailbox.wait()) == 1

    def test_refuses_further_waits(self, world):
        world.close()
        for call in (
            lambda: world.on_pose(fail, **ROBOT),
            lambda: world.wait_for_pose(**ROBOT),
            lambda: asyncio.run(world.pose_when_ready(**ROBOT)),
        ):
            with pytest.raises(WorldClosed, match="Make a new World"):
                call()

    def test_frees_who_waits(self, world, mailbox):
        def wait():
            try:
                world.wait_for_pose(**ROBOT, timeout_s=WAIT_S)
            except ArmillaryError as error:
                mailbox(error)

        thread = threading.Thread(target=wait)
        thread.start()
        while not world.store.waits_pending():
            time.sleep(0.001)
        world.close()
        thread.join(WAIT_S)
        assert isinstance(mailbox.wait()[0], WorldClosed)


class TestAWorldThatIsDropped:
    def test_ends_its_thread_without_output(self, capfd):
        before = threading.active_count()
        for _ in range(50):
            World().on_pose(fail, **ROBOT)
        gc.collect()
        for thread in threading.enumerate():
            if thread.name == "armillary-dispatcher":
                thread.join(WAIT_S)
        assert threading.active_count() <= before
        assert capfd.readouterr().err == ""

    def test_is_freed(self):
        world = World()
        drive(world, 1)
        world.on_pose(lambda _: None, **ROBOT)
        drain(world)
        gone = weakref.ref(world)
        del world
        gc.collect()
        assert gone() is None


class TestManyThreads:
    def test_inserting_lose_no_wait_and_answer_none_twice(self, world):
        boxes = {f"f{i}": Mailbox() for i in range(400)}

        def insert(names):
            for name in names:
                drive(world, 1, 2, of=name)

        for name, box in boxes.items():
            world.on_pose(box, of=name, in_frame="map", at=seconds(1.5), timeout_s=WAIT_S, on_failure=box)
        names = list(boxes)
        threads = [threading.Thread(target=insert, args=(names[i::4],)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(WAIT_S)
        for box in boxes.values():
            box.wait()
        drain(world)
        assert {(len(box.letters), x_of(box.letters[0])) for box in boxes.values()} == {(1, 1.5)}

    def test_waiting_are_all_answered(self, world, mailbox):
        def wait(i):
            mailbox(x_of(world.wait_for_pose(**ROBOT, at=seconds(i), timeout_s=WAIT_S)))

        threads = [threading.Thread(target=wait, args=(i,)) for i in range(1, 9)]
        for thread in threads:
            thread.start()
        drive(world, 0, 3, 6, 9)
        for thread in threads:
            thread.join(WAIT_S)
        assert sorted(mailbox.letters) == [1, 2, 3, 4, 5, 6, 7, 8]
