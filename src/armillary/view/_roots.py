"""The frame that a picture is seen from, unless one is given."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from armillary.view._world_protocol import DrawableWorld


def default_frame(world: DrawableWorld) -> str | None:
    """Return the root with most descendants; among equal ones the root of the scene."""
    above = {name: parent and parent[0] for name, parent in world.tree().parents.items()}
    if not above:
        return None
    under = Counter(_root(name, above) for name in above)
    return max(under, key=lambda root: (under[root], root == world.root_frame))


def _root(name: str, parents: dict[str, str | None]) -> str:
    passed = {name}
    while (above := parents.get(name)) is not None and above not in passed:
        passed.add(above)
        name = above
    return name
