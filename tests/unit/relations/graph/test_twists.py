"""Twists of a graph: how they come in, wait, are mounted, change and go."""

from __future__ import annotations

import numpy as np
import pytest

from armillary import Transform
from armillary.errors import (
    ConstraintViolation,
    InvalidArgument,
    NoTwistPath,
    NoValue,
    PosesMissing,
    UnknownName,
    UnknownRelation,
)
from armillary.relations import Pose, RelationGraph, Twist
from armillary.relations.representations import BodyTwist, HybridTwist, SpatialTwist

CLOSE = 1e-9
LINEAR, ANGULAR = np.array([0.1, 0.2, 0.3]), np.array([-0.3, 0.2, 0.1])
base_T_arm = Transform.from_xyz_rpy(xyz=(1.0, 0.5, 0.2), rpy=(0.3, -0.2, 0.9))
R, p = base_T_arm.rotation.matrix, base_T_arm.translation


def twist(point: str, relative_to: str, axes: str, **names) -> Twist:
    return Twist(point=point, reference_body=relative_to, expressed_in=axes, linear=LINEAR, angular=ANGULAR, **names)


def placed(of: str = "arm", in_frame: str = "base", value: Transform = base_T_arm) -> Pose:
    return Pose(of=of, in_frame=in_frame, transform=value)


@pytest.fixture
def graph():
    graph = RelationGraph()
    for body, frames in {"Base": ["base"], "Arm": ["arm", "tip"], "Tool": ["tool"]}.items():
        graph.add_body(body, frames=frames)
    graph.add_pose(placed())
    return graph


def stored(graph: RelationGraph) -> Twist:
    (only,) = graph.twists()
    assert (only.point, only.body, only.reference_body, only.expressed_in) == ("arm", "Arm", "Base", "arm")
    return only


class TestATwistThatComes:
    def test_along_other_axes_is_turned(self, graph):
        graph.add_twist(twist("arm", "Base", "base"))
        assert stored(graph).linear == pytest.approx(R.T @ LINEAR, abs=CLOSE)
        assert stored(graph).angular == pytest.approx(R.T @ ANGULAR, abs=CLOSE)

    def test_as_a_body_twist_is_kept_as_given(self, graph):
        given = BodyTwist(linear=LINEAR, angular=ANGULAR)
        graph.add_twist(Twist(point="arm", reference_body="Base", expressed_in="arm", coordinates=given))
        assert stored(graph).coordinates == given

    def test_as_a_hybrid_twist_is_turned(self, graph):
        given = HybridTwist(linear=LINEAR, angular=ANGULAR)
        graph.add_twist(Twist(point="arm", reference_body="Base", expressed_in="base", coordinates=given))
        assert stored(graph).linear == pytest.approx(R.T @ LINEAR, abs=CLOSE)

    def test_as_a_spatial_twist_is_moved_to_its_body(self, graph):
        given = SpatialTwist(linear=LINEAR, angular=ANGULAR)
        spatial = Twist(point="base", body="Arm", reference_body="Base", expressed_in="base", coordinates=given)
        graph.add_twist(spatial)
        assert stored(graph).linear == pytest.approx(R.T @ (LINEAR + np.cross(ANGULAR, p)), abs=CLOSE)
        again = graph.twist(of="Arm", point="base", relative_to="Base", expressed_in="base")
        assert again.linear == pytest.approx(LINEAR, abs=CLOSE)

    def test_of_a_body_without_a_frame_to_hold_it_is_refused(self, graph):
        graph.add_body("Cloud")
        with pytest.raises(ConstraintViolation, match="'Cloud' has no frame"):
            graph.add_twist(twist("base", "Base", "base", body="Cloud"))
        assert graph.twists() == ()

    def test_of_a_frame_in_place_of_a_body_is_refused(self, graph):
        with pytest.raises(UnknownName, match="No body named 'tip'"):
            graph.add_twist(twist("arm", "Base", "base", body="tip"))

    @pytest.mark.parametrize("call", ["add_twist", "set_twist"])
    def test_along_no_axes_says_that_they_were_not_given(self, graph, call):
        given = Twist(point="arm", reference_body="Base", linear=LINEAR, angular=ANGULAR)
        sentence = "expressed_in was not given and 'Base' has no axes: pass expressed_in=. The frames of 'Base': 'base'"
        with pytest.raises(InvalidArgument, match=sentence):
            getattr(graph, call)(given)

    def test_between_the_wrong_ends_is_refused_before_its_axes_are_looked_at(self, graph):
        for point, relative_to in (("Arm", "Base"), ("arm", "base")):
            with pytest.raises(ConstraintViolation, match="C7"):
                graph.add_twist(twist(point, relative_to, "nowhere"))

    def test_of_any_form_is_offered_when_its_frame_is_taken(self, graph):
        graph.add_pose(placed("tip", "arm"))
        graph.add_twist(twist("arm", "Tool", "arm"))
        given = HybridTwist(linear=LINEAR, angular=ANGULAR)
        hybrid = Twist(point="arm", reference_body="Base", expressed_in="base", coordinates=given)
        with pytest.raises(ConstraintViolation) as caught:
            graph.add_twist(hybrid)
        assert caught.value.offer.point == "tip"

    def test_is_not_reinterpreted_when_a_pose_changes(self, graph):
        before = graph.add_twist(twist("arm", "Base", "base"))
        graph.set_pose(placed(value=Transform.identity()))
        assert graph.twists() == (before,)

    def test_leaves_when_it_is_removed(self, graph):
        graph.add_twist(twist("arm", "Base", "arm"))
        graph.remove_twist(of="arm", relative_to="Base")
        with pytest.raises(NoTwistPath):
            graph.twist(of="arm", relative_to="base")

    def test_gets_a_new_value(self, graph):
        graph.add_twist(twist("arm", "Base", "arm"))
        graph.set_twist(twist("arm", "Base", "base"))
        assert stored(graph).linear == pytest.approx(R.T @ LINEAR, abs=CLOSE)

    def test_gets_a_new_value_in_the_spatial_form_too(self, graph):
        graph.add_twist(twist("arm", "Base", "arm"))
        graph.set_twist(twist("base", "Base", "base", body="Arm"))
        assert stored(graph).angular == pytest.approx(R.T @ ANGULAR, abs=CLOSE)

    def test_is_unknown_by_another_name(self, graph):
        graph.add_twist(twist("arm", "Base", "arm"))
        with pytest.raises(UnknownRelation, match="There is the twist of 'arm' relative to 'Base'"):
            graph.remove_twist(of="arm", relative_to="Tool")
        with pytest.raises(UnknownRelation, match="Add it with add_twist"):
            graph.set_twist(twist("tip", "Base", "tip"))
        with pytest.raises(UnknownRelation, match="a twist of 'Tool' relative to 'Base'"):
            graph.set_twist(twist("base", "Base", "base", body="Tool"))


class TestAPendingTwist:
    @pytest.fixture
    def waiting(self, graph):
        """Of the tool along the axes of the base, from which no poses lead to the tool."""
        graph.add_twist(twist("tool", "Arm", "base"), pending=True)
        return graph

    def test_is_refused_where_nobody_wants_to_wait(self, graph):
        with pytest.raises(PosesMissing) as caught:
            graph.add_twist(twist("tool", "Arm", "base"))
        assert (caught.value.of, caught.value.in_frame) == ("tool", "base")
        assert "the axes of 'tool', and no poses lead there from 'base'. Add a pose" in str(caught.value)
        assert "pending=True" in str(caught.value)
        assert graph.twists() == graph.pending() == ()

    def test_comes_in_with_the_poses(self, waiting):
        assert [each.expressed_in for each in waiting.pending()] == ["base"]
        waiting.add_pose(placed("tool", "arm"))
        assert waiting.pending() == ()
        answer = waiting.twist(of="tool", relative_to="Arm", expressed_in="base")
        assert answer.linear == pytest.approx(LINEAR, abs=CLOSE)

    def test_comes_in_whichever_tree_is_the_larger(self, waiting):
        waiting.add_body("Far", frames=[f"far{i}" for i in range(9)])
        for i in range(1, 9):
            waiting.add_pose(placed(f"far{i}", f"far{i - 1}"))
        waiting.add_pose(placed("tool", "far0"))
        waiting.add_pose(placed("far0", "arm"))
        assert (len(waiting.pending()), len(waiting.twists())) == (0, 1)

    def test_waits_on_where_other_poses_come(self, waiting):
        waiting.add_pose(placed("tip", "arm"))
        assert len(waiting.pending()) == 1

    def test_has_no_answer_yet(self, waiting):
        with pytest.raises(NoValue, match="waits for poses that lead from 'tool' to 'base'"):
            waiting.twist(of="tool", relative_to="Arm", expressed_in="tool")

    def test_counts_for_the_rules(self, waiting):
        with pytest.raises(ConstraintViolation, match="C8a"):
            waiting.add_twist(twist("tool", "Base", "tool"))

    def test_can_be_given_up(self, waiting):
        waiting.remove_twist(of="tool", relative_to="Arm")
        waiting.add_pose(placed("tool", "arm"))
        assert waiting.pending() == waiting.twists() == ()

    def test_can_be_replaced_by_one_that_need_not_wait(self, waiting):
        waiting.set_twist(twist("tool", "Arm", "tool"))
        assert (len(waiting.pending()), len(waiting.twists())) == (0, 1)

    def test_of_another_bodys_point_waits_for_a_frame_of_its_own(self, graph):
        graph.add_twist(twist("base", "Base", "base", body="Tool"), pending=True)
        graph.add_pose(placed("tool", "arm"))
        assert [(each.point, each.body) for each in graph.twists()] == [("tool", "Tool")]


class TestARigidPose:
    @pytest.fixture
    def mounted(self, graph):
        graph.add_pose(placed("tool", "arm"), rigid=True)
        return graph

    def test_says_that_nothing_moves(self, mounted):
        twist = mounted.twist(of="tool", relative_to="Arm", expressed_in="arm")
        assert np.concatenate([twist.linear, twist.angular]) == pytest.approx(np.zeros(6))

    def test_carries_the_twist_of_what_it_is_mounted_on(self, mounted):
        mounted.add_twist(twist("arm", "Base", "arm"))
        tool = mounted.twist(of="tool", relative_to="Base", expressed_in="arm")
        lever = mounted.position(of="tool", in_frame="arm").xyz
        assert tool.linear == pytest.approx(LINEAR + np.cross(ANGULAR, lever), abs=CLOSE)

    def test_stays_as_it_is(self, mounted):
        with pytest.raises(ConstraintViolation, match="rigid=True"):
            mounted.set_pose(placed("tool", "arm", Transform.identity()))
        with pytest.raises(ConstraintViolation, match="rigid=True"):
            mounted.set_twist(twist("tool", "Arm", "tool"))
        with pytest.raises(ConstraintViolation, match="rigid=True"):
            mounted.remove_twist(of="tool", relative_to="Arm")
        assert mounted.set_pose(placed("tool", "arm")) == mounted.poses()[-1]

    def test_takes_its_twist_away_with_it(self, mounted):
        mounted.remove_pose(of="tool", in_frame="arm")
        assert mounted.twists() == ()
        mounted.add_twist(twist("tool", "Arm", "tool"))

    def test_is_refused_where_the_frame_moves_already(self, graph):
        graph.add_twist(twist("tool", "Base", "tool"))
        before = graph.poses(), graph.twists()
        with pytest.raises(ConstraintViolation, match="C8a"):
            graph.add_pose(placed("tool", "arm"), rigid=True)
        assert (graph.poses(), graph.twists()) == before

    def test_is_refused_where_its_zero_would_be_given_twice(self, graph):
        graph.add_twist(twist("tool", "Base", "tool"))
        graph.add_twist(twist("arm", "Base", "arm"))
        graph.add_frame("grip", body="Tool")
        graph.add_pose(placed("grip", "tool"))
        graph.remove_twist(of="tool", relative_to="Base")
        graph.add_twist(twist("grip", "Base", "grip"))
        with pytest.raises(ConstraintViolation, match="C8b"):
            graph.add_pose(placed("tool", "arm"), rigid=True)
        graph.add_pose(placed("tool", "arm"))

    def test_within_a_body_needs_no_twist(self, graph):
        graph.add_pose(placed("tip", "arm"), rigid=True)
        assert graph.twists() == ()
