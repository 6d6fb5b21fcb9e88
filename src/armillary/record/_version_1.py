"""Worlds that were saved by version 1: a list of assertions, which a new world applies in their order.

A file of this version holds what was asserted, and not who asserted it when. Such a world begins its history anew: its
records are its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from armillary.formats.fields import Field
from armillary.record._format import EDGE, FORMAT, MOUNT
from armillary.record._sections import (
    SavedJoint,
    SavedMount,
    SavedRetention,
    Step,
    edge_in,
    fix_pose,
    joint_in,
    made_world,
    models_in,
    mount_in,
    positions_and_velocities,
    restored,
    retention_in,
    setting_joints,
    settings_in,
)
from armillary.scene import AddBody, AddParent, AddRelation, AddTwistRelation, Change, Fix, Prefer, RemoveFrame
from armillary.scene.files import LoadedScene, load_into, pose_in, scene_in

__all__ = ["VERSION", "SavedAssertions", "read_assertions"]

VERSION = 1
_ASSERTIONS = ("fixed", "bodies", "sampled", "measured", "preferences")
"""Sections of assertions that a new world validates when they are added."""
_UNCHECKED = "said_last"
"""Section of assertions that are added last and without validation; each names one of the sections below."""
_UNCHECKED_SECTIONS = (*_ASSERTIONS, "contained")
"""`contained`: containment of nodes that would close a cycle; the scene itself holds what is active."""
_SECTIONS = (
    "settings",
    "time_epoch",
    "frames",
    *_ASSERTIONS,
    _UNCHECKED,
    "kept",
    "models",
    "mounts",
    "joints",
    "scene",
)
_MAX_EPOCHS = 100_000
"""How often time may have been reset; loading resets it as often."""


@dataclass(frozen=True, slots=True)
class SavedChange:
    """An assertion of a file, and its field there."""

    field: Field
    change: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedAssertions:
    """The content of a file of version 1.

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

    def restore(self, make: Callable[..., Any]) -> Any:
        """Make the world that the file describes; `make` takes the arguments of `World`."""
        world = made_world(self.settings, self.top.at("settings"), make)
        return restored(world, _steps(self, world))


# -- Reading


def read_assertions(top: Field, folder: Path, *, max_bytes: int, kinds: Iterable[type[Any]]) -> SavedAssertions:
    """Read and check a file of version 1; the arrays of its shapes are in `folder`, of at most so many bytes."""
    top.check_format(FORMAT, VERSION)
    parts = top.members(("format", "version", *_SECTIONS))
    models = models_in(parts["models"], tuple(kinds))
    return SavedAssertions(
        settings=settings_in(parts["settings"]),
        frames=tuple(field.name() for field in parts["frames"].items()),
        time_epoch=_epoch(parts["time_epoch"]),
        assertions=_assertions(parts),
        unchecked=tuple(_unchecked(field) for field in parts[_UNCHECKED].items()),
        retention=tuple(retention_in(field) for field in parts["kept"].items()),
        mounts=tuple(mount_in(field, field.members(MOUNT), models) for field in parts["mounts"].items()),
        joints=tuple(joint_in(field) for field in parts["joints"].items()),
        scene=parts["scene"].optional(lambda scene: scene_in(scene, folder, max_bytes)),
        top=top,
    )


def _epoch(field: Field) -> int:
    if not 0 <= field.integer() <= _MAX_EPOCHS:
        raise field.refused(f"a number from 0 to {_MAX_EPOCHS} is expected")
    return field.integer()


def _assertions(parts: Mapping[str, Field]) -> tuple[SavedChange, ...]:
    """Order what a new world validates: a frame leaves one parent before others may have it as theirs.

    Fixed poses precede samples: without samples a relation ends where a pose is fixed.
    """
    found = {name: [SavedChange(field, _READERS[name](field)) for field in parts[name].items()] for name in _ASSERTIONS}
    return (
        *found["bodies"],
        *sorted(found["fixed"], key=lambda saved: (saved.change.at is not None, saved.change.at or 0)),
        *sorted(found["sampled"], key=lambda saved: saved.change.at),
        *found["measured"],
        *found["preferences"],
    )


def _unchecked(field: Field) -> SavedChange:
    parts = field.members((), _UNCHECKED_SECTIONS)
    if len(parts) != 1:
        raise field.refused(f"one of {', '.join(_UNCHECKED_SECTIONS)} is expected")
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
        **edge_in(parts),
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
    return AddRelation(**edge_in(parts), at=parts["since_ns"].stamp())


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


# -- Restoring


def _steps(saved: SavedAssertions, world: Any) -> Iterator[Step]:
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
        yield retention.field, partial(retention.restore, world)
    yield from setting_joints(saved.joints, partial(_set_joints, world))


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
            fix_pose(world, change)
        case _:
            world.apply([change])


def _load_scene(world: Any, scene: LoadedScene) -> None:
    """Add the nodes. A node may be that of a frame that was removed: the frame comes with the node, and is removed."""
    known = {*world.frames(), world.root_frame}
    load_into(world.store, world.scene.apply, scene)
    named = [name for name in world.frames() if name not in known and world.store.is_named(name)]
    if named:
        world.store.add_unchecked([RemoveFrame(named)])


def _set_joints(world: Any, at: int, source: str, together: list[SavedJoint]) -> None:
    positions, velocities = positions_and_velocities(together)
    world.set_joints(positions, velocities=velocities, at=at, source=source)
