"""A tree out of links and joints that may close loops and may point any way."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from armillary.formats.descriptions import JointDescription, Triple

__all__ = ["Spanning", "spanned", "turned_round"]


@dataclass(frozen=True, slots=True)
class Spanning:
    """What was found: joints that lead away from the roots, joints that close loops, and one root for each tree."""

    joints: tuple[JointDescription, ...]
    closures: tuple[JointDescription, ...]
    roots: tuple[str, ...]


@dataclass(slots=True)
class _Trees:
    """Which links hang together."""

    leader: dict[str, str] = field(default_factory=dict)

    def of(self, link: str) -> str:
        while (above := self.leader.get(link, link)) != link:
            self.leader[link] = self.leader.get(above, above)
            link = above
        return link

    def join(self, joint: JointDescription) -> bool:
        one, other = self.of(joint.parent), self.of(joint.child)
        self.leader[other] = one
        return one != other


def spanned(links: Sequence[str], joints: Sequence[JointDescription], first: str) -> Spanning:
    """Keep joints as they point where that is possible; `first` is the root of its tree."""
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
                tree[joint.name] = joint if joint.parent == link else turned_round(joint)
                waiting.append(tree[joint.name].child)
    return tree


def turned_round(joint: JointDescription) -> JointDescription:
    """The same joint, seen from its child.

    The same position means the same, but the turn of a ball is the inverse, and two angles change places.
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
