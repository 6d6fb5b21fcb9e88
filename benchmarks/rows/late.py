"""Samples that arrive late into ten full seconds.

The whole Python call is an upper bound of the native cost. The native figure takes the
cost of the call away: late `set_pose` minus `set_pose` in order, plus one sample of
`set_poses` (an in-order insert that is almost only native).
"""

from collections.abc import Iterator
from random import Random

from armillary import World
from context import OURS, Bench, Stream
from peers import TF2_CPP
from rows.insert import BulkStream
from scenario import HISTORY_NS
from table import Row

COUNT, GROUP = 1_000, 100
MILLISECOND_NS = 1_000_000
ASKED_NS, GOAL_NS = 3_000, 1_000


def rows(bench: Bench) -> Iterator[Row]:
    best = {late_ms: _race(bench, late_ms) for late_ms in (10, 1_000, 9_000)}
    for late_ms, cost in best.items():
        yield Row.at_most(
            f"set_pose {late_ms / 1000:g} s late, whole Python call",
            cost[OURS],
            "ns",
            peer=cost[TF2_CPP],
            peer_name=TF2_CPP,
        )
    for late_ms in (1_000, 9_000):
        yield Row.at_most(
            f"  {late_ms / 1000:g} s late, native (computed)",
            _native(best[late_ms]),
            "ns",
            asked=ASKED_NS,
            goal=GOAL_NS,
            peer=best[late_ms][TF2_CPP],
            peer_name=TF2_CPP,
        )
    near, far = _native(best[1_000]), _native(best[9_000])
    yield Row(
        what="  9 s late against 1 s late",
        ours=far,
        peer=near,
        peer_name="1 s late",
        figure=far / near,
        asked=1.5,
        less_is_better=True,
    )


def _native(cost: dict[str, float | None]) -> float:
    return cost[OURS] - cost["in order"] + cost["bulk"]


def _race(bench: Bench, late_ms: int) -> dict[str, float | None]:
    stream, in_order = (Stream(World(history=HISTORY_NS), bench.scenario) for _ in range(2))
    bulk, random = BulkStream(bench), Random(7)
    ours = {
        OURS: lambda _: late_ns(stream, late_ms * MILLISECOND_NS, random),
        "bulk": bulk.insert,
        "in order": lambda _: in_order.insert(in_order.in_order(COUNT)),
    }
    return bench.race(ours, {TF2_CPP: lambda _: f"late {late_ms} {COUNT}"})


def late_ns(stream: Stream, lateness_ns: int, random: Random) -> float:
    """Per late `set_pose`; the samples in order between them are not counted."""
    total = 0.0
    for _ in range(COUNT // GROUP):
        stream.insert(stream.in_order(GROUP))
        late = stream.late(GROUP, lateness_ns)
        random.shuffle(late)
        total += stream.insert(late) * GROUP
    return total / COUNT
