"""The methods of a world that pictures and the viewer use. `armillary.World` has all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from armillary.stamps import LATEST, Latest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from armillary.relations import Pose, Twist
    from armillary.scene import Scene
    from armillary.store.query import Outside
    from armillary.transforms import JointState, RelationInfo, Snapshot, Tree


class DrawableWorld(Protocol):
    """World that a static picture shows."""

    @property
    def name(self) -> str:
        """Name of the world."""

    @property
    def root_frame(self) -> str:
        """Frame of the root of the scene."""

    @property
    def scene(self) -> Scene:
        """Scene graph."""

    def tree(self, at: int | Latest = LATEST) -> Tree:
        """Return the parents of all frames."""

    def relations(self) -> tuple[RelationInfo, ...]:
        """Return kind, rate, age and source of all relations."""

    def newest_stamp(self) -> int | None:
        """Return the newest stamp of all samples."""

    def snapshot(self, *, in_frame: str, at: int | Latest = LATEST, outside: Outside = ...) -> Snapshot:
        """Return the poses of all frames in one frame."""

    def pose(
        self, *, of: str, in_frame: str, at: int | Latest = LATEST, outside: Outside = ..., policy: Any = ...
    ) -> Pose:
        """Return the pose of a frame in another."""

    def twist(
        self, *, of: str, relative_to: str, expressed_in: str, at: int | Latest = LATEST, policy: Any = ...
    ) -> Twist:
        """Return the twist of a frame relative to another."""

    def transforms(self, *, of: str, in_frame: str, at: ArrayLike, as_: str) -> NDArray[np.float64]:
        """Return `in_frame_T_of` at many instants."""


class MountedModel(Protocol):
    """Model that is mounted in a world."""

    @property
    def model(self) -> Any:
        """Articulation model."""

    @property
    def joints(self) -> Mapping[str, str]:
        """Names of the joints in the world, by variable of the model."""

    @property
    def dependents(self) -> frozenset[str]:
        """Joints whose position depends on others."""

    @property
    def limits(self) -> Mapping[str, tuple[float, float]]:
        """Lower and upper limit of each joint."""


class ViewableWorld(DrawableWorld, Protocol):
    """World that the web viewer shows, and whose joints it moves."""

    @property
    def mounts(self) -> Sequence[MountedModel]:
        """Mounted models."""

    def now(self) -> int:
        """Return the time of the world's clock [ns]."""

    def copy(self) -> Any:
        """Return an independent copy."""

    def close(self) -> None:
        """Close the world."""

    def frames(self) -> tuple[str, ...]:
        """Return the names of all frames."""

    def joints(self) -> tuple[str, ...]:
        """Return the names of all joints."""

    def joint(self, name: str, *, at: int | Latest = LATEST, outside: Outside = ...) -> JointState:
        """Return the state of one joint."""

    def set_joints(self, joints: Mapping[str, float], *, at: int) -> None:
        """Write the positions of joints."""
