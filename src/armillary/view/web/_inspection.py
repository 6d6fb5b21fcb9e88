"""Everything that is known of one frame, in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from armillary.errors import ArmillaryError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from armillary.relations import Pose
    from armillary.stamps import Latest
    from armillary.transforms import RelationInfo
    from armillary.view.web._frames import NamedFrames
    from armillary.view.web._viewed import Viewed

__all__ = ["Inspection", "inspect"]

_NS_PER_S = 1e9
_LONGEST = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """What is said of a frame: headings, and below each the rows of a table.

    Attributes:
        title: The name of the frame.
        trouble: Why its pose is not known; empty where it is.
        parts: By heading, names and values.
    """

    title: str
    trouble: str
    parts: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]


def inspect(world: Viewed, frame: str, names: NamedFrames, *, in_frame: str, at: int | Latest) -> Inspection:
    """A frame seen from another one at one instant."""
    trouble, rows = "", tuple[tuple[str, str], ...]()
    try:
        rows = tuple(_pose_rows(world.pose(of=frame, in_frame=in_frame, at=at, outside="hold")))
    except ArmillaryError as error:
        trouble = str(error)
    parts = [(f"Pose in {names.labels.get(in_frame, in_frame)}", rows)] if rows else []
    parts += [_relation_part(info, names) for info in world.relations() if info.of == frame]
    attributes = tuple((key, _short(value)) for key, value in names.attributes.get(frame, {}).items())
    parts += [("Attributes", attributes)] if attributes else []
    return Inspection(title=names.labels.get(frame, frame), trouble=trouble, parts=tuple(parts))


def _pose_rows(pose: Pose) -> Iterator[tuple[str, str]]:
    transform = pose.transform
    yield "position [m]", _vector(transform.translation)
    yield "roll, pitch, yaw [°]", _vector(np.degrees(transform.rotation.rpy), digits=1)
    yield "quaternion w x y z", _vector(transform.rotation.wxyz)
    if pose.covariance is not None:
        deviations = np.sqrt(np.maximum(np.diag(pose.covariance), 0.0))
        yield "± position [mm]", _vector(1e3 * deviations[:3], digits=1)
        yield "± angle [°]", _vector(np.degrees(deviations[3:]), digits=2)
    yield "instant", "the same always" if pose.stamp is None else f"{pose.stamp / _NS_PER_S:.3f} s"
    if pose.held:
        yield "held", "beyond the history: the nearest sample"


def _relation_part(info: RelationInfo, names: NamedFrames) -> tuple[str, tuple[tuple[str, str], ...]]:
    what = "Motion relative to" if info.kind == "twist" else "Placed in"
    rows = [("kind", info.kind)]
    rows += [("said by", info.source)] if info.source else []
    rows += [("rate", f"{info.rate_hz:.3g} Hz")] if info.rate_hz is not None else []
    rows += [("age", _duration(info.age_s))] if info.age_s is not None else []
    rows += [("samples", f"{info.samples} over {info.span_s:.3g} s")] if info.samples else []
    return f"{what} {names.labels.get(info.in_frame, info.in_frame)}", tuple(rows)


def _duration(age_s: float) -> str:
    return f"{age_s * 1e3:.0f} ms" if abs(age_s) < 1.0 else f"{age_s:.1f} s"


def _vector(values: object, digits: int = 3) -> str:
    return "  ".join(f"{value + 0.0:.{digits}f}" for value in np.round(np.asarray(values, dtype=float), digits))


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
