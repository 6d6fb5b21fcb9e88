"""Robots that are written in xacro."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from armillary import errors
from armillary.formats import read_urdf

LADDER = """<robot name="ladder" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="steps" default="2"/>
  <xacro:property name="gap" value="${0.1 + 0.2}"/>
  <xacro:macro name="rung" params="i">
    <link name="rung${i}"/>
    <joint name="to${i}" type="fixed">
      <parent link="foot"/><child link="rung${i}"/><origin xyz="0 0 ${gap * i}"/>
    </joint>
    <xacro:if value="${i > 1}"><xacro:rung i="${i - 1}"/></xacro:if>
  </xacro:macro>
  <link name="foot"/>
  <xacro:rung i="$(arg steps)"/>
</robot>
"""


@pytest.fixture
def ladder(tmp_path):
    path = tmp_path / "ladder.urdf.xacro"
    path.write_text(LADDER)
    return path


class TestXacro:
    def test_is_expanded(self, ladder):
        robot = read_urdf(ladder)
        assert [link.name for link in robot.links] == ["foot", "rung2", "rung1"]
        assert robot.joint_by_name["to2"].parent_T_joint.translation[2] == pytest.approx(0.6)

    def test_takes_arguments(self, ladder):
        assert len(read_urdf(str(ladder), arguments={"steps": "5"}).links) == 6

    def test_is_read_in_parts_too(self, ladder):
        assert [link.name for link in read_urdf(ladder, tips=["rung1"]).links] == ["foot", "rung1"]

    @pytest.mark.parametrize(
        ("old", "new"), [("${i - 1}", "${i - nothing}"), ("</robot>", ""), ("<robot", "<!DOCTYPE robot><robot")]
    )
    def test_that_is_wrong_is_refused_with_the_file(self, old, new, ladder):
        ladder.write_text(LADDER.replace(old, new))
        with pytest.raises(errors.InvalidRobotFile) as caught:
            read_urdf(ladder)
        assert caught.value.path.startswith(str(ladder))

    def test_that_makes_no_robot_is_refused_as_expanded(self, ladder):
        ladder.write_text(LADDER.replace('type="fixed"', 'type="fixt"'))
        with pytest.raises(errors.InvalidRobotFile, match=r"\(expanded\), line \d+.*Did you mean 'fixed'"):
            read_urdf(ladder)

    def test_is_not_mistaken_for_urdf(self, ladder):
        with pytest.raises(errors.InvalidRobotFile, match=r"Give the file a name that ends in \.xacro"):
            read_urdf(LADDER)

    @pytest.mark.parametrize("as_mapping", [True, False])
    def test_finds_the_packages_that_are_given(self, as_mapping, ladder, tmp_path):
        package = tmp_path / "all" / f"rungs_{as_mapping}"
        package.mkdir(parents=True)
        (package / "package.xml").write_text(f"<package><name>{package.name}</name></package>")
        (package / "one.xacro").write_text('<robot><link name="more"/></robot>')
        ladder.write_text(
            '<robot name="x" xmlns:xacro="http://www.ros.org/wiki/xacro">'
            f'<xacro:include filename="$(find {package.name})/one.xacro"/></robot>'
        )
        packages = {package.name: package} if as_mapping else [package.parent]
        assert read_urdf(ladder, packages=packages).root == "more"

    def test_says_what_to_install(self, ladder, monkeypatch):
        monkeypatch.setitem(sys.modules, "xacrodoc", None)
        with pytest.raises(errors.MissingExtra, match=r"pip install 'armillary\[xacro\]'"):
            read_urdf(ladder)


INCLUDING = '<robot name="x" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:include filename="{}"/></robot>'


@pytest.fixture
def robots(tmp_path):
    """A robot that includes a part beside it, and one whose part is broken."""
    folder = tmp_path / "robots"
    (folder / "sub").mkdir(parents=True)
    (folder / "good.urdf.xacro").write_text(INCLUDING.format("part.xacro"))
    (folder / "part.xacro").write_text('<robot><link name="foot"/></robot>')
    (folder / "bad.urdf.xacro").write_text(INCLUDING.format("sub/broken.xacro"))
    (folder / "sub" / "broken.xacro").write_text("<robot><link")
    (folder / "far.urdf.xacro").write_text(INCLUDING.format("$(find far)/part.xacro"))
    return folder


class TestXacroThatIncludesFiles:
    def test_finds_them_beside_itself_from_any_folder(self, robots, monkeypatch):
        monkeypatch.chdir(robots.parent)
        assert read_urdf("robots/good.urdf.xacro").root == "foot"

    def test_is_not_spoilt_by_a_file_before_it(self, robots, monkeypatch):
        monkeypatch.chdir(robots)
        for _ in range(2):
            assert read_urdf("good.urdf.xacro").root == "foot"
            with pytest.raises(errors.InvalidRobotFile, match="xacro cannot expand it"):
                read_urdf("bad.urdf.xacro")

    def test_knows_only_the_packages_that_are_given(self, robots):
        assert read_urdf(robots / "far.urdf.xacro", packages={"far": robots}).root == "foot"
        with pytest.raises(errors.InvalidRobotFile, match="PackageNotFound"):
            read_urdf(robots / "far.urdf.xacro")

    def test_is_read_by_many_threads(self, robots):
        files = [robots / "good.urdf.xacro", robots / "bad.urdf.xacro"] * 20
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(outcome, files))
        assert answers == ["foot", "refused"] * 20


def outcome(file):
    try:
        return read_urdf(file).root
    except errors.InvalidRobotFile:
        return "refused"
