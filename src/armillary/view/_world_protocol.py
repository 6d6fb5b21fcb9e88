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
    from armillary.transforms import JointState, RelationInfo, Snapshot, Tree


class DrawableWorld(Protocol):
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


class ViewableWorld(Protocol):
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
