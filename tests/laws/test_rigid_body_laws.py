"""Frames that are fixed to one another for always move as one, declared or not, wherever the motion was measured."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from armillary import Transform, World, seconds
from armillary.articulation import ArticulationModel
from armillary.errors import ConstraintViolation
from randomness import examples, rng

CLOSE = 1e-9  # of the largest number
WORLDS = max(1, 40 * examples(40).max_examples // 40)
QUESTIONS = 250  # of each
LAST_S = 2.0
ROBOT = """<robot name="arm"><link name="pedestal"/><link name="flange"/><link name="tool"/>
<joint name="socket" type="fixed"><parent link="pedestal"/><child link="flange"/>
<origin xyz="0.1 0 1" rpy="0.3 0 0"/></joint>
<joint name="turn" type="revolute"><parent link="flange"/><child link="tool"/><axis xyz="0 0 1"/>
<limit lower="-3" upper="3" effort="1" velocity="1"/></joint></robot>"""


def some(random: np.random.Generator) -> Transform:
    return Transform.exp(random.uniform(-1.0, 1.0, size=6))


@dataclass
class Forest:
    """A random tree of frames, and which of them are one rigid body."""

    random: np.random.Generator
    world: World = field(default_factory=World)
    frames: list[str] = field(default_factory=lambda: ["trunk"])
    body: dict[str, int] = field(default_factory=lambda: {"trunk": 0})
    moving: list[tuple[str, str]] = field(default_factory=list)

    def grow(self, name: str) -> None:
        parent = str(self.random.choice(self.frames))
        if self.random.random() < 0.5:
            self.world.fix(of=name, in_frame=parent, transform=some(self.random))
            self.body[name] = self.body[parent]
        else:
            how = {"interpolation": "screw"} if self.random.random() < 0.5 else {}
            for t in (0.0, 1.0, LAST_S):
                self.world.set_pose(of=name, in_frame=parent, transform=some(self.random), at=seconds(t), **how)
            self.body[name] = len(self.frames)
            self.moving.append((name, parent))
        self.frames.append(name)

    def mount_robot(self, model: ArticulationModel) -> None:
        parent = str(self.random.choice(self.frames))
        self.world.mount(model, in_frame=parent, prefix="")
        for t in (0.0, LAST_S):
            self.world.set_joints({"turn": self.random.uniform(-1.0, 1.0)}, at=seconds(t))
        self.body |= {"pedestal": self.body[parent], "flange": self.body[parent], "tool": 1000}
        self.frames += ["pedestal", "flange", "tool"]

    def on(self, frame: str) -> str:
        """Some frame of the same rigid body."""
        return str(self.random.choice([other for other in self.frames if self.body[other] == self.body[frame]]))

    def declare(self, name: str) -> None:
        """A part of a rigid body: a frame and what is fixed to it."""
        top = str(self.random.choice(self.frames))
        below = [f for f in self.frames if f != top and self.body[f] == self.body[top]]
        try:
            self.world.add_body(name, frames=[top, *below[: self.random.integers(0, 3)]])
        except ConstraintViolation:  # frames in between are left out, or on another body
            return

    def measure(self, child: str, parent: str) -> tuple[str, str, np.ndarray]:
        """The motion of an edge, somewhere on the two bodies and in either direction."""
        of, relative_to = self.on(child), self.on(parent)
        if self.random.random() < 0.3:
            of, relative_to = relative_to, of
        numbers = self.random.uniform(-1.0, 1.0, size=6)
        for t in (0.0, LAST_S):
            given = {"linear": numbers[:3], "angular": numbers[3:], "source": f"by {child}"}
            self.world.set_twist(of=of, relative_to=relative_to, expressed_in=of, at=seconds(t), **given)
        return of, relative_to, numbers


@pytest.fixture(scope="module")
def robot(tmp_path_factory) -> ArticulationModel:
    path = tmp_path_factory.mktemp("robot") / "arm.urdf"
    path.write_text(ROBOT)
    model = ArticulationModel()
    model.load_urdf(path, name="arm")
    return model


def make(seed: int, robot: ArticulationModel) -> tuple[Forest, list]:
    forest = Forest(rng(seed))
    for i in range(int(forest.random.integers(4, 10))):
        forest.grow(f"f{i}")
    if seed % 4 == 0:
        forest.mount_robot(robot)
    steps = [lambda n=n: forest.declare(f"body{n}") for n in range(2)]
    measured = []
    chosen = [edge for edge in forest.moving if forest.random.random() < 0.5]
    steps += [lambda edge=edge: measured.append(forest.measure(*edge)) for edge in chosen]
    for step in forest.random.permutation(np.array(steps, dtype=object)):
        step()
    return forest, measured


def six(twist) -> np.ndarray:
    return np.concatenate([twist.linear, twist.angular])


def assert_close(actual: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_allclose(actual, expected, atol=CLOSE * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("seed", range(WORLDS))
class TestTwistsOverFixedMounts:
    def test_telescope(self, seed, robot):
        forest, _ = make(seed, robot)
        for _ in range(QUESTIONS):
            a, b, c, axes, point = map(str, forest.random.choice(forest.frames, size=5))
            ask = {"at": seconds(forest.random.uniform(0.0, LAST_S)), "expressed_in": axes, "point": point}
            near, far = (six(forest.world.twist(of=x, relative_to=y, **ask)) for x, y in ((a, b), (b, c)))
            assert_close(six(forest.world.twist(of=a, relative_to=c, **ask)), near + far)
            if forest.body[a] == forest.body[b]:
                assert_close(near, np.zeros(6))

    def test_are_those_that_were_measured_anywhere_on_the_bodies(self, seed, robot):
        forest, measured = make(seed, robot)
        for of, relative_to, numbers in measured:
            for x, y in ((of, relative_to), (forest.on(of), forest.on(relative_to))):
                twist = forest.world.twist(of=x, relative_to=y, expressed_in=of, point=of, at=seconds(0.5))
                assert_close(six(twist), numbers)
                assert twist.method == "measured"
