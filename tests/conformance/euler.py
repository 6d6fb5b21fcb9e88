"""Covariances of (x, y, z, phi, theta, psi), R = Rz(phi) Ry(theta) Rx(psi), as Smith, Self and Cheeseman write them."""

import numpy as np

from armillary import Transform


def from_euler(x):
    return Transform.from_xyz_rpy(xyz=x[:3], rpy=x[:2:-1])


def to_euler(transform):
    return np.array([*transform.translation, *transform.rotation.rpy[::-1]])


def euler_to_tangent(x):
    """G: the covariance in the tangent is G C G^T."""
    Rz = from_euler((0, 0, 0, x[3], 0, 0)).matrix[:3, :3]
    RzRy = from_euler((0, 0, 0, x[3], x[4], 0)).matrix[:3, :3]
    E = np.column_stack([[0.0, 0.0, 1.0], Rz[:, 1], RzRy[:, 0]])
    R = from_euler(x).rotation.matrix
    return np.block([[R.T, np.zeros((3, 3))], [np.zeros((3, 3)), R.T @ E]])


def tangent_covariance(x, covariance):
    G = euler_to_tangent(x)
    return G @ covariance @ G.T


def euler_covariance(pose):
    G = np.linalg.inv(euler_to_tangent(to_euler(pose.transform)))
    return G @ pose.covariance @ G.T
