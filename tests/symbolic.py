"""Coordinates that are casadi expressions: the proof that the protocol of representations is open.

Nothing of the library knows these classes. A position and a rotation matrix are kept side by side, so that points and
axes can be chosen freely.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import casadi
import numpy as np

from armillary.errors import NotNumeric

DEEP = 1000  # structural equality of expressions looks this far down


def _not_numeric(what: str) -> NotNumeric:
    hint = "Evaluate them with a casadi.Function."
    return NotNumeric(
        operation="numbers", asked=f"read numbers of {what}", expected="numbers", found="casadi", hint=hint
    )


def _same(mine: casadi.SX, other: casadi.SX) -> bool:
    return casadi.is_equal(casadi.densify(mine), casadi.densify(other), DEEP)


@dataclass(frozen=True, slots=True, eq=False)
class SymbolicVector:
    sx: casadi.SX

    def __add__(self, other):
        return SymbolicVector(self.sx + other.sx)

    def __neg__(self):
        return SymbolicVector(-self.sx)

    def __eq__(self, other):
        return isinstance(other, SymbolicVector) and _same(self.sx, other.sx)

    __hash__ = None

    def cross(self, other):
        return SymbolicVector(casadi.cross(self.sx, other.sx))

    def numbers(self):
        raise _not_numeric("a vector")


@dataclass(frozen=True, slots=True, eq=False)
class SymbolicRotation:
    sx: casadi.SX

    def __eq__(self, other):
        return isinstance(other, SymbolicRotation) and _same(self.sx, other.sx)

    __hash__ = None

    @property
    def representation(self):
        return SYMBOLIC

    def compose(self, other):
        return SymbolicRotation(self.sx @ other.sx)

    def inverse(self):
        return SymbolicRotation(self.sx.T)

    def rotate(self, vector):
        return SymbolicVector(self.sx @ vector.sx)

    def numbers(self):
        raise _not_numeric("a rotation")


@dataclass(frozen=True, slots=True)
class SymbolicPose:
    position: SymbolicVector
    rotation: SymbolicRotation
    frame_form = False

    @property
    def representation(self):
        return SYMBOLIC

    def compose(self, other):
        return SymbolicPose(self.position + self.rotation.rotate(other.position), self.rotation.compose(other.rotation))

    def inverse(self):
        back = self.rotation.inverse()
        return SymbolicPose(-back.rotate(self.position), back)


@dataclass(frozen=True, slots=True)
class SymbolicTwist:
    linear: SymbolicVector
    angular: SymbolicVector
    form = "free"

    def with_parts(self, linear, angular, form):
        assert form == "free"
        return SymbolicTwist(linear, angular)


@dataclass(frozen=True, slots=True)
class SymbolicRepresentation:
    name: str = "casadi"

    def vector(self, xyz):
        return SymbolicVector(casadi.SX(casadi.DM(np.asarray(xyz))))

    def rotation(self, rotation):
        return SymbolicRotation(casadi.SX(casadi.DM(np.array(rotation.matrix))))

    def pose(self, position, rotation, *, is_frame_form):
        return SymbolicPose(position, rotation)

    def twist(self, linear, angular):
        return SymbolicTwist(linear, angular)


SYMBOLIC = SymbolicRepresentation()


@dataclass
class Symbols:
    """Makes a symbol for every number, and puts the numbers back into expressions."""

    symbols: list = field(default_factory=list)
    values: list = field(default_factory=list)

    def vector(self, values) -> SymbolicVector:
        return SymbolicVector(casadi.vertcat(*(self._symbol(value) for value in values)))

    def rotation(self, axis: str, angle_rad: float) -> SymbolicRotation:
        q = self._symbol(angle_rad)
        c, s = casadi.cos(q), casadi.sin(q)
        rows = {
            "x": [[1, 0, 0], [0, c, -s], [0, s, c]],
            "y": [[c, 0, s], [0, 1, 0], [-s, 0, c]],
            "z": [[c, -s, 0], [s, c, 0], [0, 0, 1]],
        }
        return SymbolicRotation(casadi.vertcat(*(casadi.horzcat(*row) for row in rows[axis])))

    def evaluated(self, coordinates) -> np.ndarray:
        function = casadi.Function("value", [casadi.vertcat(*self.symbols)], [coordinates.sx])
        return np.array(function(self.values)).squeeze()

    def _symbol(self, value: float) -> casadi.SX:
        self.symbols.append(casadi.SX.sym(f"s{len(self.symbols)}"))
        self.values.append(float(value))
        return self.symbols[-1]
