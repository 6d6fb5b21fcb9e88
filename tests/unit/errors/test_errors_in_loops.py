"""Errors that a program meets in a loop: the sentence is made when somebody reads it."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from unittest import mock

import pytest

from armillary import Transform, World
from armillary.errors import AfterHistory, NoSamples, NotConnected, UnknownFrame, history
from unit.kit import error_of

SENTENCES = {
    "after": (
        AfterHistory,
        {"of": "base", "in_frame": "odom", "at": 3_000_000_000},
        (
            "The pose of 'base' in 'odom' (source 'robot') was asked 2 s after its last sample "
            "(it holds [0.000 s, 1.000 s]). Pass at=LATEST, wait_for_pose(...), outside='hold' to accept the nearest "
            "sample, or outside='predict' to continue its motion."
        ),
    ),
    "unconnected": (
        NotConnected,
        {"of": "island", "in_frame": "odom", "at": 0},
        (
            "No chain of poses leads from 'island' to 'odom' at 0.000 s: 'island' has no parent, and 'odom' has no "
            "parent. Set the pose of 'island' in 'odom', or the other way round."
        ),
    ),
    "unknown": (
        UnknownFrame,
        {"of": "bose", "in_frame": "odom", "at": 0},
        "No frame named 'bose' in this world. Known: base, odom, island.",
    ),
}


@pytest.fixture
def world():
    with World("robot") as made:
        for at in (0, 1_000_000_000):
            made.set_pose(of="base", in_frame="odom", transform=Transform.identity(), at=at)
        made.add_frame("island")
        yield made


class TestAnErrorThatIsRaisedInALoop:
    @pytest.mark.parametrize("why", SENTENCES)
    def test_says_the_same_however_it_is_read(self, world, why):
        kind, asked, sentence = SENTENCES[why]
        with pytest.raises(kind) as caught:
            world.pose(**asked)
        error = caught.value
        assert str(error) == sentence
        for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
            assert (type(twin), str(twin), twin.args) == (kind, sentence, error.args)

    @pytest.mark.parametrize("why", ["after", "unconnected"])
    def test_has_its_sentence_in_args_and_in_repr(self, world, why):
        kind, asked, sentence = SENTENCES[why]
        error = error_of(world.pose, **asked)
        assert error.args == (sentence,)
        assert repr(error) == f"{kind.__name__}({sentence!r})"

    def test_makes_its_sentence_only_when_it_is_read(self, world):
        with mock.patch.object(history, "format_stamp", side_effect=AssertionError("nobody has read it")):
            error = error_of(world.pose, of="base", in_frame="odom", at=5_000_000_000)
        assert (error.requested, error.last) == (5_000_000_000, 1_000_000_000)
        assert "4 s after" in str(error)

    def test_names_the_row_of_a_batch(self, world):
        with pytest.raises(AfterHistory, match=r"\(row 1 of the batch\)") as caught:
            world.transforms(of="base", in_frame="odom", at=[0, 2_000_000_000])
        assert caught.value.row == 1

    def test_is_no_other_than_before_for_a_caller_who_makes_it(self):
        error = NoSamples(edge=("a", "b", ""), requested=None, first=None, last=None)
        assert str(error).startswith("The pose of 'a' in 'b' holds no samples.")


class TestAnUnknownFrame:
    def test_lists_frames_when_they_are_looked_at(self, world):
        error = error_of(world.pose, of="bose", in_frame="odom")
        assert error.known == ("base", "odom", "island")
        world.add_frame("later")
        assert error.known == ("base", "odom", "island")

    def test_does_not_keep_the_world(self):
        world = World()
        world.fix(of="a", in_frame="b", transform=Transform.identity())
        error = error_of(world.pose, of="c", in_frame="b").with_traceback(None)
        reference = weakref.ref(world.store)
        world.close()
        del world
        gc.collect()
        assert reference() is None
        assert error.known == ()
        assert "has no frames yet" in str(error)
