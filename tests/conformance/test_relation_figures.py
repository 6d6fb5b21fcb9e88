"""Every accepted and every rejected case of the paper's figures 2 to 6, by the name of its figure.

The drawings are not in the text; the edges that exist before each case are those of the captions.
"""

from __future__ import annotations

import pytest

from armillary import Transform
from armillary.errors import ConstraintViolation
from armillary.relations import Pose, RelationGraph, Twist

BODIES = {"A": ["a"], "B": ["b1", "b2"], "C": ["c1", "c2", "c3"], "D": ["d"], "E": ["e"], "F": ["f"]}
SOMEWHERE = Transform.from_xyz_rpy(xyz=(0.1, 0.2, 0.3), rpy=(0.1, 0.2, 0.3))
ELSEWHERE = Transform.from_xyz_rpy(xyz=(0.4, 0.2, 0.3), rpy=(0.1, 0.2, 0.3))


def pose(tail: str, head: str, value: Transform = SOMEWHERE) -> Pose:
    """The edge {tail} -> {head}."""
    return Pose(of=head, in_frame=tail, transform=value)


def twist(tail: str, head: str) -> Twist:
    """The edge tail -> {head}."""
    return Twist(point=head, reference_body=tail, expressed_in=head, linear=(1, 2, 3), angular=(4, 5, 6))


@pytest.fixture
def graph():
    nodes = RelationGraph()
    for body, frames in BODIES.items():
        nodes.add_body(body, frames=frames)
    return nodes


def contents(graph: RelationGraph) -> tuple:
    return graph.bodies(), graph.frames(), graph.poses(), graph.twists(), graph.pending(), graph.measurements()


def assert_refused(graph: RelationGraph, constraint: str, call, *arguments, **more) -> ConstraintViolation:
    """With the constraint's name, and nothing changed."""
    before = contents(graph)
    with pytest.raises(ConstraintViolation) as caught:
        call(*arguments, **more)
    assert caught.value.constraint == constraint
    assert constraint in str(caught.value)
    assert contents(graph) == before
    return caught.value


class TestFigure2Nodes:
    def test_accepts_bodies_with_their_frames(self, graph):
        assert graph.bodies() == ("A", "B", "C", "D", "E", "F")
        assert {body: list(graph.frames(body)) for body in graph.bodies()} == BODIES

    def test_rejects_body_E_again_C1(self, graph):
        assert_refused(graph, "C1", graph.add_body, "E")

    def test_rejects_frame_a_again_C2(self, graph):
        assert_refused(graph, "C2", graph.add_frame, "a", body="A")

    def test_rejects_frame_f_again_on_another_body_C2(self, graph):
        assert_refused(graph, "C2", graph.add_frame, "f", body="E")

    def test_rejects_a_body_with_a_frame_that_is_taken_C2(self, graph):
        assert_refused(graph, "C2", graph.add_body, "G", frames=["g", "a"])

    def test_rejects_frame_z_without_a_body_C3(self, graph):
        assert_refused(graph, "C3", graph.add_frame, "z")


class TestFigure3PoseEdges:
    def test_accepts_frame_to_frame(self, graph):
        graph.add_pose(pose("d", "c2"))
        assert graph.poses()[0].in_frame == "d"

    def test_rejects_body_to_body_C4(self, graph):
        assert_refused(graph, "C4", graph.add_pose, pose("D", "A"))

    def test_rejects_body_to_frame_C4(self, graph):
        assert_refused(graph, "C4", graph.add_pose, pose("D", "a"))

    def test_rejects_frame_to_body_C4(self, graph):
        assert_refused(graph, "C4", graph.add_pose, pose("d", "A"))


@pytest.fixture
def figure_4(graph):
    for edge in (pose("d", "c2"), pose("b2", "b1"), pose("a", "e"), pose("e", "c1")):
        graph.add_pose(edge)
    return graph


class TestFigure4PoseConstraints:
    def test_rejects_another_value_of_b1_wrt_b2_C5(self, figure_4):
        assert_refused(figure_4, "C5", figure_4.add_pose, pose("b2", "b1", ELSEWHERE))
        assert_refused(figure_4, "C5", figure_4.set_pose, pose("b2", "b1", ELSEWHERE))

    def test_accepts_the_same_value_of_b1_wrt_b2(self, figure_4):
        before = contents(figure_4)
        figure_4.add_pose(pose("b2", "b1"))
        figure_4.set_pose(pose("b2", "b1"))
        assert contents(figure_4) == before

    def test_rejects_f_to_c2_C6a(self, figure_4):
        error = assert_refused(figure_4, "C6a", figure_4.add_pose, pose("f", "c2"))
        assert "the pose of 'c2' in 'd'" in str(error)

    def test_rejects_d_to_a_C6b(self, figure_4):
        error = assert_refused(figure_4, "C6b", figure_4.add_pose, pose("d", "a"))
        assert "through its frames 'c2' and 'c1'" in str(error)

    def test_accepts_the_inverted_c2_to_f(self, figure_4):
        figure_4.add_pose(pose("c2", "f"))
        assert figure_4.pose(of="f", in_frame="d").transform == SOMEWHERE @ SOMEWHERE

    def test_offers_the_inverted_c2_to_f(self, figure_4):
        error = assert_refused(figure_4, "C6a", figure_4.add_pose, pose("f", "c2"))
        assert error.offer.is_close(figure_4.add_pose(error.offer))
        assert (error.offer.of, error.offer.in_frame) == ("f", "c2")

    def test_rejects_the_inverted_c2_to_f_once_F_is_in_a_tree_with_D(self, figure_4):
        figure_4.add_pose(pose("d", "f"))
        assert_refused(figure_4, "C6a", figure_4.add_pose, pose("c2", "f"))

    def test_accepts_a_new_value_between_two_bodies(self, figure_4):
        figure_4.set_pose(pose("d", "c2", ELSEWHERE))
        assert figure_4.pose(of="c2", in_frame="d").transform == ELSEWHERE

    def test_accepts_d_to_a_once_e_to_c1_is_removed(self, figure_4):
        figure_4.remove_pose(of="c1", in_frame="e")
        figure_4.add_pose(pose("d", "a"))


class TestFigure5TwistEdges:
    def test_accepts_body_to_frame(self, graph):
        graph.add_twist(twist("D", "c2"))
        assert graph.twists()[0].reference_body == "D"

    def test_rejects_frame_to_frame_C7(self, graph):
        assert_refused(graph, "C7", graph.add_twist, twist("d", "c2"))

    @pytest.mark.parametrize("tail", ["D", "d"], ids=["body_to_body", "frame_to_body"])
    def test_rejects_a_body_at_its_head_C7(self, graph, tail):
        on_a_body = Twist(point="C", reference_body=tail, expressed_in="c2", linear=(1, 2, 3), angular=(4, 5, 6))
        assert_refused(graph, "C7", graph.add_twist, on_a_body)


@pytest.fixture
def figure_6(graph):
    graph.add_pose(pose("c1", "c3"))
    graph.add_twist(twist("D", "c2"))
    graph.add_twist(twist("A", "c1"))
    return graph


class TestFigure6TwistConstraints:
    def test_accepts_D_to_c2_beside_A_to_c1(self, figure_6):
        assert [value.point for value in figure_6.twists()] == ["c2", "c1"]

    def test_rejects_F_to_c2_C8a(self, figure_6):
        error = assert_refused(figure_6, "C8a", figure_6.add_twist, twist("F", "c2"))
        assert "the twist of 'c2' relative to 'D'" in str(error)

    def test_rejects_A_to_c3_C8b(self, figure_6):
        error = assert_refused(figure_6, "C8b", figure_6.add_twist, twist("A", "c3"))
        assert "the twist of 'c1' relative to 'A'" in str(error)

    def test_accepts_F_to_c3(self, figure_6):
        figure_6.add_twist(twist("F", "c3"))

    def test_rejects_F_to_c3_once_F_is_connected_C8b(self, figure_6):
        figure_6.add_pose(pose("c3", "f"))
        figure_6.add_twist(twist("A", "f"))
        assert_refused(figure_6, "C8b", figure_6.add_twist, twist("F", "c3"))

    def test_accepts_c1_to_c2_while_A_and_D_are_not_connected(self, figure_6):
        figure_6.add_pose(pose("c1", "c2"))

    def test_rejects_c1_to_c2_once_A_and_D_are_connected_C8b(self, figure_6):
        figure_6.add_pose(pose("c3", "d"))
        figure_6.add_twist(twist("A", "d"))
        error = assert_refused(figure_6, "C8b", figure_6.add_pose, pose("c1", "c2"))
        assert "twist" in str(error.existing[0])

    def test_rejects_a_twist_of_C_relative_to_itself(self, figure_6):
        assert_refused(figure_6, "C8b", figure_6.add_twist, twist("C", "c3"))

    def test_rejects_a_cycle_of_three_bodies_C8b(self, figure_6):
        figure_6.add_pose(pose("c1", "c2"))
        figure_6.add_pose(pose("c2", "d"))
        assert_refused(figure_6, "C8b", figure_6.add_twist, twist("A", "d"))

    def test_accepts_A_to_c3_once_A_to_c1_is_removed(self, figure_6):
        figure_6.remove_twist(of="c1", relative_to="A")
        figure_6.add_twist(twist("A", "c3"))


class TestBeyondTheFigures:
    def test_a_cycle_of_frames_is_rejected(self, graph):
        graph.add_pose(pose("c1", "c2"))
        graph.add_pose(pose("c2", "c3"))
        assert_refused(graph, "C6b", graph.add_pose, pose("c3", "c1"))

    def test_two_trees_are_merged_through_frames_of_one_body(self, graph):
        graph.add_pose(pose("c1", "a"))
        graph.add_pose(pose("c2", "d"))
        graph.add_pose(pose("c1", "c2"))
        assert graph.pose(of="d", in_frame="a").is_close(
            graph.pose(of="c1", in_frame="a") @ graph.pose(of="d", in_frame="c1")
        )

    def test_two_trees_that_share_another_body_are_not_merged(self, graph):
        graph.add_pose(pose("b1", "c1"))
        graph.add_pose(pose("b2", "c2"))
        assert_refused(graph, "C6b", graph.add_pose, pose("b1", "b2"))

    def test_a_frame_put_on_another_body_is_rejected_C2(self, graph):
        elsewhere = Pose(of="a", body="D", in_frame="e", transform=SOMEWHERE)
        assert_refused(graph, "C2", graph.add_pose, elsewhere)
