"""What a search needs to know of a scene."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from armillary.shapes import Shape
from armillary.stamps import Latest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from armillary.fusion.policies import AnyPolicy

__all__ = ["PlaceQuestion", "Placements", "SceneGeometry"]


class PlaceQuestion(NamedTuple):
    """When, and how, it is asked where frames are: as for `world.pose`."""

    at: int | Latest
    outside: str = "raise"
    policy: AnyPolicy = "unique"


class Placements(NamedTuple):
    """Where frames are at one instant.

    Attributes:
        matrices: `in_frame_T_frame` of each frame, shape (N, 4, 4); NaN where it is not known.
        is_fixed: Which of them have one place at every instant, for as long as the version stays, shape (N,).
    """

    matrices: NDArray[np.float64]
    is_fixed: NDArray[np.bool_]


class SceneGeometry(Protocol):
    """One version of a scene, as far as its shapes and their places are concerned; never changes but for samples."""

    @property
    def version(self) -> object:
        """Another object whenever a child, a shape, a frame or a fixed pose is another."""

    def changed_since(self, version: object) -> Collection[Hashable] | None:
        """The nodes whose children, shape, frame or fixed pose differ from those in that version; None: any of them."""

    def children(self, node: Hashable) -> Sequence[Hashable]:
        """In order."""

    def parents(self, node: Hashable) -> Sequence[Hashable]:
        """None of the root, and of nodes that are no longer there."""

    def shape(self, node: Hashable) -> Shape | None:
        """None where the node is no geometry."""

    def frame(self, node: Hashable) -> str:
        """In which its shape and its children's spheres are given."""

    def in_frame_T_frames(self, in_frame: str, frames: Sequence[str], question: PlaceQuestion) -> Placements:
        """Where all of these frames are."""

    def in_parent_T_node(self, parent: Hashable, node: Hashable, at: int | Latest) -> NDArray[np.float64]:
        """Where a node is in one of its parents, shape (4, 4), whatever the others say; NaN where that is not known."""
