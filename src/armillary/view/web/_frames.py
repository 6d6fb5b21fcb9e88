"""Displayed frames: their labels, and their poses at one instant as arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from armillary.errors import ArmillaryError
from armillary.stamps import LATEST, Latest
from armillary.transforms import Transform

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

    from armillary.scene import VisitedNode
    from armillary.scene.reading import SceneReader
    from armillary.transforms import Snapshot
    from armillary.view._world_protocol import ViewableWorld


_IDENTITY = Transform.identity()
_AFTER_EVERYTHING_NS = 2**61


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

    def carrier(self, world: ViewableWorld, frame: str) -> tuple[str, Transform]:
        """The nearest frame that is shown and on which this one stands still; and where it stands."""
        at = _IDENTITY
        while (above := self.carriers.get(frame)) is not None:
            above_T_frame = _fixed(world, of=frame, in_frame=above)
            if above_T_frame is None:
                break
            at, frame = above_T_frame @ at, above
        return frame, at


def named_frames(world: ViewableWorld, versions: Sequence[SceneReader]) -> NamedFrames:
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


def _fixed(world: ViewableWorld, *, of: str, in_frame: str) -> Transform | None:
    try:
        pose = world.pose(of=of, in_frame=in_frame, at=LATEST)
    except ArmillaryError:
        return None
    return pose.transform if pose.stamp is None else None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FramePoses:
    """Frames seen from one frame at one instant.

    Attributes:
        in_frame: The frame they are seen from.
        at_ns: The instant that was asked for.
        names: The frames that were asked for.
        rows: (N, 7): x, y, z, then the quaternion w, x, y, z; NaN where the pose is not known.
        snapshot: What the world answered.
        held: Frames that were looked at beyond their history.
    """

    in_frame: str
    at_ns: int
    names: tuple[str, ...]
    rows: NDArray[float64]
    snapshot: Snapshot
    held: frozenset[str]

    @property
    def is_known(self) -> NDArray[np.bool_]:
        """(N,): which have a pose."""
        return ~np.isnan(self.rows[:, 0])

    def of(self, name: str) -> NDArray[float64] | None:
        """(7,) of one frame; None where it is not known."""
        row = self.rows[self.names.index(name)] if name in self.names else None
        return None if row is None or np.isnan(row[0]) else row


def frame_poses(world: ViewableWorld, names: Sequence[str], *, in_frame: str, at: int | Latest) -> FramePoses:
    """Where these frames are: all of them from one sweep.

    Beyond the history of a frame its nearest sample is shown, and said to be held. `LATEST` takes the newest of every
    relation: the newest that all of a path covers differs from frame to frame, and would tear a robot apart whose
    joints are told one by one.
    """
    at_ns = _AFTER_EVERYTHING_NS if isinstance(at, Latest) else at
    snapshot = world.snapshot(in_frame=in_frame, at=at_ns, outside="hold")
    return FramePoses(
        in_frame=in_frame,
        at_ns=at_ns,
        names=tuple(names),
        rows=snapshot.xyz_wxyz(names),
        snapshot=snapshot,
        held=frozenset() if isinstance(at, Latest) else snapshot.held,
    )


def compose(a_T_b: NDArray[float64], b_T_c: NDArray[float64]) -> NDArray[float64]:
    """(N, 7) a_T_c of rows that belong together."""
    aw, ax, ay, az = a_T_b[:, 3:].T
    bw, bx, by, bz = b_T_c[:, 3:].T
    turns = np.stack(
        [
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ],
        axis=1,
    )
    return np.concatenate([a_T_b[:, :3] + rotate(a_T_b[:, 3:], b_T_c[:, :3]), turns], axis=1)


def rotate(wxyz: NDArray[float64], vectors: NDArray[float64]) -> NDArray[float64]:
    """(N, 3): each vector turned by its quaternion."""
    across = 2.0 * np.cross(wxyz[:, 1:], vectors)
    answer: NDArray[float64] = vectors + wxyz[:, :1] * across + np.cross(wxyz[:, 1:], across)
    return answer
