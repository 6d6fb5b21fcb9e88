"""`armillary fix`: write a fixed pose into a saved world."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from armillary import Transform, World
from armillary.cli._arguments import AsJson
from armillary.cli._output import fields_of_pose, print_result, text_of_transform
from armillary.cli._source import complete_frame, complete_world, saved_world
from armillary.errors import InvalidArgument
from armillary.fusion.policies import by_source

EXAMPLE = "armillary fix camera base --xyz 0.1 0 0.4 --rpy-deg 0 15 0 --world kitchen.json"

_Frame = Annotated[
    str, typer.Argument(metavar="FRAME", help="The frame to fix; created if missing.", autocompletion=complete_frame)
]
_InFrame = Annotated[
    str, typer.Argument(metavar="IN_FRAME", help="The frame it is fixed in.", autocompletion=complete_frame)
]
_Numbers = tuple[float, float, float]
_Xyz = Annotated[
    _Numbers | None, typer.Option("--xyz", help="Position of its origin in metres; 0 0 0 if only --rpy-deg is given.")
]
_Rpy = Annotated[
    _Numbers | None, typer.Option("--rpy-deg", help="Roll, pitch and yaw in degrees; 0 0 0 if only --xyz is given.")
]
_World = Annotated[
    str | None,
    typer.Option(
        "--world",
        "-w",
        envvar="ARMILLARY_WORLD",
        help="The saved world to write (.json); created if missing.",
        autocompletion=complete_world,
    ),
]
_ZEROS = (0.0, 0.0, 0.0)


def fix(
    *,
    of: _Frame,
    in_frame: _InFrame,
    xyz: _Xyz = None,
    rpy_deg: _Rpy = None,
    world: _World = None,
    as_json: AsJson = False,
) -> None:
    """Fix a frame in a saved world, and save it again. A missing file is created."""
    if world is None:
        raise InvalidArgument("No saved world was given. Give --world kitchen.json")
    path = Path(world)
    known = _load_or_create(path)
    if xyz is None and rpy_deg is None:
        raise InvalidArgument(f"The pose of '{of}' in '{in_frame}' is missing. Give --xyz, --rpy-deg or both.")
    rpy_rad = [math.radians(angle) for angle in rpy_deg or _ZEROS]
    placed = Transform.from_xyz_rpy(xyz=xyz or _ZEROS, rpy=rpy_rad)
    known.fix(of=of, in_frame=in_frame, transform=placed, recalibrate=True)
    known.save(path)
    pose = known.pose(of=of, in_frame=in_frame, policy=by_source(known.name))
    text = f"{of} in {in_frame}, saved in {path}\n{text_of_transform(pose.transform)}"
    print_result(as_json=as_json, fields={"file": str(path), **fields_of_pose(pose)}, text=text)


def _load_or_create(path: Path) -> World:
    """Load the world of a file, or create one if the file does not exist."""
    if path.exists():
        return saved_world(path)
    if path.suffix != ".json":
        raise InvalidArgument(f"'{path}' is not there, and a new saved world must end with .json.", str(path))
    return World()
