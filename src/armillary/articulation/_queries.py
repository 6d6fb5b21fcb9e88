"""What can be asked of the values of a model."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from armillary.articulation.constraints import Constraint
from armillary.articulation.expressions._base import Symbolic
from armillary.articulation.joints import Joint
from armillary.articulation.links import Link, chain_of
from armillary.articulation.loops import Closure
from armillary.articulation.paths import joined
from armillary.articulation.variables import Variable

__all__ = ["Affected", "affected_in", "constraints_in"]


@dataclass(frozen=True, slots=True)
class Affected:
    """What some variables move.

    Attributes:
        links: The paths of the links.
        geometry: The paths of the shapes on these links, as in `robot/links/door/visuals/0`.
        expressions: The paths of other expressions that depend on these variables.
    """

    links: tuple[str, ...]
    geometry: tuple[str, ...]
    expressions: tuple[str, ...]


def constraints_in(values: Mapping[str, Any]) -> dict[str, Constraint]:
    """Those that stand at a path of their own, and those of joints and loops.

    As in `robot/joints/hinge/constraints/position`.
    """
    found: dict[str, Constraint] = {}
    for path, value in values.items():
        if isinstance(value, Constraint):
            found[path] = value
        elif isinstance(value, Joint | Closure):
            found.update({joined(path, "constraints", name): one for name, one in value.constraints.items()})
    return found


def affected_in(values: Mapping[str, Any], names: Collection[str]) -> Affected:
    """What the variables of these names move."""
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
    return any(variable.name in names for variable in _directions(expression))


def _directions(expression: Symbolic[Any]) -> set[Variable]:
    return {*expression.free_variables, *expression.gradient()}


def _shapes(path: str, link: Link) -> list[str]:
    kinds = {"visuals": link.visuals, "collisions": link.collisions}
    return [joined(path, kind, str(i)) for kind, shapes in kinds.items() for i in range(len(shapes))]
