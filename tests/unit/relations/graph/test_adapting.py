"""Relations that a graph cannot take in as they are: offered in another form, adapted, or kept as measurements."""

from __future__ import annotations

import numpy as np
import pytest

from armillary import Transform
from armillary.errors import ConstraintViolation, NoPosePath, UnknownRelation
from armillary.relations import Pose, RelationGraph, Twist
from armillary.relations.graph import Measurement

CLOSE = 1e-9
a_T_b = Transform.from_xyz_rpy(xyz=(1.0, 0.5, 0.2), rpy=(0.3, -0.2, 0.9))
b_T_c = Transform.from_xyz_rpy(xyz=(0.2, 0.1, -0.4), rpy=(-0.1, 0.7, 0.2))


def pose(of: str, in_frame: str, value: Transform = a_T_b, **names) -> Pose:
    return Pose(of=of, in_frame=in_frame, transform=value, **names)


def twist(point: str, relative_to: str, axes: str | None = None, scale: float = 1.0, **names) -> Twist:
    linear, angular = scale * np.array([0.1, 0.2, 0.3]), scale * np.array([-0.3, 0.2, 0.1])
    return Twist(
        point=point, reference_body=relative_to, expressed_in=axes or point, linear=linear, angular=angular, **names
    )


def violation_of(call, *arguments) -> ConstraintViolation:
    with pytest.raises(ConstraintViolation) as caught:
        call(*arguments)
    return caught.value


@pytest.fixture
def graph():
    """{a} on A; {b1}->{b2} on B; {c} on C; {d} on D, placed in {b2}."""
    graph = RelationGraph()
    for body, frames in {"A": ["a"], "B": ["b1", "b2"], "C": ["c", "c2"], "D": ["d"]}.items():
        graph.add_body(body, frames=frames)
    graph.add_pose(pose("b2", "b1", b_T_c))
    graph.add_pose(pose("d", "b2", b_T_c))
    return graph


class TestAPoseWithASecondParent:
    def test_is_offered_inverted(self, graph):
        offer = violation_of(graph.add_pose, pose("d", "c")).offer
        assert (offer.of, offer.in_frame) == ("c", "d")
        assert offer.transform.is_close(a_T_b.inverse())
        assert graph.add_pose(offer) == offer

    def test_is_adapted_by_inversion(self, graph):
        stored = graph.add_pose(pose("d", "c"), adapt=True)
        assert (stored.of, stored.in_frame, stored.body) == ("c", "d", "C")
        assert graph.pose(of="d", in_frame="c").transform.is_close(a_T_b)

    def test_is_offered_moved_to_another_frame_of_its_body(self, graph):
        graph.add_pose(pose("c", "a"))
        error = violation_of(graph.add_pose, pose("b2", "c"))
        assert (error.offer.of, error.offer.in_frame) == ("b1", "c")
        assert "It would be accepted as Pose(b1|B in c|C" in str(error)

    def test_is_adapted_by_moving_to_an_equivalent(self, graph):
        graph.add_pose(pose("c", "a"))
        graph.add_pose(pose("b2", "c", a_T_b), adapt=True)
        assert graph.pose(of="b2", in_frame="c").transform.is_close(a_T_b)

    def test_is_adapted_by_inverting_and_moving(self, graph):
        graph.add_pose(pose("c2", "c", b_T_c))
        graph.add_pose(pose("d", "c2", a_T_b), adapt=True)
        assert {(edge.of, edge.in_frame) for edge in graph.poses()} >= {("c", "d")}
        assert graph.pose(of="d", in_frame="c2").transform.is_close(a_T_b)

    def test_is_refused_for_good_where_no_form_fits(self, graph):
        graph.add_pose(pose("c", "a"))
        graph.add_pose(pose("c2", "d"))
        before = graph.poses()
        assert violation_of(graph.add_pose, pose("c", "b1")).offer is None
        with pytest.raises(ConstraintViolation):
            graph.add_pose(pose("c", "b1"), adapt=True)
        assert graph.poses() == before

    def test_brings_its_twist_of_zero_along(self, graph):
        graph.add_pose(pose("d", "c"), rigid=True, adapt=True)
        assert [(twist.point, twist.reference_body) for twist in graph.twists()] == [("c", "D")]
        assert graph.twist(of="d", relative_to="C", expressed_in="c").linear == pytest.approx((0, 0, 0))


class TestAPoseOfAnotherPoint:
    @pytest.fixture
    def seven(self, graph):
        """The pose of {d} in {b1}, measured from {b2} along the axes of {d}; gone from the graph."""
        seven = graph.pose(of="d", in_frame="b1", reference_point="b2", expressed_in="d")
        graph.remove_pose(of="d", in_frame="b2")
        return seven

    def test_is_offered_between_the_frames(self, graph, seven):
        error = violation_of(graph.add_pose, seven)
        assert error.constraint == "C4"
        assert repr(error.offer) == "Pose(d|D in b1|B, in [b1])"

    def test_is_adapted_through_the_poses_of_its_body(self, graph, seven):
        graph.add_pose(seven, adapt=True)
        assert graph.pose(of="d", in_frame="b2").is_close(pose("d", "b2", b_T_c, body="D", reference_body="B"))

    def test_is_refused_where_these_poses_are_missing(self, graph, seven):
        graph.remove_pose(of="b2", in_frame="b1")
        assert violation_of(graph.add_pose, seven).offer is None
        with pytest.raises(NoPosePath):
            graph.add_pose(seven, adapt=True)


class TestARedundantPose:
    def test_is_kept_as_a_measurement_with_its_residual(self, graph):
        error_of_closure = Transform.exp((0.01, -0.02, 0.03, 0.001, 0.002, -0.003))
        measured = graph.pose(of="d", in_frame="b1").transform @ error_of_closure
        before = graph.poses()
        measurement = graph.add_pose(pose("d", "b1", measured), adapt=True)
        assert isinstance(measurement, Measurement)
        assert measurement.residual == pytest.approx(error_of_closure.log(), abs=CLOSE)
        assert (graph.poses(), graph.measurements()) == (before, (measurement,))

    def test_is_compared_with_what_the_graph_computes_now(self, graph):
        graph.add_pose(pose("d", "b1", graph.pose(of="d", in_frame="b1").transform), adapt=True)
        graph.set_pose(pose("d", "b2", b_T_c @ Transform.exp((0.1, 0, 0, 0, 0, 0))))
        assert graph.measurements()[0].residual == pytest.approx((-0.1, 0, 0, 0, 0, 0), abs=CLOSE)

    def test_has_no_residual_once_its_path_is_gone(self, graph):
        graph.add_pose(pose("d", "b1", a_T_b), adapt=True)
        graph.remove_pose(of="d", in_frame="b2")
        assert (graph.measurements()[0].derived, graph.measurements()[0].residual) == (None, None)

    def test_takes_the_place_of_an_older_one_and_can_be_forgotten(self, graph):
        for x in (0.1, 0.2):
            graph.add_pose(pose("d", "b1", b_T_c @ b_T_c @ Transform.exp((x, 0, 0, 0, 0, 0))), adapt=True)
        (measurement,) = graph.measurements()
        assert measurement.residual[0] == pytest.approx(0.2, abs=CLOSE)
        graph.remove_measurement(measurement)
        assert graph.measurements() == ()
        with pytest.raises(UnknownRelation, match="a measurement of Pose"):
            graph.remove_measurement(measurement)

    def test_may_contradict_a_constant(self, graph):
        measurement = graph.add_pose(pose("b2", "b1", a_T_b), adapt=True)
        assert measurement.residual == pytest.approx((b_T_c.inverse() @ a_T_b).log(), abs=CLOSE)

    def test_is_refused_unless_asked_for(self, graph):
        error = violation_of(graph.add_pose, pose("b1", "d"))
        assert (error.constraint, error.offer) == ("C6b", None)
        assert "adapt=True to keep it as a measurement" in error.hint

    def test_of_a_frame_in_itself_is_no_measurement(self, graph):
        with pytest.raises(ConstraintViolation, match="itself is the identity"):
            graph.add_pose(pose("a", "a"), adapt=True)


class TestATwistWithASecondParent:
    def test_is_offered_at_another_frame_of_its_body(self, graph):
        graph.add_twist(twist("b2", "A"))
        error = violation_of(graph.add_twist, twist("b2", "C"))
        assert (error.constraint, error.offer.point, error.offer.body) == ("C8a", "b1", "B")
        assert error.offer.expressed_in == "b1"

    def test_is_adapted_to_an_equivalent(self, graph):
        graph.add_twist(twist("b2", "A"))
        measured = twist("b2", "C", scale=2.0)
        graph.add_twist(measured, adapt=True)
        assert graph.twist(of="b2", relative_to="C", expressed_in="b2").is_close(
            Twist(
                point="b2",
                body="B",
                reference_body="C",
                expressed_in="b2",
                linear=measured.linear,
                angular=measured.angular,
            )
        )

    def test_is_adapted_by_inversion_where_its_body_has_no_frame_left(self, graph):
        graph.add_pose(pose("c", "d"))
        graph.add_twist(twist("d", "A"))
        measured = twist("d", "C", scale=2.0)
        stored = graph.add_twist(measured, adapt=True)
        assert (stored.point, stored.body, stored.reference_body) == ("c", "C", "D")
        answer = graph.twist(of="d", relative_to="C", expressed_in="d")
        assert answer.linear == pytest.approx(measured.linear, abs=CLOSE)
        assert answer.angular == pytest.approx(measured.angular, abs=CLOSE)


class TestARedundantTwist:
    def test_is_kept_as_a_measurement_with_its_residual(self, graph):
        graph.add_twist(twist("b1", "A"))
        derived = graph.twist(of="b2", relative_to="A", expressed_in="b2")
        measured = Twist(
            point="b2",
            reference_body="A",
            expressed_in="b2",
            linear=derived.linear + 0.1,
            angular=derived.angular - 0.2,
        )
        measurement = graph.add_twist(measured, adapt=True)
        assert measurement.residual == pytest.approx([0.1] * 3 + [-0.2] * 3, abs=CLOSE)
        assert len(graph.twists()) == 1
        assert graph.measurements() == (measurement,)

    def test_is_refused_unless_asked_for(self, graph):
        graph.add_twist(twist("b1", "A"))
        error = violation_of(graph.add_twist, twist("b2", "A"))
        assert (error.constraint, error.offer) == ("C8b", None)

    @pytest.mark.parametrize("frame", ["b1", "b2"])
    def test_at_a_frame_that_has_a_twist_is_kept_too(self, graph, frame):
        graph.add_pose(pose("b1", "a"))
        graph.add_twist(twist("b1", "A"))
        derived = graph.twist(of=frame, relative_to="A", expressed_in=frame)
        linear = derived.linear + np.array([0.5, 0, 0])
        measured = Twist(point=frame, reference_body="A", expressed_in=frame, linear=linear, angular=derived.angular)
        assert "adapt=True" in str(violation_of(graph.add_twist, measured))
        measurement = graph.add_twist(measured, adapt=True)
        assert measurement.residual == pytest.approx([0.5, 0, 0, 0, 0, 0])
        assert len(graph.twists()) == len(graph.measurements()) == 1

    def test_over_several_bodies_is_kept_too(self, graph):
        graph.add_pose(pose("b1", "a"))
        graph.add_twist(twist("b1", "A"))
        graph.add_twist(twist("d", "B"))
        assert isinstance(graph.add_twist(twist("d", "A"), adapt=True), Measurement)

    def test_of_a_pending_one_is_compared_once_that_comes_in(self, graph):
        graph.add_twist(twist("b1", "A", "a"), pending=True)
        assert graph.add_twist(twist("b1", "A"), adapt=True).residual is None
        graph.add_pose(pose("b1", "a"))
        assert graph.measurements()[0].residual.any()
