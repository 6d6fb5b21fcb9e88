"""Two reading threads against one: batches over ten edges, wall time.

The writer sends sixty frames at 1 kHz, ten of which are the edges being read, so that
readers meet appends and expiry. Needs two cores for itself: on a busy machine the
ratio says more about the machine than about the library. Beside it stands what a busy
machine cannot spoil: the CPU time of a lookup with two threads against one, as the
ratio that two free cores would give if no thread ever slept on a lock.
"""

import os
import threading
from collections.abc import Callable, Iterator
from hashlib import sha256
from itertools import pairwise
from math import inf
from time import perf_counter, sleep, thread_time_ns
from typing import Self

import numpy as np

from armillary import Transform, World
from context import Bench, race
from peers import TF2_CPP
from scenario import HISTORY_NS, PERIOD_NS, SAMPLES, START_NS, Scenario
from table import Row

BATCH, BATCHES = 10_000, 2  # about ten milliseconds: short enough to find both cores free now and then
LOOKUPS = BATCH * BATCHES
CONTROL_INPUT = bytes(5_000_000)
FRAMES, CHAIN = 60, 10
WINDOW_MS = 30
WINDOWS = 10  # times the repeats of other rows


def rows(bench: Bench) -> Iterator[Row]:
    if len(os.sched_getaffinity(0)) < 2:
        print("two reading threads: skipped, this process may use one core only.")
        return
    for writing in (False, True):
        (ours, cpu, machine, written_hz), theirs = _ours(bench, writing), _tf2(bench, writing)
        what = "2 reading threads against 1" + ", writer 60k/s" * writing
        yield Row(
            what=what,
            ours=ours[2] / 1e3,
            unit="k/s",
            peer=ours[1] / 1e3,
            peer_name="1 thread",
            figure=ours[2] / ours[1],
            asked=1.6,
            goal=1.9,
        )
        if writing:
            yield Row.at_least("  what the writer reached meanwhile", written_hz / 1e3, "k/s", asked=50)
        yield Row(
            what="  the same by CPU time of a lookup",
            ours=cpu[2],
            peer=cpu[1],
            peer_name="1 thread",
            figure=2 * cpu[1] / cpu[2],
        )
        yield Row(
            what="  control: what the machine gives (sha256)",
            ours=machine[2],
            unit="/s",
            peer=machine[1],
            peer_name="1 thread",
            figure=machine[2] / machine[1],
        )
        if theirs:
            yield Row(
                what=f"  {TF2_CPP} by itself",
                ours=theirs[2] / 1e3,
                unit="k/s",
                peer=theirs[1] / 1e3,
                peer_name="1 thread",
                figure=theirs[2] / theirs[1],
            )


ByThreads = dict[int, float]


def _ours(bench: Bench, writing: bool) -> tuple[ByThreads, ByThreads, ByThreads, float]:
    """Most lookups a second, least CPU nanoseconds of a lookup, most control tasks and samples written a second."""
    per_s, cpu, machine = {1: 0.0, 2: 0.0}, {1: inf, 2: inf}, {1: 0.0, 2: 0.0}
    with Writer(bench.scenario) as writer:
        writer.pace(on=writing)
        for threads in [1, 2] * (WINDOWS * bench.repeats):
            rate, cost = _window(writer.reading(), threads)
            per_s[threads] = max(per_s[threads], rate * LOOKUPS)
            cpu[threads] = min(cpu[threads], cost / LOOKUPS)
            machine[threads] = max(machine[threads], _window(_control, threads)[0])
        written_hz = writer.rate_hz() if writing else 0.0
    return per_s, cpu, machine, written_hz


def _tf2(bench: Bench, writing: bool) -> ByThreads | None:
    if TF2_CPP not in bench.peers:
        return None
    ask = bench.peers[TF2_CPP].ask
    best = race(
        {str(n): lambda _, n=n: 1 / ask(f"readers {n} {WINDOW_MS} {writing:d}")["per_s"] for n in (1, 2)},
        3 * bench.repeats,
    )
    return {int(name): 1 / cost for name, cost in best.items()}


def _window(task: Callable[[], object], threads: int) -> tuple[float, float]:
    """Tasks a second when each thread does one, and the CPU nanoseconds of one."""
    start, spent = threading.Barrier(threads + 1), []
    running = [threading.Thread(target=_timed, args=(task, start, spent)) for _ in range(threads)]
    for thread in running:
        thread.start()
    start.wait()
    started = perf_counter()
    for thread in running:
        thread.join()
    return threads / (perf_counter() - started), sum(spent) / threads


def _timed(task: Callable[[], object], start: threading.Barrier, spent: list[int]) -> None:
    start.wait()
    started = thread_time_ns()
    task()
    spent.append(thread_time_ns() - started)


def _control() -> None:
    """About as long as a window of reading, without a lock and without the GIL."""
    sha256(CONTROL_INPUT)


class Writer:
    """A world of sixty frames, and the thread that goes on writing it in wall time."""

    def __init__(self, scenario: Scenario) -> None:
        self.world = World(history=HISTORY_NS)
        names = [f"f{i}" for i in range(FRAMES + 1)]
        self.edges = list(pairwise(names[: CHAIN + 1])) + [("f0", name) for name in names[CHAIN + 1 :]]
        rows = scenario.chains["regular"].rows[0]
        self.values = [Transform.from_xyz_wxyz(xyz=row[:3], wxyz=row[3:]) for row in rows]
        stamps = START_NS + PERIOD_NS * np.arange(SAMPLES)
        for in_frame, of in self.edges:
            self.world.set_poses(of=of, in_frame=in_frame, transforms=rows, at=stamps)
        self.next = SAMPLES
        self._writing, self._ended = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._writing.set()
        self._thread.join()

    def pace(self, *, on: bool) -> None:
        if on:
            self._writing.set()

    def reading(self) -> Callable[[], None]:
        """A task: batches over the ten edges, at random times that will not expire meanwhile."""
        newest = START_NS + (self.next - 1) * PERIOD_NS
        times = np.random.default_rng(self.next).integers(newest - 9 * 10**9, newest - PERIOD_NS, size=BATCH)

        def task() -> None:
            for _ in range(BATCHES):
                self.world.transforms(of=f"f{CHAIN}", in_frame="f0", at=times)

        return task

    def rate_hz(self) -> float:
        return (self.next - SAMPLES) * FRAMES / (perf_counter() - self._started)

    def _run(self) -> None:
        self._writing.wait()
        self._started = due = perf_counter()
        while not self._ended.is_set():
            self._tick()
            due += PERIOD_NS * 1e-9
            sleep(max(0.0, due - perf_counter()))

    def _tick(self) -> None:
        at, value = START_NS + self.next * PERIOD_NS, self.values[self.next % SAMPLES]
        for in_frame, of in self.edges:
            self.world.set_pose(of=of, in_frame=in_frame, transform=value, at=at)
        self.next += 1
