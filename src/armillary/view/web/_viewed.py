"""What the viewer asks of a world; the façade above this layer answers it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from armillary.stamps import LATEST, Latest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from armillary.relations import Pose, Twist
    from armillary.scene import Scene
    from armillary.transforms import JointState, RelationInfo, Snapshot, Tree


class MountedModel(Protocol):
    """A model that stands in a world."""

    @property
    def model(self) -> Any:
        """The articulation model."""

    @property
    def joints(self) -> Mapping[str, str]:
        """By name of a variable in the model, the name of the joint in the world."""

    @property
    def dependents(self) -> frozenset[str]:
        """The joints that follow from others."""

    @property
    def limits(self) -> Mapping[str, tuple[float, float]]:
        """By joint, how far it may go."""


class Viewed(Protocol):
    """A world, as far as it is looked at. `armillary.World` is one."""

    root_frame: str

    @property
    def name(self) -> str:
        """The world's own name."""

    @property
    def scene(self) -> Scene:
        """The things in it."""

    @property
    def mounts(self) -> Sequence[MountedModel]:
        """The models in it."""

    def now(self) -> int:
        """Its clock [ns]."""

    def frames(self) -> tuple[str, ...]:
        """All names."""

    def tree(self, at: int | Latest = LATEST) -> Tree:
        """Which frame hangs under which."""

    def relations(self) -> tuple[RelationInfo, ...]:
        """How each pose is known."""

    def snapshot(self, *, in_frame: str, at: int | Latest, outside: str) -> Snapshot:
        """All frames at one instant."""

    def pose(self, *, of: str, in_frame: str, at: int | Latest, outside: str = ..., policy: Any = ...) -> Pose:
        """One frame at one instant."""

    def twist(self, *, of: str, relative_to: str, expressed_in: str, at: int | Latest, outside: str = ...) -> Twist:
        """How one frame moves at one instant."""

    def transforms(self, *, of: str, in_frame: str, at: ArrayLike, as_: str) -> NDArray[np.float64]:
        """`in_frame_T_of` at many instants."""

    def joints(self) -> tuple[str, ...]:
        """Names of the joints."""

    def joint(self, name: str, *, at: int | Latest = LATEST, outside: str = ...) -> JointState:
        """Where one joint is."""

    def set_joints(self, joints: Mapping[str, float], *, at: int) -> None:
        """Where joints are from now on."""
