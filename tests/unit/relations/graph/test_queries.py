"""Queries of a graph: what the answers mean, and the errors of queries without an answer."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from armillary import Transform
from armillary.errors import (
    BodyDiffers,
    ConstraintViolation,
    InvalidArgument,
    InvalidName,
    NoPosePath,
    NotConnected,
    NotRepresentable,
    NoTwistPath,
    RepresentationDiffers,
    SemanticError,
    UnknownFrame,
    UnknownName,
    UnknownRelation,
)
from armillary.relations import Pose, RelationGraph, Twist
from armillary.relations.representations import HOMOGENEOUS_MATRIX

CLOSE = 1e-9
STEP = Transform.from_xyz_rpy(xyz=(1.0, 0.5, 0.2), rpy=(0.3, -0.2, 0.9))


def placed(of: str, in_frame: str, **more) -> Pose:
    return Pose(of=of, in_frame=in_frame, transform=STEP, **more)


def moving(point: str, relative_to: str) -> Twist:
    return Twist(point=point, reference_body=relative_to, expressed_in=point, linear=(1, 2, 3), angular=(3, 2, 1))


@pytest.fixture
def graph():
    """table <- gun_base <- gun_tip; the moon is elsewhere."""
    graph = RelationGraph()
    for body, frames in {"table": ["table"], "gun": ["gun_base", "gun_tip"], "moon": ["crater"]}.items():
        graph.add_body(body, frames=frames)
    graph.add_pose(placed("gun_base", "table"))
    graph.add_pose(placed("gun_tip", "gun_base"))
    graph.add_twist(moving("gun_base", "table"))
    return graph


class TestAPose:
    def test_is_composed_along_its_path(self, graph):
        pose = graph.pose(of="gun_tip", in_frame="table")
        assert pose.transform.is_close(STEP @ STEP)
        assert (pose.body, pose.reference_body) == ("gun", "table")

    def test_is_known_both_ways(self, graph):
        there, back = graph.pose(of="gun_tip", in_frame="table"), graph.pose(of="table", in_frame="gun_tip")
        assert there.inverse().is_close(back)

    def test_of_siblings_goes_through_their_parent(self, graph):
        graph.add_pose(placed("crater", "table"))
        pose = graph.pose(of="crater", in_frame="gun_tip")
        assert pose.transform.is_close((STEP @ STEP).inverse() @ STEP)

    def test_of_a_frame_in_itself_is_the_identity(self, graph):
        pose = graph.pose(of="crater", in_frame="crater")
        assert (pose.transform, pose.body, pose.reference_body) == (Transform.identity(), "moon", "moon")

    def test_can_have_seven_names(self, graph):
        pose = graph.pose(of="gun_tip", in_frame="table", point="gun_base", expressed_in="gun_base")
        assert repr(pose) == "Pose((gun_base, [gun_tip])|gun in table|table, in [gun_base])"
        assert pose.xyz == pytest.approx(STEP.rotation.inverse() @ STEP.translation, abs=CLOSE)

    def test_has_its_points_on_its_own_bodies(self, graph):
        with pytest.raises(BodyDiffers):
            graph.pose(of="gun_tip", in_frame="table", point="table")

    def test_across_trees_is_not_known(self, graph):
        with pytest.raises(NoPosePath, match="tree of 'table', the second in that of 'crater'") as caught:
            graph.pose(of="gun_tip", in_frame="crater")
        assert isinstance(caught.value, NotConnected)
        assert (caught.value.of_root, caught.value.in_frame_root) == ("table", "crater")


class TestAPoseOfMatrices:
    def test_of_another_point_is_refused_with_what_was_asked_and_the_cure(self):
        graph = RelationGraph(representation=HOMOGENEOUS_MATRIX)
        graph.add_body("gun", frames=["gun_base", "gun_tip"])
        graph.add_pose(placed("gun_tip", "gun_base").converted(HOMOGENEOUS_MATRIX))
        with pytest.raises(NotRepresentable) as caught:
            graph.pose(of="gun_tip", in_frame="gun_base", point="gun_base")
        error = caught.value
        assert (error.operation, error.found) == ("pose", "point='gun_base'")
        assert "Cannot answer pose(of='gun_tip', in_frame='gun_base', point='gun_base'" in str(error)
        assert "RelationGraph(representation=POSITION_QUATERNION)" in error.hint


class TestATwist:
    def test_is_asked_of_a_body_or_of_a_frame_on_it(self, graph):
        by_body = graph.twist(of="gun_tip", relative_to="table", expressed_in="gun_tip")
        by_frame = graph.twist(of="gun", point="gun_tip", relative_to="table", expressed_in="gun_tip")
        assert by_body == by_frame

    def test_has_the_lever_arm(self, graph):
        lever = graph.position(of="gun_tip", in_frame="gun_base").xyz
        tip = graph.linear_velocity(of="gun_tip", relative_to="table", expressed_in="gun_base")
        assert tip.xyz == pytest.approx(np.array([1, 2, 3]) + np.cross([3, 2, 1], lever), abs=CLOSE)

    def test_is_along_the_axes_of_its_reference_unless_others_are_named(self, graph):
        assert graph.twist(of="gun_tip", relative_to="table").expressed_in == "table"

    def test_may_be_asked_by_its_point_alone(self, graph):
        by_frame = graph.twist(of="gun_tip", relative_to="table")
        assert graph.twist(point="gun_tip", relative_to="table") == by_frame
        assert graph.position(point="gun_tip", reference_point="table") == graph.position(
            of="gun_tip", in_frame="table"
        )
        with pytest.raises(InvalidArgument, match="of= or point="):
            graph.twist(relative_to="table")

    def test_of_a_body_needs_a_point(self, graph):
        with pytest.raises(UnknownName, match="It is a body: name one of its frames, 'gun_base', 'gun_tip'"):
            graph.twist(of="gun", relative_to="table", expressed_in="table")

    def test_relative_to_its_own_body_is_zero(self, graph):
        twist = graph.twist(of="gun_tip", relative_to="gun", expressed_in="gun_base")
        assert (twist.body, twist.reference_body) == ("gun", "gun")
        assert not twist.linear.any()
        turning = graph.angular_velocity(of="gun_tip", relative_to="gun", expressed_in="gun_base")
        assert not turning.xyz.any()

    def test_without_a_path_says_what_is_known(self, graph):
        with pytest.raises(NoTwistPath, match="relative to 'table'") as caught:
            graph.twist(of="gun_tip", relative_to="moon", expressed_in="table")
        assert (caught.value.body, caught.value.relative_to) == ("gun", "moon")
        assert caught.value.reachable == ("table",)

    def test_cannot_use_what_poses_do_not_reach(self, graph):
        graph.add_twist(moving("crater", "gun"))
        with pytest.raises(NoTwistPath, match="no poses lead there: the twist of 'crater' relative to 'gun'"):
            graph.twist(of="gun_tip", relative_to="moon", expressed_in="table")

    def test_needs_poses_between_point_and_axes(self, graph):
        with pytest.raises(NoPosePath):
            graph.twist(of="gun_tip", relative_to="table", expressed_in="crater")

    def test_of_a_turning_body_needs_no_point(self, graph):
        turning = graph.angular_velocity(of="table", relative_to="gun", expressed_in="gun_base")
        assert turning.xyz == pytest.approx((-3, -2, -1), abs=CLOSE)


class TestAnUnknownName:
    @pytest.mark.parametrize("ask", ["pose", "position", "orientation"])
    def test_of_a_frame_brings_the_nearest_to_mind(self, graph, ask):
        with pytest.raises(UnknownName, match=r"No frame named 'gun_tp' in this graph\. Did you mean 'gun_tip'"):
            getattr(graph, ask)(of="gun_tp", in_frame="table")
        with pytest.raises(UnknownFrame, match="Did you mean 'table'"):
            getattr(graph, ask)(of="gun_tip", in_frame="tabel")

    @pytest.mark.parametrize("ask", ["twist", "linear_velocity", "angular_velocity"])
    def test_of_a_body_does_so_too(self, graph, ask):
        with pytest.raises(UnknownName, match="Did you mean 'moon'"):
            getattr(graph, ask)(of="gun_tip", relative_to="mooon", expressed_in="table")
        with pytest.raises(UnknownName, match="Did you mean 'gun_tip'"):
            getattr(graph, ask)(of="gun_tipp", relative_to="table")

    def test_of_axes_is_reported(self, graph):
        with pytest.raises(UnknownName, match="No frame named 'moon'"):
            graph.twist(of="gun_tip", relative_to="moon")

    def test_in_a_statement_is_reported(self, graph):
        for call in (
            lambda: graph.add_pose(placed("gun_tp", "table")),
            lambda: graph.add_twist(moving("gun_tip", "tabel")),
            lambda: graph.add_frame("x", body="gunn"),
            lambda: graph.frames("gunn"),
            lambda: graph.remove_pose(of="gun_tp", in_frame="table"),
        ):
            with pytest.raises(UnknownName, match="Did you mean"):
                call()

    def test_in_an_empty_graph_says_what_comes_first(self):
        with pytest.raises(UnknownName, match=r"add_body\(name, frames=\[...\]\) first"):
            RelationGraph().pose(of="a", in_frame="b")


class TestAStatement:
    def test_in_other_coordinates_is_refused(self, graph):
        pose = Pose(of="crater", in_frame="table", coordinates=np.eye(4))
        with pytest.raises(
            RepresentationDiffers, match="the graph's coordinates are Transform, and these are HomogeneousMatrix"
        ):
            graph.add_pose(pose)
        matrices = RelationGraph(representation=HOMOGENEOUS_MATRIX)
        matrices.add_body("a", frames=["a"])
        matrices.add_body("b", frames=["b"])
        with pytest.raises(RepresentationDiffers):
            matrices.add_pose(placed("b", "a"))

    def test_keeps_its_coordinates(self):
        graph = RelationGraph(representation=HOMOGENEOUS_MATRIX)
        graph.add_body("a", frames=["a"])
        graph.add_body("b", frames=["b"])
        given = Pose(of="b", in_frame="a", coordinates=np.array(STEP.matrix))
        graph.add_pose(given)
        assert graph.poses() == (given,)
        assert type(graph.pose(of="a", in_frame="b").coordinates) is type(given.coordinates)

    @pytest.mark.parametrize("given", [STEP, None, "pose", moving("gun_tip", "moon")])
    def test_that_is_no_pose_is_refused(self, graph, given):
        with pytest.raises(InvalidArgument, match="add_pose takes a Pose"):
            graph.add_pose(given)

    def test_that_is_no_twist_is_refused(self, graph):
        with pytest.raises(InvalidArgument, match="add_twist takes a Twist"):
            graph.add_twist(placed("gun_tip", "table"))

    def test_with_a_name_that_is_none_is_refused(self, graph):
        for call in (lambda: graph.add_body(3), lambda: graph.add_body(""), lambda: graph.add_frame(None, body="gun")):
            with pytest.raises(InvalidName):
                call()

    def test_with_one_string_for_several_frames_is_refused(self, graph):
        with pytest.raises(InvalidArgument, match=r"\['wheel'\]"):
            graph.add_body("cart", frames="wheel")

    def test_with_a_frame_named_twice_is_refused_as_a_whole(self, graph):
        with pytest.raises(ConstraintViolation, match="named twice"):
            graph.add_body("cart", frames=["wheel", "wheel"])
        assert "cart" not in graph.bodies()

    def test_about_a_pose_that_is_the_other_way_round_says_so(self, graph):
        with pytest.raises(UnknownRelation, match="There is the pose of 'gun_base' in 'table'"):
            graph.set_pose(placed("table", "gun_base"))
        with pytest.raises(UnknownRelation, match=r"Add it with add_pose"):
            graph.remove_pose(of="crater", in_frame="table")


class TestARefusal:
    def test_has_the_text_of_the_rule_and_then_its_name(self, graph):
        with pytest.raises(ConstraintViolation) as caught:
            graph.add_pose(placed("gun_tip", "table"))
        assert ": the frame 'gun_tip' is placed in 'gun_base' already (C6a). In the way:" in str(caught.value)
        assert caught.value.constraint == "C6a"

    def test_is_a_semantic_error_with_its_evidence(self, graph):
        with pytest.raises(SemanticError) as caught:
            graph.add_pose(placed("gun_base", "crater"))
        error = caught.value
        assert (error.constraint, error.operation) == ("C6a", "add_pose")
        assert [str(each) for each in error.existing] == ["the pose of 'gun_base' in 'table'"]
        assert "remove_pose(of='gun_base', in_frame='table')" in error.hint

    def test_survives_pickling(self, graph):
        with pytest.raises(ConstraintViolation) as caught:
            graph.add_pose(placed("gun_base", "crater"))
        twin = pickle.loads(pickle.dumps(caught.value))
        assert (str(twin), twin.constraint, twin.offer) == (
            str(caught.value),
            caught.value.constraint,
            caught.value.offer,
        )


class TestAGraph:
    def test_can_be_copied_and_pickled(self, graph):
        for twin in (copy.deepcopy(graph), pickle.loads(pickle.dumps(graph))):
            assert (twin.poses(), twin.twists(), twin.frames()) == (graph.poses(), graph.twists(), graph.frames())
            twin.remove_pose(of="gun_tip", in_frame="gun_base")
            assert len(graph.poses()) == 2
            twin.add_pose(placed("crater", "gun_tip"))
            assert twin.pose(of="crater", in_frame="gun_tip").transform == STEP

    def test_says_how_much_it_holds(self, graph):
        assert repr(graph) == "RelationGraph(3 bodies, 4 frames, 2 poses, 1 twists)"

    def test_lists_what_it_holds(self, graph):
        assert graph.frames("gun") == ("gun_base", "gun_tip")
        assert graph.body_of("gun_tip") == "gun"
        assert repr(graph.poses()[0]) == "Pose(gun_base|gun in table|table, in [table])"


class TestARepresentation:
    @pytest.mark.parametrize("value", ["matrix", None, 5, np.eye(4)])
    def test_that_makes_no_coordinates_is_refused(self, value):
        with pytest.raises(InvalidArgument, match=r"Pass NATIVE, POSITION_QUATERNION, HOMOGENEOUS_MATRIX"):
            RelationGraph(representation=value)
