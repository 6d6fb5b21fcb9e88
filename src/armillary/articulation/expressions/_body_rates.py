"""The velocity of a frame, seen from itself.

A chain is differentiated link by link: each link moves what hangs on it as a rigid body. That is the product rule in
the form of poses; the links themselves go the way of all derivatives (`_gradients.py`).
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple

from armillary.articulation.expressions._casadi import SX, casadi
from armillary.articulation.expressions._gradients import directions, jacobian_of
from armillary.articulation.expressions._terms import Term, build, replaced, united
from armillary.articulation.expressions._turns import Turn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from armillary.articulation.expressions._substitution import Substitution
    from armillary.articulation.variables import Variable

__all__ = ["Motion", "Product", "body_jacobian_of", "links_of", "product", "product_of", "substituted"]


class Motion(NamedTuple):
    """A pose and how it was made, as far as that helps to differentiate it."""

    term: Term
    made_of: Product | Turn | None


class Product(NamedTuple):
    """The left pose, then the right one."""

    left: Motion
    right: Motion


def body_jacobian_of(motion: Motion, along: Sequence[Variable]) -> Term:
    """Rows: linear x, y, z, then angular x, y, z; one column for each direction."""
    if isinstance(motion.made_of, Turn):
        return _of_turn(motion.made_of, along)
    if isinstance(motion.made_of, Product):
        return _of_chain(motion, along)
    return _of_matrix(motion.term, along)


def substituted(motion: Motion, substitution: Substitution) -> Motion:
    """Link by link, so that it is still known how the pose is made."""
    if isinstance(motion.made_of, Turn):
        turn = Turn(motion.made_of.axis, substitution.of(motion.made_of.angle))
        return Motion(turn.pose(), turn)
    if motion.made_of is None:
        return Motion(substitution.of(motion.term), None)
    return product_of([substituted(link, substitution) for link in links_of(motion)])


def links_of(motion: Motion) -> list[Motion]:
    """The links of a chain, from its beginning."""
    return [link for _, link in reversed(_links(motion))]


def product_of(links: Sequence[Motion]) -> Motion:
    """The chain of these links."""
    return reduce(product, links)


def product(left: Motion, right: Motion) -> Motion:
    """The left pose, then the right one."""
    return Motion(build(casadi.mtimes, left.term, right.term), Product(left, right))


def _of_turn(turn: Turn, along: Sequence[Variable]) -> Term:
    rates = jacobian_of(turn.angle, along)
    return rates.with_sx(casadi.mtimes(SX(casadi.sparsify(casadi.DM([0.0, 0.0, 0.0, *turn.axis]))), rates.sx))


def _of_chain(motion: Motion, along: Sequence[Variable]) -> Term:
    """The sum over the links, each seen from the last one."""
    wanted = set(along)
    moving = [
        (reached, link, [key for key in directions(link.term) if key in wanted]) for reached, link in _links(motion)
    ]
    moving = [(reached, link, keys) for reached, link, keys in moving if keys]
    rates = [body_jacobian_of(link, keys) for _, link, keys in moving]
    parts, symbols, atoms = united([motion.term, *(reached for reached, _, _ in moving), *rates])
    reached, rates_sx = parts[1 : len(moving) + 1], parts[len(moving) + 1 :]
    last = 1 if moving and moving[0][0] is motion.term else 0
    columns = casadi.horzcat(*rates_sx[:last], _seen_from(parts[0], reached[last:], rates_sx[last:]))
    found = [key for _, _, keys in moving for key in keys]
    return Term(casadi.mtimes(columns, _selection(found, along)), symbols, atoms)


def _links(motion: Motion) -> list[tuple[Term, Motion]]:
    """The links of a chain from its end, each with the pose it leads to."""
    found = []
    while isinstance(motion.made_of, Product):
        found.append((motion.term, motion.made_of.right))
        motion = motion.made_of.left
    return [*found, (motion.term, motion)]


def _seen_from(end: Any, reached: Sequence[Any], rates: Sequence[Any]) -> Any:
    """The rates of frames on a rigid body, as another frame on it has them; side by side."""
    counts = [each.size2() for each in rates]
    turned = [
        casadi.mtimes(pose[:3, :3], casadi.reshape(each, 3, -1)) for pose, each in zip(reached, rates, strict=True)
    ]
    if not turned:
        return SX(6, 0)
    both = casadi.horzcat(*turned)  # linear, angular, linear, angular, ...
    linear, angular = both[:, 0::2], both[:, 1::2]
    levers = casadi.horzcat(
        *(casadi.repmat(end[:3, 3] - pose[:3, 3], 1, n) for pose, n in zip(reached, counts, strict=True))
    )
    back = end[:3, :3].T
    return casadi.vertcat(
        casadi.mtimes(back, linear + _columnwise_cross(angular, levers)), casadi.mtimes(back, angular)
    )


def _columnwise_cross(left: Any, right: Any) -> Any:
    (a, b, c), (x, y, z) = casadi.vertsplit(left), casadi.vertsplit(right)
    return casadi.vertcat(b * z - c * y, c * x - a * z, a * y - b * x)


def _selection(found: Sequence[Variable], along: Sequence[Variable]) -> Any:
    """Which column is added to which."""
    places = {direction: i for i, direction in enumerate(along)}
    sparsity = casadi.Sparsity.triplet(len(found), len(along), range(len(found)), [places[key] for key in found])
    return SX(casadi.DM(sparsity, 1.0))


def _of_matrix(pose: Term, along: Sequence[Variable]) -> Term:
    """The pose is differentiated as it is seen from where the frame is held still: six numbers instead of twelve."""
    still = SX.sym("still", 3, 3)
    jacobian = jacobian_of(pose.with_sx(_motion_seen_from(still, pose.sx)), along)
    turned = casadi.densify(pose.sx[:3, :3])
    return jacobian.with_sx(replaced(jacobian.sx, [(casadi.vec(still), casadi.vec(turned))]))


def _motion_seen_from(still: Any, pose: Any) -> Any:
    """To first order: the shift, and the vector part of still' @ rotation, which is skew up to a constant."""
    x, y, z = (pose[:3, i] for i in range(3))
    turn = (casadi.dot(still[:, 2], y), casadi.dot(still[:, 0], z), casadi.dot(still[:, 1], x))
    return casadi.vertcat(casadi.mtimes(still.T, pose[:3, 3]), *turn)
