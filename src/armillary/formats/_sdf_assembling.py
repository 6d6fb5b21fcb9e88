"""Descriptions out of what an SDFormat file holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from armillary._core import Transform
from armillary.formats._sdf_collecting import SdfModel
from armillary.formats._sdf_frames import SCOPE, WORLD
from armillary.formats._spanning import Spanning, spanned
from armillary.formats._tree import loop_among
from armillary.formats.descriptions import JointDescription, JointKind, LinkDescription, RobotDescription

__all__ = ["assembled"]

_IDENTITY = Transform.identity()


def assembled(model: SdfModel) -> RobotDescription:
    """One model as a tree, with the joints that close loops beside it."""
    joints = [joint.placed(model.frames) for joint in model.joints]
    names = [link.name for link in model.links]
    on_world = any(WORLD in {joint.parent, joint.child} for joint in joints)
    first = WORLD if on_world else _top(model, joints)
    found = spanned([WORLD, *names] if on_world else names, joints, first)
    _check_leaders(model, found)
    if len(found.roots) == 1 and not on_world:
        return _described(model, model.links, found, first)
    hung = [_hung(model, root, joints) for root in found.roots if root != WORLD]
    whole = Spanning((*found.joints, *hung), found.closures, (WORLD,))
    return _described(model, [LinkDescription(name=WORLD), *model.links], whole, WORLD)


def _top(model: SdfModel, joints: Sequence[JointDescription]) -> str:
    """The link that carries the canonical one and is not carried itself."""
    carriers: dict[str, str] = {}
    for joint in joints:
        carriers.setdefault(joint.child, joint.parent)
    link, seen = model.frames.link_of(model.canonical, model.element), set[str]()
    while link in carriers and link not in seen:
        seen.add(link)
        link = carriers[link]
    return link


def _hung(model: SdfModel, root: str, joints: Sequence[JointDescription]) -> JointDescription:
    """What hangs on nothing moves freely, or stands where its model stands still."""
    name = f"{root}_in_{WORLD}"
    while any(joint.name == name for joint in joints):
        name += "_"
    place = model.frames.world_T(root, model.element)
    kind: JointKind = "fixed" if model.is_static else "floating"
    return JointDescription(name=name, kind=kind, parent=WORLD, child=root, parent_T_joint=place)


def _check_leaders(model: SdfModel, found: Spanning) -> None:
    elements = {joint.name: joint.element for joint in model.joints}
    known = {joint.name for joint in found.joints}
    follows = {joint.name: joint.mimic.joint for joint in found.joints if joint.mimic is not None}
    for name, leader in follows.items():
        if leader not in known:
            raise elements[name].refused(f"it follows the joint '{leader}', which is not there or closes a loop")
    circle = loop_among(follows)
    if circle is not None:
        raise elements[circle[0]].refused(f"joints follow each other in a circle: {', '.join(circle)}")


def _described(model: SdfModel, links: Sequence[LinkDescription], found: Spanning, root: str) -> RobotDescription:
    scope = model.name + SCOPE
    return RobotDescription(
        name=model.name,
        links=tuple(replace(link, name=link.name.removeprefix(scope)) for link in links),
        joints=tuple(_inside(joint, scope) for joint in found.joints),
        closures=tuple(_inside(joint, scope) for joint in found.closures),
        root=root.removeprefix(scope),
        origin_T_root=_IDENTITY if root == WORLD else model.frames.world_T(root, model.element),
    )


def _inside(joint: JointDescription, scope: str) -> JointDescription:
    """With names as they are inside the model."""
    mimic = joint.mimic
    return replace(
        joint,
        name=joint.name.removeprefix(scope),
        parent=joint.parent.removeprefix(scope),
        child=joint.child.removeprefix(scope),
        mimic=None if mimic is None else replace(mimic, joint=mimic.joint.removeprefix(scope)),
    )
