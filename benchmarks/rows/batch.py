"""A hundred thousand poses in one call, per lookup."""

from collections.abc import Iterator

from context import OURS, Bench, cpu_ns
from peers import PYTRANSFORM3D, TF2_CPP, TF2_PYTHON
from scenario import TIMES
from table import Row

PEER_COUNT = 2_000


def rows(bench: Bench) -> Iterator[Row]:
    best = _race(bench, "jittered")
    what = "transforms, 100k times, 10 edges"
    yield Row.faster(what, best[OURS], best[TF2_PYTHON], TF2_PYTHON, asked=15, goal=25)
    yield Row.faster(what, best[OURS], best[TF2_CPP], TF2_CPP, asked=4, goal=8)
    yield Row.faster(what, best[OURS], best[PYTRANSFORM3D], f"{PYTRANSFORM3D} batch")
    yield Row.faster("  the same as (N, 7)", best["rows"], best[TF2_CPP], TF2_CPP)
    yield Row.faster("  the same, times sorted", best["sorted"], best[TF2_CPP], TF2_CPP)
    best = _race(bench, "regular")
    yield Row.faster("  the same, regular stamps", best[OURS], best[TF2_CPP], TF2_CPP)


def _race(bench: Bench, chain: str) -> dict[str, float | None]:
    world = bench.chain_world(chain)
    ask = {"of": "f10", "in_frame": "f0"}

    def ours_ns(repeat: int, *, in_order: bool = False, **form: str) -> float:
        times = bench.batch_times(repeat, in_order=in_order)
        return cpu_ns(lambda: world.transforms(**ask, at=times, **form), TIMES)

    def lookup(repeat: int) -> str:
        return f"lookup {chain} 10 {PEER_COUNT} {bench.offset(PEER_COUNT, repeat)}"

    ours = {
        OURS: ours_ns,
        "rows": lambda repeat: ours_ns(repeat, as_="xyz_wxyz"),
        "sorted": lambda repeat: ours_ns(repeat, in_order=True),
    }
    peers = {TF2_PYTHON: lookup, TF2_CPP: lookup, PYTRANSFORM3D: lambda _: f"batch {chain} 10 1000"}
    return bench.race(ours, peers)
