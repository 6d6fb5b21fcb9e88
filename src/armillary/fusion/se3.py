"""SE(3) for arrays of poses: product, inverse and adjoint.

A pose is a row of seven numbers: x, y, z, then the unit quaternion w, x, y, z. A tangent is a row of six: translation,
then rotation. Every function takes rows of any leading shape, and works on all of them at once.
"""

from __future__ import annotations

import numpy as np
from numpy import float64
from numpy.typing import NDArray

Array = NDArray[float64]

__all__ = ["adjoints", "compose", "inverses", "rotation_matrices", "skew"]

_CROSS = np.array(  # for each axis, the matrix of `axis x .`
    [[[0, 0, 0], [0, 0, -1], [0, 1, 0]], [[0, 0, 1], [0, 0, 0], [-1, 0, 0]], [[0, -1, 0], [1, 0, 0], [0, 0, 0]]], float
)


def skew(v: Array) -> Array:
    """Return the matrix of `v x .` for each vector, (..., 3, 3)."""
    return np.asarray(v @ _CROSS.reshape(3, 9)).reshape(*v.shape[:-1], 3, 3)


def rotation_matrices(quaternions: Array) -> Array:
    """Return the rotation matrix of each unit quaternion w, x, y, z: (..., 3, 3)."""
    w, v = quaternions[..., :1, None], quaternions[..., 1:]
    cross = skew(v)
    return np.eye(3) + 2.0 * (w * cross + cross @ cross)


def compose(a: Array, b: Array) -> Array:
    """Return the product of each pair of poses, (..., 7); quaternions are normalised."""
    ta, qa, tb, qb = a[..., :3], a[..., 3:], b[..., :3], b[..., 3:]
    return _rows(ta + _rotated(qa, tb), _multiplied(qa, qb))


def inverses(poses: Array) -> Array:
    """Return the inverse of each pose, (..., 7)."""
    back = poses[..., 3:] * np.array([1.0, -1.0, -1.0, -1.0])
    return _rows(-_rotated(back, poses[..., :3]), back)


def adjoints(poses: Array) -> Array:
    """Return the matrix that carries a tangent through each pose, (..., 6, 6): `T Exp(x) = Exp(Ad x) T`."""
    R = rotation_matrices(poses[..., 3:])
    found = np.zeros((*poses.shape[:-1], 6, 6))
    found[..., :3, :3] = found[..., 3:, 3:] = R
    found[..., :3, 3:] = skew(poses[..., :3]) @ R
    return found


def _rows(translations: Array, quaternions: Array) -> Array:
    unit = quaternions / np.linalg.norm(quaternions, axis=-1, keepdims=True)
    return np.concatenate([translations, unit], axis=-1)


def _rotated(quaternions: Array, vectors: Array) -> Array:
    w, v = quaternions[..., :1], quaternions[..., 1:]
    twice = 2.0 * _crossed(v, vectors)
    return vectors + w * twice + _crossed(v, twice)


def _multiplied(a: Array, b: Array) -> Array:
    aw, av, bw, bv = a[..., :1], a[..., 1:], b[..., :1], b[..., 1:]
    w = aw * bw - np.sum(av * bv, axis=-1, keepdims=True)
    return np.concatenate([w, aw * bv + bw * av + _crossed(av, bv)], axis=-1)


def _crossed(a: Array, b: Array) -> Array:
    """Return `a x b` of each pair; several times faster than `numpy.cross` for few rows."""
    x, y, z = (a[..., i] for i in range(3))
    u, v, w = (b[..., i] for i in range(3))
    return np.stack([y * w - z * v, z * u - x * w, x * v - y * u], axis=-1)
