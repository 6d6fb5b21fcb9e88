"""Descriptions of what a model holds: the inverse of adding the robot of a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from armillary._core import Transform
from armillary.articulation.bases import DifferentialDrive, PlanarJoint
from armillary.articulation.joints import (
    AxisJoint,
    BallJoint,
    CylindricalJoint,
    FixedJoint,
    FloatingJoint,
    Joint,
    ScrewJoint,
    UniversalJoint,
)
from armillary.articulation.links import ArticulatedObject, Link
from armillary.articulation.loops import Closure
from armillary.articulation.paths import is_under
from armillary.errors import InvalidArgument, UnknownPath
from armillary.formats.descriptions import (
    JointDescription,
    JointKind,
    LinkDescription,
    Mimic,
    RobotDescription,
)

__all__ = ["Described", "described"]

_AXIAL: tuple[JointKind, ...] = ("revolute", "continuous", "prismatic", "screw")
_IDENTITY = Transform.identity()


@dataclass(frozen=True, slots=True)
class Described:
    """An object of a model as a description, and what of it a description cannot express, a sentence each."""

    robot: RobotDescription
    losses: tuple[str, ...]


def described(values: Mapping[str, Any], name: str | None) -> Described:
    """Describe the object of this name; the only one there is, if none is given.

    Raises:
        InvalidArgument: There is no object, or several and no name; a link is carried by something else.
    """
    return _Describing(values, _object(values, name)).described()


def _object(values: Mapping[str, Any], name: str | None) -> ArticulatedObject:
    objects = {path: value for path, value in values.items() if isinstance(value, ArticulatedObject)}
    if name is not None:
        if name not in objects:
            raise UnknownPath(name, tuple(objects))
        return objects[name]
    if len(objects) != 1:
        known = ", ".join(map(repr, objects)) or "none"
        raise InvalidArgument(f"The model has {len(objects)} objects: {known}. Give the name= of one.", name)
    return next(iter(objects.values()))


class _Describing:
    """One object on its way to a description."""

    def __init__(self, values: Mapping[str, Any], thing: ArticulatedObject) -> None:
        self._name, self._root = thing.name, thing.root
        self._values = {path: value for path, value in values.items() if is_under(path, thing.name)}
        self._links = {path: value for path, value in self._values.items() if isinstance(value, Link)}
        self._joint_names = {
            id(value): path.removeprefix(f"{thing.name}/joints/")
            for path, value in self._values.items()
            if isinstance(value, Joint)
        }
        self._losses: list[str] = []

    def described(self) -> Described:
        joints = [self._joint(path, link) for path, link in self._links.items() if path != self._root]
        root, origin, above = self._placed_root()
        shown = [self._link_description(path, link) for path, link in self._links.items()]
        robot = RobotDescription(
            name=self._name,
            links=tuple([LinkDescription(name=root), *shown] if above else shown),
            joints=tuple(self._with_leaders([*above, *joints])),
            root=root,
            origin_T_root=origin,
        )
        return Described(robot, (*self._losses, *self._other_values()))

    def _short(self, path: str) -> str:
        return path.removeprefix(f"{self._name}/links/")

    def _link_description(self, path: str, link: Link) -> LinkDescription:
        return LinkDescription(
            name=self._short(path), visuals=link.visuals, collisions=link.collisions, inertial=link.inertial
        )

    def _placed_root(self) -> tuple[str, Transform, list[JointDescription]]:
        """Return the root, where it is, and the joint by which it moves, below a further link, if it does."""
        link = self._links.get(self._root)
        if link is None or link.parent is not None:
            raise InvalidArgument(
                f"The root '{self._root}' of '{self._name}' is not a link without a parent.", self._root
            )
        if link.joint is None:
            return self._short(self._root), _IDENTITY, []
        if isinstance(link.joint, FixedJoint):
            return self._short(self._root), link.joint.parent_T_joint @ link.joint.joint_T_child, []
        names = {self._short(path) for path in self._links}
        world = next(one for one in ("world", *(f"world_{i}" for i in range(len(names) + 1))) if one not in names)
        return world, _IDENTITY, [self._moved(link.joint, world, self._short(self._root))]

    def _joint(self, path: str, link: Link) -> JointDescription:
        if link.parent not in self._links:
            carrier = "nothing" if link.parent is None else f"'{link.parent}'"
            raise InvalidArgument(
                f"The link '{path}' is carried by {carrier}, which is no part of '{self._name}'. Connect it to a link "
                "there, or describe what carries it.",
                path,
            )
        parent, child = self._short(link.parent), self._short(path)
        if link.joint is None:
            return JointDescription(name=f"{child}_fixed", kind="fixed", parent=parent, child=child)
        return self._moved(link.joint, parent, child)

    def _moved(self, joint: Joint, parent: str, child: str) -> JointDescription:
        name = self._joint_names.get(id(joint), f"{child}_joint")
        made = JointDescription(
            name=name,
            kind="fixed",
            parent=parent,
            child=child,
            parent_T_joint=joint.parent_T_joint,
            joint_T_child=joint.joint_T_child,
        )
        found = _as_its_kind(joint, made)
        if found is None:
            self._losses.append(f"the joint '{name}' is of the kind '{joint.kind or type(joint).__name__}'")
            return made
        if isinstance(joint, AxisJoint):
            mimic = Mimic(joint=joint.variable, multiplier=joint.multiplier, offset=joint.offset)
            return replace(found, mimic=mimic)
        return found

    def _with_leaders(self, joints: list[JointDescription]) -> Iterator[JointDescription]:
        """Yield the joints; each but one of those that share a variable follows that one."""
        leaders: dict[str, str] = {}
        for joint in joints:
            mimic = joint.mimic
            if mimic is not None and (mimic.multiplier, mimic.offset) == (1.0, 0.0):
                is_named_alike = mimic.joint == f"{self._name}/{joint.name}"
                leaders[mimic.joint] = joint.name if is_named_alike else leaders.get(mimic.joint, joint.name)
        for joint in joints:
            if joint.mimic is None or leaders.get(joint.mimic.joint) == joint.name:
                yield replace(joint, mimic=None)
            elif joint.mimic.joint in leaders:
                yield replace(joint, mimic=replace(joint.mimic, joint=leaders[joint.mimic.joint]))
            else:
                self._losses.append(
                    f"the joint '{joint.name}' follows '{joint.mimic.joint}', by which no joint moves itself"
                )
                yield replace(joint, mimic=None)

    def _other_values(self) -> Iterator[str]:
        for path, value in self._values.items():
            if isinstance(value, Closure):
                yield f"a kinematic loop is closed at '{path}'"
            elif not isinstance(value, Link | Joint | ArticulatedObject):
                yield f"'{path}' is neither a link nor a joint ({type(value).__name__})"


def _as_its_kind(joint: Joint, made: JointDescription) -> JointDescription | None:
    """Return the description with the kind and the fields of the joint; None for a kind that none describes."""
    fields: dict[str, Any] | None = None
    match joint:
        case FixedJoint():
            fields = {}
        case AxisJoint() if joint.kind in _AXIAL:
            pitch_m = joint.pitch_m if isinstance(joint, ScrewJoint) else None
            fields = {"kind": joint.kind, "axis": joint.axis, "soft_limits": joint.soft_limits, "pitch_m": pitch_m}
        case CylindricalJoint():
            fields = {"kind": "cylindrical", "axis": joint.axis, "second_limits": joint.slide_limits}
        case UniversalJoint():
            fields = {"kind": "universal", "axis": joint.axis, "second_axis": joint.second_axis}
            fields["second_limits"] = joint.second_limits
        case BallJoint():
            fields = {"kind": "ball"}
        case FloatingJoint():
            fields = {"kind": "floating"}
        case PlanarJoint() if not isinstance(joint, DifferentialDrive):
            fields = {"kind": "planar", "axis": joint.axis}
    if fields is None:
        return None
    return replace(made, **fields, limits=getattr(joint, "limits", None))
