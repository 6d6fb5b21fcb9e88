"""The mean of several poses on SE(3), with its covariance and a report of outliers.

The mean minimises the sum of the squared distances to the poses, each in standard deviations of that pose. A robust
round comes first, so that outliers are recognised before anything is averaged; the mean is then the plain least squares
solution of the others. The C++ core iterates (`cpp/src/math/pose_average.cpp`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import float64

from armillary._core import average_rows
from armillary.errors import InvalidArgument
from armillary.relations.arrays import as_covariance, frozen
from armillary.transforms import Transform

if TYPE_CHECKING:
    from numpy import bool_
    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[float64]
    Mask = NDArray[bool_]

__all__ = ["AverageReport", "Outlier", "PoseMean", "average_poses"]

_INCONSISTENT = 2.0  # of the Birge ratio
_SIX = 6
_MANY = 20  # poses: from here their scatter gives a full covariance
_FEW = 4  # poses: below, their scatter gives none


@dataclass(frozen=True, slots=True)
class Outlier:
    """A pose that was not averaged.

    Attributes:
        index: Its place among the given poses.
        distance: From the mean, in standard deviations of that pose (Mahalanobis).
        stamp: Its instant [ns]; None where poses were given without one.
        source: Who gave it; None where poses were given without one.
    """

    index: int
    distance: float
    stamp: int | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AverageReport:
    """How a mean was obtained.

    Attributes:
        used: Indices of the poses that were averaged.
        outliers: Poses that were not, because they are too far away (chi-squared, 0.999); farthest first.
        left_out: Indices of poses without a covariance where others have one: unknown is not zero.
        chi2: The sum of the squared distances of the used poses, in standard deviations; None where no covariance is
            known.
        dof: Degrees of freedom of `chi2`: 6 for each pose but one.
        birge_ratio: `chi2 / dof`: about 1 where the covariances are right. None where there is none.
        rounds: Iterations in all.
        spread: (6,) standard deviation of the used poses about the mean, translation [m] then rotation [rad]; None for
            a single one.
    """

    used: tuple[int, ...]
    outliers: tuple[Outlier, ...]
    left_out: tuple[int, ...]
    chi2: float | None
    dof: int
    birge_ratio: float | None
    rounds: int
    spread: NDArray[float64] | None

    @property
    def is_inconsistent(self) -> bool:
        """Whether the poses differ much more than their covariances say: `birge_ratio` above 2."""
        return self.birge_ratio is not None and self.birge_ratio > _INCONSISTENT

    def __str__(self) -> str:
        parts = [f"{len(self.used)} poses averaged"]
        if self.outliers:
            far = self.outliers[0]
            parts.append(
                f"{len(self.outliers)} outliers, the farthest ({far.index}) {far.distance:.3g} deviations away"
            )
        if self.left_out:
            parts.append(f"{len(self.left_out)} left out, whose covariance is unknown")
        if self.birge_ratio is not None:
            parts.append(f"chi-squared {self.chi2:.4g} of {self.dof} (ratio {self.birge_ratio:.3g})")
        if self.is_inconsistent:
            parts.append("they differ more than their covariances say: scale=True widens the answer by it")
        return "; ".join(parts)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PoseMean:
    """The mean of several poses.

    Attributes:
        mean: The mean pose.
        covariance: (6, 6) of the mean, translation then rotation, in its tangent; None where it cannot be known: fewer
            than four poses without covariances.
        gains: (N, 6, 6): how an error of each pose moves the mean, both in their tangents; zero for what was not used.
        report: Which poses were used, outliers, chi-squared.
    """

    mean: Transform
    covariance: NDArray[float64] | None
    gains: NDArray[float64]
    report: AverageReport


def average_poses(
    transforms: Iterable[Transform] | ArrayLike,
    covariances: ArrayLike | Sequence[ArrayLike | None] | None = None,
    *,
    scale: bool = False,
    common_covariance: ArrayLike | None = None,
) -> PoseMean:
    """Return the mean of several poses of one thing, with its covariance and a report of outliers.

    Args:
        transforms: `Transform`s, or (N, 7) x, y, z and the quaternion w, x, y, z, or (N, 4, 4).
        covariances: One for each, (6, 6) in the tangent of its pose or six variances; None, or rows of NaN, where it is
            unknown. Where some are known, the others are left out. Where none is known, the scatter of the poses gives
            the covariance of the mean: a full one from 20 poses on, a diagonal one from 4 on.
        scale: Whether the covariance is widened by the Birge ratio where that is above 1.
        common_covariance: Of an error that all poses have alike (one camera, one bias): it does not average out, and is
            added at the end. (6, 6) or six variances, in the tangent of the mean.

    Raises:
        InvalidArgument: There is no pose, or the arrays do not fit together.

    >>> looks = [Transform.exp((0.01 * k, 0, 0, 0, 0, 0)) for k in (-1, 0, 1)] + [Transform.exp((2, 0, 0, 0, 0, 0))]
    >>> found = average_poses(looks, [[1e-4] * 6] * 4)
    >>> abs(found.mean.translation.round(9)).tolist(), [far.index for far in found.report.outliers]
    ([0.0, 0.0, 0.0], [3])
    """
    poses = _as_rows(transforms)
    spreads, is_known = _as_spreads(covariances, len(poses))
    common = as_covariance(common_covariance, "common_covariance")
    is_given = bool(is_known.any())
    counted = np.flatnonzero(is_known) if is_given else np.arange(len(poses))
    given = np.ascontiguousarray(spreads[counted]) if is_given else None
    mean, inverse, far, used, residuals, gains, rounds = average_rows(np.ascontiguousarray(poses[counted]), given)
    is_in = used > 0.0
    covariance = inverse if is_given else _scatter(residuals[is_in])
    chi2 = float((far[is_in] ** 2).sum()) if is_given else None
    m = int(is_in.sum())
    ratio = chi2 / (_SIX * (m - 1)) if chi2 is not None and m > 1 else None
    if covariance is not None and scale and ratio is not None:
        covariance = covariance * max(1.0, ratio)
    if covariance is not None and common is not None:
        covariance = covariance + common
    outliers = sorted((Outlier(int(counted[k]), float(far[k])) for k in np.flatnonzero(~is_in)), key=_farthest_first)
    report = AverageReport(
        used=tuple(int(k) for k in counted[is_in]),
        outliers=tuple(outliers),
        left_out=tuple(int(k) for k in np.setdiff1d(np.arange(len(poses)), counted)),
        chi2=chi2,
        dof=_SIX * (m - 1),
        birge_ratio=ratio,
        rounds=rounds,
        spread=frozen(np.sqrt((residuals[is_in] ** 2).sum(axis=0) / (m - 1))) if m > 1 else None,
    )
    all_gains = np.zeros((len(poses), _SIX, _SIX))
    all_gains[counted] = gains
    return PoseMean(
        mean=mean,
        covariance=None if covariance is None else frozen(covariance),
        gains=frozen(all_gains),
        report=report,
    )


def _scatter(residuals: Array) -> Array | None:
    """Return the covariance of a mean, (6, 6), by the scatter of the poses about it; None for fewer than four."""
    m = len(residuals)
    if m < _FEW:
        return None
    scatter: Array = residuals.T @ residuals / (m - 1)
    if m >= _MANY:
        return scatter / m * (m - 1) / (m - 8)
    return np.diag(np.diag(scatter)) / m * (m - 1) / (m - 3)


def _farthest_first(outlier: Outlier) -> tuple[float, int]:
    return -outlier.distance, outlier.index


# -- Checks of what is given


def _as_rows(transforms: Any) -> Array:
    """Return poses in any of the forms as rows, (N, 7)."""
    if isinstance(transforms, Transform):
        transforms = [transforms]
    given = transforms if isinstance(transforms, np.ndarray) else _as_list(transforms)
    if len(given) == 0:
        raise InvalidArgument("There is no pose to average. Give at least one.")
    if not isinstance(given, np.ndarray) and all(isinstance(one, Transform) for one in given):
        return np.array([one.xyz_wxyz for one in given])
    try:
        array = np.asarray(given, dtype=float64)
    except (TypeError, ValueError) as error:
        raise InvalidArgument("Poses are averaged as Transforms, (N, 7) x y z w x y z, or (N, 4, 4).") from error
    if array.ndim == 3 and array.shape[1:] == (4, 4):  # noqa: PLR2004  (matrices)
        return np.array([Transform.from_matrix(matrix).xyz_wxyz for matrix in array])
    if array.ndim != 2 or array.shape[1] != 7:  # noqa: PLR2004  (rows of seven)
        raise InvalidArgument(
            f"Poses are averaged as Transforms, (N, 7) x y z w x y z, or (N, 4, 4); got the shape {array.shape}."
        )
    length = np.linalg.norm(array[:, 3:], axis=1)
    if not np.isfinite(array).all() or np.abs(length - 1.0).max() > 1e-3:  # noqa: PLR2004
        raise InvalidArgument("Each pose has finite numbers and a unit quaternion w, x, y, z.")
    return np.concatenate([array[:, :3], array[:, 3:] / length[:, None]], axis=1)


def _as_list(transforms: Any) -> list[Any]:
    try:
        return list(transforms)
    except TypeError:
        raise InvalidArgument(f"Poses are averaged as a list of Transforms, got {transforms!r}.", transforms) from None


def _as_spreads(covariances: Any, count: int) -> tuple[Array, Mask]:
    """Return the covariances, (N, 6, 6), and which of them are known."""
    spreads = np.full((count, _SIX, _SIX), math.nan)
    if covariances is None:
        return spreads, np.zeros(count, dtype=bool)
    given = list(covariances)
    if len(given) != count:
        raise InvalidArgument(f"There are {count} poses and {len(given)} covariances. Give one for each.")
    if isinstance(covariances, np.ndarray) and covariances.shape == (count, _SIX, _SIX):
        spreads = np.asarray(covariances, dtype=float64)
        is_known = ~np.isnan(spreads).any(axis=(1, 2))
        _check_all(spreads, is_known)
        return spreads, is_known
    for k, one in enumerate(given):
        if one is None or np.isnan(np.asarray(one, dtype=float64)).any():
            continue
        spreads[k] = as_covariance(one, f"covariances[{k}]")
    return spreads, ~np.isnan(spreads).any(axis=(1, 2))


def _check_all(spreads: Array, is_known: Mask) -> None:
    known = spreads[is_known]
    if len(known) == 0:
        return
    largest = np.abs(known).max(axis=(1, 2), keepdims=True)
    is_wrong = np.abs(known - np.swapaxes(known, 1, 2)).max(axis=(1, 2)) > 1e-9 * largest[:, 0, 0]
    is_wrong |= ~np.isfinite(known).all(axis=(1, 2)) | (np.diagonal(known, axis1=1, axis2=2) < 0.0).any(axis=1)
    if is_wrong.any():
        row = int(np.flatnonzero(is_known)[np.flatnonzero(is_wrong)[0]])
        as_covariance(spreads[row], f"covariances[{row}]")  # raises with the reason
