"""Fusing random graphs of frames, against least squares over the poses of all frames at once.

The oracle knows neither paths nor chains: its unknowns are the poses of all frames, its residuals those of the edges.
"""

import os
from itertools import permutations

import numpy as np
import pytest

from armillary import Transform, World, seconds
from armillary.relations.arrays import right_jacobian

scipy_optimize = pytest.importorskip("scipy.optimize")

WORLDS = 400 if os.environ.get("ARMILLARY_HYPOTHESIS") == "soak" else 25
SHARE_OF_SIGMA = 2e-5
RELATIVE_SPREAD = 5e-3
AT = seconds(1)
EXACT_SIGMA = 1e-8


class Edge:
    def __init__(self, rng, truth, pair, kind, number):
        of, in_frame = pair
        self.of, self.in_frame, self.kind, self.source = of, in_frame, kind, f"s{number:02}"
        factor = rng.normal(size=(6, 6)) * 10 ** rng.uniform(-3.0, -1.5) / np.sqrt(6)
        self.covariance = {"known": factor @ factor.T + 1e-8 * np.eye(6)}.get(kind)
        error = np.zeros(6)
        if kind == "known":
            error = np.linalg.cholesky(self.covariance) @ rng.normal(size=6)
        if kind == "unknown":
            error = rng.normal(size=6)
        self.transform = truth[in_frame].inverse() @ truth[of] @ Transform.exp(error).inverse()

    def tell(self, world):
        names = {
            "of": f"f{self.of}",
            "in_frame": f"f{self.in_frame}",
            "transform": self.transform,
            "source": self.source,
        }
        if self.kind == "exact":
            world.fix(**names)
        else:
            world.set_pose(**names, at=AT, covariance=self.covariance)


def random_graph(seed):
    """Frames in a row, each in one before it, and more edges; parallel ones included. All lead to the first."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(3, 7))
    truth = [Transform.exp(rng.normal(size=6)) for _ in range(count)]
    pairs = [(of, int(rng.integers(0, of))) for of in range(1, count)]
    for _ in range(int(rng.integers(1, count + 1))):
        of = int(rng.integers(1, count))
        pairs.append((of, int(rng.integers(0, of))))
    kinds = rng.choice(["known", "exact", "unknown"], size=len(pairs), p=[0.7, 0.15, 0.15])
    edges, exact = [], set()
    for number, (pair, kind) in enumerate(zip(pairs, kinds, strict=True)):
        # Exact cycles of draws without an error agree, and teach nothing: one exact edge for a frame is enough.
        chosen = "known" if kind == "exact" and pair[0] in exact else str(kind)
        exact.update({pair[0]} if chosen == "exact" else ())
        edges.append(Edge(rng, truth, pair, chosen, number))
    return edges, count - 1


def world_of(edges, order=None):
    world = World()
    for k in order if order is not None else range(len(edges)):
        edges[k].tell(world)
    return world


def edges_used(edges, pose):
    used = {relation for path in pose.paths_used for relation in path.relations}
    return [edge for edge in edges if (f"f{edge.of}", f"f{edge.in_frame}", edge.source) in used]


def oracle(edges, last):
    """Mean and covariance of the pose of `last` in frame 0."""
    frames = sorted({frame for edge in edges for frame in (edge.of, edge.in_frame)} - {0})
    weights = [
        np.linalg.inv(np.linalg.cholesky(edge.covariance)) if edge.kind == "known" else np.eye(6) / EXACT_SIGMA
        for edge in edges
    ]
    start = {0: Transform.identity()}
    while len(start) <= len(frames):
        for edge in edges:
            if edge.in_frame in start and edge.of not in start:
                start[edge.of] = start[edge.in_frame] @ edge.transform
            elif edge.of in start and edge.in_frame not in start:
                start[edge.in_frame] = start[edge.of] @ edge.transform.inverse()

    def poses(x):
        moved = {frame: start[frame] @ Transform.exp(x[6 * k : 6 * k + 6]) for k, frame in enumerate(frames)}
        return {0: start[0]} | moved

    def residuals(x):
        at = poses(x)
        errors = [(e.transform.inverse() @ at[e.in_frame].inverse() @ at[e.of]).log() for e in edges]
        return np.concatenate([weight @ error for weight, error in zip(weights, errors, strict=True)])

    found = scipy_optimize.least_squares(
        residuals, np.zeros(6 * len(frames)), x_scale="jac", xtol=1e-15, ftol=1e-15, gtol=1e-15
    )
    place = frames.index(last)
    moved = found.x[6 * place : 6 * place + 6]
    inverse = right_jacobian(moved) @ np.linalg.pinv(found.jac, rcond=1e-14)[6 * place : 6 * place + 6]
    return poses(found.x)[last], inverse @ inverse.T


@pytest.mark.parametrize("seed", range(WORLDS))
class TestARandomGraph:
    def test_is_fused_as_least_squares_over_all_frames(self, seed):
        edges, last = random_graph(seed)
        world = world_of(edges)
        asked = {"of": f"f{last}", "in_frame": "f0", "at": AT, "policy": "fuse"}
        if not world.can_pose(**asked) or world.pose(**asked).method != "fused":
            return
        pose = world.pose(**asked)
        mean, covariance = oracle(edges_used(edges, pose), last)
        apart = (mean.inverse() @ pose.transform).log()
        sigma = np.sqrt(np.linalg.eigvalsh(pose.covariance).max())
        assert np.abs(apart).max() < SHARE_OF_SIGMA * sigma + 1e-9
        assert np.abs(covariance - pose.covariance).max() < RELATIVE_SPREAD * np.abs(covariance).max() + 1e-12

    def test_asked_the_other_way_round_is_the_inverse(self, seed):
        edges, last = random_graph(seed)
        world = world_of(edges)
        there = {"of": f"f{last}", "in_frame": "f0", "at": AT, "policy": "fuse"}
        back = there | {"of": "f0", "in_frame": f"f{last}"}
        assert world.can_pose(**there) == world.can_pose(**back)
        if world.can_pose(**there) and world.pose(**there).covariance is not None:
            pose, inverse = world.pose(**there), world.pose(**back).inverse()
            sigma = np.sqrt(np.linalg.eigvalsh(pose.covariance).max())
            apart = (pose.transform.inverse() @ inverse.transform).log()
            assert np.abs(apart).max() < SHARE_OF_SIGMA * sigma + 1e-9

    def test_does_not_depend_on_the_order_of_arrival(self, seed):
        edges, last = random_graph(seed)
        asked = {"of": f"f{last}", "in_frame": "f0", "at": AT, "policy": "fuse"}
        first = world_of(edges)
        if not first.can_pose(**asked):
            return
        rng = np.random.default_rng(seed)
        for _ in range(3):
            other = world_of(edges, rng.permutation(len(edges)))
            assert other.pose(**asked).transform == first.pose(**asked).transform


class TestParallelSources:
    def test_in_every_order_give_the_same_bits(self):
        rng = np.random.default_rng(seed=7)
        truth = [Transform.identity(), Transform.exp(rng.normal(size=6))]
        edges = [Edge(rng, truth, (1, 0), "known", number) for number in range(4)]
        asked = {"of": "f1", "in_frame": "f0", "at": AT, "policy": "fuse"}
        answers = [world_of(edges, order).pose(**asked) for order in permutations(range(4))]
        assert all(answer.transform == answers[0].transform for answer in answers)
        assert all(np.array_equal(answer.covariance, answers[0].covariance) for answer in answers)

    def test_that_contradict_each_other_never_lead_far_away(self):
        """Exact, rank-deficient and known edges, every one of them a little wrong."""
        worst = 0.0
        for seed in range(WORLDS):
            rng = np.random.default_rng(seed)
            truth = [Transform.exp(rng.normal(size=6)) for _ in range(4)]
            world = World()
            for number in range(8):
                of = int(rng.integers(1, 4)) if number > 2 else number + 1
                parent = int(rng.integers(0, of))
                kept = rng.random(6) < rng.choice([0.0, 0.5, 1.0], p=[0.4, 0.2, 0.4])
                wrong = Transform.exp(rng.uniform(-0.02, 0.02, 6))
                world.fix(
                    of=f"f{of}",
                    in_frame=f"f{parent}",
                    transform=truth[parent].inverse() @ truth[of] @ wrong,
                    covariance=np.diag(1e-4 * kept),
                    source=f"s{number}",
                )
            pose = world.pose(of="f3", in_frame="f0", policy="fuse")
            apart = ((truth[0].inverse() @ truth[3]).inverse() @ pose.transform).log()
            worst = max(worst, float(np.abs(apart).max()))
        assert worst < 0.3
