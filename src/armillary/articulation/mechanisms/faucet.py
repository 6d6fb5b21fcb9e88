"""A faucet: its handle moves, and with it flow and temperature of the water (thesis eq. 4.10-4.11)."""

from __future__ import annotations

from armillary.articulation.constraints import Constraint
from armillary.articulation.edits import Edit
from armillary.articulation.geometry import rotation_about, translation
from armillary.articulation.joints import ExpressionJoint, FixedJoint
from armillary.articulation.mechanisms._parts import Parts, box, cylinder
from armillary.articulation.paths import joined
from armillary.articulation.variables import position

__all__ = ["faucet"]

_HEIGHT_M = 0.15


def faucet(
    name: str,
    *,
    flow_l_min_per_rad: float = 20.0,
    leak_l_min: float = 0.0,
    temperature_per_rad: float = 25.0,
    neutral_temperature: float = 35.0,
) -> list[Edit]:
    """The edits that make one, for `model.edit`.

    Its handle turns by `name/turn` (about z) and lifts by `name/lift` (about y, upwards is negative). What comes out
    stands at `name/flow` and `name/temperature`, as expressions.

    Args:
        name: What it is called in the model.
        flow_l_min_per_rad: How much more water comes for a lift.
        leak_l_min: What comes when it is closed.
        temperature_per_rad: How much hotter the water is for a turn to the left [degrees Celsius].
        neutral_temperature: In the middle [degrees Celsius].
    """
    turn, lift = position(joined(name, "turn")), position(joined(name, "lift"))
    parts = Parts(name, "base")
    parts.link("base", cylinder(0.025, _HEIGHT_M, at=(0.0, 0.0, _HEIGHT_M / 2.0)))
    parts.link("handle", box((0.1, 0.02, 0.01), at=(0.05, 0.0, 0.0)))
    turned = translation(0.0, 0.0, _HEIGHT_M) @ rotation_about((0.0, 0.0, 1.0), turn)
    moved = turned @ rotation_about((0.0, 1.0, 0.0), lift)
    parts.joint("standing", FixedJoint(), child="base", parent=None)
    parts.joint("handle", ExpressionJoint(expression=moved), child="handle", parent="base")
    parts.value("flow", -lift * flow_l_min_per_rad + leak_l_min)
    parts.value("temperature", turn * temperature_per_rad + neutral_temperature)
    parts.value("constraints/turn", Constraint(-1.0, 1.0, turn))
    parts.value("constraints/lift", Constraint(-0.5, 0.0, lift))
    return parts.edits
