"""The paper's robot that spray-paints a moving object: O1 with a nozzle {f1}, held by C; O2 on E; all over the base B.

Every number is from the specification, checked there against central differences. The same example is computed in five
kinds of coordinates, one of them symbolic: each number given is then a casadi symbol, put back at the very end.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from armillary import Rotation, Transform
from armillary.errors import ConstraintViolation, NotRepresentable, PosesMissing
from armillary.relations import Pose, RelationGraph, Twist
from armillary.relations import representations as kinds

CLOSE = 1e-9
BODIES = {"B": ["b"], "C": ["c"], "E": ["e"], "O1": ["o1", "f1"], "O2": ["o2"]}
POSES = {  # of: in_frame, position [m], axis, angle [rad]
    "f1": ("o1", (0.02, 0.0, 0.2), "z", math.pi / 4),
    "c": ("b", (1.2, 0.0, 0.8), "x", math.pi),
    "o1": ("c", (0.1, -0.2, 0.7), "z", math.pi / 6),
    "e": ("b", (0.9, 0.1, 0.5), "y", math.pi / 2),
    "o2": ("e", (0.0, 0.0, 0.15), "z", math.pi),
}
TWISTS = {  # point: reference body, axes, linear [m/s], angular [rad/s]
    "o1": ("C", "c", (0.2, 0.1, 0.1), (0.05, 0.1, 0.2)),
    "e": ("B", "e", (0.1, -0.05, 0.02), (0.1, 0.2, -0.1)),
    "c": ("B", "b", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
    "o2": ("E", "o2", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
}
AXES = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}


class Numeric:
    """A kind of coordinates that are numbers."""

    def __init__(self, representation, coordinates):
        self.representation, self._coordinates = representation, coordinates

    def pose(self, xyz, axis, angle_rad):
        return self._coordinates(xyz, Rotation.exp(angle_rad * np.array(AXES[axis])))

    def twist(self, linear, angular):
        return kinds.LinearAngular(linear=linear, angular=angular)

    def vector(self, relation):
        return relation.xyz

    def matrix(self, pose):
        return pose.rotation.matrix


class Symbolic:
    """A kind of coordinates that are expressions of as many symbols as there are numbers."""

    def __init__(self):
        symbolic = pytest.importorskip("symbolic")
        self._make, self._symbols, self.representation = symbolic, symbolic.Symbols(), symbolic.SYMBOLIC

    def pose(self, xyz, axis, angle_rad):
        return self._make.SymbolicPose(self._symbols.vector(xyz), self._symbols.rotation(axis, angle_rad))

    def twist(self, linear, angular):
        return self._make.SymbolicTwist(self._symbols.vector(linear), self._symbols.vector(angular))

    def vector(self, relation):
        return self._symbols.evaluated(relation.coordinates)

    def matrix(self, pose):
        return self._symbols.evaluated(pose.orientation.coordinates)


def _matrix(xyz, rotation):
    return np.array(Transform.from_rotation(rotation, xyz=xyz).matrix)


EULER = kinds.position_euler("intrinsic ZYX")


def _euler(xyz, rotation):
    return kinds.PositionEuler(xyz, EULER.rotation(rotation).angles, EULER.convention)


KINDS = {
    "transform": lambda: Numeric(kinds.NATIVE, lambda xyz, rotation: Transform.from_rotation(rotation, xyz=xyz)),
    "position_quaternion": lambda: Numeric(kinds.POSITION_QUATERNION, kinds.PositionQuaternion),
    "homogeneous_matrix": lambda: Numeric(kinds.HOMOGENEOUS_MATRIX, _matrix),
    "position_euler": lambda: Numeric(EULER, _euler),
    "symbolic": Symbolic,
}
FREE_KINDS = ("position_quaternion", "position_euler", "symbolic", "transform")


class Cell:
    """The scene, in one kind of coordinates."""

    def __init__(self, kind):
        self.kind = kind
        self.graph = RelationGraph(representation=kind.representation)
        for body, frames in BODIES.items():
            self.graph.add_body(body, frames=frames)

    def pose(self, of: str) -> Pose:
        in_frame, *value = POSES[of]
        return Pose(of=of, in_frame=in_frame, coordinates=self.kind.pose(*value))

    def twist(self, point: str) -> Twist:
        body, axes, *value = TWISTS[point]
        return Twist(point=point, reference_body=body, expressed_in=axes, coordinates=self.kind.twist(*value))

    def painted(self) -> Cell:
        for of in POSES:
            self.graph.add_pose(self.pose(of))
        for point in TWISTS:
            self.graph.add_twist(self.twist(point))
        return self

    def assert_twist(self, twist: Twist, linear, angular) -> None:
        assert self.kind.vector(twist.velocity) == pytest.approx(linear, abs=CLOSE)
        assert self.kind.vector(twist.angular_velocity) == pytest.approx(angular, abs=CLOSE)

    def assert_vector(self, relation, expected) -> None:
        assert self.kind.vector(relation) == pytest.approx(expected, abs=CLOSE)


@pytest.fixture(params=KINDS)
def cell(request):
    return Cell(KINDS[request.param]()).painted()


def names_of(twist: Twist) -> tuple[str, ...]:
    return twist.point, twist.body, twist.reference_body, twist.expressed_in


class TestTheSprayPaintingRobot:
    def test_keeps_the_twist_of_its_object_at_the_object(self, cell):
        stored = next(twist for twist in cell.graph.twists() if twist.point == "o1")
        assert names_of(stored) == ("o1", "O1", "C", "o1")
        cell.assert_twist(stored, (0.223205081, -0.013397460, 0.1), (0.093301270, 0.061602540, 0.2))

    def test_knows_where_the_nozzle_is_seen_from_the_object(self, cell):
        pose = cell.graph.pose(of="f1", in_frame="o2")
        assert (pose.body, pose.reference_body, pose.expressed_in) == ("O1", "O2", "o2")
        cell.assert_vector(pose.position, (-0.6, -0.09, 0.267320508))
        rows = [[0, 0, -1], [0.965925826, 0.258819045, 0], [0.258819045, -0.965925826, 0]]
        assert cell.kind.matrix(pose) == pytest.approx(np.array(rows), abs=CLOSE)

    def test_knows_how_the_nozzle_moves_over_the_object(self, cell):
        twist = cell.graph.twist(of="f1", relative_to="O2", expressed_in="o2")
        assert names_of(twist) == ("f1", "O1", "O2", "o2")
        cell.assert_twist(twist, (0.093696152, -0.058267949, 0.309), (-0.1, 0.3, 0.15))

    def test_knows_it_along_the_axes_of_the_nozzle(self, cell):
        twist = cell.graph.twist(of="f1", relative_to="O2", expressed_in="f1")
        cell.assert_twist(twist, (0.023692568, -0.313551935, -0.093696152), (0.328600605, -0.067243160, 0.1))

    def test_knows_the_inverse_at_the_same_point(self, cell):
        twist = cell.graph.twist(of="O2", point="f1", relative_to="O1", expressed_in="o2")
        assert names_of(twist) == ("f1", "O2", "O1", "o2")
        cell.assert_twist(twist, (-0.093696152, 0.058267949, -0.309), (0.1, -0.3, -0.15))
        forth = cell.graph.twist(of="f1", relative_to="O2", expressed_in="o2")
        assert names_of(forth.inverse()) == names_of(twist)

    def test_knows_the_inverse_at_the_point_of_the_other_body(self, cell):
        twist = cell.graph.twist(of="o2", relative_to="O1", expressed_in="o2")
        assert names_of(twist) == ("o2", "O2", "O1", "o2")
        cell.assert_twist(twist, (0.0, -0.005, -0.12), (0.1, -0.3, -0.15))

    def test_knows_positions_along_any_axes(self, cell):
        cell.assert_vector(cell.graph.position(of="f1", in_frame="o2", expressed_in="b"), (0.267320508, 0.09, -0.6))
        cell.assert_vector(cell.graph.position(of="o1", in_frame="o2"), (-0.4, -0.1, 0.25))

    def test_knows_how_bodies_turn(self, cell):
        velocity = cell.graph.angular_velocity(of="O1", relative_to="E", expressed_in="b")
        assert (velocity.body, velocity.reference_body, velocity.expressed_in) == ("O1", "E", "b")
        cell.assert_vector(velocity, (0.15, -0.3, -0.1))

    def test_knows_how_fast_points_move(self, cell):
        velocity = cell.graph.linear_velocity(of="o1", relative_to="B", expressed_in="b")
        assert (velocity.point, velocity.body, velocity.reference_body) == ("o1", "O1", "B")
        cell.assert_vector(velocity, (0.2, -0.1, -0.1))

    def test_refuses_a_second_parent_of_its_object(self, cell):
        coordinates = cell.pose("o1").coordinates
        with pytest.raises(ConstraintViolation) as caught:
            cell.graph.add_pose(Pose(of="o1", in_frame="b", coordinates=coordinates))
        assert caught.value.constraint == "C6a"


class TestIntegration:
    """Of numbers only: expressions have no exponential here."""

    @pytest.fixture(params=[name for name in KINDS if name != "symbolic"])
    def cell(self, request):
        return Cell(KINDS[request.param]()).painted()

    def test_moves_the_object_on(self, cell):
        twist = next(twist for twist in cell.graph.twists() if twist.point == "o1")
        later = twist.integrate(cell.graph.pose(of="o1", in_frame="c"), 0.1)
        cell.assert_vector(later.position, (0.119948586, -0.189825216, 0.709925462))
        assert cell.kind.matrix(later)[0] == pytest.approx((0.855822281, -0.517172348, 0.010049123), abs=CLOSE)

    def test_is_undone_by_differentiation(self, cell):
        twist = next(twist for twist in cell.graph.twists() if twist.point == "o1")
        before = cell.graph.pose(of="o1", in_frame="c")
        again = Twist.between(before, twist.integrate(before, 0.1), duration_s=0.1)
        assert names_of(again) == names_of(twist)
        cell.assert_twist(again, twist.linear, twist.angular)


class TestAPoseOfAnotherPoint:
    @pytest.mark.parametrize("kind", FREE_KINDS)
    def test_is_known_where_the_coordinates_can_express_it(self, kind):
        cell = Cell(KINDS[kind]()).painted()
        pose = cell.graph.pose(of="f1", in_frame="o2", point="o1", expressed_in="b")
        assert (pose.of, pose.point, pose.body, pose.expressed_in) == ("f1", "o1", "O1", "b")
        by_position = cell.graph.position(of="o1", in_frame="o2", expressed_in="b")
        assert cell.kind.vector(pose.position) == pytest.approx(cell.kind.vector(by_position), abs=CLOSE)

    def test_is_refused_by_homogeneous_matrices(self):
        cell = Cell(KINDS["homogeneous_matrix"]()).painted()
        with pytest.raises(NotRepresentable, match="HomogeneousMatrix"):
            cell.graph.pose(of="f1", in_frame="o2", point="o1")


class TestATwistBeforeItsPose:
    @pytest.fixture(params=KINDS)
    def early(self, request):
        cell = Cell(KINDS[request.param]())
        cell.graph.add_pose(cell.pose("f1"))
        return cell

    def test_is_refused_and_nothing_is_changed(self, early):
        with pytest.raises(PosesMissing, match="pending=True"):
            early.graph.add_twist(early.twist("o1"))
        assert (early.graph.twists(), early.graph.pending()) == ((), ())

    def test_can_wait_for_it(self, early):
        early.graph.add_twist(early.twist("o1"), pending=True)
        assert (len(early.graph.twists()), len(early.graph.pending())) == (0, 1)
        early.graph.add_pose(early.pose("o1"))
        assert early.graph.pending() == ()
        early.assert_twist(early.graph.twists()[0], (0.223205081, -0.013397460, 0.1), (0.093301270, 0.061602540, 0.2))
