"""Queries over the values of a model: parts of values, poses of links, constraints, and what variables affect."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from armillary.articulation.constraints import Constraint
from armillary.articulation.expressions import PoseExpression
from armillary.articulation.expressions.base import Symbolic
from armillary.articulation.joints import Joint
from armillary.articulation.links import Link, chain_of
from armillary.articulation.loops import Closure
from armillary.errors import UnknownPath

__all__ = ["Affected", "PoseCache", "affected_in", "constraints_in", "value_at"]


def value_at(path: str, values: Mapping[str, Any]) -> Any:
    """Return the value stored at a path, or the part of a stored value that the path leads to.

    As in `robot/joints/hinge/motion` and `robot/links/door/visuals/0`.
    """
    if path in values:
        return values[path]
    above, names = path, list[str]()
    while "/" in above:
        above, _, name = above.rpartition("/")
        names.insert(0, name)
        if above in values:
            return _part(path, values[above], names, values)
    raise UnknownPath(path, tuple(values))


def _part(path: str, value: Any, names: list[str], values: Mapping[str, Any]) -> Any:
    for name in names:
        if isinstance(value, Mapping) and name in value:
            value = value[name]
        elif isinstance(value, tuple) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        elif name in getattr(type(value), "readable", ()):
            value = getattr(value, name)
        else:
            raise UnknownPath(path, tuple(values))
    return value


class PoseCache:
    """The poses of the links that were asked for, each with the link and the parent's pose it was made of.

    Asking again costs a walk up to the root, and a product for each link on the way whose value, or whose parent's
    pose, is another one now.
    """

    def __init__(self, link_at: Callable[[str], Link]) -> None:
        self._link_at = link_at
        self._known: dict[str, tuple[Link, PoseExpression | None, PoseExpression]] = {}

    def pose(self, path: str) -> PoseExpression:
        """Return root_T_link."""
        above: PoseExpression | None = None
        for below in reversed(chain_of(path, self._link_at)):
            above = self._below(below, above)
        return PoseExpression.identity() if above is None else above

    def between(self, path: str, reference: str) -> PoseExpression:
        """Return reference_T_link, by the links between the two alone."""
        down, up = self._apart(path, reference)
        return self._product(up).inverse() @ self._product(down) if up else self._product(down)

    def in_common(self, one: str, other: str) -> tuple[PoseExpression, PoseExpression]:
        """Return the poses of two links in the nearest link that carries both, or else in the model."""
        first, second = self._apart(one, other)
        return self._product(first), self._product(second)

    def _apart(self, one: str, other: str) -> tuple[list[str], list[str]]:
        """Return the links from each of two links up to, and without, the nearest one that carries both."""
        first, second = chain_of(one, self._link_at), chain_of(other, self._link_at)
        while first and second and first[-1] == second[-1]:
            first.pop()
            second.pop()
        return first, second

    def forget(self, paths: frozenset[str]) -> None:
        """Remove the poses of links that no longer exist."""
        for path in paths:
            self._known.pop(path, None)

    def _below(self, path: str, above: PoseExpression | None) -> PoseExpression:
        link = self._link_at(path)
        known = self._known.get(path)
        if known is not None and known[0] is link and known[1] is above:
            return known[2]
        made = link.parent_T_link if above is None else above @ link.parent_T_link
        self._known[path] = (link, above, made)
        return made

    def _product(self, chain: list[str]) -> PoseExpression:
        poses = [self._link_at(path).parent_T_link for path in reversed(chain)]
        product = PoseExpression.identity() if not poses else poses[0]
        for pose in poses[1:]:
            product = product @ pose
        return product


@dataclass(frozen=True, slots=True)
class Affected:
    """The parts of a model that some variables move.

    Attributes:
        links: The paths of the links.
        geometry: The paths of the shapes on these links, as in `robot/links/door/visuals/0`.
        expressions: The paths of other expressions that depend on these variables.
    """

    links: tuple[str, ...]
    geometry: tuple[str, ...]
    expressions: tuple[str, ...]


def constraints_in(values: Mapping[str, Any]) -> dict[str, Constraint]:
    """Return the constraints with a path of their own, and those of joints and kinematic loops.

    As in `robot/joints/hinge/constraints/position`.
    """
    found: dict[str, Constraint] = {}
    for path, value in values.items():
        if isinstance(value, Constraint):
            found[path] = value
        elif isinstance(value, Joint | Closure):
            found.update({f"{path}/constraints/{name}": one for name, one in value.constraints.items()})
    return found


def affected_in(values: Mapping[str, Any], names: Collection[str]) -> Affected:
    """Return what the variables of these names move."""
    links = {path: value for path, value in values.items() if isinstance(value, Link)}
    own = {path for path, link in links.items() if link.joint is not None and _moves_by(link.joint, names)}
    moved = [path for path in links if own.intersection(chain_of(path, links.__getitem__))] if own else []
    return Affected(
        tuple(moved),
        tuple(shape for path in moved for shape in _shapes(path, links[path])),
        tuple(path for path, value in values.items() if isinstance(value, Symbolic) and _depends(value, names)),
    )


def _moves_by(joint: Joint, names: Collection[str]) -> bool:
    return any(variable.name in names for variable in (*joint.variables, *joint.velocities))


def _depends(expression: Symbolic[Any], names: Collection[str]) -> bool:
    return any(variable.name in names for variable in (*expression.free_variables, *expression.gradient()))


def _shapes(path: str, link: Link) -> list[str]:
    kinds = {"visuals": link.visuals, "collisions": link.collisions}
    return [f"{path}/{kind}/{i}" for kind, shapes in kinds.items() for i in range(len(shapes))]
