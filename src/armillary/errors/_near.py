"""The name that somebody may have meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice

__all__ = ["nearest"]

_MANY_NAMES, _LONGEST_NAME = 5000, 200  # the search is quadratic, and longer ones nobody types


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name most like this one, or None where none is near."""
    if len(name) > _LONGEST_NAME:
        return None
    candidates = [other for other in islice(known, _MANY_NAMES) if len(other) <= _LONGEST_NAME]
    found = get_close_matches(name, candidates, n=1)
    return found[0] if found else None
