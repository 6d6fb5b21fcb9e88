"""What there is to save in a world beside what its models and its nodes bring by themselves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from armillary._core import Transform

__all__ = ["Contents", "FixedPose", "Kept", "Sampled", "contents_of", "is_of_a_node"]

_NO_RELATION = 0xFFFFFFFF


@dataclass(frozen=True, slots=True, eq=False)
class FixedPose:
    """A pose that is known from `since` on, or always."""

    of: str
    in_frame: str
    source: str
    since: int | None
    transform: Transform
    covariance: NDArray[Any] | None
    is_unsure: bool = False


@dataclass(frozen=True, slots=True)
class Sampled:
    """Somebody places a frame by samples, the oldest that is kept at `since`."""

    of: str
    in_frame: str
    source: str
    since: int


@dataclass(frozen=True, slots=True)
class Kept:
    """How much one relation remembers, where that is not what the others do; `max_samples` 0 is any number."""

    kind: str
    of: str
    in_frame: str
    source: str
    history_ns: int
    max_samples: int
    thin_m: float
    thin_rad: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """What somebody said of a world.

    Attributes:
        frames: Names, in the order they came.
        fixed: In the order in which they can be said again.
        sampled: Who places what in what by samples.
        measured: Who measures how what moves: (of, relative_to, source).
        kept: What remembers more or less than the others.
        orphans: Poses that joints drive, whose model is not mounted here: (of, in_frame, source).
    """

    frames: tuple[str, ...]
    fixed: tuple[FixedPose, ...]
    sampled: tuple[Sampled, ...]
    measured: tuple[tuple[str, str, str], ...]
    kept: tuple[Kept, ...]
    orphans: tuple[tuple[str, str, str], ...]


def contents_of(world: Any) -> Contents:
    """All of it."""
    bare = _with_the_models_alone(world)
    brought, known = set(bare.frames()), {_written(pose) for pose in _fixed(bare)}
    driven = {edge[:3] for edge in bare._driven_poses()}  # noqa: SLF001  (a part of the world, in a package of its own)
    said = [pose for pose in _fixed(world) if _written(pose) not in known]
    return Contents(
        frames=tuple(name for name in world.frames() if name not in brought and _is_said(world, name)),
        fixed=tuple(sorted(said, key=lambda pose: (pose.since is not None, pose.since or 0))),
        sampled=tuple(_sampled(edge) for edge in _relations(world) if edge[3] == "sampled"),
        measured=tuple(edge[:3] for edge in _relations(world) if edge[3] == "twist"),
        kept=tuple(_kept(world)),
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


def _relations(world: Any) -> list[tuple[Any, ...]]:
    return [edge for edge in world._relations() if edge[3] != "driven" and not is_of_a_node(edge[0])]  # noqa: SLF001


def _sampled(edge: tuple[Any, ...]) -> Sampled:
    of, in_frame, source, _, _, first, _ = edge
    return Sampled(of, in_frame, source, first or 0)


def _kept(world: Any) -> Iterator[Kept]:
    usual = world._retention(_NO_RELATION)  # noqa: SLF001
    for of, in_frame, source, kind, *_ in _relations(world):
        is_twist = kind == "twist"
        find = world._twist_relation_id if is_twist else world._relation_id  # noqa: SLF001
        kept = world._retention(find(of, in_frame, source))  # noqa: SLF001
        if kept != usual:
            yield Kept("twist" if is_twist else "pose", of, in_frame, source, *kept)


def _written(pose: FixedPose) -> tuple[Any, ...]:
    spread = None if pose.covariance is None else pose.covariance.tobytes()
    numbers = pose.transform.matrix.tobytes(), spread, pose.is_unsure
    return pose.of, pose.in_frame, pose.source, pose.since, *numbers


def _is_said(world: Any, frame: str) -> bool:
    """Whether somebody named it; that of the root comes with the scene."""
    return bool(world._is_named(frame)) and not is_of_a_node(frame)  # noqa: SLF001


def is_of_a_node(frame: str) -> bool:
    """Whether a node of the scene made this frame."""
    try:
        UUID(frame.removesuffix("/mount"))
    except ValueError:
        return False
    return True
