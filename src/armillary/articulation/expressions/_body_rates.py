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
    columns = {direction: i for i, direction in enumerate(along)}
    placed = []
    for reached, link in _links(motion):
        own = [direction for direction in directions(link.term) if direction in columns]
        if own:
            rates = body_jacobian_of(link, own)
            seen = rates if reached is motion.term else build(_seen_from, reached, motion.term, rates)
            placed.append((seen, [columns[direction] for direction in own]))
    parts, symbols, atoms = united([motion.term, *(seen for seen, _ in placed)])
    whole = SX(6, len(along))
    for part, (_, places) in zip(parts[1:], placed, strict=True):
        whole[:, places] += part
    return Term(whole, symbols, atoms)


def _links(motion: Motion) -> list[tuple[Term, Motion]]:
    """The links of a chain from its end, each with the pose it leads to."""
    found = []
    while isinstance(motion.made_of, Product):
        found.append((motion.term, motion.made_of.right))
        motion = motion.made_of.left
    return [*found, (motion.term, motion)]


def _seen_from(reached: Any, end: Any, rates: Any) -> Any:
    """The rates of a frame of a rigid body, as another frame on it has them."""
    linear, angular = (casadi.mtimes(reached[:3, :3], part) for part in (rates[:3, :], rates[3:, :]))
    linear = linear - casadi.mtimes(casadi.skew(end[:3, 3] - reached[:3, 3]), angular)
    back = end[:3, :3].T
    return casadi.vertcat(casadi.mtimes(back, linear), casadi.mtimes(back, angular))


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
