"""Expressions of typed variables. casadi is inside and stays there."""

from armillary.articulation.expressions.base import Expression
from armillary.articulation.expressions.matrix import MatrixExpression, RotationExpression
from armillary.articulation.expressions.pose import PoseExpression
from armillary.articulation.expressions.vector import DirectionExpression, PointExpression, VectorExpression

__all__ = [
    "DirectionExpression",
    "Expression",
    "MatrixExpression",
    "PointExpression",
    "PoseExpression",
    "RotationExpression",
    "VectorExpression",
]
