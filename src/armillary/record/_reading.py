"""A saved world from a file: checked as a whole before anything is done with it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from armillary.errors import InvalidModelFile
from armillary.record._fields import WorldField, name_in
from armillary.record._format import EDGE, FORMAT, LAST_WORDS, MOST_EPOCHS, ROLES, SECTIONS, SETTINGS, VERSION
from armillary.record._relations import (
    Keeping,
    Saying,
    body_in,
    contained_in,
    kept_in,
    measured_in,
    preference_in,
    sampled_in,
)
from armillary.scene.files import Field, LoadedScene, PlacedAt, checked, parsed, pose_in, read_bytes, scene_in
from armillary.transforms import check_name

if TYPE_CHECKING:
    from armillary._core import NodeId
    from armillary.articulation import ArticulationModel

__all__ = ["SavedFixed", "SavedJoint", "SavedMount", "SavedWords", "SavedWorld", "fixed_in", "read_world"]


@dataclass(frozen=True, slots=True)
class SavedFixed:
    """A fixed pose, and where it stands in the file."""

    of: str
    in_frame: str
    source: str
    pose: PlacedAt
    is_unsure: bool
    recalibrate: bool
    field: Field


@dataclass(frozen=True, slots=True)
class SavedMount:
    """A model that stands there; `standing` is how, `shapes` are the nodes that show its links."""

    model: ArticulationModel
    standing: Mapping[str, Any]
    shapes: Mapping[str, list[NodeId]]
    field: Field


@dataclass(frozen=True, slots=True)
class SavedJoint:
    """Where somebody last said that a joint is."""

    name: str
    source: str
    at: int
    position: float
    velocity: float | None
    field: Field


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedWords:
    """What was said of frames."""

    fixed: tuple[SavedFixed, ...]
    bodies: tuple[Saying, ...]
    sampled: tuple[Saying, ...]
    measured: tuple[Saying, ...]
    preferences: tuple[Saying, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedWorld:
    """What a file holds; `settings` are the arguments of `World`; what is `said_last` is refused by nothing."""

    settings: Mapping[str, Any]
    frames: tuple[str, ...]
    time_epoch: int
    words: SavedWords
    said_last: tuple[Saying | SavedFixed, ...]
    kept: tuple[Keeping, ...]
    mounts: tuple[SavedMount, ...]
    joints: tuple[SavedJoint, ...]
    scene: LoadedScene | None
    top: Field


def read_world(path: Path, *, max_bytes: int, kinds: Iterable[type[Any]] = ()) -> SavedWorld:
    """All of a file, or InvalidWorldFile; `kinds` are operations and joints of the user's own that it may name."""
    data = read_bytes(path, max_bytes, WorldField)
    top = parsed(data, str(path), WorldField)
    top.check_format(FORMAT, VERSION)
    parts = top.members(("format", "version", *SECTIONS))
    models = _models(parts["models"], tuple(kinds))
    scene = parts["scene"]
    return SavedWorld(
        settings=_settings(parts["settings"]),
        frames=tuple(name_in(field) for field in parts["frames"].items()),
        time_epoch=_epoch(parts["time_epoch"]),
        words=_words(parts),
        said_last=tuple(_word(field) for field in parts["said_last"].items()),
        kept=tuple(kept_in(field) for field in parts["kept"].items()),
        mounts=tuple(_mount(field, models) for field in parts["mounts"].items()),
        joints=tuple(_joint(field) for field in parts["joints"].items()),
        scene=None if scene.value is None else scene_in(scene, path.parent, max_bytes - len(data)),
        top=top,
    )


def _words(parts: Mapping[str, Field]) -> SavedWords:
    return SavedWords(**{key: tuple(read(field) for field in parts[key].items()) for key, read in _WORDS.items()})  # type: ignore[arg-type]  # by its key


def _word(field: Field) -> Saying | SavedFixed:
    parts = field.members((), LAST_WORDS)
    if len(parts) != 1:
        raise field.refused(f"one of {', '.join(LAST_WORDS)} is expected")
    ((key, part),) = parts.items()
    return contained_in(part) if key == "contained" else _WORDS[key](part)


def fixed_in(field: Field) -> SavedFixed:
    """A fixed pose."""
    parts = field.members((*EDGE, "at_ns", "xyz_m", "wxyz"), ("covariance", "is_unsure", "recalibrate"))
    since = _or_none(parts["at_ns"], Field.stamp)
    is_unsure, recalibrate = (key in parts and _flag(parts[key]) for key in ("is_unsure", "recalibrate"))
    if is_unsure and "covariance" in parts:
        raise parts["is_unsure"].refused("it has a covariance, which says how sure it is")
    place = pose_in(
        field, {key: part for key, part in parts.items() if key not in {*EDGE, "is_unsure", "recalibrate"}}, since
    )
    of, in_frame, source = name_in(parts["of"]), name_in(parts["in_frame"]), parts["source"].text()
    return SavedFixed(of, in_frame, source, place, is_unsure, recalibrate, field)


_WORDS: dict[str, Callable[[Field], Saying | SavedFixed]] = {
    "fixed": fixed_in,
    "bodies": body_in,
    "sampled": sampled_in,
    "measured": measured_in,
    "preferences": preference_in,
}


def _epoch(field: Field) -> int:
    if not 0 <= field.integer() <= MOST_EPOCHS:
        raise field.refused(f"a number from 0 to {MOST_EPOCHS} is expected")
    return field.integer()


def _flag(field: Field) -> bool:
    if not isinstance(field.value, bool):
        raise field.refused("true or false is expected")
    return field.value


def _settings(field: Field) -> dict[str, Any]:
    return {SETTINGS[key]: _SETTINGS.get(key, _plain)(part) for key, part in field.members(SETTINGS).items()}


def _plain(field: Field) -> Any:
    """Numbers and words, as `World` judges them."""
    if isinstance(field.value, str):
        return field.text()
    if field.value is None or isinstance(field.value, bool):
        return field.value
    return field.integer() if isinstance(field.value, int) else field.number()


def _square(field: Field) -> list[list[float]] | None:
    return None if field.value is None else [row.numbers(6) for row in field.items(6)]


def _noise(field: Field) -> Any:
    is_variances = isinstance(field.value, list) and not any(isinstance(row, list) for row in field.value)
    return field.numbers(6) if is_variances else _square(field)


_SETTINGS: dict[str, Callable[[Field], Any]] = {
    "name": Field.text,
    "root_frame": name_in,
    "default_covariance": _square,
    "process_noise": _noise,
}


def _models(field: Field, kinds: tuple[type[Any], ...]) -> list[ArticulationModel]:
    if not field.items():
        return []
    from armillary.articulation import ArticulationModel  # noqa: PLC0415  (a world without models needs no casadi)

    models = []
    for said in field.items():
        try:
            models.append(ArticulationModel.from_bytes(json.dumps(said.value).encode(), kinds=kinds, file=said.file))
        except InvalidModelFile as error:
            place = f"{said.place}.{error.field}" if error.field else said.place
            raise said.error(said.file, place, error.reason) from error
    return models


def _mount(field: Field, models: list[ArticulationModel]) -> SavedMount:
    parts = field.members(("model", "under", "in_frame", "prefix", "since_ns", "roles", "skip_missing", "shapes"))
    number = parts["model"].integer()
    if not 0 <= number < len(models):
        raise parts["model"].refused(f"there are {len(models)} models")
    standing = {
        "under": parts["under"].text(),
        "in_frame": _or_none(parts["in_frame"], name_in),
        "prefix": _or_none(parts["prefix"], Field.text),
        "since": _or_none(parts["since_ns"], Field.stamp),
        "roles": tuple(_role(role) for role in parts["roles"].items()),
        "skip_missing": _flag(parts["skip_missing"]),
    }
    shapes = {path: [node.node() for node in nodes.items()] for path, nodes in parts["shapes"].mapping().items()}
    return SavedMount(models[number], standing, shapes, field)


def _role(field: Field) -> str:
    if field.value not in ROLES:
        raise field.refused(f"one of {', '.join(ROLES)} is expected")
    return field.text()


def _joint(field: Field) -> SavedJoint:
    parts = field.members(("name", "source", "at_ns", "position"), ("velocity",))
    name = checked(parts["name"], lambda: check_name(parts["name"].text()))
    velocity = parts["velocity"].number() if "velocity" in parts else None
    said = parts["source"].text(), parts["at_ns"].stamp(), parts["position"].number()
    return SavedJoint(name, *said, velocity, field)


def _or_none(field: Field, read: Callable[[Field], Any]) -> Any:
    return None if field.value is None else read(field)
