"""Moving joints of mounted models by sliders, within their limits and constraints."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from armillary.errors import ArmillaryError, InvalidArgument
from armillary.stamps import LATEST, seconds
from armillary.view.web._timeline import time_ranges

if TYPE_CHECKING:
    from armillary.stamps import Latest
    from armillary.view._world_protocol import MountedModel, ViewableWorld


_WITHOUT_LIMITS_M = 2.0
_TOLERANCE = 1e-9
_OTHER_CLOCK_NS = seconds(24 * 3600.0)
_STEP_NS = seconds(0.02)
_READABLE = 60  # longest constraint [characters] that is quoted in an error
_CREEPING = 1e-6  # speed that violates a lock but no velocity limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Handle:
    """Joint that can be moved by a slider.

    Attributes:
        joint: Name in the world.
        lower: Lower end of the slider.
        upper: Upper end of the slider.
        is_bounded: Whether these are limits of the model; otherwise they are a default range.
        wraps: Whether it is a continuous joint, whose angle wraps.
    """

    joint: str
    lower: float
    upper: float
    is_bounded: bool
    wraps: bool = False

    @property
    def resting(self) -> float:
        """Position on the slider that is nearest to zero."""
        return self.within(0.0)

    def within(self, value: float) -> float:
        """Return the position on the slider that is nearest to a value, or the same angle."""
        rotate = math.remainder(value, 2.0 * math.pi) if self.wraps else value
        return min(max(rotate, self.lower), self.upper)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Movable:
    """Mounted model whose joints can be moved.

    Attributes:
        mount: The mounted model.
        handles: Independent joints, in the order of the model.
        resting: Initial positions of all independent joints, including quaternions.
    """

    mount: MountedModel
    handles: tuple[Handle, ...]
    resting: Mapping[str, float]

    def drag(self, world: ViewableWorld, joint: str, value: float) -> int:
        """Move one joint; write the positions of all independent joints with the same stamp.

        Returns:
            The stamp [ns] of the new positions.

        Raises:
            InvalidArgument: A constraint of the model forbids it, such as a closed lock.
        """
        before = self._positions(world)
        _check_constraints(self.mount, joint, before, value)
        stamp_ns = _next_stamp(world)
        world.set_joints(before | {joint: value}, at=stamp_ns)
        return stamp_ns

    def rest(self, world: ViewableWorld) -> None:
        """Write the initial positions of all joints, if any of them has no position yet."""
        if any(_position(world, name, LATEST) is None for name in self.resting):
            world.set_joints(self._positions(world), at=_next_stamp(world))

    def _positions(self, world: ViewableWorld) -> dict[str, float]:
        written = {}
        for name, resting in self.resting.items():
            position = _position(world, name, LATEST)
            written[name] = resting if position is None else position
        return written


def movables(world: ViewableWorld) -> tuple[Movable, ...]:
    """Return the mounted models that have joints to move."""
    found = (_movable(mount) for mount in world.mounts)
    return tuple(movable for movable in found if movable.handles)


def rest_joints(world: ViewableWorld) -> None:
    """Give every joint of the mounted models that has no position yet one: zero, or the nearest within its limits.

    Until then, the links of a robot that was just read from a file have no pose.
    """
    for movable in movables(world):
        movable.rest(world)


def positions(world: ViewableWorld, at: int | Latest) -> dict[str, float]:
    """Return the positions of all joints that are known at one instant."""
    found = {name: _position(world, name, at) for name in world.joints()}
    return {name: value for name, value in found.items() if value is not None}


def _movable(mount: MountedModel) -> Movable:
    limits = mount.limits
    kinds = {
        mount.joints[name]: kind
        for name, kind in _interpolations(mount.model).items()
        if name in mount.joints and mount.joints[name] not in mount.dependents
    }
    free = {joint: kind for joint, kind in kinds.items() if kind != "unit_quaternion"}
    handles = tuple(_handle(joint, kind, *limits[joint]) for joint, kind in free.items())
    turning = [joint for joint in kinds if joint not in free]
    resting = {handle.joint: handle.resting for handle in handles} | _identities(turning)
    return Movable(mount=mount, handles=handles, resting=resting)


def _handle(joint: str, kind: str, lower: float, upper: float) -> Handle:
    is_bounded = math.isfinite(lower) and math.isfinite(upper)
    reach = math.pi if kind == "wrap" else _WITHOUT_LIMITS_M
    if not is_bounded:
        lower = lower if math.isfinite(lower) else min(-reach, upper - reach)
        upper = upper if math.isfinite(upper) else max(reach, lower + reach)
    wraps = kind == "wrap" and not is_bounded
    return Handle(joint=joint, lower=lower, upper=max(lower, upper), is_bounded=is_bounded, wraps=wraps)


def _interpolations(model: Any) -> dict[str, str]:
    from armillary.articulation.drive import interpolations_of  # noqa: PLC0415  (a mounted model has loaded it)

    joints = (link.joint for link in model.links().values() if link.joint is not None)
    return dict(interpolations_of(joints))


def _identities(names: list[str]) -> dict[str, float]:
    """Return identity quaternions for names in the order w, x, y, z."""
    return {name: float(i % 4 == 0) for i, name in enumerate(names)}


def _check_constraints(mount: MountedModel, joint: str, before: Mapping[str, float], value: float) -> None:
    """Raise if a constraint forbids the motion.

    Position constraints are checked at the goal, velocity constraints, such as locks, at the start.
    """
    from armillary.articulation import position  # noqa: PLC0415  (see `_interpolations`)

    variables = {world_name: position(name) for name, world_name in mount.joints.items()}
    q, speed = variables[joint], math.copysign(_CREEPING, value - before[joint])
    still = {variable.velocity: 0.0 for variable in variables.values()} | {q.velocity: speed}
    start = still | {variables[name]: where for name, where in before.items()}
    for path, constraint in mount.model.constraints({q, q.velocity}).items():
        values = start | {q: value} if constraint.is_on_positions else start
        was_kept = not constraint.is_on_positions or constraint.is_kept(start, tolerance=_TOLERANCE)
        if was_kept and not constraint.is_kept(values, tolerance=_TOLERANCE):
            asked, wanted = f"'{joint}' cannot go to {value:.4g}", str(constraint)
            reason = f"{path} asks for {wanted}" if len(wanted) <= _READABLE else f"{path} forbids it"
            raise InvalidArgument(f"{asked}: {reason}. Move what holds it first.", value)


def _position(world: ViewableWorld, joint: str, at: int | Latest) -> float | None:
    try:
        return world.joint(joint, at=at, outside="hold").value
    except ArmillaryError:
        return None


def _next_stamp(world: ViewableWorld) -> int:
    """Return the current time, or a stamp after the newest sample if that is later.

    If the newest sample is far from the clock of the world, samples have another clock, such as that of a simulation;
    then the stamp follows the newest sample.
    """
    now_ns = world.now()
    newest_ns = max((last_ns for _, last_ns in time_ranges(world, world.relations())), default=now_ns - 1)
    is_other_clock = abs(now_ns - newest_ns) > _OTHER_CLOCK_NS
    return newest_ns + _STEP_NS if is_other_clock else max(now_ns, newest_ns + 1)
