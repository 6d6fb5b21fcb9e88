"""Values of numpy and of other libraries: transforms and rotations as matrices, points in every common form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from armillary._core import Rotation, Transform
from armillary.errors import InvalidArgument
from armillary.errors.format import short_repr
from armillary.stamps import as_stamps

if TYPE_CHECKING:
    from numpy import float64, int64
    from numpy.typing import NDArray

__all__ = ["PointForm", "PoseMessage", "TransformMessage", "matrices_in", "transform_in"]

_MATRIX_NAMES = ("homogeneous", "as_matrix", "matrix")  # of pinocchio; of scipy and jaxlie; of Sophus
_XYZ = ("x", "y", "z")
_MESSAGES = (("translation", "rotation"), ("position", "orientation"))  # of ROS: Transform, Pose
_WITH_EXTRA = 4


class TransformMessage(Protocol):
    """A message as `geometry_msgs/Transform`: a vector with x, y, z and a quaternion with x, y, z, w."""

    @property
    def translation(self) -> Any:
        """The vector."""

    @property
    def rotation(self) -> Any:
        """The quaternion."""


class PoseMessage(Protocol):
    """A message as `geometry_msgs/Pose`: a point with x, y, z and a quaternion with x, y, z, w."""

    @property
    def position(self) -> Any:
        """The point."""

    @property
    def orientation(self) -> Any:
        """The quaternion."""


def matrices_in(value: Any) -> Any:
    """Return the matrices that a transform or rotation of another library holds; any other value as it is."""
    if isinstance(value, np.ndarray | Sequence):
        return value
    for name in _MATRIX_NAMES:
        part = getattr(value, name, None)
        if part is not None:
            return part() if callable(part) else part
    return value


def transform_in(value: Any) -> Transform | None:
    """Return a (4, 4) matrix, a message, a transform or rotation of another library as a `Transform`; else None."""
    message = _of_message(value)
    if message is not None:
        return message
    held = matrices_in(value)
    if not (isinstance(held, Sequence) or hasattr(held, "__array__")):
        return None
    try:
        matrix = np.asarray(held, dtype=float)
    except (TypeError, ValueError, OverflowError):
        return None
    if matrix.shape == (4, 4):
        return Transform.from_matrix(matrix)
    is_rotation = matrix.shape == (3, 3) and held is not value  # an array may be anything
    return Transform.from_rotation(Rotation.from_matrix(matrix), xyz=(0.0, 0.0, 0.0)) if is_rotation else None


def _of_message(value: Any) -> Transform | None:
    for linear, angular in _MESSAGES:
        t, q = getattr(value, linear, None), getattr(value, angular, None)
        if all(hasattr(t, name) for name in _XYZ) and all(hasattr(q, name) for name in (*_XYZ, "w")):
            return Transform.from_xyz_xyzw(xyz=(t.x, t.y, t.z), xyzw=(q.x, q.y, q.z, q.w))  # type: ignore[union-attr]
    return None


class PointForm:
    """The form of some points: their numbers as rows, and mapped rows in the same form again.

    Args:
        points: (3,), (N, 3), (H, W, 3) and so on; (N, 4), whose fourth number is carried along; or a structured array
            with the fields x, y and z, whose other fields are carried along.

    Attributes:
        rows: The points as float64, (N, 3); (3,) of one point.
    """

    def __init__(self, points: Any) -> None:
        if isinstance(points, Transform | Rotation):
            raise InvalidArgument(f"points must have shape (N, 3), got {points!r}.", points)
        try:
            self._given = np.asarray(points)
        except ValueError:
            self._given = np.empty(0, dtype=object)
        is_structured = self._given.dtype.names is not None
        columns = self._fields(points) if is_structured else self._columns(points)
        self._lead = columns.shape[:-1]
        self.rows = np.ascontiguousarray(columns if columns.ndim == 1 else columns.reshape(-1, 3))

    def _columns(self, points: Any) -> NDArray[float64]:
        given = self._given
        if given.dtype.kind not in "fiub":
            raise InvalidArgument(f"points must be numbers of shape (N, 3), got {short_repr(points)}.", points)
        if given.ndim <= 1 and given.shape != (3,):
            raise InvalidArgument(f"point must have shape (3,), got {given.shape}.", points)
        if given.shape[-1] not in {3, _WITH_EXTRA}:
            raise InvalidArgument(
                f"points must have shape (N, 3), got {given.shape}. Also possible: (H, W, 3), (N, 4), whose fourth "
                "number is carried along, and structured arrays with the fields x, y and z.",
                points,
            )
        if given.shape == (4, 4) and np.array_equal(given[3], (0, 0, 0, 1)):
            raise InvalidArgument(
                "points must have shape (N, 3), and this looks like a homogeneous matrix: Transform.from_matrix(...).",
                points,
            )
        return given[..., :3].astype(np.float64)

    def _fields(self, points: Any) -> NDArray[float64]:
        given = self._given
        kinds = {name: given.dtype[name] for name in _XYZ if name in (given.dtype.names or ())}
        if len(kinds) != len(_XYZ) or any(kind.kind != "f" or kind.shape for kind in kinds.values()):
            raise InvalidArgument(
                f"points must have the fields x, y and z of floats, got the dtype {given.dtype}.", points
            )
        return np.stack([given[name].astype(np.float64) for name in _XYZ], axis=-1)

    def flat(self, at: Any) -> NDArray[int64]:
        """Return the instants of the rows: one for each point, in the form of the points."""
        is_alike = len(self._lead) > 1 and np.shape(at) == self._lead
        return as_stamps(np.reshape(at, -1) if is_alike else at)

    def restored(self, mapped: NDArray[float64]) -> NDArray[Any]:
        """Return mapped rows in the form that the points had; numbers other than float32 are float64."""
        given = self._given
        if given.dtype.names is not None:
            result = given.copy()
            for name, column in zip(_XYZ, np.moveaxis(mapped.reshape(*self._lead, 3), -1, 0), strict=True):
                result[name] = column
            return result
        kind = np.float32 if given.dtype == np.float32 else np.float64
        if given.shape[-1] == len(_XYZ):
            return mapped.reshape(given.shape).astype(kind, copy=False)
        result = given.astype(kind)
        result[..., :3] = mapped.reshape(*self._lead, 3)
        return result
