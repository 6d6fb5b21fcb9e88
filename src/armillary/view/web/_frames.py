"""Displayed frames: their labels, and their poses at one instant as arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from armillary.errors import ArmillaryError
from armillary.stamps import LATEST, Latest
from armillary.store.nodes import is_of_a_node
from armillary.transforms import Transform

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

    from armillary.scene import VisitedNode
    from armillary.scene.reading import SceneReader
    from armillary.transforms import Snapshot
    from armillary.view._world_protocol import ViewableWorld


_IDENTITY = Transform.identity()


@dataclass(frozen=True, slots=True, eq=False)
class NamedFrames:
    """Frames that are displayed, with their labels.

    The frame of a transform node is named by its id. It is displayed if the node has the attribute `name`.

    Attributes:
        labels: Labels of the displayed frames.
        carriers: Parents of the frames that are not displayed.
        attributes: Attributes of frames in the scene.
    """

    labels: Mapping[str, str]
    hidden_parents: Mapping[str, str]
    attributes: Mapping[str, Mapping[str, object]]

    def displayed_ancestor(self, world: ViewableWorld, frame: str) -> tuple[str, Transform]:
        """Return the nearest displayed ancestor that a frame is fixed in, and its pose there."""
        at = _IDENTITY
        while (above := self.hidden_parents.get(frame)) is not None:
            above_T_frame = _fixed(world, of=frame, in_frame=above)
            if above_T_frame is None:
                break
            at, frame = above_T_frame @ at, above
        return frame, at


def named_frames(world: ViewableWorld, versions: Sequence[SceneReader]) -> NamedFrames:
    """Collect the frames of a world; attributes of a node are taken from the first version that has it."""
    nodes = _FrameCollector()
    for scene in versions:
        scene.traverse(nodes)
    labels = {frame: nodes.labels.get(frame, frame) for frame in world.frames() if frame not in nodes.hidden_parents}
    return NamedFrames(labels, nodes.hidden_parents, nodes.attributes)


class _FrameCollector:
    """Visitor that collects labels, parents and attributes of frames."""

    def __init__(self) -> None:
        self.labels: dict[str, str] = {}
        self.hidden_parents: dict[str, str] = {}
        self.attributes: dict[str, dict[str, object]] = {}

    def enter(self, node: VisitedNode) -> None:
        """Collect one node."""
        if node.kind not in {"transform", "uncertain_transform", "frame"} or node.frame in self.attributes:
            return
        frame, attributes = node.frame, node.attributes
        self.attributes[frame] = attributes
        if not is_of_a_node(frame):
            return  # it has a name of its own
        if isinstance(attributes.get("name"), str):
            self.labels[frame] = attributes["name"]
        elif node.kind != "frame" and node.before is not None:
            self.hidden_parents[frame] = node.before.frame


def _fixed(world: ViewableWorld, *, of: str, in_frame: str) -> Transform | None:
    try:
        pose = world.pose(of=of, in_frame=in_frame, at=LATEST)
    except ArmillaryError:
        return None
    return pose.transform if pose.stamp is None else None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FramePoses:
    """Poses of frames in one frame at one instant.

    Attributes:
        in_frame: Frame they are seen from.
        at_ns: Requested instant.
        names: Requested frames.
        rows: (N, 7): x, y, z, then the quaternion w, x, y, z; NaN where the pose is unknown.
        snapshot: Snapshot of the world.
        held: Frames whose pose is held from outside their history.
    """

    in_frame: str
    at_ns: int
    names: tuple[str, ...]
    rows: NDArray[float64]
    snapshot: Snapshot
    held: frozenset[str]

    @property
    def is_known(self) -> NDArray[np.bool_]:
        """Whether each frame has a pose, shape (N,)."""
        return ~np.isnan(self.rows[:, 0])

    def of(self, name: str) -> NDArray[float64] | None:
        """Return the pose of one frame, shape (7,), or None if it is unknown."""
        row = self.rows[self.names.index(name)] if name in self.names else None
        return None if row is None or np.isnan(row[0]) else row


def frame_poses(world: ViewableWorld, names: Sequence[str], *, in_frame: str, at: int | Latest) -> FramePoses:
    """Query the poses of many frames by one snapshot.

    Outside the history of a frame its nearest sample is held. `LATEST` is the newest instant of all samples, because
    the newest common time of a path differs from frame to frame, and links of one robot would be displayed at
    different times.
    """
    at_ns = world.newest_stamp() or 0 if isinstance(at, Latest) else at
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
    """Return a_T_c, shape (N, 7), row by row."""
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
    """Rotate each vector by its quaternion, shape (N, 3)."""
    across = 2.0 * np.cross(wxyz[:, 1:], vectors)
    answer: NDArray[float64] = vectors + wxyz[:, :1] * across + np.cross(wxyz[:, 1:], across)
    return answer
