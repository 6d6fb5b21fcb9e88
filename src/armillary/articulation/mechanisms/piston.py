"""A crank, a rod and a piston: one variable, and no joint of it follows another linearly (thesis eq. 4.1)."""

from __future__ import annotations

import math

from armillary.articulation.edits import Edit
from armillary.articulation.functions import asin, sin
from armillary.articulation.geometry import rotation_about, translation
from armillary.articulation.joints import ContinuousJoint, ExpressionJoint
from armillary.articulation.mechanisms._parts import Parts, box, cylinder
from armillary.articulation.paths import joined
from armillary.articulation.variables import position
from armillary.errors import InvalidArgument

__all__ = ["piston"]

_X = (1.0, 0.0, 0.0)
_ACROSS = (0.0, math.pi / 2.0, 0.0)


def piston(name: str, *, crank_m: float = 0.05, rod_m: float = 0.15) -> list[Edit]:
    """The edits that make one, for `model.edit`. The shaft turns about x by the variable `name/crank`.

    The piston goes up and down along z, above the shaft, and never turns.

    Args:
        name: What it is called in the model.
        crank_m: From the axis of the shaft to the pin of the rod.
        rod_m: From that pin to the piston; longer than the crank.
    """
    if not 0.0 < crank_m < rod_m < math.inf:
        raise InvalidArgument(f"The rod ({rod_m} m) must be longer than the crank ({crank_m} m, not zero).", rod_m)
    parts = Parts(name, "shaft")
    parts.link("shaft", cylinder(crank_m / 5.0, crank_m, rpy=_ACROSS))
    parts.link("rod", box((crank_m / 5.0, crank_m / 5.0, rod_m), at=(0.0, 0.0, rod_m / 2.0)))
    parts.link("piston", cylinder(crank_m / 2.0, crank_m))
    turned = position(joined(name, "crank"))
    lean = asin(sin(turned) * (crank_m / rod_m))
    rod = translation(0.0, 0.0, crank_m) @ rotation_about(_X, -lean - turned)
    head = translation(0.0, 0.0, rod_m) @ rotation_about(_X, lean)
    parts.joint("crank", ContinuousJoint(variable=turned.name, axis=_X), child="shaft", parent=None)
    parts.joint("crank_pin", ExpressionJoint(expression=rod), child="rod", parent="shaft")
    parts.joint("piston_pin", ExpressionJoint(expression=head), child="piston", parent="rod")
    return parts.edits
