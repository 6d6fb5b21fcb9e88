"""Inserting in order into a full history, so that every insert also expires a sample."""

from collections.abc import Iterator

import numpy as np

from armillary import World
from context import OURS, Bench, Stream, cpu_ns
from peers import SCHIEBUNG, TF2_CPP, TF2_PYTHON
from scenario import HISTORY_NS, PERIOD_NS, SAMPLES, START_NS
from table import Row

COUNT = 2_000


def rows(bench: Bench) -> Iterator[Row]:
    best = _race(bench)
    single, bulk = "set_pose in order", "set_poses, 10k samples, a sample"
    yield Row.faster(single, best[OURS], best[TF2_PYTHON], TF2_PYTHON, asked=2, goal=4)
    yield Row.faster(single, best[OURS], best[TF2_CPP], TF2_CPP)
    yield Row.faster(single, best[OURS], best[SCHIEBUNG], SCHIEBUNG)
    yield Row.faster(bulk, best["bulk"], best[TF2_PYTHON], TF2_PYTHON, asked=20, goal=40)
    yield Row.faster(bulk, best["bulk"], best[TF2_CPP], TF2_CPP)


def _race(bench: Bench) -> dict[str, float | None]:
    stream = Stream(World(history=HISTORY_NS), bench.scenario)
    bulk = BulkStream(bench)
    ours = {OURS: lambda _: stream.insert(stream.in_order(COUNT)), "bulk": bulk.insert}
    return bench.race(ours, dict.fromkeys((TF2_PYTHON, TF2_CPP, SCHIEBUNG), lambda _: f"insert {COUNT}"))


class BulkStream:
    """Ten seconds a call, each following the last."""

    def __init__(self, bench: Bench) -> None:
        self.world = World(history=HISTORY_NS)
        self.rows = bench.scenario.chains["jittered"].rows[0]
        self.next = 0
        self.insert(0)

    def insert(self, _: int) -> float:
        stamps = START_NS + PERIOD_NS * np.arange(self.next, self.next + SAMPLES)
        self.next += SAMPLES
        return cpu_ns(lambda: self.world.set_poses(of="w", in_frame="f0", transforms=self.rows, at=stamps), SAMPLES)
