"""Saving a world: one JSON document, and the arrays of its shapes beside it.

A file holds assertions in the order in which a new world can take them: first those that it accepts, each alone, then
those that only `Store.add_unchecked` takes. Poses that models and nodes of the scene bring by themselves are left out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from armillary.errors import ArmillaryError, UnsavableWorld
from armillary.record._format import FORMAT, SETTINGS, UNCHECKED, VERSION
from armillary.scene import AddBody, AddFrame, AddParent, AddRelation, AddTwistRelation, Change, Fix, Prefer
from armillary.scene.files import pose_fields, scene_document, write_with_arrays
from armillary.scene.reading import SceneVersion
from armillary.store.records import frame_change_of
from armillary.store.store import NO_RELATION

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Contents", "Retention", "contents_of", "write_world"]

C = TypeVar("C", bound=Change)
Key = tuple[Any, ...]
"""Identifies an assertion among those of its kind."""
Sections = Mapping[str, Sequence[Any]]
"""Assertions by the section of the file that they are written to."""


def write_world(world: Any, path: Path) -> None:
    """Write a world to a file, and the arrays of its shapes to another beside it.

    Raises:
        UnsavableWorld: Joints drive a pose that no file describes.
    """
    contents = contents_of(world)
    if contents.undescribed:
        raise UnsavableWorld(contents.undescribed[0])
    held = next((loop for loop in world.closed_loops if loop.is_active and loop.until is None), None)
    if held is not None:
        raise UnsavableWorld((held.of, held.on, world.name), is_held=True)
    scene, arrays = _scene(world)
    models = list({id(mount.model): mount.model for mount in world.mounts}.values())
    document = {
        "format": FORMAT,
        "version": VERSION,
        "settings": _settings(world),
        "time_epoch": world.time_epoch,
        "frames": list(contents.frames),
        **{name: [_ENTRIES[name](change) for change in changes] for name, changes in contents.accepted.items()},
        UNCHECKED: list(_unchecked(contents)),
        "kept": [asdict(retention) for retention in contents.retention],
        "models": [json.loads(model.to_bytes()) for model in models],
        "mounts": [_mount(mount, models) for mount in world.mounts],
        "joints": list(_joints(world)),
        "scene": scene,
    }
    write_with_arrays(path, document, scene, arrays)


# -- What there is to save


@dataclass(frozen=True, slots=True)
class Retention:
    """How much one relation keeps, where that differs from the settings of the world; `max_samples` 0: any number."""

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
    """What is saved of a world beside its models and its scene; assertions are added again in this order.

    Attributes:
        frames: Names, in the order in which they were added.
        accepted: Active assertions that a new world accepts, each alone.
        refused: Active ones that it would refuse: samples or assertions that are gone made them possible.
        inactive_always: Inactive fixed poses without a start: each replaces what its source asserted of the frame.
        replaced: Active assertions that these replace, and that are added once more after them.
        inactive: All other inactive assertions.
        cycles: Containment of present nodes that is inactive because it would close a cycle.
        retention: Relations that keep more or less than the others.
        undescribed: Poses that joints of a model drive which is not mounted here: (of, in_frame, source).
    """

    frames: tuple[str, ...]
    accepted: Sections
    refused: Sections
    inactive_always: Sections
    replaced: Sections
    inactive: Sections
    cycles: tuple[AddParent, ...]
    retention: tuple[Retention, ...]
    undescribed: tuple[tuple[str, str, str], ...]


def contents_of(world: Any) -> Contents:
    """Collect what is saved of a world."""
    bare = _with_models_alone(world)
    asserted = _assertions_of(world)
    described = {row[:3] for row in bare.store.driven_poses()}
    named = {name for change in _of_kind(asserted, AddFrame) for name in change.names} - set(bare.frames())
    frames = tuple(name for name in world.frames() if name in named)
    by_models = {_pose_key(fix) for fix in _of_kind(_assertions_of(bare), Fix)}

    def select(is_selected: Callable[[Key], bool]) -> Sections:
        return _select(world, asserted, by_models, is_selected)

    inactive = _inactive_keys(world)
    refused = _refused_keys(bare, frames, select(lambda key: key not in inactive))
    bare.close()
    always = {key for key in inactive if _is_always(key)}
    replaced = _same_source(asserted, always) - inactive
    replaced |= _same_source(asserted, filter(_is_always, refused)) - inactive - refused
    apart = inactive | refused | replaced
    return Contents(
        frames=frames,
        accepted=select(lambda key: key not in apart),
        refused=select((refused - replaced).__contains__),
        inactive_always=select(always.__contains__),
        replaced=select(replaced.__contains__),
        inactive=select((inactive - always).__contains__),
        cycles=tuple(_cycles(world)),
        retention=tuple(_retention(world, asserted)),
        undescribed=tuple(row[:3] for row in world.store.driven_poses() if row[:3] not in described),
    )


def _with_models_alone(world: Any) -> Any:
    """Make a world in which the same models are mounted, and nothing else is asserted."""
    bare = type(world)(world.name, root_frame=world.root_frame)
    for mount in world.mounts:
        bare.models.restore(mount.model, mount.options, {}).close()
    return bare


def _assertions_of(world: Any) -> list[Change]:
    """Return everything that is asserted of frames, active or not."""
    changes = (frame_change_of(record) for record in world.store.assertions())
    return [change for change in changes if change is not None]


def _of_kind(changes: Iterable[Change], kind: type[C]) -> list[C]:
    return [change for change in changes if isinstance(change, kind)]


def _key(change: Any) -> Key:
    match change:
        case Fix():
            return "fixed", change.of, change.in_frame, change.source, change.at
        case AddRelation():
            return "sampled", change.of, change.in_frame, change.source
        case AddTwistRelation():
            return "measured", change.of, change.relative_to, change.source
        case _:
            return "preference", change.of


def _is_always(key: Key) -> bool:
    """Whether this is the key of a fixed pose without a start."""
    return key[0] == "fixed" and key[-1] is None


def _pose_key(fix: Fix) -> Key:
    """Return a key of a fixed pose that includes its numbers."""
    covariance = None if fix.covariance is None else np.asarray(fix.covariance).tobytes()
    return (*_key(fix), fix.transform.matrix.tobytes(), covariance, fix.is_unsure)


def _select(world: Any, asserted: list[Change], by_models: set[Key], is_selected: Callable[[Key], bool]) -> Sections:
    """Return the assertions whose keys are selected, each section in the order of a file, without those of models."""

    def selected(kind: type[C]) -> list[C]:
        return [change for change in _of_kind(asserted, kind) if is_selected(_key(change))]

    frames = {name: i for i, name in enumerate(world.frames())}
    fixed = [replace(fix, recalibrate=False) for fix in selected(Fix) if _pose_key(fix) not in by_models]
    return {
        "fixed": sorted(fixed, key=lambda fix: (fix.at is not None, fix.at or 0, frames[fix.of])),
        "bodies": list(_bodies(world, asserted, is_selected)),
        "sampled": sorted(selected(AddRelation), key=repr),
        "measured": sorted(selected(AddTwistRelation), key=repr),
        "preferences": sorted(selected(Prefer), key=repr),
    }


def _bodies(world: Any, asserted: list[Change], is_selected: Callable[[Key], bool]) -> Iterator[AddBody]:
    """Yield bodies with their selected frames, in the order of the world; inactive ones last."""
    order = {name: i for i, name in enumerate(world.bodies())}
    for body in sorted(_of_kind(asserted, AddBody), key=lambda one: (order.get(one.name, len(order)), one.name)):
        frames = tuple(frame for frame in sorted(body.frames) if is_selected(("body", body.name, frame)))
        if frames or is_selected(("body", body.name)):
            yield AddBody(body.name, frames)


def _inactive_keys(world: Any) -> set[Key]:
    """Return the keys of inactive assertions."""
    found: set[Key] = set()
    if not world.store.is_scene_open:
        return found
    for record, reason, *_ in world.store.inactive_rows():
        change = frame_change_of(record)
        if isinstance(change, AddBody):
            found |= {("body", change.name, frame) for frame in change.frames} or {("body", change.name)}
        elif reason != "closes_loop" or not isinstance(change, AddRelation):  # which closes none without its samples
            found.add(_key(change))
    return found


def _refused_keys(bare: Any, frames: tuple[str, ...], sections: Sections) -> set[Key]:
    """Return the keys of assertions that a new world refuses, when they are added to it one after the other."""
    found: set[Key] = set()
    bare.add_frame(*frames)
    for change in (
        *sections["bodies"],
        *sections["fixed"],
        *sorted(sections["sampled"], key=lambda one: one.at),
        *sections["measured"],
        *sections["preferences"],
    ):
        try:
            bare.apply([change])
        except ArmillaryError:
            if isinstance(change, AddBody):
                found |= {("body", change.name), *(("body", change.name, frame) for frame in change.frames)}
            else:
                found.add(_key(change))
    return found


def _same_source(asserted: list[Change], keys: Iterable[Key]) -> set[Key]:
    """Return the keys of all that the sources of some fixed poses assert of the same frames."""
    tracks = {(key[1], key[3]) for key in keys}
    return {_key(one) for one in asserted if isinstance(one, Fix | AddRelation) and (one.of, one.source) in tracks}


def _cycles(world: Any) -> Iterator[AddParent]:
    inactive = world.scene.inactive() if world.store.is_scene_open else ()
    for change in (one.change for one in inactive):
        if isinstance(change, AddParent) and change.id in world.scene and change.parent in world.scene:
            yield change


def _retention(world: Any, asserted: list[Change]) -> Iterator[Retention]:
    usual = world.store.retention(NO_RELATION)
    placed = {(one.of, one.in_frame, one.source) for one in asserted if isinstance(one, AddRelation | Fix)}
    for of, in_frame, source, kind, *_ in world.store.relation_rows():
        is_twist = kind == "twist"
        if not is_twist and (of, in_frame, source) not in placed:
            continue
        find = world.store.twist_relation_id if is_twist else world.store.relation_id
        kept = world.store.retention(find(of, in_frame, source))
        if kept != usual:
            yield Retention("twist" if is_twist else "pose", of, in_frame, source, *kept)


# -- Entries of the document


def _unchecked(contents: Contents) -> Iterator[dict[str, Any]]:
    """Yield the entries of the section of assertions that are added last and without validation."""
    yield from map(_recalibrating, _one_by_one(contents.refused))
    yield from _one_by_one(contents.inactive_always)
    yield from map(_recalibrating, _one_by_one(contents.replaced))
    yield from _one_by_one(contents.inactive)
    for change in contents.cycles:
        yield {"contained": {"node": str(change.id), "parent": str(change.parent), "since_ns": change.at}}


def _one_by_one(sections: Sections) -> Iterator[dict[str, Any]]:
    for name, changes in sections.items():
        yield from ({name: _ENTRIES[name](change)} for change in changes)


def _recalibrating(entry: dict[str, Any]) -> dict[str, Any]:
    """Let an active fixed pose be active again, though its frames are on one body by now."""
    return {"fixed": entry["fixed"] | {"recalibrate": True}} if "fixed" in entry else entry


def _fixed_entry(fix: Fix) -> dict[str, Any]:
    edge = {"of": fix.of, "in_frame": fix.in_frame, "source": fix.source, "at_ns": fix.at}
    unsure = {"is_unsure": True} if fix.is_unsure else {}
    return edge | pose_fields(fix.transform.xyz_wxyz, fix.covariance) | unsure  # type: ignore[arg-type]  # an array: it comes from the core


_ENTRIES: dict[str, Callable[[Any], dict[str, Any]]] = {
    "fixed": _fixed_entry,
    "bodies": lambda body: {"name": body.name, "frames": list(body.frames)},
    "sampled": lambda one: {"of": one.of, "in_frame": one.in_frame, "source": one.source, "since_ns": one.at},
    "measured": lambda one: {"of": one.of, "relative_to": one.relative_to, "source": one.source},
    "preferences": lambda one: {"of": one.of, "source": one.source},
}


def _settings(world: Any) -> dict[str, Any]:
    settings = world.store.settings.keywords
    return {key: _plain(settings[argument]) for key, argument in SETTINGS.items()}


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, str | int | float) else np.asarray(value, dtype=float).tolist()


def _scene(world: Any) -> tuple[dict[str, Any] | None, dict[str, NDArray[Any]]]:
    if not world.store.is_scene_open:
        return None, {}
    return scene_document(SceneVersion(world.store, world.store.view()))


def _mount(mount: Any, models: list[Any]) -> dict[str, Any]:
    options = asdict(mount.options)
    options["since_ns"] = options.pop("since")
    number = next(i for i, model in enumerate(models) if model is mount.model)
    shapes = {path: [str(node) for node in nodes] for path, nodes in mount.shapes.items()}
    return {"model": number, **options, "roles": list(options["roles"]), "shapes": shapes}


def _joints(world: Any) -> Iterator[dict[str, Any]]:
    """Yield the last sample of each source of each joint."""
    for name in world.joints():
        for source in world.store.joint_sources(name):
            samples = world.joint_samples(name, source=source)
            if len(samples.stamps):
                position, velocity = float(samples.positions[-1]), float(samples.velocities[-1])
                entry = {"name": name, "source": source, "at_ns": int(samples.stamps[-1]), "position": position}
                yield entry if np.isnan(velocity) else entry | {"velocity": velocity}
