"""The rules by themselves, on a structure that is no relation graph."""

from __future__ import annotations

from armillary.relations import rules
from armillary.relations.rules import BodyNode, FrameNode, PoseEdge, TwistEdge
from unit.relations.sketch import Sketch


def figure_4() -> Sketch:
    """{d}->{c2}, {b2}->{b1} in B, and {a}->{c1}."""
    bodies = {"A": ["a"], "B": ["b1", "b2"], "C": ["c1", "c2"], "D": ["d"], "F": ["f"]}
    return Sketch(bodies, {"c2": "d", "b1": "b2", "c1": "a"})


def figure_6() -> Sketch:
    """D->{c2}, A->{c1}, and {c1}->{c3} in C."""
    bodies = {"A": ["a"], "C": ["c1", "c2", "c3"], "D": ["d"], "F": ["f"]}
    return Sketch(bodies, {"c3": "c1"}, {"c2": "D", "c1": "A"})


def broken(violation) -> str | None:
    return violation and violation.constraint


class TestNames:
    def test_of_bodies_are_unique(self):
        violation = rules.new_body(figure_4(), "A")
        assert (violation.constraint, violation.existing) == ("C1", (BodyNode("A"),))

    def test_of_bodies_and_frames_share_one_space(self):
        assert broken(rules.new_body(figure_4(), "c1")) == "C2"
        assert broken(rules.new_frame(figure_4(), "D", "A")) == "C2"
        assert rules.new_frame(figure_4(), "D", "D") is None

    def test_of_frames_are_unique_whatever_the_body(self):
        violation = rules.new_frame(figure_4(), "a", "B")
        assert (violation.constraint, violation.existing) == ("C2", (FrameNode("a", "A"),))

    def test_of_frames_need_a_body(self):
        assert broken(rules.new_frame(figure_4(), "z", None)) == "C3"


class TestPoses:
    def test_join_frames_only(self):
        graph = figure_4()
        assert [broken(rules.new_pose(graph, *ends)) for ends in (("A", "D"), ("a", "D"), ("A", "d"))] == ["C4"] * 3

    def test_within_a_body_are_set_once(self):
        violation = rules.new_pose(figure_4(), "b1", "b2")
        assert (violation.constraint, violation.existing) == ("C5", (PoseEdge("b1", "b2"),))

    def test_give_a_frame_one_parent(self):
        violation = rules.new_pose(figure_4(), "c2", "f")
        assert (violation.constraint, violation.existing) == ("C6a", (PoseEdge("c2", "d"),))

    def test_lead_to_a_body_on_one_path(self):
        violation = rules.new_pose(figure_4(), "a", "d")
        assert (violation.constraint, violation.existing) == ("C6b", (PoseEdge("c2", "d"), PoseEdge("c1", "a")))

    def test_name_only_the_path_that_is_in_the_way(self):
        graph = figure_4()
        graph.bodies |= {"R": ["r"], "S": ["s"]}
        graph.poses |= {"d": "r", "s": "d"}
        violation = rules.new_pose(graph, "a", "s")
        assert set(violation.existing) == {PoseEdge("s", "d"), PoseEdge("c2", "d"), PoseEdge("c1", "a")}

    def test_may_come_the_other_way_round(self):
        assert rules.new_pose(figure_4(), "f", "c2") is None

    def test_within_a_body_join_its_two_trees(self):
        graph = figure_4()
        del graph.poses["c1"]
        graph.poses["a"] = "c1"
        assert rules.new_pose(graph, "c1", "c2") is None

    def test_within_a_body_do_not_join_what_shares_another_body(self):
        graph = Sketch({"B": ["b1", "b2"], "C": ["c1", "c2"]}, {"c1": "b1", "c2": "b2"})
        assert broken(rules.new_pose(graph, "b1", "b2")) == "C6b"

    def test_close_no_cycle(self):
        graph = Sketch({"B": ["b1", "b2", "b3"]}, {"b2": "b1", "b3": "b2"})
        violation = rules.new_pose(graph, "b1", "b3")
        assert (violation.constraint, violation.existing) == ("C6b", (PoseEdge("b3", "b2"), PoseEdge("b2", "b1")))

    def test_of_a_frame_in_itself_are_known(self):
        assert broken(rules.new_pose(figure_4(), "a", "a")) == "C6b"


class TestTwists:
    def test_lead_from_a_body_to_a_frame(self):
        graph = figure_6()
        ends = (("a", "f"), ("A", "F"), ("A", "f"))
        assert [broken(rules.new_twist(graph, *each)) for each in ends] == ["C7"] * 3

    def test_give_a_frame_one_parent(self):
        violation = rules.new_twist(figure_6(), "c2", "F")
        assert (violation.constraint, violation.existing) == ("C8a", (TwistEdge("c2", "D"),))

    def test_are_not_given_twice_of_frames_that_poses_connect(self):
        violation = rules.new_twist(figure_6(), "c3", "A")
        assert (violation.constraint, violation.existing) == ("C8b", (TwistEdge("c1", "A"),))

    def test_may_be_given_of_the_same_body_relative_to_another(self):
        assert rules.new_twist(figure_6(), "c3", "F") is None

    def test_close_no_cycle_of_three_bodies(self):
        graph = Sketch({"A": ["a"], "C": ["c1", "c2"], "D": ["d"]}, {"c2": "c1", "d": "c2"}, {"c1": "A", "c2": "D"})
        violation = rules.new_twist(graph, "d", "A")
        assert (violation.constraint, violation.existing) == ("C8b", (TwistEdge("c2", "D"), TwistEdge("c1", "A")))

    def test_of_a_body_relative_to_itself_are_known(self):
        assert broken(rules.new_twist(figure_6(), "c3", "C")) == "C8b"


class TestAPoseThatJoinsTwoTrees:
    def test_is_accepted_where_no_twist_is_given_twice(self):
        assert rules.new_pose(figure_6(), "c2", "c3") is None

    def test_is_refused_where_one_would_be(self):
        graph = figure_6()
        graph.bodies["A"].append("a2")
        graph.poses["a2"] = "c3"
        graph.moving["a2"] = "D"
        violation = rules.new_pose(graph, "c2", "c1")
        assert violation.constraint == "C8b"
        assert len(violation.existing) == 2

    def test_counts_the_twists_that_come_with_it(self):
        graph = Sketch({"A": ["a"], "B": ["b", "b2"]}, {"b2": "b"}, {"b2": "A"})
        assert rules.new_pose(graph, "b", "a") is None
        assert broken(rules.new_pose(graph, "b", "a", [TwistEdge("b", "A")])) == "C8b"
        assert broken(rules.new_pose(graph, "b", "a", [TwistEdge("b2", "A")])) == "C8a"


class TestFramesThatBecomeOneBody:
    def test_are_connected(self):
        graph = Sketch({"a": ["a"], "b": ["b"], "c": ["c"]}, {"b": "a", "c": "b"})
        assert rules.one_body(graph, "gun", ["a", "b"]) is None
        violation = rules.one_body(graph, "gun", ["a", "c"])
        assert (violation.constraint, violation.existing) == ("C6b", (PoseEdge("b", "a"), PoseEdge("c", "b")))

    def test_may_be_in_several_trees(self):
        assert rules.one_body(Sketch({"a": ["a"], "b": ["b"]}), "gun", ["a", "b"]) is None

    def test_do_not_move_relative_to_each_other(self):
        graph = Sketch({"a": ["a"], "b": ["b"]}, {"b": "a"}, {"b": "a"})
        assert broken(rules.one_body(graph, "gun", ["a", "b"])) == "C8b"


class TestAViolation:
    def test_says_what_is_there_and_what_to_do(self):
        violation = rules.new_pose(figure_4(), "c2", "f")
        assert str(violation.existing[0]) == "the pose of 'c2' in 'd'"
        assert "'c2' is placed in 'd' already" in violation.reason
        assert "remove_pose(of='c2', in_frame='d')" in violation.hint
