"""How sure a twist is: J S J^T over every sample it was computed from, with J by pushing the samples one by one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from armillary import Transform, World, seconds
from randomness import examples
from strategies import _covariance

CLOSE = 1e-6  # of the largest number of the covariance
STEP = 1e-5
FRAMES = ("map", "a", "b", "c", "d")
STAMPS = tuple(seconds(t) for t in (0.0, 0.4, 1.0))
INSTANTS = tuple(seconds(t) for t in (0.0, 0.05, 0.2, 0.4, 0.61, 0.9, 1.0))
WINDOWS = st.sampled_from([0.05, 0.2, 0.4, 0.9, 5.0]).map(seconds)
SEEDS = st.integers(0, 2**32 - 1)
EDGES = st.integers(1, 4)
LARGEST_TURN_RAD = 2.5


@dataclass(frozen=True)
class Sample:
    """A pose that was set, at a stamp or for ever; `covariance` in the tangent of `of`."""

    of: str
    in_frame: str
    at: int | None
    transform: Transform
    covariance: np.ndarray

    def write(self, world: World, error: np.ndarray | None) -> None:
        pushed = self.transform if error is None else self.transform @ Transform.exp(error)
        edge = {"of": self.of, "in_frame": self.in_frame, "transform": pushed, "covariance": self.covariance}
        if self.at is None:
            world.fix(**edge)
        else:
            world.set_pose(**edge, at=self.at)


@dataclass(frozen=True)
class Measured:
    """A twist that was set; exact, so that all its uncertainty is that of the poses."""

    of: str
    relative_to: str
    expressed_in: str
    at: int
    twist: np.ndarray

    def write(self, world: World) -> None:
        source = f"{self.of} seen from {self.relative_to}"
        names = {"of": self.of, "relative_to": self.relative_to, "expressed_in": self.expressed_in, "source": source}
        world.set_twist(**names, linear=self.twist[:3], angular=self.twist[3:], at=self.at, covariance=np.zeros((6, 6)))


@dataclass(frozen=True)
class Data:
    samples: list[Sample]
    measured: list[Measured]
    bodies: list[tuple[str, str]]  # two frames each

    def world(self, pushed: int | None = None, error: np.ndarray | None = None) -> World:
        world = World(name="poses")
        for i, sample in enumerate(self.samples):
            sample.write(world, error if i == pushed else None)
        for pair in self.bodies:
            world.add_body("the body of " + pair[0], frames=pair)
        for measured in self.measured:
            measured.write(world)
        return world


def moving(dice: np.random.Generator) -> list[Transform]:
    """Three poses, from near each other to far."""
    pose = Transform.exp(dice.uniform(-1.0, 1.0, size=6))
    poses, size = [pose], dice.choice([1e-6, 0.05, 1.0])
    for _ in STAMPS[1:]:
        axis = dice.normal(size=3)
        turn = size * LARGEST_TURN_RAD * dice.uniform() * axis / np.linalg.norm(axis)
        poses.append(poses[-1] @ Transform.exp(np.concatenate([size * dice.uniform(-2.0, 2.0, size=3), turn])))
    return poses


def uncertain(dice: np.random.Generator) -> np.ndarray:
    return _covariance(6, int(dice.integers(2**32)), 0.1)


def tree(seed: int, edges: int, measured: float = 0.0) -> Data:
    """Edges up and down: sampled or fixed, some or all of them measured."""
    dice = np.random.default_rng(seed)
    names, data = FRAMES[: edges + 1], Data([], [], [])
    for i, of in enumerate(names[1:], start=1):
        parent = names[dice.integers(i)]
        is_fixed = edges > 1 and dice.uniform() < 0.2
        stamped = [(None, moving(dice)[0])] if is_fixed else zip(STAMPS, moving(dice), strict=True)
        data.samples.extend(Sample(of, parent, at, T, uncertain(dice)) for at, T in stamped)
        if not is_fixed and dice.uniform() < measured:
            measure(data, of, parent, str(dice.choice(names)), dice)
    return data


def measure(data: Data, of: str, parent: str, axes: str, dice: np.random.Generator) -> None:
    """Of the child, or of the parent relative to it, or of another frame on the child's body; along some axes."""
    kind = dice.choice(["child", "parent", "mount"])
    head, reference = {"child": (of, parent), "parent": (parent, of), "mount": (f"{of} mount", parent)}[kind]
    if kind == "mount":
        data.samples.append(Sample(head, of, None, moving(dice)[0], uncertain(dice)))
        data.bodies.append((of, head))
    data.measured.extend(Measured(head, reference, axes, at, dice.uniform(-1.0, 1.0, size=6)) for at in STAMPS)


def question(seed: int, edges: int) -> dict:
    """Of one frame relative to another; axes and point: its own, the other's, foreign ones."""
    dice = np.random.default_rng(seed)
    names = FRAMES[: edges + 1]
    of, relative_to = (str(name) for name in dice.permutation(names)[:2])
    asked = {name: str(dice.choice(names)) for name in ("expressed_in", "point")}
    asked["interpolation"] = str(dice.choice(["linear", "screw"]))
    return {"of": of, "relative_to": relative_to, "at": int(dice.choice(INSTANTS)), **asked}


def six(twist) -> np.ndarray:
    return np.concatenate([twist.linear, twist.angular])


def by_pushing(data: Data, **asked) -> np.ndarray:
    """J S J^T, each sample pushed along each axis of its tangent, forth and back."""
    total = np.zeros((6, 6))
    for i, sample in enumerate(data.samples):
        columns = []
        for axis in STEP * np.eye(6):
            forth, back = (six(data.world(i, sign * axis).twist(**asked)) for sign in (1.0, -1.0))
            columns.append((forth - back) / (2 * STEP))
        J = np.column_stack(columns)
        total += J @ sample.covariance @ J.T
    return total


def assert_as_sure(data: Data, **asked) -> None:
    twist = data.world().twist(**asked)
    if twist.stamp is None:
        assert np.array_equal(twist.covariance, np.zeros((6, 6)))
        return
    expected = by_pushing(data, **asked)
    np.testing.assert_allclose(twist.covariance, expected, atol=CLOSE * max(np.abs(expected).max(), 1e-6))


class TestHowSureATwistIs:
    @given(SEEDS, EDGES)
    @examples(80)
    def test_of_differentiated_poses_each_sample_counts_once(self, seed, edges):
        assert_as_sure(tree(seed, edges), **question(seed, edges))

    @given(SEEDS, EDGES, WINDOWS)
    @examples(80)
    def test_over_a_window_each_sample_counts_once(self, seed, edges, window):
        assert_as_sure(tree(seed, edges), **question(seed, edges), window=window)

    @given(SEEDS, st.integers(2, 4), st.sampled_from([0.5, 1.0]))
    @examples(80)
    def test_of_measured_twists_the_poses_that_turn_and_carry_them_count_once(self, seed, edges, measured):
        assert_as_sure(tree(seed, edges, measured), **question(seed, edges))
