"""One world in many processes: killed, stopped and cut off, they end with equal worlds."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import subprocess
import sys
import time

import pytest

from armillary import Transform, World, connect, seconds

pytest.importorskip("zenoh")

PATIENCE_S = 30.0

PROCESS = """
import json, sys, time
from armillary import Transform, World, seconds
name, me, how = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
world = World(me, history=seconds(1000))
share = world.share(name, **how)
print("ready", flush=True)
k = 0
for line in sys.stdin:
    what = line.split()
    if what[0] == "fix":
        for _ in range(int(what[1])):
            k += 1
            world.fix(of=f"{me} {k}", in_frame="map", transform=Transform.from_xyz_rpy(xyz=(k, 0, 0), rpy=(0, 0, 0)))
        print("fixed", k, share.flush(float(what[2])), flush=True)
    elif what[0] == "forever":
        while True:
            k += 1
            world.fix(of=f"{me} {k}", in_frame="map", transform=Transform.from_xyz_rpy(xyz=(k, 0, 0), rpy=(0, 0, 0)))
            world.set_pose(of=me, in_frame="map", transform=Transform.identity(), at=k)
    elif what[0] == "digest":
        print(world.digest(), flush=True)
world.close()
print("closed", flush=True)
"""


class Process:
    """A process that shares a world, and does what it is told."""

    def __init__(self, name, me, **how):
        command = [sys.executable, "-c", PROCESS, name, me, json.dumps(how)]
        self.running = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.said() == "ready"

    def tell(self, line):
        self.running.stdin.write(f"{line}\n")
        self.running.stdin.flush()

    def said(self):
        return self.running.stdout.readline().strip()

    def asked(self, line):
        self.tell(line)
        return self.said()

    def send(self, sent):
        os.kill(self.running.pid, sent)

    def end(self):
        """Let it end by itself; return its exit status."""
        self.running.stdin.close()
        return self.running.wait(PATIENCE_S)


@contextlib.contextmanager
def processes(*given):
    """End whatever is left of them."""
    try:
        yield given
    finally:
        for process in given:
            if process.running.poll() is None:
                process.running.send_signal(signal.SIGCONT)
                process.running.kill()
            process.running.wait(PATIENCE_S)
            process.running.stdin.close()
            process.running.stdout.close()


def become_equal(world, *others):
    """Whether this world, and those of other processes, have the same structure in time."""
    end_s = time.monotonic() + PATIENCE_S
    while time.monotonic() < end_s:
        if all(process.asked("digest") == world.digest() for process in others):
            return True
        time.sleep(0.05)
    return False


@pytest.fixture
def name():
    return f"story-{secrets.token_hex(6)}"


class TestAPublisherThatIsKilled:
    def test_loses_nothing_that_was_acknowledged(self, name):
        with processes(Process(name, "robot")) as (robot,), World("keeper") as keeper:
            keeper.share(name)
            assert robot.asked("fix 200 20") == "fixed 200 True"
            robot.tell("forever")
            time.sleep(0.5)
            robot.send(signal.SIGKILL)
            robot.running.wait(PATIENCE_S)
            assert {f"robot {k}" for k in range(1, 201)} <= set(keeper.frames())
            assert wait_until(lambda: not keeper.peers()[0].is_alive)

    def test_is_noticed_in_under_a_second(self, name):
        with processes(Process(name, "robot")) as (robot,), World("keeper") as keeper:
            assert keeper.share(name).wait_for_peers(1, PATIENCE_S)
            robot.send(signal.SIGKILL)
            began_s = time.monotonic()
            assert wait_until(lambda: not keeper.peers()[0].is_alive)
            print(f"noticed after {1e3 * (time.monotonic() - began_s):.0f} ms")


class TestAPeerThatWasStopped:
    def test_catches_up_with_what_it_missed(self, name):
        with processes(Process(name, "robot"), Process(name, "planner")) as (robot, planner), World("x") as world:
            assert world.share(name).wait_for_peers(2, PATIENCE_S)
            planner.send(signal.SIGSTOP)
            time.sleep(2.0)  # longer than the lease: the others take it for gone
            assert robot.asked("fix 100 20").startswith("fixed 100")
            planner.send(signal.SIGCONT)
            assert become_equal(world, robot, planner)


class TestARouter:
    def test_may_be_killed_and_started_again(self, name):
        endpoint = f"tcp/127.0.0.1:{free_port()}"
        router = Process(name, "router", listen=[endpoint], router=True)
        robot = Process(name, "robot", connect=[endpoint])
        with processes(router, robot), World("planner") as planner:
            assert planner.share(name, connect=[endpoint]).wait_for_peers(2, PATIENCE_S)
            router.send(signal.SIGKILL)
            router.running.wait(PATIENCE_S)
            robot.tell("fix 50 0.1")
            planner.fix(of="table", in_frame="map", transform=Transform.identity())
            with processes(Process(name, "router", listen=[endpoint], router=True)) as (again,):
                assert robot.said().startswith("fixed 50")
                assert become_equal(planner, robot, again)


class TestAProcess:
    def test_ends_by_itself_after_it_left(self, name):
        with processes(Process(name, "robot"), Process(name, "planner")) as (robot, planner):
            assert robot.end() == 0
            assert planner.end() == 0

    def test_ends_although_it_did_not_leave(self, name):
        text = f"from armillary import World; World('x').share({name!r}); raise SystemExit(3)"
        assert subprocess.run([sys.executable, "-c", text], timeout=PATIENCE_S, check=False).returncode == 3

    def test_asks_a_world_without_a_copy(self, name):
        with processes(Process(name, "robot")) as (robot,):
            robot.asked("fix 3 0")
            with connect(name, timeout_s=PATIENCE_S) as remote:
                assert remote.pose(of="robot 2", in_frame="map").xyz[0] == 2.0
                assert seconds(0) == 0


def wait_until(condition):
    end_s = time.monotonic() + PATIENCE_S
    while time.monotonic() < end_s and not condition():
        time.sleep(0.005)
    return condition()


def free_port():
    from socket import socket  # noqa: PLC0415

    with socket() as trial:
        trial.bind(("127.0.0.1", 0))
        return trial.getsockname()[1]
