"""Joints: checked covariances, and the mechanisms that complete what is set of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from armillary.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy import float64
    from numpy.typing import ArrayLike, NDArray

    from armillary.store.store import Store
    from armillary.transforms import JointState

__all__ = ["Mechanisms", "as_joint_covariance", "complete_joint_series", "complete_joints", "wheels_turned"]

_SYMMETRIC_TO = 1e-9


class Mechanisms(Protocol):
    """Completes joints that follow from others; `armillary.articulation.mounts.Mounts` does so for mounted models."""

    def complete(
        self, joints: Mapping[str, float], at: int, covariance: ArrayLike | None
    ) -> tuple[dict[str, float], ArrayLike | None]:
        """Return these joints and those that follow from them because a kinematic loop is closed."""

    def complete_series(
        self, names: Sequence[str], positions: ArrayLike, at: ArrayLike, velocities: ArrayLike | None
    ) -> tuple[list[str], ArrayLike, ArrayLike | None]:
        """Return names, positions and velocities with the columns of joints that follow."""

    def polished(self, name: str, state: JointState) -> JointState:
        """Return the state of a joint with its kinematic loops closed, which interpolation only approximates."""

    def wheels_turned(self, at: int, source: str | None) -> None:
        """Move the bases whose wheels got a velocity."""

    def check_undo(self, tag: str, *, redo: bool) -> None:
        """Refuse to undo or redo a change with this tag, where the model does it."""

    def undone(self, tag: str, *, redo: bool) -> None:
        """Follow the undo or redo of a change with this tag."""


def complete_joints(
    store: Store, joints: Mapping[str, float], at: int, covariance: ArrayLike | None
) -> tuple[Mapping[str, float], ArrayLike | None]:
    """Add the joints that follow from these."""
    mechanisms = store.mechanisms
    return (joints, covariance) if mechanisms is None else mechanisms.complete(joints, at, covariance)


def complete_joint_series(
    store: Store, names: Sequence[str], positions: ArrayLike, at: ArrayLike, velocities: ArrayLike | None
) -> tuple[Sequence[str], ArrayLike, ArrayLike | None]:
    """Add the joints that follow from these, for many instants."""
    mechanisms = store.mechanisms
    if mechanisms is None:
        return names, positions, velocities
    return mechanisms.complete_series(names, positions, at, velocities)


def wheels_turned(store: Store, at: int, source: str | None) -> None:
    """Move the bases whose wheels got a velocity."""
    if store.mechanisms is not None:
        store.mechanisms.wheels_turned(at, source)


def as_joint_covariance(covariance: Any, count: int, with_velocities: bool) -> NDArray[float64]:  # noqa: FBT001
    """Return a checked (k, k), or (2k, 2k) of positions and velocities; k numbers are variances."""
    import numpy as np  # noqa: PLC0415  (`import armillary` does not need it)

    try:
        given = np.asarray(covariance, dtype=float)
    except (TypeError, ValueError, OverflowError):
        given = np.empty(0)
    sizes = (count, 2 * count) if with_velocities else (count,)
    matrix = np.diag(given) if given.ndim == 1 else given
    scale = float(np.abs(matrix).max(initial=0.0))
    is_square = matrix.shape in {(size, size) for size in sizes}
    is_symmetric = is_square and bool(np.isfinite(matrix).all())
    is_symmetric = is_symmetric and bool(np.abs(matrix - matrix.T).max() <= _SYMMETRIC_TO * scale)
    if not is_symmetric or np.linalg.eigvalsh(matrix).min() < -_SYMMETRIC_TO * scale:
        raise InvalidArgument(
            f"covariance must be {count} variances, or ({count}, {count}), finite, symmetric and positive "
            "semi-definite, in the order of the joints (twice as many with velocities: positions first), got "
            f"{covariance!r}. Nothing was stored.",
            covariance,
        )
    return matrix
