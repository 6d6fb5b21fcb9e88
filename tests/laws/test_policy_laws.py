"""What holds whatever the paths: about choosing among them, and about fusing them."""

from itertools import permutations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from armillary import Transform, World, seconds
from armillary.relations.arrays import right_jacobian
from strategies import CLOSE_M, CLOSE_RAD, assert_psd, covariances, floats, modest_transforms

SOURCES = ("left", "middle", "right")
DRAWS = 400
SIGMAS = 4.0
CLOSE_FUSED = 1e-7  # the paths are inverted against each other, and iterations weigh them
NUMERIC = 1e-6


def small_tangents():
    return st.tuples(*[floats(0.05)] * 6).map(np.array)


def full_covariances():
    """Positive definite: every direction is uncertain."""
    return covariances().map(lambda covariance: covariance + 1e-3 * np.eye(6))


def opinions(most=3):
    """Places near each other, each with its covariance."""
    return st.lists(st.tuples(small_tangents(), full_covariances()), min_size=2, max_size=most)


def kitchen(map_T_base, sightings, shared=None, order=None):
    """A robot whose cameras all see one cup; `shared` is the covariance of the robot's own pose."""
    world = World()
    world.fix(of="base", in_frame="map", transform=map_T_base, covariance=shared)
    for i in order or range(len(sightings)):
        xi, covariance = sightings[i]
        seen = {
            "transform": Transform.exp([1.0, 0.0, 0.0, 0.0, 0.0, 0.0]) @ Transform.exp(xi),
            "covariance": covariance,
        }
        world.set_pose(of="cup", in_frame="base", at=seconds(1), source=SOURCES[i], **seen)
    return world


def fused(world, **asked):
    return world.pose(of="cup", in_frame="map", policy="fuse", **asked)


def of_source(world, source):
    return world.pose(of="cup", in_frame="map", policy=lambda paths: next(p for p in paths if source in p.sources))


def assert_same(pose, other, scale=1.0):
    assert pose.is_close(other, m=scale * CLOSE_FUSED, rad=scale * CLOSE_FUSED)
    assert np.abs(pose.covariance - other.covariance).max() < scale * CLOSE_FUSED


def is_below(small, large):
    """In the order of covariances: no direction is less certain."""
    scale = max(1.0, np.abs(large).max())
    return np.linalg.eigvalsh(large - small).min() > -CLOSE_FUSED * scale


class TestFusing:
    @given(modest_transforms(), opinions(), full_covariances())
    def test_does_not_depend_on_the_order(self, map_T_base, sightings, shared):
        first = fused(kitchen(map_T_base, sightings, shared))
        for order in permutations(range(len(sightings))):
            assert_same(fused(kitchen(map_T_base, sightings, shared, order)), first)

    @given(modest_transforms(), opinions())
    def test_is_in_no_direction_less_certain_than_any_of_the_paths(self, map_T_base, sightings):
        pose = fused(kitchen(map_T_base, sightings))
        assert_psd(pose.covariance)
        for path in pose.paths_used:
            J = right_jacobian((path.pose.transform.inverse() @ pose.transform).log())
            assert is_below(pose.covariance, J @ path.covariance @ J.T)

    @given(modest_transforms(), st.tuples(small_tangents(), full_covariances()), covariances())
    def test_one_path_twice_gives_that_path(self, map_T_base, sightings, shared):
        """The cup has two parents, but the camera saw one thing: what the paths share is counted once."""
        world = kitchen(map_T_base, [sightings], shared)
        for hook in ("hook", "ring"):
            world.fix(of=hook, in_frame="cup", transform=Transform.identity())
            world.fix(of="handle", in_frame=hook, transform=Transform.identity(), source=hook)
        twice = world.pose(of="handle", in_frame="map", policy="fuse")
        once = world.pose(of="cup", in_frame="map")
        assert len(twice.paths_used) == 2
        assert twice.transform.is_close(once.transform, m=CLOSE_M, rad=CLOSE_RAD)
        assert np.abs(twice.covariance - once.covariance).max() < CLOSE_FUSED
        assert twice.disagreement == 0.0

    @given(modest_transforms(), opinions(most=2))
    def test_of_independent_paths_is_the_update_of_kalman(self, map_T_base, sightings):
        near = [(1e-5 * xi, covariance) for xi, covariance in sightings]
        world = kitchen(map_T_base, near)
        first, second = (of_source(world, source) for source in SOURCES[:2])
        K = first.covariance @ np.linalg.inv(first.covariance + second.covariance)
        step = Transform.exp(K @ (first.transform.inverse() @ second.transform).log())
        pose = fused(world)
        assert pose.transform.is_close(first.transform @ step, m=CLOSE_FUSED, rad=CLOSE_FUSED)
        expected = first.covariance - K @ first.covariance
        assert np.abs(pose.covariance - expected).max() < 1e-4 * max(1.0, np.abs(expected).max())

    @given(modest_transforms(), opinions())
    def test_is_where_the_weighted_differences_vanish(self, map_T_base, sightings):
        """The gradient of the sum of squares, by central differences, is zero at the answer."""
        world = kitchen(map_T_base, sightings)
        pose = fused(world)
        parts = [(path.pose.transform, np.linalg.inv(path.covariance)) for path in pose.paths_used]

        def cost(xi):
            moved = pose.transform @ Transform.exp(xi)
            errors = [(transform.inverse() @ moved).log() for transform, _ in parts]
            return sum(error @ weight @ error for error, (_, weight) in zip(errors, parts, strict=True))

        step = 1e-4
        gradient = [(cost(step * axis) - cost(-step * axis)) / (2 * step) for axis in np.eye(6)]
        assert np.abs(gradient).max() < NUMERIC * max(weight.max() for _, weight in parts)

    @given(modest_transforms(), opinions(most=2), full_covariances(), st.sampled_from([1.0, 1e2, 1e6]))
    def test_learns_nothing_of_what_is_shared(self, map_T_base, sightings, shared, vague):
        """However far the cameras are apart, and however badly the robot knows where it is."""
        world = kitchen(map_T_base, sightings, vague * shared)
        through = world.pose(of="base", in_frame="map") @ world.pose(of="cup", in_frame="base", policy="fuse")
        assert_same(fused(world), through, scale=max(1.0, np.abs(through.covariance).max()))

    @given(modest_transforms(), opinions(most=2), full_covariances(), st.sampled_from([1.0, 1e2, 1e6]))
    def test_learns_nothing_of_errors_that_all_share(self, cup_T_rim, sightings, shared, vague):
        world = kitchen(Transform.identity(), sightings)
        world.fix(of="rim", in_frame="cup", transform=cup_T_rim, covariance=vague * shared)
        behind = fused(world) @ world.pose(of="rim", in_frame="cup")
        pose = world.pose(of="rim", in_frame="map", policy="fuse")
        assert_same(pose, behind, scale=max(1.0, np.abs(behind.covariance).max()))


class TestChoosing:
    @given(modest_transforms(), opinions(), full_covariances(), st.sampled_from(["latest", "most_certain"]))
    def test_gives_what_preferring_that_source_gives(self, map_T_base, sightings, shared, policy):
        world = kitchen(map_T_base, sightings, shared)
        pose = world.pose(of="cup", in_frame="map", policy=policy)
        (source,) = pose.paths_used[0].sources
        world.prefer(of="cup", source=source)
        preferred = world.pose(of="cup", in_frame="map")
        assert pose == preferred
        assert pose.relations == preferred.relations

    @given(modest_transforms(), opinions(), st.sampled_from(["latest", "most_certain"]))
    def test_does_not_depend_on_the_order(self, map_T_base, sightings, policy):
        answers = [
            kitchen(map_T_base, sightings, None, order).pose(of="cup", in_frame="map", policy=policy)
            for order in permutations(range(len(sightings)))
        ]
        assert all(answer.relations == answers[0].relations for answer in answers)

    @given(modest_transforms(), opinions(most=2))
    def test_two_independent_paths_disagree_by_the_distance_between_them(self, map_T_base, sightings):
        near = [(1e-3 * xi, covariance) for xi, covariance in sightings]
        world = kitchen(map_T_base, near)
        first, second = (of_source(world, source) for source in SOURCES[:2])
        difference = (first.transform.inverse() @ second.transform).log()
        expected = np.sqrt(difference @ np.linalg.solve(first.covariance + second.covariance, difference))
        for policy in ("latest", "most_certain", "fuse"):
            apart = world.pose(of="cup", in_frame="map", policy=policy).disagreement
            assert abs(apart - expected) < 1e-3 * max(1.0, expected)


class TestTheUncertaintyOfWhatIsFused:
    def test_is_that_of_many_draws(self):
        """Two cameras on one mast, whose error is common to both: the answer is neither too sure nor too vague."""
        rng = np.random.default_rng(seed=3)
        mast, left, right = (np.diag(np.square(s)) for s in ([0.02] * 6, [0.01] * 6, [0.005] * 3 + [0.03] * 3))
        truth = Transform.from_xyz_rpy(xyz=(2.0, 1.0, 0.5), rpy=(0.2, -0.1, 0.4))
        mast_T_cup = Transform.from_xyz_rpy(xyz=(1.0, 0.3, -0.2), rpy=(0.0, 0.3, 0.0))
        errors, poses = [], []
        for _ in range(DRAWS):
            noise = [Transform.exp(rng.multivariate_normal(np.zeros(6), c)) for c in (mast, left, right)]
            world = World()
            world.fix(of="mast", in_frame="map", transform=truth @ noise[0], covariance=mast)
            for source, moved, covariance in (("left", noise[1], left), ("right", noise[2], right)):
                sightings = {"transform": mast_T_cup @ moved, "covariance": covariance, "source": source}
                world.set_pose(of="cup", in_frame="mast", at=seconds(1), **sightings)
            poses.append(fused(world))
            errors.append((poses[-1].transform.inverse() @ truth @ mast_T_cup).log())
        squared = [e @ np.linalg.solve(p.covariance, e) for e, p in zip(errors, poses, strict=True)]
        assert abs(np.mean(squared) - 6.0) < SIGMAS * np.sqrt(12.0 / DRAWS)
        drawn, predicted = np.cov(np.transpose(errors)), poses[0].covariance
        assert np.abs(np.diag(drawn) / np.diag(predicted) - 1.0).max() < SIGMAS * np.sqrt(2.0 / DRAWS)
