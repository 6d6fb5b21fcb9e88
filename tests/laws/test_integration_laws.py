"""What a source's twists make of its poses, whatever order they come in, against a sum in plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from armillary import Transform, World, seconds
from randomness import examples
from reference_twists import integrated
from strategies import VALUES, assert_close

TWISTS = st.integers(0, 2**32).map(lambda seed: np.random.default_rng(seed).uniform(-1.0, 1.0, size=6))
TENTHS = st.integers(0, 50)
ASK = {"of": "base", "in_frame": "odom"}


def set_pose_value(world: World, at: int, value: int) -> None:
    world.set_pose(**ASK, transform=Transform.from_matrix(VALUES[value]), at=at)


def set_twist_value(world: World, at: int, v: np.ndarray, relative_to: str = "odom") -> None:
    world.set_twist(of="base", relative_to=relative_to, expressed_in="base", linear=v[:3], angular=v[3:], at=at)


def by_stamp(tenths: dict) -> dict:
    return {seconds(t / 10): value for t, value in tenths.items()}


def nearly_sorted(random, stamps: list[int], reach: int) -> list[int]:
    """Each up to `reach` places from where it belongs, the first at the front."""
    places = {t: i + random.uniform(0, reach) for i, t in enumerate(sorted(stamps))}
    first, *others = sorted(stamps)
    return [first, *sorted(others, key=places.__getitem__)]


class TestIntegration:
    @given(
        poses=st.dictionaries(TENTHS, st.integers(0, 15), min_size=1, max_size=4),
        twists=st.dictionaries(TENTHS, TWISTS, min_size=1, max_size=8),
        random=st.randoms(),
    )
    @examples(80)
    def test_goes_on_from_the_newest_pose_in_any_order(self, poses, twists, random):
        poses, twists, world, in_order = by_stamp(poses), by_stamp(twists), World(), World()
        assertions = [(set_pose_value, *item) for item in poses.items()] + [
            (set_twist_value, *item) for item in twists.items()
        ]
        random.shuffle(assertions)
        for set_value, at, value in assertions:
            set_value(world, at, value)
        for at, value in poses.items():
            set_pose_value(in_order, at, value)
        for at, value in twists.items():
            set_twist_value(in_order, at, value)
        newest = max(poses)
        for t in range(min(poses), newest + 1, seconds(0.05)):
            seen = world.pose(**ASK, at=t)
            assert seen.method == "sampled"
            assert_close(seen.transform, in_order.pose(**ASK, at=t).transform.matrix)
        for t, value in poses.items():
            assert_close(world.pose(**ASK, at=t).transform, VALUES[value])
        for t, expected in integrated(VALUES[poses[newest]], newest, twists).items():
            assert_close(world.pose(**ASK, at=t).transform, expected)
            assert world.pose(**ASK, at=t).method == "integrated"

    @given(
        speeds=st.lists(TWISTS, min_size=60, max_size=60),
        limit=st.sampled_from([{"max_samples": 12}, {"history": seconds(1.5)}, {"thin_m": 1e-3, "thin_rad": 1e-3}]),
        random=st.randoms(),
    )
    @examples(30)
    def test_of_what_is_forgotten_stays_in_what_is_kept(self, speeds, limit, random):
        twists = {seconds(0.1 * (i + 1)): v for i, v in enumerate(speeds)}
        world = World(**limit)
        set_pose_value(world, 0, 3)
        for at in nearly_sorted(random, list(twists), 4):
            set_twist_value(world, at, twists[at])
        expected = integrated(VALUES[3], 0, twists)
        for t in sorted(twists)[-5:]:
            assert_close(world.pose(**ASK, at=t).transform, expected[t])

    @given(twists=st.dictionaries(TENTHS, TWISTS, min_size=1, max_size=6), declared_first=st.booleans())
    @examples(20)
    def test_is_about_bodies_whenever_they_are_declared(self, twists, declared_first):
        world, twists = World(), by_stamp(twists)
        declare = [lambda: world.add_body("wheels", frames=["odom", "axle"])]
        set_value = [lambda: set_pose_value(world, 0, 2)] + [
            lambda t=t: set_twist_value(world, t, twists[t], "axle") for t in twists
        ]
        for step in declare + set_value if declared_first else set_value + declare:
            step()
        for t, expected in integrated(VALUES[2], 0, twists).items():
            assert_close(world.pose(**ASK, at=t).transform, expected)


WAYS = {
    "at the frame": ("base", "odom", "base"),
    "at what is fixed to it": ("imu", "odom", "imu"),
    "against what its parent is fixed to": ("base", "wall", "imu"),
    "of the reference against it": ("wall", "base", "wall"),
}


@pytest.mark.parametrize("way", WAYS)
class TestTwistsMeasuredAnywhereOnTheTwoBodies:
    @given(random=st.randoms(use_true_random=False), seed=st.integers(0, 2**32 - 1))
    @examples(30)
    def test_lead_to_the_same_poses_in_any_order(self, way, random, seed):
        """Late poses and late twists as well; asked between the poses, after them, and ahead of all."""
        of, relative_to, axes = WAYS[way]
        draw = np.random.default_rng(seed)
        mounts = [Transform.exp(draw.uniform(-1, 1, 6)) for _ in range(2)]
        said = [("pose", seconds(t), Transform.exp(draw.uniform(-0.5, 0.5, 6))) for t in (0.0, 1.0, 2.0)]
        said += [("twist", seconds(t), draw.normal(size=6)) for t in (0.3, 0.9, 1.4, 2.2, 2.5, 2.7)]

        def told(order: list) -> World:
            world = World(name="robot", history=None)
            world.fix(of="imu", in_frame="base", transform=mounts[0])
            world.fix(of="wall", in_frame="odom", transform=mounts[1])
            for kind, at, value in order:
                if kind == "pose":
                    world.set_pose(of="base", in_frame="odom", transform=value, at=at)
                else:
                    names = {"of": of, "relative_to": relative_to, "expressed_in": axes}
                    world.set_twist(**names, linear=value[:3], angular=value[3:], at=at)
            return world

        shuffled = random.sample(said, len(said))
        in_order, mixed = told(said), told(shuffled)
        for t in (0.0, 0.6, 1.0, 1.2, 2.0, 2.1, 2.5, 2.7, 3.1):
            ask = {"of": "base", "in_frame": "odom", "at": seconds(t), "outside": "predict"}
            first, second = in_order.pose(**ask), mixed.pose(**ask)
            assert_close(second.transform, first.transform.matrix)
            assert first.method == second.method
        assert in_order.pose(of="base", in_frame="odom", at=seconds(2.6)).method == "integrated"
