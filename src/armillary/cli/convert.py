"""`armillary convert`: from one kind of file to another."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from armillary.cli._arguments import AsJson
from armillary.cli._output import say
from armillary.cli._source import SDF, URDF, opened, robots_in
from armillary.cli._terminal import working
from armillary.errors import InvalidArgument
from armillary.scene.node_frames import is_of_a_node

if TYPE_CHECKING:
    from armillary import World

EXAMPLE = "armillary convert robot.urdf robot.json"

_YAML = (".yaml", ".yml")
_From = Annotated[Path, typer.Argument(metavar="IN", help="A URDF or SDF file, or a saved world.")]
_To = Annotated[Path, typer.Argument(metavar="OUT", help="robot.urdf, world.json, or extrinsics.yaml.")]
_Lossy = Annotated[bool, typer.Option("--lossy", help="Write URDF without what URDF cannot say.")]


def convert(*, source: _From, target: _To, lossy: _Lossy = False, as_json: AsJson = False) -> None:
    """Convert URDF, SDF and saved worlds; the ending of OUT says into what."""
    with working(f"Converting {source}"):
        lost = convert_file(source, target, lossy=lossy)
    if lost:
        typer.echo(f"armillary: {lost}", err=True)
    text = f"Converted {source} to {target}."
    say(as_json=as_json, fields={"source": str(source), "target": str(target)}, text=text)


def convert_file(source: Path, target: Path, *, lossy: bool) -> str:
    """Write the target, or say why it cannot be; what is not in it, in one sentence, or nothing."""
    if target.suffix == ".urdf":
        _to_urdf(source, target, lossy=lossy)
    elif target.suffix == ".json":
        opened(str(source), with_shapes=True).world.save(target)
    elif target.suffix in _YAML:
        known = opened(str(source)).world
        return _left_out(known, target, written=len(known.save_extrinsics(target)))
    else:
        raise InvalidArgument(
            f"'{target}' must end with .urdf, .json (a saved world) or .yaml (extrinsics).", str(target)
        )
    return ""


def _left_out(world: World, target: Path, *, written: int) -> str:
    """What is fixed in a world, and no extrinsic: things of the scene, and what models bring."""
    # What nodes say themselves is no pose of its own: that others are in them.
    fixed = [info.of for info in world.relations() if info.kind == "fixed" and not is_of_a_node(info.source)]
    things = sum(map(is_of_a_node, fixed))
    of_models = sum(not is_of_a_node(frame) for frame in fixed) - written
    lost = [f"{things} fixed thing{'' if things == 1 else 's'} of the scene"] if things else []
    lost += [f"{of_models} fixed pose{'' if of_models == 1 else 's'} of models"] if of_models > 0 else []
    return f"Not in {target}: {' and '.join(lost)}." if lost else ""


def _to_urdf(source: Path, target: Path, *, lossy: bool) -> None:
    from armillary.formats import write_urdf  # noqa: PLC0415  (lxml is optional)

    if source.suffix not in (*URDF, *SDF):
        raise InvalidArgument(f"URDF is made from URDF or SDF files, and '{source}' is neither.", str(source))
    robots = robots_in(source)
    if len(robots) != 1:
        names = ", ".join(robot.name for robot in robots)
        raise InvalidArgument(f"URDF holds one robot, and '{source}' has {len(robots)}: {names}.", str(source))
    write_urdf(robots[0], target, lossy=lossy)
