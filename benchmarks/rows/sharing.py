"""One world in several processes, on loopback: how late samples are, what they cost who takes them, and who does not.

Each figure is of processes of their own (`sharer.py`). CPU is of all threads of one process, in percent of one core.
What a message costs before anything is done with it is in the row of the idle peer and that of Zenoh alone.
"""

import contextlib
import json
import secrets
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Self

from armillary import Transform, World, connect
from armillary.scene import AddGroup
from context import Bench
from table import Row

SHARER = Path(__file__).resolve().parent.parent / "sharer.py"


class _Process:
    """A process of the shared world; `found` is what it measured."""

    def __init__(self, name: str, what: str, amount: float, samples: str = "all") -> None:
        command = [sys.executable, str(SHARER), name, what, str(amount), samples]
        self._running = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def found(self) -> dict:
        assert self._running.stdout is not None
        return json.loads(self._running.stdout.readline())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._running.communicate(timeout=60)


def rows(bench: Bench) -> Iterator[Row]:
    span_s = 2.0 if bench.quick else 8.0
    with _named("move", span_s + 4) as (name, _), _Process(name, "wait", span_s) as waiting:
        found = waiting.found()
        yield Row.at_most("set_pose to answered elsewhere, p50", found["p50_us"] * 1e3, "ns", asked=500e3)
        yield Row.at_most("the same, p99", found["p99_us"] * 1e3, "ns")
    with _named("drive", span_s + 6) as (name, driving):
        with _Process(name, "listen", span_s) as listening, _Process(name, "idle", span_s, "none") as resting:
            yield Row.at_most("CPU: takes 39 joints at 1 kHz", 100 * listening.found()["cpu"], "%", asked=11.9)
            yield Row.at_most("CPU: takes no samples", 100 * resting.found()["cpu"], "%", asked=0.3)
        yield Row.at_most("CPU: gives 39 joints at 1 kHz", 100 * driving.found()["cpu"], "%")
    count = 1000 if bench.quick else 10_000
    with _named("fill", count) as (name, filling), World("late") as late:
        filling.found()
        began_s = time.perf_counter()
        late.share(name).wait_for_peers(1, 60.0)
        while len(late.scene.find({})) < count and time.perf_counter() - began_s < 60.0:
            time.sleep(0.001)
        yield Row.at_most(
            f"late joiner of {count} nodes in step", (time.perf_counter() - began_s) * 1e9, "ns", asked=1e9
        )
    yield from _remote()
    yield _merged(10_000 if bench.quick else 100_000)


@contextlib.contextmanager
def _named(what: str, amount: float) -> Iterator[tuple[str, _Process]]:
    """A process, and the name that it shares."""
    name = f"bench-{secrets.token_hex(4)}"
    with _Process(name, what, amount) as process:
        yield name, process


def _remote() -> Iterator[Row]:
    name = f"bench-{secrets.token_hex(4)}"
    with World("asked") as world:
        for k in range(100):
            world.set_pose(of="base", in_frame="map", transform=Transform.from_translation((k, 0, 0)), at=k)
        world.share(name)
        with connect(name) as remote:
            one = [("pose", {"of": "base", "in_frame": "map", "at": 50})]
            yield Row.at_most("remote pose, p50", _p50_ns(lambda: remote.ask_all(one), 500), "ns", asked=400e3)
            yield Row.at_most(
                "remote batch of 1000 poses, p50", _p50_ns(lambda: remote.ask_all(one * 1000), 20), "ns", asked=2e6
            )
            at = list(range(1, 99)) * 10
            batch = [("transforms", {"of": "base", "in_frame": "map", "at": at})]
            yield Row.at_most(
                "remote transforms at 980 instants, p50", _p50_ns(lambda: remote.ask_all(batch), 100), "ns", asked=2e6
            )


def _p50_ns(act, count: int) -> float:
    taken = []
    for _ in range(count):
        began = time.perf_counter_ns()
        act()
        taken.append(time.perf_counter_ns() - began)
    return statistics.median(taken)


def _merged(count: int) -> Row:
    with World("giver") as giver, World("taker") as taker:
        giver.apply([AddGroup(parent=giver.scene.root, attributes={"k": k}) for k in range(count)])
        records = giver.scene.changes()
        began_s = time.process_time()
        taker.merge(records)
        return Row.at_most(f"merge of {count} changes", (time.process_time() - began_s) * 1e9, "ns", asked=2e9)
