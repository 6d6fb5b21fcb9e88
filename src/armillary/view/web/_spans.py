"""From when to when there is something to see."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from armillary.errors import ArmillaryError, StampOutOfRange

if TYPE_CHECKING:
    from armillary.transforms import RelationInfo
    from armillary.view.web._viewed import Viewed

__all__ = ["spans"]

_BEFORE_EVERYTHING_NS = -(2**61)


def spans(world: Viewed, relations: Iterable[RelationInfo]) -> Iterator[tuple[int, int]]:
    """First and last stamp [ns] of every relation and of every joint that has samples."""
    for info in relations:
        if info.first is not None and info.last is not None:
            yield info.first, info.last
    for joint in world.joints():
        span = _joint_span(world, joint)
        if span is not None:
            yield span


def _joint_span(world: Viewed, joint: str) -> tuple[int, int] | None:
    """The refusal of a question that is too old says what there is, and copies no samples."""
    try:
        world.joint(joint, at=_BEFORE_EVERYTHING_NS)
    except StampOutOfRange as error:
        return None if error.first is None or error.last is None else (error.first, error.last)
    except ArmillaryError:
        return None
    return None
