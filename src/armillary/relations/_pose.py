"""Where one frame is, seen from another: the pose and its algebra."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from armillary._core import Pose as NativePose
from armillary.relations import _pose_algebra as algebra
from armillary.relations import _text
from armillary.relations._teaching import no_sum, teaching
from armillary.relations._timed_storage import StoredPose
from armillary.relations.representations.faces import pose_face
from armillary.stamps import as_stamp
from armillary.transforms import Transform

if TYPE_CHECKING:
    from armillary.relations._orientation import Orientation
    from armillary.relations._position import Position
    from armillary.relations.representations import Representation


@teaching
class Pose(StoredPose):
    """Where frame `of` is, seen from frame `in_frame`.

    Seven names say all of it: the position of `point` from `reference_point` along the axes of `expressed_in`, and the
    orientation of `of` in `in_frame`; `of` and `point` are fixed to `body`, the others to `reference_body`. What is not
    given follows from the two frames: points are their origins, each is on its own body, axes are those of `in_frame`.

    Args:
        of: The frame this is the pose of.
        in_frame: The frame it is seen from.
        transform: `in_frame_T_of`.
        coordinates: In its place any other pose coordinates: a (4, 4) matrix, `PositionQuaternion`, ...
        point: The point whose position this is.
        body: The body that `of` and `point` are on.
        reference_point: The point the position is measured from.
        reference_body: The body that `in_frame` and `reference_point` are on.
        expressed_in: The frame whose axes the position is along.
        stamp: The instant [ns]; None for what holds always.
        covariance: (6, 6), translation then rotation, in the tangent of `of`; None where unknown.
        held: Whether an edge was outside its history.
        predicted: Whether an edge was extrapolated.
        integrated: Whether the poses of an edge were integrated from twists.
        relations: What it was computed from: (of, in_frame, source).

    Frozen. `a @ b` composes, reference first: `map_T_base @ base_T_camera`.
    """

    __slots__ = ()

    def _check(self) -> None:
        algebra.check_representable(self)

    def __repr__(self) -> str:
        """A sentence with numbers for a plain transform between two frames; else all the names."""
        return NativePose.__repr__(self) if self._is_plain() else algebra.text(self)

    def __str__(self) -> str:
        return NativePose.__repr__(self) if self._is_plain() else _text.of_pose(self)

    def _repr_html_(self) -> str:
        from armillary.relations._notebook import pose_html  # noqa: PLC0415  (most programs are no notebooks)

        return pose_html(self)

    def _is_plain(self) -> bool:
        on_implicit_bodies = self.body == self.of and self.reference_body == self.in_frame
        return on_implicit_bodies and type(self.coordinates) is Transform

    def _named(self) -> str:
        return algebra.text(self)

    @classmethod
    def identity(cls, frame: str, *, body: str | None = None) -> Self:
        """A frame seen from itself."""
        return cls(of=frame, in_frame=frame, body=body, reference_body=body, transform=Transform.identity())

    @classmethod
    def from_parts(
        cls, position: Position, orientation: Orientation, *, representation: Representation | None = None
    ) -> Self:
        """The pose that has this position and this orientation, both of the same two bodies."""
        return cls(**algebra.joined(position, orientation, representation))

    def _foreign(self, what: str) -> Any:
        """Numbers of coordinates that the native half does not know."""
        return _FOREIGN[what](self)

    @property
    def position(self) -> Position:
        """The position part, as a relation."""
        return algebra.position(self)

    @property
    def orientation(self) -> Orientation:
        """The orientation part, as a relation."""
        return algebra.orientation(self)

    def is_close(self, other: NativePose, *, m: float = 1e-9, rad: float = 1e-9) -> bool:
        """Same names, and at most `m` metres and `rad` radians apart."""
        if not isinstance(other, Pose) or not self._same_names(other):
            return False
        distance = np.linalg.norm(self.xyz - other.xyz)
        return bool(distance <= m) and self.rotation.is_close(other.rotation, rad=rad)

    def stamped(self, stamp: int | None) -> Self:
        """The same pose said of another instant; None: of every instant."""
        return self._replace(stamp=as_stamp(stamp))

    def converted(self, representation: Representation) -> Self:
        """The same in other coordinates, exact to rounding; refused where they cannot express it."""
        return self._replace(coordinates=algebra.converted(self, representation))

    def inverse(self) -> Self:
        """The reference seen from the target.

        A frame form stays one: its coordinates move to the axes of `of`. Coordinates with a free position keep the axes
        they are along.
        """
        return self._replace(**algebra.inverse(self))

    def compose(self, other: Pose) -> Self:
        """`map_T_base.compose(base_T_camera)` is `map_T_camera`; the errors of the two count as independent.

        Where both were computed from the same relation they are not: the covariance is then None.
        """
        return self._replace(**algebra.compose(self, other))

    __add__ = no_sum

    def change_point(self, position: Position) -> Self:
        """To another point of the same body: `position` is that of the new point from the present one."""
        return self._replace(**algebra.change_point(self, position))

    def change_reference_point(self, position: Position) -> Self:
        """From another point of the reference body: `position` is that of the present one from the new one."""
        return self._replace(**algebra.change_reference_point(self, position))

    def change_orientation_frame(self, orientation: Orientation) -> Self:
        """Other axes on the same body: `orientation` is that of the new frame in `of`."""
        return self._replace(**algebra.change_orientation_frame(self, orientation))

    def change_reference_orientation_frame(self, orientation: Orientation) -> Self:
        """Other reference axes on the same body: `orientation` is that of `in_frame` in the new frame."""
        return self._replace(**algebra.change_reference_orientation_frame(self, orientation))

    def change_coordinate_frame(self, orientation: Orientation) -> Self:
        """The position along other axes: `orientation` is that of `expressed_in` in the new frame."""
        return self._replace(**algebra.change_coordinate_frame(self, orientation))

    @property
    def parts(self) -> Any:
        """The coordinates, with the methods of `PoseCoordinates`."""
        return pose_face(self.coordinates)


_FOREIGN: dict[str, Callable[[Pose], Any]] = {
    "transform": algebra.transform,
    "xyz": lambda pose: pose.position.xyz,
    "rotation": lambda pose: pose.orientation.rotation,
}
