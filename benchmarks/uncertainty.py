"""Whether covariances are honest: errors are drawn, and the squared error in standard deviations is averaged (NEES).

    .venv/bin/python benchmarks/uncertainty.py           # writes benchmarks/results/uncertainty.json
    .venv/bin/python benchmarks/uncertainty.py --quick   # a rough look, written nowhere

6 is honest, for six degrees of freedom: much more is too sure, much less too careful. 5 to 7.5 is asked of everything
but what is a bound on purpose: between two samples, where nobody said how long their errors stay alike.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from armillary import Transform, World, seconds
from armillary.scene import AddJoints, ClosedForm, Drive

RESULTS = Path(__file__).resolve().parent / "results/uncertainty.json"
DRAWS, QUICK_DRAWS, SEED = 2000, 100, 20
LEAST, MOST = 5.0, 7.5
SPEED = np.array([0.8, 0.1, -0.05, 0.1, -0.2, 0.6])
START = np.array([0.3, -0.2, 0.5, 0.1, 0.2, -0.3])
POSE = np.diag([1e-5] * 3 + [4e-6] * 3)
TWIST = np.diag([4e-4] * 3 + [9e-4] * 3)
JOINT_SIGMA = 2e-3
EXACT = [1e-12] * 6
ASK = {"of": "robot", "in_frame": "map"}


@dataclass(frozen=True)
class Row:
    """One question, asked of every draw.

    Attributes:
        what: The question.
        nees: The mean; 6 is honest.
        standard_error: Of the mean.
        draws: How many worlds were asked.
        is_bound: Whether it is meant to be no more than a bound.
    """

    what: str
    nees: float
    standard_error: float
    draws: int
    is_bound: bool

    @property
    def ok(self) -> bool:
        """Whether it is what was asked."""
        return self.nees < MOST and (self.is_bound or self.nees > LEAST)


def exp(six: np.ndarray) -> Transform:
    return Transform.exp(np.asarray(six, dtype=float))


def truth(t: float) -> Transform:
    return exp(START) @ exp(SPEED * t)


def drawn(random: np.random.Generator, covariance: np.ndarray) -> np.ndarray:
    return random.multivariate_normal(np.zeros(len(covariance)), covariance)


def see(world: World, random: np.random.Generator, *instants_s: float, of: str = "robot") -> None:
    for t in instants_s:
        seen = truth(t) @ exp(drawn(random, POSE))
        world.set_pose(of=of, in_frame="map", transform=seen, at=seconds(t), covariance=POSE)


def feel(world: World, random: np.random.Generator, instants_s: np.ndarray) -> None:
    for t in instants_s:
        numbers = SPEED + drawn(random, TWIST)
        world.set_twist(of="robot", relative_to="map", expressed_in="robot", linear=numbers[:3], angular=numbers[3:],
                        at=seconds(float(t)), covariance=TWIST)  # fmt: skip


def pose_error(world: World, t: float, expected: Transform, **ask: object) -> tuple[np.ndarray, np.ndarray]:
    pose = world.pose(**ASK | ask, at=seconds(t))
    return (pose.transform.inverse() @ expected).log(), pose.covariance


def a_pose(t: float, poses_s: tuple[float, ...], twists_s: Any = (), **ask: object) -> Callable:
    def draw(random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        world = World(process_noise=EXACT, interpolation="screw", history=None)
        see(world, random, *poses_s)
        feel(world, random, np.asarray(twists_s))
        return pose_error(world, t, truth(t), **ask)

    return draw


def over_two_edges(random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    world, mount = World(), exp([0.4, -0.1, 0.2, 0.3, 0.1, -0.2])
    see(world, random, 0.0, 1.0)
    world.fix(of="camera", in_frame="robot", transform=mount @ exp(drawn(random, POSE)), covariance=POSE)
    return pose_error(world, 1.0, truth(1.0) @ mount, of="camera")


def a_twist(random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    world = World(interpolation="screw")
    see(world, random, 0.0, 0.5)
    twist = world.twist(of="robot", relative_to="map", expressed_in="robot", at=seconds(0.25))
    return np.concatenate([twist.linear, twist.angular]) - SPEED, twist.covariance


def a_twist_elsewhere(random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Measured at the robot, asked at a point and along axes that are uncertain, too."""
    world, mount = World(), exp([0.4, -0.1, 0.2, 0.3, 0.1, -0.2])
    see(world, random, 0.0, 0.5)
    world.fix(of="tool", in_frame="robot", transform=mount @ exp(drawn(random, POSE)), covariance=POSE)
    feel(world, random, np.array([0.0, 0.5]))
    twist = world.twist(of="tool", relative_to="map", expressed_in="tool", at=seconds(0.5))
    expected = mount.inverse().adjoint @ SPEED
    return np.concatenate([twist.linear, twist.angular]) - expected, twist.covariance


AXES = ((0, 0, 1), (0, 1, 0), (1, 0, 0), (0, 0, 1), (0, 1, 0), (0, 0, 1))


OFFSET = exp([0.1, 0.0, 0.3, 0, 0, 0])


def arm(q: np.ndarray) -> Transform:
    whole = Transform.identity()
    for axis, angle in zip(AXES, q, strict=True):
        whole = whole @ OFFSET @ exp([0, 0, 0, *(np.array(axis) * angle)])
    return whole


def joints(t: float, **ask: object) -> Callable:
    """An arm of six joints, each with an encoder of its own error, read at 0 and 0.5 s."""

    def draw(random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        world = World(process_noise=EXACT)
        names = [f"q{i}" for i in range(6)]
        world.apply([AddJoints(dict.fromkeys(names, "linear"))])
        for i, axis in enumerate(AXES):
            form = ClosedForm(kind="revolute", origin=OFFSET, axes=(axis,), variables=(names[i],))
            world.apply([Drive(of=f"link{i}", in_frame=f"link{i - 1}" if i else "map", form=form)])
        q, rate = np.array([0.3, -0.7, 0.5, 1.1, 0.8, -0.4]), np.array([0.4, -0.3, 0.2, 0.5, -0.6, 0.3])
        for instant in (0.0, 0.5):
            read = q + rate * instant + JOINT_SIGMA * random.normal(size=6)
            values = dict(zip(names, map(float, read), strict=True))
            world.set_joints(values, at=seconds(instant), covariance=JOINT_SIGMA**2 * np.eye(6))
        return pose_error(world, t, arm(q + rate * t), of="link5", **ask)

    return draw


AT_50_HZ = np.round(np.arange(0.0, 1.001, 0.02), 3)
PREDICT = {"outside": "predict"}
AHEAD_S = (0.1, 0.5, 1.0)
QUESTIONS: list[tuple[str, Callable, bool]] = [
    ("pose at a sample", a_pose(1.0, (0.0, 1.0)), False),
    ("pose at a sample, behind an uncertain mount", over_two_edges, False),
    ("pose half way between two samples", a_pose(0.5, (0.0, 1.0)), True),
    ("pose half way between two samples, 50 Hz twists of the source between", a_pose(0.5, (0.0, 1.0), AT_50_HZ), False),
    ("twist, differentiated", a_twist, False),
    ("twist, measured, at another point and along other axes", a_twist_elsewhere, False),
    ("integration, 0.5 s of 50 Hz twists", a_pose(0.5, (0.0,), AT_50_HZ), False),
    ("integration, 1 s of 50 Hz twists", a_pose(1.0, (0.0,), AT_50_HZ), False),
    *((f"prediction, {s} s after two poses", a_pose(0.2 + s, (0.0, 0.2), **PREDICT), False) for s in AHEAD_S),
    *(
        (f"prediction, {s} s after a pose and a twist", a_pose(0.2 + s, (0.2,), (0.2,), **PREDICT), False)
        for s in AHEAD_S
    ),
    ("six joints, at a sample", joints(0.5), False),
    ("six joints, half way between two samples", joints(0.25), True),
    *((f"six joints, predicted {s} s", joints(0.5 + s, **PREDICT), False) for s in AHEAD_S),
]


def measure(what: str, draw: Callable, draws: int, *, is_bound: bool) -> Row:
    random, found = np.random.default_rng(SEED), []
    for _ in range(draws):
        error, covariance = draw(random)
        found.append(float(error @ np.linalg.solve(covariance, error)))
    spread = float(np.std(found) / np.sqrt(draws))
    return Row(what, round(float(np.mean(found)), 3), round(spread, 3), draws, is_bound)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_DRAWS} draws instead of {DRAWS}, written nowhere")
    options = parser.parse_args()
    rows = []
    for what, draw, is_bound in QUESTIONS:
        rows.append(measure(what, draw, QUICK_DRAWS if options.quick else DRAWS, is_bound=is_bound))
        print(f"{rows[-1].nees:8.2f} ± {rows[-1].standard_error:.2f}  {'' if rows[-1].ok else 'NO '}{what}", flush=True)
    if not options.quick:
        commit = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout[:12]
        record = {"commit": commit, "seed": SEED, "rows": [asdict(row) | {"ok": row.ok} for row in rows]}
        RESULTS.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    return 0 if all(row.ok for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
