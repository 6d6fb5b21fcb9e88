"""Paths of a model: names joined by '/', as in `robot/links/gripper`."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from armillary.errors import InvalidPath

__all__ = ["as_path", "as_path_or_top", "is_under"]

_PLAIN = re.compile(r"[\w.\- ]+(?:/[\w.\- ]+)*", re.ASCII)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def as_path(value: object) -> str:
    """Return the path in its one stored form (NFC), or raise `InvalidPath`."""
    if not isinstance(value, str):
        raise InvalidPath(f"A path is a str like 'robot/links/gripper', got {value!r}.", value)
    return _stored(value)


@lru_cache(maxsize=8192)
def _stored(value: str) -> str:
    if _PLAIN.fullmatch(value):
        return value
    if not value or not all(value.split("/")):
        raise InvalidPath(
            f"The path {value!r} has a name that is empty. Write names with one '/' between two of them, none around.",
            value,
        )
    if _CONTROL.search(value):
        raise InvalidPath(f"The path {value!r} has a control character. Use letters, digits, '_' and '-'.", value)
    return unicodedata.normalize("NFC", value)


def as_path_or_top(value: object) -> str:
    """Return the path in its one stored form; the empty one, which everything is under, for "" and None."""
    return "" if value is None or (isinstance(value, str) and not value) else as_path(value)


def is_under(path: str, above: str) -> bool:
    """Whether a path is this one or begins with it; everything is under the empty path."""
    return not above or path == above or path.startswith(f"{above}/")
