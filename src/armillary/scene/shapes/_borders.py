"""What comes from outside is checked here, once, and refused with a sentence."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armillary.errors import InvalidShape

Floats = NDArray[np.float64]
Locked = NDArray[Any]

_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))


def as_length_m(value: object, name: str) -> float:
    """A finite number that is not below zero."""
    number = _as_number(value, name)
    if number < 0.0:
        raise InvalidShape(f"{name} is {value!r} m. Give a length that is not below zero.", value)
    return number


def _as_number(value: object, name: str) -> float:
    if not isinstance(value, Real) or isinstance(value, bool) or not math.isfinite(value):
        raise InvalidShape(f"{name} is {value!r}. Give one finite number.", value)
    return float(value) + 0.0  # of minus zero this makes zero: equal shapes have equal digests


def as_triple(value: object, name: str) -> tuple[float, float, float]:
    """Three finite numbers (x, y, z)."""
    try:
        x, y, z = tuple(value)  # type: ignore[arg-type, var-annotated]
    except (TypeError, ValueError):
        raise InvalidShape(f"{name} is {value!r}. Give three numbers (x, y, z).", value) from None
    return _as_number(x, f"x of {name}"), _as_number(y, f"y of {name}"), _as_number(z, f"z of {name}")


def as_points(value: ArrayLike, name: str, *, copy: bool) -> Locked:
    """Finite points, shape (N, 3), float32 or float64, read-only."""
    array = as_array(value, name)
    if array.size == 0 and array.ndim == 1:
        array = array.reshape(0, 3)
    if array.ndim != 2 or array.shape[1] != 3:  # noqa: PLR2004
        raise InvalidShape(f"{name} have the shape {array.shape}. Give (N, 3): one row x, y, z per point.", value)
    if array.dtype not in _FLOATS:
        array = _converted(array, name, np.dtype(np.float64), copy=copy)
    if not np.isfinite(array).all():
        row = int(np.argmin(np.isfinite(array).all(axis=1)))
        raise InvalidShape(f"{name} has no finite numbers in row {row}: {array[row]}. Leave such rows out.", value)
    return locked(array, name, copy=copy)


def as_array(value: ArrayLike, name: str) -> Locked:
    """Numbers or booleans, of any shape, in the byte order of this machine."""
    try:
        array = np.asanyarray(value)
    except ValueError:
        raise InvalidShape(f"{name} is no array: its rows differ in length. Give rows of one length.", value) from None
    if array.dtype.kind not in "biuf" or isinstance(array, np.ma.MaskedArray):
        raise InvalidShape(f"{name} holds {array.dtype} values. Give plain numbers or booleans.", value)
    native = array.dtype.newbyteorder("=")
    return array if array.dtype == native else array.astype(native)


def _converted(array: Locked, name: str, dtype: np.dtype[Any], *, copy: bool) -> Locked:
    if not copy:
        raise InvalidShape(
            f"{name} holds {array.dtype} values, which must be copied. Give {dtype}, or copy=True.", array
        )
    return array.astype(dtype)


def locked(array: Locked, name: str, *, copy: bool) -> Locked:
    """Read-only and contiguous; without a copy where nobody can write to it, or where the caller gives it away."""
    if not array.flags.c_contiguous:
        array = _contiguous(array, name, copy=copy)
    elif array.flags.writeable and copy:
        array = array.copy()
    array.setflags(write=False)
    return array.view(np.ndarray)  # the flag of a view cannot be set back


def _contiguous(array: Locked, name: str, *, copy: bool) -> Locked:
    if not copy:
        raise InvalidShape(
            f"{name} is not contiguous and must be copied. Give a contiguous array, or copy=True.", array
        )
    return np.ascontiguousarray(array)
