"""What a model holds of a thing: its links, and that they belong together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from armillary.articulation._overlay import Overlay
from armillary.articulation.expressions import PoseExpression
from armillary.articulation.joints import Joint
from armillary.errors import LinkLoop, WrongValue
from armillary.formats.descriptions import Inertial, ShapeDescription

__all__ = ["ArticulatedObject", "Link", "chain_of", "check_links"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One rigid part and what carries it.

    Attributes:
        visuals: What it looks like.
        collisions: What it can touch with.
        inertial: What it weighs; None where nobody said.
        parent: The path of the link that carries it; None for the frame in which the whole model stands.
        joint: How it moves in its parent; None where it stands still on it.
    """

    readable: ClassVar[tuple[str, ...]] = ("visuals", "collisions", "inertial", "parent", "joint", "parent_T_link")

    visuals: tuple[ShapeDescription, ...] = ()
    collisions: tuple[ShapeDescription, ...] = ()
    inertial: Inertial | None = None
    parent: str | None = None
    joint: Joint | None = None

    @property
    def parent_T_link(self) -> PoseExpression:
        """Where it is in its parent."""
        return PoseExpression.identity() if self.joint is None else self.joint.parent_T_child


@dataclass(frozen=True, slots=True, kw_only=True)
class ArticulatedObject:
    """A robot, a kitchen, a door: what the links and joints under one path are together.

    Attributes:
        name: The path it is at; its links are at `name/links/...`, its joints at `name/joints/...`.
        root: The path of the link that carries all others.
    """

    name: str
    root: str


def chain_of(path: str, link_at: Callable[[str], Link]) -> list[str]:
    """The paths of a link and of all that carry it, up to the one that nothing carries.

    A link that would carry itself ends the chain where it appears again.
    """
    chain, seen = [path], {path}
    while (above := link_at(chain[-1]).parent) is not None:
        chain.append(above)
        if above in seen:
            break
        seen.add(above)
    return chain


def check_links(values: Overlay[str, Any], changed: Sequence[str]) -> None:
    """No link carries itself, and what carries others stays a link."""
    for path in changed:
        if not isinstance(values.get(path), Link):
            _check_carried(values, path)
        else:
            chain = chain_of(path, lambda above: _carrying(values, above))
            if chain[-1] in chain[:-1]:
                raise LinkLoop(chain[chain.index(chain[-1]) :])


def _check_carried(values: Overlay[str, Any], path: str) -> None:
    """Of a path that holds no link, or none any more."""
    if isinstance(values.before(path), Link):
        carried = next((p for p in values if isinstance(values[p], Link) and values[p].parent == path), None)
        if carried is not None:
            raise WrongValue(path, f"Link to carry '{carried}'", type(values.get(path)).__name__)


def _carrying(values: Overlay[str, Any], path: str) -> Link:
    found = values.get(path)
    if not isinstance(found, Link):
        raise WrongValue(path, "Link", type(found).__name__)
    return found
