"""What notebooks show of rotations and transforms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from armillary.notebook import card, facts, matrix, number

if TYPE_CHECKING:
    from armillary._core import Rotation, Transform

__all__ = ["numbers", "rotation_html", "transform_html", "transform_latex", "turn"]


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


def turn(rotation: Rotation) -> list[tuple[str, str]]:
    """A rotation in two ways."""
    return [("rpy", f"{numbers(np.degrees(rotation.rpy))} deg"), ("wxyz", numbers(rotation.wxyz))]


def numbers(values: Any) -> str:
    """One after the other."""
    return ", ".join(number(value) for value in np.asarray(values, dtype=float).tolist())
