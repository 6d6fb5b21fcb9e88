"""Several sources, and covariances: what a policy costs beside `unique`, and beside a filter by hand in numpy."""

from collections.abc import Container, Iterator
from time import process_time_ns

import numpy as np

from armillary import Transform, World, seconds
from context import OURS, Bench, cpu_ns
from table import Row

COUNT, BATCH, MANY = 1_000, 20_000, 64
SLOW_COUNT = 20
SAMPLES, PERIOD_NS = 1_000, 10_000_000
POLICIES = ("fuse", "latest", "most_certain")
HAND = "numpy by hand"
UNIQUE = "our unique"
FIRST, LAST = seconds(1), seconds(9)


class _Chain:
    """A chain of frames whose last one several sources place."""

    def __init__(self, edges: int, sources: int, unknown: Container[int] = ()) -> None:
        rng = np.random.default_rng(seed=edges)
        self.world, self.edges = World(history=None), edges
        stamps = PERIOD_NS * np.arange(SAMPLES)
        angle = 0.1 * np.sin(0.01 * np.arange(SAMPLES))
        rows = np.zeros((SAMPLES, 7))
        rows[:, 0], rows[:, 3], rows[:, 6] = 1.0, np.cos(angle / 2), np.sin(angle / 2)
        factors = rng.normal(size=(SAMPLES, 6, 6))
        covariances = 1e-5 * (factors @ factors.transpose(0, 2, 1) + 2.0 * np.eye(6))
        self.looks = []
        for edge in range(edges):
            for source in range(sources if edge == edges - 1 else 1):
                seen = rows.copy()
                seen[:, :3] += rng.normal(0.0, 0.002, 3)
                known = None if edge in unknown else (1.0 + source) * covariances
                names = {"of": f"f{edge + 1}", "in_frame": f"f{edge}", "source": f"s{source:02}"}
                self.world.set_poses(**names, transforms=seen, at=stamps, covariances=known)
                if edge == edges - 1 and known is not None:
                    self.looks.append((seen[0, :3], known[0]))


def rows(bench: Bench) -> Iterator[Row]:
    yield from _of_one_pose(bench)
    yield from _of_batches(bench)
    yield from _of_many_sources(bench)
    yield from _of_covariances(bench)
    yield from _over_time(bench)


def _of_one_pose(bench: Bench) -> Iterator[Row]:
    for edges in (10, 1):
        best = _race_one(bench, _Chain(edges, 1), _Chain(edges, 2))
        named = f"{edges} edge{'s' * (edges > 1)} with covariance"
        alone, contested = best["alone"], best["contested"]
        yield Row.at_most(f"fuse, nobody contests, {named}, over unique", alone / best[UNIQUE], "x", asked=1.2)
        yield Row.at_most(f"fuse of two, {named}, over unique", contested / best[UNIQUE], "x", asked=5.0)
        yield Row.faster(f"fuse of two, {named}", contested, best[HAND], HAND)


def _race_one(bench: Bench, alone: _Chain, contested: _Chain) -> dict[str, float | None]:
    return bench.race(
        {
            UNIQUE: lambda _: _pose_ns(alone, "unique"),
            "alone": lambda _: _pose_ns(alone, "fuse"),
            "contested": lambda _: _pose_ns(contested, "fuse"),
            HAND: lambda _: _filter_ns(contested.looks, COUNT // 10),
        }
    )


def _of_batches(bench: Bench) -> Iterator[Row]:
    for edges in (1, 10):
        best = _race_batch(bench, _Chain(edges, 2))
        for policy in POLICIES:
            named = f"transforms, {policy} of two, {edges} edge{'s' * (edges > 1)}, a row"
            yield Row.at_most(named, best[policy], "ns", asked=3_000.0, peer=best[HAND], peer_name=HAND)


def _race_batch(bench: Bench, contested: _Chain) -> dict[str, float | None]:
    ours = {policy: lambda _, policy=policy: _batch_ns(contested, policy) for policy in POLICIES}
    return bench.race({**ours, HAND: lambda _: _filter_ns(contested.looks, COUNT // 10)})


def _of_many_sources(bench: Bench) -> Iterator[Row]:
    many = _Chain(1, MANY)
    best = bench.race(
        {OURS: lambda _: _pose_ns(many, "fuse", SLOW_COUNT), HAND: lambda _: _filter_ns(many.looks, SLOW_COUNT)}
    )
    yield Row.at_most(f"fuse of {MANY} sources", best[OURS], "ns", asked=1_000_000.0, peer=best[HAND], peer_name=HAND)


def _of_covariances(bench: Bench) -> Iterator[Row]:
    plain, known, partly = (_Chain(10, 1, unknown) for unknown in (range(10), (), (4,)))
    best = bench.race(
        {
            "plain": lambda _: _pose_ns(plain, "unique"),
            "known": lambda _: _pose_ns(known, "unique"),
            "partly": lambda _: _pose_ns(partly, "unique"),
        }
    )
    yield Row.at_most("pose, 10 edges, all covariances, over none", best["known"] / best["plain"], "x", asked=3.0)
    yield Row.at_most("pose, 10 edges, one unknown, over none", best["partly"] / best["plain"], "x", asked=1.2)


def _over_time(bench: Bench) -> Iterator[Row]:
    """A filter over a thousand samples, asked again and asked after each new one; the mean of a thousand looks."""
    chain, stream, looks = _Chain(1, 1), _Stream(_Chain(1, 1)), _looks()
    best = bench.race(
        {
            "again": lambda _: _pose_ns(chain, "filter", SLOW_COUNT),
            "streamed": lambda _: stream.filter_ns(SLOW_COUNT),
            "average": lambda _: cpu_ns(lambda: looks.average(of="cup", in_frame="camera")),
            "over": lambda _: cpu_ns(lambda: looks.average(of="cup", in_frame="map")),
            "step": lambda _: _motion_step_ns(COUNT // 10),
            "mean": lambda _: _weighted_mean_ns(looks),
        }
    )
    named = f"filter, {SAMPLES} samples, a pose"
    yield Row.at_most(named, best["again"], "ns", asked=200_000.0, peer=best["step"], peer_name=HAND)
    yield Row.at_most(
        f"{named} after a new one", best["streamed"], "ns", asked=200_000.0, peer=best["step"], peer_name=HAND
    )
    named = f"average of {SAMPLES} looks"
    yield Row.at_most(named, best["average"], "ns", asked=5_000_000.0, peer=best["mean"], peer_name=HAND)
    yield Row.faster(f"{named} over an uncertain mount", best["over"], best["mean"], HAND)


def _looks() -> World:
    """A cup that a camera sees a thousand times, as far off as it says, now and then much further; it is on a mount."""
    rng, world = np.random.default_rng(seed=3), World(history=None)
    world.fix(of="camera", in_frame="map", transform=Transform.from_translation((1, 0, 2)), covariance=[1e-6] * 6)
    for k in range(SAMPLES):
        factor = 1e-3 * rng.normal(size=(6, 6))
        error = factor @ rng.normal(size=6) * (100.0 if k % 50 == 0 else 1.0)
        names = {"of": "cup", "in_frame": "camera", "at": PERIOD_NS * k, "source": "s00"}
        world.set_pose(**names, transform=Transform.exp(error), covariance=factor @ factor.T + 1e-9 * np.eye(6))
    return world


class _Stream:
    """A frame that is sampled at 100 Hz, on and on, and filtered after every sample."""

    def __init__(self, chain: _Chain) -> None:
        self._world, self._stamp = chain.world, PERIOD_NS * (SAMPLES - 1)

    def filter_ns(self, count: int) -> float:
        """For each sample, the pose that follows it; writing it is not counted."""
        spent = 0
        for _ in range(count):
            self._stamp += PERIOD_NS
            seen = Transform.from_xyz_rpy(xyz=(1.0, 0, 0), rpy=(0, 0, 0))
            self._world.set_pose(
                of="f1", in_frame="f0", transform=seen, at=self._stamp, source="s00", covariance=[1e-5] * 6
            )
            started = process_time_ns()
            self._world.pose(of="f1", in_frame="f0", at=self._stamp, policy="filter")
            spent += process_time_ns() - started
        return spent / count


def _motion_step_ns(count: int) -> float:
    """Predict and update of a Kalman filter of twelve numbers, one measurement: no rotations, no gate, no window."""
    F, Q, R = np.eye(12), 1e-6 * np.eye(12), 1e-5 * np.eye(6)
    F[:6, 6:] = 0.01 * np.eye(6)
    state, spread, look = np.zeros(12), np.eye(12), np.zeros(6)
    started = process_time_ns()
    for _ in range(count):
        state, spread = F @ state, F @ spread @ F.T + Q
        gain = spread[:, :6] @ np.linalg.inv(spread[:6, :6] + R)
        state, spread = state + gain @ (look - state[:6]), spread - gain @ spread[:6]
    return (process_time_ns() - started) / count


def _weighted_mean_ns(looks: World) -> float:
    """The mean of vectors by their information: no rotations, no outliers, no report."""
    samples = looks.samples(of="cup", in_frame="camera", source="s00")
    values, spreads = np.zeros((len(samples.stamps), 6)), np.asarray(samples.covariances)
    started = process_time_ns()
    information = np.linalg.inv(spreads)
    spread = np.linalg.inv(information.sum(axis=0))
    spread @ (information @ values[..., None]).sum(axis=0)
    return process_time_ns() - started


def _pose_ns(chain: _Chain, policy: str, count: int = COUNT) -> float:
    pose, of = chain.world.pose, f"f{chain.edges}"
    times = np.linspace(FIRST, LAST, count, dtype=np.int64).tolist()
    started = process_time_ns()
    for at in times:
        pose(of=of, in_frame="f0", at=at, policy=policy)
    return (process_time_ns() - started) / count


def _batch_ns(chain: _Chain, policy: str) -> float:
    at = np.linspace(FIRST, LAST, BATCH, dtype=np.int64)
    started = process_time_ns()
    chain.world.transforms(of=f"f{chain.edges}", in_frame="f0", at=at, policy=policy)
    return (process_time_ns() - started) / BATCH


def _filter_ns(looks: list[tuple[np.ndarray, np.ndarray]], count: int) -> float:
    """The update of a Kalman filter, look after look, on six numbers: no rotations, no interpolation, no path."""

    def update(
        mean: np.ndarray, spread: np.ndarray, look: np.ndarray, error: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        gain = spread @ np.linalg.inv(spread + error)
        return mean + gain @ (look - mean), spread - gain @ spread

    padded = [(np.concatenate([xyz, np.zeros(3)]), error) for xyz, error in looks]
    started = process_time_ns()
    for _ in range(count):
        mean, spread = padded[0]
        for look, error in padded[1:]:
            mean, spread = update(mean, spread, look, error)
    return (process_time_ns() - started) / count
