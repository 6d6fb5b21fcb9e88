"""Where links are in the model: products along the links that carry them, kept until one of them changes."""

from __future__ import annotations

from collections.abc import Callable

from armillary.articulation.expressions import PoseExpression
from armillary.articulation.links import Link, chain_of

__all__ = ["PoseCache"]


class PoseCache:
    """The pose of each link that was asked for, with the link and the pose it was made of.

    One that is asked again costs a walk up to the root, and a product for each link on the way whose value, or whose
    parent's pose, is another one now.
    """

    def __init__(self, link_at: Callable[[str], Link]) -> None:
        self._link_at = link_at
        self._known: dict[str, tuple[Link, PoseExpression | None, PoseExpression]] = {}

    def pose(self, path: str) -> PoseExpression:
        """root_T_link."""
        above: PoseExpression | None = None
        for below in reversed(chain_of(path, self._link_at)):
            above = self._below(below, above)
        return PoseExpression.identity() if above is None else above

    def between(self, path: str, reference: str) -> PoseExpression:
        """reference_T_link, by the links between the two alone."""
        down, up = chain_of(path, self._link_at), chain_of(reference, self._link_at)
        while down and up and down[-1] == up[-1]:
            down.pop()
            up.pop()
        top_T_link, top_T_reference = self._product(down), self._product(up)
        return top_T_reference.inverse() @ top_T_link if up else top_T_link

    def forget(self, paths: frozenset[str]) -> None:
        """Let go of what belongs to links that are gone."""
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
