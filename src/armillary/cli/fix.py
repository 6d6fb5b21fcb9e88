"""`armillary fix`: say in a saved world where a frame is and stays."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from armillary import Transform, World
from armillary.cli._arguments import AsJson, Frame, InFrame, WorldOption
from armillary.cli._output import fields_of_pose, say, text_of_transform
from armillary.cli._source import saved_world
from armillary.errors import InvalidArgument

EXAMPLE = "armillary fix camera base --xyz 0.1 0 0.4 --rpy-deg 0 15 0 --world kitchen.json"

_Xyz = Annotated[tuple[float, float, float], typer.Option("--xyz", help="Where its origin is, in metres.")]
_Rpy = Annotated[tuple[float, float, float], typer.Option("--rpy-deg", help="Roll, pitch and yaw in degrees.")]


def fix(
    *,
    of: Frame,
    in_frame: InFrame,
    xyz: _Xyz = (0.0, 0.0, 0.0),
    rpy_deg: _Rpy = (0.0, 0.0, 0.0),
    world: WorldOption = None,
    as_json: AsJson = False,
) -> None:
    """Fix a frame in a saved world, and save it again. A file that is not there is made."""
    if world is None:
        raise InvalidArgument("No saved world was named to fix it in. Say which: --world kitchen.json")
    path = Path(world)
    known = saved_world(path) if path.exists() else World()
    rpy_rad = [math.radians(angle) for angle in rpy_deg]
    known.fix(of=of, in_frame=in_frame, transform=Transform.from_xyz_rpy(xyz=xyz, rpy=rpy_rad), recalibrate=True)
    known.save(path)
    pose = known.pose(of=of, in_frame=in_frame)
    text = f"{of} in {in_frame}, saved in {path}\n{text_of_transform(pose.transform)}"
    say(as_json=as_json, fields={"file": str(path), **fields_of_pose(pose)}, text=text)
