"""YAML as people write it by hand, without its traps: `1e-3` is a number, `no` is a word, and no key comes twice."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from armillary.errors import MissingExtra
from armillary.scene.files import Field

__all__ = ["yaml_in", "yaml_text"]

_PLAIN = {
    "null": re.compile(r"~|null|"),
    "bool": re.compile(r"true|false"),
    "int": re.compile(r"[-+]?[0-9]+"),
    "float": re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.inf|\.nan"),
}
"""What stands there without quotes and is no text; that is the core schema of YAML 1.2."""


def yaml_text(value: Any) -> str:
    """A value as blocks, with its innermost lists in one line each."""
    text: str = _yaml().safe_dump(value, default_flow_style=None, sort_keys=False, allow_unicode=True, width=120)
    return text


def yaml_in(data: bytes, file: str, kind: type[Field]) -> Field:
    """The whole file, or the error of this kind of file."""
    yaml = _yaml()
    try:
        return kind(yaml.load(data, _loader()), file)
    except RecursionError:
        raise kind.error(file, "", "it is nested too deep") from None
    except (yaml.YAMLError, ValueError) as error:
        raise kind.error(file, "", f"it is no YAML ({' '.join(str(error).split())})") from None


def _yaml() -> Any:
    try:
        import yaml  # noqa: PLC0415  (optional)
    except ModuleNotFoundError as missing:
        raise MissingExtra("yaml", "yaml") from missing
    return yaml


@cache
def _loader() -> type[Any]:
    yaml = _yaml()

    class Loader(yaml.SafeLoader):  # type: ignore[misc, name-defined]
        """Reads plain values alone."""

        yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012  (the base class says how it is called)

        def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:  # noqa: ARG002, FBT001, FBT002
            keys = [key.value for key, _ in node.value]
            twice = next((key for key in keys if keys.count(key) > 1), None)
            if twice is not None:
                raise yaml.YAMLError(f"the key '{twice}' is given twice in line {node.start_mark.line + 1} and below")
            found: dict[Any, Any] = super().construct_mapping(node, deep=True)
            return found

    for name, pattern in _PLAIN.items():
        Loader.add_implicit_resolver(f"tag:yaml.org,2002:{name}", re.compile(f"(?:{pattern.pattern})$"), None)
    return Loader
