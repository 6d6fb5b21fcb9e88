"""Links, and the articulated objects that they belong to."""

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
    """One rigid part, its parent and its joint.

    Attributes:
        visuals: The shapes that are seen.
        collisions: The shapes that collide.
        inertial: Mass and inertia; None where unknown.
        parent: The path of the link that carries it; None for the frame of the whole model.
        joint: How it moves in its parent; None where it is fixed to it.
    """

    readable: ClassVar[tuple[str, ...]] = ("visuals", "collisions", "inertial", "parent", "joint", "parent_T_link")

    visuals: tuple[ShapeDescription, ...] = ()
    collisions: tuple[ShapeDescription, ...] = ()
    inertial: Inertial | None = None
    parent: str | None = None
    joint: Joint | None = None

    @property
    def parent_T_link(self) -> PoseExpression:
        """The pose of the link in its parent."""
        return PoseExpression.identity() if self.joint is None else self.joint.parent_T_child


@dataclass(frozen=True, slots=True, kw_only=True)
class ArticulatedObject:
    """A robot, a kitchen, a door: the links and joints under one path.

    Attributes:
        name: Its path; its links are at `name/links/...`, its joints at `name/joints/...`.
        root: The path of the link that carries all others.
    """

    name: str
    root: str


def chain_of(path: str, link_at: Callable[[str], Link]) -> list[str]:
    """Return the paths of a link and of all links that carry it, up to the one without a parent.

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
    """Check that no link carries itself, and that what carries others stays a link."""
    safe: set[str] = set()  # from here on up there is no loop
    for path in changed:
        if not isinstance(values.get(path), Link):
            _check_carried(values, path)
        else:
            chain, seen, above = [path], {path}, _link_at(values, path).parent
            while above is not None and above not in safe:
                chain.append(above)
                if above in seen:
                    raise LinkLoop(chain[chain.index(above) :])
                seen.add(above)
                above = _link_at(values, above).parent
            safe |= seen


def _check_carried(values: Overlay[str, Any], path: str) -> None:
    """Check that a path without a link, or that lost its link, carries none."""
    if isinstance(values.before(path), Link):
        carried = next((p for p in values if isinstance(values[p], Link) and values[p].parent == path), None)
        if carried is not None:
            raise WrongValue(path, f"Link to carry '{carried}'", type(values.get(path)).__name__)


def _link_at(values: Overlay[str, Any], path: str) -> Link:
    found = values.get(path)
    if not isinstance(found, Link):
        raise WrongValue(path, "Link", type(found).__name__)
    return found
