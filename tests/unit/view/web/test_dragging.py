"""Moving joints by sliders."""

from __future__ import annotations

import math

import numpy as np
import pytest

from armillary import LATEST, Transform, World, seconds
from armillary.articulation import ArticulationModel
from armillary.articulation.mechanisms import four_bar, locking_compartment
from armillary.errors import ArmillaryError, InvalidArgument
from armillary.view.web import rest_joints
from armillary.view.web._dragging import movables, positions
from unit.kit import FakeClock

ROBOT = """
<robot name="arm">
  <link name="base"/><link name="upper"/><link name="slide"/><link name="wheel"/><link name="twin"/>
  <joint name="shoulder" type="revolute">
    <parent link="base"/><child link="upper"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="2" velocity="1" effort="1"/>
  </joint>
  <joint name="lift" type="prismatic">
    <parent link="upper"/><child link="slide"/><axis xyz="1 0 0"/>
    <limit lower="0.1" upper="0.4" velocity="1" effort="1"/>
  </joint>
  <joint name="roll" type="continuous"><parent link="slide"/><child link="wheel"/><axis xyz="0 1 0"/></joint>
  <joint name="follower" type="revolute">
    <parent link="base"/><child link="twin"/><axis xyz="0 0 1"/><mimic joint="shoulder" multiplier="2"/>
    <limit lower="-1" upper="2" velocity="1" effort="1"/>
  </joint>
</robot>
"""


@pytest.fixture
def arm():
    with World(clock=FakeClock(seconds(5.0))) as world:
        model = ArticulationModel()
        model.load_urdf(ROBOT, name="arm")
        world.mount(model, in_frame="map")
        yield world


def only(world: World):
    (movable,) = movables(world)
    return movable


class TestHandles:
    def test_have_the_limits_of_the_model(self, arm):
        limits = {handle.joint: (handle.lower, handle.upper) for handle in only(arm).handles}
        # The follower turns twice as far, and its own limits bound what it follows.
        assert limits["arm/shoulder"] == (-0.5, 1.0)
        assert limits["arm/lift"] == (0.1, 0.4)
        assert limits["arm/roll"] == (-math.pi, math.pi)

    def test_are_not_there_for_joints_that_follow_others(self, arm):
        assert {handle.joint for handle in only(arm).handles} == {"arm/shoulder", "arm/lift", "arm/roll"}

    def test_report_which_have_no_limits(self, arm):
        assert [handle.joint for handle in only(arm).handles if not handle.is_bounded] == ["arm/roll"]

    def test_show_an_angle_without_its_whole_turns(self, arm):
        (roll,) = [handle for handle in only(arm).handles if handle.wraps]
        assert roll.within(2.0 * math.pi + 0.5) == pytest.approx(0.5)

    def test_show_what_is_beyond_its_limits_at_them(self, arm):
        (lift,) = [handle for handle in only(arm).handles if handle.joint == "arm/lift"]
        assert lift.within(9.0) == 0.4

    def test_are_none_without_a_model(self, world):
        assert movables(world) == ()


class TestResting:
    def test_gives_every_joint_a_position_within_its_limits(self, arm):
        with pytest.raises(ArmillaryError):
            arm.pose(of="arm/wheel", in_frame="map")
        only(arm).rest(arm)
        assert positions(arm, LATEST) == {"arm/shoulder": 0.0, "arm/lift": 0.1, "arm/roll": 0.0}
        assert arm.pose(of="arm/wheel", in_frame="map").transform.translation == pytest.approx([0.1, 0, 0])

    def test_changes_nothing_where_all_were_given(self, arm):
        arm.set_joints({"arm/shoulder": 0.5, "arm/lift": 0.2, "arm/roll": 1.0}, at=seconds(1.0))
        only(arm).rest(arm)
        assert arm.joint("arm/lift").stamp == seconds(1.0)


class TestDragging:
    def test_moves_one_joint_and_leaves_the_others(self, arm):
        arm.set_joints({"arm/shoulder": 0.5, "arm/lift": 0.2, "arm/roll": 1.0}, at=seconds(1.0))
        only(arm).drag(arm, "arm/lift", 0.3)
        assert positions(arm, LATEST) == {"arm/shoulder": 0.5, "arm/lift": 0.3, "arm/roll": 1.0}

    def test_is_seen_at_once_by_who_asks_for_the_newest(self, arm):
        only(arm).rest(arm)
        only(arm).drag(arm, "arm/lift", 0.3)
        only(arm).drag(arm, "arm/shoulder", 1.0)
        expected = Transform.from_xyz_rpy(xyz=(0, 0, 0), rpy=(0, 0, 1.0)) @ np.array([0.3, 0, 0])
        assert arm.pose(of="arm/slide", in_frame="map").transform.translation == pytest.approx(expected)

    def test_leaves_the_past_as_it_was(self, arm):
        arm.set_joints({"arm/shoulder": 0.5, "arm/lift": 0.2, "arm/roll": 1.0}, at=seconds(1.0))
        only(arm).drag(arm, "arm/lift", 0.3)
        assert positions(arm, seconds(1.0))["arm/lift"] == 0.2

    def test_is_the_newest_in_the_world(self, arm):
        only(arm).rest(arm)
        arm.set_pose(of="crate", in_frame="map", transform=Transform.identity(), at=seconds(5.5))
        assert only(arm).drag(arm, "arm/lift", 0.3) == seconds(5.5) + 1

    def test_goes_on_where_stamps_are_not_of_the_clock_of_the_world(self, arm):
        arm.set_joints({"arm/shoulder": 0.5, "arm/lift": 0.2, "arm/roll": 1.0}, at=seconds(1e6))
        assert seconds(1e6) < only(arm).drag(arm, "arm/lift", 0.3) < seconds(1e6 + 1.0)

    def test_refuses_what_the_model_forbids_with_the_reason(self, arm):
        only(arm).rest(arm)
        with pytest.raises(InvalidArgument, match=r"cannot go to 0\.9.*lift"):
            only(arm).drag(arm, "arm/lift", 0.9)
        assert positions(arm, LATEST)["arm/lift"] == 0.1


class TestALock:
    @pytest.fixture
    def safe(self):
        with World(clock=FakeClock(seconds(5.0))) as world:
            model = ArticulationModel()
            model.edit(locking_compartment("safe"))
            world.mount(model, in_frame="map")
            world.set_joints({"safe/door": 0.0, "safe/handle": 0.7}, at=seconds(1.0))
            yield world

    def test_holds_the_door(self, safe):
        with pytest.raises(InvalidArgument, match="lock"):
            only(safe).drag(safe, "safe/door", 0.5)

    def test_lets_it_go_once_the_handle_is_pushed(self, safe):
        only(safe).drag(safe, "safe/handle", 0.1)
        only(safe).drag(safe, "safe/door", 0.5)
        assert positions(safe, LATEST)["safe/door"] == 0.5

    def test_does_not_hinder_closing(self, safe):
        safe.set_joints({"safe/door": 0.5, "safe/handle": 0.7}, at=seconds(2.0))
        only(safe).drag(safe, "safe/door", 0.0)
        assert positions(safe, LATEST)["safe/door"] == 0.0


class TestALoop:
    @pytest.fixture
    def linkage(self):
        with World(clock=FakeClock(seconds(5.0))) as world:
            model = ArticulationModel()
            model.edit(four_bar("linkage"))
            world.mount(model, in_frame="map")
            rest_joints(world)
            yield world

    def test_has_a_handle_for_what_drives_it_alone(self, linkage):
        (handle,) = only(linkage).handles
        assert handle.joint == "linkage/crank"
        assert set(linkage.joints()) == {"linkage/crank", "linkage/coupler", "linkage/rocker"}

    def test_stays_closed_while_it_is_dragged(self, linkage):
        (handle,) = only(linkage).handles
        before = positions(linkage, LATEST)
        only(linkage).drag(linkage, handle.joint, 0.6)
        after = positions(linkage, LATEST)
        assert all(after[joint] != before[joint] for joint in before)
        pin_in_map = [
            linkage.pose(of=f"linkage/{link}", in_frame="map").transform @ (length_m, 0.0, 0.0)
            for link, length_m in (("coupler", 0.3), ("rocker", 0.25))
        ]
        np.testing.assert_allclose(*pin_in_map, atol=1e-9)
