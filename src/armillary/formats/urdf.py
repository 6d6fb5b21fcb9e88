"""Reading URDF."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike

from armillary.formats._tree import part_of
from armillary.formats._urdf_checks import checked_root, unique
from armillary.formats._urdf_joints import joint_of
from armillary.formats._urdf_links import link_of, materials_of
from armillary.formats._xacro import expanded, is_xacro
from armillary.formats._xml import Element, Source, parsed, source_of
from armillary.formats.descriptions import RobotDescription
from armillary.formats.packages import FileFinder, PackageFolders

__all__ = ["read_urdf"]


def read_urdf(
    path_or_text: str | PathLike[str],
    *,
    packages: PackageFolders = (),
    root: str | None = None,
    tips: Sequence[str] | None = None,
    arguments: Mapping[str, str] | None = None,
) -> RobotDescription:
    """Read a robot from URDF.

    A file whose name ends in `.xacro` is expanded first, by xacrodoc. Xacro evaluates expressions: expand only what you
    trust.

    Args:
        path_or_text: The file, or its text, which begins with `<`.
        packages: Where `package://` leads: a mapping from a package to its folder, or folders that hold packages. The
            folders around the file and those of a ROS environment are searched as well. Meshes that are not found are
            no error here; `missing_meshes` tells them all.
        root: Reads only what hangs under this link.
        tips: Reads only what lies between the root and these links.
        arguments: What xacro calls arguments.

    Raises:
        InvalidRobotFile: With file, line and element of what is wrong.
        UnknownLink: `root` or one of the `tips` is not in the file.

    >>> text = '''<robot name="lamp"><link name="foot"/><link name="head"/>
    ...   <joint name="neck" type="continuous"><parent link="foot"/><child link="head"/><axis xyz="0 0 2"/></joint>
    ... </robot>'''
    >>> lamp = read_urdf(text)
    >>> lamp.root, lamp.joint_by_name["neck"].axis
    ('foot', (0.0, 0.0, 1.0))
    """
    source = expanded(path_or_text, arguments or {}, packages) if is_xacro(path_or_text) else source_of(path_or_text)
    return part_of(_robot(parsed(source), source, packages), root, tips)


def _robot(element: Element, source: Source, packages: PackageFolders) -> RobotDescription:
    if element.tag != "robot":
        raise element.refused("the outermost element of URDF is <robot>", "Give a URDF file.")
    _refuse_xacro(element)
    files = FileFinder(packages, None if source.path is None else source.path.parent)
    materials = materials_of(element)
    links = unique((found, link_of(found, materials, files)) for found in element.children("link"))
    joints = unique((found, joint_of(found)) for found in element.children("joint"))
    return RobotDescription(
        name=element.name() if element.get("name") else ("robot" if source.path is None else source.path.stem),
        links=tuple(link for _, link in links.values()),
        joints=tuple(joint for _, joint in joints.values()),
        root=checked_root(element, links, joints),
    )


def _refuse_xacro(robot: Element) -> None:
    for child in robot.children():
        if "xacro" in child.tag.partition("}")[0]:
            raise child.refused("this is xacro, which is not expanded yet", "Give the file a name that ends in .xacro.")
