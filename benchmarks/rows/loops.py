"""Single solutions of kinematic loops, one after the other: beside scipy, and Newton's method by hand on pinocchio.

`set_joints` closes the loop of two arms and stores all joints; the peers only find the joints that follow.
"""

from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

import numpy as np
import scipy.optimize
from numpy.typing import NDArray

from armillary import Transform, World, seconds
from armillary.articulation import ArticulationModel
from armillary.articulation.mechanisms import four_bar, stewart_platform
from context import Bench, cpu_ns
from table import Row

SOLVES = 300
OURS, SCIPY, NEWTON = "ours", "scipy.optimize.root", "Newton by hand on pinocchio"
LEFT, RIGHT = ([f"{side}/panda_joint{i}" for i in range(1, 8)] for side in ("left", "right"))
HOME = {
    "left": np.array([0.0, -0.4, 0.0, -2.0, 0.0, 1.7, 0.5, 0.02]),
    "right": np.array([0.2, -0.3, 0.1, -2.1, 0.1, 1.8, 0.4, 0.02]),
}
STAND = Transform.from_xyz_rpy(xyz=(1.2, 0.0, 0.0), rpy=(0.0, 0.0, np.pi))
Vector = NDArray[np.float64]


def rows(bench: Bench) -> Iterator[Row]:
    yield from _mechanism(bench, "a four-bar", four_bar("it"), np.linspace(0.0, 6.0, SOLVES)[:, None])
    lengths = 0.6 + 0.02 * np.sin(0.01 * np.arange(SOLVES)[:, None] + np.arange(6))
    yield from _mechanism(bench, "a Stewart platform", stewart_platform("it"), lengths)
    if _panda() is not None:
        yield from _arms(bench)


def _mechanism(bench: Bench, name: str, edits: object, drivers: NDArray[np.float64]) -> Iterator[Row]:
    """One loop, solved for one row of its drivers after the other; scipy starts where it was, as we do."""
    model = ArticulationModel()
    model.edit(edits)
    (closure,) = model.closures().values()
    order = [*closure.drivers, *closure.dependents]
    residual, slope = (
        expression.compile(order=order)
        for expression in (closure.residual, closure.residual.jacobian(closure.dependents))
    )
    given = [dict(zip(closure.drivers, row, strict=True)) for row in drivers.tolist()]
    found = np.array([[model.solve(one)[v] for v in closure.dependents] for one in given])

    def by_scipy() -> NDArray[np.float64]:
        last, all_found = found[0], []
        for row in drivers:
            solved = scipy.optimize.root(
                lambda d, row=row: residual(np.concatenate([row, d])),
                last,
                jac=lambda d, row=row: slope(np.concatenate([row, d])),
                method="lm" if len(closure.residual) > len(last) else "hybr",
                tol=1e-10,
            )
            last = solved.x
            all_found.append(last)
        return np.array(all_found)

    agrees = float(np.abs(by_scipy() - found).max())
    yield Row.at_most(f"{name}, against scipy, the largest difference", agrees, "", asked=1e-6)
    ways: dict[str, Callable[[], object]] = {OURS: lambda: [model.solve(one) for one in given], SCIPY: by_scipy}
    best = _best(bench, ways)
    yield Row.faster(f"model.solve of {name}", best[OURS], best[SCIPY], SCIPY, asked=1.0)


def _arms(bench: Bench) -> Iterator[Row]:
    arms = Arms()
    lefts = HOME["left"] + 0.05 * np.sin(0.01 * np.arange(SOLVES)[:, None] * np.arange(1, 9)) * (np.arange(8) < 7)
    given = [dict(zip(LEFT, row[:7], strict=True)) | {RIGHT[0]: HOME["right"][0]} for row in lefts.tolist()]
    world = holding()
    driven = count_from(1)

    def ours() -> list[list[float]]:
        found = []
        for one in given:
            at = seconds(next(driven))
            world.set_joints(one, at=at)
            found.append(at)
        return [[world.joint(name, at=at).value for name in RIGHT] for at in found[:: SOLVES // 3]]

    theirs = arms.by_newton(lefts)[:: SOLVES // 3]
    agrees = float(np.abs(np.array(ours()) - np.array(theirs)[:, :7]).max())
    yield Row.at_most("two arms, against Newton's method, the largest difference", agrees, "rad", asked=1e-8)
    ways: dict[str, Callable[[], object]] = {
        OURS: ours,
        SCIPY: lambda: arms.by_scipy(lefts),
        NEWTON: lambda: arms.by_newton(lefts),
    }
    best = _best(bench, ways)
    for peer in (SCIPY, NEWTON):
        asked = 1.0 if peer == SCIPY else None
        yield Row.faster("set_joints of two arms with a tray", best[OURS], best[peer], peer, asked=asked)


def _best(bench: Bench, ways: dict[str, Callable[[], object]]) -> dict[str, float | None]:
    return bench.race({name: lambda _, way=way: cpu_ns(way, SOLVES) for name, way in ways.items()}, repeats=5)


def count_from(first: int) -> Iterator[int]:
    """Seconds, each later than the one before."""
    while True:
        yield first
        first += 1


def _panda() -> Path | None:
    try:
        found = [entry for entry in files("example-robot-data") or () if entry.name == "panda.urdf"]
        import pinocchio  # noqa: F401
    except (PackageNotFoundError, ImportError):
        return None
    return Path(str(found[0].locate())).resolve() if found else None


def holding() -> World:
    """A world with two Pandas, which hold a tray since 0 s: the last six joints of the right one follow."""
    world = World(history=None)
    world.fix(of="stand", in_frame="map", transform=STAND)
    for side, frame in (("left", "map"), ("right", "stand")):
        model = ArticulationModel()
        model.load_urdf(_panda() or "", name=side)
        world.mount(model, in_frame=frame, shapes="none")
    joints = dict(zip([*LEFT, *RIGHT], [*HOME["left"][:7], *HOME["right"][:7]], strict=True))
    world.set_joints(joints, at=seconds(0))
    world.close_loop(of="right/panda_hand", on="left/panda_hand", dependents=RIGHT[1:], at=seconds(0))
    return world


class Arms:
    """The same arms in pinocchio."""

    def __init__(self) -> None:
        import pinocchio

        self.pin = pinocchio
        self.peer = pinocchio.buildModelFromUrdf(str(_panda()), mimic=True)
        self.data, self.stand = self.peer.createData(), pinocchio.SE3(STAND.matrix)
        self.hand = self.peer.getFrameId("panda_hand", pinocchio.FrameType.BODY)
        self.left_T_right = self.pose(HOME["left"]).inverse() * self.stand * self.pose(HOME["right"])

    def pose(self, q: Vector) -> object:
        self.pin.framesForwardKinematics(self.peer, self.data, q)
        return self.data.oMf[self.hand].copy()

    def by_newton(self, lefts: NDArray[np.float64]) -> list[Vector]:
        right, found = HOME["right"], []
        for left in lefts:
            wanted, right = self.pose(left) * self.left_T_right, right.copy()
            for _ in range(30):
                self.pin.computeJointJacobians(self.peer, self.data, right)
                self.pin.framesForwardKinematics(self.peer, self.data, right)
                gap = self.pin.log6((self.stand * self.data.oMf[self.hand]).inverse() * wanted).vector
                if np.abs(gap).max() < 1e-12:
                    break
                slope = self.pin.getFrameJacobian(self.peer, self.data, self.hand, self.pin.LOCAL)[:, 1:7]
                right[1:7] += np.linalg.solve(slope, gap)
            found.append(right)
        return found

    def by_scipy(self, lefts: NDArray[np.float64]) -> list[Vector]:
        last, right, found = HOME["right"][1:7], HOME["right"].copy(), []
        for left in lefts:
            wanted = self.pose(left) * self.left_T_right

            def gap(joints: Vector, wanted: object = wanted) -> Vector:
                right[1:7] = joints
                return self.pin.log6((self.stand * self.pose(right)).inverse() * wanted).vector

            last = scipy.optimize.root(gap, last, tol=1e-10).x
            found.append(last)
        return found
