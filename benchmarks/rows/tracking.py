"""One step of the tracker: 23 joints of a kitchen from 60 noisy poses, in CPU time; and its errors."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from armillary import Transform
from armillary.articulation import ArticulationModel, stack
from armillary.articulation.constraints import limits_of
from armillary.demos.models import kitchen
from armillary.motion import Tracker
from context import Bench
from table import Row

SAMPLES = 60
THESIS_MS = 10.6
MOST_US = 1e3 * THESIS_MS / 50
SIGMA_M, SIGMA_RAD = 0.0375, 0.0436


def rows(bench: Bench) -> Iterator[Row]:
    del bench
    model = ArticulationModel()
    model.add_robot(kitchen())
    links, variables = list(model.links()), list(model.variables())
    limits = limits_of(model.constraints(variables).values())
    lower, upper = np.array([limits[variable] for variable in variables]).T
    matrices = stack([model.pose(path).matrix for path in links]).compile(order=variables)
    random, tracker = np.random.default_rng(1), Tracker(model, links)
    sigma = np.array([SIGMA_M] * 3 + [SIGMA_RAD] * 3) / np.sqrt(3.0)
    spent_s, iterations, errors = 0.0, 0, []
    for _ in range(SAMPLES):
        truth = random.uniform(lower, upper)
        poses = [Transform.from_matrix(one) for one in matrices(truth).reshape(-1, 4, 4)]
        seen = {
            path: pose @ Transform.exp(sigma * random.normal(size=6)) for path, pose in zip(links, poses, strict=True)
        }
        begin = time.process_time()
        estimate = tracker.update(seen, covariances=sigma**2)
        spent_s += time.process_time() - begin
        iterations += estimate.iterations
        errors.append(np.abs([estimate.configuration[v.name] for v in variables] - truth).mean())
    yield Row.at_most("a step of the tracker, 23 joints, 60 poses", spent_s / iterations * 1e6, "µs", asked=MOST_US)
    yield Row.at_most("steps of a search", iterations / SAMPLES, "", asked=10.0)
    yield Row.at_most("mean error at 0.0375 m, 2.5 degrees", float(np.mean(errors)), "", asked=0.0305)
