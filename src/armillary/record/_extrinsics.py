"""Fixed poses as a small YAML file that people edit, and load over a running world."""

from __future__ import annotations

import math
import re
from collections import Counter
from functools import cache, partial
from os import PathLike
from typing import Any

import numpy as np

from armillary._core import Transform
from armillary.errors import ArmillaryError, InvalidExtrinsicsFile, MissingExtra
from armillary.formats.fields import Field
from armillary.formats.whole_files import as_file_path, read_bytes, write_whole
from armillary.scene import Fix

__all__ = ["load_extrinsics", "save_extrinsics"]

_FORMAT, _VERSION = "armillary.extrinsics", 1
_ROTATIONS = ("rpy_deg", "rpy_rad", "wxyz")
_SAME_M = _SAME_RAD = 1e-12
_DIGITS = 12  # of degrees: 15, not 15.000000000000009
_HEADING = """\
# Where fixed frames are: `of` seen in `in_frame`. Edit, then load it over the running world with load_extrinsics.
# xyz_m: metres. rpy_deg: roll, pitch, yaw in degrees; rpy_rad or wxyz may be given instead.
"""
_PLAIN = {
    "null": re.compile(r"~|null|"),
    "bool": re.compile(r"true|false"),
    "int": re.compile(r"[-+]?[0-9]+"),
    "float": re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.inf|\.nan"),
}
"""Values without quotes that are not texts: the core schema of YAML 1.2."""
_TAG = "tag:yaml.org,2002:{}"
_KINDS = (*_PLAIN, "str", "seq", "map")
"""What a file may hold, also where it names the kind itself."""


def save_extrinsics(world: Any, path: str | PathLike[str]) -> tuple[str, ...]:
    """Write the fixed poses, but those that models and nodes bring; return the frames that were written."""
    fixed = _fixed_poses(world)
    entries = [_entry(fix, world.name) for fix in fixed]
    document = {"format": _FORMAT, "version": _VERSION, "extrinsics": entries}
    text = _yaml().safe_dump(document, default_flow_style=None, sort_keys=False, allow_unicode=True, width=120)
    write_whole(as_file_path(path), (_HEADING + text).encode())
    return tuple(fix.of for fix in fixed)


def load_extrinsics(world: Any, path: str | PathLike[str], *, max_bytes: int) -> tuple[str, ...]:
    """Fix the poses of a file, all or none; return the frames whose pose changed."""
    top = _parse_yaml(read_bytes(as_file_path(path), max_bytes, InvalidExtrinsicsFile), str(path))
    known = {row[:4]: row[4:6] for row in world.store.fixed_poses()}
    new = [(field, fix) for field, fix in _read(top, world.name) if not _is_known(fix, known)]
    if not new:
        return ()
    try:
        world.store.apply_to_frames(fix for _, fix in new)
    except ArmillaryError:
        _blame(world, new)
        raise
    return tuple(fix.of for _, fix in new)


def _blame(world: Any, new: list[tuple[Field, Fix]]) -> None:
    """Refuse the first of these poses that cannot be fixed after those before it."""
    with world.copy() as trial:
        for field, fix in new:
            field.checked(partial(trial.store.apply_to_frames, [fix]))


def _is_known(fix: Fix, known: dict[Any, Any]) -> bool:
    """Whether the world has this pose: loading what was saved moves nothing, though angles were written as degrees."""
    transform, covariance = known.get((fix.of, fix.in_frame, fix.source, fix.at), (None, None))
    is_same = transform is not None and transform.is_close(fix.transform, m=0.0, rad=_SAME_RAD)
    return bool(is_same and _rows(covariance) == _rows(fix.covariance))


def _rows(covariance: Any) -> Any:
    return None if covariance is None else np.asarray(covariance).tolist()


# -- Writing


def _fixed_poses(world: Any) -> list[Fix]:
    """Return the fixed poses that hold, those for always first, but those that models and nodes bring."""
    asserted = [record for record in world.store.records() if record.type == "assert" and record.value_type == "fixed"]
    label = world.store.frame_label  # records call the frame of a node by its id
    edges = {(label(record.track[1]), label(record.in_frame), record.track[2]) for record in asserted}
    by_models = {name: link for mount in world.mounts for name, link in mount.links.items()}
    found = []
    for of, in_frame, source, since, transform, covariance, is_unsure in world.store.fixed_poses():
        fix = Fix(
            of=of,
            in_frame=in_frame,
            source=source,
            at=since,
            transform=transform,
            covariance=covariance,
            is_unsure=is_unsure,
        )
        if (of, in_frame, source) in edges and not _is_of_model(fix, by_models.get(of)):
            found.append(fix)
    order = {name: i for i, name in enumerate(world.frames())}
    return sorted(found, key=lambda fix: (fix.at is not None, fix.at or 0, order[fix.of]))


def _is_of_model(fix: Fix, link: Any) -> bool:
    """Whether a pose is that of a link which no joint moves in its parent."""
    if link is None or link.parent != fix.in_frame or link.parent_T_link.free_variables:
        return False
    return bool(link.parent_T_link.evaluate({}).is_close(fix.transform, m=_SAME_M, rad=_SAME_RAD))


def _entry(fix: Fix, own_name: str) -> dict[str, Any]:
    entry: dict[str, Any] = {"of": fix.of, "in_frame": fix.in_frame, "xyz_m": fix.transform.translation.tolist()}
    entry |= _rotation(fix.transform)
    if fix.source != own_name:
        entry["source"] = fix.source
    if fix.at is not None:
        entry["at_ns"] = fix.at
    if fix.covariance is not None:
        entry["covariance"] = _rows(fix.covariance)
    return entry


def _rotation(transform: Transform) -> dict[str, list[float]]:
    """Write a rotation in degrees where these give it back: near a pitch of 90 degrees they do not."""
    degrees = [round(math.degrees(angle), _DIGITS) for angle in transform.rotation.rpy.tolist()]
    again = Transform.from_xyz_rpy(xyz=transform.translation, rpy=[math.radians(angle) for angle in degrees])
    if again.rotation.is_close(transform.rotation, rad=_SAME_RAD):
        return {"rpy_deg": degrees}
    return {"wxyz": transform.rotation.wxyz.tolist()}


# -- Reading


def _read(top: Field, own_name: str) -> list[tuple[Field, Fix]]:
    top.check_format(_FORMAT, _VERSION)
    parts = top.members(("format", "version", "extrinsics"))
    poses = [(field, _fix(field, own_name)) for field in parts["extrinsics"].items()]
    seen = set()
    for field, fix in poses:
        key = fix.of, fix.source, fix.at
        if key in seen:
            raise field.at("of").refused("an entry before this one places it")
        seen.add(key)
    return poses


def _fix(field: Field, own_name: str) -> Fix:
    parts = field.members(("of", "in_frame", "xyz_m"), (*_ROTATIONS, "source", "at_ns", "covariance"))
    return Fix(
        of=parts["of"].name(),
        in_frame=parts["in_frame"].name(),
        source=parts["source"].text() if "source" in parts else own_name,
        at=parts["at_ns"].stamp() if "at_ns" in parts else None,
        transform=_transform(field, parts),
        covariance=np.array(parts["covariance"].matrix(6)) if "covariance" in parts else None,
        recalibrate=True,
    )


def _transform(field: Field, parts: dict[str, Field]) -> Transform:
    given = [name for name in _ROTATIONS if name in parts]
    if len(given) != 1:
        raise field.refused(f"one of {', '.join(_ROTATIONS)} is expected, and there are {len(given)}")
    rotation, xyz = parts[given[0]], parts["xyz_m"].numbers(3)
    if given[0] == "wxyz":
        wxyz = rotation.numbers(4)
        return rotation.checked(lambda: Transform.from_xyz_wxyz(xyz=xyz, wxyz=wxyz))
    rpy = [math.radians(angle) if given[0] == "rpy_deg" else angle for angle in rotation.numbers(3)]
    return rotation.checked(lambda: Transform.from_xyz_rpy(xyz=xyz, rpy=rpy))


# -- YAML as people write it by hand, without its traps: `1e-3` is a number, `no` is a text, and no key comes twice


def _yaml() -> Any:
    try:
        import yaml  # noqa: PLC0415  (optional)
    except ModuleNotFoundError as missing:
        raise MissingExtra("yaml", "yaml") from missing
    return yaml


def _parse_yaml(data: bytes, file: str) -> Field:
    yaml = _yaml()
    try:
        return Field(yaml.load(data, _loader()), file, InvalidExtrinsicsFile)
    except RecursionError:
        raise InvalidExtrinsicsFile(file, "", "it is nested too deep") from None
    except (yaml.YAMLError, ValueError, TypeError, LookupError, AttributeError) as error:
        raise InvalidExtrinsicsFile(file, "", f"it is no YAML ({' '.join(str(error).split())})") from None


@cache
def _loader() -> type[Any]:
    yaml = _yaml()

    class Loader(yaml.SafeLoader):  # type: ignore[misc, name-defined]
        """Reads plain values alone."""

        yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012  (a name of the base class)

        def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:  # noqa: ARG002, FBT001, FBT002
            counts = Counter(key.value for key, _ in node.value if isinstance(key.value, str))
            twice = next((key for key, count in counts.items() if count > 1), None)
            if twice is not None:
                raise yaml.YAMLError(f"the key '{twice}' is given twice in line {node.start_mark.line + 1} and below")
            found: dict[Any, Any] = super().construct_mapping(node, deep=True)
            strange = next((key for key in found if not isinstance(key, str)), None)
            if strange is not None:
                raise yaml.YAMLError(f"the key {strange!r} in line {node.start_mark.line + 1} and below is no text")
            return found

    known = yaml.SafeLoader.yaml_constructors
    Loader.yaml_constructors = {tag: known[tag] for tag in (*map(_TAG.format, _KINDS), None)}
    for name, pattern in _PLAIN.items():
        Loader.add_implicit_resolver(_TAG.format(name), re.compile(f"(?:{pattern.pattern})$"), None)
    return Loader
