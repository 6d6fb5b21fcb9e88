"""SE(3) for arrays of poses in plain numpy: exponential, logarithm, and the right Jacobian with its inverse.

For oracles: the C++ core has its own. A pose is a row of seven numbers, x, y, z and the unit quaternion w, x, y, z; a
tangent is a row of six, translation and then rotation.
"""

from __future__ import annotations

import numpy as np

from armillary.fusion.se3 import skew

_SMALL = 1e-2  # rad: below, the coefficients are power series; the first term left out is below 1e-17


def exponentials(tangents):
    """Return the pose of each tangent, (..., 7)."""
    rho, phi = tangents[..., :3], tangents[..., 3:]
    angle = np.linalg.norm(phi, axis=-1)
    half = 0.5 * angle
    q = np.concatenate([np.cos(half)[..., None], 0.5 * np.sinc(half / np.pi)[..., None] * phi], axis=-1)
    translation = (_left_jacobians_of_rotation(phi) @ rho[..., None])[..., 0]
    return _rows(translation, q)


def logarithms(poses):
    """Return the tangent of each pose, (..., 6); the rotation is at most pi."""
    q = poses[..., 3:]
    q = np.where(q[..., :1] < 0.0, -q, q)
    length = np.linalg.norm(q[..., 1:], axis=-1)
    tiny = length < _SMALL
    safe = np.where(tiny, 1.0, length)
    s2 = length * length
    series = 2.0 * (1.0 + s2 / 6.0 + 3.0 * s2 * s2 / 40.0 + 5.0 * s2**3 / 112.0)
    scale = np.where(tiny, series, 2.0 * np.arctan2(length, q[..., 0]) / safe)
    phi = scale[..., None] * q[..., 1:]
    t, angle = poses[..., :3], scale * length
    crossed = _crossed(phi, t)
    rho = t - 0.5 * crossed + _cotangent_term(angle)[..., None] * _crossed(phi, crossed)
    return np.concatenate([rho, phi], axis=-1)


def right_jacobians(tangents):
    """Return J of each tangent x, (..., 6, 6): `Exp(x + d) = Exp(x) Exp(J d)` to first order."""
    rho, phi = -tangents[..., :3], -tangents[..., 3:]  # the left Jacobian of the opposite tangent
    J = _left_jacobians_of_rotation(phi)
    return _blocks(J, _coupling(rho, phi))


def inverse_right_jacobians(tangents):
    """Return the inverse of `right_jacobians`, (..., 6, 6), in closed form; for rotations below 2 pi."""
    rho, phi = -tangents[..., :3], -tangents[..., 3:]
    J = _inverse_left_jacobians_of_rotation(phi)
    return _blocks(J, -J @ _coupling(rho, phi) @ J)


def _blocks(J, Q):
    found = np.zeros((*J.shape[:-2], 6, 6))
    found[..., :3, :3] = found[..., 3:, 3:] = J
    found[..., :3, 3:] = Q
    return found


def _left_jacobians_of_rotation(phi):
    angle = np.linalg.norm(phi, axis=-1)
    return _rotational(phi, angle, _cosine_term(angle), _sine_term(angle))


def _inverse_left_jacobians_of_rotation(phi):
    angle = np.linalg.norm(phi, axis=-1)
    return _rotational(phi, angle, np.full_like(angle, -0.5), _cotangent_term(angle))


def _rotational(phi, angle, first, second):
    """Return 1 + first F + second F F for F the matrix of `phi x .`."""
    found = skew(first[..., None] * phi) + second[..., None, None] * _outer(phi, phi)
    return _add_diagonal(found, 1.0 - second * angle * angle)


def _outer(a, b):
    return a[..., :, None] * b[..., None, :]


def _add_diagonal(matrices, numbers):
    for i in range(3):
        matrices[..., i, i] += numbers
    return matrices


def _cosine_term(angle):
    """(1 - cos a) / a^2."""
    return 0.5 * np.sinc(0.5 * angle / np.pi) ** 2


def _cotangent_term(angle):
    """1 / a^2 - (1 + cos a) / (2 a sin a), written with the half angle: exact up to pi and beyond."""
    a2 = angle * angle
    tiny = angle < 10.0 * _SMALL
    safe = np.where(tiny, 1.0, angle)
    series = 1.0 / 12.0 + a2 / 720.0 + a2 * a2 / 30240.0 + a2**3 / 1209600.0
    return np.where(tiny, series, (1.0 - 0.5 * safe / np.tan(0.5 * safe)) / (safe * safe))


def _sine_term(angle):
    """(a - sin a) / a^3."""
    a2 = angle * angle
    tiny = angle < 10.0 * _SMALL
    safe = np.where(tiny, 1.0, angle)
    return np.where(tiny, 1.0 / 6.0 - a2 / 120.0 + a2 * a2 / 5040.0 - a2**3 / 362880.0, (safe - np.sin(safe)) / safe**3)


def _coupling(rho, phi):
    """Return the upper right block of the left Jacobian of SE(3).

    It is that of Barfoot, State Estimation for Robotics, 7.86, with the products of cross products written out.
    """
    angle = np.linalg.norm(phi, axis=-1)
    second, third, fourth = _coupling_terms(angle)
    s, a2 = np.sum(rho * phi, axis=-1), angle * angle
    axis = (0.5 - third * a2)[..., None] * rho + (s * (2.0 * third - second))[..., None] * phi
    mixed = _outer(rho, second[..., None] * phi)
    found = skew(axis) + mixed + np.swapaxes(mixed, -1, -2) - _outer((2.0 * fourth * s)[..., None] * phi, phi)
    return _add_diagonal(found, 2.0 * s * (fourth * a2 - second))


def _coupling_terms(angle):
    """(a - sin a) / a^3, (a^2 + 2 cos a - 2) / (2 a^4), (2 a - 3 sin a + a cos a) / (2 a^5)."""
    a2 = angle * angle
    tiny = angle < 50.0 * _SMALL  # the last two cancel heavily
    safe = np.where(tiny, 1.0, angle)
    sine, cosine = np.sin(safe), np.cos(safe)
    third_series = _series(a2, (1 / 24, -1 / 720, 1 / 40320, -1 / 3628800, 1 / 479001600, -1 / 87178291200))
    fourth_series = _series(a2, (1 / 120, -1 / 2520, 1 / 120960, -1 / 9979200, 1 / 1245404160))
    third = np.where(tiny, third_series, (safe**2 + 2.0 * cosine - 2.0) / (2.0 * safe**4))
    fourth = np.where(tiny, fourth_series, (2.0 * safe - 3.0 * sine + safe * cosine) / (2.0 * safe**5))
    return _sine_term(angle), third, fourth


def _series(a2, coefficients):
    total = np.zeros_like(a2)
    for coefficient in reversed(coefficients):
        total = total * a2 + coefficient
    return total


def _rows(translations, quaternions):
    unit = quaternions / np.linalg.norm(quaternions, axis=-1, keepdims=True)
    return np.concatenate([translations, unit], axis=-1)


def _crossed(a, b):
    """Return `a x b` of each pair; several times faster than `numpy.cross` for few rows."""
    x, y, z = (a[..., i] for i in range(3))
    u, v, w = (b[..., i] for i in range(3))
    return np.stack([y * w - z * v, z * u - x * w, x * v - y * u], axis=-1)
