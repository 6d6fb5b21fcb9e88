"""Format the parts of error messages: stamps, durations, values, lists of names, and similar names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from itertools import islice
from time import gmtime, strftime

__all__ = [
    "format_duration",
    "format_stamp",
    "join_names",
    "list_names",
    "nearest_name",
    "short_repr",
    "small_unit",
    "with_node_names",
]

_NS_PER_S = 1_000_000_000
_YEAR_2000_NS = 946_684_800 * _NS_PER_S  # no clock that counts from its start gets here
_YEAR_NS = 31_557_600 * _NS_PER_S
_UNITS = ((1_000, "microseconds"), (1_000_000, "milliseconds"), (_NS_PER_S, "seconds"))
_MAX_LISTED = 12
_MAX_REPR = 60
_MAX_COMPARED, _MAX_NAME = 5000, 200  # the search is quadratic


def format_stamp(stamp_ns: int, least_digits: int = 3) -> str:
    """Return a stamp in seconds, with every digit that is not zero; one of a wall clock with its date as well."""
    sign = "-" if stamp_ns < 0 else ""
    whole, rest = divmod(abs(stamp_ns), _NS_PER_S)
    digits = f"{rest:09d}".rstrip("0").ljust(least_digits, "0")
    date = strftime(" (%Y-%m-%d %H:%M:%S UTC)", gmtime(whole)) if stamp_ns >= _YEAR_2000_NS else ""
    return f"{sign}{whole}{'.' if digits else ''}{digits} s{date}"


def small_unit(small: int, large_ns: int) -> str | None:
    """Return the unit in which a small number and a stamp of a wall clock are within a year, or None."""
    if small <= 0 or large_ns < _YEAR_2000_NS:
        return None
    return next((unit for ns, unit in _UNITS if abs(small * ns - large_ns) < _YEAR_NS), None)


def format_duration(duration_ns: int) -> str:
    """Return a duration in the unit that suits it."""
    for unit_ns, unit in ((_NS_PER_S, "s"), (1_000_000, "ms"), (1_000, "us")):
        if duration_ns >= unit_ns:
            return f"{duration_ns / unit_ns:.6g} {unit}"
    return f"{duration_ns} ns"


def list_names(names: Sequence[object]) -> str:
    """List the first names, and how many more there are."""
    shown = ", ".join(str(name) for name in names[:_MAX_LISTED])
    return f"{shown}, and {len(names) - _MAX_LISTED} more" if len(names) > _MAX_LISTED else shown


def join_names(names: Sequence[str]) -> str:
    """Join names into a phrase: 'a', 'b' and 'c'."""
    *others, last = (f"'{name}'" for name in names) if names else ("nobody",)
    return f"{', '.join(others)} and {last}" if others else last


def nearest_name(name: str, known: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """Return the known name most similar to this one, or None where none is similar.

    Args:
        name: The name that was not found.
        known: The existing names; only the first few thousand are compared.
        cutoff: The least similarity, from 0 (any) to 1 (equal).
    """
    if len(name) > _MAX_NAME:
        return None
    candidates = [other for other in islice(known, _MAX_COMPARED) if len(other) <= _MAX_NAME]
    in_world = name.replace("/links/", "/").replace("/joints/", "/")  # a path of a model, where a world is asked
    if in_world != name and in_world in candidates:
        return in_world
    found = get_close_matches(name, candidates, n=1, cutoff=cutoff)
    return found[0] if found else None


def with_node_names(text: str, names: Mapping[str, str]) -> str:
    """Return a text in which quoted ids of nodes are replaced by their names and first digits, but not in calls."""
    for node, name in names.items():
        shown = name.replace("\\", r"\\")
        text = re.sub(rf"(?<!=)'{node}(/mount)?'", rf"'{shown}\1' ({node[:8]})", text)
    return text


def short_repr(value: object) -> str:
    """Return the `repr` of a value, shortened to one line."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # noqa: BLE001  (a user's object may raise anything)
        return f"an object of type {type(value).__name__}"
    return text if len(text) <= _MAX_REPR else f"{text[:_MAX_REPR]}..."
