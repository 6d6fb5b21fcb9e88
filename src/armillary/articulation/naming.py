"""What links and variables of a model are called in a world."""

from __future__ import annotations

from collections.abc import Mapping

from armillary.articulation.links import ArticulatedObject
from armillary.errors import InvalidArgument

__all__ = ["Naming"]


class Naming:
    """`robot/links/gripper` is the frame `robot/gripper`, and a prefix takes the place of `robot/`.

    Args:
        objects: The articulated objects of the model, by path.
        prefix: In place of the name of the object and its slash; None: as the model says.
    """

    def __init__(self, objects: Mapping[str, ArticulatedObject], prefix: str | None) -> None:
        if prefix is not None and len(objects) > 1:
            named = ", ".join(f"'{name}'" for name in objects)
            raise InvalidArgument(
                f"One prefix was given for a model of several things ({named}), whose links would share names. Leave "
                "it out, or mount them one by one with under=.",
                prefix,
            )
        self._prefix = prefix
        self._names = sorted(objects, key=len, reverse=True)

    def frame(self, link: str) -> str:
        """Of a link, by its path."""
        for name in self._names:
            if link.startswith(f"{name}/links/"):
                return self._before(name) + link.removeprefix(f"{name}/links/")
        return link

    def variable(self, variable: str) -> str:
        """Of a degree of freedom, by its name in the model."""
        for name in self._names:
            if variable.startswith(f"{name}/"):
                return self._before(name) + variable.removeprefix(f"{name}/")
        return variable

    def _before(self, name: str) -> str:
        return f"{name}/" if self._prefix is None else self._prefix
