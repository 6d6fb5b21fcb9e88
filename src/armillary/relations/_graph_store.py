"""What a relation graph holds: its structure, and the values on its edges."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from armillary.errors.relations import NoPosePath, UnknownName
from armillary.relations._graph_pending import Pending
from armillary.relations._graph_structure import GraphStructure
from armillary.relations._pose import Pose
from armillary.relations._twist import Twist
from armillary.relations.representations import LinearAngular, Representation
from armillary.relations.representations.faces import given
from armillary.relations.structure import PoseEdge, TwistEdge
from armillary.transforms import Rotation


class GraphStore:
    """Values by the name of the frame at the head of their edge, which every edge has for itself."""

    __slots__ = ("measured", "pending", "poses", "representation", "rigid", "structure", "twists")

    def __init__(self, representation: Representation) -> None:
        self.representation = representation
        self.structure = GraphStructure()
        self.poses: dict[str, Pose] = {}
        self.twists: dict[str, Twist] = {}
        self.pending = Pending()
        self.rigid: set[str] = set()
        self.measured: dict[tuple[str, ...], Pose | Twist] = {}

    def body_of(self, frame: str) -> str:
        """The body of a frame, which must be known."""
        body = self.structure.body_of(frame)
        if body is None:
            raise UnknownName(frame, self.structure.frames(), "frame", tuple(self.structure.frames_of(frame)))
        return body

    def body(self, name: str) -> str:
        """The body that is meant by its own name or by a frame on it."""
        if self.structure.is_body(name):
            return name
        body = self.structure.body_of(name)
        if body is None:
            raise UnknownName(name, (*self.structure.bodies(), *self.structure.frames()), "body or frame")
        return body

    def require_path(self, of: str, in_frame: str) -> None:
        """Refuses frames that no poses connect."""
        self.body_of(of)
        self.body_of(in_frame)
        if not self.structure.in_one_tree(of, in_frame):
            roots = (self.structure.root_of(of), self.structure.root_of(in_frame))
            raise NoPosePath(of, in_frame, *roots)

    def identity(self, frame: str) -> Pose:
        """A frame in itself."""
        zero = self.representation.vector(np.zeros(3))
        coordinates = self.representation.pose(
            zero, self.representation.rotation(Rotation.identity()), is_frame_form=True
        )
        body = self.body_of(frame)
        return Pose(of=frame, in_frame=frame, body=body, reference_body=body, coordinates=given(coordinates))

    def no_motion(self, *, point: str, body: str, relative_to: str, expressed_in: str) -> Twist:
        """A twist of zero; an exact one."""
        coordinates = self.zero_motion
        is_numeric = isinstance(coordinates, LinearAngular)
        return Twist(
            point=point,
            body=body,
            reference_body=relative_to,
            expressed_in=expressed_in,
            coordinates=coordinates,
            covariance=np.zeros((6, 6)) if is_numeric else None,
        )

    @property
    def zero_motion(self) -> Any:
        """Coordinates of no motion, of the graph's kind."""
        zero = self.representation.vector(np.zeros(3))
        return given(self.representation.twist(zero, zero))

    def put_pose(self, pose: Pose) -> Collection[str]:
        """A new edge; the frames for which poses now lead further than before."""
        self.poses[pose.of] = pose
        return self.structure.add_pose(PoseEdge(pose.of, pose.in_frame))

    def drop_pose(self, of: str) -> None:
        """An edge less."""
        del self.poses[of]
        self.structure.cut_pose(of)

    def put_twist(self, head: str, value: Twist) -> None:
        """A new edge with its value."""
        self.structure.add_twist(TwistEdge(head, value.reference_body))
        self.twists[head] = value

    def put_twist_value(self, head: str, value: Twist | None, given: Twist) -> None:
        """The value of an edge, or what was given for it and has to wait."""
        if value is None:
            self.twists.pop(head, None)
            self.pending.add(head, given)
        else:
            self.pending.discard(head)
            self.twists[head] = value

    def drop_twist(self, head: str) -> None:
        """An edge less, with or without a value."""
        self.structure.cut_twist(head)
        self.twists.pop(head, None)
        self.pending.discard(head)
