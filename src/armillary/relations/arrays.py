"""Checks of arrays that users pass, and the small matrices of rigid motion."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy import float64
from numpy.typing import NDArray

from armillary.errors import InvalidArgument

Array = NDArray[float64]

_ASYMMETRY = 1e-9  # relative to the largest entry: rounding errors
_SERIES_TERMS = 12
_SERIES_RADIUS = 0.5
_CROSS = np.array(  # for each axis, the matrix of `axis x .`
    [[[0, 0, 0], [0, 0, -1], [0, 1, 0]], [[0, 0, 1], [0, 0, 0], [-1, 0, 0]], [[0, -1, 0], [1, 0, 0], [0, 0, 0]]], float
)


def as_vector3(value: object, name: str) -> Array:
    """A finite vector of shape (3,); a read-only copy."""
    return as_finite(value, (3,), name)


def as_covariance(value: object, name: str, size: int = 6) -> Array | None:
    """A symmetric, positive semi-definite matrix of shape (size, size), also from variances; a read-only copy.

    None stays None.
    """
    if value is None:
        return None
    matrix = as_covariances(value, (), name, size)
    scale = max(float(np.abs(matrix).max()), np.finfo(float).tiny)
    if np.abs(matrix - matrix.T).max() > _ASYMMETRY * scale:
        raise InvalidArgument(f"{name} must be symmetric. Pass 0.5 * (C + C.T).")
    if np.linalg.eigvalsh(matrix)[0] < -_ASYMMETRY * scale:
        raise InvalidArgument(f"{name} must be positive semi-definite; its least eigenvalue is negative.")
    return matrix


def as_covariances(value: object, lead: tuple[int, ...], name: str, size: int = 6) -> Array:
    """Finite numbers of shape (*lead, size, size), or variances of shape (*lead, size); a read-only copy."""
    try:
        are_variances = np.ndim(value) == len(lead) + 1  # type: ignore[arg-type]
    except ValueError:
        are_variances = False
    if not are_variances:
        return as_finite(value, (*lead, size, size), name)
    return frozen(as_finite(value, (*lead, size), name)[..., np.newaxis] * np.eye(size))


def as_finite(value: object, shape: tuple[int, ...], name: str) -> Array:
    """Finite numbers of one shape; a read-only copy."""
    try:
        array = np.array(value, dtype=float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidArgument(f"{name} must be numbers of shape {shape}, got {value!r}.") from error
    if array.shape != shape:
        raise InvalidArgument(f"{name} must have shape {shape}, got {array.shape}.")
    if not np.isfinite(array).all():
        raise InvalidArgument(f"{name} must be finite, got {array.tolist()}.")
    array.setflags(write=False)
    return array


def as_matrix4(value: object, name: str) -> Array:
    """A finite matrix of shape (4, 4); a read-only copy."""
    return as_finite(value, (4, 4), name)


def as_matrix3(value: object, name: str) -> Array:
    """A finite matrix of shape (3, 3); a read-only copy."""
    return as_finite(value, (3, 3), name)


def tidy(array: Array) -> Any:
    """Return nested lists for a repr: every digit, and 0 for -0."""
    return (array + 0.0).tolist()


def frozen(array: Any) -> Array:
    """Return the array, made read-only."""
    fixed = np.asarray(array, dtype=float64)
    fixed.setflags(write=False)
    return fixed


def skew(v: Array) -> Array:
    """Return the matrix of the cross product `v x .`."""
    x, y, z = v
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def both_turned(R: Array) -> Array:
    """Return the (6, 6) matrix that rotates the linear and the angular part."""
    turn = np.zeros((6, 6))
    turn[:3, :3] = turn[3:, 3:] = R
    return turn


def point_moved(r: Array) -> Array:
    """Return the (6, 6) matrix that moves a twist to the point at `r` from its own, v' = v + w x r."""
    move = np.eye(6)
    move[:3, 3:] = -skew(r)
    return move


def moment_moved(r: Array) -> Array:
    """Return the (6, 6) matrix that moves a wrench at `r` to the point from which that is measured: M + r x F."""
    move = np.eye(6)
    move[3:, :3] = skew(r)
    return move


def seen_through(J: Array, covariance: Array | None) -> Array | None:
    """Return the covariance of `J x` where x has `covariance`; None where that is unknown."""
    if covariance is None:
        return None
    result = J @ covariance @ J.T
    return frozen(0.5 * (result + result.T))


def with_helper(covariance: Array | None, J: Array, spread: Any) -> Array | None:
    """Return a covariance with the error of a helper, whose effect is `J`; `spread`: 0.0 for none, None for unknown."""
    if covariance is None or spread is None:
        return None
    return frozen(covariance) if np.ndim(spread) == 0 else added(covariance, seen_through(J, spread))


def added(a: Array | None, b: Array | None) -> Array | None:
    """Return the covariance of a sum of two independent errors; None if either is unknown."""
    return None if a is None or b is None else frozen(a + b)


def right_jacobian(tangent: Array) -> Array:
    """Return the right Jacobian of SE(3), (..., 6, 6): Exp(x + d) = Exp(x) Exp(J d), x = (translation, rotation).

    J is the integral of exp(-s ad(x)) over s from 0 to 1: a power series for a small x, doubled up to x.
    """
    ad = _ad(tangent)
    size = float(np.abs(ad).sum(axis=(-2, -1)).max(initial=0.0)) / _SERIES_RADIUS
    doublings = math.ceil(math.log2(max(size, 1.0)))
    x = -ad / 2.0**doublings
    integral, power = np.zeros_like(x), np.zeros_like(x) + np.eye(6)
    for n in range(1, _SERIES_TERMS + 1):
        integral, power = integral + power, power @ x / (n + 1)
    exponential = np.eye(6) + x @ integral
    for _ in range(doublings):
        integral, exponential = 0.5 * (integral + exponential @ integral), exponential @ exponential
    return integral


def _ad(tangent: Array) -> Array:
    """Return the matrix of the Lie bracket with a tangent, (..., 6, 6)."""
    ad = np.zeros((*tangent.shape[:-1], 6, 6))
    ad[..., :3, :3] = ad[..., 3:, 3:] = _crossing(tangent[..., 3:])
    ad[..., :3, 3:] = _crossing(tangent[..., :3])
    return ad


def _crossing(v: Array) -> Array:
    """Return `skew` of each vector, (..., 3, 3)."""
    return np.asarray(v @ _CROSS.reshape(3, 9)).reshape(*v.shape[:-1], 3, 3)
