"""Two reading threads against one: batches over ten edges, wall time.

The writer sends sixty frames at 1 kHz, ten of which are the edges being read, so that
readers meet appends and expiry. Needs two cores for itself: on a busy machine the
ratio says more about the machine than about the library.
"""

import os
import threading
from collections.abc import Iterator
from itertools import pairwise
from time import perf_counter, sleep
from typing import Self

import numpy as np

from armillary import Transform, World
from context import Bench, race
from peers import TF2_CPP
from scenario import HISTORY_NS, PERIOD_NS, SAMPLES, START_NS, Scenario
from table import Row

BATCH, BATCHES = 20_000, 5
FRAMES, CHAIN = 60, 10
WINDOW_MS = 100


def rows(bench: Bench) -> Iterator[Row]:
    if len(os.sched_getaffinity(0)) < 2:
        print("two reading threads: skipped, this process may use one core only.")
        return
    for writing in (False, True):
        ours, theirs = _ours(bench, writing), _tf2(bench, writing)
        what = "2 reading threads against 1" + ", writer 60k/s" * writing
        yield Row(what=what, ours=ours[2] / 1e3, unit="k/s", peer=ours[1] / 1e3, peer_name="1 thread",
                  figure=ours[2] / ours[1], asked=1.6, goal=1.9)
        if theirs:
            yield Row(what=f"  {TF2_CPP} by itself", ours=theirs[2] / 1e3, unit="k/s", peer=theirs[1] / 1e3,
                      peer_name="1 thread", figure=theirs[2] / theirs[1])


def _ours(bench: Bench, writing: bool) -> dict[int, float]:
    """Best lookups a second with one and with two threads."""
    with Writer(bench.scenario) as writer:
        writer.pace(on=writing)
        best = race({str(n): lambda _, n=n: 1 / _throughput(writer, n) for n in (1, 2)}, 3 * bench.repeats)
        if writing:
            print(f"  (the writer kept {writer.rate_hz() / 1000:.0f}k samples a second)")
    return {int(name): 1 / cost for name, cost in best.items()}


def _tf2(bench: Bench, writing: bool) -> dict[int, float] | None:
    if TF2_CPP not in bench.peers:
        return None
    ask = bench.peers[TF2_CPP].ask
    best = race({str(n): lambda _, n=n: 1 / ask(f"readers {n} {WINDOW_MS} {writing:d}")["per_s"]
                 for n in (1, 2)}, bench.repeats)
    return {int(name): 1 / cost for name, cost in best.items()}


def _throughput(writer: "Writer", threads: int) -> float:
    times = writer.recent_times(BATCH)
    start = threading.Barrier(threads + 1)
    running = [threading.Thread(target=_read, args=(writer.world, times, start)) for _ in range(threads)]
    for thread in running:
        thread.start()
    start.wait()
    started = perf_counter()
    for thread in running:
        thread.join()
    return threads * BATCHES * BATCH / (perf_counter() - started)


def _read(world: World, times: np.ndarray, start: threading.Barrier) -> None:
    start.wait()
    for _ in range(BATCHES):
        world.transforms(of=f"f{CHAIN}", in_frame="f0", at=times)


class Writer:
    """A world of sixty frames, and the thread that goes on writing it in wall time."""

    def __init__(self, scenario: Scenario) -> None:
        self.world = World(history=HISTORY_NS)
        names = [f"f{i}" for i in range(FRAMES + 1)]
        self.edges = list(pairwise(names[:CHAIN + 1])) + [("f0", name) for name in names[CHAIN + 1:]]
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

    def recent_times(self, count: int) -> np.ndarray:
        newest = START_NS + (self.next - 1) * PERIOD_NS
        return np.random.default_rng(self.next).integers(newest - 9 * 10**9, newest - PERIOD_NS, size=count)

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
