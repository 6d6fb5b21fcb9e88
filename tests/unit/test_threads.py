"""Readers, writers, structure and callbacks at once: every answer is whole."""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest

from armillary import World, seconds
from armillary.errors import ArmillaryError, WaitTimeout
from unit.kit import STILL, WAIT_S, drain, drive, moved, run_python

if TYPE_CHECKING:
    from collections.abc import Callable

RACE_S = 0.6
ROWS = np.tile(moved(7).xyz_wxyz, (500, 1))
AT = np.arange(500) * 1000

OUT_OF_MEMORY = """
import resource
import numpy as np
from armillary import World, seconds
count = 2_000_000
rows = np.zeros((count, 7))
rows[:, 3] = 1.0
world, at = World(history=seconds(1e6)), np.arange(count)
world.set_poses(of="cup", in_frame="map", transforms=rows[:10], at=at[:10])
used = 1024 * next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmSize"))
resource.setrlimit(resource.RLIMIT_AS, (used + 130_000_000, resource.RLIM_INFINITY))  # for a copy, and no more
try:
    world.set_poses(of="robot", in_frame="map", transforms=rows, at=at)
except MemoryError:
    world.set_poses(of="cup", in_frame="map", transforms=rows[:10], at=at[:10])
    print("MemoryError, and on it goes")
"""

# The pieces of what follows end themselves: a lock that is waited for in vain would stop all tests.
BOUNDED = """
import faulthandler
faulthandler.dump_traceback_later(90, exit=True)
import random, threading, time
from armillary import Transform, World
from armillary.errors import ArmillaryError
from armillary.scene import Fix
STILL = Transform.identity()

def pend(world, frame, at):
    axes = dict(relative_to="base", expressed_in="map")
    world.set_twist(of=frame, **axes, linear=(1, 0, 0), angular=(0, 0, 0), at=at, pending=True)
"""

A_PENDING_TWIST_AND_AN_OBSERVER = """
robot, other, seen = World("robot"), World("other"), []
robot.scene.attach(seen.append)
pend(robot, "wheel", 0)
other.fix(of="wheel", in_frame="map", transform=STILL)
{bring}
print(len(robot.pending_twists()), len(seen) > 0)
"""

HAMMER = """
world, peer = World("world"), World("peer")
world.scene.attach(lambda changes: world.frames())
for i in range(4):
    peer.fix(of=f"wheel {i}", in_frame="map", transform=STILL)
end, surprises = time.monotonic() + 3, []

def again(step):
    chosen = random.Random(step.__name__)
    while time.monotonic() < end:
        try: step(f"wheel {chosen.randrange(4)}", chosen.randrange(10**9))
        except ArmillaryError: pass
        except Exception as error: surprises.append(repr(error))

def wait_for_poses(frame, at): pend(world, frame, at)
def merge(frame, at): world.merge(peer.scene.changes())
def apply(frame, at): world.apply([Fix(of=frame, in_frame="map", transform=STILL)])
def fix(frame, at): world.fix(of=frame, in_frame="base", transform=STILL)
def place(frame, at): world.set_pose(of=frame, in_frame="map", transform=STILL, at=at)
def attach(frame, at): world.attach(of=frame, to="base", at=at)
def remove(frame, at): world.remove_frame(frame, subtree=True)
def clear(frame, at): world.clear()
def reset(frame, at): world.reset_time()
def copy(frame, at): world.copy().fix(of=frame, in_frame="base", transform=STILL)

steps = (wait_for_poses, merge, apply, fix, place, attach, remove, clear, reset, copy)
threads = [threading.Thread(target=again, args=(step,)) for step in steps]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(surprises[:3])
"""


class Race:
    """Calls functions again and again, each on its own thread, and collects what surprised them."""

    def __init__(self) -> None:
        self.surprises: Counter[str] = Counter()
        self.answers: Counter[str] = Counter()
        self._racers, self._end = 0, 0.0

    def _goes_on(self) -> bool:
        """For a while, and on a busy machine until everybody had a turn."""
        late_s = time.monotonic() - self._end
        return late_s < 0 or (late_s < WAIT_S / 2 and len(self.answers) < self._racers)

    def _again_and_again(self, name: str, step: Callable[[int], object]) -> None:
        i = 0
        while self._goes_on():
            i += 1
            try:
                step(i)
                self.answers[name] += 1
            except ArmillaryError:
                pass  # what is missing is missing; what is answered must be right
            except BaseException as error:  # noqa: BLE001
                self.surprises[f"{name}: {type(error).__name__}: {error}"] += 1

    def run(self, **steps: Callable[[int], object]) -> None:
        threads = [threading.Thread(target=self._again_and_again, args=item) for item in steps.items()]
        self._racers, self._end = len(steps), time.monotonic() + RACE_S
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(WAIT_S)
        assert not self.surprises
        assert set(self.answers) == set(steps)


@pytest.fixture
def race():
    return Race()


@pytest.fixture
def busy(world):
    """A world in which frames `f1`, `f2`, ... come and go, all of them seven metres along x."""
    world.fix(of="base", in_frame="map", transform=STILL)
    return world


def come_and_go(world):
    def step(i):
        world.set_poses(of=f"f{i}", in_frame="base", transforms=ROWS, at=AT)
        if i > 5:
            world.remove_frame(f"f{i - 5}")

    return step


def newest(world):
    return [name for name in world.frames() if name.startswith("f")][-1:]


class TestWhileFramesComeAndGo:
    def test_a_snapshot_names_what_it_shows(self, busy, race):
        def look(_):
            seen = busy.snapshot(in_frame="map")
            for name, transform in seen.items():
                assert transform.translation[0] == (7.0 if name.startswith("f") else 0.0)
                assert name
            assert set(seen.stamps) == set(seen)
            assert all(seen.missing)

        race.run(write=come_and_go(busy), look=look)

    def test_a_pose_names_its_relations(self, busy, race):
        def look(_):
            for name in newest(busy):
                pose = busy.pose(of=name, in_frame="map")
                assert pose.relations == ((name, "base", ""), ("base", "map", ""))

        race.run(write=come_and_go(busy), look=look)

    def test_the_tree_is_drawn(self, busy, race):
        race.run(write=come_and_go(busy), draw=lambda _: str(busy.tree()), report=lambda _: busy.relations())

    def test_a_batch_is_of_the_frame_it_was_asked_for(self, busy, race):
        def look(_):
            for name in newest(busy):
                assert (busy.transforms(of=name, in_frame="map", at=AT[:50], as_="xyz_wxyz")[:, 0] == 7.0).all()

        def others(i):
            busy.fix(of=f"g{i}", in_frame="base", transform=moved(9))
            if i > 3:
                busy.remove_frame(f"g{i - 3}")

        race.run(write=come_and_go(busy), others=others, look=look)

    def test_samples_are_read_whole(self, busy, race):
        def look(_):
            for name in newest(busy):
                kept = busy.samples(of=name, in_frame="base")
                assert len(kept.stamps) == len(kept.transforms)
                assert len(kept) in {0, 500}

        race.run(write=come_and_go(busy), look=look)

    def test_waits_are_answered_or_forgotten(self, busy, race):
        current = ["w0"]

        def flicker(i):  # each name comes and goes ten times, and stays in the end
            name = current[0] = f"w{i // 10}"
            if busy.can_pose(of=name, in_frame="map"):
                busy.remove_frame(name)
            busy.set_poses(of=name, in_frame="base", transforms=ROWS, at=AT)

        def wait(_):
            try:
                pose = busy.wait_for_pose(of=current[0], in_frame="map", timeout_s=WAIT_S)
            except WaitTimeout as late:
                pytest.fail(f"A wake-up was lost: {late}")
            assert pose.transform.translation[0] == 7.0

        def ask(i):
            busy.on_pose(lambda _: None, of=f"f{i}", in_frame="map", on_failure=bool, timeout_s=0.01).cancel()

        race.run(write=come_and_go(busy), flicker=flicker, wait=wait, ask=ask)
        drain(busy)
        assert busy.store.waits_pending() == 0


class TestWhileSamplesCome:
    def test_every_answer_lies_on_the_line(self, race):
        world = World(history=seconds(1))
        drive(world, 0, 0.1)

        def write(i):
            drive(world, 0.1 + 0.001 * i)

        def read(_):
            pose = world.pose(of="robot", in_frame="map")
            assert pose.transform.translation[0] == pytest.approx(1e-9 * pose.stamp, abs=1e-9)

        def sweep(_):
            seen = world.snapshot(in_frame="map")
            if "robot" in seen.missing:  # its newest instant is forgotten when it is asked for, as for `pose`
                raise seen.missing["robot"]
            assert seen["robot"].translation[0] == pytest.approx(1e-9 * seen.stamps["robot"], abs=1e-9)

        race.run(write=write, read=read, sweep=sweep)

    def test_moves_are_seen_whole(self, world, race):
        world.fix(of="left", in_frame="map", transform=moved(10))
        world.fix(of="right", in_frame="map", transform=moved(20))

        def move(i):
            world.fix(of="cup", in_frame=("left", "right")[i % 2], transform=moved(1), at=i)

        def look(_):
            pose = world.pose(of="cup", in_frame="map")
            side = pose.relations[0][1]
            assert pose.transform.translation[0] == {"left": 11.0, "right": 21.0}[side]

        race.run(move=move, look=look)

    def test_preferences_are_seen_whole(self, world, race):
        for x, who in ((1.0, "a"), (2.0, "b")):
            world.fix(of="cup", in_frame="map", transform=moved(x), source=who)

        def look(_):
            pose = world.pose(of="cup", in_frame="map")
            assert pose.transform.translation[0] == {"a": 1.0, "b": 2.0}[pose.relations[0][2]]

        race.run(prefer=lambda i: world.prefer(of="cup", source=("a", "b", None)[i % 3]), look=look)

    def test_clearing_and_resetting_are_safe(self, world, race):
        def write(i):
            drive(world, 1 + 0.001 * (i % 100))

        race.run(
            write=write,
            clear=lambda _: world.clear(),
            reset=lambda _: world.reset_time(),
            read=lambda _: world.snapshot(in_frame="map", outside="hold"),
            keep=lambda i: world.keep(of="robot", in_frame="map", max_samples=1 + i % 50),
        )

    def test_new_names_are_made_once(self, world, race):
        race.run(**{who: lambda i: world.fix(of=f"n{i}", in_frame="map", transform=STILL) for who in "abcd"})
        names = world.frames()
        assert len(names) == len(set(names))
        assert len(world.relations()) == len(names) - 1


class TestWorkWithoutTheGil:
    @pytest.mark.skipif(sys.platform != "linux", reason="memory is limited by a Linux call")
    def test_that_runs_out_of_memory_is_an_error_like_others(self):
        done = run_python(OUT_OF_MEMORY)
        assert (done.returncode, done.stdout, done.stderr) == (0, "MemoryError, and on it goes\n", "")


class TestLocks:
    @pytest.mark.parametrize(
        "bring",
        [
            "robot.merge(other.scene.changes())",
            "robot.apply([Fix(of='wheel', in_frame='map', transform=STILL)])",
        ],
    )
    def test_a_pending_twist_is_stored_by_what_observers_are_notified_of(self, bring):
        result = run_python(BOUNDED + A_PENDING_TWIST_AND_AN_OBSERVER.format(bring=bring), timeout_s=120.0)
        assert (result.returncode, result.stdout) == (0, "0 True\n"), result.stderr

    def test_are_taken_in_one_order(self):
        result = run_python(BOUNDED + HAMMER, timeout_s=150.0)
        assert (result.returncode, result.stdout) == (0, "[]\n"), result.stderr
