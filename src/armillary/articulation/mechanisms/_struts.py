"""Struts: actuators that reach from a foot to a point that moves."""

from __future__ import annotations

from armillary.articulation.expressions import Expression, PointExpression, PoseExpression
from armillary.articulation.functions import atan2, sqrt
from armillary.articulation.geometry import norm, rotation_about, translation
from armillary.articulation.joints import ExpressionJoint, PrismaticJoint
from armillary.articulation.mechanisms._parts import Parts, cylinder
from armillary.articulation.paths import joined
from armillary.articulation.variables import Variable, position
from armillary.formats.descriptions import Limits, Triple

__all__ = ["Strut"]


class Strut:
    """A barrel that turns about its foot towards a head, and a rod that slides out of it.

    The length between both is the variable of the rod; that it is this long is for a loop to say (`residual`).

    Args:
        parts: The mechanism it belongs to; it hangs under the link `base`.
        name: Of the rod's variable.
        foot: Where it stands on the base.
        head: The point that it reaches to, in the base.
        limits: Of its length.
    """

    def __init__(self, parts: Parts, name: str, *, foot: Triple, head: PointExpression, limits: Limits) -> None:
        self.length: Variable = position(joined(parts.name, name))
        self._reach = head - PointExpression(*foot)
        self._build(parts, name, foot, limits)

    @property
    def residual(self) -> Expression:
        """Zero where the rod reaches the head."""
        return norm(self._reach) - self.length

    def _build(self, parts: Parts, name: str, foot: Triple, limits: Limits) -> None:
        half_m = 0.5 * (limits.lower or 0.0)
        parts.link(f"{name}_barrel", cylinder(0.08 * half_m, half_m, at=(0.0, 0.0, half_m / 2.0)))
        parts.link(f"{name}_rod", cylinder(0.04 * half_m, half_m, at=(0.0, 0.0, -half_m / 2.0)))
        barrel = ExpressionJoint(expression=translation(*foot) @ self._towards())
        slide = PrismaticJoint(variable=self.length.name, axis=(0.0, 0.0, 1.0), limits=limits)
        parts.joint(f"{name}_foot", barrel, child=f"{name}_barrel", parent="base")
        parts.joint(name, slide, child=f"{name}_rod", parent=f"{name}_barrel")

    def _towards(self) -> PoseExpression:
        """Turned about x and then y, so that z points to the head."""
        x, y, z = self._reach
        turned: PoseExpression = translation(0.0, 0.0, 0.0) @ rotation_about((1.0, 0.0, 0.0), atan2(-y, z))
        swung: PoseExpression = turned @ rotation_about((0.0, 1.0, 0.0), atan2(x, sqrt(y * y + z * z)))
        return swung
