"""`armillary convert`: URDF, SDF, MJCF, saved worlds and logs into other formats."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from armillary.cli._arguments import AsJson
from armillary.cli._output import print_result
from armillary.cli._source import ROBOTS, open_world, robots_in
from armillary.cli._terminal import progress_bar
from armillary.errors import InvalidArgument
from armillary.store.nodes import is_containment, is_of_a_node

if TYPE_CHECKING:
    from armillary import World

EXAMPLE = "armillary convert robot.urdf robot.json"

_YAML, _LOGS = (".yaml", ".yml"), (".mcap", ".bag")
_From = Annotated[Path, typer.Argument(metavar="IN", help="A URDF, SDF or MJCF file, a saved world, or a log.")]
_To = Annotated[
    Path, typer.Argument(metavar="OUT", help="robot.urdf, world.json, extrinsics.yaml, or a log: run.mcap, run.bag.")
]
_Lossy = Annotated[bool, typer.Option("--lossy", help="Write URDF without what URDF cannot represent.")]


def convert(*, source: _From, target: _To, lossy: _Lossy = False, as_json: AsJson = False) -> None:
    """Convert URDF, SDF, MJCF, saved worlds and logs; the suffix of OUT selects the format."""
    with progress_bar(f"Converting {source}"):
        lost = convert_file(source, target, lossy=lossy)
    if lost:
        typer.echo(f"armillary: {lost}", err=True)
    text = f"Converted {source} to {target}."
    print_result(as_json=as_json, fields={"source": str(source), "target": str(target)}, text=text)


def convert_file(source: Path, target: Path, *, lossy: bool) -> str:
    """Write the target, and return one sentence about what it does not contain, or an empty text."""
    if target.suffix == ".urdf":
        _to_urdf(source, target, lossy=lossy)
    elif target.suffix == ".json":
        open_world(str(source), with_shapes=True).world.save(target)
    elif target.suffix in _YAML:
        known = open_world(str(source)).world
        return _left_out(known, target, written=len(known.save_extrinsics(target)))
    elif target.suffix in _LOGS:
        left_out = open_world(str(source)).world.to_log(target).left_out
        return f"Not in {target}: {'; '.join(left_out.values())}." if left_out else ""
    else:
        raise InvalidArgument(
            f"'{target}' must end with .urdf, .json (a saved world), .yaml (extrinsics), .mcap or .bag (logs).",
            str(target),
        )
    return ""


def _left_out(world: World, target: Path, *, written: int) -> str:
    """Return a sentence about fixed poses that are not extrinsics: those of scene nodes and models."""
    infos = [info for info in world.relations() if info.kind == "fixed"]
    fixed = [world.store.frame_key(info.of) for info in infos if not is_containment(world.store, info)]
    nodes = sum(map(is_of_a_node, fixed))
    of_models = sum(not is_of_a_node(frame) for frame in fixed) - written
    lost = [f"{nodes} fixed node{'' if nodes == 1 else 's'} of the scene"] if nodes else []
    lost += [f"{of_models} fixed pose{'' if of_models == 1 else 's'} of models"] if of_models > 0 else []
    return f"Not in {target}: {' and '.join(lost)}." if lost else ""


def _to_urdf(source: Path, target: Path, *, lossy: bool) -> None:
    from armillary.formats import write_urdf  # noqa: PLC0415  (lxml is optional)

    if source.suffix not in ROBOTS:
        raise InvalidArgument(f"URDF is made from URDF, SDF or MJCF files, and '{source}' is none.", str(source))
    robots = robots_in(source)
    if len(robots) != 1:
        names = ", ".join(robot.name for robot in robots)
        raise InvalidArgument(f"URDF holds one robot, and '{source}' has {len(robots)}: {names}.", str(source))
    write_urdf(robots[0], target, lossy=lossy)
