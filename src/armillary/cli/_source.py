"""Where the world of a command comes from: a saved world, a file of a robot, or a demonstration."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol

import typer  # noqa: TC002  (typer reads the annotations of what completes)

from armillary import World, seconds
from armillary.cli._terminal import working
from armillary.errors import ArmillaryError, InvalidArgument

if TYPE_CHECKING:
    from armillary.articulation import ArticulationModel
    from armillary.formats import RobotDescription

__all__ = [
    "DEMO",
    "SDF",
    "TURTLES",
    "URDF",
    "OpenedWorld",
    "complete_frame",
    "complete_world",
    "opened",
    "robots_in",
    "saved_world",
]

DEMO, TURTLES = "demo", "turtles"
_DEMOS = (DEMO, TURTLES)
URDF, SDF = (".urdf", ".xacro"), (".sdf", ".world")
_HISTORY_S = 30.0
_FORMAT_BYTES = 2**30
_PARTS = {"armillary.scene": "a saved scene", "armillary.model": "a saved model"}
"""What a world can be made of, as such files call themselves."""


@dataclass(frozen=True, slots=True)
class OpenedWorld:
    """A world, and what makes it go on.

    Attributes:
        name: What the user called it.
        world: What is asked.
        catch_up: Lets it come up to the present; None where nothing moves.
    """

    name: str
    world: World
    catch_up: Callable[[], None] | None = None


class _Playing(Protocol):
    """A world in which things happen."""

    world: World

    def advance(self, *, to: int) -> None:
        """Let things happen until then [ns]."""


def opened(source: str | None, here: str | None = None, *, with_shapes: bool = False) -> OpenedWorld:
    """The world that a user named, as an option or in its place.

    Args:
        source: Of `--world`.
        here: The argument; it comes first.
        with_shapes: Whether shapes of a robot are wanted; they take time.
    """
    name = here or source
    if name is None:
        raise InvalidArgument(
            "No world was named. Say where it comes from: --world kitchen.json, robot.urdf, demo or turtles."
        )
    if name in _DEMOS:
        with working("Setting the scene"):
            return _demonstration(name)
    with working(f"Reading {name}"):
        return OpenedWorld(name, _read(Path(name), with_shapes=with_shapes))


def saved_world(path: Path) -> World:
    """A saved world, and nothing else."""
    kind = _format_of(path)
    if kind == "armillary.world":
        return World.load(path)
    if path.suffix in (*URDF, *SDF):
        raise InvalidArgument(f"'{path}' is no saved world. {_made_of(path, path.with_suffix('.json'))}", str(path))
    if kind in _PARTS:
        beside = path.with_name(f"{path.stem}_world.json")
        raise InvalidArgument(f"'{path}' is {_PARTS[kind]}, not a saved world. {_made_of(path, beside)}", str(path))
    raise InvalidArgument(f"'{path}' is no saved world: what 'armillary save' writes is expected.", str(path))


def _made_of(path: Path, target: Path) -> str:
    return f"Make one of it with: armillary save {target} --world {path}"


def robots_in(path: Path) -> tuple[RobotDescription, ...]:
    """Of a URDF or SDF file."""
    from armillary.formats import read_sdf, read_urdf  # noqa: PLC0415  (lxml is optional)

    return (read_urdf(path),) if path.suffix in URDF else read_sdf(path)


def _read(path: Path, *, with_shapes: bool) -> World:
    if path.suffix in (*URDF, *SDF):
        return _of_robots(path, with_shapes=with_shapes)
    kind = _format_of(path)
    if kind == "armillary.world":
        return World.load(path)
    if kind == "armillary.model":
        from armillary.articulation import ArticulationModel  # noqa: PLC0415  (casadi is optional)

        return _standing(path.stem, ArticulationModel.load(path), prefix=None, with_shapes=with_shapes)
    if kind == "armillary.scene":
        world = World(path.stem)
        world.scene.load(path)
        return world
    raise InvalidArgument(
        f"'{path}' is no world: a saved world or scene (.json), a URDF or an SDF file is expected.", str(path)
    )


def _format_of(path: Path) -> str:
    """What a JSON file says of itself; empty where it says nothing."""
    with path.open("rb") as file:
        data = file.read(_FORMAT_BYTES)
    try:
        said = json.loads(data)
    except (ValueError, RecursionError):
        return ""
    kind = said.get("format") if isinstance(said, dict) else None
    return kind if isinstance(kind, str) else ""


def _of_robots(path: Path, *, with_shapes: bool) -> World:
    from armillary.articulation import ArticulationModel  # noqa: PLC0415  (casadi is optional)

    model, robots = ArticulationModel(), robots_in(path)
    for robot in robots:
        model.add_robot(robot)
    return _standing(path.stem, model, prefix="" if len(robots) == 1 else None, with_shapes=with_shapes)


def _standing(name: str, model: ArticulationModel, *, prefix: str | None, with_shapes: bool) -> World:
    """Every joint at zero, or as near to it as it may go."""
    world = World(name)
    mount = world.mount(model, prefix=prefix, shapes="visual" if with_shapes else "none", skip_missing=True)
    rest = {joint: min(max(0.0, low), high) for joint, (low, high) in mount.limits.items()}
    if rest:
        world.set_joints(rest, at=0)
    return world


def _demonstration(name: str) -> OpenedWorld:
    playing = _turtles() if name == TURTLES else _kitchen()
    playing.advance(to=seconds(1.0))
    begin = monotonic()
    return OpenedWorld(name, playing.world, lambda: playing.advance(to=seconds(1.0 + monotonic() - begin)))


def _kitchen() -> _Playing:
    from armillary.demos.kitchen.simulation import Kitchen  # noqa: PLC0415  (casadi is optional)

    return Kitchen(history=seconds(_HISTORY_S))


def _turtles() -> _Playing:
    from armillary.demos.turtles.simulation import Turtles  # noqa: PLC0415  (most commands need none)

    return Turtles(history=seconds(_HISTORY_S))


# -- For the shell


def complete_world(incomplete: str) -> list[str]:
    """Files that a world may come from, and the demonstrations."""
    folder = Path(incomplete).parent
    files = [path for path in folder.glob("*") if path.is_dir() or path.suffix in (".json", *URDF, *SDF)]
    names = [f"{path}/" if path.is_dir() else str(path) for path in files]
    return sorted(name for name in [*names, *_DEMOS] if name.startswith(incomplete))


def complete_frame(context: typer.Context, incomplete: str) -> list[str]:
    """Frames of the world that was named before."""
    given: dict[str, Any] = context.params
    try:
        frames = opened(given.get("world")).world.frames()
    except (ArmillaryError, OSError):
        return []
    return sorted(name for name in frames if name.startswith(incomplete))
