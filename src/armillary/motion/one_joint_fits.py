"""One joint, fitted to poses of a part: nothing moves, it slides, it turns, or both at once; with outliers.

All kinds are one formula: base_T_part = base_T_axis @ S(q) @ axis_T_part, where S(q) turns about z by `turns * q` and
moves along z by `slides * q`. A hypothesis comes from two poses; the best are refined by Gauss-Newton steps over the
axis, the part and every q at once, the q eliminated; poses that are too far away do not count.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Mask = NDArray[np.bool_]

__all__ = [
    "KINDS",
    "Fit",
    "Kind",
    "Poses",
    "along_values",
    "evaluated",
    "fitted",
    "hypotheses",
    "moved_along",
    "white_errors",
]

Kind = Literal["fixed", "prismatic", "revolute", "screw"]
KINDS: tuple[Kind, ...] = ("fixed", "prismatic", "revolute", "screw")
PARAMETERS = {"fixed": 6, "prismatic": 9, "revolute": 11, "screw": 12}
"""How many numbers each kind is made of; the ends of the range of a joint are two of them."""

_AXIS_COLUMNS = {"fixed": (), "prismatic": (3, 4), "revolute": (0, 1, 3, 4), "screw": (0, 1, 3, 4)}
_STEPS, _SETTLED = 20, 1e-9
_GONE = 1e-10
_SMALL_RAD = 1e-7
_NEAR_HALF_TURN = 1e-3
_TURNS_APART = 8.0
"""So many deviations of a position from one turn of a screw to the next: then positions tell which turn it is."""
_GATE = 22.46
"""The squared distance that 999 of 1000 right poses are within (chi-square with 6 degrees of freedom)."""


class Poses:
    """Poses as arrays, each with what makes its error white.

    Attributes:
        rotations: (N, 3, 3).
        translations: (N, 3).
        whitening: (N, 6, 6): an error in the frame of the pose, translation then rotation, becomes white.
    """

    def __init__(self, rotations: Floats, translations: Floats, whitening: Floats | None = None) -> None:
        self.rotations, self.translations = rotations, translations
        self.whitening = np.broadcast_to(np.eye(6), (len(translations), 6, 6)) if whitening is None else whitening

    def __len__(self) -> int:
        return len(self.translations)

    def whitened_by(self, whitening: Floats) -> Poses:
        """Return the same poses with another whitening."""
        return Poses(self.rotations, self.translations, whitening)


@dataclass(frozen=True, eq=False)
class Fit:
    """A joint of one kind.

    Attributes:
        kind: Which.
        axis_rotation: Of the frame whose z axis is that of the joint, in the base, (3, 3).
        axis_origin: Its origin, (3,).
        part_rotation: Of the part in that frame where q is zero.
        part_translation: Likewise.
        pitch: Metres along the axis for each radian about it.
        values: The q of each pose, (N,).
        squares: The squared white distance of each pose from this joint, (N,).
        is_in: Which poses are near enough, (N,).
        deviations: The standard deviation of each q, (N,).
        covariance: Of a small change of the axis frame, by the columns of `changes`, and last of the pitch of a screw.
        changes: Which of the six numbers (translation, rotation) of the axis frame are free.
    """

    kind: Kind
    axis_rotation: Floats
    axis_origin: Floats
    part_rotation: Floats
    part_translation: Floats
    pitch: float
    values: Floats
    squares: Floats
    is_in: Mask
    deviations: Floats
    covariance: Floats
    changes: tuple[int, ...] = ()

    @property
    def turns(self) -> float:
        """Radians about the axis for each unit of q."""
        return 1.0 if self.kind in {"revolute", "screw"} else 0.0

    @property
    def slides(self) -> float:
        """Metres along the axis for each unit of q."""
        return {"prismatic": 1.0, "screw": self.pitch}.get(self.kind, 0.0)

    def with_values(self, values: Floats) -> Fit:
        """Return the same joint with other values."""
        return replace(self, values=values)


# -- Rotations


def vectors_of(rotations: Floats) -> Floats:
    """Return the rotation vectors of matrices, (N, 3), right up to half a turn."""
    r = rotations
    sine = 0.5 * np.stack([r[:, 2, 1] - r[:, 1, 2], r[:, 0, 2] - r[:, 2, 0], r[:, 1, 0] - r[:, 0, 1]], axis=1)
    length = np.linalg.norm(sine, axis=1)
    cosine = 0.5 * (np.trace(r, axis1=1, axis2=2) - 1.0)
    angle = np.arctan2(length, cosine)
    scale = np.where(length > _SMALL_RAD, angle / np.where(length > _SMALL_RAD, length, 1.0), 1.0)
    found = scale[:, None] * sine
    # Near half a turn the sine says little of the axis.
    for i in np.flatnonzero((length <= _NEAR_HALF_TURN) & (cosine < 0.0)):
        square = 0.5 * (r[i] + r[i].T) - cosine[i] * np.eye(3)
        axis = square[:, int(np.argmax(np.diagonal(square)))]
        axis = axis / np.linalg.norm(axis)
        found[i] = angle[i] * (-axis if axis @ sine[i] < 0.0 else axis)
    return np.asarray(found)


def skew(vectors: Floats) -> Floats:
    """Return the matrices of cross products, (N, 3, 3)."""
    made = np.zeros((len(vectors), 3, 3))
    x, y, z = vectors.T
    made[:, 0, 1], made[:, 0, 2], made[:, 1, 2] = -z, y, -x
    made[:, 1, 0], made[:, 2, 0], made[:, 2, 1] = z, -y, x
    return made


def rotation_of(vector: Floats) -> Floats:
    """Return the matrix of one rotation vector."""
    angle = float(np.linalg.norm(vector))
    cross = skew(np.asarray(vector, dtype=np.float64)[None])[0]
    if angle < _SMALL_RAD:
        return np.asarray(np.eye(3) + cross + 0.5 * cross @ cross)
    return np.asarray(np.eye(3) + math.sin(angle) / angle * cross + (1 - math.cos(angle)) / angle**2 * cross @ cross)


def _frame_about(axis: Floats) -> Floats:
    """Return a rotation whose z axis this is."""
    other = np.eye(3)[int(np.argmin(np.abs(axis)))]
    x = np.cross(other, axis)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(axis, x), axis])


# -- What a joint predicts


def moved_along(fit: Fit, values: Floats) -> tuple[Floats, Floats]:
    """Return S(q): rotations (N, 3, 3) and translations (N, 3)."""
    angles = fit.turns * values
    turned = np.zeros((len(values), 3, 3))
    turned[:, 0, 0] = turned[:, 1, 1] = np.cos(angles)
    turned[:, 1, 0] = np.sin(angles)
    turned[:, 0, 1] = -turned[:, 1, 0]
    turned[:, 2, 2] = 1.0
    shifted = np.zeros((len(values), 3))
    shifted[:, 2] = fit.slides * values
    return turned, shifted


def _errors(fit: Fit, poses: Poses, values: Floats) -> tuple[Floats, Floats, Floats]:
    """Return white errors (N, 6), the map of body motions to them (N, 6, 6), and rotations of S(q) @ part (N, 3, 3)."""
    turned, shifted = moved_along(fit, values)
    in_axis = turned @ fit.part_rotation
    rotations = fit.axis_rotation @ in_axis
    translations = fit.axis_origin + (turned @ fit.part_translation + shifted) @ fit.axis_rotation.T
    back = np.swapaxes(poses.rotations, 1, 2)
    off = back @ rotations
    turn = vectors_of(off)
    cross = skew(turn)
    error = np.concatenate([np.einsum("nij,nj->ni", back, translations - poses.translations), turn], axis=1)
    mapped = np.zeros((len(values), 6, 6))
    mapped[:, :3, :3] = off
    mapped[:, 3:, 3:] = np.eye(3) + 0.5 * cross + cross @ cross / 12.0
    white = np.einsum("nij,nj->ni", poses.whitening, error)
    return white, poses.whitening @ mapped, in_axis


def _along_q(fit: Fit, mapped: Floats) -> Floats:
    """Return how the white errors change with q, (N, 6)."""
    back = fit.part_rotation.T
    z = np.array([0.0, 0.0, 1.0])
    x, y, _ = fit.part_translation
    linear = back @ (fit.slides * z + fit.turns * np.array([-y, x, 0.0]))
    return np.asarray(mapped @ np.concatenate([linear, fit.turns * back @ z]))


def first_values(fit: Fit, poses: Poses) -> Floats:
    """Return the q of each pose roughly: by the rotation about the axis, or the way along it."""
    if fit.kind == "fixed":
        return np.zeros(len(poses))
    back = fit.axis_rotation.T
    if fit.kind == "prismatic":
        return np.asarray((poses.translations - fit.axis_origin) @ fit.axis_rotation[:, 2] - fit.part_translation[2])
    rest = back @ poses.rotations @ fit.part_rotation.T
    angles = np.arctan2(rest[:, 1, 0] - rest[:, 0, 1], rest[:, 0, 0] + rest[:, 1, 1])
    if fit.kind == "screw" and math.tau * abs(fit.pitch) * float(poses.whitening[:, 0, 0].mean()) > _TURNS_APART:
        along = (poses.translations - fit.axis_origin) @ fit.axis_rotation[:, 2] - fit.part_translation[2]
        angles = angles + math.tau * np.round((along / fit.pitch - angles) / math.tau)
    return np.asarray(angles)


def evaluated(fit: Fit, poses: Poses, *, steps: int = 2) -> Fit:
    """Return the joint with the best q of each pose, and how far each is from it."""
    values = first_values(fit, poses)
    white, mapped, _ = _errors(fit, poses, values)
    if fit.kind != "fixed":
        for _ in range(steps):
            along = _along_q(fit, mapped)
            size = np.einsum("ni,ni->n", along, along)
            values = values - np.einsum("ni,ni->n", along, white) / np.where(size > 0.0, size, np.inf)
            white, mapped, _ = _errors(fit, poses, values)
    return replace(fit, values=values, squares=np.einsum("ni,ni->n", white, white))


def white_errors(fit: Fit, poses: Poses) -> Floats:
    """Return how far each pose is from the joint at its value, (N, 6), white."""
    return _errors(fit, poses, fit.values)[0]


def along_values(fit: Fit, poses: Poses) -> Floats:
    """Return how the white errors change with the value of each pose, (N, 6)."""
    return _along_q(fit, _errors(fit, poses, fit.values)[1])


# -- Hypotheses


def hypotheses(kind: Kind, poses: Poses, pairs: NDArray[np.int64]) -> list[Fit]:
    """Return the joints of a kind by which the first pose of each pair becomes the second."""
    found = []
    for first, second in pairs:
        one, other = poses.rotations[first], poses.rotations[second]
        shift = poses.translations[second] - poses.translations[first]
        turn = vectors_of((other @ one.T)[None])[0]
        made = _hypothesis(kind, one, poses.translations[first], shift, turn)
        if made is not None:
            found.append(made)
    return found


def _hypothesis(kind: Kind, rotation: Floats, place: Floats, shift: Floats, turn: Floats) -> Fit | None:
    angle, way = float(np.linalg.norm(turn)), float(np.linalg.norm(shift))
    none = np.zeros(0)
    if kind == "fixed":
        return Fit(kind, np.eye(3), np.zeros(3), rotation, place, 0.0, none, none, none > 0, none, none)
    axis = shift / way if kind == "prismatic" and way > 0.0 else turn / angle if angle > 0.0 else None
    if axis is None or (kind == "prismatic" and way == 0.0):
        return None
    frame, origin, pitch = _frame_about(axis), place, 0.0
    if kind != "prismatic":
        if angle < _SMALL_RAD:
            return None
        along = float(axis @ shift)
        across = shift - along * axis
        # The point of the axis nearest to the middle between both places.
        origin = place + 0.5 * across + 0.5 / math.tan(0.5 * angle) * np.cross(axis, across)
        pitch = along / angle if kind == "screw" else 0.0
    part = frame.T @ rotation
    return Fit(kind, frame, origin, part, frame.T @ (place - origin), pitch, none, none, none > 0, none, none)


# -- Refinement


def fitted(start: Fit, poses: Poses, *, gate: float = _GATE, steps: int = _STEPS) -> Fit:
    """Return the joint that is nearest to the poses which are within a distance of it, by Gauss-Newton steps."""
    fit = evaluated(start, poses)
    is_in = fit.squares <= gate
    damping, cost = 1e-6, _cost(fit, gate)
    system = None
    for _ in range(steps):
        if is_in.sum() < 2:  # noqa: PLR2004  (two poses are a motion)
            break
        system = _system(fit, poses, is_in)
        step = _solution(system[0], system[1], damping)
        tried = evaluated(_changed(fit, step), poses, steps=1)
        reached = _cost(tried, gate)
        if reached > cost * (1 + 1e-12) + 1e-12:
            damping *= 10.0
            if damping > 1e6:  # noqa: PLR2004
                break
            continue
        damping = max(damping * 0.1, 1e-12)
        done = cost - reached <= _SETTLED * (1.0 + cost)
        fit, cost, is_in = tried, reached, tried.squares <= gate
        if done:
            break
    return _described(fit, poses, is_in)


def _cost(fit: Fit, gate: float) -> float:
    return float(np.minimum(fit.squares, gate).sum())


def _system(fit: Fit, poses: Poses, is_in: Mask) -> tuple[Floats, Floats, Floats]:
    """Return J'J and J'e over part, axis and pitch, with every q eliminated, and the size of each q column."""
    white, mapped, in_axis = _errors(fit, poses, fit.values)
    parts = [mapped]  # of the part, from the right
    columns = _AXIS_COLUMNS[fit.kind]
    if columns:
        turned, shifted = moved_along(fit, fit.values)
        place = turned @ fit.part_translation + shifted
        back = np.swapaxes(in_axis, 1, 2)
        adjoint = np.zeros((len(poses), 6, 6))
        adjoint[:, :3, :3] = adjoint[:, 3:, 3:] = back
        adjoint[:, :3, 3:] = -back @ skew(place)
        parts.append((mapped @ adjoint)[:, :, list(columns)])
    if fit.kind == "screw":
        slide = np.zeros((len(poses), 6, 1))
        slide[:, :3, 0] = fit.values[:, None] * fit.part_rotation[2]
        parts.append(mapped @ slide)
    jacobian = np.concatenate(parts, axis=2)
    along = _along_q(fit, mapped) if fit.kind != "fixed" else np.zeros((len(poses), 6))
    size = np.einsum("ni,ni->n", along, along)
    own = jacobian[is_in]
    inverse = (np.where(size > 0.0, 1.0 / np.where(size > 0.0, size, 1.0), 0.0))[is_in]
    crossed = np.einsum("ni,nij->nj", along[is_in], own)
    rows, error = own.reshape(-1, own.shape[2]), white[is_in]
    matrix = rows.T @ rows - (crossed * inverse[:, None]).T @ crossed
    slope = rows.T @ error.reshape(-1) - (inverse * np.einsum("ni,ni->n", along[is_in], error)) @ crossed
    return matrix, slope, size


def _solution(matrix: Floats, slope: Floats, damping: float) -> Floats:
    scale = 1.0 / np.sqrt(np.maximum(np.diagonal(matrix), 1e-12))
    values, vectors = np.linalg.eigh(matrix * np.outer(scale, scale))
    # What only moves the zero of q, or slides the axis along itself, has no effect: it stays.
    inverse = np.where(values > _GONE * max(values[-1], 1e-300), 1.0 / (np.maximum(values, 0.0) + damping), 0.0)
    return np.asarray(-scale * (vectors @ (inverse * (vectors.T @ (scale * slope)))))


def _changed(fit: Fit, step: Floats) -> Fit:
    part_rotation = fit.part_rotation @ rotation_of(step[3:6])
    part_translation = fit.part_translation + fit.part_rotation @ step[:3]
    axis = np.zeros(6)
    columns = _AXIS_COLUMNS[fit.kind]
    axis[list(columns)] = step[6 : 6 + len(columns)]
    return replace(
        fit,
        part_rotation=_orthonormal(part_rotation),
        part_translation=part_translation,
        axis_rotation=_orthonormal(fit.axis_rotation @ rotation_of(axis[3:])),
        axis_origin=fit.axis_origin + fit.axis_rotation @ axis[:3],
        pitch=fit.pitch + float(step[-1]) if fit.kind == "screw" else fit.pitch,
    )


def _orthonormal(matrix: Floats) -> Floats:
    left, _, right = np.linalg.svd(matrix)
    return np.asarray(left @ right)


def _described(fit: Fit, poses: Poses, is_in: Mask) -> Fit:
    """Return the joint with the covariance of its axis and the deviations of its values."""
    if not is_in.any():
        return replace(fit, is_in=is_in, deviations=np.full(len(poses), np.inf))
    matrix, _, size = _system(fit, poses, is_in)
    scale = 1.0 / np.sqrt(np.maximum(np.diagonal(matrix), 1e-300))
    values, vectors = np.linalg.eigh(matrix * np.outer(scale, scale))
    inverse = np.where(values > _GONE * max(values[-1], 1e-300), 1.0 / np.where(values > 0, values, 1.0), 0.0)
    covariance = np.outer(scale, scale) * ((vectors * inverse) @ vectors.T)
    deviations = 1.0 / np.sqrt(np.where(size > 0.0, size, np.inf)) if fit.kind != "fixed" else np.zeros(len(poses))
    return replace(
        fit,
        is_in=is_in,
        deviations=np.where(size > 0.0, deviations, np.inf) if fit.kind != "fixed" else deviations,
        covariance=np.asarray(covariance[6:, 6:]),
        changes=_AXIS_COLUMNS[fit.kind],
    )
