"""Which frames are shown, and by which name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from armillary.errors import ArmillaryError
from armillary.stamps import LATEST
from armillary.transforms import Transform

if TYPE_CHECKING:
    from armillary.scene import VisitedNode
    from armillary.scene.reading import SceneReader
    from armillary.view.web._viewed import Viewed

__all__ = ["NamedFrames", "named_frames"]

_IDENTITY = Transform.identity()


@dataclass(frozen=True, slots=True, eq=False)
class NamedFrames:
    """Frames with a name that somebody gave them.

    A transform in the scene has a frame of its own, whose name is its id. It is shown by its attribute `name`; without
    one it only places what is in it.

    Attributes:
        labels: By frame that is shown, what it is called.
        carriers: By frame that is not shown, the one that it is in.
        attributes: By frame, what the scene says of it.
    """

    labels: Mapping[str, str]
    carriers: Mapping[str, str]
    attributes: Mapping[str, Mapping[str, object]]

    def carrier(self, world: Viewed, frame: str) -> tuple[str, Transform]:
        """The nearest frame that is shown and on which this one stands still; and where it stands."""
        at = _IDENTITY
        while (above := self.carriers.get(frame)) is not None:
            above_T_frame = _fixed(world, of=frame, in_frame=above)
            if above_T_frame is None:
                break
            at, frame = above_T_frame @ at, above
        return frame, at


def named_frames(world: Viewed, versions: Sequence[SceneReader]) -> NamedFrames:
    """Those of a world, with what its scene says of them; of a node in several versions, what the first says."""
    nodes = _FramesOfNodes()
    for scene in versions:
        scene.traverse(nodes)
    labels = {frame: nodes.labels.get(frame, frame) for frame in world.frames() if frame not in nodes.carriers}
    return NamedFrames(labels, nodes.carriers, nodes.attributes)


class _FramesOfNodes:
    """Collects what a scene says of frames."""

    def __init__(self) -> None:
        self.labels: dict[str, str] = {}
        self.carriers: dict[str, str] = {}
        self.attributes: dict[str, dict[str, object]] = {}

    def enter(self, node: VisitedNode) -> None:
        """Called for every node."""
        if node.kind not in {"transform", "uncertain_transform", "frame"} or node.frame in self.attributes:
            return
        frame, said = node.frame, node.attributes
        self.attributes[frame] = said
        if isinstance(said.get("name"), str):
            self.labels[frame] = said["name"]
        elif node.kind != "frame" and node.before is not None:
            self.carriers[frame] = node.before.frame


def _fixed(world: Viewed, *, of: str, in_frame: str) -> Transform | None:
    try:
        pose = world.pose(of=of, in_frame=in_frame, at=LATEST)
    except ArmillaryError:
        return None
    return pose.transform if pose.stamp is None else None
