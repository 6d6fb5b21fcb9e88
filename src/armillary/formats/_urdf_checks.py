"""What must hold between the links and the joints of one URDF file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from armillary.formats._tree import loop_among
from armillary.formats._xml import Element, meant
from armillary.formats.descriptions import JointDescription, LinkDescription

__all__ = ["checked_root", "unique"]

Named = TypeVar("Named", LinkDescription, JointDescription)
Links = Mapping[str, tuple[Element, LinkDescription]]
Joints = Mapping[str, tuple[Element, JointDescription]]


def unique(read: Iterable[tuple[Element, Named]]) -> dict[str, tuple[Element, Named]]:
    """By name; a name that two have is refused."""
    found: dict[str, tuple[Element, Named]] = {}
    for element, value in read:
        if value.name in found:
            first = found[value.name][0].xml.sourceline
            raise element.refused(f"line {first} has a <{element.tag}> of this name already", "Rename one.")
        found[value.name] = element, value
    return found


def checked_root(robot: Element, links: Links, joints: Joints) -> str:
    """The one link that nothing carries; everything else that does not fit is refused."""
    carriers: dict[str, str] = {}
    for element, joint in joints.values():
        _check_link(element, joint.parent, links)
        _check_link(element, joint.child, links)
        if joint.child in carriers:
            reason = f"the link '{joint.child}' is carried by the joint '{carriers[joint.child]}' already"
            raise element.refused(reason, "URDF describes trees: let one joint carry it.")
        carriers[joint.child] = joint.name
    _check_leaders(joints)
    _check_loops(joints, carriers)
    return _only_root(robot, links, carriers)


def _check_link(joint: Element, link: str, links: Links) -> None:
    if link not in links:
        raise joint.refused(f"there is no link '{link}'", meant(link, links))


def _check_leaders(joints: Joints) -> None:
    follows = {name: joint.mimic.joint for name, (_, joint) in joints.items() if joint.mimic is not None}
    for name, leader in follows.items():
        if leader not in joints:
            raise joints[name][0].refused(f"it follows the joint '{leader}', which is not there", meant(leader, joints))
    circle = loop_among(follows)
    if circle is not None:
        raise joints[circle[0]][0].refused(f"joints follow each other in a circle: {', '.join(circle)}")


def _check_loops(joints: Joints, carriers: Mapping[str, str]) -> None:
    circle = loop_among({child: joints[name][1].parent for child, name in carriers.items()})
    if circle is not None:
        raise joints[carriers[circle[0]]][0].refused(f"links carry each other in a circle: {', '.join(circle)}")


def _only_root(robot: Element, links: Links, carriers: Mapping[str, str]) -> str:
    roots = [name for name in links if name not in carriers]
    if not roots:
        raise robot.refused("it has no link")
    if len(roots) > 1:
        raise links[roots[1]][0].refused(
            f"no joint carries it, and none carries '{roots[0]}' either", "Join them: a robot has one root."
        )
    return roots[0]
