"""Loading a world: a file is read and checked as a whole, then a new world merges the change log that it holds."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from armillary._core import ChangeRecord, NodeId
from armillary.errors import ArmillaryError, InvalidWorldFile
from armillary.formats.fields import Field, parse_json
from armillary.formats.whole_files import as_file_path, read_bytes, target_of
from armillary.record._format import FORMAT, MOUNT, SECTIONS, VERSION
from armillary.record._sections import (
    SavedJoint,
    SavedMount,
    SavedRetention,
    Step,
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
from armillary.record._version_1 import VERSION as VERSION_1
from armillary.record._version_1 import SavedAssertions, read_assertions
from armillary.scene import PreferJoint, SetTransform
from armillary.scene.files import PlacedAt, contents_in, samples_in, unpacked
from armillary.shapes import Levels
from armillary.store import Store

if TYPE_CHECKING:
    from armillary.store.payloads import Connection

    Content = Levels | Connection
    Ranges = dict[int, list[tuple[int, int]]]

__all__ = ["SavedWorld", "read_world", "restore"]

_AUTHOR_DIGITS = 16
_MOST = 2**63
_CARRYING = ("geometry", "connection")
"""Kinds of nodes that carry something."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedWorld:
    """The content of the file of a saved world.

    Attributes:
        settings: The arguments of `World`.
        has_root_frame: Whether the frame of the scene's root is there.
        records: All change records that could still matter.
        held: Which records the world held, by author: ranges of sequence numbers.
        dropped: Those of them that it did not keep, though others may lack them.
        samples: By node of a transform, its samples.
        retention: How much relations keep that differ from the settings.
        joints: The last samples of joints.
        joint_preferences: By joint, the source that is preferred.
        mounts: The mounted models.
        top: The whole document.
    """

    settings: Mapping[str, Any]
    has_root_frame: bool
    records: tuple[ChangeRecord, ...]
    held: Ranges
    dropped: Ranges
    samples: tuple[tuple[Field, NodeId, list[PlacedAt]], ...]
    retention: tuple[SavedRetention, ...]
    joints: tuple[SavedJoint, ...]
    joint_preferences: tuple[tuple[Field, str, str], ...]
    mounts: tuple[SavedMount, ...]
    top: Field

    def restore(self, make: Callable[..., Any]) -> Any:
        """Make the world that the file describes; `make` takes the arguments of `World`."""
        world = made_world(self.settings, self.top.at("settings"), make)
        return restored(world, _steps(self, world))


def read_world(
    path: str | PathLike[str], *, max_bytes: int, kinds: Iterable[type[Any]] = ()
) -> SavedWorld | SavedAssertions:
    """Read and check the file of a saved world, of this version or of version 1.

    Args:
        path: The file that `write_world` wrote.
        max_bytes: Larger files are refused.
        kinds: Operations and joints of the user's own that the file may name.

    Raises:
        InvalidWorldFile: With the place in the file of what is wrong.
    """
    file = as_file_path(path)
    data = read_bytes(file, max_bytes, InvalidWorldFile)
    try:
        return _read(data, file, max_bytes - len(data), tuple(kinds))
    except InvalidWorldFile:
        # Who replaces a file replaces its arrays as well: they may have been those of the file before.
        again = read_bytes(file, max_bytes, InvalidWorldFile)
        if again == data:
            raise
        return _read(again, file, max_bytes - len(again), tuple(kinds))


def _read(data: bytes, path: Path, left: int, classes: tuple[type[Any], ...]) -> SavedWorld | SavedAssertions:
    top, folder = parse_json(data, str(path), InvalidWorldFile), target_of(path).parent
    if isinstance(top.value, dict) and top.value.get("format") == FORMAT and top.value.get("version") == VERSION_1:
        return read_assertions(top, folder, max_bytes=left, kinds=classes)
    top.check_format(FORMAT, VERSION)
    return _saved_world(top, folder, left, classes)


def restore(saved: SavedWorld | SavedAssertions, make: Callable[..., Any]) -> Any:
    """Make the world that a file describes; `make` takes the arguments of `World`.

    Raises:
        InvalidWorldFile: The world refuses something; the error names its place in the file.
    """
    return saved.restore(make)


# -- Reading


def _saved_world(top: Field, folder: Path, max_bytes: int, kinds: tuple[type[Any], ...]) -> SavedWorld:
    parts = top.members(("format", "version", *SECTIONS))
    arrays = parts["arrays"].optional(lambda reference: unpacked(reference, folder, max_bytes)) or {}
    models = models_in(parts["models"], kinds)
    parts["closed_loops"].items()  # they are read when the models are mounted
    return SavedWorld(
        settings=settings_in(parts["settings"]),
        has_root_frame=parts["has_root_frame"].boolean(),
        records=tuple(_records(parts["records"], contents_in(parts["contents"], arrays))),
        held=_ranges(parts["held"]),
        dropped=_ranges(parts["dropped"]),
        samples=tuple(map(_samples, parts["samples"].items())),
        retention=tuple(map(retention_in, parts["kept"].items())),
        joints=tuple(map(joint_in, parts["joints"].items())),
        joint_preferences=tuple(map(_joint_preference, parts["joint_preferences"].items())),
        mounts=tuple(_mount(field, models) for field in parts["mounts"].items()),
        top=top,
    )


def _ranges(field: Field) -> Ranges:
    """Read a version vector."""
    found: Ranges = {}
    for entry in field.items():
        parts = entry.members(("author", "ranges"))
        author = _author(parts["author"])
        if author in found:
            raise parts["author"].refused("this author is given twice")
        found[author] = [_range(limits) for limits in parts["ranges"].items()]
    return found


def _author(field: Field) -> int:
    text = field.text()
    if len(text) != _AUTHOR_DIGITS or not set(text) <= set("0123456789abcdef"):
        raise field.refused("the 16 hexadecimal digits of an author are expected")
    return int(text, 16)


def _range(field: Field) -> tuple[int, int]:
    first, last = (limit.integer() for limit in field.items(2))
    if not 0 < first <= last < _MOST:
        raise field.refused("the first and the last of some sequence numbers are expected")
    return first, last


def _records(field: Field, contents: Mapping[str, Content]) -> Iterator[ChangeRecord]:
    taken: set[tuple[str, int]] = set()
    if not isinstance(field.value, list):
        field.items()  # raises
    for i, value in enumerate(field.value):
        digest = value.get("content") if isinstance(value, dict) else None
        content = contents.get(digest) if isinstance(digest, str) else None
        try:
            record = ChangeRecord.from_json(json.dumps(value), content)
        except (ArmillaryError, TypeError, ValueError) as error:
            raise field.at(i).refused(str(error).rstrip(".")) from None
        if record.type == "add_node" and value["kind"] in _CARRYING:
            _check_carried(field.at(i), value["kind"], content)
        author, sequence = value["id"]
        if (author, sequence) in taken:
            raise field.at(i).at("id").refused("this id is taken by a record before it")
        taken.add((author, sequence))
        yield record


def _check_carried(field: Field, kind: str, content: Content | None) -> None:
    if content is None:
        raise field.at("content").refused("there is no such entry of 'contents'")
    if isinstance(content, Levels) != (kind == "geometry"):
        raise field.at("content").refused(f"a {kind} carries something else")


def _samples(field: Field) -> tuple[Field, NodeId, list[PlacedAt]]:
    parts = field.members(("node", "samples"))
    return field, parts["node"].node(), samples_in(parts["samples"]) if parts["samples"].items() else []


def _joint_preference(field: Field) -> tuple[Field, str, str]:
    parts = field.members(("name", "source"))
    return field, parts["name"].name(), parts["source"].text()


def _mount(field: Field, models: list[Any]) -> SavedMount:
    parts = field.members((*MOUNT, "objects"), ("interpolations", "outer_prefix"))
    mount = mount_in(field, parts, models)
    return replace(mount, objects=tuple(path.text() for path in parts["objects"].items()))


# -- Restoring


def _prefer_joint(store: Store, joint: str, source: str) -> None:
    """Assert a preference of a file that has no record of it; samples of its source may still come."""
    if (joint, source, None, None) not in store.joint_preferences():
        store.add_unchecked([PreferJoint(joint, source)])


def _steps(saved: SavedWorld, world: Any) -> Iterator[Step]:
    """Yield each step of restoring, with the field that is blamed where it fails."""
    yield saved.top.at("records"), partial(_merge, saved, world.store)
    for retention in saved.retention:
        yield retention.field, partial(retention.restore, world)
    for field, node, samples in saved.samples:
        yield field, partial(_place, world.store, node, samples)
    # Before the models are there: nothing follows from these samples, they are all that was stored.
    yield from setting_joints(saved.joints, partial(_restore_joints, world.store))
    for field, joint, source in saved.joint_preferences:
        yield field, partial(_prefer_joint, world.store, joint, source)
    for mount in saved.mounts:
        yield mount.field, partial(_adopt, world, mount)
    for entry in saved.top.at("closed_loops").items():
        yield entry, partial(world.models.restore_loop, entry)


def _merge(saved: SavedWorld, store: Store) -> None:
    """Merge the log. The clock does not follow a reset of time: that was long ago."""
    if saved.has_root_frame:
        store.open_scene()
    try:
        store.merge_records(list(saved.records))
    except ArmillaryError as error:
        raise _blamed(saved).refused(str(error).rstrip(".")) from None
    store.note_held(saved.held, saved.dropped)
    for name in store.frames():
        if store.is_named(name):  # and not a node's
            store.typos.add(name, store.has_frame)


def _blamed(saved: SavedWorld) -> Field:
    """Return the field of the first record that is refused alone."""
    field = saved.top.at("records")
    for i, record in enumerate(saved.records):
        store = Store()
        try:
            store.merge_records([record])
        except ArmillaryError:
            return field.at(i)
        finally:
            store.close()
    return field


def _place(store: Store, node: NodeId, samples: list[PlacedAt]) -> None:
    """Give a transform the samples that it had, and not the pose it was made with where that is not among them."""
    had = {one.at for one in samples}
    if not had.issuperset(store.node_samples(node)[0].tolist()):
        store.clear_node_samples(node)
    if samples:
        changes = [SetTransform(node, one.transform, one.covariance, one.at or 0) for one in samples]
        store.apply(changes, for_undo=False)


def _restore_joints(store: Store, at: int, source: str, together: list[SavedJoint]) -> None:
    positions, velocities = positions_and_velocities(together)
    store.restore_joints(positions, at, velocities, source, together[0].is_integrated)


def _adopt(world: Any, mount: SavedMount) -> None:
    from armillary.articulation.mount import MountOptions  # noqa: PLC0415  (a world without models needs no casadi)

    options = MountOptions(**mount.options)
    world.models.adopt(mount.model, options, objects=mount.objects, shapes=mount.shapes)
