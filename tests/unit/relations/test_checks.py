"""Every check of the geometric semantics (spec B2.2) is an error of its own, with both names and the hint."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pytest

from armillary import Transform, errors
from armillary.relations import Orientation, Pose, Position, Twist, Wrench, compose_any
from armillary.relations.representations import (
    HOMOGENEOUS_MATRIX,
    POSITION_QUATERNION,
    BodyTwist,
    HybridTwist,
    SpatialTwist,
)
from unit.errors.kinds import RELATIONS
from unit.relations import kit

if TYPE_CHECKING:
    from collections.abc import Callable

STILL = Transform.identity()
STOP = {"linear": (0, 0, 0), "angular": (0, 0, 0)}


@dataclass(frozen=True)
class Case:
    """A call that has no meaning."""

    kind: type[errors.SemanticError]
    operation: str
    expected: str
    found: str
    hint: str
    call: Callable[[], object]

    def error(self) -> errors.SemanticError:
        with pytest.raises(errors.SemanticError) as caught:
            self.call()
        return caught.value


def case(kind: str, operation: str, names: tuple[str, str], hint: str, call: Callable[[], object]):
    marked = Case(getattr(errors, kind), operation, *names, hint, call)
    return pytest.param(marked, id=f"{kind}-{operation}-{names[1]}")


def stretch(**changes):
    """The table from the map: the reference half of a composition."""
    names = {"point": "base", "body": "gun", "reference_point": "corner", "reference_body": "table"}
    return Position(**(names | {"expressed_in": "map", "coordinates": (0, 0, 1)} | changes))


COMPOSING = [
    case("CoordinateFrameDiffers", "compose", ("corner", "map"), "change_coordinate_frame(Orientation(of='map'",
         lambda: stretch(expressed_in="corner") @ kit.position()),
    case("InnerPointDiffers", "compose", ("tip", "base"), "Insert the relation of 'base' to 'tip'",
         lambda: stretch(point="tip") @ kit.position()),
    case("InnerBodyDiffers", "compose", ("arm", "gun"), "reference_body='arm'",
         lambda: stretch(body="arm") @ kit.position()),
    case("InnerOrientationFrameDiffers", "compose", ("tip", "base"), "change_orientation_frame",
         lambda: kit.orientation() @ kit.orientation()),
    case("InnerBodyDiffers", "compose", ("gun", "arm"), "Insert the relation of 'arm' to 'gun'",
         lambda: kit.orientation(of="base", in_frame="tip") @ kit.orientation(reference_body="arm")),
    case("InnerPointDiffers", "compose", ("base", "camera"), "Insert the relation of 'camera' to 'base'",
         lambda: kit.pose() @ Pose(of="cup", in_frame="camera", transform=STILL)),
    case("InnerOrientationFrameDiffers", "compose", ("base", "tip"), "change_orientation_frame",
         lambda: kit.free_pose() @ kit.free_pose(in_frame="tip", reference_point="base", reference_body="gun")),
    case("InnerBodyDiffers", "compose", ("gun", "base"), "name it in both: body='gun'",
         lambda: kit.pose() @ Pose(of="tip", in_frame="base", transform=STILL)),
    case("CoordinateFrameDiffers", "compose", ("map", "sky"), "change_coordinate_frame",
         lambda: kit.free_pose() @ kit.free_pose(of="tip", in_frame="base", reference_body="gun", expressed_in="sky")),
    case("PointDiffers", "compose", ("base", "tip"), "change_point(Position.within('gun', point='base'",
         lambda: kit.linear_velocity(body="table") @ kit.linear_velocity(point="tip")),
    case("CoordinateFrameDiffers", "compose", ("map", "sky"), "change_coordinate_frame",
         lambda: kit.twist(body="table") @ kit.twist(expressed_in="sky")),
    case("PointDiffers", "compose", ("base", "tip"), "change_point",
         lambda: kit.twist(body="table") @ kit.twist(point="tip")),
    case("InnerBodyDiffers", "compose", ("arm", "table"), "Insert the relation of 'table' to 'arm'",
         lambda: kit.twist(body="arm") @ kit.twist()),
    case("InnerBodyDiffers", "compose", ("arm", "table"), "Insert",
         lambda: kit.angular_velocity(body="arm") @ kit.angular_velocity()),
    case("StampDiffers", "compose", ("1", "2"), ".stamped(None)",
         lambda: kit.pose(stamp=1) @ Pose(of="tip", in_frame="base", reference_body="gun", transform=STILL, stamp=2)),
    case("KindDiffers", "compose", ("a Pose", "a Twist"), "Pass a Pose", lambda: kit.pose() @ kit.twist()),
    case("KindDiffers", "compose", ("a Pose", "a Transform"), "pose.transform @ points", lambda: kit.pose() @ STILL),
    case("KindDiffers", "compose", ("a Pose", "an array"), "pose.transform @ points",
         lambda: kit.pose() @ np.zeros((500, 3))),
    case("KindDiffers", "compose", ("an Orientation", "an array"), "orientation.rotation @ vectors",
         lambda: kit.orientation() @ np.zeros(3)),
    case("KindDiffers", "compose", ("a Twist", "an int"), "Pass a Twist", lambda: kit.twist().compose(5)),
    case("RepresentationDiffers", "compose", ("Transform", "HomogeneousMatrix"), ".converted(representation)",
         lambda: kit.pose() @ kit.pose().inverse().converted(HOMOGENEOUS_MATRIX)),
    case("RelationMissing", "compose", ("angular_velocity", "none"), "AngularVelocity(body='table'",
         lambda: kit.linear_acceleration(body="table") @ kit.linear_acceleration()),
]  # fmt: skip

CHANGING = [
    case("CoordinateFrameDiffers", "change_point", ("map", "sky"), "change_coordinate_frame",
         lambda: kit.twist().change_point(kit.position(expressed_in="sky"))),
    case("HelperPointDiffers", "change_point", ("base", "tail"), "Position(reference_point='base'",
         lambda: kit.twist().change_point(kit.position(reference_point="tail"))),
    case("HelperBodiesDiffer", "change_point", ("arm", "gun"), "body='gun' and reference_body='gun'",
         lambda: kit.twist().change_point(kit.position(reference_body="arm"))),
    case("HelperBodyDiffers", "change_point", ("gun", "arm"), "fixed to 'gun'",
         lambda: kit.twist().change_point(kit.position(body="arm", reference_body="arm"))),
    case("HelperPointDiffers", "change_reference_point", ("corner", "tip"), "Position(point='corner'",
         lambda: stretch().change_reference_point(kit.position())),
    case("HelperBodyDiffers", "change_reference_point", ("table", "gun"), "fixed to 'table'",
         lambda: stretch().change_reference_point(kit.position(point="corner"))),
    case("HelperOrientationFrameDiffers", "change_orientation_frame", ("tip", "base"), "Orientation(in_frame='tip'",
         lambda: kit.orientation().change_orientation_frame(kit.orientation())),
    case("HelperBodyDiffers", "change_orientation_frame", ("gun", "arm"), "fixed to 'gun'",
         lambda: kit.orientation().change_orientation_frame(
             kit.orientation(in_frame="tip", body="arm", reference_body="arm"))),
    case("HelperOrientationFrameDiffers", "change_reference_orientation_frame", ("base", "tip"),
         "Orientation(of='base'",
         lambda: kit.orientation().change_reference_orientation_frame(kit.orientation())),
    case("HelperBodiesDiffer", "change_reference_orientation_frame", ("arm", "gun"), "body='gun'",
         lambda: kit.orientation().change_reference_orientation_frame(
             kit.orientation(of="base", in_frame="tail", reference_body="arm"))),
    case("HelperCoordinateFrameDiffers", "change_coordinate_frame", ("map", "tip"), "Orientation(of='map'",
         lambda: kit.twist().change_coordinate_frame(kit.orientation())),
    case("HelperCoordinateFrameDiffers", "change_coordinate_frame", ("map", "sky"), "or its .inverse()",
         lambda: kit.wrench().change_coordinate_frame(kit.orientation(of="sky", in_frame="map"))),
    case("BodyDiffers", "change_point", ("gun", "arm"), "body='gun'",
         lambda: kit.linear_velocity().change_point(
             kit.position(), angular_velocity=kit.angular_velocity(body="arm"))),
    case("ReferenceBodyDiffers", "change_point", ("table", "arm"), "'arm' relative to 'table'",
         lambda: kit.linear_velocity().change_point(
             kit.position(), angular_velocity=kit.angular_velocity(reference_body="arm"))),
    case("KindDiffers", "change_point", ("a Position", "an Orientation"), "Pass a Position",
         lambda: kit.twist().change_point(kit.orientation())),
    case("KindDiffers", "change_coordinate_frame", ("an Orientation", "a Rotation"), "Pass an Orientation",
         lambda: kit.twist().change_coordinate_frame(kit.QUARTER)),
    case("RelationMissing", "change_point", ("angular_velocity", "none"), "a Twist does. Pass angular_velocity=",
         lambda: kit.linear_velocity().change_point(kit.position())),
    case("RelationMissing", "change_point", ("force", "none"), "a Wrench does. Pass force=Force(body='gun'",
         lambda: kit.torque().change_point(kit.position())),
    case("KindDiffers", "change_point", ("a relation that has a point", "an AngularVelocity"), "'gun' turns alike",
         lambda: kit.angular_velocity().change_point(kit.position())),
    case("KindDiffers", "change_point", ("a relation that has a point", "an AngularAcceleration"), "'gun' turns alike",
         lambda: kit.angular_acceleration().change_point(kit.position(), angular_velocity=kit.angular_velocity())),
    case("KindDiffers", "change_point", ("a Torque or a Wrench", "a Force"), "use a Wrench",
         lambda: kit.force().change_point(kit.position())),
    *[case("KindDiffers", "change_reference_point", ("a Position or a Pose", name), "every point of 'table'",
           lambda value=value: value.change_reference_point(kit.position()))
      for name, value in (("a LinearVelocity", kit.linear_velocity()), ("an AngularVelocity", kit.angular_velocity()),
                          ("a Twist", kit.twist()), ("a LinearAcceleration", kit.linear_acceleration()),
                          ("an AngularAcceleration", kit.angular_acceleration()))],
    *[case("KindDiffers", "change_reference_point", ("a Position or a Pose", name), "'table' is the body that exerts",
           lambda value=value: value.change_reference_point(kit.position()))
      for name, value in (("a Force", kit.force()), ("a Torque", kit.torque()), ("a Wrench", kit.wrench()))],
    case("RelationMissing", "inverse", ("angular_velocity", "none"), "Pass angular_velocity=AngularVelocity(body='gun'",
         lambda: kit.linear_acceleration().inverse()),
    case("RelationMissing", "change_point", ("angular_acceleration", "none"), "Pass angular_acceleration=",
         lambda: kit.linear_acceleration().change_point(
             kit.position(), angular_velocity=kit.angular_velocity())),
]  # fmt: skip

JOINING = [
    case("BodyDiffers", "from_parts", ("gun", "arm"), "body='gun'",
         lambda: Twist.from_parts(kit.linear_velocity(), kit.angular_velocity(body="arm"))),
    case("ReferenceBodyDiffers", "from_parts", ("table", "arm"), "'arm' relative to 'table'",
         lambda: Twist.from_parts(kit.linear_velocity(), kit.angular_velocity(reference_body="arm"))),
    case("CoordinateFrameDiffers", "from_parts", ("map", "sky"), "change_coordinate_frame",
         lambda: Twist.from_parts(kit.linear_velocity(), kit.angular_velocity(expressed_in="sky"))),
    case("BodyDiffers", "from_parts", ("gun", "arm"), "body='gun'",
         lambda: Pose.from_parts(kit.position(), kit.orientation(body="arm"))),
    case("ReferenceBodyDiffers", "from_parts", ("gun", "arm"), "'arm' relative to 'gun'",
         lambda: Pose.from_parts(kit.position(), kit.orientation(reference_body="arm"))),
    case("BodyDiffers", "from_parts", ("gun", "arm"), "body='gun'",
         lambda: Wrench.from_parts(kit.force(body="arm"), kit.torque())),
    case("BodyDiffers", "add", ("gun", "arm"), "body='gun'", lambda: kit.force() + kit.force(body="arm")),
    case("PointDiffers", "add", ("base", "tip"), "change_point", lambda: kit.wrench() + kit.wrench(point="tip")),
    case("CoordinateFrameDiffers", "power", ("map", "sky"), "change_coordinate_frame",
         lambda: kit.wrench().power(kit.twist(expressed_in="sky"))),
    case("KindDiffers", "add", ("a Force, a Torque or a Wrench", "a Twist"), "a @ b, in this order",
         lambda: kit.twist(body="table", reference_body="map") + kit.twist()),
    case("KindDiffers", "add", ("a Force, a Torque or a Wrench", "an AngularVelocity"), "b @ a, the other way round",
         lambda: kit.angular_velocity() + kit.angular_velocity(body="table", reference_body="map")),
    case("KindDiffers", "add", ("a Force, a Torque or a Wrench", "a Position"), "where b starts from what a leads to",
         lambda: kit.position() + kit.position()),
    case("KindDiffers", "add", ("a Force, a Torque or a Wrench", "a Pose"), "Compose it with another Pose",
         lambda: kit.pose() + STILL),
    case("AmbiguousOrder", "compose_any",
         ("Position(b|b from b|b, in [map])", "Position(a|a from a|a, in [map])"), "Write the order you mean",
         lambda: compose_any(*there_and_back())),
    case("InnerBodyDiffers", "compose", ("arm", "gun"), "Insert",
         lambda: compose_any(kit.position(), stretch(body="arm"))),
]  # fmt: skip

REPRESENTING = [
    case("NotRepresentable", "make", ("Transform coordinates always have the points and axes of the two frames",
         "point='tip'"), "PositionQuaternion(xyz, rotation)", lambda: kit.pose(point="tip")),
    case("NotRepresentable", "change_coordinate_frame",
         ("Transform coordinates always have the points and axes of the two frames", "expressed_in='map'"),
         ".converted(POSITION_QUATERNION)",
         lambda: kit.pose().change_coordinate_frame(kit.orientation(of="corner", in_frame="map"))),
    case("NotRepresentable", "converted",
         ("HomogeneousMatrix coordinates always have the points and axes of the two frames", "expressed_in='map'"),
         "Use free coordinates", lambda: kit.free_pose().converted(HOMOGENEOUS_MATRIX)),
    case("NotRepresentable", "transform",
         ("Transform coordinates always have the points and axes of the two frames", "expressed_in='map'"),
         ".xyz and .rotation", lambda: kit.free_pose().transform),
    case("NotRepresentable", "make",
         ("a body twist is at the origin and along the axes of one frame on the body",
          "point='base', expressed_in='map'"), ".to_body(pose)",
         lambda: Twist(point="base", reference_body="map", coordinates=BodyTwist(**STOP))),
    case("NotRepresentable", "inverse",
         ("a hybrid twist is at a point of the body, along axes of the reference body",
          "point='base', expressed_in='map'"), ".converted(NATIVE)",
         lambda: Twist(point="base", reference_body="map", coordinates=HybridTwist(**STOP)).inverse()),
    case("NotRepresentable", "change_point",
         ("a spatial twist is at the origin and along the axes of one frame on the reference body",
          "point='tip', expressed_in='map'"), "Use free coordinates",
         lambda: Twist(point="map", body="gun", reference_body="map", coordinates=SpatialTwist(**STOP)).change_point(
             kit.position(reference_point="map"))),
    case("NotRepresentable", "change_coordinate_frame",
         ("a rotation is always along the axes of its reference frame 'base'", "'map'"),
         ".change_reference_orientation_frame to 'map'", lambda: kit.orientation(expressed_in="map")),
]  # fmt: skip

MOVING = [
    case("OrientationFrameDiffers", "between", ("base", "tip"), "two poses of the same frames",
         lambda: Twist.between(kit.pose(), kit.pose(of="tip"), duration_s=1.0)),
    case("BodyDiffers", "between", ("gun", "arm"), "body='gun'",
         lambda: Twist.between(kit.pose(), kit.pose(body="arm"), duration_s=1.0)),
    case("PointDiffers", "to_body", ("base", "tip"), "whose origin is the twist's point",
         lambda: kit.twist(point="tip", expressed_in="corner").to_body(kit.pose())),
    case("CoordinateFrameDiffers", "to_spatial", ("base", "map"), "whose axes are its axes",
         lambda: kit.twist().to_spatial(kit.pose())),
    case("NotRepresentable", "to_hybrid",
         ("it takes the pose of a frame in a frame", "a pose whose points or axes are not those of its frames"),
         "Pass the pose between the frames", lambda: kit.twist().to_hybrid(kit.free_pose())),
    case("ReferenceBodyDiffers", "integrate", ("table", "map"), "'map' relative to 'table'",
         lambda: kit.twist().integrate(kit.pose(reference_body="map"), 0.1)),
    case("KindDiffers", "power", ("a Twist", "a Wrench"), "Pass a Twist", lambda: kit.wrench().power(kit.wrench())),
]  # fmt: skip

CASES = [*MOVING, *COMPOSING, *CHANGING, *JOINING, *REPRESENTING]
UMBRELLAS = {errors.SemanticError, errors.NotNumeric}  # test_symbols.py has the other


def there_and_back():
    """From a to b, and back: together they lead from a to a, or from b to b."""
    there = Position(point="a", reference_point="b", expressed_in="map", coordinates=(1, 2, 3))
    return there, there.inverse()


class TestEachCheck:
    @pytest.mark.parametrize("case", CASES)
    def test_names_both_primitives_and_the_hint(self, case):
        error = case.error()
        assert type(error) is case.kind
        assert (error.operation, error.expected, error.found) == (case.operation, case.expected, case.found)
        assert case.hint in error.hint
        for part in (case.expected, case.found, case.hint):
            assert part in str(error)

    @pytest.mark.parametrize("again", [copy.copy, lambda error: pickle.loads(pickle.dumps(error))])
    def test_survives_a_copy_with_its_evidence(self, again):
        error = CASES[0].values[0].error()
        twin = again(error)
        assert (type(twin), str(twin), twin.found) == (type(error), str(error), error.found)

    def test_leans_on_a_builtin(self):
        assert issubclass(errors.SemanticError, ValueError)
        assert issubclass(errors.KindDiffers, TypeError)

    def test_is_made_at_least_once(self):
        made = {parameter.values[0].kind for parameter in CASES}
        semantic = {kind for kind in RELATIONS if issubclass(kind, errors.SemanticError)} - {errors.ConstraintViolation}
        assert semantic - made - UMBRELLAS == set()


class TestSentences:
    def test_quote_names_only(self):
        with pytest.raises(errors.PointDiffers, match="its point 'tip' is not the origin of 'base' or 'corner'"):
            kit.twist(point="tip", expressed_in="corner").to_body(kit.pose())

    def test_do_not_repeat_arrays(self):
        with pytest.raises(errors.KindDiffers, match=r"@ an array of shape \(500, 3\)"):
            kit.pose() @ np.zeros((500, 3))

    def test_say_where_to_import_from(self):
        with pytest.raises(errors.NotRepresentable, match=r"from armillary\.relations import POSITION_QUATERNION"):
            kit.pose(point="tip")
        body = Twist(point="tip", body="gun", reference_body="table", expressed_in="tip", coordinates=BodyTwist(**STOP))
        with pytest.raises(errors.NotRepresentable, match=r"from armillary\.relations import NATIVE"):
            body.change_point(kit.position(reference_point="tip", expressed_in="tip"))


class TestAnOrientationAlongItsOwnAxes:
    def test_needs_no_change(self):
        given = kit.orientation()
        same = Orientation(of="base", in_frame="base", coordinates=kit.QUARTER)
        assert given.change_coordinate_frame(same) == given


class TestMixingTransformsWithFreePoses:
    def test_gives_a_free_pose(self):
        free = kit.pose().inverse().converted(POSITION_QUATERNION)
        assert (kit.pose() @ free).is_close(kit.pose() @ kit.pose().inverse())
