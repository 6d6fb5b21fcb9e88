"""What there is to save in a world beside what its models and its nodes bring by themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from armillary.errors import ArmillaryError
from armillary.scene import AddBody, AddFrame, AddParent, AddRelation, AddTwistRelation, Change, Fix, Prefer
from armillary.store.records import frame_change_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from armillary._core import Transform

__all__ = ["Contents", "FixedPose", "Kept", "Words", "contents_of"]

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
class Words:
    """What somebody said of frames.

    Attributes:
        fixed: In the order in which they can be said again.
        bodies: With the frames on them.
        sampled: Who places what in what by samples.
        measured: Who measures how what moves.
        preferences: Whom everybody believes.
    """

    fixed: tuple[FixedPose, ...]
    bodies: tuple[AddBody, ...]
    sampled: tuple[AddRelation, ...]
    measured: tuple[AddTwistRelation, ...]
    preferences: tuple[Prefer, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """What there is to save.

    Attributes:
        frames: Names, in the order they came.
        words: What can be said again by one alone.
        refused: What counts as well, and cannot.
        always: What contradicts what counts, for always: its source forgets what it said of the frame before.
        again: What counts and has to be said after that.
        inactive: What else contradicts what counts.
        circles: Containment of nodes that are there, and that would lead back.
        kept: What remembers more or less than the others.
        orphans: Poses that joints drive, whose model is not mounted here: (of, in_frame, source).
    """

    frames: tuple[str, ...]
    words: Words
    refused: Words
    always: Words
    again: Words
    inactive: Words
    circles: tuple[AddParent, ...]
    kept: tuple[Kept, ...]
    orphans: tuple[tuple[str, str, str], ...]


def contents_of(world: Any) -> Contents:
    """All of it."""
    bare, said = _with_the_models_alone(world), _all_said(world)
    driven = {edge[:3] for edge in bare.store.driven_poses()}
    named = {name for change in _said(said, AddFrame) for name in change.names} - set(bare.frames())
    frames = tuple(name for name in world.frames() if name in named)
    known = {_written(pose) for pose in _fixed(_said(_all_said(bare), Fix))}
    idle = _idle(world)
    refused = _refused(bare, frames, _words(world, said, known, lambda key: key not in idle))
    bare.close()
    always = {key for key in idle if _is_for_always(key)}
    again = _of_tracks(said, always) - idle | _of_tracks(said, filter(_is_for_always, refused)) - idle - refused
    apart = idle | refused | again
    return Contents(
        frames=frames,
        words=_words(world, said, known, lambda key: key not in apart),
        refused=_words(world, said, known, (refused - again).__contains__),
        always=_words(world, said, known, always.__contains__),
        again=_words(world, said, known, again.__contains__),
        inactive=_words(world, said, known, (idle - always).__contains__),
        circles=tuple(_circles(world)),
        kept=tuple(_kept(world, said)),
        orphans=tuple(edge[:3] for edge in world.store.driven_poses() if edge[:3] not in driven),
    )


def _words(world: Any, said: list[Change], known: set[_Key], is_meant: Callable[[_Key], bool]) -> Words:
    """But for fixed poses that are `known`: models bring them."""
    fixed = _fixed([fix for fix in _said(said, Fix) if is_meant(_key(fix))])
    order = {name: i for i, name in enumerate(world.frames())}
    return Words(
        fixed=tuple(
            sorted(
                (pose for pose in fixed if _written(pose) not in known),
                key=lambda pose: (pose.since is not None, pose.since or 0, order[pose.of]),
            )
        ),
        bodies=tuple(_bodies(world, said, is_meant)),
        sampled=_meant(said, AddRelation, is_meant),
        measured=_meant(said, AddTwistRelation, is_meant),
        preferences=_meant(said, Prefer, is_meant),
    )


def _meant(said: list[Change], kind: type[C], is_meant: Callable[[_Key], bool]) -> tuple[C, ...]:
    return tuple(sorted((change for change in _said(said, kind) if is_meant(_key(change))), key=repr))


def _bodies(world: Any, said: list[Change], is_meant: Callable[[_Key], bool]) -> Iterator[AddBody]:
    """In the order in which they came; those that do not count have no place in it."""
    order = {name: i for i, name in enumerate(world.bodies())}
    for body in sorted(_said(said, AddBody), key=lambda one: (order.get(one.name, len(order)), one.name)):
        frames = tuple(frame for frame in sorted(body.frames) if is_meant(("body", body.name, frame)))
        if frames or is_meant(("body", body.name)):
            yield AddBody(body.name, frames)


def _idle(world: Any) -> set[_Key]:
    """What does not count: loops and bodies are in its way."""
    found: set[_Key] = set()
    if not world.store.is_scene_open:
        return found
    for record, reason, *_ in world.store.inactive_rows():
        change = frame_change_of(record)
        if isinstance(change, AddBody):
            found |= {("body", change.name, frame) for frame in change.frames} or {("body", change.name)}
        elif reason != "closes_loop" or not isinstance(change, AddRelation):  # which closes none without its samples
            found.add(_key(change))
    return found


def _circles(world: Any) -> Iterator[AddParent]:
    inactive = () if not world.store.is_scene_open else world.scene.inactive()
    for change in (one.change for one in inactive):
        if isinstance(change, AddParent) and change.id in world.scene and change.parent in world.scene:
            yield change


def _refused(bare: Any, frames: tuple[str, ...], words: Words) -> set[_Key]:
    """What a world refuses that hears it alone: samples or others made it possible, or who is believed left since."""
    found: set[_Key] = set()
    bare.add_frame(*frames)
    for said in (
        *words.bodies,
        *map(_fix, words.fixed),
        *sorted(words.sampled, key=lambda one: one.at),
        *words.measured,
        *words.preferences,
    ):
        try:
            bare.apply([said])
        except ArmillaryError:
            found |= _keys_of_body(said) if isinstance(said, AddBody) else {_key(said)}
    return found


def _is_for_always(key: _Key) -> bool:
    return key[0] == "fixed" and key[-1] is None


def _of_tracks(said: list[Change], keys: Iterable[_Key]) -> set[_Key]:
    """All that the same sources say of the same frames."""
    tracks = {(key[1], key[3]) for key in keys}
    return {_key(one) for one in said if isinstance(one, Fix | AddRelation) and (one.of, one.source) in tracks}


def _keys_of_body(body: AddBody) -> set[_Key]:
    return {("body", body.name), *(("body", body.name, frame) for frame in body.frames)}


_Key = tuple[Any, ...]


def _key(said: Any) -> _Key:
    """What tells it from others of its kind."""
    match said:
        case Fix():
            return "fixed", said.of, said.in_frame, said.source, said.at
        case AddRelation():
            return "sampled", said.of, said.in_frame, said.source
        case AddTwistRelation():
            return "measured", said.of, said.relative_to, said.source
        case _:
            return "preference", said.of


def _all_said(world: Any) -> list[Change]:
    """What makes an equal world."""
    changes = (frame_change_of(record) for record in world.store.assertions())
    return [change for change in changes if change is not None]


def _said(changes: list[Change], kind: type[C]) -> list[C]:
    return [change for change in changes if isinstance(change, kind)]


def _with_the_models_alone(world: Any) -> Any:
    """A world in which the same models stand, and nothing else is."""
    bare = type(world)(world.name, root_frame=world.root_frame)
    for mount in world.mounts:
        bare.models.restore(mount.model, mount.options, {}).close()
    return bare


def _fix(pose: FixedPose) -> Fix:
    edge: dict[str, Any] = {"of": pose.of, "in_frame": pose.in_frame, "source": pose.source, "at": pose.since}
    return Fix(**edge, transform=pose.transform, covariance=pose.covariance, is_unsure=pose.is_unsure)


def _fixed(said: list[Fix]) -> list[FixedPose]:
    return [
        FixedPose(fix.of, fix.in_frame, fix.source or "", fix.at, fix.transform, fix.covariance, fix.is_unsure)  # type: ignore[arg-type]  # they come from the core
        for fix in said
    ]


def _kept(world: Any, said: list[Change]) -> Iterator[Kept]:
    usual = world.store.retention(_NO_RELATION)
    placed = {_names(one) for one in said if isinstance(one, AddRelation | Fix)}
    for of, in_frame, source, kind, *_ in world.store.relation_rows():
        is_twist = kind == "twist"
        if not is_twist and (of, in_frame, source) not in placed:
            continue
        find = world.store.twist_relation_id if is_twist else world.store.relation_id
        kept = world.store.retention(find(of, in_frame, source))
        if kept != usual:
            yield Kept("twist" if is_twist else "pose", of, in_frame, source, *kept)


def _names(said: AddRelation | Fix) -> tuple[str, str, str | None]:
    return said.of, said.in_frame, said.source


def _written(pose: FixedPose) -> tuple[Any, ...]:
    spread = None if pose.covariance is None else pose.covariance.tobytes()
    numbers = pose.transform.matrix.tobytes(), spread, pose.is_unsure
    return pose.of, pose.in_frame, pose.source, pose.since, *numbers
