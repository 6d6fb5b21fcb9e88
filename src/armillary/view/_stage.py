"""What stands in a world at one time, in the coordinates of one frame."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from armillary.errors import ArmillaryError
from armillary.stamps import Latest

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

    from armillary.scene import Shape, VisitedNode
    from armillary.transforms import Snapshot, Transform
    from armillary.view._subject import Subject

Color = tuple[float, float, float]

_PLAIN: Color = (0.60, 0.67, 0.74)
_MOST_POINTS = 4000
_CERTAIN = 1e-18


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Thing:
    """A shape, where it stands, and its colour from 0 to 1."""

    shape: Shape
    transform: Transform
    color: Color
    opacity: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Stage:
    """What is to be drawn.

    Attributes:
        frames: Name to where it is.
        things: Shapes of the scene.
        covariances: Name to (3, 3) [m2] of its position, where that is known and not exact.
    """

    frames: Mapping[str, Transform]
    things: Iterable[Thing]
    covariances: Mapping[str, NDArray[float64]]


def stage_of(world: Subject, in_frame: str, at: int | Latest, frames: Iterable[str] | None) -> Stage:
    """Everything that can be answered for; `frames` are all that somebody named, if left out."""
    snapshot = world.snapshot(in_frame=in_frame, at=at)
    seen = _Seen(snapshot)
    (world.scene if isinstance(at, Latest) else world.scene.as_of(at)).traverse(seen)
    wanted = [name for name in snapshot if name not in seen.unnamed] if frames is None else list(frames)
    places = {name: snapshot[name] if name in snapshot else _refused(snapshot, name) for name in wanted}
    sizes = {name: _covariance(world, name, in_frame, at) for name in places}
    known = {name: covariance for name, covariance in sizes.items() if covariance is not None}
    return Stage(frames=places, things=seen.things, covariances=known)


def _refused(snapshot: Snapshot, name: str) -> Transform:
    raise snapshot.missing[name]


@dataclass
class _Seen:
    """Collects the shapes of a scene, and the frames of nodes that nobody named."""

    snapshot: Snapshot
    things: list[Thing] = field(default_factory=list)
    unnamed: set[str] = field(default_factory=set)

    def enter(self, node: VisitedNode) -> None:
        """Called for every node."""
        if node.kind in {"transform", "uncertain_transform"}:
            self.unnamed.add(node.frame)
        if node.kind == "geometry" and node.frame in self.snapshot:
            color, opacity = _color(node.attributes.get("color"))
            shape, transform = node.levels.with_at_most(_MOST_POINTS), self.snapshot[node.frame]
            self.things.append(Thing(shape=shape, transform=transform, color=color, opacity=opacity))


def _color(said: Any) -> tuple[Color, float]:
    """(r, g, b) or (r, g, b, a) from 0 to 1."""
    numbers = [float(part) for part in said] if isinstance(said, list | tuple) else []
    if len(numbers) not in {3, 4}:
        return _PLAIN, 1.0
    r, g, b = np.clip(numbers[:3], 0.0, 1.0).tolist()
    return (r, g, b), numbers[3] if len(numbers) > 3 else 1.0  # noqa: PLR2004


def _covariance(world: Subject, name: str, in_frame: str, at: int | Latest) -> NDArray[float64] | None:
    try:
        pose = world.pose(of=name, in_frame=in_frame, at=at)
    except ArmillaryError:
        return None
    if pose.covariance is None or pose.covariance[:3, :3].max() < _CERTAIN:
        return None
    R = pose.rotation.matrix
    return np.asarray(R @ pose.covariance[:3, :3] @ R.T)
