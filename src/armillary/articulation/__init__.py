"""Mechanisms as mathematics: expressions of typed variables, with gradients that can be extended."""

from armillary.articulation.compiled import Compiled
from armillary.articulation.documents import expression_from_document, expression_from_tape, expression_to_document
from armillary.articulation.expressions import (
    DirectionExpression,
    Expression,
    MatrixExpression,
    PointExpression,
    PoseExpression,
    RotationExpression,
    VectorExpression,
)
from armillary.articulation.functions import (
    abs as abs,  # noqa: A004  (promised; a star import must not replace Python's own)
)
from armillary.articulation.functions import (
    acos,
    acosh,
    asin,
    asinh,
    atan,
    atan2,
    atanh,
    ceil,
    clip,
    cos,
    cosh,
    exp,
    floor,
    if_else,
    log,
    sign,
    sin,
    sinh,
    sqrt,
    tan,
    tanh,
)
from armillary.articulation.functions import (
    max as max,  # noqa: A004
)
from armillary.articulation.functions import (
    min as min,  # noqa: A004
)
from armillary.articulation.geometry import (
    cross,
    diagonal,
    dot,
    norm,
    pose,
    rotation_about,
    rotation_from_quaternion,
    rotation_from_rpy,
    stack,
    trace,
    translation,
)
from armillary.articulation.logic import greater, less, logical_and, logical_not, logical_or
from armillary.articulation.variables import Order, Variable, acceleration, jerk, position, velocity

__all__ = [
    "Compiled",
    "DirectionExpression",
    "Expression",
    "MatrixExpression",
    "Order",
    "PointExpression",
    "PoseExpression",
    "RotationExpression",
    "Variable",
    "VectorExpression",
    "acceleration",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "ceil",
    "clip",
    "cos",
    "cosh",
    "cross",
    "diagonal",
    "dot",
    "exp",
    "expression_from_document",
    "expression_from_tape",
    "expression_to_document",
    "floor",
    "greater",
    "if_else",
    "jerk",
    "less",
    "log",
    "logical_and",
    "logical_not",
    "logical_or",
    "norm",
    "pose",
    "position",
    "rotation_about",
    "rotation_from_quaternion",
    "rotation_from_rpy",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "stack",
    "tan",
    "tanh",
    "trace",
    "translation",
    "velocity",
]
