"""Many points, directions, poses or wrenches at once, in another frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from armillary.errors import InvalidArgument
from armillary.transforms import Transform

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy import float64
    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[float64]

_NOT_UNIT = 0.01  # of the squared length, as for every quaternion that comes in
WIDTHS = {"points": 3, "directions": 3, "poses": 7, "wrenches": 6, "twists": 6}


def as_pose_rows(values: Any) -> tuple[Any, bool]:
    """Matrices, (4, 4) or (N, 4, 4), as rows of (xyz, wxyz); anything else as it is. And whether they were matrices."""
    try:
        matrices = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return values, False
    if matrices.shape[-2:] != (4, 4):
        return values, False
    rows = [Transform.from_matrix(matrix).xyz_wxyz for matrix in matrices.reshape(-1, 4, 4)]
    return np.reshape(rows, (*matrices.shape[:-2], 7)), True


def as_matrices(rows: Array) -> Array:
    """(..., 4, 4) of poses (xyz, wxyz)."""
    turned = rotated(np.repeat(rows.reshape(-1, 7)[:, 3:], 3, axis=0), np.tile(np.eye(3), (rows.size // 7, 1)))
    matrices = np.zeros((*rows.shape[:-1], 4, 4))
    matrices[..., :3, :3] = turned.reshape(*rows.shape[:-1], 3, 3).swapaxes(-1, -2)
    matrices[..., :3, 3], matrices[..., 3, 3] = rows[..., :3], 1.0
    return matrices


def as_rows(values: ArrayLike, kind: str) -> Array:
    """(N, width of the kind) float64, finite."""
    if not isinstance(kind, str) or kind not in WIDTHS:
        raise InvalidArgument(f"kind must be one of {', '.join(WIDTHS)}, got {kind!r}.", kind)
    try:
        rows = np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        rows = np.empty(0)
    if rows.ndim not in {1, 2} or rows.shape[-1] != WIDTHS[kind] or not np.isfinite(rows).all():
        raise InvalidArgument(
            f"{kind} must be finite numbers of shape ({WIDTHS[kind]},) or (N, {WIDTHS[kind]}), got shape {rows.shape}.",
            values,
        )
    if kind == "poses":
        _make_unit(rows[..., 3:])
    return rows


def _make_unit(wxyz: Array) -> None:
    """In place; refused where it would hide a mistake."""
    squared = np.sum(wxyz * wxyz, axis=-1, keepdims=True)
    if (np.abs(squared - 1.0) > _NOT_UNIT).any():
        raise InvalidArgument("A quaternion (w, x, y, z) of the poses is not of unit length. Normalise it.", wxyz)
    wxyz /= np.sqrt(squared)


def expressed_rows(rows: Array, kind: str, xyz_wxyz: Array) -> Array:
    """The rows in the other frame.

    Args:
        rows: (N, k) in the frame they come from.
        kind: What they are: "points", "directions", "poses" (xyz, wxyz), "wrenches" (force, torque about the origin),
            "twists" (linear, angular, along the axes of the frame).
        xyz_wxyz: (N, 7) or (1, 7): the frame they come from, seen from the other.
    """
    return _HOW[kind](rows, xyz_wxyz[:, :3], xyz_wxyz[:, 3:])


def rotated(wxyz: Array, vectors: Array) -> Array:
    """Row by row: v + 2 w (u x v) + 2 u x (u x v)."""
    w, u = wxyz[:, :1], wxyz[:, 1:]
    twice = 2.0 * np.cross(u, vectors)
    turned: Array = vectors + w * twice + np.cross(u, twice)
    return turned


def product(a: Array, b: Array) -> Array:
    """Quaternions row by row, scalar first."""
    w, u, x, v = a[:, :1], a[:, 1:], b[:, :1], b[:, 1:]
    scalar = w * x - np.sum(u * v, axis=1, keepdims=True)
    return np.hstack([scalar, w * v + x * u + np.cross(u, v)])


def _points(rows: Array, xyz: Array, wxyz: Array) -> Array:
    return rotated(wxyz, rows) + xyz


def _directions(rows: Array, _: Array, wxyz: Array) -> Array:
    return rotated(wxyz, rows)


def _poses(rows: Array, xyz: Array, wxyz: Array) -> Array:
    wxyz = np.broadcast_to(wxyz, (len(rows), 4))
    return np.hstack([_points(rows[:, :3], xyz, wxyz), product(wxyz, rows[:, 3:])])


def _wrenches(rows: Array, xyz: Array, wxyz: Array) -> Array:
    """Torque about the new origin: R tau + p x R f."""
    force = rotated(wxyz, rows[:, :3])
    return np.hstack([force, rotated(wxyz, rows[:, 3:]) + np.cross(xyz, force)])


def _twists(rows: Array, _: Array, wxyz: Array) -> Array:
    return np.hstack([rotated(wxyz, rows[:, :3]), rotated(wxyz, rows[:, 3:])])


_HOW: dict[str, Callable[[Array, Array, Array], Array]] = {
    "points": _points,
    "directions": _directions,
    "poses": _poses,
    "wrenches": _wrenches,
    "twists": _twists,
}


def pose_covariances(covariances: Array, poses: Array, covariance_of_frame: Array) -> Array:
    """(N, 6, 6) in the tangent of each pose: its own, and that of the frame it was given in over the lever arm.

    The frame has one covariance, (6, 6), or one for each row, (N, 6, 6).

    With T = mean Exp(xi) a product on the left leaves a covariance as it is; the error of the left factor arrives
    through Ad(b_T_c^-1).
    """
    J = np.reshape([_adjoint_of_inverse(row) for row in poses], (-1, 6, 6))
    total: Array = covariances + J @ covariance_of_frame @ J.transpose(0, 2, 1)
    return total


def _adjoint_of_inverse(row: Array) -> Array:
    R = rotated(np.broadcast_to(row[3:], (3, 4)), np.eye(3)).T
    x, y, z = row[:3]
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.block([[R.T, -R.T @ cross], [np.zeros((3, 3)), R.T]])
