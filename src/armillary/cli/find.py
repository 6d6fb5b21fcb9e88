"""`armillary find`: things of the scene by what is said of them."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Annotated, Any

import typer

from armillary.cli._arguments import AsJson, WorldOption
from armillary.cli._output import say
from armillary.cli._source import opened
from armillary.errors import InvalidArgument
from armillary.scene.node_frames import is_of_a_node

if TYPE_CHECKING:
    from armillary.scene import Scene

EXAMPLE = "armillary find role=visual --world kitchen.json"

_Conditions = Annotated[list[str], typer.Argument(help="KEY=VALUE, or KEY~PATTERN; all of them must hold.")]


def find(*, conditions: _Conditions, world: WorldOption = None, as_json: AsJson = False) -> None:
    """Find nodes of the scene by their attributes."""
    scene = opened(world, with_shapes=True).world.scene
    wanted = dict(_condition(text) for text in conditions)
    found = [_fields(scene, node) for node in scene.find(wanted)]
    say(as_json=as_json, fields=found, text="\n".join(map(_line, found)) or "Nothing is like that.")


def _condition(text: str) -> tuple[str, Any]:
    parts = re.fullmatch(r"([^=~]+)([=~])(.*)", text)
    if parts is None:
        raise InvalidArgument(f"A condition is KEY=VALUE or KEY~PATTERN, got '{text}'.", text)
    key, sign, value = parts.groups()
    return key, _value(value) if sign == "=" else _pattern(value)


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise InvalidArgument(f"'{text}' is no pattern: {error}.", text) from None


def _value(text: str) -> Any:
    """A number or a truth where it is one, else the text itself."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, bool | int | float) else text


def _fields(scene: Scene, node: Any) -> dict[str, Any]:
    return {
        "id": str(node),
        "kind": scene.kind(node),
        "in": _whereabouts(scene, node),
        "attributes": scene.attributes(node),
    }


def _whereabouts(scene: Scene, node: Any) -> str:
    """The nearest frame above it that somebody named."""
    while is_of_a_node(scene.frame(node)) and scene.parents(node):
        node = scene.parents(node)[0]
    return scene.frame(node)


def _line(found: dict[str, Any]) -> str:
    """With the beginning of the id, as everywhere for people; programs get the whole."""
    said = " ".join(f"{key}={value}" for key, value in found["attributes"].items())
    return f"{found['id'][:8]}  {found['kind']:10} in {found['in']}  {said}".rstrip()
