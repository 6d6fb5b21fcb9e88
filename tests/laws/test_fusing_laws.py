"""Fusing random graphs of frames, against least squares over the poses of all frames at once, and against the truth."""

from itertools import permutations

import numpy as np
import pytest

from armillary import Transform, World, seconds
from armillary.errors import ArmillaryError
from fusing_worlds import Graph, Sort, apart, oracle, random_graph
from randomness import scaled

WORLDS = scaled(150, 10_000)
SHARE_OF_SIGMA = 2e-5
RELATIVE_SPREAD = 5e-3
ROUNDING = 1e-9  # m, rad
SMALLEST_SIGMA = 1e-13  # below, an answer is exact for all that doubles can tell
MET_EXACTLY = (
    1e-5  # far below the deviation of every edge: exact directions alone give the answer, here and in the oracle
)
VAGUE = 0.05  # m, rad: beyond, errors are too large for the first order
HONEST = (5.0, 7.0)  # mean of e^T S^-1 e in six dimensions
FARTHEST = 0.3  # m, rad, from edges that are 0.02 off

CONSISTENT = {
    "known, exact and unknown": Sort({"known": 0.7, "exact": 0.15, "unknown": 0.15}),
    "some of them rank-deficient": Sort({"known": 0.6, "deficient": 0.2, "exact": 0.1, "unknown": 0.1}),
}
SURE = Sort({"known": 0.6, "exact": 0.2, "deficient": 0.2}, sigma=(-12.0, -2.0), uneven=2.0)
CONTRADICTING = Sort({"known": 0.4, "exact": 0.3, "deficient": 0.2, "unknown": 0.1}, wrong=0.02)
VERY_UNEVEN = [
    Sort(
        {"known": 0.7, "exact": 0.15, "deficient": 0.15}, sigma=(-12.0, 6.0), uneven=4.0, wrong=0.02, with_errors=False
    ),
    Sort(
        {"known": 0.8, "exact": 0.1, "deficient": 0.1}, sigma=(-3.0, -3.0), uneven=18.0, wrong=0.02, with_errors=False
    ),
]
ALL_SORTS = [*CONSISTENT.values(), SURE, CONTRADICTING, *VERY_UNEVEN]


def fused_worlds(sort: Sort, seed: int, count: int = WORLDS):
    """Graphs whose question several paths with known covariances answer, each with its world and the answer."""
    for number in range(count):
        graph = random_graph(np.random.default_rng([seed, number]), sort)
        world = graph.world()
        try:
            pose = world.pose(**graph.asked)
        except ArmillaryError:
            continue  # nothing else may leave the call
        if pose.method == "fused" and pose.covariance is not None:
            yield graph, world, pose


def largest_sigma(pose) -> float:
    return float(np.sqrt(np.linalg.eigvalsh(pose.covariance).max()))


def normalized_square(pose, truth: Transform) -> float | None:
    """e^T S^-1 e; none where a direction is exact."""
    variances, directions = np.linalg.eigh(pose.covariance)
    if variances.min() < SMALLEST_SIGMA**2 or variances.max() > VAGUE**2:
        return None
    return float(np.sum((directions.T @ apart(pose.transform, truth)) ** 2 / variances))


@pytest.mark.parametrize("sort", CONSISTENT.values(), ids=CONSISTENT)
class TestARandomGraph:
    def test_is_fused_as_least_squares_over_all_frames(self, sort):
        compared = 0
        for graph, _, pose in fused_worlds(sort, seed=1):
            used = graph.used(pose)
            best = oracle(used, graph.of, graph.in_frame)
            sigma = largest_sigma(pose)
            if not best.has_converged:
                continue
            if sigma < MET_EXACTLY:
                assert np.abs(apart(pose.transform, graph.true_pose)).max() < 5 * sigma + 10 * ROUNDING
                continue
            compared += 1
            assert np.abs(apart(best.mean, pose.transform)).max() < SHARE_OF_SIGMA * sigma + 10 * ROUNDING
            spread = np.abs(best.covariance - pose.covariance).max()
            assert spread < RELATIVE_SPREAD * np.abs(best.covariance).max() + ROUNDING**2
        assert compared > WORLDS / 4

    def test_says_how_surely(self, sort):
        squares = [
            normalized_square(pose, graph.true_pose) for graph, _, pose in fused_worlds(sort, seed=2, count=4 * WORLDS)
        ]
        told = [square for square in squares if square is not None]
        tolerance = 4 * np.sqrt(12 / len(told))
        assert HONEST[0] - tolerance < np.mean(told) < HONEST[1] + tolerance
        assert max(told) < 60


class TestSureEdges:
    """Deviations down to 1e-12."""

    def test_say_how_surely(self):
        squares = [normalized_square(pose, graph.true_pose) for graph, _, pose in fused_worlds(SURE, seed=3)]
        told = [square for square in squares if square is not None]
        assert 4.0 < np.mean(told) < 8.0
        assert max(told) < 60


class TestContradictions:
    def test_never_lead_far_away(self):
        for graph, _, pose in fused_worlds(CONTRADICTING, seed=4):
            assert np.abs(apart(pose.transform, graph.true_pose)).max() < FARTHEST

    def test_are_told(self):
        for graph, _, pose in fused_worlds(CONTRADICTING, seed=4):
            exact = [edge for edge in graph.used(pose) if edge.kind == "exact"]
            pairs = [(edge.of, edge.in_frame) for edge in exact]
            if len(pairs) > len(set(pairs)):
                assert pose.contradiction > 1e-4


@pytest.mark.parametrize("sort", ALL_SORTS, ids=str)
class TestAnyGraph:
    def test_has_an_answer_that_is_a_pose_with_a_covariance(self, sort):
        for _, _, pose in fused_worlds(sort, seed=5):
            assert np.isfinite(pose.transform.matrix).all()
            assert np.isfinite(pose.covariance).all()
            variances = np.linalg.eigvalsh(pose.covariance)
            assert variances.min() >= -1e-12 * variances.max()

    def test_asked_the_other_way_round_is_the_inverse(self, sort):
        for graph, world, pose in fused_worlds(sort, seed=6):
            back = world.pose(**graph.asked_back)
            sigma = largest_sigma(pose)
            assert np.abs(apart(pose.transform, back.transform.inverse())).max() < SHARE_OF_SIGMA * sigma + ROUNDING
            if pose.judgement.is_beyond_first_order:
                continue
            moved = back.transform.adjoint @ back.covariance @ back.transform.adjoint.T
            assert np.abs(moved - pose.covariance).max() < 0.05 * sigma**2 + ROUNDING**2

    def test_does_not_depend_on_the_order_of_arrival(self, sort):
        for number, (graph, _, pose) in enumerate(fused_worlds(sort, seed=7, count=WORLDS // 2)):
            other = graph.world(np.random.default_rng(number).permutation(len(graph.edges))).pose(**graph.asked)
            assert other.transform == pose.transform
            assert np.array_equal(other.covariance, pose.covariance)


class TestParallelSources:
    def test_in_every_order_give_the_same_bits(self):
        rng = np.random.default_rng(seed=7)
        sort = Sort({"known": 1.0})
        edges = [edge._replace(of=1, in_frame=0) for edge in random_graph(rng, sort).edges[:4]]
        graph = Graph([Transform.identity()] * 2, edges, 1, 0)
        answers = [graph.world(np.array(order)).pose(**graph.asked) for order in permutations(range(len(edges)))]
        assert all(answer.transform == answers[0].transform for answer in answers)
        assert all(np.array_equal(answer.covariance, answers[0].covariance) for answer in answers)


class TestADirectionThatNothingDisturbs:
    def test_is_met_although_its_neighbours_turn_it(self):
        """Exact along three axes, and beside a source that knows all: the errors turn the axes a little."""
        world = World()
        rough = {"transform": Transform.exp([0.01, -0.01, 0.02, 0.01, 0.01, -0.02]), "covariance": 2e-4 * np.eye(6)}
        world.set_pose(of="cup", in_frame="map", at=seconds(1), source="camera", **rough)
        plane = {"transform": Transform.identity(), "covariance": np.diag([0, 0, 1e-4, 5e-5, 0, 5e-5])}
        world.set_pose(of="cup", in_frame="map", at=seconds(1), source="table", **plane)
        pose = world.pose(of="cup", in_frame="map", at=seconds(1), policy="fuse")
        assert pose.judgement.quality == "plain"
        assert np.abs(pose.xyz[:2]).max() < 1e-3
