"""Rows V1 to V15 of the tf2 conformance table: the numbers of a lookup."""

import itertools
import math

import numpy as np
import pytest

from armillary import LATEST, Rotation, Transform, World, seconds
from conformance.scenes import (
    CLOSE_M,
    CLOSE_RAD,
    IDENTITY,
    about_z,
    assert_close,
    matrix,
    pairs,
    set_along_x,
    shifted,
    turned,
)

DIGITS_OF_THE_TABLE = 5e-6  # its rounded numbers have six digits
CHORD_OF_THE_HELIX = 2e-5  # how far a straight line of 50 ms leaves the curve
TREE_I = {"b": ("a", (1.0, 0.0)), "c": ("b", (1.0, 0.0))}
TREE_V = TREE_I | {"f": ("a", (0.0, 1.0)), "g": ("f", (0.0, 1.0))}
TREE_Y = TREE_I | {"d": ("b", (0.0, 1.0)), "e": ("d", (0.0, 1.0))}
PLACE_IN_I = {"a": (0, 0), "b": (1, 0), "c": (2, 0)}
PLACE_IN_V = PLACE_IN_I | {"f": (0, 1), "g": (0, 2)}
PLACE_IN_Y = PLACE_IN_I | {"d": (1, 1), "e": (1, 2)}


def grown(world, tree):
    """Every edge is at rest, and has equal samples at 1 s and at 10 s."""
    for (name, (parent, (x, y))), at_s in itertools.product(tree.items(), (1, 10)):
        world.set_pose(of=name, in_frame=parent, transform=shifted(x=x, y=y), at=seconds(at_s))
    return world


def expected_between(places, of, in_frame):
    return shifted(x=places[of][0] - places[in_frame][0], y=places[of][1] - places[in_frame][1])


class TestEveryPairOfFrames:
    @pytest.mark.parametrize(("of", "in_frame"), pairs("abc"))
    @pytest.mark.parametrize("at", [seconds(1), seconds(5), seconds(10), LATEST])
    def test_v1_of_a_chain_is_answered(self, world, of, in_frame, at):
        pose = grown(world, TREE_I).pose(of=of, in_frame=in_frame, at=at)
        assert (pose.of, pose.in_frame) == (of, in_frame)
        assert_close(pose.transform, expected_between(PLACE_IN_I, of, in_frame))

    @pytest.mark.parametrize(("of", "in_frame"), [pair for pair in pairs("abc") if pair[0] != pair[1]])
    def test_v1_of_a_chain_has_the_stamp_that_was_asked(self, world, of, in_frame):
        grown(world, TREE_I)
        assert world.pose(of=of, in_frame=in_frame, at=seconds(5)).stamp == seconds(5)
        assert world.pose(of=of, in_frame=in_frame, at=LATEST).stamp == seconds(10)

    @pytest.mark.parametrize(("of", "in_frame"), pairs("abcfg"))
    def test_v2_of_two_branches_is_answered(self, world, of, in_frame):
        pose = grown(world, TREE_V).pose(of=of, in_frame=in_frame, at=seconds(5))
        assert_close(pose.transform, expected_between(PLACE_IN_V, of, in_frame))

    @pytest.mark.parametrize(("of", "in_frame"), pairs("abcde"))
    def test_v3_of_a_fork_below_a_stem_is_answered(self, world, of, in_frame):
        pose = grown(world, TREE_Y).pose(of=of, in_frame=in_frame, at=seconds(5))
        assert_close(pose.transform, expected_between(PLACE_IN_Y, of, in_frame))

    @pytest.mark.parametrize(("of", "in_frame"), [*pairs("abcfg"), *pairs("12")])
    def test_v4_of_one_tree_in_a_forest_is_answered(self, world, of, in_frame):
        grown(world, TREE_V | {"2": ("1", (1.0, 0.0))})
        places = PLACE_IN_V | {"1": (0, 0), "2": (1, 0)}
        pose = world.pose(of=of, in_frame=in_frame, at=seconds(5))
        assert_close(pose.transform, expected_between(places, of, in_frame))

    @pytest.mark.parametrize(("of", "in_frame"), [*itertools.product("12", "abcfg")])
    def test_v4_of_two_trees_in_a_forest_is_not(self, world, of, in_frame):
        grown(world, TREE_V | {"2": ("1", (1.0, 0.0))})
        assert not world.can_pose(of=of, in_frame=in_frame, at=seconds(5))
        assert not world.can_pose(of=in_frame, in_frame=of, at=seconds(5))


EIGHTH = math.tau / 8


class TestARingOfEightEdges:
    @pytest.fixture
    def ring(self, world):
        step = turned(EIGHTH, x=math.cos(EIGHTH) - 1.0, y=math.sin(EIGHTH))
        for number in range(8):
            world.set_pose(of=f"r{number + 1}", in_frame=f"r{number}", transform=step, at=seconds(1))
        return world

    @pytest.mark.parametrize(("first", "last"), [*itertools.product(range(9), range(9))])
    def test_v5_turns_by_an_eighth_per_step_either_way(self, ring, first, last):
        angle = (last - first) * EIGHTH
        pose = ring.pose(of=f"r{last}", in_frame=f"r{first}", at=seconds(1))
        assert_close(pose.transform, turned(angle, x=math.cos(angle) - 1.0, y=math.sin(angle)))

    def test_v5_is_home_after_eight(self, ring):
        assert_close(ring.pose(of="r8", in_frame="r0", at=LATEST).transform, IDENTITY)


COMPOUND = {
    "a": ("root", (1.0, 1.0, 1.0), (0.25, 0.5, 0.75)),
    "b": ("root", (-1.0, 0.0, -1.0), (1.0, 0.25, 0.5)),
    "c": ("b", (0.0, 2.0, 0.5), (0.25, 0.75, 1.25)),
    "d": ("c", (0.5, -1.0, 1.5), (-0.5, 1.0, -0.75)),
}


class TestACompoundOfTurns:
    @pytest.fixture
    def compound(self, world):
        for name, (parent, xyz, (yaw, pitch, roll)) in COMPOUND.items():
            parent_T_name = Transform.from_xyz_rpy(xyz=xyz, rpy=(roll, pitch, yaw))
            world.set_pose(of=name, in_frame=parent, transform=parent_T_name, at=seconds(1))
        return world

    @pytest.mark.parametrize(("of", "in_frame"), pairs(["root", *COMPOUND]))
    def test_v6_is_the_product_of_its_matrices(self, compound, of, in_frame):
        root_T = {"root": np.eye(4)}
        for name, (parent, xyz, ypr) in COMPOUND.items():
            root_T[name] = root_T[parent] @ matrix(xyz, ypr)
        expected = np.linalg.inv(root_T[in_frame]) @ root_T[of]
        found = compound.pose(of=of, in_frame=in_frame, at=seconds(1)).transform.matrix
        assert np.abs(found - expected).max() < CLOSE_M


TURN_RATE, CLIMB_RATE = 0.25, 1.0  # rad/s, m/s
STEP = seconds(0.05)
HALF_STEPS = range(STEP // 2, seconds(4.9), STEP)


@pytest.fixture(scope="module")
def helix():
    """b climbs in a, c circles around b, d swings in a and is sampled half a step later than the others."""
    with World(history=seconds(10)) as world:
        for at in range(0, seconds(5) + 1, STEP):
            t, later = at / 1e9, (at + STEP // 2) / 1e9
            around = turned(TURN_RATE * t, x=math.cos(TURN_RATE * t), y=math.sin(TURN_RATE * t))
            world.set_pose(of="b", in_frame="a", transform=shifted(z=CLIMB_RATE * t), at=at)
            world.set_pose(of="c", in_frame="b", transform=around, at=at)
            swing = shifted(z=math.cos(TURN_RATE * later))
            world.set_pose(of="d", in_frame="a", transform=swing, at=at + STEP // 2)
        yield world


class TestAHelix:
    def test_v7_is_followed_between_its_samples(self, helix):
        for at in HALF_STEPS:
            t = at / 1e9
            expected = turned(TURN_RATE * t, x=math.cos(TURN_RATE * t), y=math.sin(TURN_RATE * t), z=CLIMB_RATE * t)
            found = helix.pose(of="c", in_frame="a", at=at).transform
            assert found.is_close(expected, m=CHORD_OF_THE_HELIX, rad=CLOSE_RAD)

    def test_v7_is_seen_from_its_own_turning_frame(self, helix):
        for at in HALF_STEPS:
            t = at / 1e9
            expected = turned(-TURN_RATE * t, x=-1.0, z=math.cos(TURN_RATE * t) - CLIMB_RATE * t)
            found = helix.pose(of="d", in_frame="c", at=at).transform
            assert found.is_close(expected, m=CHORD_OF_THE_HELIX, rad=CLOSE_RAD)

    def test_v8_is_seen_from_where_its_frame_was_a_step_ago(self, helix):
        for of_at in HALF_STEPS[1:]:
            at = of_at - STEP
            t, later = at / 1e9, of_at / 1e9
            expected = turned(-TURN_RATE * t, x=-1.0, z=math.cos(TURN_RATE * later) - CLIMB_RATE * t)
            pose = helix.pose(of="d", in_frame="c", at=at, of_at=of_at, fixed_frame="a")
            assert pose.transform.is_close(expected, m=CHORD_OF_THE_HELIX, rad=CLOSE_RAD)


class TestTravellingInTime:
    @pytest.mark.parametrize("at_s", [12, 12.5])
    def test_v9_shows_how_far_a_frame_has_come(self, world, at_s):
        set_along_x(world, of="b", in_frame="a", at_s=range(10, 20))
        pose = world.pose(of="b", in_frame="b", at=seconds(at_s), of_at=seconds(15), fixed_frame="a")
        assert_close(pose.transform, shifted(x=15.0 - at_s))
        assert pose.stamp == seconds(at_s)


def between(world, first, second, at, **how):
    """The answer at an instant between one transform at 0 s and another at 1 s."""
    world.set_pose(of="b", in_frame="a", transform=first, at=0)
    world.set_pose(of="b", in_frame="a", transform=second, at=seconds(1))
    return world.pose(of="b", in_frame="a", at=at, **how).transform


class TestInterpolating:
    def test_v10_moves_along_a_straight_line(self, world):
        world.set_pose(of="b", in_frame="a", transform=shifted(x=2.0, y=-1.0, z=7.0), at=200)
        world.set_pose(of="b", in_frame="a", transform=shifted(x=3.0, y=4.0, z=0.0), at=300)
        for percent in range(101):
            part = percent / 100.0
            found = world.pose(of="b", in_frame="a", at=200 + percent).transform
            assert_close(found, shifted(x=2.0 + part, y=-1.0 + 5.0 * part, z=7.0 - 7.0 * part))

    @pytest.mark.parametrize("seed", range(20))
    def test_v11_turns_evenly_along_the_shortest_arc(self, world, seed):
        first, second = (Rotation.exp(v) for v in np.random.default_rng(seed).normal(size=(2, 3)))
        arc = (first.inverse() @ second).log()
        ends = [Transform.from_xyz_wxyz(xyz=(0.0, 0.0, 0.0), wxyz=end.wxyz) for end in (first, second)]
        for part in (0.1, 0.5, 0.9):
            found = between(world, *ends, seconds(part)).rotation
            assert found.is_close(first @ Rotation.exp(arc * part), rad=CLOSE_RAD)

    @pytest.mark.parametrize("angle", [1e-12, 1e-9, 1e-8, 1e-6])
    def test_v11_turns_evenly_along_the_smallest_arc_too(self, world, angle):
        found = between(world, turned(0.3), turned(0.3 + angle), seconds(0.5)).rotation
        assert found.is_close(turned(0.3 + angle / 2).rotation, rad=1e-15)

    def test_v12_gives_the_numbers_of_the_table(self, world):
        quarter = between(world, turned(0.0), turned(1.0, x=10.0), seconds(0.25))
        assert quarter.translation == pytest.approx([2.5, 0.0, 0.0], abs=CLOSE_M)
        assert quarter.rotation.xyzw == pytest.approx([0.0, 0.0, 0.124675, 0.992198], abs=DIGITS_OF_THE_TABLE)
        back = quarter.inverse().translation
        assert back == pytest.approx([-2.42228, 0.61851, 0.0], abs=DIGITS_OF_THE_TABLE)

    def test_v13_takes_the_short_way_to_the_other_sign_of_a_quaternion(self, world):
        other_sign = Transform.from_xyz_wxyz(xyz=(0.0, 0.0, 0.0), wxyz=[-part for part in about_z(1.0)])
        found = between(world, IDENTITY, other_sign, seconds(0.5)).rotation
        assert found.is_close(turned(0.5).rotation, rad=CLOSE_RAD)

    def test_v14_keeps_moving_and_turning_apart(self, world):
        half = between(world, IDENTITY, turned(math.pi / 2, x=2.0), seconds(0.5))
        assert_close(half, turned(math.pi / 4, x=1.0))

    def test_v14_couples_them_on_request(self, world):
        end = turned(math.pi / 2, x=2.0)
        half = between(world, IDENTITY, end, seconds(0.5), interpolation="screw")
        assert_close(half, Transform.exp(end.log() * 0.5))

    @pytest.mark.parametrize("at_s", [1, 2, 3])
    def test_v15_returns_a_sample_untouched_at_its_own_stamp(self, world, at_s):
        random = np.random.default_rng(3)
        for stamp in (1, 2, 3):
            sampled = Transform.exp(random.normal(size=6))
            world.set_pose(of="b", in_frame="a", transform=sampled, at=seconds(stamp))
        kept = world.samples(of="b", in_frame="a").transforms[at_s - 1]
        found = world.pose(of="b", in_frame="a", at=seconds(at_s)).transform
        assert found.xyz_wxyz.tolist() == kept.tolist()
