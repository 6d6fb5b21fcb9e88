"""Fixed poses as a small YAML file that people edit, and load over a running world."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from armillary._core import Transform
from armillary.record._contents import FixedPose, contents_of
from armillary.record._fields import ExtrinsicsField, name_in
from armillary.record._yaml import yaml_in, yaml_text
from armillary.scene.files import Field, checked, read_bytes, write_whole

__all__ = ["load_extrinsics", "save_extrinsics"]

_FORMAT, _VERSION = "armillary.extrinsics", 1
_ROTATIONS = ("rpy_deg", "rpy_rad", "wxyz")
_SAME_RAD = 1e-12
_DIGITS = 12  # of degrees: 15, not 15.000000000000009
_HEADING = """\
# Where fixed frames are: `of` seen in `in_frame`. Edit, then load it over the running world with load_extrinsics.
# xyz_m: metres. rpy_deg: roll, pitch, yaw in degrees; rpy_rad or wxyz may stand there instead.
"""


def save_extrinsics(world: Any, path: Path) -> tuple[str, ...]:
    """The frames that were written: those that somebody fixed, not those that models and nodes bring."""
    fixed = contents_of(world).words.fixed
    entries = [_entry(pose, world.name) for pose in fixed]
    text = yaml_text({"format": _FORMAT, "version": _VERSION, "extrinsics": entries})
    write_whole(path, (_HEADING + text).encode())
    return tuple(pose.of for pose in fixed)


def load_extrinsics(world: Any, path: Path, *, max_bytes: int) -> tuple[str, ...]:
    """The frames that sit elsewhere now; all of the file is said to the world, or nothing."""
    top = yaml_in(read_bytes(path, max_bytes, ExtrinsicsField), str(path), ExtrinsicsField)
    new = [said for said in _read(top, world.name) if not _is_said_already(said[1], world)]
    trial = world.copy()
    try:
        for field, pose in new:
            checked(field, partial(_fix, trial, pose))
    finally:
        trial.close()
    for _, pose in new:
        _fix(world, pose)
    return tuple(pose.of for _, pose in new)


def _fix(world: Any, pose: FixedPose) -> None:
    world.fix(
        of=pose.of,
        in_frame=pose.in_frame,
        source=pose.source,
        transform=pose.transform,
        covariance=pose.covariance,
        at=pose.since,
        recalibrate=True,
    )


def _is_said_already(pose: FixedPose, world: Any) -> bool:
    """Loading what was saved moves nothing, though angles were written as degrees."""
    for known in world.store.fixed_poses():
        before = FixedPose(*known)
        is_there = (before.of, before.in_frame, before.source, before.since) == (
            pose.of,
            pose.in_frame,
            pose.source,
            pose.since,
        )
        if is_there and before.transform.is_close(pose.transform, m=0.0, rad=_SAME_RAD):
            return bool(_spread(before.covariance) == _spread(pose.covariance))
    return False


def _spread(covariance: Any) -> Any:
    return None if covariance is None else np.asarray(covariance).tolist()


# -- Writing


def _entry(pose: FixedPose, own_name: str) -> dict[str, Any]:
    entry: dict[str, Any] = {"of": pose.of, "in_frame": pose.in_frame, "xyz_m": pose.transform.translation.tolist()}
    entry |= _rotation(pose.transform)
    if pose.source != own_name:
        entry["source"] = pose.source
    if pose.since is not None:
        entry["at_ns"] = pose.since
    if pose.covariance is not None:
        entry["covariance"] = pose.covariance.tolist()
    return entry


def _rotation(transform: Transform) -> dict[str, list[float]]:
    """In degrees, where they say it as well: near a pitch of 90 degrees they do not."""
    degrees = [round(math.degrees(angle), _DIGITS) for angle in transform.rotation.rpy.tolist()]
    said = Transform.from_xyz_rpy(xyz=transform.translation, rpy=[math.radians(angle) for angle in degrees])
    if said.rotation.is_close(transform.rotation, rad=_SAME_RAD):
        return {"rpy_deg": degrees}
    return {"wxyz": transform.rotation.wxyz.tolist()}


# -- Reading


def _read(top: Field, own_name: str) -> list[tuple[Field, FixedPose]]:
    top.check_format(_FORMAT, _VERSION)
    parts = top.members(("format", "version", "extrinsics"))
    poses = [(field, _pose(field, own_name)) for field in parts["extrinsics"].items()]
    seen = set()
    for field, pose in poses:
        key = pose.of, pose.source, pose.since
        if key in seen:
            raise field.at("of").refused("an entry before this one says where it is")
        seen.add(key)
    return poses


def _pose(field: Field, own_name: str) -> FixedPose:
    parts = field.members(("of", "in_frame", "xyz_m"), (*_ROTATIONS, "source", "at_ns", "covariance"))
    covariance = [row.numbers(6) for row in parts["covariance"].items(6)] if "covariance" in parts else None
    return FixedPose(
        of=name_in(parts["of"]),
        in_frame=name_in(parts["in_frame"]),
        source=parts["source"].text() if "source" in parts else own_name,
        since=parts["at_ns"].stamp() if "at_ns" in parts else None,
        transform=_transform(field, parts),
        covariance=None if covariance is None else np.array(covariance),
    )


def _transform(field: Field, parts: dict[str, Field]) -> Transform:
    given = [name for name in _ROTATIONS if name in parts]
    if len(given) != 1:
        raise field.refused(f"one of {', '.join(_ROTATIONS)} is expected, and there are {len(given)}")
    said, xyz = parts[given[0]], parts["xyz_m"].numbers(3)
    if given[0] == "wxyz":
        wxyz = said.numbers(4)
        made: Transform = checked(said, lambda: Transform.from_xyz_wxyz(xyz=xyz, wxyz=wxyz))
        return made
    rpy = [math.radians(angle) if given[0] == "rpy_deg" else angle for angle in said.numbers(3)]
    placed: Transform = checked(said, lambda: Transform.from_xyz_rpy(xyz=xyz, rpy=rpy))
    return placed
