"""Reading further than to a stored value: `robot/joints/hinge/motion`, `robot/links/door/visuals/0`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from armillary.errors import UnknownPath

__all__ = ["value_at"]


def value_at(path: str, values: Mapping[str, Any]) -> Any:
    """What is stored at a path, or what a stored value shows of itself there."""
    if path in values:
        return values[path]
    above, names = path, list[str]()
    while "/" in above:
        above, _, name = above.rpartition("/")
        names.insert(0, name)
        if above in values:
            return _part(path, values[above], names, values)
    raise UnknownPath(path, tuple(values))


def _part(path: str, value: Any, names: list[str], values: Mapping[str, Any]) -> Any:
    for name in names:
        if isinstance(value, Mapping) and name in value:
            value = value[name]
        elif isinstance(value, tuple) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        elif name in getattr(type(value), "readable", ()):
            value = getattr(value, name)
        else:
            raise UnknownPath(path, tuple(values))
    return value
