"""Expressions in the file of a model: documents, and plain numbers where they are nothing else."""

from __future__ import annotations

from typing import Any

from armillary.articulation._json._fields import ModelField
from armillary.articulation.documents import expression_from_document
from armillary.articulation.expressions import (
    DirectionExpression,
    Expression,
    MatrixExpression,
    PointExpression,
    PoseExpression,
    RotationExpression,
    VectorExpression,
)
from armillary.errors import InvalidExpression

__all__ = ["EXPRESSIONS", "decoded_expression"]

EXPRESSIONS = (
    DirectionExpression,
    Expression,
    MatrixExpression,
    PointExpression,
    PoseExpression,
    RotationExpression,
    VectorExpression,
)


def decoded_expression(field: ModelField, kind: type[Any]) -> Any:
    """The expression of this kind, or what is wrong with the field."""
    try:
        found = expression_from_document(field.value)
    except InvalidExpression as error:
        place = ".".join(part for part in (field.place, error.field.lstrip(".")) if part)
        raise field.error(field.file, place, error.reason) from None
    if type(found) is not kind:
        raise field.at("kind").refused(f"a {kind.__name__} is expected")
    return found
