"""Moving joints by hand: within their limits, and only where what the model asks for is kept."""

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
_ELSEWHERE_NS = seconds(24 * 3600.0)
_STEP_NS = seconds(0.02)
_READABLE = 60  # characters of a constraint
_CREEPING = 1e-6  # a speed that only what is locked forbids


@dataclass(frozen=True, slots=True, kw_only=True)
class Handle:
    """A joint that can be moved by hand.

    Attributes:
        joint: Its name in the world.
        lower: As far as it goes.
        upper: Likewise.
        is_bounded: Whether the model says so; else it is a range to play in.
        goes_round: Whether it is an angle that whole turns do not change.
    """

    joint: str
    lower: float
    upper: float
    is_bounded: bool
    goes_round: bool = False

    @property
    def resting(self) -> float:
        """Zero, or what is nearest to it."""
        return self.within(0.0)

    def within(self, value: float) -> float:
        """The same angle, or the nearest position, on the slider."""
        rotate = math.remainder(value, 2.0 * math.pi) if self.goes_round else value
        return min(max(rotate, self.lower), self.upper)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Movable:
    """A model in a world whose joints can be moved by hand.

    Attributes:
        mount: The model.
        handles: The joints that are free, in its order.
        resting: By joint that no loop determines, where it is while nobody said.
    """

    mount: MountedModel
    handles: tuple[Handle, ...]
    resting: Mapping[str, float]

    def drag(self, world: ViewableWorld, joint: str, value: float) -> int:
        """Move one joint, now; the others stay where they are, and are said to be there now.

        Returns:
            The stamp [ns] it was written at.

        Raises:
            InvalidArgument: The model forbids it: a lock is closed, something is in the way.
        """
        before = self._written(world)
        _refuse_broken(self.mount, joint, before, value)
        stamp_ns = _next_stamp(world)
        world.set_joints(before | {joint: value}, at=stamp_ns)
        return stamp_ns

    def rest(self, world: ViewableWorld) -> None:
        """Give every joint that was never given one a position: zero, or the nearest within its limits."""
        if any(_position(world, name, LATEST) is None for name in self.resting):
            world.set_joints(self._written(world), at=_next_stamp(world))

    def _written(self, world: ViewableWorld) -> dict[str, float]:
        return {name: _or(_position(world, name, LATEST), resting) for name, resting in self.resting.items()}


def movables(world: ViewableWorld) -> tuple[Movable, ...]:
    """The models in this world that have joints to be moved."""
    found = (_movable(mount) for mount in world.mounts)
    return tuple(movable for movable in found if movable.handles)


def rest_joints(world: ViewableWorld) -> None:
    """Give every joint of the models in a world a position that was never given one: zero, or what is nearest to it.

    The links of a robot that was only just read from a file are nowhere before.
    """
    for movable in movables(world):
        movable.rest(world)


def positions(world: ViewableWorld, at: int | Latest) -> dict[str, float]:
    """Where the joints are that are known at one instant."""
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
    goes_round = kind == "wrap" and not is_bounded
    return Handle(joint=joint, lower=lower, upper=max(lower, upper), is_bounded=is_bounded, goes_round=goes_round)


def _interpolations(model: Any) -> dict[str, str]:
    from armillary.articulation.drive import interpolations_of  # noqa: PLC0415  (where a model stands, it is loaded)

    joints = (link.joint for link in model.links().values() if link.joint is not None)
    return dict(interpolations_of(joints))


def _identities(names: list[str]) -> dict[str, float]:
    """Quaternions w, x, y, z, one after the other, that turn nothing."""
    return {name: float(i % 4 == 0) for i, name in enumerate(names)}


def _refuse_broken(mount: MountedModel, joint: str, before: Mapping[str, float], value: float) -> None:
    """What bounds positions is asked where the joint goes; what bounds velocities, such as a lock, where it starts."""
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
    """Now, and after everything that was said, so that it is what is newest.

    Stamps that are far from the clock of the world are of another one, such as a simulation's: it goes on there.
    """
    now_ns = world.now()
    newest_ns = max((last_ns for _, last_ns in time_ranges(world, world.relations())), default=now_ns - 1)
    is_elsewhere = abs(now_ns - newest_ns) > _ELSEWHERE_NS
    return newest_ns + _STEP_NS if is_elsewhere else max(now_ns, newest_ns + 1)


def _or(value: float | None, otherwise: float) -> float:
    return otherwise if value is None else value
