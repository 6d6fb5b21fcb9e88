"""The lockbox of the Kineverse thesis (4.2.1): six slides that lock each other."""

from __future__ import annotations

from collections.abc import Mapping

from armillary.articulation import (
    ArticulationModel,
    Constraint,
    Expression,
    SetValue,
    greater,
    logical_and,
    position,
)

__all__ = ["CLOSED", "lockbox"]

CLOSED = {f"box/{name}": 0.0 for name in "abcdef"}
"""All slides at zero."""


def lockbox(conditions: Mapping[str, Expression | float] | None = None) -> ArticulationModel:
    """Return the box of eqs. 4.12 and 4.13; `a` opens it.

    Args:
        conditions: By slide, other conditions than those of the thesis.
    """
    model = ArticulationModel()
    slides = {name: position(f"box/{name}") for name in "abcdef"}
    locks: dict[str, Expression | float] = {
        "a": logical_and(greater(slides["b"], 0.4), greater(slides["c"], 0.6)),
        "b": greater(slides["d"], 0.8),
        "c": logical_and(greater(slides["d"], 0.5), greater(slides["e"], 1.0)),
        "d": greater(slides["e"], 0.9),
        "e": greater(slides["f"], 1.2),
    }
    locks |= conditions or {}
    for name, slide in slides.items():
        speed, free = (0.4 if name in "af" else 0.1), locks.get(name, 1.0)
        lower = -speed * free if name == "a" else -speed
        model.apply(SetValue(f"box/{name}_speed", Constraint(lower, speed * free, slide.velocity)), tag=f"speed {name}")
    for name, end in (("b", 0.7), ("c", 0.8), ("d", 0.9), ("e", 1.1)):
        model.apply(SetValue(f"box/{name}_range", Constraint(0.0, end, slides[name])), tag=f"range {name}")
    return model
