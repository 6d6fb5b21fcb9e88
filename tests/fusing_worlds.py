"""Random graphs of frames with edges of every kind, and the least squares over the poses of all frames at once.

The oracle knows neither paths nor chains nor blocks: its unknowns are the poses of all frames, its residuals those of
the edges, and what is exact is an edge with a deviation far below all others.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from armillary import Pose, Transform, World, seconds
from se3_reference import inverse_right_jacobians

AT = seconds(1)
EXACT_SHARE = 1e-8  # of the smallest known deviation: that of what is exact, in the oracle
EXACT_ALONE = 1e-6  # where nothing is uncertain
MOST_ROUNDS = 60
CONVERGED = 1e-14


class Edge(NamedTuple):
    """Where a frame is in another one, as one source has it."""

    of: int
    in_frame: int
    kind: str
    transform: Transform
    deviations: np.ndarray  # one column a direction with an error; of an unknown one: none
    source: str

    @property
    def covariance(self) -> np.ndarray | None:
        return None if self.kind == "unknown" else self.deviations @ self.deviations.T

    def tell(self, world: World) -> None:
        names = {"of": f"f{self.of}", "in_frame": f"f{self.in_frame}", "source": self.source}
        if self.kind == "exact":
            world.fix(**names, transform=self.transform)
        else:
            world.set_pose(**names, transform=self.transform, at=AT, covariance=self.covariance)


class Sort(NamedTuple):
    """What worlds are made of."""

    kinds: dict[str, float]  # known, deficient, exact, unknown: how often
    sigma: tuple[float, float] = (-3.0, -1.5)  # exponents of ten
    uneven: float = 1.0  # exponents of ten between the directions of one edge
    wrong: float = 0.0  # m and rad by which every edge is off, beyond its errors
    with_errors: bool = True  # drawn as the covariances say


class Graph(NamedTuple):
    """Frames of which the truth is known, and what is said of them."""

    truth: list[Transform]
    edges: list[Edge]
    of: int
    in_frame: int

    @property
    def asked(self) -> dict[str, object]:
        return {"of": f"f{self.of}", "in_frame": f"f{self.in_frame}", "at": AT, "policy": "fuse"}

    @property
    def asked_back(self) -> dict[str, object]:
        return self.asked | {"of": f"f{self.in_frame}", "in_frame": f"f{self.of}"}

    @property
    def true_pose(self) -> Transform:
        return self.truth[self.in_frame].inverse() @ self.truth[self.of]

    def world(self, order: np.ndarray | None = None) -> World:
        world = World()
        for k in order if order is not None else range(len(self.edges)):
            self.edges[k].tell(world)
        return world

    def used(self, pose: Pose) -> list[Edge]:
        used = {relation for path in pose.paths_used for relation in path.relations}
        return [edge for edge in self.edges if (f"f{edge.of}", f"f{edge.in_frame}", edge.source) in used]


def random_graph(rng: np.random.Generator, sort: Sort) -> Graph:
    """Three to six frames, each in one before it, and as many edges more, parallel ones included."""
    count = int(rng.integers(3, 7))
    truth = [Transform.exp(rng.normal(size=6)) for _ in range(count)]
    pairs = [(of, int(rng.integers(0, of))) for of in range(1, count)]
    for _ in range(int(rng.integers(1, count + 1))):
        of = int(rng.integers(1, count))
        pairs.append((of, int(rng.integers(0, of))))
    kinds = rng.choice(list(sort.kinds), size=len(pairs), p=list(sort.kinds.values()))
    edges = [
        _edge(rng, truth, pair, str(kind), sort=sort, number=n)
        for n, (pair, kind) in enumerate(zip(pairs, kinds, strict=True))
    ]
    of, in_frame = (int(frame) for frame in rng.choice(count, size=2, replace=False))
    if rng.random() < 0.5:  # most paths lead between the ends
        of, in_frame = count - 1, 0
    return Graph(truth, edges, of, in_frame)


def _edge(rng, truth, pair, kind: str, *, sort: Sort, number: int) -> Edge:
    of, in_frame = pair
    directions = np.linalg.qr(rng.normal(size=(6, 6)))[0] if rng.random() < 0.7 else np.eye(6)
    sigmas = 10 ** (rng.uniform(*sort.sigma) + rng.uniform(-0.5, 0.5, size=6) * sort.uneven)
    kept = {"deficient": rng.random(6) < 0.5, "exact": np.zeros(6, dtype=bool)}.get(kind, np.ones(6, dtype=bool))
    deviations = (directions * sigmas)[:, kept]
    error = deviations @ rng.normal(size=deviations.shape[1]) if sort.with_errors else np.zeros(6)
    if kind == "unknown":
        error = rng.normal(size=6)
    off = Transform.exp(rng.uniform(-1.0, 1.0, 6) * sort.wrong)
    transform = truth[in_frame].inverse() @ truth[of] @ off @ Transform.exp(error).inverse()
    return Edge(of, in_frame, kind, transform, deviations, f"s{number:02}")


class Estimate(NamedTuple):
    """Of the oracle."""

    mean: Transform
    covariance: np.ndarray
    has_converged: bool


def oracle(edges: list[Edge], of: int, in_frame: int) -> Estimate:
    """Return the pose of a frame in another one that fits best to all edges, by Gauss and Newton over all frames."""
    frames = sorted({frame for edge in edges for frame in (edge.of, edge.in_frame)} - {in_frame})
    column = {frame: slice(6 * k, 6 * k + 6) for k, frame in enumerate(frames)}
    poses = _start(edges, in_frame, len(frames) + 1)
    weights = _weights(edges)
    given = [edge.transform.inverse() for edge in edges]
    ends = [(edge.in_frame, edge.of) for edge in edges]
    for _ in range(MOST_ROUNDS):
        rows, right = [], []
        between = [poses[a].inverse() @ poses[b] for a, b in ends]
        residuals = np.array([(t @ x).log() for t, x in zip(given, between, strict=True)])
        inverse = inverse_right_jacobians(residuals)
        for k, (a, b) in enumerate(ends):
            row = np.zeros((6, 6 * len(frames)))
            if b in column:
                row[:, column[b]] += inverse[k]
            if a in column:
                row[:, column[a]] -= inverse[k] @ between[k].inverse().adjoint
            rows.append(weights[k] @ row)
            right.append(-weights[k] @ residuals[k])
        A, y = np.concatenate(rows), np.concatenate(right)
        change, gain = _least_squares(A, y)
        change *= min(1.0, 0.7 / max(np.abs(change).max(), 1e-300))
        for frame in frames:
            poses[frame] = poses[frame] @ Transform.exp(change[column[frame]])
        if np.abs(change).max() < CONVERGED:
            break
    G = gain[column[of]]
    return Estimate(poses[of], G @ G.T, np.abs(change).max() < 1e-11)


def _least_squares(A: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the solution and the pseudo-inverse; large rows first, so that small ones keep their digits."""
    order = np.argsort(-np.abs(A).max(axis=1), kind="stable")
    Q, R = np.linalg.qr(A[order])
    gain = np.linalg.solve(R, Q.T)
    back = np.empty_like(gain)
    back[:, order] = gain
    return back @ y, back


def _weights(edges: list[Edge]) -> list[np.ndarray]:
    """Return rows that make the errors of each edge independent, of deviation one."""
    known = [np.linalg.svd(edge.deviations, compute_uv=False) for edge in edges if edge.deviations.shape[1]]
    smallest = min((float(sizes.min()) for sizes in known), default=None)
    exact = EXACT_ALONE if smallest is None else EXACT_SHARE * smallest
    weights = []
    for edge in edges:
        U, sizes, _ = np.linalg.svd(edge.deviations, full_matrices=True)
        sizes = np.concatenate([sizes, np.full(6 - len(sizes), exact)])
        weights.append(U.T / sizes[:, None])
    return weights


def _start(edges: list[Edge], root: int, count: int) -> dict[int, Transform]:
    """Return the poses of all frames along the surest edges."""
    poses = {root: Transform.identity()}
    while len(poses) < count:
        open_edges = [edge for edge in edges if (edge.of in poses) != (edge.in_frame in poses)]
        edge = min(open_edges, key=lambda one: float(np.square(one.deviations).sum()))
        if edge.in_frame in poses:
            poses[edge.of] = poses[edge.in_frame] @ edge.transform
        else:
            poses[edge.in_frame] = poses[edge.of] @ edge.transform.inverse()
    return poses


def apart(a: Transform, b: Transform) -> np.ndarray:
    """Return the tangent that leads from one to the other."""
    return (a.inverse() @ b).log()
