"""Operations that make the robot of a description."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from armillary._core import Transform
from armillary.articulation.bases import PlanarJoint
from armillary.articulation.history import Apply, Edit
from armillary.articulation.joints import (
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
from armillary.articulation.paths import joined
from armillary.errors import InvalidArgument
from armillary.formats.descriptions import JointDescription, JointKind, LinkDescription, RobotDescription

__all__ = ["edits_of", "joint_of"]

Maker = Callable[[JointDescription, str], Joint]


def edits_of(robot: RobotDescription, name: str) -> list[Edit]:
    """The thing, its links, its joints, and last what hangs under what (thesis figure 3.6)."""
    if robot.closures:
        closing = ", ".join(f"'{joint.name}'" for joint in robot.closures)
        raise InvalidArgument(
            f"'{name}' has joints that close loops ({closing}), which hang nothing. Leave them out of the description "
            "and say them as closures.",
            robot.closures,
        )
    root = _link(name, robot.root)
    return [
        Apply(f"create {name}", AddObject(name=name, root=root)),
        *(_link_edit(name, link) for link in robot.links),
        *_placed(robot, name, root),
        *(_joint_edit(name, joint) for joint in _leaders_first(robot)),
        *(_connection(name, joint) for joint in robot.joints),
    ]


def joint_of(said: JointDescription, variable: str) -> Joint:
    """The joint of a description, by a variable of this name, or by several whose names begin with it."""
    joint = _MAKERS[said.kind](said, variable)
    return replace(joint, parent_T_joint=said.parent_T_joint, joint_T_child=said.joint_T_child)


def _axial(kind: type[AxisJoint]) -> Maker:
    return lambda said, variable: kind(
        variable=variable, axis=said.axis, limits=said.limits, soft_limits=said.soft_limits
    )


def _screw(said: JointDescription, variable: str) -> Joint:
    return ScrewJoint(
        variable=variable,
        axis=said.axis,
        limits=said.limits,
        soft_limits=said.soft_limits,
        pitch_m=said.pitch_m or 0.0,
    )


def _cylindrical(said: JointDescription, variable: str) -> Joint:
    return CylindricalJoint(variable=variable, axis=said.axis, limits=said.limits, slide_limits=said.second_limits)


def _universal(said: JointDescription, variable: str) -> Joint:
    return UniversalJoint(
        variable=variable,
        axis=said.axis,
        second_axis=said.second_axis or (0.0, 1.0, 0.0),
        limits=said.limits,
        second_limits=said.second_limits,
    )


_MAKERS: dict[JointKind, Maker] = {
    "fixed": lambda _, __: FixedJoint(),
    "revolute": _axial(RevoluteJoint),
    "continuous": _axial(ContinuousJoint),
    "prismatic": _axial(PrismaticJoint),
    "screw": _screw,
    "planar": lambda said, variable: PlanarJoint(variable=variable, axis=said.axis),
    "cylindrical": _cylindrical,
    "universal": _universal,
    "revolute2": _universal,
    "ball": lambda _, variable: BallJoint(variable=variable),
    "floating": lambda _, variable: FloatingJoint(variable=variable),
}


def _link_edit(name: str, link: LinkDescription) -> Edit:
    path = _link(name, link.name)
    made = AddLink(path=path, visuals=link.visuals, collisions=link.collisions, inertial=link.inertial)
    return Apply(f"create {path}", made)


def _placed(robot: RobotDescription, name: str, root: str) -> Iterator[Edit]:
    """Where the file says that the root stands, if it says so."""
    if robot.origin_T_root == Transform.identity():
        return
    path = joined(name, "joints", "origin")
    yield Apply(f"create {path}", AddJoint(path=path, joint=FixedJoint(parent_T_joint=robot.origin_T_root)))
    yield Apply(f"connect world {root}", Connect(child=root, joint=path))


def _joint_edit(name: str, said: JointDescription) -> Edit:
    path, joint = joined(name, "joints", said.name), joint_of(said, joined(name, said.name))
    if said.mimic is None or isinstance(joint, FixedJoint):
        return Apply(f"create {path}", AddJoint(path=path, joint=joint))
    if not isinstance(joint, AxisJoint):
        raise InvalidArgument(f"Joint '{path}' cannot follow another: it has not one degree of freedom.", said.mimic)
    leader = joined(name, "joints", said.mimic.joint)
    follows = AddMimicJoint(
        path=path, joint=joint, leader=leader, multiplier=said.mimic.multiplier, offset=said.mimic.offset
    )
    return Apply(f"create {path}", follows)


def _connection(name: str, said: JointDescription) -> Edit:
    parent, child = _link(name, said.parent), _link(name, said.child)
    made = Connect(child=child, parent=parent, joint=joined(name, "joints", said.name))
    return Apply(f"connect {parent} {child}", made)


def _leaders_first(robot: RobotDescription) -> Iterator[JointDescription]:
    """Each joint after the one it follows; a circle of followers comes in the order of the file."""
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
    return joined(name, "links", link)
