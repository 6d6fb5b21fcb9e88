"""Which joint a part moves by, from its poses: fixed, prismatic, revolute, screw or unknown (Sturm et al. 2011)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from armillary.articulation import (
    AddJoint,
    AddLink,
    Apply,
    Connect,
    FixedJoint,
    Limits,
    PrismaticJoint,
    RevoluteJoint,
    ScrewJoint,
)
from armillary.errors import InvalidArgument
from armillary.motion import one_joint_fits as fits
from armillary.motion.pose_residuals import as_covariance
from armillary.transforms import Rotation, Transform

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from armillary.articulation import ArticulationModel, Joint, ModelChange

    Floats = NDArray[np.float64]

Sigmas = tuple[float, float]
"""Deviations of positions [m] and rotations [rad] along and about each axis."""

__all__ = ["ArticulationEstimator", "ArticulationGuess", "estimate_articulation"]

_FIRST_M, _FIRST_RAD = 0.01, 0.02
_LEAST = 1e-6
_MOST_M, _MOST_RAD = 0.03, 0.06
_LEAST_INLIERS = 0.5
_LEAST_MOTION, _LEAST_MOTION_IN_NOISE = 4.0, 10.0
"""So many deviations of a value are a motion: where the noise is known, and where it is sought in the same poses."""
_PAIRS, _PAIRS_AGAIN, _REFINED = 80, 20, 2
_POSE_NUMBERS = 7
_GATE = 22.46
_TWO_PI = math.tau
_NOISE_TURNS = 4
_MEDIAN_OF_THREE = 2.366  # of the square of three white numbers


@dataclass(frozen=True, eq=False)
class ArticulationGuess:
    """The joint that explains poses of a part best.

    Attributes:
        kind: "fixed", "prismatic", "revolute" or "screw"; "unknown" where no joint explains at least half of the poses.
        axis: The direction in the base in which values grow, (3,) and of length one; None where there is none.
        point: The point of the axis that is nearest to the part, in the base, (3,) [m]; None where nothing turns.
        pitch_m: How far a screw moves in one whole turn; 0 for the other kinds.
        values: The value of the joint at each pose, (N,) [rad] or [m]: 0 at the first pose that belongs to it; NaN
            where the kind is unknown.
        deviations: Their standard deviations, (N,).
        base_T_part: The pose of the part in its base where the value is 0.
        axis_covariance: Of the direction, (3, 3), in the base.
        point_covariance: Of the point, (3, 3) [m²], in the base.
        pitch_deviation_m: The standard deviation of the pitch.
        inliers: Which poses belong to it, (N,).
        noise_m: The deviation of the positions along each axis: as given, or as found.
        noise_rad: Likewise of the rotations.
        scores: By kind the Bayesian information criterion, of which the smallest is the best; inf: it cannot be.
        reason: Why the kind is unknown; empty otherwise.
    """

    kind: Literal["fixed", "prismatic", "revolute", "screw", "unknown"]
    axis: Floats | None
    point: Floats | None
    pitch_m: float
    values: Floats
    deviations: Floats
    base_T_part: Transform | None
    axis_covariance: Floats | None
    point_covariance: Floats | None
    pitch_deviation_m: float
    inliers: NDArray[np.bool_]
    noise_m: float
    noise_rad: float
    scores: Mapping[str, float]
    reason: str = ""

    @property
    def range(self) -> tuple[float, float]:
        """The smallest and the largest value of poses that belong to the joint; NaN where the kind is unknown."""
        own = self.values[self.inliers]
        return (float(own.min()) + 0.0, float(own.max()) + 0.0) if len(own) else (math.nan, math.nan)

    def joint(self, variable: str, *, margin: float = 0.0) -> Joint:
        """Return the joint, with what was seen of its range as its limits.

        Args:
            variable: The name of its position.
            margin: How far the limits are beyond what was seen.

        Raises:
            InvalidArgument: The kind is unknown.
        """
        if self.base_T_part is None:
            raise InvalidArgument(
                f"No joint can be made where the kind is unknown: {self.reason} Watch it move some more.", self.kind
            )
        if self.kind == "fixed":
            return FixedJoint(parent_T_joint=self.base_T_part)
        low, high = self.range
        base_T_axis = Transform.identity() if self.point is None else Transform.from_translation(self.point)
        shared: dict[str, Any] = {
            "variable": variable,
            "axis": tuple(np.asarray(self.axis).tolist()),
            "limits": Limits(lower=low - margin, upper=high + margin),
            "parent_T_joint": base_T_axis,
            "joint_T_child": base_T_axis.inverse() @ self.base_T_part,
        }
        if self.kind == "screw":
            return ScrewJoint(**shared, pitch_m=self.pitch_m)
        return PrismaticJoint(**shared) if self.kind == "prismatic" else RevoluteJoint(**shared)

    def add_to(
        self,
        model: ArticulationModel,
        path: str,
        parent: str | None = None,
        *,
        variable: str | None = None,
        margin: float = 0.0,
    ) -> ModelChange:
        """Add the part to a model as a link with this joint, or put a newer guess in place of an older one.

        Each part is an operation with its own tag: `create PATH`, `create JOINT`, `connect PARENT PATH`.

        Args:
            model: The model.
            path: Of the link, as in `cabinet/links/door`; its joint is `cabinet/joints/door`.
            parent: The path of the link that is the base of the poses; None for the frame of the model.
            variable: The name of the position of the joint; if left out that of the link, as in `cabinet/door`.
            margin: How far the limits are beyond what was seen.
        """
        before, inside, name = path.rpartition("/links/")
        joint_path = f"{before}/joints/{name}" if inside else f"{path}/joint"
        named = (f"{before}/{name}" if inside else f"{path}/position") if variable is None else variable
        joint = Apply(f"create {joint_path}", AddJoint(path=joint_path, joint=self.joint(named, margin=margin)))
        if f"create {path}" in model.tags:
            return model.edit([joint])
        connected = Connect(child=path, joint=joint_path, parent=parent)
        link = Apply(f"create {path}", AddLink(path=path))
        return model.edit([link, joint, Apply(f"connect {parent or 'world'} {path}", connected)])

    def __repr__(self) -> str:
        if self.kind == "unknown":
            return f"ArticulationGuess(unknown: {self.reason})"
        low, high = self.range
        seen = f"{int(self.inliers.sum())} of {len(self.inliers)} poses"
        return f"ArticulationGuess({self.kind}, values {low:.4g} to {high:.4g}, {seen})"


def estimate_articulation(
    poses: ArrayLike,
    *,
    noise_m: float | None = None,
    noise_rad: float | None = None,
    covariances: ArrayLike | None = None,
    seed: int = 0,
) -> ArticulationGuess:
    """Find the joint by which a part moves in its base, from poses of it, of which less than half may be wrong.

    Joints are proposed by pairs of poses, refined over those that agree, and compared by the Bayesian information
    criterion. What a value may be is part of it: a joint that hardly moves is fixed, and one that turns by a little of
    a large circle slides, unless the poses say otherwise.

    Args:
        poses: (N, 7) of the part in its base, x y z and the quaternion w x y z, in any order.
        noise_m: The standard deviation of the positions along each axis; found from the poses, if left out.
        noise_rad: Likewise of the rotations.
        covariances: (N, 6, 6) or (6, 6), translation then rotation in the frame of the part, in place of both.
        seed: Of the random pairs: the same poses give the same guess.

    >>> import numpy as np
    >>> from armillary import Transform
    >>> turned = [Transform.from_xyz_rpy(xyz=(1, 0, 0), rpy=(0, 0, 0.1 * i)) @ Transform.from_translation((0, 0.5, 0))
    ...     for i in range(10)]
    >>> guess = estimate_articulation([(*pose.translation, *pose.rotation.wxyz) for pose in turned])
    >>> guess.kind, np.abs(guess.axis).round(6).tolist(), np.abs(guess.point).round(6).tolist()
    ('revolute', [0.0, 0.0, 1.0], [1.0, 0.0, 0.0])
    """
    rows = _as_poses(poses)
    scale = _Noise.of(noise_m, noise_rad, covariances, len(rows))
    return _estimated(rows, scale, np.random.default_rng(seed), [], _PAIRS)


class ArticulationEstimator:
    """Finds the joint by which a part moves while it is watched: each guess begins with the one before.

    Args:
        noise_m: As for `estimate_articulation`.
        noise_rad: Likewise.
        max_poses: So many poses are kept; then every second one is dropped, and half as many come in.
        seed: Of the random pairs.

    >>> from armillary import Transform
    >>> watching = ArticulationEstimator(noise_m=0.001, noise_rad=0.001)
    >>> watching.add(Transform.identity())
    >>> watching.guess.kind
    'unknown'
    >>> for step in range(20):
    ...     watching.add(Transform.from_translation((0.02 * step, 0, 0)))
    >>> watching.guess
    ArticulationGuess(prismatic, values 0 to 0.38, 21 of 21 poses)
    """

    def __init__(
        self, *, noise_m: float | None = None, noise_rad: float | None = None, max_poses: int = 400, seed: int = 0
    ) -> None:
        if isinstance(max_poses, bool) or not isinstance(max_poses, int) or max_poses < 2:  # noqa: PLR2004
            raise InvalidArgument(f"max_poses is a number from 2 on, got {max_poses!r}.", max_poses)
        self._noise = _Noise.of(noise_m, noise_rad, None, 1)
        self._rows: list[Floats] = []
        self._max_poses, self._every, self._since = max_poses, 1, 0
        self._random = np.random.default_rng(seed)
        self._fits: list[fits.Fit] = []
        self._guess: ArticulationGuess | None = None
        self._searched = 0

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, pose: Transform) -> None:
        """Take one more pose of the part in its base."""
        if not isinstance(pose, Transform):
            raise InvalidArgument(f"A Transform is wanted, base_T_part, got {pose!r}.", pose)
        self._since += 1
        if self._since < self._every:
            return
        self._since = 0
        self._rows.append(np.concatenate([pose.translation, pose.rotation.wxyz]))
        if len(self._rows) > self._max_poses:
            self._rows, self._every = self._rows[::2], 2 * self._every
        self._guess = None

    @property
    def guess(self) -> ArticulationGuess:
        """The joint by all poses until now."""
        if self._guess is None:
            rows = np.array(self._rows).reshape(-1, _POSE_NUMBERS)
            is_anew = len(rows) >= 2 * self._searched  # the old guess was made of half of what is known now
            self._searched = len(rows) if is_anew else self._searched
            pairs = _PAIRS if is_anew else _PAIRS_AGAIN
            found: list[fits.Fit] = []
            self._guess = _estimated(rows, self._noise, self._random, self._fits, pairs, found)
            self._fits = found
        return self._guess


class _Noise:
    """How poses are wrong: by deviations that are known or sought, or by covariances."""

    def __init__(self, sigma_m: float | None, sigma_rad: float | None, whitening: Floats | None) -> None:
        self.sigma_m, self.sigma_rad, self._whitening = sigma_m, sigma_rad, whitening

    @classmethod
    def of(cls, noise_m: Any, noise_rad: Any, covariances: Any, count: int) -> _Noise:
        for name, value in (("noise_m", noise_m), ("noise_rad", noise_rad)):
            if value is not None and not (_is_number(value) and value > 0.0):
                raise InvalidArgument(
                    f"{name} is a positive number, got {value!r}. Leave it out to have it found.", value
                )
        if covariances is None:
            return cls(noise_m, noise_rad, None)
        if noise_m is not None or noise_rad is not None:
            raise InvalidArgument("Give covariances, or noise_m and noise_rad, not both.", covariances)
        given = np.asarray(covariances, dtype=float)
        stacked = given[None] if given.shape == (6, 6) else given
        if stacked.ndim != 3 or len(stacked) not in {1, count}:  # noqa: PLR2004
            raise InvalidArgument(
                f"covariances has the shape (6, 6) or ({count}, 6, 6), got {given.shape}.", covariances
            )
        checked = np.array([as_covariance(one, f"pose {i}") for i, one in enumerate(stacked)])
        whitening = np.linalg.inv(np.linalg.cholesky(checked))
        sigma_m = math.sqrt(float(np.median(checked[:, range(3), range(3)])))
        sigma_rad = math.sqrt(float(np.median(checked[:, range(3, 6), range(3, 6)])))
        return cls(sigma_m, sigma_rad, np.broadcast_to(whitening, (count, 6, 6)))

    @property
    def is_known(self) -> bool:
        return self.sigma_m is not None and self.sigma_rad is not None

    @property
    def least_motion(self) -> float:
        """How far values go at least where something moves, in their deviations."""
        return _LEAST_MOTION if self.is_known else _LEAST_MOTION_IN_NOISE

    @property
    def first(self) -> Sigmas:
        """What is known, or where the search for it begins."""
        return self.sigma_m or _FIRST_M, self.sigma_rad or _FIRST_RAD

    def filled(self, found: tuple[float, ...]) -> Sigmas:
        """Return what is known, and else what was found, between what is measurable and what is no noise any more."""
        return (
            self.sigma_m or min(max(found[0], _LEAST), _MOST_M),
            self.sigma_rad or min(max(found[1], _LEAST), _MOST_RAD),
        )

    def weighed(self, poses: fits.Poses, sigmas: Sigmas) -> fits.Poses:
        """Return the poses with these deviations, or with the covariances that were given."""
        if self._whitening is not None:
            return poses.whitened_by(self._whitening)
        white = np.diag([1.0 / sigmas[0]] * 3 + [1.0 / sigmas[1]] * 3)
        return poses.whitened_by(np.broadcast_to(white, (len(poses), 6, 6)))


def _estimated(  # noqa: PLR0917  (called in two places)
    rows: Floats,
    noise: _Noise,
    random: np.random.Generator,
    before: list[fits.Fit],
    pairs: int,
    kept: list[fits.Fit] | None = None,
) -> ArticulationGuess:
    count = len(rows)
    if count < 2:  # noqa: PLR2004
        return _unknown(rows, "one pose says nothing of a motion." if count else "there are no poses.", {}, noise)
    poses = fits.Poses(_matrices(rows[:, 3:]), rows[:, :3])
    found: dict[fits.Kind, tuple[fits.Fit, Sigmas]] = {}
    scores: dict[fits.Kind, float] = dict.fromkeys(fits.KINDS, math.inf)
    for kind in fits.KINDS:
        proposals = _proposed(kind, poses, noise, random, before, pairs)
        if kind == "screw" and "revolute" in found:
            proposals.append(replace(found["revolute"][0], kind="screw", pitch=0.0))
        for proposal in proposals:
            fit, sigmas = _with_noise(proposal, poses, noise)
            score = _score(fit, noise.weighed(poses, sigmas), sigmas, noise.least_motion)
            if kind not in found or score < scores[kind]:
                found[kind], scores[kind] = (fit, sigmas), score
    if not noise.is_known:
        _judge_alike(found, scores, poses, noise)
    if kept is not None:
        kept += [fit for fit, _ in found.values()]
    best = min(scores, key=scores.__getitem__)
    if not math.isfinite(scores[best]):
        return _unknown(rows, "no joint explains half of the poses.", scores, noise)
    return _guessed(*found[best], scores)


def _judge_alike(
    found: dict[fits.Kind, tuple[fits.Fit, Sigmas]], scores: dict[fits.Kind, float], poses: fits.Poses, noise: _Noise
) -> None:
    """Compare the joints once more, all with the noise about the best of them."""
    best = min(scores, key=scores.__getitem__)
    if not math.isfinite(scores[best]):
        return
    sigmas = noise.filled(_without_freedom(*found[best], noise.weighed(poses, found[best][1])))
    weighed = noise.weighed(poses, sigmas)
    for kind, (start, _) in tuple(found.items()):
        fit = fits.fitted(start, weighed)
        found[kind], scores[kind] = (fit, sigmas), _score(fit, weighed, sigmas, noise.least_motion)


def _without_freedom(fit: fits.Fit, sigmas: Sigmas, poses: fits.Poses) -> tuple[float, ...]:
    """Return deviations that are as large as those of the poses: residuals are smaller by what was fitted to them."""
    inside = int(fit.is_in.sum())
    free = np.zeros(2)  # of the three numbers of a position, and of a rotation
    if fit.kind != "fixed":
        along = fits.along_values(fit, poses)[fit.is_in]
        parts = np.stack([(along[:, :3] ** 2).sum(axis=1), (along[:, 3:] ** 2).sum(axis=1)], axis=1)
        free = (parts / parts.sum(axis=1, keepdims=True)).mean(axis=0)
    left = 3.0 - free - 0.5 * fits.PARAMETERS[fit.kind] / inside
    return tuple((np.array(sigmas) * np.sqrt(3.0 / np.maximum(left, 1.0))).tolist())


def _proposed(  # noqa: PLR0917  (called in one place)
    kind: fits.Kind,
    poses: fits.Poses,
    noise: _Noise,
    random: np.random.Generator,
    before: list[fits.Fit],
    pairs: int,
) -> list[fits.Fit]:
    """Return the best hypotheses of a kind, refined with the first guess of the noise."""
    count = len(poses)
    first = random.integers(count, size=pairs)
    second = (first + random.integers(1, count, size=pairs)) % count
    drawn = np.column_stack([first, second])
    if kind == "fixed":
        alone = np.unique(first)
        drawn = np.column_stack([alone, alone])
    weighed = noise.weighed(poses, noise.first)
    found = [fits.evaluated(one, weighed, steps=1) for one in fits.hypotheses(kind, poses, drawn)]
    found += [fits.evaluated(one, weighed, steps=1) for one in before if one.kind == kind]
    most = max(2, (3 * count) // 5)
    found.sort(key=lambda one: float(np.partition(one.squares, most - 1)[:most].sum()))
    return [
        fits.fitted(one, weighed, gate=max(_GATE, 4.0 * float(np.median(one.squares))), steps=8)
        for one in found[:_REFINED]
    ]


def _with_noise(fit: fits.Fit, poses: fits.Poses, noise: _Noise) -> tuple[fits.Fit, Sigmas]:
    """Refine a joint together with the noise of the poses that belong to it."""
    if noise.is_known:
        return fits.fitted(fit, noise.weighed(poses, noise.first)), noise.first
    plain = noise.weighed(poses, (1.0, 1.0))
    sigmas = noise.first
    for turn in range(_NOISE_TURNS):
        errors = fits.white_errors(fit, plain)
        own = errors[fit.is_in] if fit.is_in.any() else errors
        sigmas = noise.filled(tuple(_deviation(own[:, part], turn) for part in (slice(0, 3), slice(3, 6))))
        fit = fits.fitted(fit, noise.weighed(poses, sigmas), steps=8)
    return fit, sigmas


def _deviation(errors: Floats, turn: int) -> float:
    """Return the deviation along each axis: by the median first, which wrong poses hardly move, then by the mean."""
    squares = np.einsum("ni,ni->n", errors, errors)
    if turn < _NOISE_TURNS - 1:
        return math.sqrt(float(np.median(squares)) / _MEDIAN_OF_THREE)
    return math.sqrt(float(squares.mean()) / 3.0)


def _score(fit: fits.Fit, poses: fits.Poses, sigmas: Sigmas, least_motion: float) -> float:
    """Return the Bayesian information criterion, in which what a value may be is a uniform range.

    The best q of a pose always fits better than any other: what is gained so is given back by the log of the range over
    the deviation of q, which is the integral over all values (Laplace's).
    """
    count, inside = len(poses), int(fit.is_in.sum())
    if inside < max(2, math.ceil(_LEAST_INLIERS * count)):
        return math.inf
    log_sigmas = 6.0 * (math.log(_TWO_PI) + math.log(sigmas[0]) + math.log(sigmas[1]))
    cost = (
        inside * log_sigmas + float(fit.squares[fit.is_in].sum()) + (count - inside) * _outlier_cost(poses, log_sigmas)
    )
    if fit.kind != "fixed":
        own, deviations = fit.values[fit.is_in], fit.deviations[fit.is_in]
        width = float(np.ptp(own))
        if not np.isfinite(deviations).all() or width < least_motion * float(np.median(deviations)):
            return math.inf
        cost += 2.0 * float(np.log(np.maximum(width / (math.sqrt(_TWO_PI) * deviations), 1.0)).sum())
    return cost + fits.PARAMETERS[fit.kind] * math.log(6 * inside)


def _outlier_cost(poses: fits.Poses, log_sigmas: float) -> float:
    """Return what a pose costs that may be anywhere among the others, turned in any way."""
    spread = np.maximum(np.ptp(poses.translations, axis=0), _FIRST_M)
    volume = float(np.log(spread).sum()) + math.log(8.0 * math.pi**2)
    return max(2.0 * volume, log_sigmas + _GATE)


def _guessed(fit: fits.Fit, sigmas: Sigmas, scores: Mapping[Any, float]) -> ArticulationGuess:
    values = fit.values
    inside = np.flatnonzero(fit.is_in)
    if fit.kind == "revolute":
        values = _unwrapped(values, fit.is_in)
    zero = float(values[inside[0]]) if len(inside) else 0.0
    values = values - zero
    turned, shifted = fits.moved_along(fit, np.array([zero]))
    rotation = fit.axis_rotation @ turned[0] @ fit.part_rotation
    place = fit.axis_origin + fit.axis_rotation @ (turned[0] @ fit.part_translation + shifted[0])
    base_T_part = Transform.from_rotation(Rotation.from_matrix(rotation), xyz=place)
    axis = point = axis_covariance = point_covariance = None
    pitch_deviation = 0.0
    if fit.kind == "fixed":
        values = np.zeros(len(values))
    else:
        farthest = values[inside[int(np.argmax(np.abs(values[inside])))]]
        sign = -1.0 if farthest < 0.0 else 1.0
        axis, values = sign * fit.axis_rotation[:, 2], sign * values
        spread = np.zeros((6, len(fit.covariance)))
        spread[list(fit.changes), range(len(fit.changes))] = 1.0
        motion = spread @ fit.covariance @ spread.T
        tilt = fit.axis_rotation @ np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
        axis_covariance = tilt @ motion[3:, 3:] @ tilt.T
        if fit.kind != "prismatic":
            center = place  # the axis is best known beside the part
            along = float((center - fit.axis_origin) @ fit.axis_rotation[:, 2])
            point = fit.axis_origin + along * fit.axis_rotation[:, 2]
            moved = np.hstack([fit.axis_rotation, along * tilt])
            point_covariance = moved @ motion @ moved.T
        if fit.kind == "screw":
            pitch_deviation = _TWO_PI * math.sqrt(max(float(fit.covariance[-1, -1]), 0.0))
    return ArticulationGuess(
        kind=fit.kind,
        axis=axis,
        point=point,
        pitch_m=_TWO_PI * fit.pitch if fit.kind == "screw" else 0.0,
        values=values,
        deviations=fit.deviations,
        base_T_part=base_T_part,
        axis_covariance=axis_covariance,
        point_covariance=point_covariance,
        pitch_deviation_m=pitch_deviation,
        inliers=fit.is_in,
        noise_m=sigmas[0],
        noise_rad=sigmas[1],
        scores=scores,
    )


def _unwrapped(values: Floats, is_in: NDArray[np.bool_]) -> Floats:
    """Return angles without the largest gap between them inside their range: the same turn counts the same way."""
    own = np.sort(values[is_in])
    if len(own) < 2:  # noqa: PLR2004
        return values
    gaps = np.append(np.diff(own), own[0] + _TWO_PI - own[-1])
    begin = own[(int(np.argmax(gaps)) + 1) % len(own)]
    return np.asarray(begin + np.mod(values - begin + 1e-12, _TWO_PI) - 1e-12)


def _unknown(rows: Floats, reason: str, scores: Mapping[Any, float], noise: _Noise) -> ArticulationGuess:
    none = np.full(len(rows), np.nan)
    found = noise.sigma_m or math.nan, noise.sigma_rad or math.nan
    out = np.zeros(len(rows), dtype=bool)
    return ArticulationGuess("unknown", None, None, 0.0, none, none, None, None, None, 0.0, out, *found, scores, reason)


def _as_poses(poses: Any) -> Floats:
    cure = "Give (N, 7): x y z [m] and the quaternion w x y z, for each pose of the part in its base."
    try:
        rows = np.asarray(poses, dtype=float)
    except (TypeError, ValueError) as error:
        raise InvalidArgument(f"The poses are no array of numbers. {cure}", poses) from error
    rows = rows.reshape(0, _POSE_NUMBERS) if rows.size == 0 else rows
    if rows.ndim != 2 or rows.shape[1] != _POSE_NUMBERS:  # noqa: PLR2004
        raise InvalidArgument(f"The poses have the shape {rows.shape}. {cure}", poses)
    wrong = np.flatnonzero(~np.isfinite(rows).all(axis=1))
    if len(wrong):
        raise InvalidArgument(f"Pose {wrong[0]} is not finite: {rows[wrong[0]].tolist()}. Leave it out. {cure}", poses)
    lengths = np.linalg.norm(rows[:, 3:], axis=1)
    off = np.flatnonzero(np.abs(lengths - 1.0) > 1e-3)  # noqa: PLR2004
    if len(off):
        raise InvalidArgument(
            f"The quaternion of pose {off[0]} has the length {lengths[off[0]]:.4g}, not 1. {cure}", poses
        )
    return np.column_stack([rows[:, :3], rows[:, 3:] / lengths[:, None]])


def _matrices(wxyz: Floats) -> Floats:
    w, x, y, z = wxyz.T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), 2, 0).copy()


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
