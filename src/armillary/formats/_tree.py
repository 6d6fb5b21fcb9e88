"""Trees of links and joints: cycles, parts of a tree, and a spanning tree with the joints that close loops."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from armillary.errors import InvalidArgument, UnknownLink
from armillary.formats.descriptions import JointDescription, RobotDescription, Triple

__all__ = ["Spanning", "find_cycle", "reversed_joint", "select_part", "spanning_tree"]


def find_cycle(follows: dict[str, str]) -> list[str] | None:
    """Return the names of a cycle, the first one repeated at the end; None where there is no cycle."""
    done: set[str] = set()
    for start in follows:
        path: dict[str, None] = {}
        name: str | None = start
        while name is not None and name not in done and name not in path:
            path[name] = None
            name = follows.get(name)
        if name is not None and name in path:
            names = list(path)
            return [*names[names.index(name) :], name]
        done.update(path)
    return None


def select_part(robot: RobotDescription, root: str | None, tips: Sequence[str] | None) -> RobotDescription:
    """Return the links below `root`; with `tips`, only those on the paths to them."""
    if root is None and tips is None:
        return robot
    start = robot.root if root is None else _known(robot, root)
    kept = _below(robot, start)
    if tips is not None:
        kept = _leading_to(robot, start, [_known(robot, tip) for tip in _as_list(tips)], kept)
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


def _as_list(tips: Sequence[str]) -> Sequence[str]:
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


def _leading_to(robot: RobotDescription, start: str, tips: list[str], below: set[str]) -> set[str]:
    joint_by_child = {joint.child: joint for joint in robot.joints}
    kept = {start}
    for tip in tips:
        if tip not in below:
            raise InvalidArgument(f"The tip '{tip}' is not below the root '{start}'. Choose a root above it.", tip)
        link = tip
        while link not in kept:
            kept.add(link)
            link = joint_by_child[link].parent
    return kept


def _check_leaders(part: RobotDescription) -> None:
    for joint in part.joints:
        if joint.mimic is not None and joint.mimic.joint not in part.joint_by_name:
            raise InvalidArgument(
                f"The joint '{joint.name}' follows the joint '{joint.mimic.joint}', which is not in this part of "
                f"'{part.name}'. Choose root= and tips= so that both or neither are in it.",
                joint.mimic.joint,
            )


@dataclass(frozen=True, slots=True)
class Spanning:
    """A spanning forest: joints that lead away from the roots, joints that close loops, one root for each tree."""

    joints: tuple[JointDescription, ...]
    closures: tuple[JointDescription, ...]
    roots: tuple[str, ...]


@dataclass(slots=True)
class _Trees:
    """Which links are connected: a union-find structure."""

    leader: dict[str, str] = field(default_factory=dict)

    def of(self, link: str) -> str:
        """Return the representative of the tree that holds a link."""
        while (leader := self.leader.get(link, link)) != link:
            self.leader[link] = self.leader.get(leader, leader)
            link = leader
        return link

    def join(self, joint: JointDescription) -> bool:
        """Join the trees of both ends of a joint; False if they are one tree already."""
        one, other = self.of(joint.parent), self.of(joint.child)
        self.leader[other] = one
        return one != other


def spanning_tree(links: Sequence[str], joints: Sequence[JointDescription], first: str) -> Spanning:
    """Return a spanning forest that keeps the direction of joints where possible; `first` is the root of its tree."""
    trees, carried, kept, other = _Trees(), {first}, set(), []
    for joint in joints:
        if joint.child not in carried and trees.join(joint):
            carried.add(joint.child)
            kept.add(joint.name)
        else:
            other.append(joint)
    kept.update(joint.name for joint in other if trees.join(joint))
    roots = _roots(links, carried - {first}, first, trees)
    tree = _away_from(roots, [joint for joint in joints if joint.name in kept])
    return Spanning(
        tuple(tree[joint.name] for joint in joints if joint.name in kept),
        tuple(joint for joint in joints if joint.name not in kept),
        roots,
    )


def _roots(links: Sequence[str], carried: set[str], first: str, trees: _Trees) -> tuple[str, ...]:
    found = {trees.of(first): first}
    for link in (*(link for link in links if link not in carried), *links):
        found.setdefault(trees.of(link), link)
    return tuple(found.values())


def _away_from(roots: Iterable[str], joints: Sequence[JointDescription]) -> dict[str, JointDescription]:
    at: dict[str, list[JointDescription]] = {}
    for joint in joints:
        at.setdefault(joint.parent, []).append(joint)
        at.setdefault(joint.child, []).append(joint)
    tree: dict[str, JointDescription] = {}
    waiting = list(roots)
    while waiting:
        link = waiting.pop()
        for joint in at.get(link, ()):
            if joint.name not in tree:
                tree[joint.name] = joint if joint.parent == link else reversed_joint(joint)
                waiting.append(tree[joint.name].child)
    return tree


def reversed_joint(joint: JointDescription) -> JointDescription:
    """Return the joint with parent and child exchanged.

    Positions keep their meaning, but the rotation of a ball joint is inverted, and two angles are exchanged.
    """
    axes = (joint.axis, joint.second_axis)
    first, second = axes if joint.second_axis is None else (joint.second_axis, joint.axis)
    return replace(
        joint,
        parent=joint.child,
        child=joint.parent,
        parent_T_joint=joint.joint_T_child.inverse(),
        joint_T_child=joint.parent_T_joint.inverse(),
        axis=_opposite(first or joint.axis),
        second_axis=None if second is None else _opposite(second),
        limits=joint.limits if joint.second_axis is None else joint.second_limits,
        second_limits=joint.second_limits if joint.second_axis is None else joint.limits,
    )


def _opposite(axis: Triple) -> Triple:
    x, y, z = axis
    return 0.0 - x, 0.0 - y, 0.0 - z
