"""Random stories replayed in armillary and in the tf2 of Debian; both must give the same answers.

What may differ is decided by the predicates of `twins.py`, from the story and not from the answers, and each
difference is checked for its own meaning: an answer held across a move must be tf2's number when it is held
on request, a latest answer for another stamp must be what tf2 answers about that stamp.
"""

import contextlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from armillary import seconds
from conformance.memories import ArmillaryMemory, Memory, Sample, Tf2Memory
from conformance.twins import CLOSE, Answer, Question, Twin, their_answer
from randomness import examples, rng, scaled

HISTORY = seconds(10)
WITHIN_THE_HISTORY = seconds(9)
BEYOND_THE_HISTORY = seconds(26)
BEGIN = seconds(20)
AN_EIGHTH_OF_A_SECOND = seconds(1) // 8
STORIES = scaled(30, 3000)
QUESTIONS = 150
MAJORITY = 0.75
A_GOOD_PART = 0.3
A_ROOT = 0.15  # how likely a frame has no parent, so that there are forests
SAME = {"same value", "same UnknownFrame", "same NotConnected", "same StampOutOfRange", "same InvalidName"}
WITHOUT_MOVES = {"disconnected_with_missing_data", "asked_of_itself_though_unknown"}
WITH_MOVES = WITHOUT_MOVES | {"held_across_a_move", "latest_meets_a_move"}


@dataclass(frozen=True)
class Plot:
    """What may happen in a story."""

    span: int
    parents: int = 1
    repeats: float = 0.0
    begin: int = BEGIN
    grain: int = 1


class Storyteller:
    """Forests of a few frames, their samples in the order of arrival, and questions about them."""

    def __init__(self, seed: int, plot: Plot) -> None:
        self.random = rng(seed)
        self.plot = plot
        self.names = [f"frame_{number}" for number in range(self.random.integers(3, 12))]
        self.children = [number for number in range(1, len(self.names)) if not self._happens(A_ROOT)]

    def fixings(self) -> Iterator[Sample]:
        for number in self.children:
            if self._is_fixed(number):
                yield self.sample(number, self.names[self.random.integers(number)], 0)

    def samples(self) -> list[Sample]:
        """Mostly in order, some a little late, some later than the history reaches."""
        moving = [number for number in self.children if not self._is_fixed(number)]
        inserted = [sample for number in moving for sample in self._series(number)]
        lateness = self.random.choice([0, seconds(1), seconds(15)], p=[0.7, 0.25, 0.05], size=len(inserted))
        stamps = np.array([sample.stamp for sample in inserted], dtype=float)
        arrival = stamps + lateness * self.random.uniform(size=len(inserted))
        return [inserted[index] for index in np.argsort(arrival, kind="stable")]

    def questions(self, memory: Memory) -> Iterator[Question]:
        names = sorted(memory.frames)
        stamps = [stamp for held in memory.samples.values() for stamp in held] or [BEGIN]
        for _ in range(QUESTIONS):
            of, in_frame, fixed_frame = self._asked_names(names)
            if self._happens(0.25):
                yield Question(of, in_frame, self._instant(stamps), self._instant(stamps), fixed_frame)
            else:
                yield Question(of, in_frame, self._instant(stamps))

    def _is_fixed(self, number: int) -> bool:
        return number % 4 == 3

    def _series(self, number: int) -> Iterator[Sample]:
        candidates = self.random.integers(number, size=self.plot.parents)
        parent = candidates[0]
        stamps = self._stamps()
        for stamp in stamps:
            if self._happens(0.3):
                parent = self.random.choice(candidates)
            yield self.sample(number, self.names[parent], stamp)
            if self._happens(self.plot.repeats):
                yield self.sample(number, self.names[self.random.choice(candidates)], stamp)

    def _stamps(self) -> Sequence[int]:
        """One to forty stamps, mostly all over the story; some in a window that others do not overlap."""
        first, last = np.sort(self.random.uniform(size=2) * [0.05, 1.0]) * self.plot.span
        last = last if self._happens(0.15) else self.plot.span * 0.99
        count = 1 if self._happens(0.1) else self.random.integers(2, 40)
        stamps = self.plot.begin + self.random.uniform(first, last, size=count).astype(np.int64)
        return [int(stamp) for stamp in np.unique(stamps // self.plot.grain * self.plot.grain)]

    def sample(self, number: int, in_frame: str, stamp: int) -> Sample:
        """Large turns, small turns, none at all; the quaternion in either of its two signs.

        Not below 1e-8 rad, where tf2 no longer interpolates (V11).
        """
        turn = self.random.normal(size=4) * self.random.choice([1.0, 1e-2, 1e-5, 0.0]) + [1.0, 0.0, 0.0, 0.0]
        wxyz = turn / np.linalg.norm(turn) * self.random.choice([1.0, -1.0])
        return Sample(self.names[number], in_frame, stamp, (*self.random.normal(size=3) * 3.0,), (*wxyz,))

    def _asked_names(self, names: Sequence[str]) -> list[str]:
        asked = [str(name) for name in self.random.choice(names, size=3)]
        if self._happens(0.05):
            asked[self.random.integers(3)] = str(self.random.choice(["ghost", "", "/frame_0"]))
        if self._happens(0.1):
            asked[1] = asked[0]
        return asked

    def _instant(self, stamps: Sequence[int]) -> int | None:
        """The latest, a stamp or one grain beside it, or any instant around the story."""
        if self._happens(0.15):
            return None
        if self._happens(0.4):
            return int(self.random.choice(stamps)) + int(self.random.integers(-1, 2)) * self.plot.grain
        anywhere = self.random.uniform(min(stamps) - seconds(1), max(stamps) + seconds(1))
        return int(anywhere) // self.plot.grain * self.plot.grain

    def _happens(self, probability: float) -> bool:
        return bool(self.random.uniform() < probability)


def inserted_and_queried(peer, plot: Plot, memory=Tf2Memory, stories=STORIES) -> Counter[str]:
    verdicts = Counter()
    for seed in range(stories):
        storyteller = Storyteller(seed, plot)
        twin = Twin(peer, HISTORY, memory)
        with contextlib.closing(twin.world):
            for sample in storyteller.fixings():
                twin.fix(sample)
            for sample in storyteller.samples():
                twin.insert(sample)
            verdicts += twin.compare(storyteller.questions(twin.memory))
    return verdicts


def assert_agreement(verdicts: Counter[str], *, apart_from: set[str]) -> None:
    """Every kind of answer and every provoked difference showed, no other, and the differences are few."""
    assert set(verdicts) == SAME | apart_from, verdicts
    assert sum(verdicts[same] for same in SAME) > MAJORITY * verdicts.total(), verdicts
    assert verdicts["same value"] > A_GOOD_PART * verdicts.total(), verdicts


class TestRandomStories:
    def test_with_one_parent_per_frame_are_answered_alike(self, tf2_peer):
        verdicts = inserted_and_queried(tf2_peer, Plot(span=WITHIN_THE_HISTORY))
        assert_agreement(verdicts, apart_from=WITHOUT_MOVES)

    @pytest.mark.parametrize("grain", [1, AN_EIGHTH_OF_A_SECOND])
    def test_longer_than_the_history_are_forgotten_alike(self, tf2_peer, grain):
        """With a coarse grain many samples are exactly as old as the history."""
        verdicts = inserted_and_queried(tf2_peer, Plot(span=BEYOND_THE_HISTORY, grain=grain))
        assert_agreement(verdicts, apart_from=WITHOUT_MOVES)

    def test_with_moves_are_answered_alike_outside_the_gaps(self, tf2_peer):
        verdicts = inserted_and_queried(tf2_peer, Plot(span=WITHIN_THE_HISTORY, parents=3))
        assert_agreement(verdicts, apart_from=WITH_MOVES)

    def test_with_moves_beyond_the_history_equal_an_endless_tf2_given_what_is_kept(self, tf2_peer):
        """And where a move is that was forgotten: there nothing is interpolated, and nothing older comes back."""
        verdicts = inserted_and_queried(tf2_peer, Plot(span=BEYOND_THE_HISTORY, parents=3), ArmillaryMemory)
        assert_agreement(verdicts, apart_from=WITH_MOVES | {"led_through_a_forgotten_time"})

    def test_with_repeated_stamps_equal_tf2_given_the_last_sample_only(self, tf2_peer):
        plot = Plot(span=WITHIN_THE_HISTORY, parents=3, repeats=0.3)
        assert_agreement(inserted_and_queried(tf2_peer, plot, ArmillaryMemory), apart_from=WITH_MOVES)

    def test_of_today_are_answered_alike(self, tf2_peer):
        """tf2's Python passes stamps as floating seconds, so today's need a grain that survives that."""
        plot = Plot(span=BEYOND_THE_HISTORY, begin=seconds(1_700_000_000), grain=seconds(1) // 64)
        assert_agreement(inserted_and_queried(tf2_peer, plot), apart_from=WITHOUT_MOVES)


NAMES = ["a", "b", "c", "d", "e"]
instants = st.integers(1, 12)


@st.composite
def small_stories(draw):
    """A handful of samples on whole seconds: small enough to read when hypothesis has shrunk one."""
    inserted = []
    for of, stamp in draw(st.lists(st.tuples(st.integers(1, 4), instants), unique=True, max_size=14)):
        parent = draw(st.integers(0, of - 1))
        turn = draw(st.sampled_from([(1.0, 0.0, 0.0, 0.0), (0.8, 0.6, 0.0, 0.0), (0.0, 0.0, 0.6, -0.8)]))
        xyz = (float(stamp), float(of), 0.0)
        inserted.append(Sample(NAMES[of], NAMES[parent], seconds(stamp), xyz, turn))
    return inserted


@st.composite
def small_questions(draw):
    """Whole and half seconds, and the latest."""
    at = st.none() | st.integers(1, 26).map(lambda half: half * seconds(1) // 2)
    name = st.sampled_from(NAMES)
    asked = st.tuples(name, name, at) | st.tuples(name, name, at, at, name)
    return [Question(*question) for question in draw(st.lists(asked, min_size=10, max_size=30))]


class TestSmallStories:
    @examples(150)
    @given(story=small_stories(), questions=small_questions())
    def test_are_answered_alike_whatever_their_order(self, tf2_peer, story, questions):
        twin = Twin(tf2_peer, seconds(100))
        with contextlib.closing(twin.world):
            for sample in story:
                twin.insert(sample)
            verdicts = twin.compare(questions)
        assert verdicts.total() == len(questions)


@pytest.fixture(scope="module")
def scanner(tf2_peer):
    """A moving chain with a fixed end in both: map, base, arm and scanner."""
    twin = Twin(tf2_peer, HISTORY)
    storyteller = Storyteller(0, Plot(span=WITHIN_THE_HISTORY))
    storyteller.names = ["map", "base", "arm", "scanner"]
    twin.fix(storyteller.sample(3, "arm", 0))
    for tick in range(100):
        twin.insert(storyteller.sample(1, "map", BEGIN + tick * seconds(0.05)))
        twin.insert(storyteller.sample(2, "base", BEGIN + tick * seconds(0.07)))
    with contextlib.closing(twin.world):
        yield twin


@pytest.fixture(scope="module")
def instants_of_a_scan():
    return rng(5).integers(BEGIN, BEGIN + seconds(4.9), size=2000)


@pytest.fixture(scope="module")
def tf2_of_a_scan(scanner, instants_of_a_scan):
    """Return the answers of tf2 about each instant, one lookup at a time: translations and quaternions."""
    found = scanner.tf2().ask_all([["lookup", "map", "scanner", int(at)] for at in instants_of_a_scan])
    return np.array([answer["xyz"] for answer in found]), np.array([answer["wxyz"] for answer in found])


class TestManyInstantsInOneCall:
    def test_of_transforms_equal_one_tf2_lookup_each(self, scanner, instants_of_a_scan, tf2_of_a_scan):
        found = scanner.world.transforms(of="scanner", in_frame="map", at=instants_of_a_scan, as_="xyz_wxyz")
        xyz, wxyz = tf2_of_a_scan
        assert np.abs(found[:, :3] - xyz).max() < CLOSE
        assert np.abs(np.abs((found[:, 3:] * wxyz).sum(axis=1)) - 1.0).max() < CLOSE

    def test_of_a_cloud_equal_one_tf2_lookup_per_point(self, scanner, instants_of_a_scan, tf2_of_a_scan):
        cloud = rng(6).normal(size=(len(instants_of_a_scan), 3))
        straightened = scanner.world.map_points(cloud, from_frame="scanner", to_frame="map", at=instants_of_a_scan)
        xyz, wxyz = tf2_of_a_scan
        scalar, vector = wxyz[:, :1], wxyz[:, 1:]
        turned = cloud + 2.0 * np.cross(vector, np.cross(vector, cloud) + scalar * cloud)
        assert np.abs(straightened - (turned + xyz)).max() < CLOSE

    def test_of_a_snapshot_equal_one_tf2_lookup_per_frame(self, scanner):
        at = BEGIN + seconds(3.3)
        snapshot = scanner.world.snapshot(in_frame="base", at=at)
        for name in ("map", "base", "arm", "scanner"):
            theirs = their_answer(scanner.tf2().ask("lookup", "base", name, at), can=True)
            found = snapshot[name]
            assert Answer(xyz=found.translation, wxyz=found.rotation.wxyz).is_close(theirs)
