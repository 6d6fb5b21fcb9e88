"""Reading SDFormat."""

from __future__ import annotations

from os import PathLike

from armillary.formats._sdf_assembling import assembled
from armillary.formats._sdf_collecting import models_of
from armillary.formats.descriptions import RobotDescription
from armillary.formats.packages import PackageFolders

__all__ = ["read_sdf"]


def read_sdf(path_or_text: str | PathLike[str], *, packages: PackageFolders = ()) -> tuple[RobotDescription, ...]:
    """Read every model of an SDFormat file, of its worlds too.

    Nested and included models become part of the model they are in; their links and joints are named `inner::link`. A
    link may sit off its joint (`joint_T_child`) and joints may close loops (`closures`), which URDF cannot say. What
    hangs on the world, and what hangs on nothing, hangs on a link named `world`; a model that is one piece and stands
    free has its own root, placed by `origin_T_root`.

    Args:
        path_or_text: The file, or its text, which begins with `<`.
        packages: Where `model://` and `package://` lead; as for `read_urdf`.

    Raises:
        InvalidRobotFile: With file, line and element of what is wrong.

    >>> text = '''<sdf version="1.9"><model name="lamp">
    ...   <link name="foot"/><link name="head"><pose>0 0 1 0 0 0</pose></link>
    ...   <joint name="neck" type="ball"><parent>foot</parent><child>head</child></joint></model></sdf>'''
    >>> (lamp,) = read_sdf(text)
    >>> lamp.joints[0].kind, lamp.joints[0].parent_T_joint.translation
    ('ball', array([0., 0., 1.]))
    """
    return tuple(assembled(model) for model in models_of(path_or_text, packages))
