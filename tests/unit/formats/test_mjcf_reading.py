"""MJCF: every feature moves as it does in MuJoCo; what is wrong is refused with its place."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from armillary import errors
from armillary.articulation import ArticulationModel
from armillary.formats import BoxForm, CapsuleForm, MeshForm, OtherForm, read_mjcf
from unit.formats.mujoco_peer import MujocoPair

CLOSE = 1e-9
GEOM = '<geom size="0.1"/>'


def world(inside: str, beside: str = "") -> str:
    return f'<mujoco model="lamp">\n{beside}\n<worldbody>\n{inside}\n</worldbody></mujoco>'


def body(joint: str, placed: str = 'pos="1 2 3" euler="20 30 40"', inside: str = "") -> str:
    return f'<body name="b" {placed}>{joint}{GEOM}{inside}</body>'


SITE = '<site name="tip" pos="0.1 0.2 0.3" zaxis="1 2 -3"/>'
MODELS = {
    "hinge": world(body('<joint axis="1 2 3" pos="0.1 0.2 0.3"/>')),
    "slide": world(body('<joint type="slide" axis="0 0 2" pos="0.1 0.2 0.3"/>')),
    "ball": world(body('<joint type="ball" pos="0.1 0.2 0.3"/>')),
    "free": world(body("<freejoint/>")),
    "free by type": world(body('<joint type="free"/>')),
    "ref of a hinge": world(body('<joint axis="1 2 3" pos="0.1 0.2 0.3" ref="35"/>')),
    "ref of a slide": world(body('<joint type="slide" axis="1 1 0" ref="0.4"/>')),
    "radians": world(body('<joint ref="0.3"/>', 'euler="0.1 0.2 0.3"'), '<compiler angle="radian"/>'),
    "several joints": world(
        body('<joint type="slide"/><joint name="t" pos="1 0 0" axis="0 1 0"/><joint type="ball"/>')
    ),
    "fixed axes": world(body("<joint/>"), '<compiler eulerseq="XYZ"/>'),
    "other order": world(body("<joint/>"), '<compiler eulerseq="zYx"/>'),
    "axisangle": world(body("<joint/>", 'axisangle="1 2 3 40"')),
    "xyaxes": world(body("<joint/>", 'xyaxes="1 1 0 0 1 1"')),
    "quat": world(body("<joint/>", 'quat="1 2 3 4"')),
    "zaxis": world(body("<joint/>", 'zaxis="0 0 -1"')),
    "site": world(body("<joint/>", inside=SITE)),
    "site from point to point": world(
        body("<joint/>", inside='<site name="s" type="capsule" size=".1" fromto="0 0 0 1 2 3"/>')
    ),
    "frame": world(f'<frame pos="1 0 0" euler="0 0 90"><frame pos="0 1 0">{body("<joint/>")}</frame></frame>'),
    "joint in a frame": world(body('<frame pos="1 2 3" euler="0 0 90"><joint axis="1 0 0" pos="1 0 0"/></frame>')),
    "weld of bodies": world(f'<body name="a">{GEOM}{body("<joint/>")}</body>'),
    "without names": world(
        f'<body pos="1 0 0"><joint/>{GEOM}<body pos="0 1 0"><joint axis="1 0 0"/>{GEOM}</body></body>'
    ),
    "classes": world(
        '<body name="a" childclass="arm"><joint name="j"/><geom/><body name="b"><joint class="wrist"/><geom/></body></body>',  # noqa: E501
        '<default><geom size="0.1"/><default class="arm"><joint axis="1 0 0" ref="10"/><default class="wrist">'
        '<joint axis="0 1 0" pos="1 1 1"/></default></default></default>',
    ),
    "follower": world(
        f'<body name="a"><joint name="j" ref="20"/>{GEOM}<body name="b"><joint name="k" ref="5"/>{GEOM}</body></body>',
        '<equality><joint joint1="k" joint2="j" polycoef="0.1 -2 0 0 0"/></equality>',
    ),
    "motion capture": world(f'<body name="m" mocap="true" pos="1 2 3" euler="10 20 30">{GEOM}</body>'),
}


@pytest.mark.parametrize("text", MODELS.values(), ids=MODELS)
class TestEachFeature:
    def test_moves_as_in_mujoco(self, text):
        for seed in range(3):
            pair = MujocoPair(text, seed)
            assert pair.differences() < CLOSE
            assert pair.jacobian_differences() < CLOSE


class TestJoints:
    def test_have_limits_in_radians(self):
        joint = read_mjcf(world(body('<joint name="j" range="-90 45"/>'))).joint_by_name["j"]
        assert (joint.kind, joint.limits.lower, joint.limits.upper) == ("revolute", -np.pi / 2, np.pi / 4)

    def test_without_a_range_have_no_end(self):
        joint = read_mjcf(world(body('<joint name="j" range="-90 45" limited="false"/>'))).joint_by_name["j"]
        assert (joint.kind, joint.limits) == ("continuous", None)

    def test_that_an_equality_holds_are_fixed(self):
        text = world(body('<joint name="j" ref="20"/>'), '<equality><joint joint1="j" polycoef="0.5"/></equality>')
        peer = mujoco.MjModel.from_xml_string(text)
        data = mujoco.MjData(peer)
        data.qpos[0] = peer.qpos0[0] + 0.5
        mujoco.mj_kinematics(peer, data)
        model = ArticulationModel()
        model.load_mjcf(text)
        np.testing.assert_allclose(model.pose("lamp/links/b").evaluate({}).translation, data.xpos[1], atol=CLOSE)

    def test_know_their_actuators(self):
        text = world(body('<joint name="j"/>'), '<actuator><motor joint="j"/></actuator>')
        assert read_mjcf(text).joint_by_name["j"].is_driven


class TestLoops:
    BARS = world(
        f'<body name="a" pos="0 0 0"><joint name="p" axis="0 1 0"/>{GEOM}<body name="c" pos="0 0 1">'
        f'<joint name="q" axis="0 1 0"/>{GEOM}</body></body><body name="b" pos="2 0 0">'
        f'<joint name="r" axis="0 1 0"/>{GEOM}</body>',
        '<equality><connect body1="c" body2="b" anchor="2 0 0"/></equality><actuator><motor joint="p"/></actuator>',
    )

    def test_are_closed_where_bodies_are_connected(self):
        model = ArticulationModel()
        model.load_mjcf(self.BARS)
        (closure,) = model.closures().values()
        assert [v.name for v in closure.drivers] == ["lamp/p"]
        solved = model.solve({closure.drivers[0]: 0.4})
        joints = {v.name.removeprefix("lamp/"): value for v, value in solved.items()}
        np.testing.assert_allclose([joints["q"], joints["r"]], [-0.4, 0.4], atol=CLOSE)

    def test_are_closed_where_bodies_are_welded(self):
        text = self.BARS.replace('<connect body1="c" body2="b" anchor="2 0 0"/>', '<weld body1="c" body2="b"/>')
        model = ArticulationModel()
        model.load_mjcf(text)
        assert len(model.closures()) == 1


class TestShapes:
    def test_are_seen_or_touched(self):
        geoms = '<geom type="box" size="1 2 3"/><geom size="1" contype="0" conaffinity="0"/><geom size="2" group="3"/>'
        link = read_mjcf(world(f'<body name="b">{geoms}</body>')).link_by_name["b"]
        assert link.visuals[0].form == BoxForm((2.0, 4.0, 6.0))
        assert [len(link.visuals), len(link.collisions)] == [2, 2]

    def test_reach_from_point_to_point(self):
        geom = '<geom type="capsule" size="0.1" fromto="0 0 0 0 0 2"/><geom type="plane" size="1 1 1"/>'
        first, second = read_mjcf(world(geom)).link_by_name["world"].visuals
        assert (first.form, second.form) == (CapsuleForm(0.1, 2.0), OtherForm("plane"))
        np.testing.assert_allclose(first.link_T_shape.translation, (0, 0, 1))

    def test_are_meshes_beside_the_file(self, tmp_path):
        assets = '<mesh file="a.stl" scale="2 2 2"/><material name="red" rgba="1 0 0 1"/>'
        asset = f'<compiler meshdir="parts"/><asset>{assets}</asset>'
        path = tmp_path / "robot.xml"
        path.write_text(world('<geom type="mesh" mesh="a" material="red"/>', asset))
        (shape,) = read_mjcf(path).link_by_name["world"].visuals
        assert shape.form == MeshForm("parts/a.stl", str(tmp_path / "parts" / "a.stl"), (2.0, 2.0, 2.0))
        assert shape.material.rgba == (1.0, 0.0, 0.0, 1.0)


class TestIncludedFiles:
    def test_take_the_place_of_the_element(self, tmp_path):
        (tmp_path / "arm.xml").write_text(f"<mujocoinclude>{body('<joint/>')}</mujocoinclude>")
        path = tmp_path / "robot.xml"
        path.write_text(world('<include file="arm.xml"/>'))
        assert MujocoPair(path).differences() < CLOSE

    def test_name_themselves_in_errors(self, tmp_path):
        (tmp_path / "arm.xml").write_text("<mujocoinclude>\n\n<boddy/></mujocoinclude>")
        path = tmp_path / "robot.xml"
        path.write_text(world('<include file="arm.xml"/>'))
        with pytest.raises(errors.InvalidRobotFile, match=r"arm\.xml, line 3, <boddy>.*Did you mean 'body'"):
            read_mjcf(path)

    def test_are_read_once(self, tmp_path):
        path = tmp_path / "robot.xml"
        path.write_text(world('<include file="robot.xml"/>'))
        with pytest.raises(errors.InvalidRobotFile, match="for the second time"):
            read_mjcf(path)


WRONG = {
    "no mujoco": ("<robot/>", "the outermost element of MJCF is <mujoco>"),
    "joint type": (world(body('<joint type="hing"/>')), "Did you mean 'hinge'"),
    "number": (world(body('<joint pos="0 0 nan"/>')), "a finite number is expected"),
    "class": (world(body('<joint class="arm"/>'), '<default><default class="Arm"/></default>'), "Did you mean 'Arm'"),
    "name twice": (world(body("") + body("")), "there is a body 'b' already"),
    "joint name twice": (world(body('<joint name="j"/><joint name="j"/>')), "there is a joint 'j' already"),
    "free in a body": (
        world(f'<body name="a">{body("<freejoint/>")}</body>'),
        "a free joint is in a body of the world",
    ),
    "global": (world("", '<compiler coordinate="global"/>'), "global coordinates"),
    "composite": (world(body('<composite type="grid" count="1 1 1"/>')), "mj_saveLastXML"),
    "connect": (world("", '<equality><connect body1="x" anchor="0 0 0"/></equality>'), "there is no body 'x'"),
    "zero axis": (world(body('<joint axis="0 0 0"/>')), "a direction is expected"),
    "no quaternion": (world(body("<joint/>", 'quat="0 0 0 0"')), "turns nothing"),
    "mesh": (world('<geom type="mesh" mesh="a"/>'), "there is no mesh 'a'"),
    "cycle": (
        world(
            body('<joint name="j"/><joint name="k"/>'),
            '<equality><joint joint1="j" joint2="k"/><joint joint1="k" joint2="j"/></equality>',
        ),
        "in a cycle",
    ),
    "curve": (
        world(
            body('<joint name="j"/><joint name="k"/>'),
            '<equality><joint joint1="j" joint2="k" polycoef="0 1 1 0 0"/></equality>',
        ),
        "no linear equation",
    ),
}


@pytest.mark.parametrize(("text", "reason"), WRONG.values(), ids=WRONG)
class TestWhatIsWrong:
    def test_is_refused_with_its_place(self, text, reason):
        with pytest.raises(errors.InvalidRobotFile, match=reason) as caught:
            read_mjcf(text)
        assert caught.value.line is not None
