"""How uncertainty travels along a path."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from armillary import Transform, World, seconds
from strategies import (
    CLOSE_COVARIANCE,
    FRAMES,
    LONG_HISTORY,
    Twins,
    assert_psd,
    assert_same_covariance,
    covariances,
    histories,
    modest_transforms,
    questions,
    two_time_questions,
)

STEP = 1e-5  # of the central differences
CLOSE_NUMERIC = 1e-6
THREE = {"min_size": 3, "max_size": 3}
KNOWN = np.diag([0.01, 0.02, 0.03, 0.001, 0.002, 0.003])


def chain(transforms, covariances):
    """a <- b <- c <- ...: fixed edges with a covariance each."""
    world = World(history=LONG_HISTORY)
    rows = zip(pairwise(FRAMES), transforms, covariances, strict=False)
    for (parent, of), transform, covariance in rows:
        world.fix(of=of, in_frame=parent, transform=transform, covariance=covariance)
    return world


def moving(first, second, covariances):
    """`base` in `map` with a sample at 0 s and one at 1 s."""
    world = World(history=LONG_HISTORY)
    for at, transform, covariance in zip((0.0, 1.0), (first, second), covariances, strict=True):
        world.set_pose(of="base", in_frame="map", transform=transform, at=seconds(at), covariance=covariance)
    return world


def carried(covariance, J):
    return J @ covariance @ J.T


def numeric_jacobian(answer):
    """Columns d log(answer(0)^-1 answer(xi)) / d xi by central differences."""
    undo = answer(np.zeros(6)).inverse()
    columns = [((undo @ answer(step)).log() - (undo @ answer(-step)).log()) / (2 * STEP) for step in STEP * np.eye(6)]
    return np.column_stack(columns)


class TestTheCovarianceOfAnAnswer:
    @given(histories(), st.lists(questions() | two_time_questions(), min_size=1, max_size=20))
    def test_equals_the_reference_with_a_default_for_the_unknown(self, history, asked):
        twins = Twins(default_covariance=KNOWN).do_all(history)
        for question in asked:
            twins.ask(question)

    @given(*[st.lists(modest_transforms(), **THREE), st.lists(covariances(), **THREE)])
    def test_stays_symmetric_and_positive_semi_definite(self, transforms, edges):
        world = chain(transforms, edges)
        for of in FRAMES[:4]:
            for in_frame in FRAMES[:4]:
                assert_psd(world.pose(of=of, in_frame=in_frame).covariance)

    @given(*[st.lists(modest_transforms(), **THREE), st.lists(covariances(), **THREE)])
    def test_follows_the_compound_rule(self, transforms, edges):
        expected = np.zeros((6, 6))
        for transform, covariance in zip(transforms, edges, strict=True):
            expected = carried(expected, transform.inverse().adjoint) + covariance
        pose = chain(transforms, edges).pose(of="d", in_frame="a")
        assert_same_covariance(pose.covariance, expected)

    @given(*[st.lists(modest_transforms(), **THREE), st.lists(covariances(), **THREE)])
    def test_follows_the_inverse_rule(self, transforms, edges):
        world = chain(transforms, edges)
        there, back = world.pose(of="d", in_frame="a"), world.pose(of="a", in_frame="d")
        expected = carried(there.covariance, there.transform.adjoint)
        assert_same_covariance(back.covariance, expected)

    @given(*[st.lists(modest_transforms(), **THREE), st.lists(covariances(), **THREE)])
    def test_is_what_perturbing_every_edge_gives(self, transforms, edges):
        def c_T_b_moved(edge):
            def answer(xi):
                ends = list(transforms)
                ends[edge] = ends[edge] @ Transform.exp(xi)
                return (ends[0] @ ends[2]).inverse() @ ends[0] @ ends[1]

            return numeric_jacobian(answer)

        world = chain(transforms[:1], edges[:1])
        world.fix(of="b1", in_frame="b", transform=transforms[1], covariance=edges[1])
        world.fix(of="b2", in_frame="b", transform=transforms[2], covariance=edges[2])
        expected = sum(carried(edges[i], c_T_b_moved(i)) for i in range(3))
        actual = world.pose(of="b1", in_frame="b2").covariance
        scale = max(1.0, np.abs(expected).max())
        assert np.abs(actual - expected).max() < CLOSE_NUMERIC * scale

    def test_is_zero_where_everything_is_fixed_without_one(self):
        world = chain([Transform.identity()] * 2, [None, None])
        assert np.array_equal(world.pose(of="c", in_frame="a").covariance, np.zeros((6, 6)))


class TestBetweenTwoSamples:
    @given(modest_transforms(), modest_transforms(), covariances(), covariances(), st.integers(0, 10))
    def test_both_are_moved_to_the_pose_between_and_blended(self, Ta, Tb, Sa, Sb, tenths):
        world = moving(Ta, Tb, (Sa, Sb))
        pose = world.pose(of="base", in_frame="map", at=tenths * seconds(0.1))
        back, u = pose.transform.inverse(), tenths / 10
        expected = (1 - u) * carried(Sa, (back @ Ta).adjoint) + u * carried(Sb, (back @ Tb).adjoint)
        assert_same_covariance(pose.covariance, expected)
        assert_psd(pose.covariance)

    @given(modest_transforms(), modest_transforms(), covariances())
    def test_of_which_one_is_unknown_nothing_is_known(self, Ta, Tb, S):
        world = moving(Ta, Tb, (S, None))
        assert world.pose(of="base", in_frame="map", at=seconds(0.5)).covariance is None
        assert_same_covariance(world.pose(of="base", in_frame="map", at=0).covariance, S)

    @given(modest_transforms(), modest_transforms(), covariances(), covariances())
    def test_holding_keeps_the_covariance_of_the_end(self, Ta, Tb, Sa, Sb):
        world = moving(Ta, Tb, (Sa, Sb))
        asked = {"of": "base", "in_frame": "map", "outside": "hold"}
        assert_same_covariance(world.pose(**asked, at=-1).covariance, Sa)
        assert_same_covariance(world.pose(**asked, at=seconds(9.0)).covariance, Sb)


class TestAnEdgeUsedTwice:
    @given(modest_transforms(), modest_transforms(), modest_transforms(), covariances())
    def test_is_one_error_where_it_is_fixed(self, Ta, Tb, base_T_camera, S):
        world = moving(Ta, Tb, [np.zeros((6, 6))] * 2)
        world.fix(of="camera", in_frame="base", transform=base_T_camera, covariance=S)
        pose = world.pose(of="camera", of_at=0, in_frame="camera", at=seconds(1.0), fixed_frame="map")

        def answer(xi):
            camera = base_T_camera @ Transform.exp(xi)
            return (Tb @ camera).inverse() @ Ta @ camera

        expected = carried(S, numeric_jacobian(answer))
        scale = max(1.0, np.abs(S).max())
        assert np.abs(pose.covariance - expected).max() < CLOSE_NUMERIC * scale * 100

    @given(modest_transforms(), modest_transforms(), covariances())
    def test_is_two_errors_where_it_was_fixed_anew(self, Ta, Tb, S):
        world = World()
        world.fix(of="base", in_frame="map", transform=Ta)
        world.fix(of="base", in_frame="map", transform=Tb, covariance=S, at=seconds(1.0))
        pose = world.pose(of="base", of_at=0, in_frame="base", at=seconds(2.0), fixed_frame="map")
        assert_same_covariance(pose.covariance, carried(S, pose.transform.inverse().adjoint))

    @given(modest_transforms(), modest_transforms(), covariances(), covariances())
    def test_at_one_stamp_cancels_out(self, Ta, Tb, Sa, Sb):
        world, at = moving(Ta, Tb, (Sa, Sb)), seconds(0.5)
        pose = world.pose(of="base", of_at=at, in_frame="base", at=at, fixed_frame="map")
        assert_same_covariance(pose.covariance, np.zeros((6, 6)))

    @given(
        st.tuples(modest_transforms(), modest_transforms()),
        st.tuples(covariances(), covariances()),
        st.sampled_from([-1.0, 0.0, 1.0]),
        st.permutations(range(6)),
    )
    def test_at_two_stamps_is_bounded_for_every_correlation(self, ends, edges, sign, order):
        world = moving(*ends, edges)
        pose = world.pose(of="base", of_at=0, in_frame="base", at=seconds(1.0), fixed_frame="map")
        J = pose.transform.inverse().adjoint
        root_a, root_b = (U * np.sqrt(d) for U, d, _ in map(np.linalg.svd, edges))
        cross = sign * root_a @ np.eye(6)[order] @ (-J @ root_b).T
        true = edges[0] + carried(edges[1], J) + cross + cross.T
        scale = max(1.0, np.abs(true).max())
        assert np.linalg.eigvalsh(pose.covariance - true).min() > -CLOSE_COVARIANCE * scale
