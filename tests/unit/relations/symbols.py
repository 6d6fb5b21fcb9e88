"""A representation by expressions of casadi, written outside the library: the protocol is open."""

from __future__ import annotations

from dataclasses import dataclass

import casadi
import numpy as np

from armillary import Rotation
from armillary.errors import NotNumeric


def _numbers(expression: casadi.SX) -> np.ndarray:
    if not expression.is_constant():
        cure = "Evaluate them first: value_of(expression, {symbol: number})."
        asked = "read the numbers"
        raise NotNumeric(operation="numbers", asked=asked, expected="numbers", found="expressions", cure=cure)
    return np.array(casadi.DM(expression), dtype=float)


def value_of(expression: casadi.SX, values: dict) -> np.ndarray:
    symbols = list(values)
    return np.array(casadi.Function("f", symbols, [expression])(*values.values()), dtype=float)


@dataclass(frozen=True, eq=False)
class SymbolicVector:
    entries: casadi.SX  # (3, 1)

    def __add__(self, other):
        return SymbolicVector(self.entries + other.entries)

    def __neg__(self):
        return SymbolicVector(-self.entries)

    def __eq__(self, other):
        return isinstance(other, SymbolicVector) and casadi.is_equal(self.entries, other.entries, 10)

    __hash__ = None

    def cross(self, other):
        return SymbolicVector(casadi.cross(self.entries, other.entries))

    def numbers(self):
        return _numbers(self.entries).reshape(3)


@dataclass(frozen=True, eq=False)
class SymbolicRotation:
    entries: casadi.SX  # (3, 3)

    @property
    def representation(self):
        return SYMBOLIC

    def compose(self, other):
        return SymbolicRotation(self.entries @ other.entries)

    def inverse(self):
        return SymbolicRotation(self.entries.T)

    def rotate(self, vector):
        return SymbolicVector(self.entries @ vector.entries)

    def numbers(self):
        return Rotation.from_matrix(_numbers(self.entries))


@dataclass(frozen=True, eq=False)
class SymbolicPose:
    position: SymbolicVector
    rotation: SymbolicRotation
    frame_form = False

    @property
    def representation(self):
        return SYMBOLIC

    def compose(self, other):
        position = self.position + self.rotation.rotate(other.position)
        return SymbolicPose(position, self.rotation.compose(other.rotation))

    def inverse(self):
        back = self.rotation.inverse()
        return SymbolicPose(-back.rotate(self.position), back)


@dataclass(frozen=True)
class SymbolicTwist:
    linear: SymbolicVector
    angular: SymbolicVector
    form: str = "free"

    def with_parts(self, linear, angular, form):
        return SymbolicTwist(linear, angular, form)


class SymbolicRepresentation:
    name = "casadi"

    def vector(self, xyz):
        return SymbolicVector(casadi.SX(casadi.DM(np.asarray(xyz).tolist())))

    def rotation(self, rotation):
        return SymbolicRotation(casadi.SX(casadi.DM(rotation.matrix.tolist())))

    def pose(self, position, rotation, *, is_frame_form):
        return SymbolicPose(position, rotation)

    def twist(self, linear, angular):
        return SymbolicTwist(linear, angular)


SYMBOLIC = SymbolicRepresentation()
