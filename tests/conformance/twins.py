"""One story told to armillary and to tf2, the same questions asked of both, and what may differ.

A `Twin` feeds both. Its `memory` is a plain account of which samples tf2 holds; the predicates of the
documented differences (docs/tf2_differences.md) are decided from that account alone, never from an answer.
"""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from armillary import LATEST, Transform, World, errors
from conformance.peer import Tf2Buffer, Tf2Peer

CLOSE = 1e-9  # metres, and quaternion components
ENDLESS = 10**18
TF2_LATEST = 0

KINDS = {
    "LookupException": errors.UnknownFrame,
    "ConnectivityException": errors.NotConnected,
    "ExtrapolationException": errors.StampOutOfRange,
    "InvalidArgumentException": errors.InvalidName,
}
OUR_KINDS = {errors.InvalidArgument: errors.InvalidName} | {kind: kind for kind in KINDS.values()}


class Sample(NamedTuple):
    of: str
    in_frame: str
    stamp: int
    xyz: tuple[float, float, float]
    wxyz: tuple[float, float, float, float]

    @property
    def transform(self) -> Transform:
        return Transform.from_xyz_wxyz(xyz=self.xyz, wxyz=self.wxyz)

    @property
    def for_tf2(self) -> tuple[Any, ...]:
        return self.in_frame, self.of, self.stamp, list(self.xyz), list(self.wxyz)


class Leg(NamedTuple):
    of: str
    in_frame: str
    at: int | None


class Question(NamedTuple):
    """`at=None` is "the latest"; with `fixed_frame` it is a question about two instants."""

    of: str
    in_frame: str
    at: int | None
    of_at: int | None = None
    fixed_frame: str | None = None

    @property
    def legs(self) -> tuple[Leg, ...]:
        if self.fixed_frame is None:
            return (Leg(self.of, self.in_frame, self.at),)
        return Leg(self.of, self.fixed_frame, self.of_at), Leg(self.fixed_frame, self.in_frame, self.at)

    def for_tf2(self, simple: str) -> list[Any]:
        at, of_at = self.at or TF2_LATEST, self.of_at or TF2_LATEST
        if self.fixed_frame is None:
            return [simple, self.in_frame, self.of, at]
        return [f"{simple}_full", self.in_frame, at, self.of, of_at, self.fixed_frame]

    @property
    def for_armillary(self) -> dict[str, Any]:
        asked = {"of": self.of, "in_frame": self.in_frame, "at": LATEST if self.at is None else self.at}
        if self.fixed_frame is None:
            return asked
        of_at = LATEST if self.of_at is None else self.of_at
        return asked | {"of_at": of_at, "fixed_frame": self.fixed_frame}


@dataclass(frozen=True)
class Answer:
    """A value with its stamp, or the kind of error; `can` is what canTransform or can_pose said."""

    can: bool | None = None
    error: type[Exception] | None = None
    stamp: int | None = None
    xyz: Sequence[float] = ()
    wxyz: Sequence[float] = ()

    def is_close(self, other: "Answer") -> bool:
        if self.error or other.error:
            return False
        rotations = np.asarray(self.wxyz), np.asarray(other.wxyz)
        turned = min(np.abs(rotations[0] - rotations[1]).max(), np.abs(rotations[0] + rotations[1]).max())
        return max(np.abs(np.subtract(self.xyz, other.xyz)).max(), turned) < CLOSE


class Memory:
    """Which samples are held, and the structure they imply; the kinds below say how they are dropped."""

    def __init__(self, history: int) -> None:
        self.history = history
        self.samples: dict[str, dict[int, Sample]] = defaultdict(dict)
        self.fixed: dict[str, Sample] = {}

    @property
    def frames(self) -> set[str]:
        held = [self.fixed, *self.samples.values()]
        return {
            name for series in held for sample in series.values() for name in (sample.of, sample.in_frame)
        }

    def insert(self, sample: Sample) -> bool:
        """Whether the sample was taken."""
        rivals = self._expiring_with(sample)
        newest = max((rival.stamp for rival in rivals), default=sample.stamp)
        if sample.stamp < newest - self.history or not self._replaces(sample):
            return False
        held = self.samples[sample.of]
        held[sample.stamp] = sample
        for rival in rivals:
            if rival.stamp < sample.stamp - self.history:
                del held[rival.stamp]
                self._forgotten(rival)
        return True

    def told(self, of: str) -> dict[int, Sample]:
        """What a tf2 that is to answer alike is told about a frame."""
        return self.samples[of]

    def fix(self, sample: Sample) -> None:
        self.fixed[sample.of] = sample

    def neighbours(self, of: str, at: int) -> tuple[Sample | None, Sample | None]:
        """The samples at or before, and at or after an instant."""
        told = self.told(of)
        stamps = sorted(told)
        place = bisect_right(stamps, at)
        before = told[stamps[place - 1]] if place else None
        if before is not None and before.stamp == at:
            return before, before
        return before, told[stamps[place]] if place < len(stamps) else None

    def parent(self, of: str, at: int | None) -> str | None:
        """The frame it hung under, as if the first and the last sample reached on for ever."""
        if of in self.fixed:
            return self.fixed[of].in_frame
        if not self.samples.get(of):
            return None
        before, after = self.neighbours(of, ENDLESS if at is None else at)
        return (before or after).in_frame

    def way_up(self, frame: str, at: int | None) -> list[str]:
        return climb(frame, lambda child: self.parent(child, at))

    def edges(self, leg: Leg) -> set[tuple[str, str]] | None:
        """The (of, in_frame) between the two frames of a leg; None when nothing connects them."""
        between = children_between(self.way_up(leg.of, leg.at), self.way_up(leg.in_frame, leg.at))
        return None if between is None else {(child, self.parent(child, leg.at)) for child in between}

    def moving_edges(self, leg: Leg) -> list[str]:
        return [child for child, _ in self.edges(leg) or () if child not in self.fixed]

    def _expiring_with(self, sample: Sample) -> list[Sample]:
        raise NotImplementedError

    def _replaces(self, sample: Sample) -> bool:
        raise NotImplementedError

    def _forgotten(self, sample: Sample) -> None:
        """Called for a sample that was just dropped for its age."""


def climb(frame: str, parent: Callable[[str], str | None]) -> list[str]:
    """A frame and what it hangs under, up to the root."""
    way = [frame]
    while (above := parent(way[-1])) is not None:
        way.append(above)
    return way


def children_between(way: list[str], other: list[str]) -> set[str] | None:
    """The frames of two ways up whose edges lie between their beginnings; None when they never meet."""
    return set(way) ^ set(other) if way[-1] == other[-1] else None


class Tf2Memory(Memory):
    """All parents of a frame expire together, and the first word about an instant stays."""

    def _expiring_with(self, sample: Sample) -> list[Sample]:
        return list(self.samples[sample.of].values())

    def _replaces(self, sample: Sample) -> bool:
        return sample.stamp not in self.samples[sample.of]


class ArmillaryMemory(Memory):
    """Every relation expires by itself, and the last word about an instant stays.

    Of samples that expired a run keeps its beginning, as a wall: what was before it does not come back. Runs whose
    samples have all expired vanish at the front of a track, and are nothing but a wall in its middle.
    """

    def __init__(self, history: int) -> None:
        super().__init__(history)
        self.walls: dict[str, dict[int, Sample]] = defaultdict(dict)

    def insert(self, sample: Sample) -> bool:
        taken = super().insert(sample)
        if taken:
            self.walls[sample.of].pop(sample.stamp, None)
            self._keep_beginnings(sample.of)
        return taken

    def told(self, of: str) -> dict[int, Sample]:
        """tf2 knows no walls. It is told that the frame hung in a place that nothing connects to the rest."""
        nowhere = {
            stamp: wall._replace(in_frame=f"nowhere/{of}")
            for stamp, wall in self.walls[of].items()
            if stamp > min(self.samples[of])
        }
        return self.samples[of] | nowhere

    def forgotten_edges(self, leg: Leg) -> set[str]:
        """Children on the path whose run had begun at that instant, but has kept no sample from then or before."""
        if leg.at is None:
            return set()
        ways = [climb(name, lambda child: self._parent_by_walls(child, leg.at)) for name in (leg.of, leg.in_frame)]
        return {child for child in children_between(*ways) or () if self._wall(child, leg.at)}

    def held_sample(self, of: str, at: int) -> Sample | None:
        """What `outside="hold"` takes for a forgotten edge: the oldest that its run has kept."""
        wall, after = self._wall(of, at), self.neighbours(of, at)[1]
        return after if after.in_frame == wall.in_frame else None

    def _wall(self, of: str, at: int) -> Sample | None:
        """The wall that is the last thing known about a frame at or before an instant."""
        told = self.told(of)
        newest = max((stamp for stamp in told if stamp <= at), default=None)
        return self.walls[of].get(newest)

    def _parent_by_walls(self, of: str, at: int) -> str | None:
        wall = self._wall(of, at)
        return wall.in_frame if wall else self.parent(of, at)

    def _forgotten(self, sample: Sample) -> None:
        self.walls[sample.of][sample.stamp] = sample

    def _keep_beginnings(self, of: str) -> None:
        """Only the first sample of a run can be a wall, and no run of walls alone comes first."""
        events = sorted((self.samples[of] | self.walls[of]).values(), key=lambda event: event.stamp)
        runs = [list(run) for _, run in groupby(events, key=lambda event: event.in_frame)]
        first = next(number for number, run in enumerate(runs) if run[-1].stamp in self.samples[of])
        begins = {run[0].stamp for run in runs[first:]}
        self.walls[of] = {stamp: wall for stamp, wall in self.walls[of].items() if stamp in begins}

    def _expiring_with(self, sample: Sample) -> list[Sample]:
        return [held for held in self.samples[sample.of].values() if held.in_frame == sample.in_frame]

    def _replaces(self, sample: Sample) -> bool:
        return True


def held_across_a_move(memory: Memory, question: Question) -> bool:
    """tf2 keeps the last pose under the old parent until the first under the new one (E16)."""
    return any(in_a_gap(memory, leg) for leg in question.legs if leg.at is not None)


def in_a_gap(memory: Memory, leg: Leg) -> bool:
    around = [memory.neighbours(child, leg.at) for child in memory.moving_edges(leg)]
    return any(before and after and before.in_frame != after.in_frame for before, after in around)


def disconnected_with_missing_data(memory: Memory, question: Question) -> bool:
    """tf2 reports the missing data of frames that no data could ever connect (E9)."""
    return any(memory.edges(leg) is None and lacks_data(memory, leg) for leg in question.legs)


def lacks_data(memory: Memory, leg: Leg) -> bool:
    ways = {*memory.way_up(leg.of, leg.at), *memory.way_up(leg.in_frame, leg.at)}
    moving = [frame for frame in ways if memory.samples.get(frame)]
    return leg.at is not None and any(None in memory.neighbours(frame, leg.at) for frame in moving)


def latest_meets_a_move(memory: Memory, question: Question) -> bool:
    """tf2 takes the newest common stamp of today's path and asks yesterday's path about it (E1)."""
    return any(newest_path_differs_from_then(memory, leg) for leg in question.legs if leg.at is None)


def newest_path_differs_from_then(memory: Memory, leg: Leg) -> bool:
    newest = [max(memory.samples[child]) for child in memory.moving_edges(leg)]
    if not newest:
        return False
    then = leg._replace(at=min(newest))
    return memory.edges(then) != memory.edges(leg) or in_a_gap(memory, then)


def asked_of_itself_though_unknown(memory: Memory, question: Question) -> bool:
    """tf2 answers identity for a frame seen from itself before it looks at the name (E10)."""
    itself = question.of == question.in_frame and question.fixed_frame is None
    return itself and question.of not in memory.frames


def nothing_on_the_path_moves(memory: Memory, question: Question) -> bool:
    """tf2 stamps constants with the instant asked about, armillary with None (S2, E10)."""
    return not memory.moving_edges(question.legs[-1])


class Twin:
    """A world and a tf2 buffer that were told the same."""

    def __init__(self, peer: Tf2Peer, history: int, memory: Callable[[int], Memory] = Tf2Memory) -> None:
        self.world = World(history=history)
        self.memory = memory(history)
        self._peer = peer
        self._live = peer.buffer(history) if memory is Tf2Memory else None

    def tell(self, sample: Sample) -> None:
        """A late sample is refused by armillary with an error exactly where tf2 drops it with a warning."""
        taken = self.memory.insert(sample)
        if self._live:
            self._live.tell("insert", *sample.for_tf2)
        try:
            self.world.set_pose(
                of=sample.of, in_frame=sample.in_frame, transform=sample.transform, at=sample.stamp
            )
        except errors.BeforeHistory:
            assert not taken, f"{sample} is within the history and was refused"
        else:
            assert taken, f"{sample} is older than the history and was taken"

    def fix(self, sample: Sample) -> None:
        self.memory.fix(sample)
        if self._live:
            self._live.tell("insert_static", *sample.for_tf2)
        self.world.fix(of=sample.of, in_frame=sample.in_frame, transform=sample.transform)

    def tf2(self) -> Tf2Buffer:
        """The buffer told everything as it came; or an endless one, told exactly what armillary remembers."""
        if self._live:
            return self._live
        endless = self._peer.buffer(ENDLESS)
        for sample in self.memory.fixed.values():
            endless.tell("insert_static", *sample.for_tf2)
        for held in self.memory.samples.values():
            for sample in held.values():
                endless.tell("insert", *sample.for_tf2)
        return endless

    def compare(self, questions: Iterable[Question]) -> Counter[str]:
        """How often the two agreed and how often each documented difference showed; raises on any other."""
        questions = list(questions)
        tf2 = self.tf2()
        lookups = tf2.ask_all([question.for_tf2("lookup") for question in questions])
        cans = tf2.ask_all([question.for_tf2("can") for question in questions])
        theirs = [their_answer(lookup, can) for lookup, can in zip(lookups, cans, strict=True)]
        return Counter(
            self.verdict(question, our_answer(self.world, question), answer, tf2)
            for question, answer in zip(questions, theirs, strict=True)
        )

    def verdict(self, question: Question, ours: Answer, theirs: Answer, tf2: Tf2Buffer) -> str:
        assert ours.can is (ours.error is None), f"{question}: can_pose and pose disagree: {ours}"
        assert theirs.can is (theirs.error is None), f"{question}: tf2 disagrees with itself: {theirs}"
        if self._agree(question, ours, theirs):
            return f"same {theirs.error.__name__ if theirs.error else 'value'}"
        for difference, shows in DIFFERENCES.items():
            if difference(self.memory, question) and shows(self.world, question, ours, theirs, tf2):
                return difference.__name__
        raise AssertionError(f"{question}\n  armillary: {ours}\n  tf2:       {theirs}")

    def _agree(self, question: Question, ours: Answer, theirs: Answer) -> bool:
        if theirs.error or ours.error:
            return ours.error is theirs.error
        return ours.is_close(theirs) and (
            ours.stamp == theirs.stamp or self._is_stamped_as_a_constant(question, ours)
        )

    def _is_stamped_as_a_constant(self, question: Question, ours: Answer) -> bool:
        """None; or, seen at the latest from where nothing moves, the instant of the other side."""
        if not nothing_on_the_path_moves(self.memory, question):
            return False
        if ours.stamp is None or question.at is not None or question.fixed_frame is None:
            return ours.stamp is None
        return ours.stamp == our_answer(self.world, Question(*question.legs[0])).stamp


def our_answer(world: World, question: Question, **how: Any) -> Answer:
    can = world.can_pose(**question.for_armillary, **how)
    try:
        pose = world.pose(**question.for_armillary, **how)
    except tuple(OUR_KINDS) as problem:
        kind = next(kind for base, kind in OUR_KINDS.items() if isinstance(problem, base))
        return Answer(can=can, error=kind)
    transform = pose.transform
    return Answer(can=can, stamp=pose.stamp, xyz=transform.translation, wxyz=transform.rotation.wxyz)


def their_answer(lookup: dict[str, Any], can: bool) -> Answer:
    if "error" in lookup:
        return Answer(can=can, error=KINDS[lookup["error"]])
    return Answer(can=can, stamp=lookup["stamp"], xyz=lookup["xyz"], wxyz=lookup["wxyz"])


def refused_and_held_on_request(world, question, ours, theirs, tf2) -> bool:
    held = our_answer(world, question, outside="hold")
    return (
        ours.error is errors.StampOutOfRange
        and held.error is theirs.error
        and (held.error is not None or held.is_close(theirs))
    )


def told_that_nothing_connects_them(world, question, ours, theirs, tf2) -> bool:
    return ours.error is errors.NotConnected and theirs.error is errors.StampOutOfRange


def answered_for_a_stamp_that_is_covered(world, question, ours, theirs, tf2) -> bool:
    """Not later than tf2's stamp, and what tf2 itself says about that stamp; or there is no such stamp."""
    if ours.error:
        return ours.error in (errors.StampOutOfRange, errors.NotConnected)
    stamps = [our_answer(world, Question(*leg)).stamp for leg in question.legs]
    timed = question._replace(at=stamps[-1], of_at=stamps[0])
    no_later = theirs.error is not None or ours.stamp <= theirs.stamp
    return no_later and ours.is_close(their_answer(tf2.ask(*timed.for_tf2("lookup")), ours.can))


def told_that_the_name_is_wrong(world, question, ours, theirs, tf2) -> bool:
    return ours.error in (errors.UnknownFrame, errors.InvalidName) and not theirs.error


DIFFERENCES = {
    held_across_a_move: refused_and_held_on_request,
    disconnected_with_missing_data: told_that_nothing_connects_them,
    latest_meets_a_move: answered_for_a_stamp_that_is_covered,
    asked_of_itself_though_unknown: told_that_the_name_is_wrong,
}
