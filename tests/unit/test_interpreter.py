"""The interpreter around us: what is imported, signals, and its end with threads still waiting."""

from __future__ import annotations

import signal
import sys

import pytest

from armillary.errors import WorldClosed
from unit.kit import STILL, run_python

PREAMBLE = """
import atexit, os, signal, sys, threading, time
from armillary import Transform, World, seconds
from armillary.errors import WaitTimeout
STILL = Transform.identity()
world = World()
world.fix(of="cup", in_frame="table", transform=STILL)
"""
ENDINGS = {
    "a thread blocked in a wait": """
def wait(): world.wait_for_pose(of="a", in_frame="b")
for _ in range(3): threading.Thread(target=wait, daemon=True).start()
time.sleep(0.1)
atexit.register(time.sleep, 0.12)
""",
    "a thread blocked in a wait with a time-out": """
def wait(): world.wait_for_pose(of="a", in_frame="b", timeout_s=0.15)
for _ in range(3): threading.Thread(target=wait, daemon=True).start()
time.sleep(0.08)
""",
    "threads that ask and write": """
world.transforms(of="cup", in_frame="table", at=[1, 2])  # numpy is imported by now
def ask():
    while True: world.snapshot(in_frame="table"); world.transforms(of="cup", in_frame="table", at=[1, 2])
def write():
    for i in range(10**9): world.set_pose(of="robot", in_frame="table", transform=STILL, at=i)
for task in (ask, write): threading.Thread(target=task, daemon=True).start()
time.sleep(0.1)
""",
    "threads whose calls raise": """
from armillary.errors import UnknownFrame
def ask():
    while True:
        try: world.pose(of="camera", in_frame="map")
        except UnknownFrame: pass
for _ in range(3): threading.Thread(target=ask, daemon=True).start()
time.sleep(0.1)
""",
    "threads that fix": """
def fix(name):
    while True: world.fix(of=name, in_frame="table", transform=STILL)
for name in "abc": threading.Thread(target=fix, args=(name,), daemon=True).start()
time.sleep(0.1)
""",
    "a callback that pends": "world.on_pose(print, of='a', in_frame='b')",
    "a callback that does not return": """
world.on_pose(lambda _: threading.Event().wait(), of="cup", in_frame="table")
time.sleep(0.1)
""",
    "a callback that runs for a while": """
world.on_pose(lambda _: time.sleep(0.2), of="cup", in_frame="table")
time.sleep(0.05)
""",
    "a queue that holds data": "world.stamped_queue(print, in_frames=['b']).put(1, frame='a', at=5)",
    "a world in a cycle": "world.me = world; world.on_error = world.close; world.on_pose(print, of='a', in_frame='b')",
    "a world kept by a thread": """
def hold(own): own.wait_for_pose(of="a", in_frame="b")
threading.Thread(target=hold, args=(World(),), daemon=True).start()
time.sleep(0.1)
""",
}


class TestAProgramOfPosesAlone:
    def test_starts_without_scenes_shapes_files_and_models(self):
        program = """
import sys
from armillary import Transform, World
world = World()
world.set_pose(of="cup", in_frame="table", transform=Transform.identity(), at=1)
world.pose(of="cup", in_frame="table"), world.can_pose(of="cup", in_frame="map"), world.tree()
parts = ("articulation", "formats", "record", "relations.expressing", "scene", "shapes", "store.changes", "view")
print([part for part in parts if f"armillary.{part}" in sys.modules], "json" in sys.modules, "xml" in sys.modules)
"""
        assert run_python(program).stdout == "[] False False\n"


class TestTheEndOfTheInterpreter:
    @pytest.mark.parametrize("ending", ENDINGS)
    def test_is_quiet_with(self, ending):
        result = run_python(f"{PREAMBLE}\n{ENDINGS[ending]}\nprint('end')", timeout_s=30.0)
        assert (result.returncode, result.stdout, result.stderr) == (0, "end\n", "")


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
class TestASignalDuringAWait:
    @pytest.fixture
    def alarm(self):
        """Calls a handler in the main thread, a little later."""
        kept = signal.getsignal(signal.SIGALRM)

        def ring(handler):
            signal.signal(signal.SIGALRM, lambda *_: handler())
            signal.setitimer(signal.ITIMER_REAL, 0.05)

        yield ring
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, kept)

    def test_may_interrupt_it(self, world, alarm):
        def interrupt():
            raise KeyboardInterrupt

        alarm(interrupt)
        with pytest.raises(KeyboardInterrupt):
            world.wait_for_pose(of="a", in_frame="b", timeout_s=20.0)
        assert world.store.waits_pending() == 0

    def test_may_bring_what_was_missing(self, world, alarm):
        alarm(lambda: world.fix(of="a", in_frame="b", transform=STILL))
        assert world.wait_for_pose(of="a", in_frame="b", timeout_s=20.0).of == "a"

    def test_may_close_the_world(self, world, alarm):
        alarm(world.close)
        with pytest.raises(WorldClosed):
            world.wait_for_pose(of="a", in_frame="b", timeout_s=20.0)
