"""How far links are from where they were seen: the normal equations of that, compiled for all links at once.

The error of a link is from the pose that was observed to that of the model, in the observed frame: a translation, and a
rotation vector. Divided by the standard deviations of the observation it is white; the sum of its squares is what a
tracker minimises. One call of the compiled function returns that sum for each link, its gradient, and the information
matrix J' J. A link that is not in view has a weight of zero.
"""

from __future__ import annotations

import operator
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from armillary.articulation import MatrixExpression, pose, position, rotation_from_quaternion, stack
from armillary.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from armillary.articulation import Expression, PoseExpression, Variable
    from armillary.motion.tracked_joints import TrackedJoints
    from armillary.transforms import Transform

    Floats = NDArray[np.float64]

__all__ = ["NormalEquations", "PoseResiduals", "as_covariance"]

_POSE, _WHITENING = 7, 21
_WIDTH = _POSE + _WHITENING
_ROWS, _COLUMNS = np.tril_indices(6)
_SYMMETRIC = 1e-9
_PARTS = 6


class NormalEquations:
    """What one call of the compiled function returned.

    Attributes:
        squares: By link, the squared Mahalanobis distance between where it is and where it was seen; 0: not in view.
        slope: Half the gradient of their sum, along the free positions.
        information: Half its second derivative, J' J.
    """

    def __init__(self, squares: Floats, slope: Floats, information: Floats) -> None:
        self.squares, self.slope, self.information = squares, slope, information

    @property
    def cost(self) -> float:
        """The sum of the squares."""
        return float(self.squares.sum())


class PoseResiduals:
    """The errors of some links as a function of the configuration and of what was observed.

    Args:
        poses: By path, the pose of each link.
        joints: The joints that move them.
    """

    def __init__(self, poses: Mapping[str, PoseExpression], joints: TrackedJoints) -> None:
        self.links = tuple(poses)
        self._moved = [path for path in self.links if poses[path].gradient()]
        self._place = {path: i for i, path in enumerate(self._moved)}
        count = len(joints.free)
        self._columns = {variable.velocity: i for i, variable in enumerate(joints.free)}
        inputs: list[Variable] = [*joints.free, *joints.following]
        self._begin = len(inputs)
        squares: list[Expression] = []
        slopes: dict[int, list[Expression]] = {}
        products: dict[tuple[int, int], list[Expression]] = {}
        for i, path in enumerate(self._moved):
            seen = [position(f"observed {i}/{k}") for k in range(_WIDTH)]
            inputs += seen
            square, slope, product = self._terms(poses[path], seen)
            squares.append(square)
            for place, one in slope.items():
                slopes.setdefault(place, []).append(one)
            for pair, one in product.items():
                products.setdefault(pair, []).append(one)
        self._touches = np.zeros((len(self._moved), count), dtype=bool)
        for i, path in enumerate(self._moved):
            self._touches[i, [self._columns[key] for key in poses[path].gradient()]] = True
        pairs = list(products)
        self._slope_places = np.array(list(slopes), dtype=int)
        self._pair_places = np.array(pairs, dtype=int).reshape(-1, 2).T
        sums = [reduce(operator.add, parts) for parts in (*slopes.values(), *products.values())]
        self._count, self._size = len(self._moved), count
        self._function = stack([*squares, *sums]).compile(order=inputs) if inputs and squares else None
        self._inputs = np.zeros(len(inputs))
        self._outputs = np.zeros(len(squares) + len(sums))

    def _terms(
        self, root_T_link: PoseExpression, seen: Sequence[Variable]
    ) -> tuple[Expression, dict[int, Expression], dict[tuple[int, int], Expression]]:
        along = sorted(root_T_link.gradient(), key=self._columns.__getitem__)
        observed = pose(rotation_from_quaternion(*seen[3:_POSE]), seen[:3])
        error: Any = observed.inverse() @ root_T_link
        turn = error.rotation.vector()
        jacobian = root_T_link.body_jacobian(along)
        cross = MatrixExpression([[0.0, -turn.z, turn.y], [turn.z, 0.0, -turn.x], [-turn.y, turn.x, 0.0]])
        # The inverse of the right Jacobian of the rotation vector; what is left out is of the fourth order.
        turning = MatrixExpression(np.eye(3)) + 0.5 * cross + (cross @ cross) * (1.0 / 12.0)
        triangle = np.full((6, 6), None, dtype=object)
        triangle[:] = 0.0
        triangle[_ROWS, _COLUMNS] = list(seen[_POSE:])
        whitening = MatrixExpression(triangle.tolist())
        white = whitening @ stack([error.translation, turn])
        columns = [
            whitening @ stack([error.rotation.matrix @ jacobian[0:3, k], turning @ jacobian[3:6, k]])
            for k in range(len(along))
        ]
        places = [self._columns[key] for key in along]
        slope = {place: column.dot(white) for place, column in zip(places, columns, strict=True)}
        product = {
            (places[i], places[j]): columns[i].dot(columns[j])
            for i in range(len(places))
            for j in range(i, len(places))
        }
        return white.dot(white), slope, product

    def observe(self, seen: Sequence[tuple[str, Transform, Floats]]) -> NDArray[np.bool_]:
        """Set what is in view, with covariances, and return which free positions that tells something about."""
        table = self._inputs[self._begin :].reshape(-1, _WIDTH)
        table[:] = 0.0
        table[:, 3] = 1.0
        told = np.zeros(self._size, dtype=bool)
        whitenings: dict[int, Floats] = {}  # many links share one covariance
        for path, root_T_link, covariance in seen:
            place = self._place.get(path)
            if place is None:  # it does not move
                continue
            whitening = whitenings.get(id(covariance))
            if whitening is None:
                whitening = np.linalg.inv(np.linalg.cholesky(covariance))[_ROWS, _COLUMNS]
                whitenings[id(covariance)] = whitening
            table[place, :3] = root_T_link.translation
            table[place, 3:_POSE] = root_T_link.rotation.wxyz
            table[place, _POSE:] = whitening
            told |= self._touches[place]
        return told

    def at(self, completed: Floats) -> NormalEquations:
        """Return the normal equations at these values of all positions."""
        information = np.zeros((self._size, self._size))
        slope = np.zeros(self._size)
        if self._function is None:
            return NormalEquations(np.zeros(0), slope, information)
        self._inputs[: self._begin] = completed
        found = self._function(self._inputs, self._outputs)
        count, ends = self._count, self._count + len(self._slope_places)
        slope[self._slope_places] = found[count:ends]
        first, second = self._pair_places
        information[first, second] = found[ends:]
        information[second, first] = found[ends:]
        return NormalEquations(found[:count].copy(), slope, information)

    def by_link(self, squares: Floats, seen: Iterable[str]) -> dict[str, float]:
        """Return the squares of the links that were seen and can move."""
        return {path: float(squares[self._place[path]]) for path in seen if path in self._place}


def as_covariance(value: ArrayLike, what: str) -> Floats:
    """Check the covariance of a pose: (6,) variances or (6, 6), translation then rotation, positive definite."""
    given = np.asarray(value, dtype=float)
    matrix = np.diag(given) if given.shape == (_PARTS,) else given
    cure = "Give 6 variances or a (6, 6) matrix, translation [m²] then rotation [rad²], in the frame of the link."
    if matrix.shape != (_PARTS, _PARTS):
        raise InvalidArgument(f"The covariance of {what} has shape {given.shape}. {cure}", value)
    if not np.isfinite(matrix).all():
        raise InvalidArgument(f"The covariance of {what} is not finite. {cure}", value)
    if abs(matrix - matrix.T).max() > _SYMMETRIC * abs(matrix).max():
        raise InvalidArgument(f"The covariance of {what} is not symmetric. {cure}", value)
    if np.linalg.eigvalsh(matrix)[0] <= 0.0:
        raise InvalidArgument(
            f"The covariance of {what} is not positive definite: no observation is exact. {cure}", value
        )
    return matrix
