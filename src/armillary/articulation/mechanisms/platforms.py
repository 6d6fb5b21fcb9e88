"""Platforms that several actuators move together: loops, whose drivers are the lengths of the actuators."""

from __future__ import annotations

import math

from armillary.articulation.edits import Apply, Edit
from armillary.articulation.expressions import PointExpression, PoseExpression, VectorExpression
from armillary.articulation.geometry import pose, rotation_about, rotation_from_rpy, translation
from armillary.articulation.joints import ExpressionJoint
from armillary.articulation.mechanisms._parts import Parts, box
from armillary.articulation.mechanisms._struts import Strut
from armillary.articulation.operations import SetClosure
from armillary.articulation.paths import joined
from armillary.articulation.variables import Variable, position
from armillary.formats.descriptions import Limits, Triple

__all__ = ["stewart_platform", "tilting_platform"]

_LEGS = 6


def tilting_platform(
    name: str, *, mount_m: float = 0.1, bridge_m: float = 0.14, length_m: float = 0.125, stroke_m: float = 0.025
) -> list[Edit]:
    """The edits that make one, for `model.edit`: a platform on a pivot, tilted by two actuators (thesis 4.1.6).

    The lengths `name/left` and `name/right` drive it; `name/pitch` and `name/roll` follow, both zero where the
    actuators are `length_m` long.

    Args:
        name: What it is called in the model.
        mount_m: From the pivot back to the actuators.
        bridge_m: Between the two actuators.
        length_m: Of the actuators in the middle of their stroke; so high is the pivot.
        stroke_m: How much longer and shorter they may be.
    """
    pitch, roll = (position(joined(name, angle)) for angle in ("pitch", "roll"))
    pitched = translation(0.0, 0.0, length_m) @ rotation_about((0.0, 1.0, 0.0), pitch)
    tilted = pitched @ rotation_about((1.0, 0.0, 0.0), roll)
    parts = _with_platform(name, tilted, (2.0 * mount_m, bridge_m, 0.01))
    limits = Limits(lower=length_m - stroke_m, upper=length_m + stroke_m)
    sides = [("left", (-mount_m, bridge_m / 2.0, 0.0)), ("right", (-mount_m, -bridge_m / 2.0, 0.0))]
    struts = [
        Strut(parts, side, foot=corner, head=tilted @ PointExpression(*corner), limits=limits) for side, corner in sides
    ]
    return _closed(parts, struts, [pitch, roll], (0.0, 0.0))


def stewart_platform(
    name: str, *, base_m: float = 0.5, top_m: float = 0.3, height_m: float = 0.5, stroke_m: float = 0.2
) -> list[Edit]:
    """The edits that make one, for `model.edit`: a platform on six legs, free in all six directions.

    The lengths `name/leg_0` to `name/leg_5` drive it; `name/x`, `y`, `z`, `roll`, `pitch` and `yaw` follow.

    Args:
        name: What it is called in the model.
        base_m: Radius of the circle of feet.
        top_m: Radius of the circle of heads.
        height_m: Where the search for the platform begins the first time.
        stroke_m: How much longer and shorter than at that height the legs may be.
    """
    place = [position(joined(name, part)) for part in ("x", "y", "z", "roll", "pitch", "yaw")]
    x, y, z, *turn = place
    lifted = pose(rotation_from_rpy(*turn), [x, y, z])
    parts = _with_platform(name, lifted, (top_m, top_m, 0.02))
    feet, heads = _hexagon(base_m, 0.2), _hexagon(top_m, 0.8)
    middle_m = math.dist(feet[0], (heads[0][0], heads[0][1], height_m))
    limits = Limits(lower=middle_m - stroke_m, upper=middle_m + stroke_m)
    struts = [
        Strut(parts, f"leg_{i}", foot=feet[i], head=lifted @ PointExpression(*heads[i]), limits=limits)
        for i in range(_LEGS)
    ]
    return _closed(parts, struts, place, (0.0, 0.0, height_m, 0.0, 0.0, 0.0))


def _with_platform(name: str, base_T_platform: PoseExpression, size_m: Triple) -> Parts:
    parts = Parts(name, "base")
    parts.link("base", box((size_m[0], size_m[1], 0.02), at=(0.0, 0.0, -0.01)))
    parts.link("platform", box(size_m))
    parts.joint("pivot", ExpressionJoint(expression=base_T_platform), child="platform", parent="base")
    return parts


def _closed(parts: Parts, struts: list[Strut], dependents: list[Variable], start: tuple[float, ...]) -> list[Edit]:
    path = joined(parts.name, "loops", "struts")
    closure = SetClosure(
        path=path,
        residual=VectorExpression([strut.residual for strut in struts]),
        dependents=tuple(variable.name for variable in dependents),
        start=start,
    )
    return [*parts.edits, Apply(f"close {path}", closure)]


def _hexagon(radius_m: float, spread_rad: float) -> list[Triple]:
    """Three pairs of points on a circle, each pair this far from its middle."""
    angles = [math.radians(120.0 * (i // 2)) + (spread_rad if i % 2 else -spread_rad) for i in range(_LEGS)]
    return [(radius_m * math.cos(angle), radius_m * math.sin(angle), 0.0) for angle in angles]
