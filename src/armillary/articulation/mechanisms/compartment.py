"""A compartment whose handle unlocks its door: what may move depends on where things are (thesis eq. 4.5-4.7)."""

from __future__ import annotations

import math

from armillary.articulation.constraints import Constraint
from armillary.articulation.edits import Edit
from armillary.articulation.joints import RevoluteJoint
from armillary.articulation.logic import greater, less, logical_or
from armillary.articulation.mechanisms._parts import Parts, box
from armillary.articulation.paths import joined
from armillary.articulation.variables import position
from armillary.formats.descriptions import Limits, Triple
from armillary.transforms import Transform

__all__ = ["locking_compartment"]

_THICK_M = 0.02


def locking_compartment(
    name: str,
    *,
    size_m: Triple = (0.3, 0.4, 0.5),
    ajar_rad: float = 0.05,
    unlocks_at_rad: float = 0.3,
    speed_rad_s: float = 1.0,
) -> list[Edit]:
    """The edits that make one, for `model.edit`: variables `name/door` and `name/handle`.

    The door may open while it stands ajar, or while the handle is turned below `unlocks_at_rad`: the handle rests at
    its upper end, and is pushed down to unlock, as the thesis has it. Closing is always allowed.

    Args:
        name: What it is called in the model.
        size_m: Depth, width and height of the box.
        ajar_rad: Opened so far, the lock does not catch any more.
        unlocks_at_rad: Below this angle of the handle the door is free.
        speed_rad_s: How fast the door may move when it may.
    """
    depth, width, height = size_m
    door, handle = position(joined(name, "door")), position(joined(name, "handle"))
    parts = Parts(name, "box")
    parts.link("box", box((_THICK_M, width, height), at=(-depth, 0.0, 0.0)))
    parts.link("door", box((_THICK_M, width, height), at=(0.0, -width / 2.0, 0.0)))
    parts.link("handle", box((_THICK_M, width / 5.0, _THICK_M), at=(0.0, -width / 10.0, 0.0)))
    swings = _hinge(door.name, (0.0, 0.0, 1.0), (0.0, width / 2.0, 0.0), math.pi / 2)
    turns = _hinge(handle.name, (1.0, 0.0, 0.0), (_THICK_M, -0.7 * width, 0.0), math.pi / 4)
    parts.joint("door", swings, child="door", parent="box")
    parts.joint("handle", turns, child="handle", parent="door")
    is_free = logical_or(greater(door, ajar_rad), less(handle, unlocks_at_rad))
    parts.value("is_unlocked", is_free)
    parts.value("constraints/lock", Constraint(-math.inf, is_free * speed_rad_s, door.velocity))
    return parts.edits


def _hinge(variable: str, axis: Triple, at: Triple, upper_rad: float) -> RevoluteJoint:
    return RevoluteJoint(
        variable=variable,
        axis=axis,
        limits=Limits(lower=0.0, upper=upper_rad),
        parent_T_joint=Transform.from_xyz_rpy(xyz=at, rpy=(0.0, 0.0, 0.0)),
    )
