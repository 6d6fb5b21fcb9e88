"""Replicas that also exchange samples, over the same transport: each arrives everywhere in the end, in any order."""

from __future__ import annotations

import random
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from armillary import Transform, World
from armillary.errors import ArmillaryError
from replica_frames import FRAMES, about_frames, frame_value, some_frame
from replicas import Replicas, frame_steps, some_replica, unharmed
from unit.kit import FakeClock

if TYPE_CHECKING:
    from replicas import Damage, Step

TAKEN_BACK = ("forget", "forget", "remove_relation")
BESIDE_SAMPLES = ("fix", "fix", "move", "await", "attach", "attach", "unfix", "body", "prefer", "frame", *TAKEN_BACK)
SAMPLED_NS = (405, 605, 805, 995, 1195, 1605)
ASKED_NS = (500, 605, 805, 900, 1000, 1195, 1900)

seen = st.tuples(st.just("see"), some_replica, some_frame, some_frame, frame_value)
sample_steps: st.SearchStrategy[Step] = st.one_of(seen, seen, frame_steps(BESIDE_SAMPLES))


class Sample(NamedTuple):
    """Where somebody saw a frame, as it travels: the row that was stored, and on top of what it was given."""

    of: str
    in_frame: str
    source: str
    at: int
    row: tuple[float, ...]
    base: tuple[int, int]


class SampleExchange(Replicas):
    """Replicas that also see frames; several may see one frame at one instant, by one source, at different places.

    A sample names what its author held when it was given: what was taken back since does not count, and of two samples
    of one instant the one with the newer base does. One of a relation that is not asserted where it arrives waits
    there, until the end.
    """

    def __init__(self, count: int, damage: Damage = unharmed) -> None:
        self.known: list[dict[Sample, None]] = [{} for _ in range(count)]  # to whom
        super().__init__(count, damage)

    def see(self, replica: int, of: int, other: int, value: int) -> None:
        """A sample that its author is refused is none."""
        me = replica % len(self.worlds)
        source = "eyes" if value >= 4 else f"{self.worlds[me].name}'s eyes"
        edge = {"of": FRAMES[of % (len(FRAMES) - 1)], "in_frame": FRAMES[other % len(FRAMES)], "source": source}
        self._see(me, edge, SAMPLED_NS[(value + of) % len(SAMPLED_NS)], 1.0 + (of + other + 3 * value + me) % 5)

    def _see(self, me: int, edge: dict[str, str], at: int, x_m: float) -> None:
        tap = self.worlds[me].store.tap_samples()
        with suppress(ArmillaryError):
            self._do(me, lambda world: world.set_pose(**edge, transform=seen_at(x_m), at=at))
        given = [sample for batch in tap.drain() if batch.kind == "pose" for sample in samples_of(batch)]
        tap.close()
        for sample in given:
            self.known[me][sample] = None
            self.letters += [(me, one, [sample]) for one in range(len(self.worlds)) if one != me]

    def sync(self, asked: int, asking: int) -> None:
        super().sync(asked, asking)
        asked, asking = asked % len(self.worlds), asking % len(self.worlds)
        if asked != asking:
            self.letters[-1][2].extend(one for one in self.known[asked] if one not in self.known[asking])

    def _receive(self, receiver: int, states: list[Any]) -> None:
        super()._receive(receiver, [state for state in states if not isinstance(state, Sample)])
        for sample in states:
            if isinstance(sample, Sample) and self.receive(self.worlds[receiver], sample):
                self.known[receiver][sample] = None

    def exchange_all(self) -> None:
        super().exchange_all()
        everything = {sample: None for known in self.known for sample in known}
        for world in self.worlds:
            for sample in everything:
                self.receive(world, sample)

    def newcomer(self, seed: int) -> World:
        world = super().newcomer(seed)
        samples = list({sample: None for known in self.known for sample in known})
        random.Random(seed).shuffle(samples)
        for sample in samples:
            self.receive(world, sample)
        return world

    def receive(self, world: World, sample: Sample) -> bool:
        """What belongs to a relation that is not known here yet has to come again."""
        edge = {"of": sample.of, "in_frame": sample.in_frame, "source": sample.source}
        return world.store.merge_pose_rows(**edge, rows=np.array([sample.row]), at=[sample.at], base=sample.base)


class SamplingReplicas(SampleExchange):
    """Replicas whose frames stay."""

    def __init__(self, count: int, damage: Damage = unharmed) -> None:
        super().__init__(count, damage)
        with World("first", clock=FakeClock(100)) as first:  # whose assertions are not undone
            first.store.set_machine_time(100)
            first.add_frame(*FRAMES)
            for world in self.worlds:
                world.merge(first.scene.changes())


class RefusingReplicas(SamplingReplicas):
    """They take the samples of others as if they were their own."""

    def receive(self, world: World, sample: Sample) -> bool:
        edge = {"of": sample.of, "in_frame": sample.in_frame, "source": sample.source}
        with suppress(ArmillaryError):
            world.set_pose(
                **edge, transform=Transform.from_xyz_wxyz(xyz=sample.row[4:], wxyz=sample.row[:4]), at=sample.at
            )
        return True


def seen_at(x_m: float) -> Transform:
    return Transform.from_xyz_rpy(xyz=(x_m, 0, 0), rpy=(0, 0, 0.1 * x_m))


def samples_of(batch: Any) -> list[Sample]:
    rows = zip(batch.stamps.tolist(), batch.rows.tolist(), strict=True)
    return [Sample(batch.of, batch.in_frame, batch.source, at, tuple(row), batch.base) for at, row in rows]


def about_samples(world: World) -> dict[Any, Any]:
    """Return what replicas with the same samples must agree on."""
    return about_frames(world, ASKED_NS)
