"""Laws of reading and writing, over robots drawn at random."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given

from armillary.formats import read_urdf, urdf_losses, write_urdf
from unit.formats.likeness import differences
from unit.formats.random_robots import robots


class TestURDF:
    @given(robots())
    def test_writes_all_that_it_can_express(self, robot):
        assert urdf_losses(robot) == ()
        assert differences(robot, read_urdf(write_urdf(robot))) == []

    @given(robots())
    def test_says_the_same_of_joints_in_any_order(self, robot):
        turned = replace(robot, joints=robot.joints[::-1], links=robot.links[::-1])
        assert differences(turned, read_urdf(write_urdf(turned))) == []
        assert set(turned.joints_from_root) == set(robot.joints)
