"""What a model holds of a thing: its links, and that they belong together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from armillary.articulation.expressions import PoseExpression
from armillary.articulation.joints import Joint
from armillary.formats.descriptions import Inertial, ShapeDescription

__all__ = ["ArticulatedObject", "Link", "chain_of"]


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
