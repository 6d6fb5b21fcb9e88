"""Vectors as three floats: for a few of them, numpy takes longer to call than to compute."""

from __future__ import annotations

Vector = tuple[float, float, float]


def dot(a: Vector, b: Vector) -> float:
    """The inner product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def minus(a: Vector, b: Vector) -> Vector:
    """The way from b to a."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def along(a: Vector, way: Vector, share: float) -> Vector:
    """The point reached from a by a share of the way."""
    return a[0] + way[0] * share, a[1] + way[1] * share, a[2] + way[2] * share


def cross(a: Vector, b: Vector) -> Vector:
    """The outer product."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]
