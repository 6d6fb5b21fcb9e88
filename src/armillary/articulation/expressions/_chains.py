"""Poses as chains: rotations about constant axes, products of poses, and the body Jacobian of a chain.

A chain is differentiated link by link: each link moves the links behind it as one rigid body. That is the product rule
in the form of poses; a link that is no rotation about a constant axis is differentiated as a matrix.
"""

from __future__ import annotations

from functools import lru_cache, reduce
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from armillary.articulation._terms import SX, Term, add, binary, build, casadi, constant, replaced, unary, united
from armillary.articulation.expressions._gradients import directions, jacobian_of
from armillary.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from armillary.articulation.expressions._gradients import Substitution
    from armillary.articulation.variables import Variable

    Axis = tuple[float, float, float]

__all__ = [
    "AxisRotation",
    "Chain",
    "Product",
    "as_axis",
    "body_jacobian_of",
    "links_of",
    "product",
    "product_of",
    "substituted",
]


class AxisRotation(NamedTuple):
    """A rotation about an axis of length one by an angle in radians; kept because its rate is known exactly."""

    axis: Axis
    angle: Term

    def rotation(self) -> Term:
        """The rotation as a matrix of 3 x 3."""
        return self._matrix(3)

    def pose(self) -> Term:
        """The rotation as a homogeneous matrix of 4 x 4."""
        return self._matrix(4)

    def _matrix(self, size: int) -> Term:
        """Rodrigues' formula, cos (1 - a a') + sin [a] + a a', with structural zeros.

        A rotation about z has four entries and a one.
        """
        across, skew, along = _axis_matrices(self.axis, size)
        even = binary(casadi.OP_MUL, unary(casadi.OP_COS, self.angle.sx), across)
        odd = binary(casadi.OP_MUL, unary(casadi.OP_SIN, self.angle.sx), skew)
        return self.angle.with_sx(add(add(even, odd), along))


def as_axis(axis: Any) -> Axis:
    """Check an axis of three numbers, and scale it to length one."""
    numbers = np.asarray(axis, dtype=np.float64)
    length = float(np.linalg.norm(numbers)) if numbers.shape == (3,) else 0.0
    if not 0.0 < length < np.inf:
        raise InvalidArgument(f"An axis is three numbers that are not all zero, got {axis!r}.", axis)
    x, y, z = (numbers / length).tolist()
    return x, y, z


@lru_cache(maxsize=256)  # most joints of a robot rotate about the same few axes
def _axis_matrices(axis: Axis, size: int) -> tuple[Any, Any, Any]:
    x, y, z = axis
    along = np.outer(axis, axis)
    skew = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    last = np.ones((size - 3, size - 3))
    return _padded(np.eye(3) - along, 0 * last), _padded(skew, 0 * last), _padded(along, last)


def _padded(matrix: NDArray[np.float64], last: NDArray[np.float64]) -> Any:
    whole = np.zeros((3 + len(last), 3 + len(last)))
    whole[:3, :3], whole[3:, 3:] = matrix, last
    return constant(whole)


class Chain(NamedTuple):
    """A pose and how it was made, as far as that helps to differentiate it."""

    term: Term
    made_of: Product | AxisRotation | None


class Product(NamedTuple):
    """The left pose, then the right one."""

    left: Chain
    right: Chain


def product(left: Chain, right: Chain) -> Chain:
    """Chain two poses: the left one, then the right one."""
    return Chain(build(casadi.mtimes, left.term, right.term), Product(left, right))


def product_of(links: Sequence[Chain]) -> Chain:
    """Chain these links."""
    return reduce(product, links)


def links_of(chain: Chain) -> list[Chain]:
    """Return the links of a chain, from its beginning."""
    return [link for _, link in reversed(_links_from_end(chain))]


def _links_from_end(chain: Chain) -> list[tuple[Term, Chain]]:
    """Return the links of a chain from its end, each with the pose at its end."""
    found = []
    while isinstance(chain.made_of, Product):
        found.append((chain.term, chain.made_of.right))
        chain = chain.made_of.left
    return [*found, (chain.term, chain)]


def substituted(chain: Chain, substitution: Substitution) -> Chain:
    """Substitute link by link, so that it is still known how the pose is made."""
    if isinstance(chain.made_of, AxisRotation):
        rotation = AxisRotation(chain.made_of.axis, substitution.of(chain.made_of.angle))
        return Chain(rotation.pose(), rotation)
    if chain.made_of is None:
        return Chain(substitution.of(chain.term), None)
    return product_of([substituted(link, substitution) for link in links_of(chain)])


def body_jacobian_of(chain: Chain, along: Sequence[Variable]) -> Term:
    """Return the body Jacobian. Rows: linear x, y, z, then angular x, y, z; one column for each direction."""
    if isinstance(chain.made_of, AxisRotation):
        rates = jacobian_of(chain.made_of.angle, along)
        return rates.with_sx(casadi.mtimes(constant([0.0, 0.0, 0.0, *chain.made_of.axis]), rates.sx))
    if isinstance(chain.made_of, Product):
        return _jacobian_of_chain(chain, along)
    return _jacobian_of_matrix(chain.term, along)


def _jacobian_of_chain(chain: Chain, along: Sequence[Variable]) -> Term:
    """Sum over the links, each seen from the end of the chain."""
    wanted = set(along)
    moving = [
        (pose, link, [key for key in directions(link.term) if key in wanted]) for pose, link in _links_from_end(chain)
    ]
    moving = [(pose, link, keys) for pose, link, keys in moving if keys]
    rates = [body_jacobian_of(link, keys) for _, link, keys in moving]
    parts, symbols, atoms = united([chain.term, *(pose for pose, _, _ in moving), *rates])
    poses, rates_sx = parts[1 : len(moving) + 1], parts[len(moving) + 1 :]
    last = 1 if moving and moving[0][0] is chain.term else 0
    columns = casadi.horzcat(*rates_sx[:last], _seen_from(parts[0], poses[last:], rates_sx[last:]))
    found = [key for _, _, keys in moving for key in keys]
    return Term(casadi.mtimes(columns, _selection(found, along)), symbols, atoms)


def _seen_from(end: Any, poses: Sequence[Any], rates: Sequence[Any]) -> Any:
    """Return the body rates of frames on one rigid body as another frame on it has them, side by side."""
    if not rates:
        return SX(6, 0)
    rotated = [
        casadi.mtimes(pose[:3, :3], casadi.reshape(each, 3, -1)) for pose, each in zip(poses, rates, strict=True)
    ]
    both = casadi.horzcat(*rotated)  # linear, angular, linear, angular, ...
    linear, angular = both[:, 0::2], both[:, 1::2]
    levers = casadi.horzcat(
        *(casadi.repmat(end[:3, 3] - pose[:3, 3], 1, each.size2()) for pose, each in zip(poses, rates, strict=True))
    )
    (a, b, c), (x, y, z) = casadi.vertsplit(angular), casadi.vertsplit(levers)
    cross = casadi.vertcat(b * z - c * y, c * x - a * z, a * y - b * x)
    back = end[:3, :3].T
    return casadi.vertcat(casadi.mtimes(back, linear + cross), casadi.mtimes(back, angular))


def _selection(found: Sequence[Variable], along: Sequence[Variable]) -> Any:
    """Return the matrix that adds each found column to that of its direction."""
    places = {direction: i for i, direction in enumerate(along)}
    sparsity = casadi.Sparsity.triplet(len(found), len(along), range(len(found)), [places[key] for key in found])
    return SX(casadi.DM(sparsity, 1.0))


def _jacobian_of_matrix(pose: Term, along: Sequence[Variable]) -> Term:
    """Differentiate a pose as it is seen from its own constant copy: six numbers instead of twelve.

    To first order these are the translation, and the vector part of fixed' @ rotation, which is skew up to a constant.
    """
    fixed = SX.sym("fixed", 3, 3)
    x, y, z = (pose.sx[:3, i] for i in range(3))
    angles = (casadi.dot(fixed[:, 2], y), casadi.dot(fixed[:, 0], z), casadi.dot(fixed[:, 1], x))
    seen = casadi.vertcat(casadi.mtimes(fixed.T, pose.sx[:3, 3]), *angles)
    jacobian = jacobian_of(pose.with_sx(seen), along)
    rotation = casadi.densify(pose.sx[:3, :3])
    return jacobian.with_sx(replaced(jacobian.sx, [(casadi.vec(fixed), casadi.vec(rotation))]))
