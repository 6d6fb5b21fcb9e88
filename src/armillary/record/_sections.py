"""Sections that saved worlds of all versions have: settings, retention, models, mounts, and samples of joints."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any

from armillary.errors import ArmillaryError, InvalidModelFile
from armillary.formats.fields import Field
from armillary.record._format import EDGE, KINDS, ROLES, SETTINGS

if TYPE_CHECKING:
    from armillary._core import NodeId
    from armillary.articulation import ArticulationModel
    from armillary.scene import Fix

__all__ = [
    "SavedJoint",
    "SavedMount",
    "SavedRetention",
    "Step",
    "edge_in",
    "fix_pose",
    "joint_in",
    "made_world",
    "models_in",
    "mount_in",
    "positions_and_velocities",
    "restored",
    "retention_in",
    "setting_joints",
    "settings_in",
]

Step = tuple[Field, Callable[[], object]]
"""One step of restoring a world, and the field that is blamed where it fails."""


@dataclass(frozen=True, slots=True)
class SavedRetention:
    """How much a relation keeps: the arguments of `World.keep`, or of `World.keep_twists`."""

    field: Field
    is_twist: bool
    arguments: Mapping[str, Any]

    def restore(self, world: Any) -> None:
        """Let the relation keep as much in this world."""
        (world.keep_twists if self.is_twist else world.keep)(**self.arguments)


@dataclass(frozen=True, slots=True)
class SavedMount:
    """A mounted model.

    Attributes:
        options: Those of `MountOptions`.
        shapes: By path of a link, the nodes that show it.
        objects: The paths of the objects that its names are made of; None: those of the model.
    """

    model: ArticulationModel
    options: Mapping[str, Any]
    shapes: Mapping[str, list[NodeId]]
    field: Field
    objects: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class SavedJoint:
    """The last sample of one source of a joint; a wheel has no position."""

    name: str
    source: str
    at: int
    position: float | None
    velocity: float | None
    field: Field
    is_integrated: bool = False


# -- Reading


def settings_in(field: Field) -> dict[str, Any]:
    """Read the arguments of `World`; one that is missing has its default."""
    return {SETTINGS[key]: _SETTINGS.get(key, _plain)(part) for key, part in field.members((), SETTINGS).items()}


def _plain(field: Field) -> Any:
    """Read a setting that `World` checks: a text, a number, true, false or null."""
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


def edge_in(parts: Mapping[str, Field]) -> dict[str, Any]:
    """Read a frame, its parent and the source."""
    return {"of": parts["of"].name(), "in_frame": parts["in_frame"].name(), "source": parts["source"].text()}


def retention_in(field: Field) -> SavedRetention:
    """Read how much one relation keeps."""
    parts = field.members((*EDGE, "kind", "history_ns", "max_samples", "thin_m", "thin_rad"))
    is_twist = parts["kind"].one_of(KINDS) == "twist"
    count = parts["max_samples"].integer()
    arguments = edge_in(parts) | {
        "history": parts["history_ns"].optional(Field.integer),
        "max_samples": None if count == 0 else count,
    }
    thinning = {"thin_m": parts["thin_m"].number(), "thin_rad": parts["thin_rad"].number()}
    if not is_twist:
        return SavedRetention(field, is_twist, arguments | thinning)
    arguments["relative_to"] = arguments.pop("in_frame")
    return SavedRetention(field, is_twist, arguments)


def models_in(field: Field, kinds: tuple[type[Any], ...]) -> list[ArticulationModel]:
    """Read the models, each a file of its own within this one."""
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


def mount_in(field: Field, parts: Mapping[str, Field], models: Sequence[ArticulationModel]) -> SavedMount:
    """Read a mounted model from the fields `MOUNT`."""
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
        "interpolations": _interpolations(parts["interpolations"]) if "interpolations" in parts else (),
        "outer_prefix": parts["outer_prefix"].text() if "outer_prefix" in parts else "",
    }
    shapes = {path: [node.node() for node in nodes.items()] for path, nodes in parts["shapes"].mapping().items()}
    return SavedMount(models[number], options, shapes, field)


def _interpolations(field: Field) -> tuple[tuple[str, str], ...]:
    """Read how joints go from one sample to the next, by name of a variable."""
    return tuple((name, kind.one_of(("linear", "wrap", "hold"))) for name, kind in field.mapping().items())


def joint_in(field: Field) -> SavedJoint:
    """Read the last sample of one source of a joint."""
    parts = field.members(("name", "source", "at_ns"), ("position", "velocity", "is_integrated"))
    position, velocity = (parts[key].number() if key in parts else None for key in ("position", "velocity"))
    if position is None and velocity is None:
        raise field.refused("'position' is missing")
    source, at = parts["source"].text(), parts["at_ns"].stamp()
    is_integrated = "is_integrated" in parts and parts["is_integrated"].boolean()
    return SavedJoint(parts["name"].name(), source, at, position, velocity, field, is_integrated)


# -- Restoring


def restored(world: Any, steps: Iterable[Step]) -> Any:
    """Do all steps of restoring a world, and return it; closed where one of them fails."""
    try:
        for field, step in steps:
            field.checked(step)
    except BaseException:
        world.close()
        raise
    return world


def made_world(settings: Mapping[str, Any], field: Field, make: Callable[..., Any]) -> Any:
    """Make the empty world; where it refuses its settings, find one that it refuses alone."""
    try:
        return make(**settings)
    except (ArmillaryError, TypeError, ValueError, OverflowError) as error:
        arguments = {key: SETTINGS[key] for key in field.value}
        alone = [key for key, argument in arguments.items() if _is_refused(make, {argument: settings[argument]})]
        blamed = field.at(alone[0]) if alone else field
        raise blamed.refused(str(error).rstrip(".")) from None


def _is_refused(make: Callable[..., Any], setting: dict[str, Any]) -> bool:
    try:
        make(**setting).close()
    except (ArmillaryError, TypeError, ValueError, OverflowError):
        return True
    return False


def fix_pose(world: Any, fix: Fix) -> None:
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


def setting_joints(
    joints: Iterable[SavedJoint], set_joints: Callable[[int, str, list[SavedJoint]], None]
) -> Iterator[Step]:
    """Yield the steps that set joints, those of one source and instant together."""

    def moment(joint: SavedJoint) -> tuple[str, int, bool]:
        return joint.source, joint.at, joint.is_integrated

    for (source, at, _), together in groupby(sorted(joints, key=moment), key=moment):
        samples = list(together)
        yield samples[0].field, partial(set_joints, at, source, samples)


def positions_and_velocities(joints: Iterable[SavedJoint]) -> tuple[dict[str, float], dict[str, float]]:
    """Return positions and velocities by joint, of those that have one."""
    positions = {joint.name: joint.position for joint in joints if joint.position is not None}
    return positions, {joint.name: joint.velocity for joint in joints if joint.velocity is not None}
