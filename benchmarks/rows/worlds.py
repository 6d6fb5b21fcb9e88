"""What one world's bulk load costs another world's thread: the 99th percentile of a call, by the clock on the wall.

World A loads a million samples into a new relation, again and again, on a thread of its own, which gives the
interpreter's lock away while it stores them. World B is called on the main thread, with and without that load. What is
left of A's load in B's figures is the processor, and the interpreter's lock while A's arrays are converted.
"""

import threading
from collections.abc import Callable, Iterator
from math import inf
from time import perf_counter_ns

import numpy as np

from armillary import Transform, World, seconds
from context import Bench
from table import Row

SAMPLES, CALLS = 1_000_000, 4_000
STILL = Transform.identity()


def rows(bench: Bench) -> Iterator[Row]:
    calls = {"set_pose": _set_pose, "set_poses of 2": _set_poses, "fix": _fix}
    for name, make_call in calls.items():
        alone = loaded = inf
        for _ in range(min(bench.repeats, 3)):
            alone = min(alone, _p99_ns(make_call()))
            with _Load():
                loaded = min(loaded, _p99_ns(make_call()))
        yield Row(
            what=f"world B: p99 of {name}, A loading",
            ours=loaded,
            peer=alone,
            peer_name="B alone",
            figure=loaded / alone,
        )


def _p99_ns(call: Callable[[int], None]) -> float:
    lasted_ns = []
    for i in range(CALLS):
        started = perf_counter_ns()
        call(i)
        lasted_ns.append(perf_counter_ns() - started)
    return float(np.quantile(lasted_ns, 0.99))


def _set_pose() -> Callable[[int], None]:
    set_pose = World("B").set_pose
    return lambda i: set_pose(of="cup", in_frame="map", transform=STILL, at=i)


def _set_poses() -> Callable[[int], None]:
    set_poses, two = World("B").set_poses, _poses(2)
    return lambda i: set_poses(of="cup", in_frame="map", transforms=two, at=[2 * i, 2 * i + 1])


def _fix() -> Callable[[int], None]:
    fix = World("B").fix
    return lambda i: fix(of=f"cup {i % 100}", in_frame="map", transform=STILL)


def _poses(count: int) -> np.ndarray:
    poses = np.zeros((count, 7))
    poses[:, 3] = 1.0
    return poses


class _Load:
    """In a `with` block, the thread that loads world A."""

    def __init__(self) -> None:
        self._world = World("A", history=seconds(1e6))
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(_poses(SAMPLES), np.arange(SAMPLES)))

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _run(self, poses: np.ndarray, at: np.ndarray) -> None:
        while not self._ended.is_set():
            self._world.set_poses(of="robot", in_frame="map", transforms=poses, at=at)
            self._world.remove_frame("robot")
