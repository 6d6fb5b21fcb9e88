"""Two threads read a scene while a third changes it in batches: what a reading costs, and that no batch is seen half.

A batch takes ten things away and brings ten others of the same name. A reader that finds another number than ten has
seen half a batch. A reading is one `find`, which holds the interpreter's lock, so threads take turns: the ratio is
that of the CPU time of a reading, the rates inform.
"""

import threading
from collections.abc import Iterator
from math import inf
from time import perf_counter, thread_time_ns

from armillary.scene import AddGroup, Remove
from context import Bench
from scene_scenario import ALIKE, filled_scene
from table import Row

THINGS, READERS, READINGS = 1_000, 2, 2_000
PART = {"name": "part"}


def rows(bench: Bench) -> Iterator[Row]:
    calm, busy = Readers(), Readers()
    for _ in range(bench.repeats):
        changing = ChangingScene()
        calm.read(changing)
        with changing:
            busy.read(changing)
    yield Row(
        what=f"scene: find by {READERS} threads, 1 writing",
        ours=busy.cpu_ns,
        peer=calm.cpu_ns,
        peer_name="0 writing",
        figure=busy.cpu_ns / calm.cpu_ns,
    )
    yield Row(what="  finds a second", ours=busy.per_s / 1e3, unit="k/s", peer=calm.per_s / 1e3, peer_name="0 writing")
    yield Row.at_most("  batches seen half", float(busy.halves), " seen", asked=0)


class ChangingScene:
    """A scene, and in a `with` block the thread that goes on changing it."""

    def __init__(self) -> None:
        self._world = filled_scene(THINGS)
        self.find = self._world.scene.find
        self._new = [AddGroup(parent=self._world.scene.root, attributes=PART)] * ALIKE
        self._parts = self._world.apply(self._new)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._ended.is_set():
            done = self._world.apply([*map(Remove, self._parts), *self._new])
            self._parts = done[ALIKE:]


class Readers:
    """The least CPU time of a reading, the highest rate of all readers together, and what was seen half."""

    def __init__(self) -> None:
        self.cpu_ns, self.per_s, self.halves = inf, 0.0, 0

    def read(self, changing: ChangingScene) -> None:
        """One window, in which every thread reads so many times."""
        threads = [threading.Thread(target=self._read, args=(changing,)) for _ in range(READERS)]
        started = perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.per_s = max(self.per_s, READERS * READINGS / (perf_counter() - started))

    def _read(self, changing: ChangingScene) -> None:
        find, started = changing.find, thread_time_ns()
        halves = sum(len(find(PART)) != ALIKE for _ in range(READINGS))
        self.cpu_ns = min(self.cpu_ns, (thread_time_ns() - started) / READINGS)
        self.halves += halves
