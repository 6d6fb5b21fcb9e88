"""What every row needs: the scenario, the product's worlds, the peers, and a fair clock."""

import gc
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import process_time_ns

import numpy as np
from numpy.typing import NDArray

from armillary import Transform, World
from peers import Peer
from scenario import HISTORY_NS, PERIOD_NS, SAMPLES, START_NS, TIMES, Scenario

OURS = "ours"
Contender = Callable[[int], float]


@dataclass(frozen=True, slots=True)
class Bench:
    """One run. `repeats` is how often each contender of a race gets its turn."""

    scenario: Scenario
    peers: Mapping[str, Peer]
    repeats: int
    quick: bool
    worlds: dict[str, World] = field(default_factory=dict)

    def chain_world(self, name: str) -> World:
        """The world that holds one of the chains; built once."""
        if name not in self.worlds:
            self.worlds[name] = filled_world(self.scenario, name)
        return self.worlds[name]

    def times(self, count: int, repeat: int) -> list[int]:
        """Another stretch of the random times for each repeat, the same for all peers."""
        offset = self.offset(count, repeat)
        return self.scenario.times[offset : offset + count].tolist()

    def batch_times(self, repeat: int, *, in_order: bool = False) -> NDArray[np.int64]:
        """A hundred thousand other random times for each repeat, over the same stretch as those of single questions."""
        given = self.scenario.times
        fresh = np.random.default_rng(repeat).integers(given.min(), given.max(), size=TIMES)
        return np.sort(fresh) if in_order else fresh

    def offset(self, count: int, repeat: int) -> int:
        return repeat * count % (TIMES - count)

    def race(
        self,
        ours: Contender | Mapping[str, Contender],
        peers: Mapping[str, Callable[[int], str]] | None = None,
        *,
        repeats: int | None = None,
        key: str = "ns",
    ) -> dict[str, float | None]:
        """The least cost of each contender; they take turns, so noise hits all alike.

        Args:
            ours: What the product does in one repeat, or several such by name; each
                returns its cost.
            peers: By peer name, the command of one repeat. Absent peers give None.
            repeats: Instead of the run's own number.
            key: The field of the peer's answer that is its cost.
        """
        contenders = dict(ours) if isinstance(ours, Mapping) else {OURS: ours}
        absent = dict.fromkeys(name for name in peers or {} if name not in self.peers)
        for name, command in (peers or {}).items():
            if name in self.peers:
                contenders[name] = _asking(self.peers[name], command, key)
        return race(contenders, repeats or self.repeats) | absent


def race(contenders: Mapping[str, Contender], repeats: int) -> dict[str, float | None]:
    """The minimum over `repeats` rounds in which every contender runs once."""
    best: dict[str, float | None] = {}
    gc.collect()
    gc.disable()
    for repeat in range(repeats):
        for name, run in contenders.items():
            cost = run(repeat)
            best[name] = min(cost, best.get(name) or cost)
    gc.enable()
    return best


def cpu_ns(work: Callable[[], object], operations: int = 1) -> float:
    """CPU nanoseconds of this process for one call of `work`, per operation."""
    started = process_time_ns()
    work()
    return (process_time_ns() - started) / operations


def pose_ns(world: World, of: str, in_frame: str, times: list[int]) -> float:
    """Per `world.pose(...)`, loop included."""
    pose = world.pose
    started = process_time_ns()
    for at in times:
        pose(of=of, in_frame=in_frame, at=at)
    return (process_time_ns() - started) / len(times)


class Stream:
    """A relation `w` in `f0` whose history is full and which goes on at 1 kHz."""

    def __init__(self, world: World, scenario: Scenario) -> None:
        self.world = world
        self.rows = scenario.chains["jittered"].rows[0]
        self.values = [Transform.from_xyz_wxyz(xyz=row[:3], wxyz=row[3:]) for row in self.rows]
        self.next = 0
        self.insert(self.in_order(SAMPLES))

    def in_order(self, count: int) -> list[tuple[Transform, int]]:
        """Values and stamps of the next samples."""
        first, self.next = self.next, self.next + count
        return [self._sample(i, 0) for i in range(first, self.next)]

    def late(self, count: int, lateness_ns: int) -> list[tuple[Transform, int]]:
        """Half a period beside the newest samples moved back by `lateness_ns`."""
        shift = PERIOD_NS // 2 - lateness_ns
        return [self._sample(i, shift) for i in range(self.next - count, self.next)]

    def insert(self, samples: list[tuple[Transform, int]]) -> float:
        """Nanoseconds per `set_pose` of a ready value."""
        set_pose = self.world.set_pose
        started = process_time_ns()
        for transform, at in samples:
            set_pose(of="w", in_frame="f0", transform=transform, at=at)
        return (process_time_ns() - started) / len(samples)

    def _sample(self, index: int, shift_ns: int) -> tuple[Transform, int]:
        return self.values[index % SAMPLES], START_NS + index * PERIOD_NS + shift_ns


def _asking(peer: Peer, command: Callable[[int], str], key: str) -> Contender:
    return lambda repeat: float(peer.ask(command(repeat))[key])


def filled_world(scenario: Scenario, name: str) -> World:
    world, chain = World(history=HISTORY_NS), scenario.chains[name]
    for i, (stamps, rows) in enumerate(zip(chain.stamps, chain.rows, strict=True)):
        world.set_poses(of=f"f{i + 1}", in_frame=f"f{i}", transforms=rows, at=stamps)
    return world
