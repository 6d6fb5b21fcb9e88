"""Relations that a graph could tell already: kept as measurements, with how far they are from what it tells."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy import float64
from numpy.typing import NDArray  # noqa: TC002 - of a public signature

from armillary.errors import NotConnected
from armillary.errors.relations import NoTwistPath, NoValue
from armillary.relations import _graph_queries as queries
from armillary.relations._graph_store import GraphStore
from armillary.relations._graph_views import basic_pose
from armillary.relations._pose import Pose
from armillary.relations._twist import Twist


@dataclass(frozen=True, slots=True)
class Measurement:
    """A relation that was said, beside what the graph tells without it.

    Attributes:
        relation: What was said.
        derived: The same relation from the graph, or None where the path is gone.
    """

    relation: Pose | Twist
    derived: Pose | Twist | None

    @property
    def residual(self) -> NDArray[float64] | None:
        """How far the two are apart, shape (6,), or None where nothing is derived.

        For poses the loop's closure, log(derived^-1 measured): translation [m], then rotation [rad], in the frame
        the pose is of. For twists measured minus derived: linear [m/s], then angular [rad/s].
        """
        if isinstance(self.relation, Pose) and isinstance(self.derived, Pose):
            return (self.derived.transform.inverse() @ self.relation.transform).log()
        if isinstance(self.relation, Twist) and isinstance(self.derived, Twist):
            return _numbers(self.relation) - _numbers(self.derived)
        return None


def measured(store: GraphStore, relation: Pose | Twist) -> Measurement:
    """Keeps a relation as a measurement, in place of an older one of the same."""
    measurement = Measurement(relation, derived(store, relation))
    store.measured[key(relation)] = relation
    return measurement


def key(relation: Pose | Twist) -> tuple[str, ...]:
    """What is measured, whatever its value."""
    if isinstance(relation, Pose):
        return "pose", relation.of, relation.in_frame
    return "twist", relation.point, relation.body, relation.reference_body


def derived(store: GraphStore, relation: Pose | Twist) -> Pose | Twist | None:
    """The relation as the graph tells it; None where it does not (any more)."""
    try:
        if isinstance(relation, Pose):
            return basic_pose(store, relation.of, relation.in_frame)
        return queries.twist(store, relation.point, relation.body, relation.reference_body, relation.expressed_in)
    except (NotConnected, NoTwistPath, NoValue):
        return None


def _numbers(twist: Twist) -> NDArray[float64]:
    return np.concatenate([twist.linear, twist.angular])
