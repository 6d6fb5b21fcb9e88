"""Forward kinematics as expressions: building, compiling and calling, against pinocchio and casadi's plain call.

pinocchio's calls leave their results in its own data; ours give numpy arrays of all poses, or of the Jacobian.
"""

from collections.abc import Callable, Iterator

import numpy as np

from chain_scenario import LINKS, Chain, chain
from context import Bench, cpu_ns
from table import Row

CALLS, CONFIGURATIONS = 300, 10_000
PINOCCHIO, CASADI, BUFFER = "pinocchio", "casadi call", "casadi buffer"


def rows(bench: Bench) -> Iterator[Row]:
    robot, shifted = chain(turned=True), chain(turned=False)
    if robot is None or shifted is None:
        return
    yield from _building(bench, robot)
    yield from _agreement(robot)
    yield from _calling(bench, robot, "turned mountings")
    yield from _calling(bench, shifted, "shifted mountings")
    yield from _many(bench, robot)


def _building(bench: Bench, robot: Chain) -> Iterator[Row]:
    poses, jacobian = robot.poses(), robot.jacobian()
    steps = {
        f"poses of {LINKS} links": robot.poses,
        "  Jacobian of the last": robot.jacobian,
        "  compile the poses": lambda: poses.compile(order=robot.joints),
        "  compile the Jacobian": lambda: jacobian.compile(order=robot.joints),
    }
    best = bench.race({name: _once(step) for name, step in steps.items()}, repeats=5)
    for name in steps:
        yield Row.at_most(name, best[name] / 1e6, "ms")


def _agreement(robot: Chain) -> Iterator[Row]:
    values = np.random.default_rng(3).uniform(-3.0, 3.0, LINKS)
    for name, ours, theirs in robot.compared(values):
        yield Row.at_most(f"  {name}: difference to pinocchio", float(np.abs(ours - theirs).max()), "", asked=1e-12)


def _calling(bench: Bench, robot: Chain, mountings: str) -> Iterator[Row]:
    values = np.linspace(-1.0, 1.0, LINKS)
    for name, expression, pinocchio in robot.questions(values):
        vm, c = (expression.compile(order=robot.joints, backend=backend) for backend in ("vm", "c"))
        contenders = {
            "vm": lambda vm=vm: vm(values),
            "c": lambda c=c: c(values),
            PINOCCHIO: pinocchio,
            CASADI: robot.plain_call(expression, values),
            BUFFER: robot.buffer_call(expression, values),
        }
        best = bench.race({key: _calls(call) for key, call in contenders.items()})
        yield Row.faster(f"{name}, {mountings}, C", best["c"], best[PINOCCHIO], PINOCCHIO, asked=1.0)
        yield Row.faster("  virtual machine", best["vm"], best[PINOCCHIO], PINOCCHIO, asked=1 / 3)
        yield Row.faster("  virtual machine", best["vm"], best[CASADI], CASADI)
        yield Row.faster("  virtual machine", best["vm"], best[BUFFER], BUFFER, asked=1.0)


def _many(bench: Bench, robot: Chain) -> Iterator[Row]:
    count = 1_000 if bench.quick else CONFIGURATIONS
    values = np.random.default_rng(7).uniform(-3.0, 3.0, (count, LINKS))
    for name, expression, peers in (
        ("the last pose", robot.last(), {"loop": (robot.pinocchio_last(), 5.0)}),
        (
            "all poses",
            robot.poses(),
            {"loop": (robot.pinocchio_kept_poses(), 5.0), "loop that keeps nothing": (robot.pinocchio_poses(), None)},
        ),
    ):
        vm, c = (expression.compile(order=robot.joints, backend=backend) for backend in ("vm", "c"))
        ours = {"C": lambda c=c: c(values), "virtual machine": lambda vm=vm: vm(values)}
        theirs = {peer: lambda each=each: [each(row) for row in values] for peer, (each, _) in peers.items()}
        best = bench.race(
            {key: lambda _, work=work: cpu_ns(work, count) for key, work in (ours | theirs).items()}, repeats=5
        )
        for peer, (_, asked) in peers.items():
            for key in ours:
                what = f"{name} of {count}, {key}"
                yield Row.faster(what, best[key], best[peer], f"{PINOCCHIO} {peer}", asked=asked)


def _once(work: Callable[[], object]) -> Callable[[int], float]:
    return lambda _: cpu_ns(work)


def _calls(call: Callable[[], object]) -> Callable[[int], float]:
    def all_of_them() -> None:
        for _ in range(CALLS):
            call()

    return lambda _: cpu_ns(all_of_them, CALLS)
