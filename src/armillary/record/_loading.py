"""Loading a world: a file is read and checked as a whole, then a new world gets what it describes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from armillary.errors import ArmillaryError, InvalidModelFile, InvalidWorldFile
from armillary.formats.fields import Field, parse_json, read_bytes
from armillary.record._format import (
    ASSERTIONS,
    EDGE,
    FORMAT,
    KINDS,
    MAX_EPOCHS,
    ROLES,
    SECTIONS,
    SETTINGS,
    UNCHECKED,
    UNCHECKED_SECTIONS,
    VERSION,
)
from armillary.scene import (
    AddBody,
    AddParent,
    AddRelation,
    AddTwistRelation,
    Change,
    Fix,
    Prefer,
    RemoveFrame,
)
from armillary.scene.files import LoadedScene, load_into, pose_in, scene_in

if TYPE_CHECKING:
    from armillary._core import NodeId
    from armillary.articulation import ArticulationModel

__all__ = ["SavedWorld", "apply_fix", "read_world", "restore"]


@dataclass(frozen=True, slots=True)
class SavedChange:
    """An assertion of a file, and its field there."""

    field: Field
    change: Any


@dataclass(frozen=True, slots=True)
class SavedRetention:
    """How much a relation keeps: the arguments of `World.keep`, or of `World.keep_twists`."""

    field: Field
    is_twist: bool
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SavedMount:
    """A mounted model; `options` are those of `MountOptions`, `shapes` the nodes that show its links."""

    model: ArticulationModel
    options: Mapping[str, Any]
    shapes: Mapping[str, list[NodeId]]
    field: Field


@dataclass(frozen=True, slots=True)
class SavedJoint:
    """The last sample of one source of a joint."""

    name: str
    source: str
    at: int
    position: float
    velocity: float | None
    field: Field


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedWorld:
    """The content of the file of a saved world.

    Attributes:
        settings: The arguments of `World`.
        frames: The names of frames that nothing else names.
        time_epoch: How often time was reset.
        assertions: In the order in which a new world accepts them.
        unchecked: Assertions that are added last, without validation.
        retention: How much relations keep that differ from the settings.
        mounts: The mounted models.
        joints: The last samples of joints.
        scene: The nodes; None where there are none.
        top: The whole document.
    """

    settings: Mapping[str, Any]
    frames: tuple[str, ...]
    time_epoch: int
    assertions: tuple[SavedChange, ...]
    unchecked: tuple[SavedChange, ...]
    retention: tuple[SavedRetention, ...]
    mounts: tuple[SavedMount, ...]
    joints: tuple[SavedJoint, ...]
    scene: LoadedScene | None
    top: Field


# -- Reading


def read_world(path: Path, *, max_bytes: int, kinds: Iterable[type[Any]] = ()) -> SavedWorld:
    """Read and check the file of a saved world.

    Args:
        path: The file that `write_world` wrote.
        max_bytes: Larger files are refused.
        kinds: Operations and joints of the user's own that the file may name.

    Raises:
        InvalidWorldFile: With the place in the file of what is wrong.
    """
    data = read_bytes(path, max_bytes, InvalidWorldFile)
    top = parse_json(data, str(path), InvalidWorldFile)
    top.check_format(FORMAT, VERSION)
    parts = top.members(("format", "version", *SECTIONS))
    models = _models(parts["models"], tuple(kinds))
    return SavedWorld(
        settings=_settings(parts["settings"]),
        frames=tuple(field.name() for field in parts["frames"].items()),
        time_epoch=_epoch(parts["time_epoch"]),
        assertions=_assertions(parts),
        unchecked=tuple(_unchecked(field) for field in parts[UNCHECKED].items()),
        retention=tuple(_retention(field) for field in parts["kept"].items()),
        mounts=tuple(_mount(field, models) for field in parts["mounts"].items()),
        joints=tuple(_joint(field) for field in parts["joints"].items()),
        scene=parts["scene"].optional(lambda scene: scene_in(scene, path.parent, max_bytes - len(data))),
        top=top,
    )


def _settings(field: Field) -> dict[str, Any]:
    return {SETTINGS[key]: _SETTINGS.get(key, _plain)(part) for key, part in field.members(SETTINGS).items()}


def _plain(field: Field) -> Any:
    """A setting that `World` checks: a text, a number, true, false or null."""
    if isinstance(field.value, str):
        return field.text()
    if field.value is None or isinstance(field.value, bool):
        return field.value
    return field.integer() if isinstance(field.value, int) else field.number()


def _square(field: Field) -> list[list[float]] | None:
    return field.optional(lambda matrix: matrix.matrix(6))


def _noise(field: Field) -> Any:
    is_variances = isinstance(field.value, list) and not any(isinstance(row, list) for row in field.value)
    return field.numbers(6) if is_variances else _square(field)


_SETTINGS: dict[str, Callable[[Field], Any]] = {
    "name": Field.text,
    "root_frame": Field.name,
    "default_covariance": _square,
    "process_noise": _noise,
}


def _epoch(field: Field) -> int:
    if not 0 <= field.integer() <= MAX_EPOCHS:
        raise field.refused(f"a number from 0 to {MAX_EPOCHS} is expected")
    return field.integer()


def _assertions(parts: Mapping[str, Field]) -> tuple[SavedChange, ...]:
    """Order what a new world validates: a frame leaves one parent before others may have it as theirs.

    Fixed poses precede samples: without samples a relation ends where a pose is fixed.
    """
    found = {name: [SavedChange(field, _READERS[name](field)) for field in parts[name].items()] for name in ASSERTIONS}
    return (
        *found["bodies"],
        *sorted(found["fixed"], key=lambda saved: (saved.change.at is not None, saved.change.at or 0)),
        *sorted(found["sampled"], key=lambda saved: saved.change.at),
        *found["measured"],
        *found["preferences"],
    )


def _unchecked(field: Field) -> SavedChange:
    parts = field.members((), UNCHECKED_SECTIONS)
    if len(parts) != 1:
        raise field.refused(f"one of {', '.join(UNCHECKED_SECTIONS)} is expected")
    ((name, part),) = parts.items()
    return SavedChange(part, _READERS[name](part))


def _fixed(field: Field) -> Fix:
    parts = field.members((*EDGE, "at_ns", "xyz_m", "wxyz"), ("covariance", "is_unsure", "recalibrate"))
    since = parts["at_ns"].optional(Field.stamp)
    is_unsure, recalibrate = (key in parts and parts[key].boolean() for key in ("is_unsure", "recalibrate"))
    if is_unsure and "covariance" in parts:
        raise parts["is_unsure"].refused("it has a covariance, and is_unsure means an unknown one")
    pose = pose_in(field, parts, since)
    return Fix(
        **_edge(parts),
        at=since,
        transform=pose.transform,
        covariance=pose.covariance,
        is_unsure=is_unsure,
        recalibrate=recalibrate,
    )


def _body(field: Field) -> AddBody:
    parts = field.members(("name", "frames"))
    return AddBody(parts["name"].name(), tuple(frame.name() for frame in parts["frames"].items()))


def _sampled(field: Field) -> AddRelation:
    parts = field.members((*EDGE, "since_ns"))
    return AddRelation(**_edge(parts), at=parts["since_ns"].stamp())


def _measured(field: Field) -> AddTwistRelation:
    parts = field.members(("of", "relative_to", "source"))
    of, relative_to = parts["of"].name(), parts["relative_to"].name()
    return AddTwistRelation(of=of, relative_to=relative_to, source=parts["source"].text())


def _preference(field: Field) -> Prefer:
    parts = field.members(("of", "source"))
    return Prefer(of=parts["of"].name(), source=parts["source"].text())


def _contained(field: Field) -> AddParent:
    parts = field.members(("node", "parent", "since_ns"))
    return AddParent(parts["node"].node(), parts["parent"].node(), parts["since_ns"].stamp())


_READERS: dict[str, Callable[[Field], Change]] = {
    "fixed": _fixed,
    "bodies": _body,
    "sampled": _sampled,
    "measured": _measured,
    "preferences": _preference,
    "contained": _contained,
}


def _edge(parts: Mapping[str, Field]) -> dict[str, Any]:
    return {"of": parts["of"].name(), "in_frame": parts["in_frame"].name(), "source": parts["source"].text()}


def _retention(field: Field) -> SavedRetention:
    parts = field.members((*EDGE, "kind", "history_ns", "max_samples", "thin_m", "thin_rad"))
    is_twist = parts["kind"].one_of(KINDS) == "twist"
    count = parts["max_samples"].integer()
    arguments = _edge(parts) | {"history": parts["history_ns"].integer(), "max_samples": None if count == 0 else count}
    thinning = {"thin_m": parts["thin_m"].number(), "thin_rad": parts["thin_rad"].number()}
    if not is_twist:
        return SavedRetention(field, is_twist, arguments | thinning)
    arguments["relative_to"] = arguments.pop("in_frame")
    return SavedRetention(field, is_twist, arguments)


def _models(field: Field, kinds: tuple[type[Any], ...]) -> list[ArticulationModel]:
    if not field.items():
        return []
    from armillary.articulation import ArticulationModel  # noqa: PLC0415  (a world without models needs no casadi)

    models = []
    for entry in field.items():
        try:
            models.append(ArticulationModel.from_bytes(json.dumps(entry.value).encode(), kinds=kinds, file=entry.file))
        except InvalidModelFile as error:
            place = f"{entry.place}.{error.field}" if error.field else entry.place
            raise entry.error(entry.file, place, error.reason) from error
    return models


def _mount(field: Field, models: list[ArticulationModel]) -> SavedMount:
    parts = field.members(("model", "under", "in_frame", "prefix", "since_ns", "roles", "skip_missing", "shapes"))
    number = parts["model"].integer()
    if not 0 <= number < len(models):
        raise parts["model"].refused(f"there are {len(models)} models")
    options = {
        "under": parts["under"].text(),
        "in_frame": parts["in_frame"].optional(Field.name),
        "prefix": parts["prefix"].optional(Field.text),
        "since": parts["since_ns"].optional(Field.stamp),
        "roles": tuple(role.one_of(ROLES) for role in parts["roles"].items()),
        "skip_missing": parts["skip_missing"].boolean(),
    }
    shapes = {path: [node.node() for node in nodes.items()] for path, nodes in parts["shapes"].mapping().items()}
    return SavedMount(models[number], options, shapes, field)


def _joint(field: Field) -> SavedJoint:
    parts = field.members(("name", "source", "at_ns", "position"), ("velocity",))
    velocity = parts["velocity"].number() if "velocity" in parts else None
    source, at, position = parts["source"].text(), parts["at_ns"].stamp(), parts["position"].number()
    return SavedJoint(parts["name"].name(), source, at, position, velocity, field)


# -- Restoring


def restore(saved: SavedWorld, make: Callable[..., Any]) -> Any:
    """Make the world that a file describes; `make` takes the arguments of `World`.

    Raises:
        InvalidWorldFile: The world refuses something; the error names its place in the file.
    """
    world = _made(saved, make)
    try:
        for field, step in _steps(saved, world):
            field.checked(step)
    except BaseException:
        world.close()
        raise
    return world


def _made(saved: SavedWorld, make: Callable[..., Any]) -> Any:
    """Make the empty world; where it refuses its settings, find one that it refuses alone."""
    settings = saved.top.at("settings")
    try:
        return make(**saved.settings)
    except (ArmillaryError, TypeError, ValueError, OverflowError) as error:
        alone = [key for key, argument in SETTINGS.items() if _is_refused(make, {argument: saved.settings[argument]})]
        blamed = settings.at(alone[0]) if alone else settings
        raise blamed.refused(str(error).rstrip(".")) from None


def _is_refused(make: Callable[..., Any], setting: dict[str, Any]) -> bool:
    try:
        make(**setting).close()
    except (ArmillaryError, TypeError, ValueError, OverflowError):
        return True
    return False


def _steps(saved: SavedWorld, world: Any) -> Iterator[tuple[Field, Callable[[], Any]]]:
    """Yield each step of restoring, with the field that is blamed where it fails."""
    yield saved.top.at("time_epoch"), partial(_reset_time, world, saved.time_epoch)
    yield saved.top.at("frames"), partial(world.add_frame, *saved.frames)
    for mount in saved.mounts:
        yield mount.field, partial(_restore_mount, world, mount)
    for assertion in saved.assertions:
        yield assertion.field, partial(_apply, world, assertion.change)
    if saved.scene is not None:
        yield saved.top.at("scene"), partial(_load_scene, world, saved.scene)
    for assertion in saved.unchecked:
        yield assertion.field, partial(world.store.add_unchecked, [assertion.change])
    for retention in saved.retention:
        keep = world.keep_twists if retention.is_twist else world.keep
        yield retention.field, partial(keep, **retention.arguments)
    for together in _simultaneous(saved.joints):
        yield together[0].field, partial(_set_joints, world, together)


def _reset_time(world: Any, times: int) -> None:
    for _ in range(times):
        world.reset_time()


def _restore_mount(world: Any, mount: SavedMount) -> None:
    from armillary.articulation.mount import MountOptions  # noqa: PLC0415  (a world without models needs no casadi)

    world.models.restore(mount.model, MountOptions(**mount.options), mount.shapes)


def _apply(world: Any, change: Change) -> None:
    """Apply a change; by the methods of a world where they do not open its scene."""
    match change:
        case AddBody():
            world.add_body(change.name, frames=change.frames)
        case Prefer():
            world.prefer(of=change.of, source=change.source)
        case Fix(is_unsure=False):
            apply_fix(world, change)
        case _:
            world.apply([change])


def apply_fix(world: Any, fix: Fix) -> None:
    """Fix a pose; a world without nodes stays one."""
    world.fix(
        of=fix.of,
        in_frame=fix.in_frame,
        source=fix.source,
        at=fix.at,
        transform=fix.transform,
        covariance=fix.covariance,
        recalibrate=fix.recalibrate,
    )


def _load_scene(world: Any, scene: LoadedScene) -> None:
    """Add the nodes. A node may be that of a frame that was removed: the frame comes with the node, and is removed."""
    known = {*world.frames(), world.root_frame}
    load_into(world.store, world.scene.apply, scene)
    named = [name for name in world.frames() if name not in known and world.store.is_named(name)]
    if named:
        world.store.add_unchecked([RemoveFrame(named)])


def _simultaneous(joints: tuple[SavedJoint, ...]) -> Iterator[list[SavedJoint]]:
    """Group joints by source and instant."""

    def moment(joint: SavedJoint) -> tuple[str, int]:
        return joint.source, joint.at

    for _, together in groupby(sorted(joints, key=moment), key=moment):
        yield list(together)


def _set_joints(world: Any, together: list[SavedJoint]) -> None:
    world.set_joints(
        {joint.name: joint.position for joint in together},
        velocities={joint.name: joint.velocity for joint in together if joint.velocity is not None},
        at=together[0].at,
        source=together[0].source,
    )
