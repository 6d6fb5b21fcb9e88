"""Joints: checked covariances, and the mechanisms that complete what is set of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from armillary.errors import InvalidArgument
from armillary.errors.format import short_repr

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy import float64, int64
    from numpy.typing import ArrayLike, NDArray

    from armillary.store.admitting import Follower
    from armillary.store.store import Store
    from armillary.transforms import JointState

__all__ = [
    "Mechanisms",
    "as_joint_covariance",
    "as_joint_covariances",
    "complete_joint_series",
    "complete_joints",
    "joints_came",
    "wheels_turned",
    "with_exact",
]

_SYMMETRIC_TO = 1e-9
_ONE_EACH = 3  # dimensions


class Mechanisms(Protocol):
    """Completes joints that follow from others; `armillary.articulation.mounts.Mounts` does so for mounted models."""

    @property
    def followers(self) -> Mapping[str, Follower]:
        """By name, the joints that follow a variable by a factor and have none of their own."""

    @property
    def limits(self) -> Mapping[str, tuple[float, float]]:
        """By name of a joint, its lower and upper limit; infinite where there is none."""

    def complete(
        self, joints: Mapping[str, float], at: int, covariance: ArrayLike | None
    ) -> tuple[dict[str, float], ArrayLike | None]:
        """Return these joints and those that follow from them because a kinematic loop is closed."""

    def complete_series(
        self, names: Sequence[str], positions: ArrayLike, stamps: NDArray[int64], velocities: ArrayLike | None
    ) -> tuple[list[str], ArrayLike, ArrayLike | None]:
        """Return names, positions and velocities with the columns of joints that follow."""

    def joints_came(self, first: int, last: int, count: int, source: str | None) -> None:
        """Bring later samples of joints that follow in line with `count` new ones, from `first` until `last`."""

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
    store: Store, names: Sequence[str], positions: ArrayLike, stamps: NDArray[int64], velocities: ArrayLike | None
) -> tuple[Sequence[str], ArrayLike, ArrayLike | None]:
    """Add the joints that follow from these, for many instants."""
    mechanisms = store.mechanisms
    if mechanisms is None:
        return names, positions, velocities
    return mechanisms.complete_series(names, positions, stamps, velocities)


def joints_came(store: Store, first: int, last: int, count: int, source: str | None) -> None:
    """Bring later samples of joints that follow from others in line with new ones."""
    if store.mechanisms is not None:
        store.mechanisms.joints_came(first, last, count, source)


def wheels_turned(store: Store, at: int, source: str | None) -> None:
    """Move the bases whose wheels got a velocity."""
    if store.mechanisms is not None:
        store.mechanisms.wheels_turned(at, source)


def as_joint_covariance(covariance: Any, count: int, with_velocities: bool) -> NDArray[float64]:  # noqa: FBT001
    """Return a checked (k, k), or (2k, 2k) of positions and velocities; k numbers are variances."""
    try:
        given = np.asarray(covariance, dtype=float)
    except (TypeError, ValueError, OverflowError):
        given = np.empty(0)
    return _checked(np.diag(given) if given.ndim == 1 else given, (), count, with_velocities, covariance)


def as_joint_covariances(
    covariance: Any,
    rows: int,
    count: int,
    with_velocities: bool,  # noqa: FBT001
    added: int,
) -> NDArray[float64]:
    """Return a checked (N, k, k), or (1, k, k) for all rows alike, with the `added` joints that follow from these."""
    try:
        given = np.asarray(covariance, dtype=float)
    except (TypeError, ValueError, OverflowError):
        given = np.empty(0)
    if given.ndim == _ONE_EACH:
        matrices = _checked(given, (rows,), count, with_velocities, covariance)
    else:
        matrices = as_joint_covariance(covariance, count, with_velocities)[np.newaxis]
    return np.ascontiguousarray(with_exact(matrices, count, added))


def _checked(
    matrices: NDArray[float64],
    lead: tuple[int, ...],
    count: int,
    with_velocities: bool,  # noqa: FBT001
    given: Any,
) -> NDArray[float64]:
    sizes = (count, 2 * count) if with_velocities else (count,)
    scale = float(np.abs(matrices).max(initial=0.0))
    is_square = matrices.shape in {(*lead, size, size) for size in sizes}
    is_symmetric = is_square and bool(np.isfinite(matrices).all())
    is_symmetric = is_symmetric and bool(
        np.abs(matrices - np.swapaxes(matrices, -1, -2)).max(initial=0.0) <= _SYMMETRIC_TO * scale
    )
    if not is_symmetric or np.linalg.eigvalsh(matrices).min(initial=0.0) < -_SYMMETRIC_TO * scale:
        one_each = f", or ({lead[0]}, {count}, {count}), one for each instant" if lead else ""
        raise InvalidArgument(
            f"covariance must be {count} variances, or ({count}, {count}){one_each}, finite, symmetric and positive "
            "semi-definite, in the order of the joints (twice as many with velocities: positions first), got "
            f"{short_repr(given)}. Nothing was stored.",
            given,
        )
    return matrices


def with_exact(matrices: NDArray[float64], count: int, added: int) -> NDArray[float64]:
    """Return covariances, (..., k, k), with zeros for `added` joints that follow from the k, behind each k."""
    after_each = [place for start in range(count, matrices.shape[-1] + 1, count) for place in [start] * added]
    return np.insert(np.insert(matrices, after_each, 0.0, axis=-1), after_each, 0.0, axis=-2)
