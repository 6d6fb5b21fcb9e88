"""A question that names several frames is about one instant of all of them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from armillary import LATEST, World
from armillary.errors import AmbiguousPath, ArmillaryError
from strategies import (
    BETWEEN,
    BEYOND,
    CLOSE_M,
    FRAMES,
    STAMPS,
    Twins,
    assert_same_covariance,
    backbones,
    histories,
    outcome,
)

INSTANTS = STAMPS + BETWEEN + BEYOND


@st.composite
def triples(draw):
    outside = draw(st.sampled_from(["raise", "hold", "predict"]))
    of, in_frame, axes = (draw(st.sampled_from(FRAMES)) for _ in range(3))
    return {"of": of, "in_frame": in_frame, "outside": outside}, axes


def asked(world: World, call, **question):
    return outcome(lambda: call(world, **question), ArmillaryError)


def both(world, question, axes, at):
    """The pose, and the axes it is to be along, each asked alone."""
    turn = question | {"of": question["in_frame"], "in_frame": axes}
    return [asked(world, World.pose, **each, at=at) for each in (question, turn)]


class TestAPoseAlongOtherAxes:
    @given(backbones() | histories(), triples(), st.sampled_from(INSTANTS))
    def test_is_of_the_pose_and_of_the_axes(self, statements, triple, at):
        (question, axes), world = triple, Twins().do_all(statements).world
        pose, turn = both(world, question, axes, at)
        answer = asked(world, World.pose, **question, expressed_in=axes, at=at)
        if isinstance(pose, ArmillaryError) or isinstance(turn, ArmillaryError):
            assert isinstance(answer, ArmillaryError)
            return
        np.testing.assert_allclose(answer.xyz, turn.rotation @ pose.xyz, atol=CLOSE_M)
        assert set(answer.held) == {*pose.held, *turn.held}
        assert answer.predicted == (pose.predicted or turn.predicted)
        assert set(answer.relations) == {*pose.relations, *turn.relations}
        is_own = axes == question["in_frame"]  # then it is the pose, which may have no stamp
        assert answer.stamp == (turn.stamp if pose.stamp is None and not is_own else pose.stamp)
        assert_same_covariance(answer.covariance, pose.covariance)

    @given(backbones(), triples())
    def test_is_of_the_newest_common_instant(self, statements, triple):
        (question, axes), world = triple, Twins().do_all(statements).world
        question["outside"] = "raise"
        instants = {*INSTANTS, *(given["at"] for method, given in statements if method == "set_pose")}
        common = [
            at
            for at in instants
            if all(not isinstance(part, ArmillaryError) for part in both(world, question, axes, at))
        ]
        answer = asked(world, World.pose, **question, expressed_in=axes, at=LATEST)
        if isinstance(answer, AmbiguousPath):  # sources contest the newest instant, though perhaps no earlier one
            assert not common or any(
                isinstance(part, AmbiguousPath) for at in instants for part in both(world, question, axes, at)
            )
        elif isinstance(answer, ArmillaryError):
            assert not common
        elif answer.stamp is not None:
            assert answer.stamp in common
            assert answer.stamp == max(common) or steps(statements, answer)


def steps(statements, answer):
    """Whether an answer used a relation whose last value holds for ever: then nothing newer was known."""
    used = {tuple(relation)[:2] for relation in answer.relations}
    stepping = {(given["of"], given["in_frame"]) for _, given in statements if given.get("interpolation") == "step"}
    return not used.isdisjoint(stepping)


class TestAPosition:
    @given(backbones(), triples(), st.sampled_from(INSTANTS))
    def test_has_the_numbers_of_the_pose(self, statements, triple, at):
        (question, axes), world = triple, Twins(default_covariance=0.01 * np.eye(6)).do_all(statements).world
        pose = asked(world, World.pose, **question, expressed_in=axes, at=at)
        position = asked(world, World.position, **question, expressed_in=axes, at=at)
        if isinstance(pose, ArmillaryError):
            assert isinstance(position, ArmillaryError)
            return
        np.testing.assert_allclose(position.xyz, pose.xyz, atol=CLOSE_M)
        assert (position.held, position.predicted, position.stamp) == (pose.held, pose.predicted, pose.stamp)
        assert set(position.relations) == set(pose.relations)
