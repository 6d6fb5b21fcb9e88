"""The base of all shapes: kind, fields, digest, bounds, and questions about points, rays and other shapes."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import cache, cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from armillary.errors import InvalidShape
from armillary.errors.format import short_repr
from armillary.shapes._checks import Floats, as_array
from armillary.transforms import Transform

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from armillary.shapes._convex import Convex
    from armillary.shapes.volumes import BoundingBox, BoundingSphere

# Shapes that come as near as this touch, and a point as near as this to a shape is in it.
TOUCH_M = 1e-9


class ShapeFields(NamedTuple):
    """The fields of a shape.

    Attributes:
        plain: Names to values that JSON can hold.
        arrays: Names to arrays.
    """

    plain: dict[str, Any]
    arrays: dict[str, NDArray[Any]]


class Shape(ABC):
    """The form of a thing, in a frame of its own; immutable.

    A new kind is one subclass: a frozen dataclass (`eq=False`) with a `kind`, whose fields are numbers, tuples of
    numbers and arrays, and the abstract methods below. Files, digests, equality and searches need nothing else. Its
    convex parts are `Hull`s, or the `convex` of another shape, `moved` to where it is.

    Two shapes are equal when they are of one kind and every number in them is the same, bit by bit and in the same
    precision; the digests of equal shapes are equal.
    """

    kind: ClassVar[str]
    """The name in files; unique."""

    _kinds: ClassVar[dict[str, type[Shape]]] = {}

    parts_are_skin: bool = False
    """Whether `convex_parts` are the surface of a solid, rather than the whole of it."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        kind = cls.__dict__.get("kind")
        if kind is None:
            return
        rival = Shape._kinds.get(kind)
        if rival is not None and (rival.__module__, rival.__qualname__) != (cls.__module__, cls.__qualname__):
            raise InvalidShape(f"The kind '{kind}' is taken by {rival.__qualname__}. Choose another name.", kind)
        Shape._kinds[kind] = cls

    @abstractmethod
    def bounding_sphere(self) -> BoundingSphere | None:
        """A sphere that contains all of it; None where there is nothing."""

    @abstractmethod
    def bounding_box(self) -> BoundingBox | None:
        """The smallest box along the axes that contains all of it; None where there is nothing."""

    @abstractmethod
    def contains(self, points: ArrayLike) -> NDArray[np.bool_]:
        """Which of these points, shape (N, 3), are in it: shape (N,). The surface belongs to it, to a nanometre."""

    @abstractmethod
    def ray_distance_m(self, origin: Floats, direction: Floats) -> float:
        """The distance along a ray at which it meets this shape: 0 from inside, infinity where it never does.

        Args:
            origin: Where the ray begins, shape (3,) [m].
            direction: A unit vector, shape (3,).
        """

    @abstractmethod
    def convex_parts(self, near: BoundingBox) -> Sequence[Convex]:
        """Convex bodies that together are this shape; those that do not meet `near` may be left out."""

    @property
    def convex(self) -> Convex | None:
        """The whole shape as one convex body; None where it is not convex."""
        return None

    @property
    def loose_points(self) -> NDArray[Any] | None:
        """Its points, shape (N, 3), where it consists of points alone; else None."""
        return None

    @property
    def number_of_points(self) -> int:
        """How many points, vertices or cells it is made of; 0 for what a few numbers describe."""
        return 0

    @property
    def resolution_m(self) -> float:
        """The typical distance between neighbouring points; 0 for what is described exactly."""
        return 0.0

    def overlaps(self, other: Shape, *, this_T_other: Transform) -> bool:
        """Whether the two have a point in common, or come within a nanometre of each other.

        >>> from armillary import Sphere, Transform
        >>> apart = Transform.from_xyz_rpy(xyz=(2.5, 0, 0), rpy=(0, 0, 0))
        >>> Sphere(1.0).overlaps(Sphere(1.0), this_T_other=apart)
        False
        """
        from armillary.shapes._convex import overlap  # noqa: PLC0415  (convex bodies need shapes)

        if not isinstance(other, Shape):
            raise InvalidShape(f"{short_repr(other)} is no shape. Give one, as Sphere(0.5).", other)
        if not isinstance(this_T_other, Transform):
            is_wrong = f"this_T_other is {short_repr(this_T_other)}."
            raise InvalidShape(f"{is_wrong} Give a Transform, as Transform.from_matrix(...) makes it.", this_T_other)
        return overlap(self, other, this_T_other)

    def to_fields(self) -> ShapeFields:
        """Return all its fields, for files."""
        plain: dict[str, Any] = {}
        arrays: dict[str, NDArray[Any]] = {}
        for name in _field_names(type(self)):
            value = getattr(self, name)
            if isinstance(value, np.ndarray):
                arrays[name] = value
            else:
                plain[name] = list(value) if isinstance(value, tuple) else value
        return ShapeFields(plain, arrays)

    @classmethod
    def from_fields(cls, plain: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Shape:
        """Make the shape with these fields, as `to_fields` returns them."""
        names = _field_names(cls)
        given = {**plain, **arrays}
        if given.keys() != set(names):
            is_wrong = f"A '{cls.kind}' has the fields {_listed(names)}, and {_listed(given)} were given."
            raise InvalidShape(f"{is_wrong} Give exactly its fields.", dict(plain))
        return cls(**given)

    @staticmethod
    def kinds() -> tuple[str, ...]:
        """The names of all kinds of shapes that are defined, in other modules too."""
        return tuple(sorted(Shape._kinds))

    @staticmethod
    def is_kind(name: str) -> bool:
        """Whether a kind of shape has this name."""
        return name in Shape._kinds

    @staticmethod
    def of_kind(kind: str, plain: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Shape:
        """Make a shape of the kind with this name, with these fields."""
        found = Shape._kinds.get(kind) if isinstance(kind, str) else None
        if found is None:
            there = f"No kind of shape is named {kind!r}. There are: {_listed(Shape._kinds)}."
            raise InvalidShape(f"{there} Import the module that defines another first.", kind)
        return found.from_fields(plain, arrays)

    def digest(self) -> bytes:
        """Thirty-two bytes that only equal shapes share (SHA-256 of kind, fields and arrays)."""
        return self._digest

    @cached_property
    def _digest(self) -> bytes:
        plain, arrays = self.to_fields()
        total = sha256(_canonical_fields(self.kind, plain))
        for name, array in sorted(arrays.items()):
            little = array.astype(array.dtype.newbyteorder("<"), copy=False)
            total.update(_canonical([name, little.dtype.str, list(little.shape)]))
            total.update(np.ascontiguousarray(little).data)
        return total.digest()

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Shape):
            return NotImplemented
        if type(self) is not type(other):
            return False
        mine, theirs = self.to_fields(), other.to_fields()
        if mine.plain != theirs.plain or mine.arrays.keys() != theirs.arrays.keys():
            return False
        return all(_is_same(mine.arrays[name], theirs.arrays[name]) for name in mine.arrays)

    def __hash__(self) -> int:
        return hash(self._digest)

    def __copy__(self) -> Shape:
        return self

    def __deepcopy__(self, memo: object) -> Shape:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        plain, arrays = self.to_fields()
        return Shape.of_kind, (self.kind, plain, arrays)


def as_rows(points: ArrayLike) -> Floats:
    """Check points that a shape is asked about, and return them as floats, shape (N, 3)."""
    rows = np.asarray(as_array(points, "The points"), dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != 3:  # noqa: PLR2004
        raise InvalidShape(f"The points have the shape {rows.shape}. Give (N, 3): one row x, y, z per point.", points)
    return rows


@cache
def _field_names(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"))


def _canonical(value: object) -> bytes:
    return _CANONICAL.encode(value).encode() + b"\n"


def _canonical_fields(kind: str, plain: Mapping[str, Any]) -> bytes:
    """The same as `_canonical([kind, plain])`; quick where all numbers are floats, as those of most shapes are."""
    parts = []
    for name in sorted(plain):
        value = plain[name]
        if type(value) is list and all(type(number) is float for number in value):
            parts.append(f'"{name}":[{",".join(map(repr, value))}]')
        elif type(value) is float:
            parts.append(f'"{name}":{value!r}')
        else:
            return _canonical([kind, plain])
    return f"[{json.dumps(kind)},{{{','.join(parts)}}}]\n".encode()


def _listed(names: Any) -> str:
    return ", ".join(f"'{name}'" for name in sorted(names)) or "none"


def _is_same(a: NDArray[Any], b: NDArray[Any]) -> bool:
    if (a.dtype, a.shape) != (b.dtype, b.shape):
        return False
    return a is b or bool(np.array_equal(a.reshape(-1).view(np.uint8), b.reshape(-1).view(np.uint8)))
