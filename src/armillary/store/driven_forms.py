"""How joints drive a pose: closed forms that the C++ core implements, and tapes that it runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from armillary._core import Tape, Transform

if TYPE_CHECKING:
    from armillary.formats.descriptions import Triple

__all__ = ["ClosedForm", "DrivenForm", "LoopForm", "TapeForm", "driven_form"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedForm:
    """A joint that the C++ core implements: parent_T_child = origin @ motion(multiplier * q + offset).

    Attributes:
        kind: The name of the joint in the core.
        origin: parent_T_joint.
        axes: Axes of rotation or translation, in the joint's frame.
        variables: The names, in the order of the core.
        multiplier: Of q, for a joint that follows another.
        offset: Added to that.
        pitch_m_per_rad: The translation of a screw along its axis for one radian.
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
        """The names of all joints in it."""
        return self.variables

    def renamed(self, name: Callable[[str], str]) -> ClosedForm:
        """Return the form with other names of its joints."""
        return replace(self, variables=tuple(map(name, self.variables)))

    def plain(self) -> tuple[Any, ...]:
        """Return the tuple that the C++ core takes."""
        numbers = (self.multiplier, self.offset, self.pitch_m_per_rad)
        return ("joint", self.kind, self.origin, tuple(self.axes), *numbers, tuple(self.variables))


@dataclass(frozen=True, slots=True, kw_only=True)
class TapeForm:
    """A joint as compiled expressions, which the C++ core runs.

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
        """The names of all joints in it."""
        return (*self.positions, *self.velocities)

    def renamed(self, name: Callable[[str], str]) -> TapeForm:
        """Return the form with other names of its joints."""
        positions, velocities = tuple(map(name, self.positions)), tuple(map(name, self.velocities))
        return replace(self, positions=positions, velocities=velocities)

    def plain(self) -> tuple[Any, ...]:
        """Return the tuple that the C++ core takes."""
        return ("tapes", self.value, self.jacobian, tuple(self.positions), tuple(self.velocities))


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopForm(TapeForm):
    """A link in a kinematic loop, which the C++ core solves and runs.

    Its positions have the dependent joints last, and its Jacobian is with respect to the independent ones.

    Attributes:
        residual: From the positions to the residual of the loop, which is zero where it is closed.
        slope: From the positions to its derivative by the dependent joints, one row for each row of the residual.
    """

    residual: Tape
    slope: Tape

    def plain(self) -> tuple[Any, ...]:
        """Return the tuple that the C++ core takes."""
        tapes = (self.residual, self.slope, self.value, self.jacobian)
        return ("loop", *tapes, tuple(self.positions), tuple(self.velocities))


DrivenForm = ClosedForm | TapeForm


def driven_form(plain: tuple[Any, ...]) -> DrivenForm:
    """Return the form of a tuple of the C++ core; the inverse of `plain`."""
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
