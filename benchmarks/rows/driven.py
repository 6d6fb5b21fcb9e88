"""Frames that joints drive: an update and a question, and the same path with sampled transforms instead."""

import math
from collections.abc import Iterator
from time import process_time_ns

import numpy as np
import scipy.optimize

from armillary import Transform, World, seconds
from armillary.articulation import ArticulationModel, Edit, position
from armillary.articulation.mechanisms import four_bar, stewart_platform
from armillary.scene import AddJoints, ClosedForm, Drive
from context import Bench, cpu_ns, race
from table import Row

JOINTS, CHAIN = 40, 7
SAMPLES, PERIOD_NS = 1_000, seconds(0.01)
COUNT, BATCH = 2_000, 10_000
NAMES = [f"j{i}" for i in range(JOINTS)]
ORIGIN = Transform.from_xyz_rpy(xyz=(0.1, 0.0, 0.3), rpy=(0.0, 0.0, 0.0))
DRIVEN, SAMPLED = "driven", "sampled"


def rows(bench: Bench) -> Iterator[Row]:
    driven, sampled = driven_world(), sampled_world()
    best = race({"update": lambda _: _update_ns(driven)}, bench.repeats)
    yield Row.at_most("set_joints of 40, then a pose over 7 of them", best["update"], "ns", asked=5_000.0)
    times = np.random.default_rng(7).integers(0, (SAMPLES - 1) * PERIOD_NS, BATCH)
    worlds = {DRIVEN: driven_world(), SAMPLED: sampled}
    best = race({name: lambda _, w=world: _pose_ns(w, times[:COUNT]) for name, world in worlds.items()}, bench.repeats)
    yield Row.at_most("pose, 7 driven edges, over sampled", best[DRIVEN] / best[SAMPLED], "x", asked=1.5)
    best = race({name: lambda _, w=world: _batch_ns(w, times) for name, world in worlds.items()}, bench.repeats)
    yield Row.at_most("transforms, 7 driven edges, over sampled", best[DRIVEN] / best[SAMPLED], "x", asked=10.0)
    yield from _loops(bench)
    yield from _single_solves(bench)


def _single_solves(bench: Bench) -> Iterator[Row]:
    """One solution of a four-bar after the other, a tenth of a radian apart, beside scipy's root with a Jacobian."""
    model, crank = ArticulationModel(), position("it/crank")
    model.edit(four_bar("it"))
    angles = (0.1 * np.arange(500)).tolist()
    found = [model.solve({crank: angle})[position("it/rocker")] for angle in angles]
    agrees = max(abs(math.sin(mine - theirs)) for mine, theirs in zip(found, _by_scipy(angles), strict=True))
    yield Row.at_most(
        "four-bar, model.solve against scipy.optimize.root, the largest difference", agrees, "rad", asked=1e-6
    )
    ours = lambda _: cpu_ns(lambda: [model.solve({crank: angle}) for angle in angles], len(angles))  # noqa: E731
    peer = lambda _: cpu_ns(lambda: _by_scipy(angles), len(angles))  # noqa: E731
    best = bench.race({"model.solve": ours, "scipy": peer}, repeats=3)
    yield Row.faster("model.solve of a four-bar", best["model.solve"], best["scipy"], "scipy.optimize.root", asked=1.0)


def _by_scipy(angles: list[float]) -> list[float]:
    """The rocker of the default four-bar, each search from the solution before."""
    a, b, c, ground = 0.1, 0.3, 0.25, 0.35
    rockers, last = [], np.array([0.9273, 1.8546])
    for angle in angles:
        ax, ay = a * math.cos(angle) - ground, a * math.sin(angle)

        def residual(q: np.ndarray, ax: float = ax, ay: float = ay, angle: float = angle) -> list[float]:
            coupler, rocker = angle + q[0], q[1]
            return [
                ax + b * math.cos(coupler) - c * math.cos(rocker),
                ay + b * math.sin(coupler) - c * math.sin(rocker),
            ]

        def slope(q: np.ndarray, angle: float = angle) -> list[list[float]]:
            coupler, rocker = angle + q[0], q[1]
            return [
                [-b * math.sin(coupler), c * math.sin(rocker)],
                [b * math.cos(coupler), -c * math.cos(rocker)],
            ]

        last = scipy.optimize.root(residual, last, jac=slope, tol=1e-10).x
        rockers.append(float(last[1]))
    return rockers


def _loops(bench: Bench) -> Iterator[Row]:
    """Mechanisms whose dependents are found for every sample of their drivers: all at once, or one by one."""
    at = np.arange(SAMPLES) * PERIOD_NS
    for name, edits, positions in (
        ("four-bar", four_bar("it"), 0.8e-9 * at[:, None]),
        ("Stewart platform", stewart_platform("it"), 0.6 + 0.02 * np.sin(1e-9 * at[:, None] + np.arange(6))),
    ):
        ways = {"series": _series_ns, "single": _singles_ns}
        timed = {
            key: lambda _, way=way, given=(edits, positions): way(_mounted(given[0]), given[1], at)
            for key, way in ways.items()
        }
        best = bench.race(timed, repeats=3)
        yield Row.faster(f"set_joint_series of a {name}, a sample", best["series"], best["single"], "set_joints")


def _mounted(edits: list[Edit]) -> World:
    """A world for each repeat: samples of an instant that has some already are followed by all later ones."""
    world, model = World(history=seconds(1000)), ArticulationModel()
    model.edit(edits)
    world.mount(model, in_frame="map")
    return world


def _series_ns(world: World, positions: np.ndarray, at: np.ndarray) -> float:
    drivers = _drivers(world)
    return cpu_ns(lambda: world.set_joint_series(drivers, positions=positions, at=at), len(at))


def _singles_ns(world: World, positions: np.ndarray, at: np.ndarray) -> float:
    rows = [dict(zip(_drivers(world), row, strict=True)) for row in positions.tolist()]
    said = list(zip(rows, at.tolist(), strict=True))
    return cpu_ns(lambda: [world.set_joints(row, at=when) for row, when in said], len(at))


def _drivers(world: World) -> list[str]:
    return [joint for joint in world.joints() if joint not in world.mounts[0].dependents]


def driven_world() -> World:
    """A chain of 40 revolute joints, ten seconds at 100 Hz."""
    world = World(history=seconds(1000))
    world.apply([AddJoints(dict.fromkeys(NAMES, "linear"))])
    for i, name in enumerate(NAMES):
        form = ClosedForm(kind="revolute", origin=ORIGIN, axes=(tuple(np.eye(3)[i % 3]),), variables=(name,))
        world.apply([Drive(of=f"l{i + 1}", in_frame=f"l{i}", form=form)])
    at = np.arange(SAMPLES) * PERIOD_NS
    world.set_joint_series(NAMES, positions=np.outer(at * 1e-9, np.linspace(-1.0, 1.0, JOINTS)), at=at)
    return world


def sampled_world() -> World:
    """The same motion, every edge as transforms."""
    world, driven = World(history=seconds(1000)), driven_world()
    at = np.arange(SAMPLES) * PERIOD_NS
    for i in range(JOINTS):
        edge = {"of": f"l{i + 1}", "in_frame": f"l{i}", "at": at}
        world.set_poses(**edge, transforms=driven.transforms(**edge))
    return world


def _update_ns(world: World) -> float:
    values, set_joints, pose = dict.fromkeys(NAMES, 0.25), world.set_joints, world.pose
    begin = world.joint(NAMES[0]).stamp
    started = process_time_ns()
    for at in range(begin + PERIOD_NS, begin + COUNT * PERIOD_NS, PERIOD_NS):
        set_joints(values, at=at)
        pose(of=f"l{CHAIN}", in_frame="l0", at=at)
    return (process_time_ns() - started) / (COUNT - 1)


def _pose_ns(world: World, times: np.ndarray) -> float:
    pose, instants = world.pose, times.tolist()
    started = process_time_ns()
    for at in instants:
        pose(of=f"l{CHAIN}", in_frame="l0", at=at)
    return (process_time_ns() - started) / len(instants)


def _batch_ns(world: World, times: np.ndarray) -> float:
    return cpu_ns(lambda: world.transforms(of=f"l{CHAIN}", in_frame="l0", at=times), len(times))
