"""The time-free graph of poses and twists: a thousand bodies built, and what a question costs by its path.

Every body has a frame, a pose and a twist; all statements are checked against the rules. Poses and twists are made
before the clock starts. Linear means: an edge of a long path costs no more than an edge of a short one.
"""

from collections.abc import Callable, Iterator, Sequence
from random import Random

from armillary import Transform
from armillary.relations import Pose, RelationGraph, Twist
from context import Bench, cpu_ns
from table import Row

BODIES, SHORT, LONG = 1_000, 10, 999
SAME = 1.25  # the noise of this measurement, as for siblings
STEP = Transform.from_xyz_rpy(xyz=(0.1, 0.0, 0.0), rpy=(0.0, 0.0, 0.01))


def rows(bench: Bench) -> Iterator[Row]:
    statements = _statements()
    for how, order in _orders(BODIES - 1).items():
        best = bench.race(lambda _, order=order: cpu_ns(lambda: _built(statements, order)))["ours"]
        yield Row.at_most(f"RelationGraph, {BODIES} bodies, {how}", best / 1e6, "ms", asked=500, goal=250)
    graph = _built(statements, range(BODIES - 1))
    yield from _linear(bench, "pose", lambda edges: graph.pose(of=f"f{edges}", in_frame="f0"))
    yield from _linear(bench, "twist", lambda edges: graph.twist(of=f"f{edges}", relative_to="f0"))


def _linear(bench: Bench, what: str, ask: Callable[[int], object]) -> Iterator[Row]:
    repeats = LONG // SHORT
    best = bench.race(
        {
            "short": lambda _: cpu_ns(lambda: [ask(SHORT) for _ in range(repeats)], repeats * SHORT),
            "long": lambda _: cpu_ns(lambda: ask(LONG), LONG),
        }
    )
    yield Row(
        what=f"  its {what} over {LONG} edges, an edge",
        ours=best["long"],
        peer=best["short"],
        peer_name=f"over {SHORT}",
        figure=best["long"] / best["short"],
        asked=SAME,
        less_is_better=True,
    )


def _statements() -> list[tuple[Pose, Twist]]:
    return [
        (
            Pose(of=f"f{i + 1}", in_frame=f"f{i}", transform=STEP),
            Twist(
                point=f"f{i + 1}",
                reference_body=f"b{i}",
                expressed_in=f"f{i}",
                linear=(0.0, 0.1, 0.0),
                angular=(0.0, 0.0, 0.1),
            ),
        )
        for i in range(BODIES - 1)
    ]


def _built(statements: list[tuple[Pose, Twist]], order: Sequence[int]) -> RelationGraph:
    graph = RelationGraph()
    for i in range(BODIES):
        graph.add_body(f"b{i}", frames=[f"f{i}"])
    for i in order:
        pose, twist = statements[i]
        graph.add_pose(pose)
        graph.add_twist(twist)
    return graph


def _orders(count: int) -> dict[str, list[int]]:
    forward = list(range(count))
    return {"root first": forward, "leaf first": forward[::-1], "shuffled": Random(1).sample(forward, count)}
