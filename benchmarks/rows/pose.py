"""One pose a call, as a program asks it."""

from collections.abc import Iterator

from armillary import LATEST
from context import OURS, Bench, pose_ns
from peers import PYTRANSFORM3D, SCHIEBUNG, TF2_CPP, TF2_PYTHON
from table import Row

COUNT = 2_000
SLOW_COUNT = 10  # pytransform3d needs milliseconds a call


def rows(bench: Bench) -> Iterator[Row]:
    for edges, asked, goal in ((10, 5, 8), (1, 8, 15)):
        best = _race(bench, "jittered", edges)
        yield Row.faster(_named(edges), best[OURS], best[TF2_PYTHON], TF2_PYTHON, asked=asked, goal=goal)
        for peer in (TF2_CPP, SCHIEBUNG, PYTRANSFORM3D):
            yield Row.faster(_named(edges), best[OURS], best[peer], peer)
    best = _race(bench, "regular", 10)
    yield Row.faster("pose, 10 edges, regular stamps", best[OURS], best[TF2_PYTHON], TF2_PYTHON)
    best = _race_latest(bench)
    yield Row.faster("pose, 10 edges, at=LATEST", best[OURS], best[TF2_PYTHON], TF2_PYTHON)


def _named(edges: int) -> str:
    return f"pose, {edges} edge{'s' * (edges > 1)}, random times"


def _race(bench: Bench, chain: str, edges: int) -> dict[str, float | None]:
    world, of = bench.chain_world(chain), f"f{edges}"

    def lookup(repeat: int) -> str:
        return f"lookup {chain} {edges} {COUNT} {bench.offset(COUNT, repeat)}"

    peers = dict.fromkeys((TF2_PYTHON, TF2_CPP, SCHIEBUNG), lookup)
    peers[PYTRANSFORM3D] = lambda repeat: f"lookup {chain} {edges} {SLOW_COUNT} {repeat * SLOW_COUNT}"
    return bench.race(lambda repeat: pose_ns(world, of, "f0", bench.times(COUNT, repeat)), peers)


def _race_latest(bench: Bench) -> dict[str, float | None]:
    world, asked = bench.chain_world("jittered"), [LATEST] * COUNT
    return bench.race(
        lambda _: pose_ns(world, "f10", "f0", asked), {TF2_PYTHON: lambda _: f"latest jittered 10 {COUNT}"}
    )
