"""Malicious and broken files: they are read, or raise InvalidRobotFile; nothing else happens."""

from __future__ import annotations

import os

import pytest

import randomness
from armillary import errors
from armillary.demos.models import mobile_manipulator
from armillary.formats import read_mjcf, read_sdf, read_urdf, write_urdf
from armillary.formats._xml import LARGEST_FILE_BYTES
from unit.formats.kit import LINKS, lamp, robot, robot_file
from unit.formats.mutations import mutated

MUTANTS = 700
READERS = [read_urdf, read_sdf, read_mjcf]
each_reader = pytest.mark.parametrize("read", READERS, ids=lambda read: read.__name__)

LAUGHS = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10 if i else "ha" * 10}">' for i in range(10))
DOCTYPES = {
    "entity bomb": f'<!DOCTYPE robot [{LAUGHS}]><robot name="&l9;"><link name="a"/></robot>',
    "entity bomb in text": f"<!DOCTYPE robot [{LAUGHS}]><robot>&l9;</robot>",
    "quadratic bomb": f'<!DOCTYPE robot [<!ENTITY a "{"a" * 50_000}">]><robot>{"&a;" * 50_000}</robot>',
    "file of others": '<!DOCTYPE robot [<!ENTITY a SYSTEM "file:///etc/passwd">]><robot name="x">&a;</robot>',
    "network": '<!DOCTYPE robot SYSTEM "http://example.com/x.dtd"><robot/>',
    "parameter": '<!DOCTYPE robot [<!ENTITY % a SYSTEM "file:///etc/passwd"> %a;]><robot/>',
    "harmless": "<!DOCTYPE robot><robot/>",
    "after comments": "<!-- " + "-->\n<!-- " * 2000 + "--><?pi?>\n<!DOCTYPE robot><robot/>",
}


def error_from(read, given) -> errors.InvalidRobotFile:
    with pytest.raises(errors.InvalidRobotFile) as caught:
        read(given)
    return caught.value


@each_reader
class TestHostileXml:
    @pytest.mark.parametrize("text", DOCTYPES.values(), ids=DOCTYPES)
    def test_with_a_document_type_is_refused(self, read, text):
        assert "it declares a document type" in str(error_from(read, text))

    @pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-7", "utf-32", "cp037"])
    def test_does_not_hide_in_an_encoding(self, read, encoding, tmp_path):
        path = tmp_path / "a.xml"
        path.write_bytes(f'<?xml version="1.0" encoding="{encoding}"?>{DOCTYPES["file of others"]}'.encode(encoding))
        error_from(read, path)

    def test_has_no_entities_without_a_document_type(self, read):
        assert "no XML" in str(error_from(read, '<robot name="&a;"/>'))

    def test_of_ten_thousand_levels_is_refused(self, read):
        assert "depth" in str(error_from(read, "<link>" * 10_000 + "</link>" * 10_000))

    def test_that_is_too_large_is_refused(self, read, tmp_path):
        path = tmp_path / "a.xml"
        path.write_bytes(b"<robot>" + b" " * LARGEST_FILE_BYTES)
        assert "larger than 16 MiB" in str(error_from(read, path))
        assert "larger than 16 MiB" in str(error_from(read, path.read_text()))

    def test_that_is_no_file_is_refused(self, read, tmp_path):
        os.mkfifo(tmp_path / "pipe")
        for path in (tmp_path, tmp_path / "pipe"):
            assert "no such file" in str(error_from(read, path))

    @pytest.mark.parametrize("content", [b"<robot>\xff</robot>", b"\0" * 100, b"<robot>\0</robot>", b"\xff\xfe<"])
    def test_that_is_no_text_is_refused(self, read, content, tmp_path):
        (tmp_path / "a.xml").write_bytes(content)
        error_from(read, tmp_path / "a.xml")


class TestXInclude:
    def test_is_not_followed(self):
        include = '<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="/etc/passwd" parse="text"/>'
        assert read_urdf(robot(f'<link name="a"/>{include}')).links[0].name == "a"


class TestLongThings:
    def test_are_read(self):
        count = 5000
        links = "".join(f'<link name="l{i}"/>' for i in range(count))
        step = '<joint name="j{0}" type="continuous"><parent link="l{0}"/><child link="l{1}"/>{2}</joint>'
        follow = '<mimic joint="j{}"/>'
        joints = "".join(step.format(i, i + 1, follow.format(i + 1) if i < count - 2 else "") for i in range(count - 1))
        chain = read_urdf(robot(links + joints), tips=[f"l{count - 1}"])
        assert len(chain.joints_from_root) == count - 1
        assert len(read_urdf(write_urdf(chain)).links) == count

    def test_are_not_repeated_in_errors(self):
        name = "n" * 1_000_000
        error = error_from(read_urdf, robot(f'{LINKS}<joint name="{name}" type="{name}"/>'))
        assert len(str(error)) < 2000
        error = error_from(read_urdf, lamp().replace('child link="head"', f'child link="{name}"'))
        assert len(str(error)) < 2000

    def test_numbers_are_numbers_or_not(self):
        assert read_urdf(lamp(f'<axis xyz="0 0 0.{"0" * 100_000}1e100001"/>')).joints[0].axis == (0.0, 0.0, 1.0)
        assert "finite number" in str(error_from(read_urdf, lamp(f'<axis xyz="0 0 {"9" * 100_000}"/>')))


def sources():
    small = read_urdf(robot_file("panda.urdf"), root="panda_link5")
    return [
        (read_urdf, write_urdf(mobile_manipulator(), lossy=True)),
        (read_urdf, write_urdf(small)),
        (read_sdf, robot_file("cassie_v2.sdf").read_text()),
        (read_sdf, NESTED),
        (read_mjcf, MJCF),
    ]


NESTED = """<sdf version="1.9"><world name="w"><frame name="f"><pose>1 2 3 0 0 1</pose></frame>
<model name="m" canonical_link="a"><pose relative_to="f">1 0 0 0 0 0</pose><link name="a"/>
<link name="b"><pose relative_to="hand::tip">0 0 1 0 0 0</pose></link>
<model name="hand" placement_frame="tip"><link name="c"/>
<frame name="tip" attached_to="c"><pose degrees="true">0 0 1 0 90 0</pose></frame></model>
<joint name="j" type="universal"><parent>a</parent><child>b</child>
<axis><xyz expressed_in="hand::tip">1 0 0</xyz><limit><lower>-1</lower><upper>1</upper></limit></axis>
<axis2><xyz>0 1 0</xyz></axis2></joint>
<joint name="k" type="screw"><parent>b</parent><child>hand::c</child><thread_pitch>7</thread_pitch></joint>
<joint name="l" type="revolute"><parent>world</parent><child>hand</child><axis><mimic joint="k"/></axis></joint>
</model></world></sdf>"""


MJCF = """<mujoco model="m"><compiler angle="radian" eulerseq="zyx" meshdir="parts"/>
<default><geom size="0.1"/><default class="arm"><joint axis="1 0 0" range="-1 1"/><geom type="capsule" size="1 2"/>
</default></default>
<asset><mesh name="a" file="a.stl" scale="1 1 2" refpos="1 0 0"/><material name="red" rgba="1 0 0 1"/></asset>
<worldbody><geom type="plane" size="1 1 1"/><frame pos="1 0 0" euler="0 0 1">
<body name="b" childclass="arm" pos="1 2 3">
<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/><joint name="j" ref="0.5"/><joint name="k" type="slide"/><geom/>
<geom type="mesh" mesh="a" material="red"/><site name="s" fromto="0 0 0 1 1 1"/><body name="c" zaxis="1 1 1">
<joint name="l" type="ball" pos="1 0 0"/><geom class="main" type="box" size="1 1 1"/></body></body></frame>
<body name="d" quat="1 2 3 4"><freejoint/></body></worldbody>
<equality><joint joint1="k" joint2="j" polycoef="0 1"/><weld body1="c" body2="d"/></equality>
<actuator><motor joint="j"/></actuator></mujoco>"""


class TestFilesWithSomethingWrong:
    @pytest.mark.parametrize(("read", "text"), sources(), ids=["manipulator", "panda", "cassie", "nested", "mjcf"])
    def test_are_refused_in_words_or_read(self, read, text):
        draw = randomness.chance(11)
        assert read(text)
        outcomes = [self.outcome(read, mutated(text, draw)) for _ in range(MUTANTS)]
        assert 0.2 < sum(outcomes) / MUTANTS < 0.99

    @staticmethod
    def outcome(read, text):
        try:
            read(text)
        except errors.InvalidRobotFile:
            return 1
        return 0
