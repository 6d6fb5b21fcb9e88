"""What a search needs to know of a scene, and what it returns."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

from armillary.shapes import Shape
from armillary.stamps import Latest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from armillary.fusion.policies import AnyPolicy

Item = TypeVar("Item")


class PlaceQuestion(NamedTuple):
    """The instant, and how poses are asked for: as for `world.pose`."""

    at: int | Latest
    outside: str = "raise"
    policy: AnyPolicy = "unique"
    hold_up_to_s: float | None = None


class Placements(NamedTuple):
    """The poses of frames at one instant.

    Attributes:
        matrices: `in_frame_T_frame` of each frame, shape (N, 4, 4); NaN where it is unknown.
        is_fixed: Which of them have one pose at every instant, while the version stays, shape (N,).
    """

    matrices: NDArray[np.float64]
    is_fixed: NDArray[np.bool_]


class SceneGeometry(Protocol):
    """One version of a scene, reduced to its shapes and their poses; constant but for samples."""

    @property
    def version(self) -> object:
        """An object that is replaced whenever a child, a shape, a frame or a fixed pose changes."""

    def changed_since(self, version: object) -> Collection[Hashable] | None:
        """The nodes whose children, shape, frame or fixed pose differ from that version; None: possibly all."""

    def children(self, node: Hashable) -> Sequence[Hashable]:
        """The children of a node, in order."""

    def parents(self, node: Hashable) -> Sequence[Hashable]:
        """The parents of a node; empty for the root and for nodes that were removed."""

    def shape(self, node: Hashable) -> Shape | None:
        """The shape of a node; None where it is no geometry."""

    def frame(self, node: Hashable) -> str:
        """The frame in which its shape and its children's spheres are given."""

    def in_frame_T_frames(self, in_frame: str, frames: Sequence[str], question: PlaceQuestion) -> Placements:
        """The poses of these frames in another one."""

    def in_parent_T_node(self, parent: Hashable, node: Hashable, at: int | Latest) -> NDArray[np.float64]:
        """The pose of a node in one of its parents, shape (4, 4), by that containment alone; NaN where unknown."""


class RayHit(NamedTuple):
    """A point at which a ray meets the shape of a node.

    Attributes:
        id: The node.
        distance_m: From the origin of the ray; 0 where that is inside the shape.
        point: Shape (3,) [m], in the frame of the question.
    """

    id: Any
    distance_m: float
    point: NDArray[np.float64]


class NearNode(NamedTuple):
    """A node near a point.

    Attributes:
        id: The node.
        distance_m: From the point to the surface of its shape; 0 inside.
    """

    id: Any
    distance_m: float


class _Results(Sequence[Item], Generic[Item]):
    """The results of a search, and how they were found.

    Attributes:
        visited: How many nodes had their sphere or their shape tested. The others were ruled out with a node above.
        missing: Nodes whose frames had no pose at the instant asked for: they and their subgraphs were left out.
    """

    def __init__(self, items: Sequence[Item], *, visited: int, missing: Sequence[Hashable]) -> None:
        self._items, self.visited, self.missing = tuple(items), visited, tuple(missing)

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, index: Any) -> Any:
        return self._items[index]

    def __repr__(self) -> str:
        missing = f", {len(self.missing)} missing" if self.missing else ""
        return f"{type(self).__name__}({list(self._items)!r}, {self.visited} visited{missing})"


class Overlaps(_Results[Any]):
    """The nodes whose shapes have a point in common with a given one."""


class RayHits(_Results[RayHit]):
    """The nodes that a ray meets, the nearest first."""


class NearNodes(_Results[NearNode]):
    """The nodes nearest to a point, the nearest first."""
