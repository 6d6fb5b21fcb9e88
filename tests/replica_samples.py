"""Replicas that also exchange samples, over the same transport: each arrives everywhere in the end, in any order."""

from __future__ import annotations

import random
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

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
    """Where somebody saw a frame, as it travels."""

    of: str
    in_frame: str
    source: str
    at: int
    x_m: float
    base: tuple[int, int]

    @property
    def transform(self) -> Transform:
        return Transform.from_xyz_rpy(xyz=(self.x_m, 0, 0), rpy=(0, 0, 0.1 * self.x_m))


class SamplingReplicas(Replicas):
    """No source has two samples for one instant, and frames stay.

    A sample names what its author held when he gave it: what was taken back since does not count. One of a relation
    that is not asserted where it arrives waits there, until the end.
    """

    def __init__(self, count: int, damage: Damage = unharmed) -> None:
        self.known: list[dict[Sample, None]] = [{} for _ in range(count)]  # to whom
        self.sent: set[tuple[str, str, int]] = set()
        super().__init__(count, damage)
        with World("first", clock=FakeClock(100)) as first:  # whose assertions are not undone
            first.store.set_machine_time(100)
            first.add_frame(*FRAMES)
            for world in self.worlds:
                world.merge(first.scene.changes())

    def see(self, replica: int, of: int, other: int, value: int) -> None:
        """A sample that its author is refused is none."""
        me = replica % len(self.worlds)
        source = "eyes" if value >= 4 else f"{self.worlds[me].name}'s eyes"
        at, x_m = SAMPLED_NS[(value + of) % len(SAMPLED_NS)], 1.0 + value + len(self.sent)
        base = self.worlds[me].store.sample_base()
        sample = Sample(FRAMES[of % (len(FRAMES) - 1)], FRAMES[other], source, at, x_m, base)
        if (sample.of, source, at) in self.sent:
            return
        with suppress(ArmillaryError):
            self._do(me, lambda world: write(world, sample))
            self.sent.add((sample.of, source, at))
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
        return world.store.merge_poses(**edge, transforms=[sample.transform.xyz_wxyz], at=[sample.at], base=sample.base)


class RefusingReplicas(SamplingReplicas):
    """They take the samples of others as if they were their own."""

    def receive(self, world: World, sample: Sample) -> bool:
        with suppress(ArmillaryError):
            write(world, sample)
        return True


def write(world: World, sample: Sample) -> None:
    edge: dict[str, Any] = {"of": sample.of, "in_frame": sample.in_frame, "source": sample.source}
    world.set_pose(**edge, transform=sample.transform, at=sample.at)


def about_samples(world: World) -> dict[Any, Any]:
    """Return what replicas with the same samples must agree on."""
    return about_frames(world, ASKED_NS)
