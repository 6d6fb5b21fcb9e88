"""Half a turn between two samples: both ways are as long, and every question takes the same one."""

from __future__ import annotations

import numpy as np
import pytest

from armillary import Rotation, Transform, World, seconds
from unit.kit import CLOSE_RAD

ASK = {"of": "lid", "in_frame": "box"}
QUARTER, HALF = seconds(0.25), seconds(0.5)


def half_turns() -> list[tuple[np.ndarray, np.ndarray]]:
    """Quaternions w x y z of the first sample and of the turn to the second, about each axis and about any."""
    random = np.random.default_rng(5)
    axes = [*np.eye(3), *-np.eye(3), *random.normal(size=(40, 3))]
    starts = [np.array([1.0, 0, 0, 0]), *random.normal(size=(4, 4))]
    return [(a / np.linalg.norm(a), np.r_[0, v / np.linalg.norm(v)]) for a in starts for v in axes]


def turning(first: Rotation, second: Rotation) -> World:
    world = World()
    for t, rotation in enumerate((first, second)):
        world.set_pose(**ASK, transform=Transform.from_rotation(rotation, xyz=(0, 0, 0)), at=seconds(t))
    return world


def ways_taken(world: World) -> list[np.ndarray]:
    """The rotation after a quarter of a second, from every question there is about it."""
    motion = world.twist(of="lid", relative_to="box", expressed_in="lid", at=HALF).angular
    start = world.pose(**ASK, at=0).transform.rotation
    return [
        world.pose(**ASK, at=QUARTER).transform.rotation.matrix,
        world.pose(**ASK, at=QUARTER, interpolation="screw").transform.rotation.matrix,
        *world.transforms(**ASK, at=np.array([QUARTER, HALF]))[:1, :3, :3],
        *world.transforms(**ASK, at=np.array([HALF, QUARTER]))[1:, :3, :3],
        world.snapshot(in_frame="box", at=QUARTER)["lid"].rotation.matrix,
        (start @ Rotation.exp(0.25 * motion)).matrix,
    ]


class TestHalfATurn:
    @pytest.mark.parametrize("back", [False, True], ids=["there", "back"])
    def test_goes_one_way_for_every_question(self, back):
        for start, turn in half_turns():
            first = Rotation.from_wxyz(start)
            ends = (first, first @ Rotation.from_wxyz(turn))
            one, *others = ways_taken(turning(*(reversed(ends) if back else ends)))
            for other in others:
                np.testing.assert_allclose(other, one, atol=CLOSE_RAD)

    @pytest.mark.parametrize("axis", [*np.eye(3), *-np.eye(3)], ids=str)
    def test_that_is_exact_goes_about_the_axis_that_points_forwards(self, axis):
        world = turning(Rotation.identity(), Rotation.from_wxyz(np.r_[0.0, axis]))
        expected = Rotation.exp(np.pi / 4 * np.abs(axis)).matrix
        for taken in ways_taken(world):
            np.testing.assert_allclose(taken, expected, atol=CLOSE_RAD)
