"""`armillary find`: scene nodes by their attributes."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from armillary.cli._arguments import AsJson, WorldOption
from armillary.cli._nodes import abbreviate_ids
from armillary.cli._output import print_result
from armillary.cli._source import open_world
from armillary.errors import InvalidArgument
from armillary.store.nodes import is_of_a_node

if TYPE_CHECKING:
    from armillary.scene import Scene

EXAMPLE = "armillary find role=visual --world kitchen.json"

_BOOLEANS = {"True": "true", "False": "false"}
_Conditions = Annotated[list[str], typer.Argument(help="KEY=VALUE, or KEY~PATTERN; all of them must hold.")]


def find(*, conditions: _Conditions, world: WorldOption = None, as_json: AsJson = False) -> None:
    """Find nodes of the scene by their attributes."""
    scene = open_world(world, with_shapes=True).world.scene
    found = [_fields(scene, node) for node in scene.find(_wanted(conditions))]
    print_result(as_json=as_json, fields=found, text="\n".join(_lines(found)) or "No node matches.")


def _wanted(conditions: list[str]) -> dict[str, Any]:
    wanted: dict[str, Any] = {}
    for key, value in map(_condition, conditions):
        if key in wanted:
            raise InvalidArgument(f"'{key}' has one value, and two conditions are about it.", key)
        wanted[key] = value
    return wanted


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
    """Convert a text by JSON, or to a Python boolean; objects, null and NaN stay texts."""
    try:
        value = json.loads(_BOOLEANS.get(text, text))
    except (ValueError, RecursionError):
        return text
    is_nan = isinstance(value, float) and value != value  # noqa: PLR0124
    return value if isinstance(value, bool | int | float | str | list) and not is_nan else text


def _condition_text(key: str, value: Any) -> str:
    """Return the condition for an attribute, quoted for a shell."""
    is_plain = isinstance(value, str) and _value(value) == value
    text = value if is_plain else json.dumps(value, ensure_ascii=False)
    return shlex.quote(f"{key}={text}") if re.search(r"\s|[\"'$&|;<>\\`]", f"{key}{text}") else f"{key}={text}"


def _fields(scene: Scene, node: Any) -> dict[str, Any]:
    frame = scene.frame(node)
    return {
        "id": str(node),
        **({} if is_of_a_node(frame) or scene.node(frame) != node else {"frame": frame}),
        "kind": scene.kind(node),
        "in": _location(scene, node),
        "attributes": scene.attributes(node),
    }


def _location(scene: Scene, node: Any) -> str:
    """Return the name of the nearest named ancestor of a node, or its frame."""
    while scene.kind(node) != "frame" and scene.parents(node):
        node = scene.parents(node)[0]
        name = scene.attributes(node).get("name")
        if scene.node(scene.frame(node)) == node and not is_of_a_node(scene.frame(node)):
            return scene.frame(node)
        if isinstance(name, str):
            return name
    return scene.frame(node)


def _lines(found: list[dict[str, Any]]) -> Iterator[str]:
    """Yield one line per node, with abbreviated ids."""
    kinds, places = (max((len(node[key]) for node in found), default=0) for key in ("kind", "in"))
    for node in found:
        attributes = " ".join(_condition_text(key, value) for key, value in node["attributes"].items())
        called = f" {node['frame']}" if "frame" in node else ""
        yield abbreviate_ids(f"{node['id']}{called}  {node['kind']:{kinds}} in {node['in']:{places}}  ") + attributes
