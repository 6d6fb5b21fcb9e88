"""What notebooks show of poses and twists."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from armillary.errors import NotNumeric
from armillary.notebook import card, facts, numbers, turn

if TYPE_CHECKING:
    from armillary.relations._pose import Pose
    from armillary.relations._twist import Twist

__all__ = ["pose_html", "twist_html"]

_MOST_RELATIONS = 12
_Rows = Iterator[tuple[str, str]]


def pose_html(pose: Pose) -> str:
    """Its names, its numbers where it has any, and where it comes from."""
    return card(f"{pose.of} in {pose.in_frame}", facts([*_names(pose), *_pose_numbers(pose), *_origin(pose)]))


def twist_html(twist: Twist) -> str:
    """Its names, its numbers where it has any, and where it comes from."""
    title = f"{twist.point} relative to {twist.reference_body}, along {twist.expressed_in}"
    return card(title, facts([*_twist_numbers(twist), *_origin(twist)]))


def _names(pose: Pose) -> _Rows:
    """Those that do not follow from the two frames."""
    plain = {"point": pose.of, "body": pose.of, "reference_point": pose.in_frame}
    plain |= {"reference_body": pose.in_frame, "expressed_in": pose.in_frame}
    for name, usual in plain.items():
        if getattr(pose, name) != usual:
            yield name.replace("_", " "), getattr(pose, name)


def _pose_numbers(pose: Pose) -> _Rows:
    try:
        yield "xyz", f"{numbers(pose.xyz)} m"
        yield from turn(pose.orientation.turn.numbers())
    except NotNumeric:
        yield "depends on", "variables"
    yield from _deviations(pose.covariance, ("xyz", "m"), ("turning", "rad"))


def _twist_numbers(twist: Twist) -> _Rows:
    try:
        yield "linear", f"{numbers(twist.linear)} m/s"
        yield "angular", f"{numbers(twist.angular)} rad/s"
    except NotNumeric:
        yield "depends on", "variables"
    yield from _deviations(twist.covariance, ("linear", "m/s"), ("angular", "rad/s"))


def _deviations(covariance: Any, first: tuple[str, str], second: tuple[str, str]) -> _Rows:
    if covariance is None:
        return
    deviations = np.sqrt(np.clip(np.diagonal(covariance), 0.0, None))
    yield f"± {first[0]}", f"{numbers(deviations[:3])} {first[1]}"
    yield f"± {second[0]}", f"{numbers(deviations[3:])} {second[1]}"


def _origin(value: Pose | Twist) -> _Rows:
    yield "at", "always" if value.stamp is None else f"{value.stamp / 1e9:.9g} s"
    method = getattr(value, "method", None)
    if method is not None:
        yield "method", str(method)
    flags = [flag for flag in ("held", "predicted", "integrated") if getattr(value, flag, False)]
    if flags:
        yield "", ", ".join(flags)
    if value.relations:
        yield "from", _told(value.relations)


def _told(relations: Any) -> str:
    told = [f"{of} in {in_frame}" + (f" by {source}" if source else "") for of, in_frame, source in relations]
    rest = len(told) - _MOST_RELATIONS
    return "; ".join(told[:_MOST_RELATIONS]) + (f"; and {rest} more" if rest > 0 else "")
