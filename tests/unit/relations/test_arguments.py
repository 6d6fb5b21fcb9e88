"""The arguments of relations, and the errors that explain other names."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from armillary import relations
from armillary.errors import InvalidArgument
from armillary.relations import (
    AngularAcceleration,
    AngularVelocity,
    Force,
    LinearAcceleration,
    LinearVelocity,
    Orientation,
    Pose,
    Position,
    Torque,
    Twist,
    storage,
)
from armillary.relations._arguments import REASONS, SIGNATURES
from unit.relations import kit

NUMBERS = (1.0, 2.0, 3.0)
AT_A_POINT = {"point": "tip", "body": "gun", "reference_body": "table"}
OF_A_BODY = {"body": "gun", "reference_body": "table"}
OF_A_FRAME = {"of": "tip", "in_frame": "base"}
FROM_A_POINT = {"point": "tip", "reference_point": "base"}
VECTORS = [
    (Position, FROM_A_POINT),
    (LinearVelocity, AT_A_POINT),
    (AngularVelocity, OF_A_BODY),
    (Force, OF_A_BODY),
    (Torque, AT_A_POINT),
    (LinearAcceleration, AT_A_POINT),
    (AngularAcceleration, OF_A_BODY),
]
NAMES = {kind.__name__: names for kind, names in VECTORS}
NAMES |= {"Orientation": OF_A_FRAME, "Pose": OF_A_FRAME, "Twist": AT_A_POINT, "Wrench": AT_A_POINT}
PARTS = {
    "Orientation": {"rotation": kit.QUARTER},
    "Pose": {"transform": kit.SOME},
    "Twist": {"linear": NUMBERS, "angular": NUMBERS},
    "Wrench": {"force": NUMBERS, "torque": NUMBERS},
}


def made(kind: str, **more):
    return getattr(relations, kind)(**NAMES[kind], **PARTS.get(kind, {"xyz": NUMBERS}), **more)


class TestTheNumbersOfAVector:
    @pytest.mark.parametrize(("kind", "names"), VECTORS, ids=lambda x: getattr(x, "__name__", ""))
    def test_are_written_as_they_are_read(self, kind, names):
        assert kind(**names, xyz=NUMBERS) == kind(**names, coordinates=NUMBERS)
        assert kind(**names, xyz=NUMBERS).xyz.tolist() == list(NUMBERS)

    @pytest.mark.parametrize(("kind", "names"), VECTORS, ids=lambda x: getattr(x, "__name__", ""))
    def test_are_given_once(self, kind, names):
        for wrong in ({}, {"xyz": NUMBERS, "coordinates": NUMBERS}):
            with pytest.raises(InvalidArgument, match=f"{kind.__name__} takes either xyz= or coordinates="):
                kind(**names, **wrong)

    def test_are_three(self):
        with pytest.raises(InvalidArgument, match=r"xyz must have shape \(3,\)"):
            Position(**FROM_A_POINT, xyz=(1, 2))


class TestTheNumbersOfAnOrientation:
    def test_are_written_as_they_are_read(self):
        turned = Orientation(**OF_A_FRAME, rotation=kit.QUARTER)
        assert turned == Orientation(**OF_A_FRAME, coordinates=kit.QUARTER)
        assert turned.rotation == kit.QUARTER

    def test_are_given_once(self):
        for wrong in ({}, {"rotation": kit.QUARTER, "coordinates": kit.QUARTER}):
            with pytest.raises(InvalidArgument, match="Orientation takes either rotation= or coordinates="):
                Orientation(**OF_A_FRAME, **wrong)

    def test_are_a_rotation_or_coordinates(self):
        with pytest.raises(InvalidArgument, match=r"got an array.*pass it as coordinates="):
            Orientation(**OF_A_FRAME, rotation=np.eye(3))


class TestALeverArm:
    def test_is_within_one_body(self):
        arm = Position.within("gun", point="tip", reference_point="base", xyz=NUMBERS, expressed_in="map")
        assert arm == kit.position()
        assert kit.twist().change_point(arm).point == "tip"

    def test_is_along_the_axes_of_its_start_unless_told_otherwise(self):
        assert Position.within("gun", point="tip", reference_point="base", xyz=NUMBERS).expressed_in == "base"


class TestAnArgumentThatDoesNotExist:
    @pytest.mark.parametrize(
        ("kind", "name", "sentence"),
        [
            ("Twist", "reference_point", "a velocity has no reference point: it is the same seen from every point"),
            ("LinearVelocity", "reference_point", "a velocity has no reference point"),
            ("LinearAcceleration", "reference_point", "an acceleration has no reference point"),
            ("AngularVelocity", "reference_point", "an angular velocity has no reference point"),
            ("AngularVelocity", "point", "an angular velocity has no point: all of a body turns alike"),
            ("AngularAcceleration", "point", "an angular acceleration has no point"),
            ("Force", "point", r"a force has no point.*Wrench\(point=\.\.\.\)"),
            ("Wrench", "reference_point", "a wrench has no reference point: reference_body= is the body that exerts"),
            ("Orientation", "point", "an orientation has no point: axes have directions, and no place"),
            ("Twist", "of", "the point that moves is point="),
            ("Twist", "relative_to", "what it is relative to is reference_body="),
            ("Twist", "in_frame", "the axes of the numbers are expressed_in="),
            ("Twist", "velocity", r"Twist\.from_parts"),
            ("AngularVelocity", "of", "the body that turns is body="),
            ("Pose", "relative_to", "what it is seen from is in_frame="),
            ("Pose", "child_frame_id", "the frame that is placed is of="),
            ("Pose", "rotation", r"coordinates=PositionQuaternion\(xyz, rotation\)"),
            ("Pose", "position", r"Pose\.from_parts\(position, orientation\)"),
            ("Position", "of", "the point is point="),
            ("Position", "in_frame", "what it is measured from is reference_point="),
            ("Force", "by", "the body that exerts it is reference_body="),
            ("Torque", "force", "its numbers are xyz="),
            ("Wrench", "about", "the point it is taken about is point="),
            ("Twist", "expresed_in", "did you mean expressed_in="),
            ("Force", "colour", "it takes body=, reference_body=, expressed_in=, xyz=, coordinates="),
        ],
    )
    def test_is_explained(self, kind, name, sentence):
        with pytest.raises(TypeError, match=f"{kind} takes no {name}=: .*{sentence}") as caught:
            made(kind, **{name: "table"})
        assert isinstance(caught.value, InvalidArgument)

    @pytest.mark.parametrize("kind", SIGNATURES)
    def test_has_a_sentence_that_fits(self, kind):
        for name in REASONS[kind]:
            assert name not in (*SIGNATURES[kind].needs, *SIGNATURES[kind].takes)
            with pytest.raises(InvalidArgument) as caught:
                made(kind, **{name: "x"})
            assert "{" not in str(caught.value)

    def test_does_not_hide_another(self):
        with pytest.raises(InvalidArgument, match=r"takes no of=.*takes no relative_to="):
            Twist(of="tip", relative_to="table", linear=NUMBERS, angular=NUMBERS)


class TestACall:
    @pytest.mark.parametrize("kind", SIGNATURES)
    def test_by_position_is_refused(self, kind):
        with pytest.raises(InvalidArgument, match=rf"{kind} takes names only.*{kind}\({SIGNATURES[kind].needs[0]}="):
            getattr(relations, kind)("tip", "table")

    @pytest.mark.parametrize("kind", SIGNATURES)
    def test_without_a_name_says_which(self, kind):
        needs = SIGNATURES[kind].needs
        with pytest.raises(InvalidArgument, match=f"{kind} also needs {needs[1]}="):
            getattr(relations, kind)(**{needs[0]: "tip"})

    def test_that_fails_for_another_reason_says_that(self):
        with pytest.raises(TypeError, match="not iterable"):
            made("Pose", relations=5)

    @pytest.mark.parametrize("kind", SIGNATURES)
    def test_is_explained_as_it_is(self, kind):
        parameters = dict(inspect.signature(getattr(relations, kind)).parameters)
        origin = parameters.pop("origin", None)
        needed = tuple(name for name, each in parameters.items() if each.default is each.empty)
        assert needed == SIGNATURES[kind].needs
        origins = () if origin is None else getattr(storage, origin.annotation[len("Unpack[") : -1]).__optional_keys__
        assert {*parameters, *origins} == {*SIGNATURES[kind].needs, *SIGNATURES[kind].takes}


class TestAHelper:
    """A pose, where one of its parts is needed."""

    def test_turns_by_its_orientation(self):
        sky = Pose(of="map", in_frame="sky", transform=kit.SOME)
        for value in (kit.position(), kit.twist(), kit.wrench(), kit.free_pose()):
            assert value.change_coordinate_frame(sky) == value.change_coordinate_frame(sky.orientation)

    def test_moves_by_its_position(self):
        tip = Pose(of="tip", in_frame="base", body="gun", reference_body="gun", transform=kit.SOME)
        base = kit.twist(expressed_in="base")
        assert base.change_point(tip) == base.change_point(tip.position)

    def test_is_checked_like_the_part(self):
        with pytest.raises(ValueError, match="the helper's two bodies 'table' and 'gun' differ"):
            kit.twist(point="corner", expressed_in="corner").change_point(kit.pose())


class TestCloseness:
    def test_of_what_is_exerted_has_its_own_units(self):
        push = kit.wrench()
        other = kit.wrench(force=(1.0, 2.0, 3.1), torque=(4.0, 5.0, 6.5))
        assert push.is_close(other, n=0.2, nm=0.6)
        assert push.is_close(other, m=0.2, rad=0.6)
        assert not push.is_close(other, n=0.2)
        assert not push.is_close(other, nm=0.6)
        assert push.as_force.is_close(other.as_force, n=0.2)
        assert push.as_torque.is_close(other.as_torque, nm=0.6)
        assert not push.as_torque.is_close(other.as_torque, m=1.0)
