"""`armillary find`: things of the scene by what is said of them."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from armillary.cli._arguments import AsJson, WorldOption
from armillary.cli._nodes import shortened
from armillary.cli._output import say
from armillary.cli._source import opened
from armillary.errors import InvalidArgument

if TYPE_CHECKING:
    from armillary.scene import Scene

EXAMPLE = "armillary find role=visual --world kitchen.json"

_TRUTHS = {"True": "true", "False": "false"}
_Conditions = Annotated[list[str], typer.Argument(help="KEY=VALUE, or KEY~PATTERN; all of them must hold.")]


def find(*, conditions: _Conditions, world: WorldOption = None, as_json: AsJson = False) -> None:
    """Find nodes of the scene by their attributes."""
    scene = opened(world, with_shapes=True).world.scene
    found = [_fields(scene, node) for node in scene.find(_wanted(conditions))]
    say(as_json=as_json, fields=found, text="\n".join(_lines(found)) or "Nothing is like that.")


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
    """What JSON takes it for, or Python, but for objects and nothing; else the text itself."""
    try:
        value = json.loads(_TRUTHS.get(text, text))
    except (ValueError, RecursionError):
        return text
    is_nan = isinstance(value, float) and value != value  # noqa: PLR0124
    return value if isinstance(value, bool | int | float | str | list) and not is_nan else text


def _typed(key: str, value: Any) -> str:
    """A condition that finds it, as a shell takes it."""
    is_plain = isinstance(value, str) and _value(value) == value
    said = value if is_plain else json.dumps(value, ensure_ascii=False)
    return shlex.quote(f"{key}={said}") if re.search(r"\s|[\"'$&|;<>\\`]", f"{key}{said}") else f"{key}={said}"


def _fields(scene: Scene, node: Any) -> dict[str, Any]:
    return {
        "id": str(node),
        "kind": scene.kind(node),
        "in": _whereabouts(scene, node),
        "attributes": scene.attributes(node),
    }


def _whereabouts(scene: Scene, node: Any) -> str:
    """The nearest thing above it that somebody named, or frame; a frame of which something is said is its own."""
    while scene.kind(node) != "frame" and scene.parents(node):
        node = scene.parents(node)[0]
        name = scene.attributes(node).get("name")
        if isinstance(name, str):
            return name
    return scene.frame(node)


def _lines(found: list[dict[str, Any]]) -> Iterator[str]:
    """With the beginnings of ids, as everywhere for people; programs get the whole."""
    kinds, places = (max((len(thing[key]) for thing in found), default=0) for key in ("kind", "in"))
    for thing in found:
        said = " ".join(_typed(key, value) for key, value in thing["attributes"].items())
        yield shortened(f"{thing['id']}  {thing['kind']:{kinds}} in {thing['in']:{places}}  ") + said
