"""The error-state filter of one frame in plain numpy: the oracle of `policy="filter"`."""

from __future__ import annotations

import numpy as np

from armillary.fusion.se3 import adjoints, compose, inverses
from se3_reference import exponentials, logarithms, right_jacobians

NODES, WEIGHTS = np.polynomial.legendre.leggauss(4)


class ReferenceFilter:
    """State: pose (7,), velocity (6,), covariance (12, 12). A measurement is (t, kind, value, covariance)."""

    def __init__(self, speed_change, first_speed, gate=27.856):
        self.noise = np.diag(np.repeat(np.square(speed_change), 3).astype(float))
        self.first = np.diag(np.repeat(np.square(first_speed), 3).astype(float))
        self.gate, self.pose, self.rejected, self.innovations = gate, None, [], []

    def predicted(self, t):
        tau, nu = t - self.t, self.velocity
        pose = compose(self.pose, exponentials(nu * tau))
        F, Q = np.eye(12), np.zeros((12, 12))
        F[:6, :6] = adjoints(exponentials(-nu * tau))
        F[:6, 6:] = tau * right_jacobians(nu * tau)
        for node, weight in zip(NODES, WEIGHTS, strict=True):
            s = tau * (node + 1) / 2
            G = np.vstack([s * right_jacobians(nu * s), np.eye(6)])
            Q += tau * weight / 2 * G @ self.noise @ G.T
        return pose, F @ self.P @ F.T + Q

    def add(self, t, kind, value, covariance):
        if self.pose is None:
            if kind == "pose":
                self.t, self.pose, self.velocity = t, np.array(value), np.zeros(6)
                self.P = np.zeros((12, 12))
                self.P[:6, :6], self.P[6:, 6:] = covariance, self.first
            return
        self.pose, self.P = self.predicted(t)
        self.t = t
        (self.add_pose if kind == "pose" else self.add_twist)(value, covariance)

    def add_pose(self, z, R):
        S = self.P[:6, :6] + R
        apart = logarithms(compose(inverses(self.pose), z))
        distance = apart @ np.linalg.solve(S, apart)
        if distance > self.gate:
            self.rejected.append(self.t)
            return
        self.innovations.append(distance)
        K = np.linalg.solve(S, self.P[:6]).T
        x = np.zeros(12)
        for _ in range(3):
            moved = compose(self.pose, exponentials(x[:6]))
            x = K @ (x[:6] + logarithms(compose(inverses(moved), z)))
        G = np.eye(12)
        G[:6, :6] = right_jacobians(x[:6])
        self.pose = compose(self.pose, exponentials(x[:6]))
        self.velocity = self.velocity + x[6:]
        self.P = G @ (self.P - K @ self.P[:6]) @ G.T
        self.P = 0.5 * (self.P + self.P.T)

    def add_twist(self, value, covariance):
        given = ~np.isnan(value)
        H = np.zeros((6, 12))
        H[:, 6:] = np.eye(6)
        H, R = H[given], covariance[np.ix_(given, given)]
        y, S = value[given] - self.velocity[given], H @ self.P @ H.T + R
        if y @ np.linalg.solve(S, y) > self.gate:
            self.rejected.append(self.t)
            return
        K = np.linalg.solve(S, H @ self.P).T
        x = K @ y
        G = np.eye(12)
        G[:6, :6] = right_jacobians(x[:6])
        keep = np.eye(12) - K @ H
        self.pose = compose(self.pose, exponentials(x[:6]))
        self.velocity = self.velocity + x[6:]
        self.P = G @ (keep @ self.P @ keep.T + K @ R @ K.T) @ G.T
