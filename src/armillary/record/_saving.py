"""Saving a world: its change log and what goes with it as one JSON document, the arrays of its shapes beside it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from armillary.errors import ArmillaryError
from armillary.formats.whole_files import as_file_path
from armillary.record._format import FORMAT, SETTINGS, VERSION
from armillary.scene.files import (
    JsonLines,
    content_entries,
    document_text,
    pose_fields,
    write_with_arrays,
)
from armillary.store.nodes import TRANSFORM_KINDS
from armillary.store.store import NO_RELATION
from armillary.store.values import FOREVER_NS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from armillary._core import ChangeRecord
    from armillary.store import Store

__all__ = ["retention_entries", "settings_of", "write_world"]


def write_world(world: Any, path: str | PathLike[str]) -> None:
    """Write a world to a file, and the arrays of its shapes to another beside it.

    All that is written is of one moment: it is read from a copy. Mounts and loops are read before, so that what they
    assert is in it.

    Raises:
        UnsavableModel: A mounted model holds an operation that files do not know.
    """
    file = as_file_path(path)
    mounts, loops = world.mounts, [loop for loop in world.closed_loops if loop.is_active]
    models = list({id(mount.model): mount.model for mount in mounts}.values())
    beside = {
        "models": [json.loads(model.to_bytes()) for model in models],
        "mounts": [_mount_entry(mount, models) for mount in mounts],
        "closed_loops": [loop.entry() for loop in loops],
    }
    with closing(world.store.copy()) as store:
        records = store.records()
        arrays: dict[str, NDArray[Any]] = {}
        contents = list(content_entries(records, arrays))
        document = {
            "format": FORMAT,
            "version": VERSION,
            "settings": settings_of(store),
            "has_root_frame": store.is_scene_open,
            "held": _ranges(store.version_vector()),
            "dropped": _ranges(store.dropped()),
            "records": JsonLines([record.to_json() for record in records]),
            "arrays": None,
            "contents": contents,
            "samples": list(_sample_entries(store, records)),
            "kept": list(retention_entries(store)),
            "joints": list(_joint_entries(store)),
            "joint_preferences": [],
            **beside,
        }
    write_with_arrays(file, arrays, lambda named: document_text({**document, "arrays": named}))


def settings_of(store: Store) -> dict[str, Any]:
    """Return the settings of a store as a file has them."""
    settings = store.settings.keywords
    return {key: _plain(settings[argument]) for key, argument in SETTINGS.items()}


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, str | int | float) else np.asarray(value, dtype=float).tolist()


def _ranges(changes: dict[int, list[tuple[int, int]]]) -> list[dict[str, Any]]:
    """Return the entries of a version vector; authors are written as in records."""
    return [{"author": f"{author:016x}", "ranges": ranges} for author, ranges in sorted(changes.items())]


def _sample_entries(store: Store, records: Sequence[ChangeRecord]) -> Iterator[dict[str, Any]]:
    """Yield the samples of the scene's transforms, but where the pose that a node was made with is the only one.

    Where there are none though it was made with one, that was cleared.
    """
    view = store.view()
    made = {record.node: record for record in records if record.type == "add_node" and record.kind in TRANSFORM_KINDS}
    for node, record in made.items():
        stamps, transforms, spreads = store.node_samples(node)
        if len(stamps) == 0:
            is_like_new = record.is_fixed
        else:
            is_like_new = not view.contains(node) or _is_first(record, stamps, transforms, spreads)
        if is_like_new:
            continue
        rows = zip(stamps.tolist(), transforms, [None] * len(stamps) if spreads is None else spreads, strict=True)
        yield {
            "node": str(node),
            "samples": [{"at_ns": stamp} | pose_fields(row, spread) for stamp, row, spread in rows],
        }


def _is_first(record: ChangeRecord, stamps: Any, transforms: Any, spreads: Any) -> bool:
    """Whether the only sample of a node is the pose that it was made with."""
    if len(stamps) != 1 or record.is_fixed or stamps[0] != record.at:
        return False
    covariance = record.covariance
    is_same = np.array_equal(transforms[0], record.transform.xyz_wxyz)
    if spreads is None or np.isnan(spreads[0]).any():
        return is_same and covariance is None
    return is_same and covariance is not None and np.array_equal(spreads[0], covariance)


def retention_entries(store: Store) -> Iterator[dict[str, Any]]:
    """Yield how much relations keep that keep more or less than the settings say."""
    usual = store.retention(NO_RELATION)
    for of, in_frame, source, kind, *_ in store.relation_rows():
        is_twist = kind == "twist"
        find = store.twist_relation_id if is_twist else store.relation_id
        kept = store.retention(find(of, in_frame, source))
        if kept != usual:
            history_ns, *more = kept
            limits = dict(zip(("max_samples", "thin_m", "thin_rad"), more, strict=True))
            edge = {"kind": "twist" if is_twist else "pose", "of": of, "in_frame": in_frame, "source": source}
            yield edge | {"history_ns": None if history_ns == FOREVER_NS else history_ns} | limits


def _joint_entries(store: Store) -> Iterator[dict[str, Any]]:
    """Yield the last sample of each source of each joint."""
    for name in store.joints():
        for source in store.joint_sources(name):
            stamps, positions, velocities = store.joint_rows(name, None, None, source)
            if len(stamps):
                entry = {"name": name, "source": source, "at_ns": int(stamps[-1])}
                numbers = {"position": float(positions[-1]), "velocity": float(velocities[-1])}
                entry |= {key: number for key, number in numbers.items() if not np.isnan(number)}
                yield entry | ({"is_integrated": True} if _is_integrated(store, name, int(stamps[-1])) else {})


def _is_integrated(store: Store, name: str, at: int) -> bool:
    """Whether a joint is known by integration at an instant."""
    try:
        return bool(store.joint_row(name, at, "raise")[-1])
    except ArmillaryError:
        return False


def _mount_entry(mount: Any, models: list[Any]) -> dict[str, Any]:
    options = asdict(mount.options)
    options["since_ns"] = options.pop("since")
    options["interpolations"] = dict(options["interpolations"])
    for key in ("interpolations", "outer_prefix"):
        if not options[key]:
            del options[key]
    number = next(i for i, model in enumerate(models) if model is mount.model)
    shapes = {path: [str(node) for node in nodes] for path, nodes in mount.shapes.items()}
    return {
        "model": number,
        **options,
        "roles": list(options["roles"]),
        "objects": list(mount.objects),
        "shapes": shapes,
    }
