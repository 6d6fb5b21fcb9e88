"""Ready-made mechanisms: functions that return the edits which add one to a model."""

from __future__ import annotations

import math

from armillary._core import Transform
from armillary.articulation.constraints import Constraint
from armillary.articulation.expressions import Expression, PointExpression, PoseExpression, VectorExpression
from armillary.articulation.functions import asin, atan2, sin, sqrt
from armillary.articulation.geometry import norm, pose, rotation_about, rotation_from_rpy, translation
from armillary.articulation.history import Apply, Edit
from armillary.articulation.joints import (
    ContinuousJoint,
    ExpressionJoint,
    FixedJoint,
    Joint,
    PrismaticJoint,
    RevoluteJoint,
)
from armillary.articulation.logic import greater, less, logical_or
from armillary.articulation.operations import AddJoint, AddLink, AddObject, CloseLoop, Connect, SetClosure, SetValue
from armillary.articulation.variables import Variable, position
from armillary.errors import InvalidArgument
from armillary.formats.descriptions import BoxForm, CylinderForm, Limits, ShapeDescription, Triple

__all__ = ["faucet", "four_bar", "locking_compartment", "piston", "stewart_platform", "tilting_platform"]

_X, _Y, _Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
_ALONG_X = (0.0, math.pi / 2.0, 0.0)
_PANEL_M = 0.02
_FAUCET_HEIGHT_M = 0.15
_LEGS = 6


class Parts:
    """The links and joints of one mechanism, as edits in order."""

    def __init__(self, name: str, root: str) -> None:
        self.name = name
        made = AddObject(name=name, root=self.link_path(root))
        self.edits: list[Edit] = [Apply(f"create {name}", made)]

    def link_path(self, link: str) -> str:
        """Return the path of a link of this mechanism."""
        return f"{self.name}/links/{link}"

    def link(self, link: str, *visuals: ShapeDescription) -> None:
        """Add a link; its visuals are its collision shapes."""
        path = self.link_path(link)
        self._apply(f"create {path}", AddLink(path=path, visuals=visuals, collisions=visuals))

    def joint(self, joint: str, kind: Joint, *, child: str, parent: str | None) -> None:
        """Add a joint and connect a link to its parent; without one, the parent is the frame of the model."""
        path, below = f"{self.name}/joints/{joint}", self.link_path(child)
        above = None if parent is None else self.link_path(parent)
        self._apply(f"create {path}", AddJoint(path=path, joint=kind))
        self._apply(f"connect {above or 'world'} {below}", Connect(child=below, joint=path, parent=above))

    def value(self, path: str, value: object) -> None:
        """Add an expression or a constraint."""
        whole = f"{self.name}/{path}"
        self._apply(f"create {whole}", SetValue(whole, value))

    def _apply(self, tag: str, operation: object) -> None:
        self.edits.append(Apply(tag, operation))  # type: ignore[arg-type]


def box(size_m: Triple, at: Triple = (0.0, 0.0, 0.0)) -> ShapeDescription:
    """Make a box around a point of the link."""
    return ShapeDescription(form=BoxForm(size_m=size_m), link_T_shape=_translated(at))


def cylinder(
    radius_m: float, length_m: float, at: Triple = (0.0, 0.0, 0.0), rpy: Triple = (0.0, 0.0, 0.0)
) -> ShapeDescription:
    """Make a cylinder around a point of the link, along z if it is not rotated."""
    placed = Transform.from_xyz_rpy(xyz=at, rpy=rpy)
    return ShapeDescription(form=CylinderForm(radius_m=radius_m, length_m=length_m), link_T_shape=placed)


def _translated(at: Triple) -> Transform:
    return Transform.from_xyz_rpy(xyz=at, rpy=(0.0, 0.0, 0.0))


class Strut:
    """A linear actuator: a barrel that points from its foot to a head, and a rod that slides out of it.

    The length between both is the variable of the rod, which a kinematic loop determines (`residual`).

    Args:
        parts: The mechanism it belongs to; its parent is the link `base`.
        name: The name of the rod's variable.
        foot: Its foot on the base.
        head: The point that it reaches to, in the base.
        limits: Of its length.
    """

    def __init__(self, parts: Parts, name: str, *, foot: Triple, head: PointExpression, limits: Limits) -> None:
        self.length: Variable = position(f"{parts.name}/{name}")
        self._reach = head - PointExpression(*foot)
        self._build(parts, name, foot, limits)

    @property
    def residual(self) -> Expression:
        """The expression that is zero where the rod reaches the head."""
        return norm(self._reach) - self.length

    def _build(self, parts: Parts, name: str, foot: Triple, limits: Limits) -> None:
        half_m = 0.5 * (limits.lower or 0.0)
        parts.link(f"{name}_barrel", cylinder(0.08 * half_m, half_m, at=(0.0, 0.0, half_m / 2.0)))
        parts.link(f"{name}_rod", cylinder(0.04 * half_m, half_m, at=(0.0, 0.0, -half_m / 2.0)))
        barrel = ExpressionJoint(expression=translation(*foot) @ self._towards())
        slide = PrismaticJoint(variable=self.length.name, axis=_Z, limits=limits)
        parts.joint(f"{name}_foot", barrel, child=f"{name}_barrel", parent="base")
        parts.joint(name, slide, child=f"{name}_rod", parent=f"{name}_barrel")

    def _towards(self) -> PoseExpression:
        """Return the rotation about x and then y by which z points to the head."""
        x, y, z = self._reach
        turned: PoseExpression = translation(0.0, 0.0, 0.0) @ rotation_about(_X, atan2(-y, z))
        swung: PoseExpression = turned @ rotation_about(_Y, atan2(x, sqrt(y * y + z * z)))
        return swung


def locking_compartment(
    name: str,
    *,
    size_m: Triple = (0.3, 0.4, 0.5),
    ajar_rad: float = 0.05,
    unlocks_at_rad: float = 0.3,
    speed_rad_s: float = 1.0,
) -> list[Edit]:
    """Return the edits that make one, for `model.edit`: variables `name/door` and `name/handle`.

    The door may open while it is ajar, or while the handle is turned below `unlocks_at_rad`: the handle rests at
    its upper end, and is pushed down to unlock, as the thesis has it. Closing is always allowed.

    Args:
        name: Its name in the model.
        size_m: Depth, width and height of the box.
        ajar_rad: Opened so far, the lock does not catch any more.
        unlocks_at_rad: Below this angle of the handle the door is free.
        speed_rad_s: How fast the door may move when it may.
    """
    depth, width, height = size_m
    door, handle = position(f"{name}/door"), position(f"{name}/handle")
    parts = Parts(name, "box")
    parts.link("box", box((_PANEL_M, width, height), at=(-depth, 0.0, 0.0)))
    parts.link("door", box((_PANEL_M, width, height), at=(0.0, -width / 2.0, 0.0)))
    parts.link("handle", box((_PANEL_M, width / 5.0, _PANEL_M), at=(0.0, -width / 10.0, 0.0)))
    swings = _hinge(door.name, _Z, (0.0, width / 2.0, 0.0), math.pi / 2)
    turns = _hinge(handle.name, _X, (_PANEL_M, -0.7 * width, 0.0), math.pi / 4)
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
        parent_T_joint=_translated(at),
    )


def faucet(
    name: str,
    *,
    flow_l_min_per_rad: float = 20.0,
    leak_l_min: float = 0.0,
    temperature_per_rad: float = 25.0,
    neutral_temperature: float = 35.0,
) -> list[Edit]:
    """Return the edits that make one, for `model.edit`.

    Its handle turns by `name/turn` (about z) and lifts by `name/lift` (about y, upwards is negative). Flow and
    temperature of the water are the expressions `name/flow` and `name/temperature`.

    Args:
        name: Its name in the model.
        flow_l_min_per_rad: How much more water comes for a lift.
        leak_l_min: What comes when it is closed.
        temperature_per_rad: How much hotter the water is for a turn to the left [degrees Celsius].
        neutral_temperature: In the middle [degrees Celsius].
    """
    turn, lift = position(f"{name}/turn"), position(f"{name}/lift")
    parts = Parts(name, "base")
    parts.link("base", cylinder(0.025, _FAUCET_HEIGHT_M, at=(0.0, 0.0, _FAUCET_HEIGHT_M / 2.0)))
    parts.link("handle", box((0.1, 0.02, 0.01), at=(0.05, 0.0, 0.0)))
    turned = translation(0.0, 0.0, _FAUCET_HEIGHT_M) @ rotation_about(_Z, turn)
    moved = turned @ rotation_about(_Y, lift)
    parts.joint("standing", FixedJoint(), child="base", parent=None)
    parts.joint("handle", ExpressionJoint(expression=moved), child="handle", parent="base")
    parts.value("flow", -lift * flow_l_min_per_rad + leak_l_min)
    parts.value("temperature", turn * temperature_per_rad + neutral_temperature)
    parts.value("constraints/turn", Constraint(-1.0, 1.0, turn))
    parts.value("constraints/lift", Constraint(-0.5, 0.0, lift))
    return parts.edits


def four_bar(
    name: str, *, crank_m: float = 0.1, coupler_m: float = 0.3, rocker_m: float = 0.25, ground_m: float = 0.35
) -> list[Edit]:
    """Return the edits that make one, for `model.edit`: `name/crank` drives `name/coupler` and `name/rocker`.

    All turn about z. With the lengths given here the crank can turn all the way round.

    Args:
        name: Its name in the model.
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
        turning = ContinuousJoint(variable=f"{name}/{link}", axis=_Z, parent_T_joint=_translated((at_m, 0.0, 0.0)))
        parts.joint(link, turning, child=link, parent=parent)
    path = f"{name}/loops/pin"
    pin = CloseLoop(
        path=path,
        left=parts.link_path("coupler"),
        right=parts.link_path("rocker"),
        meets="position",
        left_T_meeting=_translated((coupler_m, 0.0, 0.0)),
        right_T_meeting=_translated((rocker_m, 0.0, 0.0)),
        dependents=(f"{name}/coupler", f"{name}/rocker"),
        start=(0.5, 1.5),
    )
    return [*parts.edits, Apply(f"close {path}", pin)]


def piston(name: str, *, crank_m: float = 0.05, rod_m: float = 0.15) -> list[Edit]:
    """Return the edits that make one, for `model.edit`. The shaft turns about x by the variable `name/crank`.

    The piston goes up and down along z, above the shaft, and never turns.

    Args:
        name: Its name in the model.
        crank_m: From the axis of the shaft to the pin of the rod.
        rod_m: From that pin to the piston; longer than the crank.
    """
    if not 0.0 < crank_m < rod_m < math.inf:
        raise InvalidArgument(f"The rod ({rod_m} m) must be longer than the crank ({crank_m} m, not zero).", rod_m)
    parts = Parts(name, "shaft")
    parts.link("shaft", cylinder(crank_m / 5.0, crank_m, rpy=_ALONG_X))
    parts.link("rod", box((crank_m / 5.0, crank_m / 5.0, rod_m), at=(0.0, 0.0, rod_m / 2.0)))
    parts.link("piston", cylinder(crank_m / 2.0, crank_m))
    turned = position(f"{name}/crank")
    lean = asin(sin(turned) * (crank_m / rod_m))
    rod = translation(0.0, 0.0, crank_m) @ rotation_about(_X, -lean - turned)
    head = translation(0.0, 0.0, rod_m) @ rotation_about(_X, lean)
    parts.joint("crank", ContinuousJoint(variable=turned.name, axis=_X), child="shaft", parent=None)
    parts.joint("crank_pin", ExpressionJoint(expression=rod), child="rod", parent="shaft")
    parts.joint("piston_pin", ExpressionJoint(expression=head), child="piston", parent="rod")
    return parts.edits


def tilting_platform(
    name: str, *, mount_m: float = 0.1, bridge_m: float = 0.14, length_m: float = 0.125, stroke_m: float = 0.025
) -> list[Edit]:
    """Return the edits that make one, for `model.edit`: a platform on a pivot, tilted by two actuators (thesis 4.1.6).

    The lengths `name/left` and `name/right` drive it; `name/pitch` and `name/roll` follow, both zero where the
    actuators are `length_m` long.

    Args:
        name: Its name in the model.
        mount_m: From the pivot back to the actuators.
        bridge_m: Between the two actuators.
        length_m: Of the actuators in the middle of their stroke; so high is the pivot.
        stroke_m: How much longer and shorter they may be.
    """
    pitch, roll = (position(f"{name}/{angle}") for angle in ("pitch", "roll"))
    pitched = translation(0.0, 0.0, length_m) @ rotation_about(_Y, pitch)
    tilted = pitched @ rotation_about(_X, roll)
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
    """Return the edits that make one, for `model.edit`: a platform on six legs, free in all six directions.

    The lengths `name/leg_0` to `name/leg_5` drive it; `name/x`, `y`, `z`, `roll`, `pitch` and `yaw` follow.

    Args:
        name: Its name in the model.
        base_m: Radius of the circle of feet.
        top_m: Radius of the circle of heads.
        height_m: Where the search for the platform begins the first time.
        stroke_m: How much longer and shorter than at that height the legs may be.
    """
    place = [position(f"{name}/{part}") for part in ("x", "y", "z", "roll", "pitch", "yaw")]
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
    path = f"{parts.name}/loops/struts"
    closure = SetClosure(
        path=path,
        residual=VectorExpression([strut.residual for strut in struts]),
        dependents=tuple(variable.name for variable in dependents),
        start=start,
    )
    return [*parts.edits, Apply(f"close {path}", closure)]


def _hexagon(radius_m: float, spread_rad: float) -> list[Triple]:
    """Return three pairs of points on a circle, each point this far from the middle of its pair."""
    angles = [math.radians(120.0 * (i // 2)) + (spread_rad if i % 2 else -spread_rad) for i in range(_LEGS)]
    return [(radius_m * math.cos(angle), radius_m * math.sin(angle), 0.0) for angle in angles]
