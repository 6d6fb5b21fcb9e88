"""The part of a point cloud that is in a box."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from armillary.scene.blocks._block import FunctionBlock
from armillary.scene.blocks._clouds import as_outside, cloud_of, points_in, some_of
from armillary.scene.blocks._port import CONTAINERS, Port
from armillary.scene.changes import NOW, AddGeometry
from armillary.shapes import Box, PointCloud

if TYPE_CHECKING:
    from armillary._core import NodeId

__all__ = ["CropToBox"]


class CropToBox(FunctionBlock):
    """Keeps the points of a cloud that are in a box, where both are at the stamp of the cloud.

    Takes the node to put the result into, the cloud, and the box; gives the new cloud, with the stamp and the fields
    of the old one, in the frame of the node that it is put into.

    Parameters: `outside`, as of `world.pose`, where the poses do not reach the stamp of the cloud.
    """

    name: ClassVar[str] = "crop_to_box"
    inputs: ClassVar[tuple[Port, ...]] = (
        Port("into", kinds=CONTAINERS),
        Port("cloud", kinds=("geometry",), shapes=(PointCloud,)),
        Port("box", kinds=("geometry",), shapes=(Box,)),
    )
    outputs: ClassVar[tuple[Port, ...]] = (Port("cropped", kinds=("geometry",), shapes=(PointCloud,)),)
    parameters: ClassVar[Mapping[str, Any]] = {"outside": "raise"}

    def check_parameter(self, name: str, value: Any) -> None:  # noqa: D102
        if name == "outside":
            as_outside(value)

    def compute(self, data: Mapping[str, Sequence[NodeId]]) -> list[NodeId]:  # noqa: D102
        (into,), (cloud,), (box,) = data["into"], data["cloud"], data["box"]
        outside, scene = self.settings["outside"], self.scene
        is_inside = scene.geometry(box).contains(points_in(scene, cloud, scene.frame(box), outside))
        points = points_in(scene, cloud, scene.frame(into), outside)
        cropped = some_of(cloud_of(scene, cloud), points, np.flatnonzero(is_inside))
        stamp = scene.stamp(cloud)
        return [scene.plan(AddGeometry(parent=into, shape=cropped, at=NOW if stamp is None else stamp))]
