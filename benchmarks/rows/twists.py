"""How things move: one twist a call beside one pose on the same path, and the product of two poses."""

from collections.abc import Iterator
from time import process_time_ns

import numpy as np

from armillary import World
from armillary.relations import Twist
from context import OURS, Bench, filled_world, pose_ns
from peers import TF2_PYTHON, has_tf
from table import Row

COUNT, PEER_COUNT = 2_000, 100
PRODUCTS = 20_000
WINDOW_NS = 10_000_000  # as long as the peer's
POSE = "our pose"


def rows(bench: Bench) -> Iterator[Row]:
    world = bench.chain_world("jittered")
    for edges in (10, 1):
        best = _race(bench, world, edges)
        what = f"twist, {edges} edge{'s' * (edges > 1)}, random times"
        yield Row.faster(what, best[OURS], best[POSE], POSE)
        yield Row.faster(f"{what}, mean of 10 ms", best["window"], best.get(TF2_PYTHON), "tf lookupTwist")
        yield Row.at_most(f"{what}, mean of 10 ms, over pose", best["window"] / best[POSE], "x")
        yield Row.at_most(f"{what}, over pose", best[OURS] / best[POSE], "x", asked=3.0)
    yield from _agreement_rows(bench, world)
    yield _measured_row(bench)
    best = bench.race({"product": lambda _: _product_ns(world, bench.times(1, 0)[0])})
    yield Row.at_most("pose @ pose, native", best["product"], "ns", asked=1_000.0)


def _agreement_rows(bench: Bench, world: World) -> Iterator[Row]:
    """Mean angular velocities of both over ten edges; tf divides by a float of seconds, and turns by an arc cosine.

    The linear velocities of tf's Python are not those of the frame: it takes the position of the frame for a velocity's
    lever where it is none, and adds a dot product for a cross product. They are not compared.
    """
    if not has_tf() or TF2_PYTHON not in bench.peers:
        return
    theirs = np.array(bench.peers[TF2_PYTHON].ask(f"mean_twists jittered 10 {PEER_COUNT} 0")["rows"])
    ask = {"of": "f10", "relative_to": "f0", "expressed_in": "f0", "window": WINDOW_NS}
    ours = np.array([_six(world.twist(**ask, at=at)) for at in bench.times(PEER_COUNT, 0)])
    turning, theirs_turning = ours[:, 3:], theirs[:, 3:]
    off = np.abs(turning - theirs_turning).max() / np.abs(theirs_turning).max()
    yield Row.at_most("largest difference of a mean angular velocity, of the largest", off, "", asked=1e-3)


def _six(twist: Twist) -> np.ndarray:
    return np.concatenate([twist.linear, twist.angular])


def _measured_row(bench: Bench) -> Row:
    """Somebody measures every edge: added up from body to body."""
    world = filled_world(bench.scenario, "jittered")
    for i, stamps in enumerate(bench.scenario.chains["jittered"].stamps):
        for at in [*stamps[::10].tolist(), int(stamps[-1])]:
            names = {"of": f"f{i + 1}", "relative_to": f"f{i}", "expressed_in": f"f{i + 1}"}
            world.set_twist(**names, linear=(1, 0, 0), angular=(0, 0, 0.1), at=at)
    best = _race(bench, world, 10)
    ratio = best[OURS] / best[POSE]
    return Row.at_most("twist, 10 edges, all measured, over pose", ratio, "x", asked=3.0)


def _race(bench: Bench, world: World, edges: int) -> dict[str, float | None]:
    of = f"f{edges}"
    peers = {TF2_PYTHON: lambda repeat: f"twist jittered {edges} {PEER_COUNT} {bench.offset(PEER_COUNT, repeat)}"}
    return bench.race(
        {
            OURS: lambda repeat: twist_ns(world, of, "f0", bench.times(COUNT, repeat)),
            "window": lambda repeat: twist_ns(world, of, "f0", bench.times(COUNT, repeat), window=WINDOW_NS),
            POSE: lambda repeat: pose_ns(world, of, "f0", bench.times(COUNT, repeat)),
        },
        peers if has_tf() else {},
    )


def twist_ns(world: World, of: str, relative_to: str, times: list[int], **how: int) -> float:
    """Per `world.twist(...)`, loop included."""
    twist = world.twist
    started = process_time_ns()
    for at in times:
        twist(of=of, relative_to=relative_to, at=at, **how)
    return (process_time_ns() - started) / len(times)


def _product_ns(world: World, at: int) -> float:
    a, b = world.pose(of="f1", in_frame="f0", at=at), world.pose(of="f2", in_frame="f1", at=at)
    started = process_time_ns()
    for _ in range(PRODUCTS):
        a @ b
    return (process_time_ns() - started) / PRODUCTS
