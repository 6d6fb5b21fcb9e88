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
    yield Row(
        what="set_pose, 1000 waits elsewhere",
        ours=best["elsewhere"],
        peer=none,
        peer_name="no waits",
        figure=best["elsewhere"] / none,
        asked=2,
        goal=1.1,
        less_is_better=True,
    )
    yield Row(
        what="set_pose, 1000 waits on this relation",
        ours=best["here"],
        peer=none,
        peer_name="no waits",
        figure=best["here"] / none,
    )
    yield Row.faster("set_pose, 1000 waits elsewhere", best["elsewhere"], best[TF2_CPP], TF2_CPP)


def _race(bench: Bench) -> dict[str, float | None]:
    streams = {
        name: Stream(filled_world(bench.scenario, "jittered"), bench.scenario) for name in ("none", "elsewhere", "here")
    }
    waits = _waits(streams["elsewhere"], "f10") + _waits(streams["here"], "w")
    ours = {name: _inserting(stream) for name, stream in streams.items()}
    best = bench.race(ours, {TF2_CPP: lambda _: f"waits {WAITS} {PEER_COUNT}"})
    for wait in waits:
        wait.cancel()
    for stream in streams.values():
        stream.world.close()
    return best


def _waits(stream: Stream, frame: str) -> list:
    return [stream.world.on_pose(_never, of=frame, in_frame="f0", at=NEVER_NS + i) for i in range(WAITS)]


def _never(_: object) -> None:
    raise AssertionError("a wait of the benchmark was answered")


def _inserting(stream: Stream):
    return lambda _: stream.insert(stream.in_order(COUNT))
