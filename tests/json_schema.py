"""The part of JSON Schema that `docs/scene.schema.json` uses."""

from __future__ import annotations

import re
from typing import Any

TYPES = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
}
KEYWORDS = {
    "$schema", "$defs", "$ref", "title", "description", "type", "required", "additionalProperties", "properties",
    "const", "enum", "oneOf", "anyOf", "items", "minItems", "maxItems", "pattern",
}  # fmt: skip


def faults(value: Any, schema: dict[str, Any], top: dict[str, Any], place: str = "") -> list[str]:
    """Return the paths at which a value violates a schema."""
    assert set(schema) <= KEYWORDS, f"this check does not know {set(schema) - KEYWORDS}"
    if "$ref" in schema:
        return faults(value, top["$defs"][schema["$ref"].removeprefix("#/$defs/")], top, place)
    wrong = [
        f"{place}: {keyword}" for keyword in ("type", "const", "enum", "pattern") if not _holds(value, schema, keyword)
    ]
    if "oneOf" in schema:
        fitting = [one for one in schema["oneOf"] if not faults(value, one, top, place)]
        wrong += [] if len(fitting) == 1 else [f"{place}: fits {len(fitting)} of oneOf"]
    if "anyOf" in schema and all(faults(value, one, top, place) for one in schema["anyOf"]):
        wrong.append(f"{place}: fits none of anyOf")
    if isinstance(value, dict):
        wrong += _of_object(value, schema, top, place)
    if isinstance(value, list):
        wrong += _of_list(value, schema, top, place)
    return wrong


def _holds(value: Any, schema: dict[str, Any], keyword: str) -> bool:
    if keyword not in schema:
        return True
    wanted = schema[keyword]
    if keyword == "type":
        return TYPES[wanted](value)
    if keyword == "pattern":
        return isinstance(value, str) and re.search(wanted, value) is not None
    return value == wanted if keyword == "const" else value in wanted


def _of_object(value: dict[str, Any], schema: dict[str, Any], top: dict[str, Any], place: str) -> list[str]:
    wrong = [f"{place}: {key} is missing" for key in schema.get("required", ()) if key not in value]
    known, others = schema.get("properties", {}), schema.get("additionalProperties", {})
    for key, item in value.items():
        if key in known:
            wrong += faults(item, known[key], top, f"{place}.{key}")
        elif others is False:
            wrong.append(f"{place}: {key} is strange")
        else:
            wrong += faults(item, others, top, f"{place}.{key}")
    return wrong


def _of_list(value: list[Any], schema: dict[str, Any], top: dict[str, Any], place: str) -> list[str]:
    few, many = schema.get("minItems", 0), schema.get("maxItems", len(value))
    wrong = [] if few <= len(value) <= many else [f"{place}: {len(value)} items"]
    return wrong + [
        f for i, item in enumerate(value) for f in faults(item, schema.get("items", {}), top, f"{place}[{i}]")
    ]
