"""Checks of the numbers and arrays that shapes are made of."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armillary.errors import InvalidShape
from armillary.errors.format import short_repr

Floats = NDArray[np.float64]
Locked = NDArray[Any]

LARGEST_M = 1e100
"""The largest coordinate: the square of a larger one would overflow."""

_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))


def as_length_m(value: object, name: str) -> float:
    """Check a length: a finite number that is not below zero."""
    number = _as_number(value, name)
    if number < 0.0:
        raise InvalidShape(f"{name} is {short_repr(value)} m. Give a length that is not below zero.", value)
    return number


def _as_number(value: object, name: str) -> float:
    if type(value) is float and -LARGEST_M <= value <= LARGEST_M:
        return value + 0.0
    if not isinstance(value, Real) or isinstance(value, bool) or not -LARGEST_M <= value <= LARGEST_M:  # type: ignore[operator]
        raise InvalidShape(f"{name} is {short_repr(value)}. Give one finite number, at most {LARGEST_M:g}.", value)
    return float(value) + 0.0  # of minus zero this makes zero: equal shapes have equal digests


def as_triple(value: object, name: str) -> tuple[float, float, float]:
    """Check three finite numbers (x, y, z)."""
    try:
        x, y, z = tuple(value)  # type: ignore[arg-type, var-annotated]
    except (TypeError, ValueError):
        raise InvalidShape(f"{name} is {short_repr(value)}. Give three numbers (x, y, z).", value) from None
    return _as_number(x, f"{name}: x"), _as_number(y, f"{name}: y"), _as_number(z, f"{name}: z")


def as_points(value: ArrayLike, name: str, *, copy: bool) -> Locked:
    """Check finite points, and return them read-only: shape (N, 3), float32 or float64."""
    array = as_array(value, name)
    if array.size == 0 and array.ndim == 1:
        array = array.reshape(0, 3)
    if array.ndim != 2 or array.shape[1] != 3:  # noqa: PLR2004
        raise InvalidShape(f"{name} have the shape {array.shape}. Give (N, 3): one row x, y, z per point.", value)
    if array.dtype not in _FLOATS:
        if not copy:
            raise InvalidShape(f"{name}: {array.dtype} values must be copied. Give float64, or copy=True.", array)
        array = array.astype(np.float64)
    if array.size and not (float(array.min()) >= -LARGEST_M and float(array.max()) <= LARGEST_M):
        row = int(np.argmin((np.abs(array.astype(np.float64)) <= LARGEST_M).all(axis=1)))
        is_wrong = f"{name} are not finite, or beyond {LARGEST_M:g} m, in row {row}: {array[row]}."
        raise InvalidShape(f"{is_wrong} Leave such rows out.", value)
    return locked(array, name, copy=copy)


def as_array(value: ArrayLike, name: str) -> Locked:
    """Check numbers or booleans of any shape, and return them in the native byte order."""
    try:
        array = np.asanyarray(value)
    except ValueError:
        raise InvalidShape(f"{name}: rows differ in length. Give rows of one length.", value) from None
    if isinstance(array, np.ma.MaskedArray):
        raise InvalidShape(f"{name}: a masked array. Give what is not masked, as array.compressed() does.", value)
    if array.dtype.kind not in "biuf":
        raise InvalidShape(f"{name}: {array.dtype} values. Give plain numbers or booleans.", value)
    native = array.dtype.newbyteorder("=")
    return array if array.dtype == native else array.astype(native)


def locked(array: Locked, name: str, *, copy: bool) -> Locked:
    """Return an array read-only and contiguous; it is copied unless nobody can write to it, or `copy` is false."""
    if not array.flags.c_contiguous:
        if not copy:
            is_wrong = f"{name}: an array that is not contiguous must be copied."
            raise InvalidShape(f"{is_wrong} Give a contiguous one, or copy=True.", array)
        array = np.ascontiguousarray(array)
    elif copy and _is_writeable(array):
        array = array.copy()
    array.setflags(write=False)
    return array.view(np.ndarray)  # the flag of a view cannot be set back


def _is_writeable(array: Locked) -> bool:
    """Whether somebody can write to its memory: by this array, or by what it is a view of."""
    if array.flags.writeable:
        return True
    if array.base is None or isinstance(array.base, np.ndarray):
        return array.base is not None and _is_writeable(array.base)
    try:
        return not memoryview(array.base).readonly
    except TypeError:  # unknown
        return True
