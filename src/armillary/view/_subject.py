"""What a picture asks of a world; the façade above this layer answers it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from armillary.stamps import LATEST, Latest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from armillary.relations import Pose, Twist
    from armillary.scene import Scene
    from armillary.transforms import RelationInfo, Snapshot, Tree


class Subject(Protocol):
    """A world, as far as it is drawn. `armillary.World` is one."""

    @property
    def name(self) -> str:
        """The world's own name."""

    @property
    def root_frame(self) -> str:
        """The frame of the scene's root."""

    @property
    def scene(self) -> Scene:
        """What is in the world."""

    def snapshot(self, *, in_frame: str, at: int | Latest = LATEST) -> Snapshot:
        """Where every frame is."""

    def tree(self, at: int | Latest = LATEST) -> Tree:
        """Which frame hangs under which."""

    def relations(self) -> tuple[RelationInfo, ...]:
        """How each pose is known."""

    def pose(self, *, of: str, in_frame: str, at: int | Latest = LATEST) -> Pose:
        """Where a frame is, seen from another."""

    def twist(self, *, of: str, relative_to: str, expressed_in: str, at: int | Latest) -> Twist:
        """How a frame moves."""

    def transforms(self, *, of: str, in_frame: str, at: ArrayLike, as_: str) -> NDArray[np.float64]:
        """`in_frame_T_of` at many instants."""
