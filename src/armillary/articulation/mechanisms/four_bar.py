"""Four bars in a plane: the simplest loop."""

from __future__ import annotations

import math

from armillary._core import Transform
from armillary.articulation.edits import Apply, Edit
from armillary.articulation.joints import ContinuousJoint
from armillary.articulation.mechanisms._parts import Parts, box
from armillary.articulation.operations import CloseLoop
from armillary.articulation.paths import joined
from armillary.errors import InvalidArgument

__all__ = ["four_bar"]

_UP = (0.0, 0.0, 1.0)


def four_bar(
    name: str, *, crank_m: float = 0.1, coupler_m: float = 0.3, rocker_m: float = 0.25, ground_m: float = 0.35
) -> list[Edit]:
    """The edits that make one, for `model.edit`: `name/crank` drives it, `name/coupler` and `name/rocker` follow.

    All turn about z. With the lengths given here the crank can turn all the way round.

    Args:
        name: What it is called in the model.
        crank_m: The bar that drives.
        coupler_m: The bar between the other two.
        rocker_m: The bar that is driven.
        ground_m: Between the pivots of crank and rocker, along x.
    """
    lengths = {"crank": crank_m, "coupler": coupler_m, "rocker": rocker_m, "ground": ground_m}
    if not all(0.0 < length < math.inf for length in lengths.values()):
        raise InvalidArgument(f"The bars of a four-bar are positive numbers long, got {lengths}.", lengths)
    parts = Parts(name, "ground")
    for link, length_m in lengths.items():
        parts.link(link, box((length_m, 0.02, 0.01), at=(length_m / 2.0, 0.0, 0.0)))
    for link, parent, at_m in (("crank", "ground", 0.0), ("coupler", "crank", crank_m), ("rocker", "ground", ground_m)):
        turning = ContinuousJoint(variable=joined(name, link), axis=_UP, parent_T_joint=_along(at_m))
        parts.joint(link, turning, child=link, parent=parent)
    path = joined(name, "loops", "pin")
    pin = CloseLoop(
        path=path,
        left=parts.link_path("coupler"),
        right=parts.link_path("rocker"),
        meets="position",
        left_T_meeting=_along(coupler_m),
        right_T_meeting=_along(rocker_m),
        dependents=(joined(name, "coupler"), joined(name, "rocker")),
        start=(0.5, 1.5),
    )
    return [*parts.edits, Apply(f"close {path}", pin)]


def _along(x_m: float) -> Transform:
    return Transform.from_xyz_rpy(xyz=(x_m, 0.0, 0.0), rpy=(0.0, 0.0, 0.0))
