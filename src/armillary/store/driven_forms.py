"""How joints drive a pose: closed forms that the native core knows, and tapes that it runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from armillary._core import Tape, Transform
from armillary.formats.descriptions import Triple

__all__ = ["ClosedForm", "DrivenForm", "LoopForm", "TapeForm", "driven_form"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedForm:
    """A joint that the native core knows: parent_T_child = origin @ motion(multiplier * q + offset).

    Attributes:
        kind: What the core calls it.
        origin: Where it sits in the parent.
        axes: Turned about or slid along, in the joint's frame.
        variables: The names, in the order of the core.
        multiplier: Of a joint that follows another.
        offset: Likewise.
        pitch_m_per_rad: How far a screw slides along its axis.
    """

    kind: str
    origin: Transform
    axes: tuple[Triple, ...] = ()
    variables: tuple[str, ...] = ()
    multiplier: float = 1.0
    offset: float = 0.0
    pitch_m_per_rad: float = 0.0

    @property
    def names(self) -> tuple[str, ...]:
        """Of all joints in it."""
        return self.variables

    def renamed(self, name: Callable[[str], str]) -> ClosedForm:
        """The same by joints of other names."""
        return replace(self, variables=tuple(map(name, self.variables)))

    def plain(self) -> tuple[Any, ...]:
        """For the native door."""
        numbers = (self.multiplier, self.offset, self.pitch_m_per_rad)
        return ("joint", self.kind, self.origin, tuple(self.axes), *numbers, tuple(self.variables))


@dataclass(frozen=True, slots=True, kw_only=True)
class TapeForm:
    """A joint as compiled expressions, for the native core to run.

    Attributes:
        value: From the positions to the first three rows of parent_T_child.
        jacobian: From the positions to the 6 x m body Jacobian, linear then angular.
        positions: The names of the inputs of both.
        velocities: The names of the columns of the Jacobian.
    """

    value: Tape
    jacobian: Tape
    positions: tuple[str, ...]
    velocities: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Of all joints in it."""
        return (*self.positions, *self.velocities)

    def renamed(self, name: Callable[[str], str]) -> TapeForm:
        """The same by joints of other names."""
        positions, velocities = tuple(map(name, self.positions)), tuple(map(name, self.velocities))
        return replace(self, positions=positions, velocities=velocities)

    def plain(self) -> tuple[Any, ...]:
        """For the native door."""
        return ("tapes", self.value, self.jacobian, tuple(self.positions), tuple(self.velocities))


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopForm(TapeForm):
    """A link in a loop, for the native core to solve and run.

    Its positions have the dependents last, and its Jacobian is along what drives the loop.

    Attributes:
        residual: From the positions to what is zero.
        slope: From the same to its derivative along the dependents, one row for each row of the residual.
    """

    residual: Tape
    slope: Tape

    def plain(self) -> tuple[Any, ...]:
        """For the native door."""
        tapes = (self.residual, self.slope, self.value, self.jacobian)
        return ("loop", *tapes, tuple(self.positions), tuple(self.velocities))


DrivenForm = ClosedForm | TapeForm


def driven_form(plain: tuple[Any, ...]) -> DrivenForm:
    """From what the native half tells."""
    match plain:
        case ("joint", kind, origin, axes, multiplier, offset, pitch, variables):
            numbers = {"multiplier": multiplier, "offset": offset, "pitch_m_per_rad": pitch}
            return ClosedForm(kind=kind, origin=origin, axes=axes, variables=variables, **numbers)
        case ("tapes", value, jacobian, positions, velocities):
            return TapeForm(value=value, jacobian=jacobian, positions=positions, velocities=velocities)
    _, residual, slope, value, jacobian, positions, velocities = plain
    return LoopForm(
        residual=residual,
        slope=slope,
        value=value,
        jacobian=jacobian,
        positions=positions,
        velocities=velocities,
    )
