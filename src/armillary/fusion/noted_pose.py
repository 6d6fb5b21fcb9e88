"""Poses that say how they were obtained."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from armillary.relations import Pose
from armillary.relations.storage import trusted

__all__ = ["NotedPose"]


class NotedPose(Pose):
    """A `Pose` with notes of how it was obtained. What is computed from it is a plain `Pose`.

    A note is stored under its name with an underscore in front; a subclass names them in `_NOTES` and has slots for
    them.
    """

    __slots__ = ()
    _NOTES: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def _noted(cls, pose: Pose, changes: dict[str, Any], notes: dict[str, Any]) -> Self:
        """Return a pose with changes to its fields, and with notes."""
        plain = {name: getattr(pose, name) for name in cls._FIELDS}
        return trusted(cls, **(plain | changes), **notes)

    def _notes(self) -> dict[str, Any]:
        """Return the notes, for comparing and pickling."""
        return {name: getattr(self, f"_{name}") for name in self._NOTES}

    def _fields(self) -> dict[str, Any]:
        return super()._fields() | self._notes()

    def _fill(self, fields: dict[str, Any]) -> None:
        super()._fill({name: value for name, value in fields.items() if name not in self._NOTES})
        for name in self._NOTES:
            object.__setattr__(self, f"_{name}", fields[name])

    def _replace(self, **changes: Any) -> Pose:  # type: ignore[override]  # what is computed from it has no notes
        return trusted(Pose, **(super()._fields() | changes))

    def __eq__(self, other: object) -> bool:
        return self._replace() == (other._replace() if isinstance(other, NotedPose) else other)

    def __hash__(self) -> int:
        return hash(self._replace())

    def __matmul__(self, other: Any) -> Any:
        return self._replace() @ other
