"""What URDF says, and what is wrong with some of it."""

from __future__ import annotations

import pytest

from armillary import Transform, errors
from armillary.formats import (
    BoxForm,
    CapsuleForm,
    CylinderForm,
    Dynamics,
    Limits,
    Material,
    MeshForm,
    Mimic,
    SoftLimits,
    SphereForm,
    read_urdf,
)
from unit.formats.kit import LINKS, lamp, link, robot

PLACED = '<origin xyz="1 2 3" rpy="0.1 0.2 0.3"/>'
AT_PLACE = Transform.from_xyz_rpy(xyz=(1, 2, 3), rpy=(0.1, 0.2, 0.3))


def neck(inside: str = "", kind: str = "continuous"):
    return read_urdf(lamp(inside, kind)).joint_by_name["neck"]


class TestAJoint:
    @pytest.mark.parametrize("kind", ["fixed", "continuous", "planar", "floating"])
    def test_needs_no_limits_unless_it_ends_somewhere(self, kind):
        assert (neck(kind=kind).kind, neck(kind=kind).limits) == (kind, None)

    @pytest.mark.parametrize("kind", ["revolute", "prismatic"])
    def test_has_limits_where_it_ends_somewhere(self, kind):
        limits = neck('<limit lower="-1" upper="2" velocity="3" effort="4"/>', kind).limits
        assert limits == Limits(lower=-1.0, upper=2.0, velocity=3.0, effort=4.0)

    def test_has_the_limits_of_the_standard_where_some_are_left_out(self):
        assert neck('<limit velocity="3"/>', "revolute").limits == Limits(lower=0.0, upper=0.0, velocity=3.0)

    def test_turns_about_x_unless_it_says_otherwise(self):
        assert neck().axis == (1.0, 0.0, 0.0)

    def test_has_an_axis_of_length_one(self):
        assert neck('<axis xyz="0 3 4"/>').axis == (0.0, 0.6, 0.8)

    def test_sits_where_its_origin_says(self):
        assert neck(PLACED).parent_T_joint == AT_PLACE
        assert neck().parent_T_joint == Transform.identity()
        assert neck(PLACED).joint_T_child == Transform.identity()

    def test_has_soft_limits_and_dynamics(self):
        joint = neck(
            '<safety_controller soft_lower_limit="-1" soft_upper_limit="1" k_position="15" k_velocity="10"/>'
            '<dynamics damping="0.5" friction="0.25"/>'
        )
        assert joint.soft_limits == SoftLimits(lower=-1.0, upper=1.0, k_position=15.0, k_velocity=10.0)
        assert joint.dynamics == Dynamics(damping=0.5, friction=0.25)

    def test_follows_another_one(self):
        more = '<link name="tail"/><joint name="tip" type="continuous"><parent link="head"/><child link="tail"/>'
        text = lamp().replace("</robot>", more + '<mimic joint="neck" multiplier="-2"/></joint></robot>')
        assert read_urdf(text).joint_by_name["tip"].mimic == Mimic(joint="neck", multiplier=-2.0, offset=0.0)


class TestALink:
    @pytest.mark.parametrize(
        ("form", "expected"),
        [
            ('<box size="1 2 3"/>', BoxForm((1.0, 2.0, 3.0))),
            ('<sphere radius="0.5"/>', SphereForm(0.5)),
            ('<cylinder radius="0.5" length="2"/>', CylinderForm(0.5, 2.0)),
            ('<capsule radius="0.5" length="2"/>', CapsuleForm(0.5, 2.0)),
            ('<mesh filename="http://x/y.stl" scale="1 -1 2"/>', MeshForm("http://x/y.stl", None, (1.0, -1.0, 2.0))),
        ],
    )
    @pytest.mark.parametrize("role", ["visual", "collision"])
    def test_has_shapes(self, role, form, expected):
        foot = read_urdf(link(f'<{role} name="it">{PLACED}<geometry>{form}</geometry></{role}>')).link_by_name["foot"]
        (shape,) = foot.visuals if role == "visual" else foot.collisions
        assert (shape.name, shape.form, shape.link_T_shape, shape.material) == ("it", expected, AT_PLACE, None)

    def test_has_as_many_shapes_as_are_there(self):
        one = '<visual><geometry><sphere radius="1"/></geometry></visual>'
        assert len(read_urdf(link(3 * one)).link_by_name["foot"].visuals) == 3

    def test_weighs_something(self):
        inertia = '<inertia ixx="1" ixy="2" ixz="3" iyy="4" iyz="5" izz="6"/>'
        text = link(f'<inertial>{PLACED}<mass value="7"/>{inertia}</inertial>')
        inertial = read_urdf(text).link_by_name["foot"].inertial
        assert (inertial.mass_kg, inertial.link_T_inertia) == (7.0, AT_PLACE)
        assert inertial.matrix.tolist() == [[1, 2, 3], [2, 4, 5], [3, 5, 6]]

    def test_is_coloured_by_itself_or_by_the_robot(self):
        red = '<material name="red"><color rgba="1 0 0 1"/></material>'
        for material, above in ((red, ""), ('<material name="red"/>', red)):
            shape = f'<visual><geometry><sphere radius="1"/></geometry>{material}</visual>'
            (visual,) = read_urdf(robot(f'{above}<link name="a">{shape}</link>')).link_by_name["a"].visuals
            assert visual.material == Material("red", (1.0, 0.0, 0.0, 1.0))


class TestARobot:
    def test_is_a_tree_in_the_order_of_the_file(self):
        lamp_read = read_urdf(lamp())
        assert (lamp_read.name, lamp_read.root) == ("lamp", "foot")
        assert [one.name for one in lamp_read.links] == ["foot", "head"]

    def test_is_named_after_its_file_where_it_has_no_name(self, tmp_path):
        path = tmp_path / "crane.urdf"
        path.write_text('<robot><link name="a"/></robot>')
        assert read_urdf(path).name == "crane"

    @pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "iso-8859-1"])
    def test_may_be_written_in_the_usual_encodings(self, encoding, tmp_path):
        path = tmp_path / "a.urdf"
        declared = encoding.removesuffix("-sig")
        text = f'<?xml version="1.0" encoding="{declared}"?>\n' + robot('<link name="Fuß"/>')
        path.write_bytes(text.encode(encoding))
        assert read_urdf(str(path)).root == "Fuß"

    def test_may_have_comments_and_parts_of_others(self):
        more = "<!-- <!DOCTYPE is no danger here --><gazebo/><transmission name='t'><joint name='x'/></transmission>"
        assert read_urdf(more.partition("<g")[0] + lamp().replace("</robot>", more + "</robot>")).root == "foot"


REFUSED = [
    (robot(LINKS), 2, '<link name="head">', "no joint carries it"),
    (robot(""), 1, "<robot", "has no link"),
    ("<sdf/>", 1, "<sdf>", "outermost element"),
    (robot("<link/>"), 2, "<link>", "'name' is missing"),
    (robot('<link name=" "/>'), 2, "<link", "it is empty"),
    (robot('<link name="a&#10;b"/>'), 2, "<link", "control characters"),
    (robot('<link name="a"/>\n<link name="a"/>'), 3, '<link name="a">', "line 2 has a <link> of this name"),
    (lamp(kind="revolut"), 3, '<joint name="neck">', "Did you mean 'revolute'?"),
    (lamp(kind="revolute"), 3, '<joint name="neck">', "needs <limit>"),
    (lamp('<limit lower="2" upper="1"/>', "revolute"), 3, '<limit> of <joint name="neck">', "lies above"),
    (lamp('<axis xyz="0 0 0"/>'), 3, '<axis> of <joint name="neck">', "a direction is expected"),
    (lamp('<axis xyz="0 0"/>'), 3, '<axis> of <joint name="neck">', "2 numbers"),
    (lamp('<axis xyz="0 0 one"/>'), 3, '<axis> of <joint name="neck">', "'one'"),
    (lamp('<axis xyz="0 0 1_0"/>'), 3, '<axis> of <joint name="neck">', "'1_0'"),
    (lamp('<origin xyz="0 0 nan"/>'), 3, '<origin> of <joint name="neck">', "'nan'"),
    (lamp('<origin xyz="0 0 1e400"/>'), 3, '<origin> of <joint name="neck">', "'1e400'"),
    (lamp('<origin xyz="0 0 1e300"/>'), 3, '<origin> of <joint name="neck">', "farther than"),
    (lamp("<origin/><origin/>"), 3, '<origin> of <joint name="neck">', "second <origin>"),
    (lamp('<mimic joint="nick"/>'), 3, '<joint name="neck">', "Did you mean 'neck'?"),
    (lamp('<mimic joint="neck"/>'), 3, '<joint name="neck">', "in a cycle: neck, neck"),
    (lamp().replace('child link="head"', 'child link="heat"'), 3, '<joint name="neck">', "Did you mean 'head'?"),
    (lamp().replace('<child link="head"/>', ""), 3, '<joint name="neck">', "<child> is missing"),
    (link("<visual/>"), 3, '<visual> of <link name="foot">', "<geometry> is missing"),
    (link("<visual><geometry/></visual>"), 3, '<geometry> of <link name="foot">', "0 forms"),
    (link("<visual><geometry><cone/></geometry></visual>"), 3, "<cone>", "no form 'cone'"),
    (link('<visual><geometry><sphere radius="-1"/></geometry></visual>'), 3, "<sphere>", "not below zero"),
    (link('<visual><geometry><box size="1 1 -1"/></geometry></visual>'), 3, "<box>", "not below zero"),
    (link('<inertial><mass value="1"/></inertial>'), 3, "<inertial>", "<inertia> is missing"),
    ("<robot>\n\n<link", 3, "", "no XML"),
    (robot('<x:macro xmlns:x="http://www.ros.org/wiki/xacro"/>'), 2, "macro", "not expanded"),
]


class TestWhatIsWrong:
    @pytest.mark.parametrize(("text", "line", "element", "why"), REFUSED, ids=lambda value: str(value)[-40:])
    def test_is_reported_with_its_line_and_element(self, text, line, element, why):
        with pytest.raises(errors.InvalidRobotFile) as caught:
            read_urdf(text)
        assert caught.value.line == line
        assert element in caught.value.element
        assert why in str(caught.value)
        assert str(caught.value).startswith("the given text, line")

    def test_in_a_file_is_reported_with_the_file(self, tmp_path):
        path = tmp_path / "bad.urdf"
        path.write_text("<?xml version='1.0'?>\n" + lamp(kind="sliding"))
        with pytest.raises(errors.InvalidRobotFile, match="no type of joint 'sliding'") as caught:
            read_urdf(path)
        assert (caught.value.path, caught.value.line) == (str(path), 4)

    def test_includes_a_link_that_two_joints_carry(self):
        second = '<joint name="again" type="fixed"><parent link="foot"/><child link="head"/></joint></robot>'
        with pytest.raises(errors.InvalidRobotFile, match="carried by the joint 'neck' already"):
            read_urdf(lamp().replace("</robot>", second))

    def test_includes_links_that_carry_each_other(self):
        second = '<joint name="back" type="fixed"><parent link="head"/><child link="foot"/></joint></robot>'
        with pytest.raises(errors.InvalidRobotFile, match="in a cycle: head, foot, head"):
            read_urdf(lamp().replace("</robot>", second))

    @pytest.mark.parametrize("name", ["nowhere.urdf", "", "x" * 5000, "a\0b"])
    def test_includes_a_file_that_is_not_there(self, name):
        with pytest.raises(errors.InvalidRobotFile, match="no such file"):
            read_urdf(name)


class TestAPartOfARobot:
    CHAIN = robot(
        "".join(f'<link name="{name}"/>' for name in "abcde")
        + "".join(
            f'<joint name="{parent}{child}" type="fixed"><parent link="{parent}"/><child link="{child}"/></joint>'
            for parent, child in ("ab", "bc", "bd", "de")
        )
    )

    @pytest.mark.parametrize(
        ("root", "tips", "links", "joints"),
        [
            ("b", None, "bcde", ["bc", "bd", "de"]),
            (None, ["c"], "abc", ["ab", "bc"]),
            ("b", ["c", "d"], "bcd", ["bc", "bd"]),
            ("d", ["d"], "d", []),
        ],
    )
    def test_is_what_lies_between_its_root_and_its_tips(self, root, tips, links, joints):
        part = read_urdf(self.CHAIN, root=root, tips=tips)
        assert "".join(one.name for one in part.links) == links
        assert [one.name for one in part.joints] == joints
        assert part.root == (root or "a")

    def test_must_be_there(self):
        with pytest.raises(errors.UnknownLink, match=r"no link 'f' here\. Its links: a, b, c, d, e"):
            read_urdf(self.CHAIN, root="f")
        with pytest.raises(errors.InvalidArgument, match="'a' is not below the root 'b'"):
            read_urdf(self.CHAIN, root="b", tips=["a"])
        with pytest.raises(errors.InvalidArgument, match=r"Pass \['a'\]"):
            read_urdf(self.CHAIN, tips="a")

    def test_keeps_what_it_follows(self):
        text = self.CHAIN.replace('name="de" type="fixed">', 'name="de" type="continuous"><mimic joint="bc"/>')
        text = text.replace('name="bc" type="fixed"', 'name="bc" type="continuous"')
        with pytest.raises(errors.InvalidArgument, match="'de' follows the joint 'bc', which is not in this part"):
            read_urdf(text, root="d")


class TestValues:
    def test_of_one_file_are_equal_and_can_be_keys(self):
        assert len({read_urdf(lamp()), read_urdf(lamp())}) == 1

    def test_know_their_joints_from_the_root(self):
        back = robot(
            "".join(f'<link name="{name}"/>' for name in "cba")
            + "".join(
                f'<joint name="{ends}" type="fixed"><parent link="{ends[0]}"/><child link="{ends[1]}"/></joint>'
                for ends in ("bc", "ab")
            )
        )
        assert [joint.name for joint in read_urdf(back).joints_from_root] == ["ab", "bc"]
