"""`armillary convert`: from one kind of file to another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from armillary.cli._arguments import AsJson
from armillary.cli._output import say
from armillary.cli._progress import working
from armillary.cli._source import SDF, URDF, opened, robots_in
from armillary.errors import InvalidArgument

EXAMPLE = "armillary convert robot.urdf robot.json"

_YAML = (".yaml", ".yml")
_From = Annotated[Path, typer.Argument(metavar="IN", help="A URDF or SDF file, or a saved world.")]
_To = Annotated[Path, typer.Argument(metavar="OUT", help="robot.urdf, world.json, or extrinsics.yaml.")]
_Lossy = Annotated[bool, typer.Option("--lossy", help="Write URDF without what URDF cannot say.")]


def convert(*, source: _From, target: _To, lossy: _Lossy = False, as_json: AsJson = False) -> None:
    """Convert URDF, SDF and saved worlds; the ending of OUT says into what."""
    with working(f"Converting {source}"):
        convert_file(source, target, lossy=lossy)
    text = f"Converted {source} to {target}."
    say(as_json=as_json, fields={"source": str(source), "target": str(target)}, text=text)


def convert_file(source: Path, target: Path, *, lossy: bool) -> None:
    """Write the target, or say why it cannot be."""
    if target.suffix == ".urdf":
        _to_urdf(source, target, lossy=lossy)
    elif target.suffix == ".json":
        opened(str(source), with_shapes=True).world.save(target)
    elif target.suffix in _YAML:
        opened(str(source)).world.save_extrinsics(target)
    else:
        raise InvalidArgument(
            f"'{target}' must end with .urdf, .json (a saved world) or .yaml (extrinsics).", str(target)
        )


def _to_urdf(source: Path, target: Path, *, lossy: bool) -> None:
    from armillary.formats import write_urdf  # noqa: PLC0415  (lxml is optional)

    if source.suffix not in (*URDF, *SDF):
        raise InvalidArgument(f"URDF is made from URDF or SDF files, and '{source}' is neither.", str(source))
    robots = robots_in(source)
    if len(robots) != 1:
        names = ", ".join(robot.name for robot in robots)
        raise InvalidArgument(f"URDF holds one robot, and '{source}' has {len(robots)}: {names}.", str(source))
    write_urdf(robots[0], target, lossy=lossy)
