"""What there is to save in a world beside what its models and its nodes bring by themselves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from armillary.scene import AddBody, AddFrame, AddRelation, AddTwistRelation, Change, Fix, Prefer
from armillary.scene.frame_records import frame_change_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from armillary._core import Transform

__all__ = ["Contents", "FixedPose", "Kept", "contents_of"]

C = TypeVar("C", bound=Change)

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
        bodies: With the frames on them.
        sampled: Who places what in what by samples.
        measured: Who measures how what moves.
        preferences: Whom everybody believes.
        kept: What remembers more or less than the others.
        orphans: Poses that joints drive, whose model is not mounted here: (of, in_frame, source).
    """

    frames: tuple[str, ...]
    fixed: tuple[FixedPose, ...]
    bodies: tuple[AddBody, ...]
    sampled: tuple[AddRelation, ...]
    measured: tuple[AddTwistRelation, ...]
    preferences: tuple[Prefer, ...]
    kept: tuple[Kept, ...]
    orphans: tuple[tuple[str, str, str], ...]


def contents_of(world: Any) -> Contents:
    """All of it."""
    bare = _with_the_models_alone(world)
    brought, known = set(bare.frames()), {_written(pose) for pose in _fixed(_said(bare, Fix))}
    driven = {edge[:3] for edge in bare._driven_poses()}  # noqa: SLF001  (a part of the world, in a package of its own)
    fixed = [pose for pose in _fixed(_said(world, Fix)) if _written(pose) not in known]
    order = {name: i for i, name in enumerate(world.frames())}
    speaking = {(of, source) for of, _, source, *_ in world._relations()}  # noqa: SLF001
    named = {name for change in _said(world, AddFrame) for name in change.names} - brought
    return Contents(
        frames=tuple(name for name in world.frames() if name in named),
        fixed=tuple(sorted(fixed, key=lambda pose: (pose.since is not None, pose.since or 0, order[pose.of]))),
        bodies=tuple(sorted(_said(world, AddBody), key=lambda body: world.bodies().index(body.name))),
        sampled=_sorted([said for said in _said(world, AddRelation) if _is_there(world, said)]),
        measured=_sorted(_said(world, AddTwistRelation)),
        preferences=_sorted([said for said in _said(world, Prefer) if (said.of, said.source) in speaking]),
        kept=tuple(_kept(world)),
        orphans=tuple(edge[:3] for edge in world._driven_poses() if edge[:3] not in driven),  # noqa: SLF001
    )


def _said(world: Any, kind: type[C]) -> list[C]:
    """What makes an equal world, of one kind."""
    changes = (frame_change_of(record) for record in world._said())  # noqa: SLF001
    return [change for change in changes if isinstance(change, kind)]


def _is_there(world: Any, said: AddRelation) -> bool:
    """What something else took the place of at the same instant is remembered, and nowhere any more."""
    return bool(world._relation_id(said.of, said.in_frame, said.source) != _NO_RELATION)  # noqa: SLF001


def _sorted(changes: list[C]) -> tuple[C, ...]:
    return tuple(sorted(changes, key=repr))


def _with_the_models_alone(world: Any) -> Any:
    """A world in which the same models stand, and nothing else is."""
    bare = type(world)(world.name, root_frame=world.root_frame)
    for mount in world.mounts:
        bare._mount_again(mount.model, {}, asdict(mount.standing)).close()  # noqa: SLF001
    bare.close()
    return bare


def _fixed(said: list[Fix]) -> list[FixedPose]:
    return [
        FixedPose(fix.of, fix.in_frame, fix.source or "", fix.at, fix.transform, fix.covariance, fix.is_unsure)  # type: ignore[arg-type]  # they come from the core
        for fix in said
    ]


def _kept(world: Any) -> Iterator[Kept]:
    usual = world._retention(_NO_RELATION)  # noqa: SLF001
    placed = {_names(said) for said in _said(world, AddRelation)} | {_names(said) for said in _said(world, Fix)}
    for of, in_frame, source, kind, *_ in world._relations():  # noqa: SLF001
        is_twist = kind == "twist"
        if not is_twist and (of, in_frame, source) not in placed:
            continue
        find = world._twist_relation_id if is_twist else world._relation_id  # noqa: SLF001
        kept = world._retention(find(of, in_frame, source))  # noqa: SLF001
        if kept != usual:
            yield Kept("twist" if is_twist else "pose", of, in_frame, source, *kept)


def _names(said: AddRelation | Fix) -> tuple[str, str, str | None]:
    return said.of, said.in_frame, said.source


def _written(pose: FixedPose) -> tuple[Any, ...]:
    spread = None if pose.covariance is None else pose.covariance.tobytes()
    numbers = pose.transform.matrix.tobytes(), spread, pose.is_unsure
    return pose.of, pose.in_frame, pose.source, pose.since, *numbers
