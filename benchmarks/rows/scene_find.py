"""Ten of a hundred thousand things, by what is said of them; others are asked for in every repeat."""

import re
from collections.abc import Callable, Iterator
from typing import Any

from armillary.scene import between
from context import OURS, Bench, cpu_ns
from peers import SPARK
from scene_scenario import ALIKE, THINGS, filled_scene
from table import Row

NAMES = THINGS // ALIKE
QUERIES, SLOW_QUERIES = 200, 2
ASKED_NS = 50_000
Query = Callable[[int], dict[str, Any]]


def rows(bench: Bench) -> Iterator[Row]:
    find = filled_scene(THINGS).scene.find

    def race(query: Query, queries: int, peer: Callable[[int], str]) -> dict[str, float | None]:
        def ours(repeat: int) -> float:
            asked = [query((repeat * queries + i) * 37 % NAMES) for i in range(queries)]
            return cpu_ns(lambda: [find(each) for each in asked], queries)

        return bench.race(ours, {SPARK: peer}, repeats=min(bench.repeats, 5))

    exact = race(lambda i: {"name": f"thing_{i}"}, QUERIES, lambda repeat: f"find_name {THINGS} thing_{repeat}")
    yield Row.at_most(
        f"scene: find {ALIKE} of {THINGS} by name",
        exact[OURS],
        "ns",
        asked=ASKED_NS,
        peer=exact[SPARK],
        peer_name=SPARK,
    )
    within = race(_numbers, QUERIES, lambda repeat: f"find_between {THINGS} {repeat} {repeat + ALIKE - 1}")
    yield Row.faster(f"scene: find {ALIKE} by comparison", within[OURS], within[SPARK], SPARK)
    pattern = race(_pattern, SLOW_QUERIES, lambda repeat: f"find_pattern {THINGS} t.*_{repeat}")
    yield Row.faster(f"scene: find {ALIKE} by pattern", pattern[OURS], pattern[SPARK], SPARK)


def _numbers(index: int) -> dict[str, Any]:
    return {"number": between(index * ALIKE, index * ALIKE + ALIKE - 1)}


def _pattern(index: int) -> dict[str, Any]:
    return {"name": re.compile(f"t.*_{index}")}
