"""What a document of an expression looks like."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from armillary.articulation.expressions import (
    DirectionExpression,
    Expression,
    MatrixExpression,
    PointExpression,
    PoseExpression,
    RotationExpression,
    VectorExpression,
)
from armillary.articulation.expressions._base import Symbolic

__all__ = ["DEEPEST", "KINDS", "VERSION", "Document", "digest_of"]

Document = dict[str, Any]

VERSION = 1
DEEPEST = 64
"""How deep chains may stand in chains."""

KINDS: dict[str, tuple[type[Symbolic[Any]], tuple[int | None, int | None]]] = {
    "Expression": (Expression, (1, 1)),
    "VectorExpression": (VectorExpression, (None, 1)),
    "PointExpression": (PointExpression, (3, 1)),
    "DirectionExpression": (DirectionExpression, (3, 1)),
    "MatrixExpression": (MatrixExpression, (None, None)),
    "RotationExpression": (RotationExpression, (3, 3)),
    "PoseExpression": (PoseExpression, (4, 4)),
}
"""By name: the class, and its rows and columns where those are fixed."""


def digest_of(document: Document) -> str:
    """The checksum of everything in it but the checksum."""
    rest = {key: value for key, value in document.items() if key != "digest"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()
