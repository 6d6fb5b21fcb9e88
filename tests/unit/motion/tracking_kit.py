"""The kitchen of the thesis' size, observed with the thesis' own noise."""

from __future__ import annotations

import numpy as np

from armillary import Transform
from armillary.articulation import ArticulationModel, Limits, PrismaticJoint, RevoluteJoint, stack
from armillary.articulation.constraints import limits_of
from armillary.demos.models import kitchen

LEVELS = {(0.0375, 2.5): 0.0305, (0.075, 5.0): 0.0592, (0.1125, 7.5): 0.0844, (0.15, 10.0): 0.108}
"""By noise [m], [deg]: the mean error of the thesis' code."""
MOST_ITERATIONS = 10


class ObservedModel:
    """A model that is put into configurations, and whose links are observed with noise."""

    def __init__(self, model: ArticulationModel, links=None) -> None:
        self.model = model
        self.links = list(model.links()) if links is None else list(links)
        poses = [model.pose(path) for path in self.links]
        self.variables = sorted({v for pose in poses for v in pose.free_variables}, key=lambda v: v.name)
        self.names = [variable.name for variable in self.variables]
        limits = limits_of(model.constraints(self.variables).values())
        self.lower, self.upper = np.array([limits[v] for v in self.variables]).T
        self._poses = stack([pose.matrix for pose in poses]).compile(order=self.variables)

    def poses(self, values):
        matrices = self._poses(values).reshape(-1, 4, 4)
        return {path: Transform.from_matrix(matrix) for path, matrix in zip(self.links, matrices, strict=True)}

    def sampled(self, rng):
        return rng.uniform(self.lower, self.upper)


def whole_kitchen():
    model = ArticulationModel()
    model.add_robot(kitchen())
    return ObservedModel(model)


def thesis_directions(rng, count):
    """The thesis' sampler: azimuth in [0, pi] and height in [0, 1], a quarter of a sphere."""
    azimuth, height = rng.uniform(0.0, np.pi, count), rng.uniform(0.0, 1.0, count)
    radius = np.sqrt(1.0 - height**2)
    return np.column_stack([radius * np.cos(azimuth), radius * np.sin(azimuth), height])


def directions(rng, count):
    drawn = rng.normal(size=(count, 3))
    return drawn / np.linalg.norm(drawn, axis=1)[:, None]


def noisy(rng, poses, linear, angular, drawn=thesis_directions):
    """Shift and turn each pose by a normal length about a random direction."""
    count = len(poses)
    shifts = drawn(rng, count) * (linear * rng.normal(size=count))[:, None]
    turns = drawn(rng, count) * (angular * rng.normal(size=count))[:, None]
    return {
        path: Transform.from_xyz_wxyz(
            xyz=pose.translation + shift, wxyz=(pose.rotation @ Transform.exp((0.0, 0.0, 0.0, *turn)).rotation).wxyz
        )
        for (path, pose), shift, turn in zip(poses.items(), shifts, turns, strict=True)
    }


def variances(linear, angular):
    """Of a length with this deviation in a uniform direction, along each axis."""
    return (max(linear, 1e-4) ** 2 / 3,) * 3 + (max(angular, 1e-4) ** 2 / 3,) * 3


def values_of(estimate, names):
    return np.array([estimate.configuration[name] for name in names])


def drawer_and_door():
    """A cabinet: a drawer that slides, and a door whose lever turns on it."""
    model = ArticulationModel()
    model.add("cabinet/links/body")
    drawer = PrismaticJoint(variable="cabinet/drawer", axis=(1.0, 0.0, 0.0), limits=Limits(lower=0.0, upper=0.4))
    door = RevoluteJoint(
        variable="cabinet/door",
        axis=(0.0, 0.0, 1.0),
        limits=Limits(lower=0.0, upper=1.6),
        parent_T_joint=Transform.from_xyz_rpy(xyz=(0.3, 0.4, 0.2), rpy=(0.0, 0.0, 0.0)),
        joint_T_child=Transform.from_xyz_rpy(xyz=(0.0, -0.4, 0.0), rpy=(0.0, 0.0, 0.0)),
    )
    lever = RevoluteJoint(variable="cabinet/lever", axis=(1.0, 0.0, 0.0), limits=Limits(lower=-0.8, upper=0.8))
    model.add("cabinet/links/drawer", drawer, "cabinet/links/body")
    model.add("cabinet/links/door", door, "cabinet/links/body")
    model.add("cabinet/links/lever", lever, "cabinet/links/door")
    return model
