"""Links and joints make one tree; a part of it is a tree again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from armillary.errors import InvalidArgument, UnknownLink
from armillary.formats.descriptions import JointDescription, RobotDescription

__all__ = ["above", "loop_among", "part_of"]


def above(joints: Iterable[JointDescription]) -> dict[str, JointDescription]:
    """The joint that carries each link."""
    return {joint.child: joint for joint in joints}


def loop_among(follows: dict[str, str]) -> list[str] | None:
    """Names that follow each other in a circle, the first one repeated at the end; None where there are none."""
    done: set[str] = set()
    for start in follows:
        way: dict[str, None] = {}
        name: str | None = start
        while name is not None and name not in done and name not in way:
            way[name] = None
            name = follows.get(name)
        if name is not None and name in way:
            circle = list(way)
            return [*circle[circle.index(name) :], name]
        done.update(way)
    return None


def part_of(robot: RobotDescription, root: str | None, tips: Sequence[str] | None) -> RobotDescription:
    """The links under `root`, and of these only what leads to the tips where some are given."""
    if root is None and tips is None:
        return robot
    start = robot.root if root is None else _known(robot, root)
    kept = _below(robot, start)
    if tips is not None:
        kept = _towards(robot, start, [_known(robot, tip) for tip in _several(tips)], kept)
    part = replace(
        robot,
        links=tuple(link for link in robot.links if link.name in kept),
        joints=tuple(joint for joint in robot.joints if joint.child in kept and joint.child != start),
        closures=tuple(joint for joint in robot.closures if {joint.parent, joint.child} <= kept),
        root=start,
        origin_T_root=robot.origin_T_root if start == robot.root else type(robot.origin_T_root).identity(),
    )
    _check_leaders(part)
    return part


def _several(tips: Sequence[str]) -> Sequence[str]:
    if isinstance(tips, str):
        raise InvalidArgument(f"tips is a list of links, got the str {tips!r}. Pass [{tips!r}].", tips)
    return tips


def _known(robot: RobotDescription, link: str) -> str:
    if link not in robot.link_by_name:
        raise UnknownLink(link, robot.name, tuple(robot.link_by_name))
    return link


def _below(robot: RobotDescription, start: str) -> set[str]:
    kept = {start}
    for joint in robot.joints_from_root:
        if joint.parent in kept:
            kept.add(joint.child)
    return kept


def _towards(robot: RobotDescription, start: str, tips: list[str], below: set[str]) -> set[str]:
    carriers = above(robot.joints)
    kept = {start}
    for tip in tips:
        if tip not in below:
            raise InvalidArgument(
                f"The tip '{tip}' does not hang under the root '{start}'. Choose a root above it.", tip
            )
        link = tip
        while link not in kept:
            kept.add(link)
            link = carriers[link].parent
    return kept


def _check_leaders(part: RobotDescription) -> None:
    for joint in part.joints:
        if joint.mimic is not None and joint.mimic.joint not in part.joint_by_name:
            raise InvalidArgument(
                f"The joint '{joint.name}' follows the joint '{joint.mimic.joint}', which is not in this part of "
                f"'{part.name}'. Choose root= and tips= so that both or neither are in it.",
                joint.mimic.joint,
            )
