"""A function block that associates perceived objects with known ones by their positions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from armillary.scene.blocks._block import REQUIRED, FunctionBlock, Port, check_outside, check_positive_m
from armillary.stamps import LATEST, Latest
from armillary.store.changes import AddParent, AddTransform, AddUncertainTransform, SetTransform
from armillary.store.nodes import CONTAINER_KINDS, TRANSFORM_KINDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from armillary._core import NodeId, Pose

__all__ = ["AssociateNearest", "nearest_pairs"]


class AssociateNearest(FunctionBlock):
    """Associates each perceived object with the nearest known one, if that is near enough.

    Takes the node under which the perceived transforms are, and that of the known ones; returns for each perceived one,
    in order, the known one that it is associated with. That gets a new sample. Where none is near enough, a new one is
    added with the attributes of the perceived one, whose children are put into it as well. Pairs are made from the
    nearest on, each known one once.

    Parameters: `max_distance_m` between the two; `outside`, as for `world.pose`, for the frame of the known ones at the
    stamp of the perceived ones.
    """

    name: ClassVar[str] = "associate_nearest"
    inputs: ClassVar[tuple[Port, ...]] = (
        Port("perceived", kinds=CONTAINER_KINDS),
        Port("known", kinds=CONTAINER_KINDS),
    )
    outputs: ClassVar[tuple[Port, ...]] = (Port("objects", kinds=TRANSFORM_KINDS, many=True),)
    parameters: ClassVar[Mapping[str, Any]] = {"max_distance_m": REQUIRED, "outside": "raise"}

    def check_parameter(self, name: str, value: Any) -> None:  # noqa: D102
        if name == "max_distance_m":
            check_positive_m(name, value)
        if name == "outside":
            check_outside(value)

    def compute(self, data: Mapping[str, Sequence[NodeId]]) -> list[NodeId]:  # noqa: D102
        (above_perceived,), (above_known,) = data["perceived"], data["known"]
        perceived, known = self._transforms(above_perceived), self._transforms(above_known)
        frame = self.scene.frame(above_known)
        seen = [self._pose(node, frame, self._stamp(node)) for node in perceived]
        places = [self._pose(node, frame, LATEST) for node in known]
        pairs = nearest_pairs(_positions(seen), _positions(places), self.settings["max_distance_m"])
        return [
            self._moved(known[pairs[i]], pose) if i in pairs else self._added(above_known, perceived[i], pose)
            for i, pose in enumerate(seen)
        ]

    def _transforms(self, above: NodeId) -> list[NodeId]:
        return [node for node in self.scene.children(above) if self.scene.kind(node) in TRANSFORM_KINDS]

    def _stamp(self, node: NodeId) -> int | Latest:
        view = self.scene.view
        pose = self.scene.store.pose(of=view.frame(node), in_frame=view.base_frame(node))
        return LATEST if pose.stamp is None else pose.stamp

    def _pose(self, node: NodeId, frame: str, at: int | Latest) -> Pose:
        outside = {} if at is LATEST else {"outside": self.settings["outside"]}
        pose: Pose = self.scene.store.pose(of=self.scene.frame(node), in_frame=frame, at=at, **outside)
        return pose

    def _moved(self, known: NodeId, pose: Pose) -> NodeId:
        stamp = self.scene.store.now() if pose.stamp is None else pose.stamp
        return self.scene.plan(SetTransform(known, pose.transform, pose.covariance, stamp))

    def _added(self, above: NodeId, perceived: NodeId, pose: Pose) -> NodeId:
        node: dict[str, Any] = {"parent": above, "at": pose.stamp, "attributes": self.scene.attributes(perceived)}
        if pose.covariance is None:
            added = self.scene.plan(AddTransform(transform=pose.transform, **node))
        else:
            added = self.scene.plan(AddUncertainTransform(transform=pose.transform, covariance=pose.covariance, **node))
        for child in self.scene.children(perceived):
            self.scene.plan(AddParent(child, added))
        return added


def _positions(poses: Sequence[Pose]) -> NDArray[np.float64]:
    return np.array([pose.transform.translation for pose in poses]).reshape(-1, 3)


def nearest_pairs(of: NDArray[np.float64], to: NDArray[np.float64], max_distance_m: float) -> dict[int, int]:
    """Map rows of `of` to rows of `to`, the nearest pair first, each row once."""
    distances_m = np.linalg.norm(of[:, None] - to[None], axis=2)
    pairs: dict[int, int] = {}
    taken: set[int] = set()
    for flat in np.argsort(distances_m, axis=None, kind="stable").tolist():
        row, column = divmod(flat, len(to))
        if distances_m[row, column] > max_distance_m:
            break
        if row not in pairs and column not in taken:
            pairs[row] = column
            taken.add(column)
    return pairs
