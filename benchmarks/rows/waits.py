"""Inserting while a thousand waits are pending.

The asked row: the waits are for the chain `f10` in `f0`, the insert is into `w` in `f0`.
The harder row: they wait for later stamps of the very relation that is inserted.
"""

from collections.abc import Iterator

from context import Bench, Stream, filled_world
from peers import TF2_CPP
from scenario import HISTORY_NS, START_NS
from table import Row

COUNT, PEER_COUNT, WAITS = 2_000, 100, 1_000
NEVER_NS = START_NS + 1_000 * HISTORY_NS


def rows(bench: Bench) -> Iterator[Row]:
    best = _race(bench)
    none = best["none"]
    yield Row(what="set_pose, 1000 waits elsewhere", ours=best["elsewhere"], peer=none, peer_name="no waits",
              figure=best["elsewhere"] / none, asked=2, goal=1.1, less_is_better=True)
    yield Row(what="set_pose, 1000 waits on this relation", ours=best["here"], peer=none,
              peer_name="no waits", figure=best["here"] / none)
    yield Row.faster("set_pose, 1000 waits elsewhere", best["elsewhere"], best[TF2_CPP], TF2_CPP)


def _race(bench: Bench) -> dict[str, float | None]:
    frames = {"none": None, "elsewhere": "f10", "here": "w"}
    streams = {name: _waiting(bench, frame) for name, frame in frames.items()}
    ours = {name: _inserting(stream) for name, stream in streams.items()}
    return bench.race(ours, {TF2_CPP: lambda _: f"waits {WAITS} {PEER_COUNT}"})


def _waiting(bench: Bench, frame: str | None) -> Stream:
    world = filled_world(bench.scenario, "jittered")
    stream = Stream(world, bench.scenario)
    for i in range(WAITS if frame else 0):
        world.on_pose(_never, of=frame, in_frame="f0", at=NEVER_NS + i)
    return stream


def _never(_: object) -> None:
    raise AssertionError("a wait of the benchmark was answered")


def _inserting(stream: Stream):
    return lambda _: stream.insert(stream.in_order(COUNT))
