"""What one world's bulk load costs other threads: the 99th percentile of a call in world B, by the clock on the wall.

World A loads a million samples into a new relation, again and again, on a thread of its own, which gives the
interpreter's lock away while it reads and stores them. World B is called on the main thread, once in half a
millisecond, with and without that load. The last row is a thread that only sleeps: how late it wakes up. What is left
of A's load in the figures is the processor, and the interpreter's lock, which numpy and the rest of A's Python hold.
"""

import threading
from collections.abc import Callable, Iterator
from time import perf_counter, perf_counter_ns, sleep

import numpy as np

from armillary import Transform, World, seconds
from context import Bench
from table import Row

SAMPLES, WINDOW_S, PAUSE_S = 1_000_000, 1.0, 0.0005
STILL = Transform.identity()


def rows(bench: Bench) -> Iterator[Row]:
    calls = {"set_pose": _set_pose, "set_poses of 2": _set_poses, "fix": _fix, "being late": None}
    for name, make_call in calls.items():
        alone, loaded = [], []
        for _ in range(min(bench.repeats, 3)):
            alone += _lasted_ns(make_call)
            with _Load():
                loaded += _lasted_ns(make_call)
        yield Row(
            what=f"world B: p99 of {name}, A loading",
            ours=float(np.quantile(loaded, 0.99)),
            peer=float(np.quantile(alone, 0.99)),
            peer_name="B alone",
        )


def _lasted_ns(make_call: Callable[[], Callable[[int], None]] | None) -> list[float]:
    """The calls of one window; without a call, how much longer the pauses lasted than they should."""
    call, lasted_ns, end = make_call and make_call(), [], perf_counter() + WINDOW_S
    while perf_counter() < end:
        paused = perf_counter_ns()
        sleep(PAUSE_S)
        started = perf_counter_ns()
        if call:
            call(len(lasted_ns))
        lasted_ns.append(perf_counter_ns() - started if call else started - paused - 1e9 * PAUSE_S)
    return lasted_ns


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
