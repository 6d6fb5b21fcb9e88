"""Levels of detail: one thing at several resolutions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import SupportsIndex

from armillary.errors import InvalidShape
from armillary.errors.format import short_repr
from armillary.shapes._shape import Shape

SHARP_RAD = 1e-3
"""The angle that a viewer can tell apart by default: about a pixel of a camera."""


@dataclass(frozen=True)
class Levels(Sequence[Shape]):
    """One thing at several resolutions, the finest first.

    What a level leaves out is no larger than its error. The error of the finest is its `resolution_m`; so is that of
    the others, but one that has none (a `Box` in place of a cloud) errs by its whole size. No level errs by less than
    the finer ones.

    Attributes:
        shapes: The finest first; at least one.
        is_always: Whether the thing has looked like this at all times: then it never expires.

    >>> from armillary import Box, Mesh
    >>> cube = Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)])
    >>> Levels((cube, Box((1, 1, 1)))).with_at_most(2)
    Box(size_m=(1.0, 1.0, 1.0))
    """

    shapes: tuple[Shape, ...]
    is_always: bool = False

    def __post_init__(self) -> None:
        shapes = tuple(self.shapes) if isinstance(self.shapes, Iterable) else (self.shapes,)
        strange = [shape for shape in shapes if not isinstance(shape, Shape)]
        if strange or not shapes:
            is_wrong = f"{short_repr(strange[0])} is no shape." if strange else "No level was given."
            raise InvalidShape(f"{is_wrong} Give shapes, the finest first.", strange[0] if strange else None)
        object.__setattr__(self, "shapes", shapes)
        if len(shapes) == 1:
            return
        numbers = [shape.number_of_points for shape in self.shapes]
        if numbers != sorted(numbers, reverse=True):
            raise InvalidShape(f"The levels have {numbers} points. Give the finest first.", self.shapes)

    def __len__(self) -> int:
        return len(self.shapes)

    def __iter__(self) -> Iterator[Shape]:
        return iter(self.shapes)

    def __getitem__(self, level: int) -> Shape:  # type: ignore[override]
        """Level 0 is the finest."""
        if isinstance(level, bool) or not isinstance(level, SupportsIndex) or not 0 <= level < len(self.shapes):
            is_wrong = f"There is no level {short_repr(level)}: this has {len(self.shapes)}."
            raise InvalidShape(f"{is_wrong} Ask for 0, the finest, to {len(self.shapes) - 1}.", level)
        return self.shapes[level]

    def with_at_most(self, max_points: int) -> Shape:
        """The finest level with at most so many points; the coarsest where all have more."""
        if not isinstance(max_points, Real):
            raise InvalidShape(f"max_points is {short_repr(max_points)}. Give a number of points.", max_points)
        fitting = (shape for shape in self.shapes if shape.number_of_points <= max_points)
        return next(fitting, self.shapes[-1])

    def seen_from(self, distance_m: float, *, sharp_rad: float = SHARP_RAD) -> Shape:
        """The coarsest level that looks like the finest from so far away.

        Its error is seen under an angle of at most `sharp_rad`; the finest where no level is so good.
        """
        if not isinstance(distance_m, Real) or not distance_m >= 0.0:
            is_wrong = f"A viewer at {short_repr(distance_m)} m is nowhere."
            raise InvalidShape(f"{is_wrong} Give a distance, not below zero.", distance_m)
        if not isinstance(sharp_rad, Real) or not 0.0 <= sharp_rad < math.pi / 2.0:
            raise InvalidShape(f"sharp_rad is {short_repr(sharp_rad)}. Give an angle below a right one.", sharp_rad)
        hidden_m = distance_m * math.tan(sharp_rad)
        fitting = [shape for shape, error_m in zip(self.shapes, self.errors_m, strict=True) if error_m <= hidden_m]
        return fitting[-1] if fitting else self.shapes[0]

    @cached_property
    def errors_m(self) -> tuple[float, ...]:
        """By how much each level may differ from the thing [m], never less than the finer one."""
        errors_m = [self.shapes[0].resolution_m]
        for shape in self.shapes[1:]:
            errors_m.append(max(errors_m[-1], shape.resolution_m or _size_m(shape)))
        return tuple(errors_m)


def _size_m(shape: Shape) -> float:
    sphere = shape.bounding_sphere()
    return 0.0 if sphere is None else 2.0 * sphere.radius_m
