"""What a search found, and what it took."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Item = TypeVar("Item")


class RayHit(NamedTuple):
    """Where a ray meets a node.

    Attributes:
        id: The node.
        distance_m: From the origin of the ray; 0 where that is in the shape.
        point: Shape (3,) [m], in the frame of the question.
    """

    id: Any
    distance_m: float
    point: NDArray[np.float64]


class _Found(Sequence[Item], Generic[Item]):
    """A sequence that knows how it was found.

    Attributes:
        visited: How many nodes had their sphere or their shape tested. The others were ruled out with a node above.
        missing: Nodes whose frames had no pose at the instant asked for: they and what they carry were left out.
    """

    def __init__(self, items: Sequence[Item], *, visited: int, missing: Sequence[Hashable]) -> None:
        self._items, self.visited, self.missing = tuple(items), visited, tuple(missing)

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, index: Any) -> Any:
        return self._items[index]

    def __repr__(self) -> str:
        lost = f", {len(self.missing)} missing" if self.missing else ""
        return f"{type(self).__name__}({list(self._items)!r}, {self.visited} visited{lost})"


class Overlaps(_Found[Any]):
    """The nodes whose shapes have a point in common with a given one."""


class RayHits(_Found[RayHit]):
    """The nodes that a ray meets, the nearest first."""
