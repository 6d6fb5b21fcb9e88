"""Forked processes: a child uses and closes the worlds of its parent, whatever threads of the parent were doing."""

from __future__ import annotations

import os

import pytest

from unit.kit import run_python

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")

PREAMBLE = """
import multiprocessing, os, queue, signal, sys, threading, time, warnings
import numpy as np
from armillary import LATEST, Transform, World, seconds
from armillary.errors import WaitTimeout
warnings.simplefilter("ignore", DeprecationWarning)  # forking with threads is what this is about
STILL = Transform.identity()
world = World("robot")
world.fix(of="cup", in_frame="table", transform=STILL)

def forked(task):
    '''What a child does, which has ten seconds: its exit code.'''
    if (pid := os.fork()) == 0:
        signal.alarm(10)
        try:
            task()
        except BaseException:
            sys.excepthook(*sys.exc_info())
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

def use():
    '''Reading, writing, structure, nodes, waits, callbacks, copies: all of a world.'''
    assert world.pose(of="cup", in_frame="table").transform == STILL
    world.set_pose(of="robot", in_frame="table", transform=STILL, at=5)
    assert world.wait_for_pose(of="robot", in_frame="table", at=5, timeout_s=5.0).stamp == 5
    world.fix(of="tray", in_frame="robot", transform=STILL)
    world.remove_frame("tray")
    node = world.scene.add_group(parent=world.scene.root)
    world.scene.remove(node)
    called = threading.Event()
    world.on_pose(lambda _: called.set(), of="cup", in_frame="table")
    assert called.wait(5.0)
    assert world.copy().pose(of="robot", in_frame="table", at=5).transform == STILL
    world.close()
"""


def printed_by(program: str) -> str:
    result = run_python(PREAMBLE + program, timeout_s=120.0)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    return result.stdout


FORKS = {
    "asks": "assert world.pose(of='cup', in_frame='table').transform == STILL",
    "waits": "assert world.wait_for_pose(of='cup', in_frame='table', timeout_s=5.0)",
    "times out": """
        try: world.wait_for_pose(of="a", in_frame="b", timeout_s=0.01)
        except WaitTimeout: pass
        else: raise AssertionError
    """,
    "is called back": """
        done = threading.Event()
        world.on_pose(lambda _: done.set(), of="cup", in_frame="table")
        assert done.wait(5.0)
    """,
    "is called back, and closes": "use()",
    "closes": "world.close()",
    "closes twice": "world.close(); world.close()",
    "forks again": "assert forked(use) == 0; use()",
    "makes worlds": "World(); World().scene.add_group(parent=World().scene.root)",
}


class TestAChildOfAProcessWithADispatcher:
    @pytest.mark.parametrize("task", FORKS)
    def test_that(self, task):
        body = FORKS[task] if "\n" in FORKS[task] else f"        {FORKS[task]}"
        program = f"""
ready = threading.Event()
world.on_pose(lambda _: ready.set(), of="cup", in_frame="table")
ready.wait(10.0)
time.sleep(0.05)  # now it waits for work
if True:
    def task():
{body}
code = forked(task)
use()
print(code)
"""
        assert printed_by(program) == "0\n"

    @pytest.mark.parametrize("ending", ["sys.exit(0)", "del world, use; sys.exit(0)"])
    def test_that_ends_as_any_program_does(self, ending):
        program = f"""
ready = threading.Event()
world.on_pose(lambda _: ready.set(), of="cup", in_frame="table")
ready.wait(10.0)
if (pid := os.fork()) == 0:
    signal.alarm(10)
    world.on_pose(lambda _: None, of="cup", in_frame="table")
    {ending}
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""
        assert printed_by(program) == "0\n"

    def test_leaves_waits_and_callbacks_to_the_parent(self):
        program = """
called, told = [], threading.Event()
world.on_pose(lambda pose: (called.append(os.getpid()), told.set()), of="late", in_frame="table", at=7)
waiting = threading.Thread(target=lambda: world.wait_for_pose(of="late", in_frame="table", at=7, timeout_s=20.0))
waiting.start()
while world.store.waits_pending() < 2: time.sleep(0.001)
def task():
    assert world.store.waits_pending() == 0
    world.set_pose(of="late", in_frame="table", transform=STILL, at=7)
    use()
    assert called == []
code = forked(task)
assert world.store.waits_pending() == 2
world.set_pose(of="late", in_frame="table", transform=STILL, at=7)
waiting.join(10.0)
told.wait(10.0)
print(code, called == [os.getpid()], waiting.is_alive())
world.close()
"""
        assert printed_by(program) == "0 True False\n"

    def test_leaves_queued_items_to_the_parent_and_queues_its_own(self):
        program = """
got, stamped = queue.Queue(), None
stamped = world.stamped_queue(lambda item, poses: got.put(item), in_frames=["table"])
stamped.put("scan", frame="late", at=7)
def task():
    assert len(stamped) == 0
    stamped.put("own", frame="late", at=7)
    world.set_pose(of="late", in_frame="table", transform=STILL, at=7)
    assert got.get(timeout=5.0) == "own"
    use()
print(forked(task), len(stamped))
world.set_pose(of="late", in_frame="table", transform=STILL, at=7)
print(got.get(timeout=5.0))
world.close()
"""
        assert printed_by(program) == "0 1\nscan\n"

    def test_keeps_twists_that_wait_for_poses(self):
        program = """
world.set_twist(of="ball", relative_to="table", expressed_in="camera", linear=(1, 0, 0), angular=(0, 0, 0), at=5,
                pending=True)
def task():
    assert len(world.store.pending.twists()) == 1
    world.fix(of="camera", in_frame="ball", transform=STILL)
    assert len(world.store.pending.twists()) == 0
    use()
print(forked(task), len(world.store.pending.twists()))
"""
        assert printed_by(program) == "0 1\n"


class TestAChildOfAProcessThatWasImporting:
    def test_has_what_another_thread_was_importing(self):
        """Some modules are imported when they are first needed, on whatever thread that is."""
        program = """
import importlib.abc, importlib.machinery
class Slow(importlib.abc.Loader, importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        return importlib.machinery.ModuleSpec(name, self) if name == "armillary.slow" else None
    def exec_module(self, module):
        begun.set()
        time.sleep(0.3)
        import colorsys  # which need the lock of imports again
        module.whole = True
sys.meta_path.insert(0, Slow())
begun = threading.Event()
def take():
    import armillary.slow
thread = threading.Thread(target=take)
thread.start()
begun.wait()
def task():
    import armillary.slow
    import wave  # others can be imported
    assert armillary.slow.whole
    use()
print(forked(task), end=" ")
thread.join()
import csv
print(forked(use))
"""
        assert printed_by(program) == "0 0\n"


class TestAChildOfAProcessThatWasWriting:
    def test_finds_the_world_whole_and_free(self):
        program = """
count = 200_000
rows, at = np.zeros((count, 7)), np.arange(count)
rows[:, 3] = 1.0
loaded, stop = World("loaded", history=None), threading.Event()
def load():
    i = 0
    while not stop.is_set():
        loaded.set_poses(of=f"robot {i % 20}", in_frame="map", transforms=rows, at=at)
        loaded.remove_frame(f"robot {i % 20}")
        i += 1
thread = threading.Thread(target=load)
thread.start()
def task():
    for name in loaded.frames():
        if name != "map":
            assert len(loaded.samples(of=name, in_frame="map").stamps) in (0, count)  # all of it, or none
    loaded.set_poses(of="own", in_frame="map", transforms=rows[:10], at=at[:10])
    assert loaded.pose(of="own", in_frame="map", at=5).stamp == 5
    loaded.close()
    use()
codes = []
for _ in range(10):
    time.sleep(0.013)
    codes.append(forked(task))
stop.set()
thread.join()
print(set(codes))
"""
        assert printed_by(program) == "{0}\n"

    def test_finds_it_so_while_many_threads_change_structure(self):
        program = """
stop = threading.Event()
seen = []
world.scene.attach(seen.append)
def churn(name):
    while not stop.is_set():
        world.set_pose(of=name, in_frame="table", transform=STILL, at=1)
        world.scene.remove(world.scene.add_group(parent=world.scene.root))
        world.remove_frame(name)
        try: world.wait_for_pose(of="nobody", in_frame="table", timeout_s=0.001)
        except WaitTimeout: pass
threads = [threading.Thread(target=churn, args=(f"thing {i}",)) for i in range(4)]
for thread in threads: thread.start()
def task():
    before = len(seen)
    world.fix(of="own", in_frame="table", transform=STILL)
    assert len(seen) > before
    use()
codes = []
for _ in range(15):
    time.sleep(0.007)
    codes.append(forked(task))
stop.set()
for thread in threads: thread.join()
print(set(codes))
"""
        assert printed_by(program) == "{0}\n"


class TestAForkInACallback:
    @pytest.mark.parametrize(
        "arrange",
        [
            "world.on_pose(lambda _: run(), of='cup', in_frame='table')",
            "world.scene.attach(lambda _: run()); world.fix(of='new', in_frame='table', transform=STILL)",
        ],
        ids=["of a wait", "of an observer"],
    )
    def test_gives_a_child_that_can_use_the_world(self, arrange):
        program = f"""
codes, done = [], threading.Event()
def run():
    if not done.is_set():
        done.set()
        codes.append(forked(use))
        finished.set()
finished = threading.Event()
{arrange}
finished.wait(20.0)
world.close()
print(codes)
"""
        assert printed_by(program) == "[0]\n"


class TestMultiprocessing:
    def test_reads_and_closes_the_world_of_its_parent_in_workers(self):
        program = """
for t in range(11):
    world.set_pose(of="robot", in_frame="table", transform=Transform.from_translation((t, 0, 0)), at=seconds(t))
world.on_pose(lambda _: None, of="cup", in_frame="table")
def x_at(t):
    return float(world.pose(of="robot", in_frame="table", at=seconds(t)).xyz[0])
fork = multiprocessing.get_context("fork")
with fork.Pool(3) as pool:
    print(pool.map(x_at, [0.5, 3.25, 9.75]))
worker = fork.Process(target=use)
worker.start()
worker.join(20.0)
print(worker.exitcode)
world.close()
"""
        assert printed_by(program) == "[0.5, 3.25, 9.75]\n0\n"
