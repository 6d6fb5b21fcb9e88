"""One story replayed in armillary and in tf2, the same questions asked of both, and what may differ.

A `Twin` feeds both. Its `memory` is a plain account of which samples tf2 holds; the predicates of the
documented differences (docs/tf2_differences.md) are decided from that account alone, never from an answer.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from armillary import LATEST, Transform, World, errors
from conformance.memories import ENDLESS, Memory, Sample, Segment, Tf2Memory
from conformance.peer import Tf2Buffer, Tf2Peer

CLOSE = 1e-9  # metres, and quaternion components
TF2_LATEST = 0

KINDS = {
    "LookupException": errors.UnknownFrame,
    "ConnectivityException": errors.NotConnected,
    "ExtrapolationException": errors.StampOutOfRange,
    "InvalidArgumentException": errors.InvalidName,
}
OUR_KINDS = {errors.InvalidArgument: errors.InvalidName} | {kind: kind for kind in KINDS.values()}


class Question(NamedTuple):
    """`at=None` is "the latest"; with `fixed_frame` it is a question about two instants."""

    of: str
    in_frame: str
    at: int | None
    of_at: int | None = None
    fixed_frame: str | None = None

    @property
    def segments(self) -> tuple[Segment, ...]:
        if self.fixed_frame is None:
            return (Segment(self.of, self.in_frame, self.at),)
        return Segment(self.of, self.fixed_frame, self.of_at), Segment(self.fixed_frame, self.in_frame, self.at)

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
    """A value with its stamp, or the kind of error; `can` is what canTransform or can_pose returned."""

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


def held_across_a_move(memory: Memory, question: Question) -> bool:
    """tf2 keeps the last pose under the old parent until the first under the new one (E16)."""
    return any(in_a_gap(memory, segment) for segment in question.segments if segment.at is not None)


def in_a_gap(memory: Memory, segment: Segment) -> bool:
    around = [memory.neighbours(child, segment.at) for child in memory.moving_edges(segment)]
    return any(before and after and before.in_frame != after.in_frame for before, after in around)


def disconnected_with_missing_data(memory: Memory, question: Question) -> bool:
    """tf2 reports the missing data of frames that no data could ever connect (E9)."""
    return any(memory.way_between(segment) is None and lacks_data(memory, segment) for segment in question.segments)


def lacks_data(memory: Memory, segment: Segment) -> bool:
    ways = {*memory.way_up(segment.of, segment.at), *memory.way_up(segment.in_frame, segment.at)}
    moving = [frame for frame in ways if memory.samples.get(frame)]
    return segment.at is not None and any(None in memory.neighbours(frame, segment.at) for frame in moving)


def latest_meets_a_move(memory: Memory, question: Question) -> bool:
    """tf2 takes the newest common stamp of today's path and asks yesterday's path about it (E1)."""
    return any(newest_path_differs_from_then(memory, segment) for segment in question.segments if segment.at is None)


def newest_path_differs_from_then(memory: Memory, segment: Segment) -> bool:
    newest = [max(memory.samples[child]) for child in memory.moving_edges(segment)]
    if not newest:
        return False
    then = segment._replace(at=min(newest))
    return memory.edges(then) != memory.edges(segment) or in_a_gap(memory, then)


def led_through_a_forgotten_time(memory: Memory, question: Question) -> bool:
    """armillary knows the parent of a frame whose samples have expired; tf2 cannot represent it (I12)."""
    return any(forgotten_edges(memory, segment) for segment in question.segments)


def forgotten_edges(memory: Memory, segment: Segment) -> list[str]:
    between = memory.way_between(segment)
    return [child for way in between or () for child in way if memory.wall(child, segment.at)]


def is_all_connected(memory: Memory, question: Question) -> bool:
    """At instants that are given, and by all that armillary remembers."""
    return all(segment.at is not None and memory.way_between(segment) is not None for segment in question.segments)


def asked_of_itself_though_unknown(memory: Memory, question: Question) -> bool:
    """tf2 answers identity for a frame seen from itself before it looks at the name (E10)."""
    itself = question.of == question.in_frame and question.fixed_frame is None
    return itself and question.of not in memory.frames


def nothing_on_the_path_moves(memory: Memory, question: Question) -> bool:
    """tf2 stamps constants with the instant asked about, armillary with None (S2, E10)."""
    return not memory.moving_edges(question.segments[-1])


class Twin:
    """A world and a tf2 buffer with the same insertions."""

    def __init__(self, peer: Tf2Peer, history: int, memory: Callable[[int], Memory] = Tf2Memory) -> None:
        self.world = World(history=history)
        self.memory = memory(history)
        self._peer = peer
        self._live = peer.buffer(history) if memory is Tf2Memory else None

    def insert(self, sample: Sample) -> None:
        """A late sample is refused by armillary with an error exactly where tf2 drops it with a warning."""
        taken = self.memory.insert(sample)
        if self._live:
            self._live.send("insert", *sample.for_tf2)
        try:
            self.world.set_pose(of=sample.of, in_frame=sample.in_frame, transform=sample.transform, at=sample.stamp)
        except errors.BeforeHistory:
            assert not taken, f"{sample} is within the history and was refused"
        else:
            assert taken, f"{sample} is older than the history and was taken"

    def fix(self, sample: Sample) -> None:
        self.memory.fix(sample)
        if self._live:
            self._live.send("insert_static", *sample.for_tf2)
        self.world.fix(of=sample.of, in_frame=sample.in_frame, transform=sample.transform)

    def tf2(self) -> Tf2Buffer:
        """Return the buffer with all insertions in order; or an endless one, with exactly what armillary stores."""
        if self._live:
            return self._live
        endless = self._peer.buffer(ENDLESS)
        for sample in self.memory.fixed.values():
            endless.send("insert_static", *sample.for_tf2)
        for of in list(self.memory.samples):
            for sample in self.memory.samples_for_tf2(of).values():
                endless.send("insert", *sample.for_tf2)
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
            if difference(self.memory, question) and shows(self, question, ours, theirs, tf2):
                return difference.__name__
        raise AssertionError(f"{question}\n  armillary: {ours}\n  tf2:       {theirs}")

    def _agree(self, question: Question, ours: Answer, theirs: Answer) -> bool:
        if theirs.error or ours.error:
            parted_by_walls = theirs.error is errors.NotConnected and is_all_connected(self.memory, question)
            return ours.error is theirs.error and not parted_by_walls
        return ours.is_close(theirs) and (ours.stamp == theirs.stamp or self._is_stamped_as_a_constant(question, ours))

    def _is_stamped_as_a_constant(self, question: Question, ours: Answer) -> bool:
        """None; or, seen at the latest from where nothing moves, the instant of the other side."""
        if not nothing_on_the_path_moves(self.memory, question):
            return False
        if ours.stamp is None or question.at is not None or question.fixed_frame is None:
            return ours.stamp is None
        return ours.stamp == our_answer(self.world, Question(*question.segments[0])).stamp


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


def refused_and_held_on_request(twin, question, ours, theirs, tf2) -> bool:
    held = our_answer(twin.world, question, outside="hold")
    return (
        ours.error is errors.StampOutOfRange
        and held.error is theirs.error
        and (held.error is not None or held.is_close(theirs))
    )


def reports_no_connection(twin, question, ours, theirs, tf2) -> bool:
    return ours.error is errors.NotConnected and theirs.error is errors.StampOutOfRange


def answered_for_a_stamp_that_is_covered(twin, question, ours, theirs, tf2) -> bool:
    """Not later than tf2's stamp, and what tf2 itself answers about that stamp.

    Refused where the histories of the newest path do not overlap, whatever older paths cover, or where it is none.
    """
    if ours.error:
        if ours.error is errors.NotConnected:
            return any(is_apart_somewhere(twin, segment) for segment in question.segments)
        return ours.error is errors.StampOutOfRange
    stamps = [our_answer(twin.world, Question(*segment)).stamp for segment in question.segments]
    timed = question._replace(at=stamps[-1], of_at=stamps[0])
    no_later = theirs.error is not None or ours.stamp <= theirs.stamp
    return no_later and ours.is_close(their_answer(tf2.ask(*timed.for_tf2("lookup")), ours.can))


def is_apart_somewhere(twin, segment: Segment) -> bool:
    """Whether at the instant of some sample no chain leads from one frame to the other, whoever is held."""
    asked = at_each_sample(twin, segment)
    return any(our_answer(twin.world, one, outside="hold").error is errors.NotConnected for one in asked)


def at_each_sample(twin, segment: Segment) -> list[Question]:
    stamps = {stamp for held in twin.memory.samples.values() for stamp in held}
    return [Question(segment.of, segment.in_frame, at) for at in (stamps if segment.at is None else {segment.at})]


def refused_and_held_at_the_oldest_kept(twin, question, ours, theirs, tf2) -> bool:
    """Out of range; held, it is the product of what tf2 answers about every edge where that has a sample."""
    if not is_all_connected(twin.memory, question):
        return ours.error is errors.StampOutOfRange
    held = our_answer(twin.world, question, outside="hold")
    by_hand = [held_by_hand(twin.memory, segment, tf2) for segment in question.segments]
    if any(segment is None for segment in by_hand):
        return ours.error is held.error is errors.StampOutOfRange
    expected = reduce(lambda a_T_b, c_T_a: c_T_a @ a_T_b, by_hand)
    theirs = Answer(xyz=expected.translation, wxyz=expected.rotation.wxyz)
    return ours.error is errors.StampOutOfRange and held.is_close(theirs)


def held_by_hand(memory: Memory, segment: Segment, tf2: Tf2Buffer) -> Transform | None:
    """`in_frame_T_of`; None where a run on the way has no sample left to hold."""
    ends = []
    for way in memory.way_between(segment):
        top_T_end = Transform.identity()
        for child in way:
            at = nearest(memory, child, segment.at)
            if at is None:
                return None
            found = tf2.ask("lookup", memory.remembered_parent(child, segment.at), child, at)
            top_T_end = Transform.from_xyz_wxyz(xyz=found["xyz"], wxyz=found["wxyz"]) @ top_T_end
        ends.append(top_T_end)
    top_T_of, top_T_in_frame = ends
    return top_T_in_frame.inverse() @ top_T_of


def nearest(memory: Memory, child: str, at: int) -> int | None:
    """The instant nearest to this one about which the run of that time has something to say."""
    if child in memory.fixed:
        return at
    before, after = memory.neighbours(child, at)
    wall = memory.wall(child, at)
    if wall:
        return after.stamp if after.in_frame == wall.in_frame else None
    return at if before and after else (before or after).stamp


def reports_a_wrong_name(twin, question, ours, theirs, tf2) -> bool:
    return ours.error in (errors.UnknownFrame, errors.InvalidName) and not theirs.error


DIFFERENCES = {
    held_across_a_move: refused_and_held_on_request,
    disconnected_with_missing_data: reports_no_connection,
    latest_meets_a_move: answered_for_a_stamp_that_is_covered,
    led_through_a_forgotten_time: refused_and_held_at_the_oldest_kept,
    asked_of_itself_though_unknown: reports_a_wrong_name,
}
