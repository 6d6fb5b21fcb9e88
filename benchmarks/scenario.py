"""The data that product and peers are measured on, and how the peers get it.

One chain of ten frames below `f0`, ten seconds of smooth motion at 1 kHz, once with
jittered stamps (a real driver) and once with perfectly regular ones; random query
times over that history; two trees of a thousand frames for the snapshot.
Quaternions are wxyz, stamps integer nanoseconds. Everything follows from one seed.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

SEED = 20_240_229
EDGES = 10
SAMPLES = 10_000
PERIOD_NS = 1_000_000
JITTER_NS = 200_000
START_NS = 100_000_000_000
HISTORY_NS = SAMPLES * PERIOD_NS
TREE_FRAMES = 1_000
TREE_STRIDE = 100  # a tree frame keeps every hundredth sample: 10 s at 10 Hz
TIMES = 100_000

Stamps = NDArray[np.int64]
Rows = NDArray[np.float64]  # shape (N, 7), xyz_wxyz


@dataclass(frozen=True, slots=True, eq=False)
class Chain:
    """Samples of `f1` in `f0`, `f2` in `f1`, ...: stamps (E, N) and rows (E, N, 7)."""

    stamps: Stamps
    rows: Rows

    def write(self, path: Path) -> None:
        with path.open("wb") as file:
            for stamps, rows in zip(self.stamps, self.rows, strict=True):
                stamps.tofile(file)
                rows.tofile(file)


@dataclass(frozen=True, slots=True, eq=False)
class Scenario:
    """All inputs of a run. `trees` maps a shape to the parent index of each frame (-1: root)."""

    chains: dict[str, Chain]
    times: Stamps
    trees: dict[str, Stamps]

    def write(self, folder: Path) -> None:
        """Writes the raw little-endian files that the peers read."""
        for name, chain in self.chains.items():
            chain.write(folder / f"{name}.bin")
        for name, parents in self.trees.items():
            parents.tofile(folder / f"{name}.bin")
        self.times.tofile(folder / "times.bin")


def make_scenario() -> Scenario:
    """The same scenario for every call."""
    random = np.random.default_rng(SEED)
    chains = {"jittered": _chain(random, JITTER_NS), "regular": _chain(random, 0)}
    first, last = START_NS + 5 * PERIOD_NS, START_NS + HISTORY_NS * 98 // 100
    times = random.integers(first, last, size=TIMES)
    return Scenario(chains, times, {"wide": _wide_tree(random), "deep": _deep_tree(random)})


def _chain(random: np.random.Generator, jitter_ns: int) -> Chain:
    regular = START_NS + PERIOD_NS * np.arange(SAMPLES)
    jitter = random.integers(-jitter_ns, jitter_ns + 1, size=(EDGES, SAMPLES))
    stamps = regular + jitter
    rows = np.stack([_motion(random, each) for each in stamps])
    return Chain(stamps, rows)


def _motion(random: np.random.Generator, stamps: Stamps) -> Rows:
    """A drifting, swaying, turning body: about 1 m and 1 rad per second."""
    seconds = (stamps - START_NS) * 1e-9
    rate, phase = random.uniform(0.5, 1.5, size=(2, 3))
    xyz = np.sin(rate * seconds[:, None] + phase)
    axis = random.normal(size=3)
    axis /= np.linalg.norm(axis)
    half = 0.5 * (seconds + 0.3 * np.sin(2.0 * seconds))[:, None]
    return np.hstack([xyz, np.cos(half), np.sin(half) * axis])


def _wide_tree(random: np.random.Generator) -> Stamps:
    """Each frame hangs under any earlier one: mean depth about 7, like several robots."""
    return np.array([-1] + [random.integers(0, i) for i in range(1, TREE_FRAMES)])


def _deep_tree(random: np.random.Generator) -> Stamps:
    """Each frame hangs under one of the ten before it: mean depth about 90."""
    return np.array([-1] + [random.integers(max(0, i - 10), i) for i in range(1, TREE_FRAMES)])
