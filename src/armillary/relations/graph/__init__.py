"""The time-free graph of poses and twists between bodies, which rejects what would contradict itself."""

from armillary.relations.graph._graph import RelationGraph
from armillary.relations.graph._queries import Measurement

__all__ = ["Measurement", "RelationGraph"]
