"""Written URDF reads back to the same robot, and what it cannot express is listed."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armillary import Transform, errors
from armillary.formats import (
    JointDescription,
    Limits,
    LinkDescription,
    Material,
    OtherForm,
    RobotDescription,
    ShapeDescription,
    SphereForm,
    read_urdf,
    urdf_losses,
    write_urdf,
)
from strategies import transforms
from unit.formats.likeness import differences
from unit.formats.motions import link_poses

OFF = Transform.from_xyz_rpy(xyz=(0.1, 0.2, 0.3), rpy=(0.3, -0.2, 0.9))
LIMITS = Limits(lower=-1.0, upper=1.0, velocity=1.0, effort=1.0)


def pair(kind="continuous", **joint):
    links = (LinkDescription(name="a"), LinkDescription(name="b"))
    return RobotDescription(
        name="two",
        links=links,
        root="a",
        joints=(JointDescription(name="j", kind=kind, parent="a", child="b", **joint),),
    )


def lone(**shape):
    link = LinkDescription(name="a", **shape)
    return RobotDescription(name="one", links=(link,), joints=(), root="a")


CANNOT = [
    (pair("screw", pitch_m=0.01), "the joint 'j' is of the kind 'screw'"),
    (pair("ball"), "kind 'ball'"),
    (pair("universal", second_axis=(0.0, 1.0, 0.0)), "kind 'universal'"),
    (pair("revolute"), "the revolute joint 'j' moves without limits"),
    (pair("prismatic", limits=Limits(lower=0.0)), "the prismatic joint 'j' moves without limits"),
    (pair("continuous", joint_T_child=OFF), "the link 'b' does not sit on the axis of the joint 'j'"),
    (pair("floating", joint_T_child=OFF), "does not sit on the axis"),
    (lone(visuals=(ShapeDescription(form=OtherForm("plane")),)), "a shape of the link 'a' is a plane"),
    (lone(collisions=(ShapeDescription(form=SphereForm(1.0), material=Material("x")),)), "has a material"),
]


class TestWhatUrdfCannotSay:
    @pytest.mark.parametrize(("robot", "loss"), CANNOT, ids=[loss for _, loss in CANNOT])
    def test_is_refused_and_named(self, robot, loss):
        with pytest.raises(errors.CannotSayInUrdf, match=loss) as caught:
            write_urdf(robot)
        assert caught.value.missing == urdf_losses(robot)
        assert len(caught.value.missing) == 1

    @pytest.mark.parametrize(
        "robot", [robot for robot, _ in CANNOT if robot.joints[:1] and "revolute" not in str(robot)]
    )
    def test_is_left_out_on_demand(self, robot):
        again = read_urdf(write_urdf(robot, lossy=True))
        assert [joint.name for joint in again.joints] == [joint.name for joint in robot.joints]

    def test_is_named_all_at_once(self):
        loop = JointDescription(name="k", kind="fixed", parent="b", child="a")
        robot = RobotDescription(
            name="two\n", links=pair().links, joints=pair("ball").joints, root="a", closures=(loop,), origin_T_root=OFF
        )
        named = ["the root 'a'", "the joint 'k' closes", "the joint 'j' is", "the name 'two\\n'"]
        assert [loss.startswith(start) for loss, start in zip(urdf_losses(robot), named, strict=True)] == [True] * 4
        assert read_urdf(write_urdf(robot, lossy=True)).name == "two_"

    @pytest.mark.parametrize("kind", ["fixed", "prismatic"])
    def test_is_not_a_child_beside_what_slides(self, kind):
        robot = pair(kind, joint_T_child=OFF, axis=(0.0, 0.6, 0.8), limits=LIMITS)
        again = read_urdf(write_urdf(robot))
        for position in (0.0, 0.7):
            there, here = (link_poses(one, {"j": position})["b"] for one in (robot, again))
            assert there.is_close(here)

    def test_is_not_a_child_on_the_axis(self):
        robot = pair("continuous", joint_T_child=Transform.exp([0.0, 0.3, 0.4, 1.0, 0.0, 0.0]), axis=(1.0, 0.0, 0.0))
        on_axis = pair("continuous", joint_T_child=Transform.exp([0.5, 0.0, 0.0, 1.0, 0.0, 0.0]), axis=(1.0, 0.0, 0.0))
        assert urdf_losses(robot) != ()
        there, here = (link_poses(one, {"j": 0.7})["b"] for one in (on_axis, read_urdf(write_urdf(on_axis))))
        assert there.is_close(here)


def turned_up(place, off_rad):
    """Its roll and yaw, with a pitch at which they hardly differ."""
    roll, _, yaw = place.rotation.rpy
    return Transform.from_xyz_rpy(xyz=place.translation, rpy=(roll, math.pi / 2 - off_rad, yaw))


class TestWhatIsWritten:
    @given(transforms(), st.sampled_from([0.0, 1e-3, 1e-6, 1e-8, 1e-12]), st.sampled_from([-1.0, 1.0]))
    def test_is_at_the_same_place_when_it_is_read(self, place, off_rad, side):
        upright = Transform.from_xyz_rpy(xyz=(0, 0, 0), rpy=(0, side * (math.pi / 2 - off_rad), 0))
        for placed in (place, place @ upright, upright @ place, turned_up(place, off_rad)):
            robot = pair(parent_T_joint=placed)
            assert differences(robot, read_urdf(write_urdf(robot))) == []

    @given(st.floats(allow_nan=False, allow_infinity=False), st.floats(0.0, 1e300))
    def test_is_the_same_to_the_last_digit(self, lower, width):
        limits = Limits(lower=lower, upper=max(lower, lower + width) if math.isfinite(lower + width) else lower)
        robot = pair("prismatic", limits=limits)
        assert read_urdf(write_urdf(robot)).joints[0].limits == limits

    @pytest.mark.parametrize("name", ["a b", "Größe", 'quo"te', "a<b>&c", "日本"])
    def test_may_have_any_name(self, name):
        robot = RobotDescription(name=name, links=(LinkDescription(name=name),), joints=(), root=name)
        assert read_urdf(write_urdf(robot)) == robot

    def test_goes_to_a_file(self, tmp_path):
        text = write_urdf(pair(), tmp_path / "two.urdf")
        assert (tmp_path / "two.urdf").read_text() == text + "\n"
        assert differences(read_urdf(tmp_path / "two.urdf"), pair()) == []
