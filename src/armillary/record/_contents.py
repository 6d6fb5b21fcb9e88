"""What there is to save in a world beside what its models and its nodes bring by themselves."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from armillary._core import Transform

__all__ = ["Contents", "FixedPose", "contents_of", "is_of_a_node"]


@dataclass(frozen=True, slots=True, eq=False)
class FixedPose:
    """A pose that is known from `since` on, or always."""

    of: str
    in_frame: str
    source: str
    since: int | None
    transform: Transform
    covariance: NDArray[Any] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """What somebody said of a world.

    Attributes:
        frames: Names, in the order they came.
        fixed: In the order in which they can be said again.
        orphans: Poses that joints drive, whose model is not mounted here: (of, in_frame, source).
    """

    frames: tuple[str, ...]
    fixed: tuple[FixedPose, ...]
    orphans: tuple[tuple[str, str, str], ...]


def contents_of(world: Any) -> Contents:
    """All of it."""
    bare = _with_the_models_alone(world)
    brought, known = set(bare.frames()), {_written(pose) for pose in _fixed(bare)}
    driven = {edge[:3] for edge in bare._driven_poses()}  # noqa: SLF001  (a part of the world, in a package of its own)
    said = [pose for pose in _fixed(world) if _written(pose) not in known]
    return Contents(
        frames=tuple(name for name in world.frames() if name not in brought and not is_of_a_node(name)),
        fixed=tuple(sorted(said, key=lambda pose: (pose.since is not None, pose.since or 0))),
        orphans=tuple(edge[:3] for edge in world._driven_poses() if edge[:3] not in driven),  # noqa: SLF001
    )


def _with_the_models_alone(world: Any) -> Any:
    """A world in which the same models stand, and nothing else is."""
    bare = type(world)(world.name, root_frame=world.root_frame)
    for mount in world.mounts:
        bare._mount_again(mount.model, {}, asdict(mount.standing)).close()  # noqa: SLF001
    bare.close()
    return bare


def _fixed(world: Any) -> list[FixedPose]:
    return [FixedPose(*row) for row in world._fixed_poses() if not is_of_a_node(row[0])]  # noqa: SLF001


def _written(pose: FixedPose) -> tuple[Any, ...]:
    spread = None if pose.covariance is None else pose.covariance.tobytes()
    return pose.of, pose.in_frame, pose.source, pose.since, pose.transform.matrix.tobytes(), spread


def is_of_a_node(frame: str) -> bool:
    """Whether a node of the scene made this frame."""
    try:
        UUID(frame.removesuffix("/mount"))
    except ValueError:
        return False
    return True
