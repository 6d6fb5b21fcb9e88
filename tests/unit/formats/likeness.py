"""Whether two descriptions say the same, but for the last digits of a place."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

from armillary import Transform

CLOSE_M = CLOSE_RAD = 1e-12


def differences(one: Any, other: Any, where: str = "") -> list[str]:
    """Where they differ."""
    if isinstance(one, Transform) and isinstance(other, Transform):
        return [] if one.is_close(other, m=CLOSE_M, rad=CLOSE_RAD) else [where]
    if type(one) is not type(other):
        return [where]
    if is_dataclass(one):
        names = [field.name for field in fields(one)]
        return [d for name in names for d in differences(getattr(one, name), getattr(other, name), f"{where}.{name}")]
    if isinstance(one, tuple) and len(one) == len(other):
        return [d for i, pair in enumerate(zip(one, other, strict=True)) for d in differences(*pair, f"{where}[{i}]")]
    return [] if one == other else [f"{where}: {one!r} is not {other!r}"]
