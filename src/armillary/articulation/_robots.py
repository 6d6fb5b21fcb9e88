"""Operations that make the robot of a description."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from armillary._core import Transform
from armillary.articulation.bases import PlanarJoint
from armillary.articulation.history import Apply, Edit
from armillary.articulation.joints import (
    QUATERNION,
    AxisJoint,
    BallJoint,
    ContinuousJoint,
    CylindricalJoint,
    FixedJoint,
    FloatingJoint,
    Joint,
    PrismaticJoint,
    RevoluteJoint,
    ScrewJoint,
    UniversalJoint,
)
from armillary.articulation.operations import AddJoint, AddLink, AddMimicJoint, AddObject, Connect
from armillary.errors import InvalidArgument
from armillary.formats.descriptions import JointDescription, JointKind, LinkDescription, RobotDescription

__all__ = ["edits_of", "initial_values", "joint_of", "link_edits"]

Maker = Callable[[JointDescription, str, Mapping[str, Any]], Joint]


def edits_of(robot: RobotDescription, name: str) -> list[Edit]:
    """Return the edits that add a robot: object, links, joints, and last the connections (thesis figure 3.6).

    The joints that close kinematic loops are left to `closing_edits`.
    """
    root = _link(name, robot.root)
    return [
        Apply(f"create {name}", AddObject(name=name, root=root)),
        *(_link_edit(name, link) for link in robot.links),
        *_placed(robot, name, root),
        *(_joint_edit(name, joint) for joint in _leaders_first(robot)),
        *(_connection(name, joint) for joint in robot.joints),
    ]


def link_edits(link: AddLink, joint: Joint | None, parent: str | None) -> list[Edit]:
    """Return the edits that add a link, its joint and its connection; `a/joints/b` is the joint of `a/links/b`."""
    made: list[Edit] = [Apply(f"create {link.path}", link)]
    path = None
    if joint is not None:
        before, inside, name = link.path.rpartition("/links/")
        path = f"{before}/joints/{name}" if inside else f"{link.path}/joint"
        made.append(Apply(f"create {path}", AddJoint(path=path, joint=joint)))
    if joint is not None or parent is not None:
        connected = Connect(child=link.path, joint=path, parent=parent)
        made.append(Apply(f"connect {parent or 'world'} {link.path}", connected))
    return made


def joint_of(description: JointDescription, variable: str) -> Joint:
    """Return the joint of a description, with a variable of this name, or several whose names begin with it."""
    frames = {"parent_T_joint": description.parent_T_joint, "joint_T_child": description.joint_T_child}
    return _MAKERS[description.kind](description, variable, frames)


def initial_values(robot: RobotDescription, name: str) -> dict[str, float]:
    """Return the positions that the file gives, by name of a variable; zero and no rotation where it gives none."""
    found: dict[str, float] = {}
    for description in (*robot.joints, *robot.closures):
        joint = joint_of(description, f"{name}/{description.name}")
        names = [variable.name for variable in joint.variables]
        usual = [1.0 if one.endswith("/" + QUATERNION[0]) else 0.0 for one in names]
        if description.mimic is None or not isinstance(joint, AxisJoint):
            found.update(zip(names, description.initial or usual, strict=True))
    return found


def _axial(kind: type[AxisJoint]) -> Maker:
    return lambda description, variable, frames: kind(
        variable=variable,
        axis=description.axis,
        limits=description.limits,
        soft_limits=description.soft_limits,
        **frames,
    )


def _screw(description: JointDescription, variable: str, frames: Mapping[str, Any]) -> Joint:
    return ScrewJoint(
        variable=variable,
        axis=description.axis,
        limits=description.limits,
        soft_limits=description.soft_limits,
        pitch_m=description.pitch_m or 0.0,
        **frames,
    )


def _cylindrical(description: JointDescription, variable: str, frames: Mapping[str, Any]) -> Joint:
    return CylindricalJoint(
        variable=variable,
        axis=description.axis,
        limits=description.limits,
        slide_limits=description.second_limits,
        **frames,
    )


def _universal(description: JointDescription, variable: str, frames: Mapping[str, Any]) -> Joint:
    return UniversalJoint(
        variable=variable,
        axis=description.axis,
        second_axis=description.second_axis or (0.0, 1.0, 0.0),
        limits=description.limits,
        second_limits=description.second_limits,
        **frames,
    )


_MAKERS: dict[JointKind, Maker] = {
    "fixed": lambda _, __, frames: FixedJoint(**frames),
    "revolute": _axial(RevoluteJoint),
    "continuous": _axial(ContinuousJoint),
    "prismatic": _axial(PrismaticJoint),
    "screw": _screw,
    "planar": lambda description, variable, frames: PlanarJoint(variable=variable, axis=description.axis, **frames),
    "cylindrical": _cylindrical,
    "universal": _universal,
    "revolute2": _universal,
    "ball": lambda _, variable, frames: BallJoint(variable=variable, **frames),
    "floating": lambda _, variable, frames: FloatingJoint(variable=variable, **frames),
}


def _link_edit(name: str, link: LinkDescription) -> Edit:
    path = _link(name, link.name)
    made = AddLink(path=path, visuals=link.visuals, collisions=link.collisions, inertial=link.inertial)
    return Apply(f"create {path}", made)


def _placed(robot: RobotDescription, name: str, root: str) -> Iterator[Edit]:
    """Yield the edits that place the root as the file does, if it does."""
    if robot.origin_T_root == Transform.identity():
        return
    path = f"{name}/joints/origin"
    yield Apply(f"create {path}", AddJoint(path=path, joint=FixedJoint(parent_T_joint=robot.origin_T_root)))
    yield Apply(f"connect world {root}", Connect(child=root, joint=path))


def _joint_edit(name: str, description: JointDescription) -> Edit:
    path, joint = f"{name}/joints/{description.name}", joint_of(description, f"{name}/{description.name}")
    if description.mimic is None or isinstance(joint, FixedJoint):
        return Apply(f"create {path}", AddJoint(path=path, joint=joint))
    if not isinstance(joint, AxisJoint):
        raise InvalidArgument(
            f"Joint '{path}' cannot follow another: it has not one degree of freedom.", description.mimic
        )
    leader = f"{name}/joints/{description.mimic.joint}"
    follows = AddMimicJoint(
        path=path, joint=joint, leader=leader, multiplier=description.mimic.multiplier, offset=description.mimic.offset
    )
    return Apply(f"create {path}", follows)


def _connection(name: str, description: JointDescription) -> Edit:
    parent, child = _link(name, description.parent), _link(name, description.child)
    made = Connect(child=child, parent=parent, joint=f"{name}/joints/{description.name}")
    return Apply(f"connect {parent} {child}", made)


def _leaders_first(robot: RobotDescription) -> Iterator[JointDescription]:
    """Yield each joint after the one it follows; a cycle of followers comes in the order of the file."""
    done: set[str] = set()
    for joint in robot.joints:
        waiting = [joint]
        while (mimic := waiting[-1].mimic) is not None and mimic.joint not in done:
            leader = robot.joint_by_name.get(mimic.joint)
            if leader is None or leader in waiting:
                break
            waiting.append(leader)
        for ready in reversed(waiting):
            if ready.name not in done:
                done.add(ready.name)
                yield ready


def _link(name: str, link: str) -> str:
    return f"{name}/links/{link}"
