"""A world as it is, written to a file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from armillary.errors import UnsavableWorld
from armillary.record._contents import Contents, FixedPose, Words, contents_of
from armillary.record._format import FORMAT, SETTINGS, VERSION
from armillary.scene.files import pose_fields, scene_document, write_with_arrays
from armillary.scene.reading import SceneVersion

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["write_world"]


def write_world(world: Any, path: Path) -> None:
    """One file, and the arrays of its shapes beside it."""
    contents = contents_of(world)
    if contents.orphans:
        raise UnsavableWorld(contents.orphans[0])
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
        **_words(contents.words),
        "said_last": list(_said_last(contents)),
        "kept": [asdict(kept) for kept in contents.kept],
        "models": [json.loads(model.to_bytes()) for model in models],
        "mounts": [_mount(mount, models) for mount in world.mounts],
        "joints": list(_joints(world)),
        "scene": scene,
    }
    write_with_arrays(path, document, scene, arrays)


def _words(words: Words) -> dict[str, Any]:
    return {
        "fixed": [fixed_entry(pose) for pose in words.fixed],
        "bodies": [{"name": body.name, "frames": list(body.frames)} for body in words.bodies],
        "sampled": [_edge(said, "in_frame") | {"since_ns": said.at} for said in words.sampled],
        "measured": [_edge(said, "relative_to") for said in words.measured],
        "preferences": [{"of": said.of, "source": said.source} for said in words.preferences],
    }


def _said_last(contents: Contents) -> Iterator[dict[str, Any]]:
    yield from map(_counting, _one_by_one(contents.refused))
    yield from _one_by_one(contents.always)
    yield from map(_counting, _one_by_one(contents.again))
    yield from _one_by_one(contents.inactive)
    for contained in contents.circles:
        entry = {"node": str(contained.id), "parent": str(contained.parent), "since_ns": contained.at}
        yield {"contained": entry}


def _one_by_one(words: Words) -> Iterator[dict[str, Any]]:
    for section, entries in _words(words).items():
        yield from ({section: entry} for entry in entries)


def _counting(word: dict[str, Any]) -> dict[str, Any]:
    """Said before its frames were on one body, or to correct where they are on it."""
    return {"fixed": word["fixed"] | {"recalibrate": True}} if "fixed" in word else word


def fixed_entry(pose: FixedPose) -> dict[str, Any]:
    """A fixed pose, as both kinds of files have it."""
    edge = {"of": pose.of, "in_frame": pose.in_frame, "source": pose.source, "at_ns": pose.since}
    unsure = {"is_unsure": True} if pose.is_unsure else {}
    return edge | pose_fields(pose.transform.xyz_wxyz, pose.covariance) | unsure


def _settings(world: Any) -> dict[str, Any]:
    made_with = world.store.settings.keywords
    return {key: _plain(made_with[argument]) for key, argument in SETTINGS.items()}


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, str | int | float) else np.asarray(value, dtype=float).tolist()


def _scene(world: Any) -> tuple[dict[str, Any] | None, dict[str, NDArray[Any]]]:
    if not world.store.is_scene_open:
        return None, {}
    return scene_document(SceneVersion(world.store, world.store.view()))


def _edge(said: Any, other: str) -> dict[str, Any]:
    return {"of": said.of, other: getattr(said, other), "source": said.source}


def _mount(mount: Any, models: list[Any]) -> dict[str, Any]:
    said = asdict(mount.options)
    said["since_ns"] = said.pop("since")
    number = next(i for i, model in enumerate(models) if model is mount.model)
    shapes = {path: [str(node) for node in nodes] for path, nodes in mount.shapes.items()}
    return {"model": number, **said, "roles": list(said["roles"]), "shapes": shapes}


def _joints(world: Any) -> Iterator[dict[str, Any]]:
    """Where joints were last, by everybody who said so."""
    for name in world.joints():
        for source in world.store.joint_sources(name):
            told = world.joint_samples(name, source=source)
            if len(told.stamps):
                position, velocity = float(told.positions[-1]), float(told.velocities[-1])
                said = {"name": name, "source": source, "at_ns": int(told.stamps[-1]), "position": position}
                yield said if np.isnan(velocity) else said | {"velocity": velocity}
