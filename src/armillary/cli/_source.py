"""The world that a command uses: a saved world, a file of a robot, or a demonstration."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol

import typer

from armillary import World, seconds
from armillary.cli._terminal import progress_bar, progress_fraction
from armillary.errors import ArmillaryError, InvalidArgument, NoPeer
from armillary.formats.logs import is_log

if TYPE_CHECKING:
    from armillary.articulation import ArticulationModel
    from armillary.formats import RobotDescription


DEMO, TURTLES = "demo", "turtles"
_DEMOS = (DEMO, TURTLES)
URDF, SDF, MJCF = (".urdf", ".xacro"), (".sdf", ".world"), (".xml", ".mjcf")
ROBOTS = (*URDF, *SDF, *MJCF)
_HISTORY_S, _WAIT_FOR_PEERS_S = 30.0, 3.0
_FORMAT_BYTES = 2**30
_PARTS = {"armillary.scene": "a saved scene", "armillary.model": "a saved model"}
"""Formats of files that a world can be made from."""


@dataclass(frozen=True, slots=True)
class OpenedWorld:
    """A world, and a function that advances it to the present.

    Attributes:
        name: Name that the user gave.
        world: The world.
        catch_up: Advances a demonstration to the present; None for a static world.
    """

    name: str
    world: World
    catch_up: Callable[[], None] | None = None


class _Simulation(Protocol):
    """Simulation with a world."""

    world: World

    def advance(self, *, to: int) -> None:
        """Simulate until `to` [ns]."""


def open_world(
    source: str | None, here: str | None = None, *, with_shapes: bool = False, skip_missing: bool = True
) -> OpenedWorld:
    """Open the world of `--world`, or of the argument.

    Args:
        source: Value of `--world`.
        here: Value of the argument, which has precedence.
        with_shapes: Whether to load the shapes of a robot, which takes time.
        skip_missing: Whether meshes that are missing are left out without a warning.
    """
    name = here or source
    if name is None:
        raise InvalidArgument("No world was given. Give --world kitchen.json, robot.urdf, demo or turtles.")
    if name in _DEMOS:
        with progress_bar("Starting the demonstration"):
            return _demonstration(name)
    if not Path(name).suffix and not Path(name).exists():
        with progress_bar(f"Looking for the shared world '{name}'"):
            return OpenedWorld(name, joined(name))
    if is_log(Path(name)):
        return OpenedWorld(name, _world_of_log(Path(name)))
    with progress_bar(f"Reading {name}"):
        return OpenedWorld(name, _read_world(Path(name), with_shapes=with_shapes, skip_missing=skip_missing))


def _world_of_log(path: Path) -> World:
    """Read a log, and say on the error output what whoever reads it should know."""
    with progress_fraction(f"Reading {path}") as told:
        world = World.from_log(path, progress=told)
    report = world.log
    for problem in () if report is None else report.problems:
        typer.echo(f"armillary: {problem}", err=True)
    return world


def joined(name: str, connect: Sequence[str] = ()) -> World:
    """Return a copy of a shared world that follows it.

    Raises:
        NoPeer: Nobody shares such a world.
    """
    world = World("armillary")
    share = world.share(name, connect=connect)
    if share.wait_for_peers(1, _WAIT_FOR_PEERS_S):
        return world
    world.close()
    raise NoPeer(name, _WAIT_FOR_PEERS_S)


def saved_world(path: Path) -> World:
    """Load a saved world; raise an error for other files."""
    kind = _json_format(path)
    if kind == "armillary.world":
        return World.load(path)
    if path.suffix in ROBOTS:
        raise InvalidArgument(f"'{path}' is no saved world. {_save_hint(path, path.with_suffix('.json'))}", str(path))
    if kind in _PARTS:
        beside = path.with_name(f"{path.stem}_world.json")
        raise InvalidArgument(f"'{path}' is {_PARTS[kind]}, not a saved world. {_save_hint(path, beside)}", str(path))
    raise InvalidArgument(f"'{path}' is no saved world: what 'armillary save' writes is expected.", str(path))


def _save_hint(path: Path, target: Path) -> str:
    return f"Make one of it with: armillary save {target} --world {path}"


def robots_in(path: Path) -> tuple[RobotDescription, ...]:
    """Read the robots of a URDF, SDF or MJCF file."""
    from armillary.formats import read_mjcf, read_sdf, read_urdf  # noqa: PLC0415  (lxml is optional)

    if path.suffix in SDF:
        return read_sdf(path)
    return (read_urdf(path) if path.suffix in URDF else read_mjcf(path),)


def _read_world(path: Path, *, with_shapes: bool, skip_missing: bool) -> World:
    if path.suffix in ROBOTS:
        return _world_of_robots(path, with_shapes=with_shapes, skip_missing=skip_missing)
    kind = _json_format(path)
    if kind == "armillary.world":
        return World.load(path)
    if kind == "armillary.model":
        from armillary.articulation import ArticulationModel  # noqa: PLC0415  (casadi is optional)

        model = ArticulationModel.load(path)
        return _mounted(path.stem, model, prefix=None, with_shapes=with_shapes, skip_missing=skip_missing)
    if kind == "armillary.scene":
        world = World(path.stem)
        world.scene.load(path)
        return world
    raise InvalidArgument(
        f"'{path}' is no world: a saved world or scene (.json), a URDF, SDF or MJCF file, or a log (.bag, .mcap) is "
        "expected.",
        str(path),
    )


def _json_format(path: Path) -> str:
    """Return the field `format` of a JSON file; empty if there is none."""
    with path.open("rb") as file:
        data = file.read(_FORMAT_BYTES)
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        return ""
    kind = content.get("format") if isinstance(content, dict) else None
    return kind if isinstance(kind, str) else ""


def _world_of_robots(path: Path, *, with_shapes: bool, skip_missing: bool) -> World:
    from armillary.articulation import ArticulationModel  # noqa: PLC0415  (casadi is optional)

    model, robots = ArticulationModel(), robots_in(path)
    for robot in robots:
        model.add_robot(robot)
    prefix = "" if len(robots) == 1 else None
    return _mounted(path.stem, model, robots, prefix=prefix, with_shapes=with_shapes, skip_missing=skip_missing)


def _mounted(
    name: str,
    model: ArticulationModel,
    robots: Sequence[RobotDescription] = (),
    *,
    prefix: str | None,
    with_shapes: bool,
    skip_missing: bool,
) -> World:
    """Return a world with a mounted model; its joints are where the file has them, or as near as their limits allow."""
    from armillary.articulation import initial_values  # noqa: PLC0415  (casadi is optional)

    world = World(name)
    mount = world.mount(model, prefix=prefix, shapes="visual" if with_shapes else "none", skip_missing=skip_missing)
    initial = {key: value for robot in robots for key, value in initial_values(robot, robot.name).items()}
    rest = {}
    for variable, joint in mount.joints.items():
        if joint not in mount.dependents:
            low, high = mount.limits[joint]
            rest[joint] = min(max(initial.get(variable, 0.0), low), high)
    if rest:
        world.set_joints(rest, at=0)
    return world


def _demonstration(name: str) -> OpenedWorld:
    simulation = _turtles() if name == TURTLES else _kitchen()
    simulation.advance(to=seconds(1.0))
    begin = monotonic()
    return OpenedWorld(name, simulation.world, lambda: simulation.advance(to=seconds(1.0 + monotonic() - begin)))


def _kitchen() -> _Simulation:
    from armillary.demos.kitchen.simulation import Kitchen  # noqa: PLC0415  (casadi is optional)

    return Kitchen(history=seconds(_HISTORY_S))


def _turtles() -> _Simulation:
    from armillary.demos.turtles.simulation import Turtles  # noqa: PLC0415  (most commands need none)

    return Turtles(history=seconds(_HISTORY_S))


# -- Shell completion


def complete_world(incomplete: str) -> list[str]:
    """Complete the names of files that contain a world, and of demonstrations."""
    folder = Path(incomplete).parent
    files = [path for path in folder.glob("*") if path.is_dir() or path.suffix in (".json", ".bag", ".mcap", *ROBOTS)]
    names = [f"{path}/" if path.is_dir() else str(path) for path in files]
    return sorted(name for name in [*names, *_DEMOS] if name.startswith(incomplete))


def complete_frame(context: typer.Context, incomplete: str) -> list[str]:
    """Complete the names of frames of the world given by `--world`."""
    given: dict[str, Any] = context.params
    try:
        frames = open_world(given.get("world")).world.frames()
    except (ArmillaryError, OSError):
        return []
    return sorted(name for name in frames if name.startswith(incomplete))
