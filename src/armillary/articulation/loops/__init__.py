"""Kinematic loops: parts that meet again, and the variables that follow from it."""

from armillary.articulation.loops.closure import Closure
from armillary.articulation.loops.solver import LoopSolver

__all__ = ["Closure", "LoopSolver"]
