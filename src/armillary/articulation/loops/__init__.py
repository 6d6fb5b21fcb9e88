"""Kinematic loops: parts that meet again, and the variables that follow from it."""

from armillary.articulation.loops.closure import Closure
from armillary.articulation.loops.solver import LoopSolver
from armillary.articulation.loops.together import Loops, check_loops

__all__ = ["Closure", "LoopSolver", "Loops", "check_loops"]
