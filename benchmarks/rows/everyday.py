"""Calls that a program makes all day beside `pose`: asking whether, asking too early, storing numbers and messages."""

from collections.abc import Callable, Iterator
from time import process_time_ns
from types import SimpleNamespace

import numpy as np

from armillary import Transform, World
from armillary.errors import ArmillaryError
from context import OURS, Bench, cpu_ns
from peers import TF2_PYTHON
from scenario import HISTORY_NS, PERIOD_NS, SAMPLES, START_NS
from table import Row

COUNT = 2_000
FAR_AHEAD_NS = 10_000 * 1_000_000_000
FAILING = {
    "after": ("after its history", {"of": "f1", "at": FAR_AHEAD_NS}),
    "unknown": ("of a frame that nobody knows", {"of": "nobody"}),
    "unconnected": ("between two trees", {"of": "island"}),
}


def rows(bench: Bench) -> Iterator[Row]:
    for edges in (1, 10):
        yield _row(f"can_pose, {edges} edge{'s' * (edges > 1)}", _race_can(bench, edges))
    for why, (text, asked) in FAILING.items():
        yield _row(f"a pose that raises, {text}", _race_failing(bench, why, asked))
    best = bench.race(_set_matrices(bench), {TF2_PYTHON: lambda _: f"insert {COUNT}"})
    yield _row("set_pose of a (4, 4) array", best)
    best = bench.race(_set_messages(bench), {TF2_PYTHON: lambda _: f"insert {COUNT}"})
    yield _row("a message, to stored", best)
    yield _row("numbers in tuples to a Transform", bench.race(_from_tuples, {TF2_PYTHON: lambda _: f"build {COUNT}"}))
    yield _row("pose, and one point mapped with it", _race_point(bench))


def _row(name: str, best: dict[str, float | None]) -> Row:
    return Row.faster(name, best[OURS], best[TF2_PYTHON], TF2_PYTHON, asked=1)


def _race_can(bench: Bench, edges: int) -> dict[str, float | None]:
    can_pose, of = bench.chain_world("jittered").can_pose, f"f{edges}"

    def ours(repeat: int) -> float:
        times = bench.times(COUNT, repeat)
        started = process_time_ns()
        for at in times:
            can_pose(of=of, in_frame="f0", at=at)
        return (process_time_ns() - started) / COUNT

    return bench.race(ours, {TF2_PYTHON: lambda repeat: f"can jittered {edges} {COUNT} {bench.offset(COUNT, repeat)}"})


def _race_failing(bench: Bench, why: str, asked: dict[str, object]) -> dict[str, float | None]:
    world = bench.chain_world("jittered")
    world.add_frame("island")
    pose = world.pose

    def ours(_: int) -> float:
        started = process_time_ns()
        for _ in range(COUNT):
            try:  # noqa: SIM105  (a context manager would be timed as well)
                pose(in_frame="f0", **asked)
            except ArmillaryError:
                pass
        return (process_time_ns() - started) / COUNT

    return bench.race(ours, {TF2_PYTHON: lambda _: f"failing jittered {why} {COUNT}"})


class Clock:
    """Stamps of a relation that goes on at 1 kHz, into a history that is full."""

    def __init__(self, insert: Callable[[list[int]], object]) -> None:
        self.next, self.insert = 0, insert
        self.insert(self.stamps(SAMPLES))

    def stamps(self, count: int) -> list[int]:
        first, self.next = self.next, self.next + count
        return [START_NS + PERIOD_NS * i for i in range(first, self.next)]

    def __call__(self, _: int) -> float:
        stamps = self.stamps(COUNT)
        return cpu_ns(lambda: self.insert(stamps), COUNT)


def _set_matrices(bench: Bench) -> Clock:
    set_pose, chain = World(history=HISTORY_NS).set_pose, bench.scenario.chains["jittered"]
    matrices = [Transform.from_xyz_wxyz(xyz=row[:3], wxyz=row[3:]).matrix for row in chain.rows[0]]

    def insert(stamps: list[int]) -> None:
        for i, at in enumerate(stamps):
            set_pose(of="w", in_frame="f0", transform=matrices[i % SAMPLES], at=at)

    return Clock(insert)


def _set_messages(bench: Bench) -> Callable[[int], float]:
    """As `on_tf` of docs/coming_from_tf2.md does it."""
    world, rows_of = World(history=HISTORY_NS), bench.scenario.chains["jittered"].rows[0]

    def on_tf(message: SimpleNamespace, publisher: str = "tf") -> None:
        header = message.header
        world.set_pose(
            of=message.child_frame_id,
            in_frame=header.frame_id,
            transform=message.transform,
            at=header.stamp,
            source=publisher,
        )

    clock = Clock(lambda stamps: [on_tf(_message(at, rows_of[i % SAMPLES])) for i, at in enumerate(stamps)])

    def run(_: int) -> float:
        messages = [_message(at, rows_of[i % SAMPLES]) for i, at in enumerate(clock.stamps(COUNT))]
        started = process_time_ns()
        for message in messages:
            on_tf(message)
        return (process_time_ns() - started) / COUNT

    return run


def _message(at: int, row: np.ndarray) -> SimpleNamespace:
    x, y, z, qw, qx, qy, qz = row.tolist()
    sec, nanosec = divmod(at, 1_000_000_000)
    return SimpleNamespace(
        header=SimpleNamespace(frame_id="f0", stamp=SimpleNamespace(sec=sec, nanosec=nanosec)),
        child_frame_id="w",
        transform=SimpleNamespace(
            translation=SimpleNamespace(x=x, y=y, z=z), rotation=SimpleNamespace(x=qx, y=qy, z=qz, w=qw)
        ),
    )


def _from_tuples(_: int) -> float:
    make, xyz, xyzw = Transform.from_xyz_xyzw, (1.0, 2.0, 3.0), (0.0, 0.0, 0.0, 1.0)
    started = process_time_ns()
    for _ in range(COUNT):
        make(xyz=xyz, xyzw=xyzw)
    return (process_time_ns() - started) / COUNT


def _race_point(bench: Bench) -> dict[str, float | None]:
    pose, point = bench.chain_world("jittered").pose, np.array([1.0, 2.0, 3.0])

    def ours(repeat: int) -> float:
        times = bench.times(COUNT, repeat)
        started = process_time_ns()
        for at in times:
            pose(of="f10", in_frame="f0", at=at).transform @ point
        return (process_time_ns() - started) / COUNT

    return bench.race(ours, {TF2_PYTHON: lambda repeat: f"point jittered 10 {COUNT} {bench.offset(COUNT, repeat)}"})
