"""Measured twists that come as relations or coordinates, read for `set_twist`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from armillary.errors import InvalidArgument
from armillary.relations import Twist
from armillary.relations.arrays import as_covariance, seen_through, skew
from armillary.relations.representations.adapters import adapt_twist, adapt_vector

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy import float64
    from numpy.typing import NDArray

    from armillary.relations import Pose


class ReadTwist(NamedTuple):
    """What `set_twist` stores: numbers at the origin of `of`, along the axes of `expressed_in`."""

    expressed_in: str
    linear: NDArray[float64]
    angular: NDArray[float64]
    covariance: Any


def read_twist(
    value: Any, *, of: str, relative_to: str, expressed_in: str | None, covariance: Any, pose: Callable[[], Pose]
) -> ReadTwist:
    """Coordinates of a twist as they can be stored.

    Args:
        value: Twist coordinates.
        of: The frame that moves.
        relative_to: The frame it moves relative to.
        expressed_in: The axes of free coordinates.
        covariance: (6, 6) of the same numbers, or None.
        pose: Of `of` in `relative_to`; asked for where the point must be moved.
    """
    parts = adapt_twist(value)
    linear, angular = adapt_vector(parts.linear).numbers(), adapt_vector(parts.angular).numbers()
    axes = {"body": of, "spatial": relative_to, "hybrid": relative_to}.get(parts.form, expressed_in)
    if axes is None:
        raise InvalidArgument(f"{value!r} does not say along whose axes it is. Pass expressed_in=.", value)
    if expressed_in not in {None, axes}:
        raise InvalidArgument(
            f"A {parts.form} twist of '{of}' relative to '{relative_to}' is along the axes of '{axes}', and "
            f"expressed_in is '{expressed_in}'. Leave expressed_in out, or pass linear= and angular=.",
            expressed_in,
        )
    read = ReadTwist(axes, linear, angular, as_covariance(covariance, "covariance"))
    return _at_target(read, pose()) if parts.form == "spatial" else read


def _at_target(spatial: ReadTwist, pose: Pose) -> ReadTwist:
    """As a body twist: Ad(T^-1) V, and with T = mean Exp(xi) its error is ad(v) xi beside its own."""
    J = pose.transform.inverse().adjoint
    v = J @ np.concatenate([spatial.linear, spatial.angular])
    spread = seen_through(J, spatial.covariance)
    if spread is not None:
        by_pose = seen_through(_ad(v), pose.covariance)
        spread = None if by_pose is None else spread + by_pose
    return ReadTwist(pose.of, v[:3], v[3:], spread)


def _ad(twist: NDArray[float64]) -> NDArray[float64]:
    """(6, 6): the change of a body twist for a small motion of its frame."""
    linear, angular = skew(twist[:3]), skew(twist[3:])
    return np.block([[angular, linear], [np.zeros((3, 3)), angular]])


def check_names(twist: Twist, *, at: int, point: str, bodies: dict[str, set[str]]) -> None:
    """Refuse a relation that is about something else than the call that says it.

    Args:
        twist: The relation.
        at: Instant of the call.
        point: Whose origin the velocity must be of.
        bodies: The names that `body` and `reference_body` may have.
    """
    if twist.point != point:
        raise InvalidArgument(
            f"{twist!r} is the velocity of '{twist.point}', and the call is about '{point}'. Move it first, "
            ".change_point(...), or name that frame.",
            twist,
        )
    for name, allowed in bodies.items():
        if getattr(twist, name) not in allowed:
            raise InvalidArgument(
                f"{name} of {twist!r} is '{getattr(twist, name)}', and the call names {' or '.join(sorted(allowed))}.",
                twist,
            )
    if twist.stamp not in {None, at}:
        raise InvalidArgument(f"{twist!r} is of the instant {twist.stamp} ns, and at is {at} ns.", twist)
