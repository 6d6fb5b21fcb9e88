"""What SDFormat says: frames in any order, models in models, joints that URDF does not know."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from armillary import Transform, errors
from armillary.formats import (
    BoxForm,
    CapsuleForm,
    Dynamics,
    Limits,
    Material,
    MeshForm,
    Mimic,
    OtherForm,
    RobotDescription,
    read_sdf,
    urdf_losses,
    write_urdf,
)
from unit.formats.kit import robot_file
from unit.formats.motions import link_poses

TWO = '<link name="a"/><link name="b"><pose>0 0 1 0 0 0</pose></link>'


def sdf(inside: str, version: str = "1.9") -> str:
    return f'<sdf version="{version}">\n{inside}\n</sdf>'


def model(inside: str, version: str = "1.9", more: str = "") -> str:
    return sdf(f'<model name="m" {more}>\n{inside}\n</model>', version)


def one(text: str, **given) -> RobotDescription:
    (found,) = read_sdf(text, **given)
    return found


def joint(kind: str, inside: str = "", ends: str = "<parent>a</parent><child>b</child>") -> str:
    return f'<joint name="j" type="{kind}">{ends}{inside}</joint>'


def joined(kind: str, inside: str = "", version: str = "1.9"):
    return one(model(TWO + joint(kind, inside), version)).joints[0]


def at(x=0.0, y=0.0, z=0.0, yaw=0.0):
    return Transform.from_xyz_rpy(xyz=(x, y, z), rpy=(0.0, 0.0, yaw))


class TestAJoint:
    @pytest.mark.parametrize("kind", ["fixed", "continuous", "prismatic", "ball"])
    def test_is_of_the_kind_that_it_says(self, kind):
        assert joined(kind).kind == kind

    def test_sits_in_its_child_unless_it_says_otherwise(self):
        assert (joined("ball").parent_T_joint, joined("ball").joint_T_child) == (at(z=1.0), at())
        lower = joined("ball", "<pose>0 0 -0.25 0 0 0</pose>")
        assert (lower.parent_T_joint, lower.joint_T_child) == (at(z=0.75), at(z=0.25))
        above = joined("ball", '<pose relative_to="a">0 0 3 0 0 0</pose>')
        assert (above.parent_T_joint, above.joint_T_child) == (at(z=3.0), at(z=-2.0))

    def test_that_turns_without_end_is_continuous(self):
        endless = "<axis><xyz>0 0 1</xyz><limit><lower>-1e16</lower><upper>inf</upper></limit></axis>"
        assert (joined("revolute", endless).kind, joined("revolute", endless).limits) == ("continuous", None)

    def test_has_limits_and_dynamics(self):
        limits = "<limit><lower>-1</lower><upper>2</upper><velocity>3</velocity><effort>-1</effort></limit>"
        found = joined("revolute", f"<axis>{limits}<dynamics><damping>4</damping></dynamics></axis>")
        assert found.limits == Limits(lower=-1.0, upper=2.0, velocity=3.0, effort=None)
        assert (found.dynamics, found.axis) == (Dynamics(damping=4.0), (0.0, 0.0, 1.0))

    @pytest.mark.parametrize("kind", ["universal", "revolute2"])
    def test_may_have_two_axes(self, kind):
        axes = "<axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 2 0</xyz><limit><upper>1</upper></limit></axis2>"
        found = joined(kind, axes)
        assert (found.axis, found.second_axis) == ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
        assert found.second_limits == Limits(upper=1.0)

    @pytest.mark.parametrize(
        ("inside", "pitch_m"),
        [
            ("<screw_thread_pitch>0.5</screw_thread_pitch>", 0.5),
            (f"<thread_pitch>{-4 * math.pi}</thread_pitch>", 0.5),
            ("<screw_thread_pitch>0.2</screw_thread_pitch><thread_pitch>7</thread_pitch>", 0.2),
            ("", 1.0),
        ],
    )
    def test_may_be_a_screw(self, inside, pitch_m):
        assert joined("screw", inside).pitch_m == pytest.approx(pitch_m)

    @pytest.mark.parametrize(
        ("axis", "version"),
        [
            ("<xyz>1 0 0</xyz><use_parent_model_frame>1</use_parent_model_frame>", "1.6"),
            ("<xyz>1 0 0</xyz>", "1.4"),
            ('<xyz expressed_in="__model__">1 0 0</xyz>', "1.10"),
            ("<xyz>0 -1 0</xyz>", "1.10"),
        ],
    )
    def test_may_have_its_axis_in_another_frame(self, axis, version):
        turned = f'<link name="a"/><link name="b"><pose>0 0 0 0 0 {math.pi / 2}</pose></link>'
        found = one(model(turned + joint("continuous", f"<axis>{axis}</axis>"), version)).joints[0]
        np.testing.assert_allclose(found.axis, (0.0, -1.0, 0.0), atol=1e-12)

    def test_may_follow_another_one(self):
        follow = '<mimic joint="j"><multiplier>2</multiplier><offset>1</offset><reference>3</reference></mimic>'
        second = '<joint name="k" type="continuous"><parent>b</parent><child>c</child>'
        text = f'{TWO}<link name="c"/>{joint("continuous")}{second}<axis>{follow}</axis></joint>'
        assert one(model(text)).joint_by_name["k"].mimic == Mimic(joint="j", multiplier=2.0, offset=-5.0)


class TestALink:
    @pytest.mark.parametrize(
        ("form", "expected"),
        [
            ("<box><size>1 2 3</size></box>", BoxForm((1.0, 2.0, 3.0))),
            ("<capsule><radius>1</radius><length>2</length></capsule>", CapsuleForm(1.0, 2.0)),
            ("<mesh><uri>http://x</uri><scale>1 1 2</scale></mesh>", MeshForm("http://x", None, (1.0, 1.0, 2.0))),
            ("<plane><normal>0 0 1</normal></plane>", OtherForm("plane")),
            ("<mesh><uri>http://x</uri><submesh><name>y</name></submesh></mesh>", OtherForm("mesh")),
        ],
    )
    def test_has_shapes(self, form, expected):
        color = "<material><diffuse>1 0 0</diffuse></material>"
        text = f'<link name="a"><visual name="v"><geometry>{form}</geometry>{color}</visual></link>'
        (shape,) = one(model(text)).link_by_name["a"].visuals
        assert (shape.name, shape.form, shape.material) == ("v", expected, Material(rgba=(1.0, 0.0, 0.0, 1.0)))

    def test_weighs_what_it_says_or_one_kilogram(self):
        weights = "<mass>2</mass><inertia><ixx>3</ixx><ixy>4</ixy></inertia>"
        for inside, moments, mass in ((weights, (3, 4, 0, 1, 0, 1), 2), ("", (1, 0, 0, 1, 0, 1), 1)):
            inertial = one(model(f'<link name="a"><inertial>{inside}</inertial></link>')).links[0].inertial
            assert (inertial.mass_kg, inertial.moments) == (mass, moments)


class TestFrames:
    def test_are_placed_in_each_other_in_any_order(self):
        text = (
            '<link name="a"><pose relative_to="f">1 0 0 0 0 0</pose></link>'
            '<frame name="f" attached_to="g"><pose>0 1 0 0 0 0</pose></frame>'
            '<frame name="g"><pose degrees="true">0 0 1 0 0 90</pose></frame>'
        )
        assert one(model(text)).origin_T_root.is_close(at(z=1, yaw=math.pi / 2) @ at(y=1) @ at(x=1))

    def test_may_be_given_as_quaternions(self):
        text = '<link name="a"><pose rotation_format="quat_xyzw">1 0 0 0 0 1 1</pose></link>'
        assert one(model(text)).origin_T_root.is_close(at(x=1, yaw=math.pi / 2))

    def test_stand_for_the_link_that_they_are_on(self):
        text = f'{TWO}<frame name="tip" attached_to="b"><pose>0 0 1 0 0 0</pose></frame>'
        ends = "<parent>a</parent><child>tip</child>"
        found = one(model(text + joint("ball", ends=ends))).joints[0]
        assert (found.child, found.parent_T_joint, found.joint_T_child) == ("b", at(z=2), at(z=-1))

    def test_of_a_thousand_steps_are_followed(self):
        chain = "".join(
            f'<frame name="f{i}"><pose relative_to="f{i + 1}">1 0 0 0 0 0</pose></frame>' for i in range(3000)
        )
        text = f'<link name="a"><pose relative_to="f0"/></link>{chain}<frame name="f3000"/>'
        assert one(model(text)).origin_T_root.translation[0] == 3000.0


class TestModelsInModels:
    INNER = (
        '<model name="hand" {0}><pose>0 0 1 0 0 0</pose><link name="a"/><link name="b"><pose>0 1 0 0 0 0</pose></link>'
    )
    HELD = '<joint name="h" type="fixed"><parent>a</parent><child>b</child></joint></model>'

    def test_are_part_of_them(self):
        wrist = joint("ball", ends="<parent>a</parent><child>hand::b</child>")
        found = one(model('<link name="a"/>' + self.INNER.format("") + self.HELD + wrist))
        assert [link.name for link in found.links] == ["a", "hand::a", "hand::b"]
        assert found.joint_by_name["j"].parent_T_joint == at(y=1, z=1)
        assert (found.joint_by_name["hand::h"].parent, found.joint_by_name["hand::h"].child) == ("hand::b", "hand::a")

    def test_may_be_placed_by_a_part_of_them(self):
        wrist = joint("ball", ends="<parent>a</parent><child>hand</child>")
        found = one(model('<link name="a"/>' + self.INNER.format('placement_frame="b"') + self.HELD + wrist))
        bounded = link_poses(found, {})
        assert bounded["hand::b"].is_close(at(z=1))
        assert bounded["hand::a"].is_close(at(y=-1, z=1))

    def test_may_be_in_files_of_their_own(self, tmp_path):
        folder = tmp_path / "lamp"
        folder.mkdir()
        (folder / "model.config").write_text("<model><sdf version='1.9'>it.sdf</sdf></model>")
        (folder / "it.sdf").write_text(model('<link name="bulb"/>'))
        include = "<include><uri>model://lamp</uri><name>{}</name><pose>0 0 {} 0 0 0</pose></include>"
        world = f"<world name='w'>{include.format('one', 1)}{include.format('two', 2)}</world>"
        first, second = read_sdf(sdf(world), packages=[tmp_path])
        assert (first.name, first.root, first.origin_T_root) == ("one", "bulb", at(z=1))
        assert (second.name, second.origin_T_root) == ("two", at(z=2))

    def test_may_not_include_themselves(self, tmp_path):
        (tmp_path / "it.sdf").write_text(model('<link name="a"/><include><uri>it.sdf</uri><name>x</name></include>'))
        with pytest.raises(errors.InvalidRobotFile, match="32 in each other"):
            read_sdf(tmp_path / "it.sdf")


class TestTheWorld:
    def test_carries_what_is_joined_to_it(self):
        text = model(
            "<pose>1 0 0 0 0 0</pose>" + TWO + joint("prismatic", ends="<parent>world</parent><child>b</child>")
        )
        found = one(text)
        assert (found.root, found.joint_by_name["j"].parent_T_joint) == ("world", at(x=1, z=1))
        assert found.joint_by_name["a_in_world"].kind == "floating"

    def test_carries_the_pieces_of_a_model(self):
        found = one(model(TWO))
        assert [(joint.name, joint.kind) for joint in found.joints] == [
            ("a_in_world", "floating"),
            ("b_in_world", "floating"),
        ]
        still = one(model("<static>true</static>" + TWO))
        assert {joint.kind for joint in still.joints} == {"fixed"}

    def test_has_frames_of_its_own(self):
        world = (
            '<world name="w"><frame name="f"><pose>0 0 5 0 0 0</pose></frame><model name="m">'
            '<pose relative_to="f">1 0 0 0 0 0</pose><link name="a"/></model></world>'
        )
        assert one(sdf(world)).origin_T_root == at(x=1, z=5)


class TestCassie:
    """A robot with loops, whose file gives every link's place in the model."""

    def test_has_every_link_where_the_file_says(self):
        path = robot_file("cassie_v2.sdf")
        cassie = one(path)
        written = re.findall(r"<link name='([^']+)'>\s*<pose>([^<]+)</pose>", path.read_text())
        bounded = link_poses(cassie, {})
        assert len(written) == len(cassie.links) > 20
        for name, pose in written:
            x, y, z, *rpy = map(float, pose.split())
            expected = Transform.from_xyz_rpy(xyz=(x, y, z), rpy=rpy)
            assert (cassie.origin_T_root @ bounded[name]).is_close(expected)

    def test_has_its_loops_closed_in_its_initial_pose(self):
        cassie = one(robot_file("cassie_v2.sdf"))
        bounded = link_poses(cassie, {})
        assert len(cassie.closures) == 4
        for loop in cassie.closures:
            over_joint = bounded[loop.parent] @ loop.parent_T_joint @ loop.joint_T_child
            assert over_joint.is_close(bounded[loop.child])

    def test_cannot_be_expressed_in_urdf_except_for_its_tree(self):
        cassie = one(robot_file("cassie_v2.sdf"))
        assert sum("closes a loop" in loss for loss in urdf_losses(cassie)) == 4
        assert write_urdf(cassie, lossy=True).count("<joint ") == len(cassie.joints)

    def test_has_gearboxes_by_which_joints_follow_motors(self):
        cassie = one(robot_file("cassie.sdf"))
        gears = {joint.name: joint.mimic for joint in cassie.joints if joint.mimic is not None}
        assert len(gears) == 10
        assert gears["left-roll-op"] == Mimic(joint="left-roll-ip", multiplier=-0.04)

    @pytest.mark.parametrize(
        ("inside", "reason"),
        [
            ("", "<gearbox_reference_body> is missing"),
            (
                "<gearbox_reference_body>b</gearbox_reference_body>",
                "no joint turns 'm::a' on its reference",
            ),
        ],
    )
    def test_has_no_gearbox_without_joints(self, inside, reason):
        gearbox = f'<joint name="g" type="gearbox"><parent>a</parent><child>b</child>{inside}</joint>'
        with pytest.raises(errors.InvalidRobotFile, match=reason):
            read_sdf(model(TWO + gearbox))


CYCLE = '<link name="a"/><frame name="f" attached_to="f"><pose relative_to="a"/></frame>'
REFUSED = [
    ("<robot/>", 1, "<robot>", "outermost element"),
    (model(""), 2, '<model name="m">', "has no link"),
    (model('<link name="a"/>\n<link name="a"/>'), 4, '<link name="a">', "named 'm::a' already"),
    (model(TWO + "\n" + joint("balls")), 4, '<joint name="j">', "Did you mean 'ball'?"),
    (model(TWO + "\n" + joint("ball", ends="<parent>a</parent>")), 4, '<joint name="j">', "<child> is missing"),
    (model(TWO + "\n" + joint("ball", ends="<parent>a</parent><child>bb</child>")), 4, "<joint", "Did you mean"),
    (model(TWO + "\n" + joint("ball", ends="<parent>a</parent><child>a</child>")), 4, "<joint", "both 'm::a'"),
    (model('<link name="a"><pose>1 2 3</pose></link>'), 3, "<pose>", "3 numbers"),
    (model('<link name="a"><pose>1 2 3 0 0 inf</pose></link>'), 3, "<pose>", "'inf'"),
    (model('<link name="a"><pose relative_to="b"/></link>'), 3, '<link name="a">', "nothing named 'm::b'"),
    (model('<link name="a"><pose relative_to="a"/></link>'), 3, '<link name="a">', "in a cycle"),
    (
        model(CYCLE + joint("ball", ends="<parent>a</parent><child>f</child>")),
        3,
        "<frame",
        "attached to itself in a cycle",
    ),
    (model("<include><uri>model://lamp</uri></include>"), 3, "<include>", "'model://lamp' is not found"),
    (model('<include merge="true"><uri>x</uri></include>'), 3, "<include>", "not supported"),
    (model(TWO + joint("screw", "<thread_pitch>0</thread_pitch>")), 3, "<joint", "a screw slides"),
    (model(TWO + joint("ball", "<axis><xyz>1 0 0</xyz></axis>"), version="one"), 1, "<sdf>", "numbers such as 1.9"),
]


class TestWhatIsWrong:
    @pytest.mark.parametrize(("text", "line", "element", "why"), REFUSED, ids=lambda value: str(value)[-40:])
    def test_is_reported_with_its_line_and_element(self, text, line, element, why):
        with pytest.raises(errors.InvalidRobotFile) as caught:
            read_sdf(text)
        assert caught.value.line == line
        assert element in caught.value.element
        assert why in str(caught.value)
