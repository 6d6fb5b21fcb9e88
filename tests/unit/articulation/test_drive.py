"""What a model says to a world: the native forms move as the expressions do."""

from __future__ import annotations

import numpy as np
import pytest

from armillary import Transform, World, seconds
from armillary.articulation import AddJoint, FixedJoint
from armillary.articulation.drive import drive_of
from armillary.articulation.joints import ClosedForm, TapeForm
from armillary.scene import AddJoints, Drive
from unit.articulation.model_kit import add_link, arm, door, moved
from unit.articulation.test_joints import KINDS, ORIGIN, TOOL, made

CLOSE_M = CLOSE_RAD = 1e-12
NATIVE = [name for name in KINDS if name != "fixed"]


def driven(form: ClosedForm, interpolations) -> World:
    world = World()
    world.apply([AddJoints(interpolations), Drive(of="child", in_frame="parent", form=form)])
    return world


@pytest.mark.parametrize("name", NATIVE)
class TestEveryJointOfTheNativeCore:
    def test_is_where_its_expression_evaluates_to(self, name):
        joint, values, _ = made(name, parent_T_joint=ORIGIN)
        world = driven(joint.closed_form, joint.interpolations)
        world.set_joints({variable.name: value for variable, value in values.items()}, at=seconds(1))
        found = world.pose(of="child", in_frame="parent", at=seconds(1)).transform
        assert found.is_close(joint.parent_T_child.evaluate(values), m=CLOSE_M, rad=CLOSE_RAD)

    def test_moves_as_its_expression_says(self, name):
        joint, values, _ = made(name, parent_T_joint=ORIGIN)
        world, speeds = driven(joint.closed_form, joint.interpolations), np.linspace(0.1, 0.5, len(values))
        if name in {"ball", "floating"}:
            wxyz = np.array(list(values.values())[-4:])
            speeds[-4:] -= wxyz * np.dot(wxyz, speeds[-4:])
        names = [variable.name for variable in values]
        given = dict(zip(names, map(float, speeds), strict=True))
        world.set_joints(dict(zip(names, values.values(), strict=True)), at=seconds(1), velocities=given)
        twist = world.twist(of="child", relative_to="parent", expressed_in="child", at=seconds(1))
        expected = joint.parent_T_child.body_jacobian(joint.velocities).evaluate(values) @ speeds
        np.testing.assert_allclose([*twist.linear, *twist.angular], expected, atol=1e-11)


class TestADrive:
    def test_gives_each_link_its_cheapest_form(self):
        model = door()
        add_link(model, "door/links/plate", "door/links/panel", FixedJoint(parent_T_joint=moved(x=0.3)))
        found = {each.link: each for each in drive_of(model).links}
        assert found["door/links/plate"].form == moved(x=0.3)
        assert found["door/links/frame"].form == Transform.identity()
        assert isinstance(found["door/links/panel"].form, ClosedForm)
        assert found["door/links/bolt"].form.multiplier == -0.1
        assert found["door/links/bolt"].parent == "door/links/panel"

    def test_names_carriers_first(self):
        order = [each.link for each in drive_of(arm()).links]
        assert order == [f"arm/links/{name}" for name in ("base", "upper", "lower", "tip")]

    def test_says_how_variables_go_on(self):
        assert drive_of(door()).interpolations == {"door/hinge": "linear", "door/latch": "linear"}

    def test_may_be_of_a_part(self):
        assert [each.link for each in drive_of(arm(), "arm/links/tip").links] == ["arm/links/tip"]

    def test_compiles_only_what_is_new(self):
        model = arm()
        joint, _, _ = made("revolute", joint_T_child=TOOL)
        add_link(model, "arm/links/tool", "arm/links/tip", joint)
        before = {each.link: each.form for each in drive_of(model).links}
        assert isinstance(before["arm/links/tool"], TapeForm)
        model.apply(AddJoint(path="arm/links/tip_joint", joint=FixedJoint()), tag="create arm/links/tip_joint")
        after = {each.link: each.form for each in drive_of(model).links}
        assert after["arm/links/tool"] is before["arm/links/tool"]
        assert after["arm/links/tip"] == Transform.identity()
