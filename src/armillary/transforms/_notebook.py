"""What notebooks show of rotations and transforms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from armillary.notebook import card, facts, matrix, number, numbers, turn

if TYPE_CHECKING:
    from armillary._core import Rotation, Transform

__all__ = ["rotation_html", "transform_html", "transform_latex"]


def transform_html(transform: Transform) -> str:
    """Its matrix, and the same in fewer numbers."""
    rows = [("xyz", f"{numbers(transform.translation)} m"), *turn(transform.rotation)]
    return card("Transform", matrix(transform.matrix.tolist()), facts(rows))


def transform_latex(transform: Transform) -> str:
    """Its matrix."""
    rows = [" & ".join(number(value) for value in row) for row in transform.matrix.tolist()]
    return r"$\begin{bmatrix} " + r" \\ ".join(rows) + r" \end{bmatrix}$"


def rotation_html(rotation: Rotation) -> str:
    """Its matrix, angles and quaternion."""
    return card("Rotation", matrix(rotation.matrix.tolist()), facts(turn(rotation)))
