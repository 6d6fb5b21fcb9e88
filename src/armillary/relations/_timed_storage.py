"""Storage of poses and twists: seven or four names, coordinates, and what is known of their origin.

It is native: the answers of a world are of these classes, and their numbers never leave C++ before they are asked for.
Coordinates of another kind are kept beside, as they were given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from armillary._core import Pose as NativePose
from armillary._core import Twist as NativeTwist
from armillary.errors import InvalidArgument
from armillary.relations.representations._twists import LinearAngular, trusted_twist
from armillary.relations.representations.faces import given, pose_face, twist_face
from armillary.relations.storage import (
    MOTION_ORIGIN,
    POSE_ORIGIN,
    MotionOrigin,
    PoseOrigin,
    Stored,
    as_names,
    as_origin,
)
from armillary.transforms import Transform

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

_POSE_DEFAULTS = {"point": "of", "body": "of", "reference_point": "in_frame", "reference_body": "in_frame"}
_POSE_DEFAULTS |= {"expressed_in": "in_frame"}
_TWIST_DEFAULTS = {"body": "point", "expressed_in": "reference_body"}


class StoredPose(Stored, NativePose):
    """The names and coordinates of a pose; equal by value, wherever it comes from."""

    __slots__ = ()
    _NAMES = ("of", "in_frame", "point", "body", "reference_point", "reference_body", "expressed_in")
    _COMPARED = (*_NAMES, "coordinates", "stamp", "covariance")
    _FIELDS = (*_NAMES, "coordinates", *POSE_ORIGIN)
    _face = staticmethod(pose_face)

    def __init__(
        self,
        *,
        of: str,
        in_frame: str,
        coordinates: Any = None,
        transform: Transform | None = None,
        point: str | None = None,
        body: str | None = None,
        reference_point: str | None = None,
        reference_body: str | None = None,
        expressed_in: str | None = None,
        **origin: Unpack[PoseOrigin],
    ) -> None:
        names: dict[str, str | None] = {"of": of, "in_frame": in_frame, "point": point, "body": body}
        names |= {"reference_point": reference_point, "reference_body": reference_body, "expressed_in": expressed_in}
        coordinates = _one_of(coordinates, transform)
        self._fill(
            as_names(names, _POSE_DEFAULTS)
            | {"coordinates": given(pose_face(coordinates))}
            | as_origin(6, POSE_ORIGIN, origin)
        )
        self._check()

    def _fill(self, fields: dict[str, Any]) -> None:
        if isinstance(fields["coordinates"], Transform):
            fields = fields | {"transform": fields["coordinates"], "coordinates": None}
        NativePose.__init__(self, **fields)


def _one_of(coordinates: Any, transform: Transform | None) -> Any:
    if transform is not None and not isinstance(transform, Transform):
        raise InvalidArgument(
            f"transform must be a Transform, got {transform!r}. Make one with Transform.from_matrix(...), or pass "
            "it as coordinates=."
        )
    if (coordinates is None) == (transform is None):
        raise InvalidArgument("A pose takes either transform= or coordinates=, and one of them.")
    return coordinates if transform is None else transform


class StoredTwist(Stored, NativeTwist):
    """The names and coordinates of a twist; equal by value, wherever it comes from."""

    __slots__ = ()
    _NAMES = ("point", "body", "reference_body", "expressed_in")
    _COMPARED = (*_NAMES, "coordinates", "stamp", "covariance")
    _FIELDS = (*_NAMES, "coordinates", *MOTION_ORIGIN)
    _face = staticmethod(twist_face)

    def __init__(
        self,
        *,
        point: str,
        reference_body: str,
        coordinates: Any = None,
        linear: ArrayLike | None = None,
        angular: ArrayLike | None = None,
        body: str | None = None,
        expressed_in: str | None = None,
        **origin: Unpack[MotionOrigin],
    ) -> None:
        names: dict[str, str | None] = {"point": point, "body": body, "reference_body": reference_body}
        coordinates = _both(coordinates, linear, angular)
        self._fill(
            as_names(names | {"expressed_in": expressed_in}, _TWIST_DEFAULTS)
            | {"coordinates": given(twist_face(coordinates))}
            | as_origin(6, MOTION_ORIGIN, origin)
        )
        self._check()

    def _fill(self, fields: dict[str, Any]) -> None:
        native = fields["coordinates"]
        if type(native) is LinearAngular and isinstance(native.linear, np.ndarray):
            fields = fields | {"coordinates": None, "linear": native.linear, "angular": native.angular}
        NativeTwist.__init__(self, **fields)

    @property
    def coordinates(self) -> Any:
        """What it was made of, as it was given."""
        foreign = NativeTwist.coordinates.__get__(self)
        return trusted_twist(LinearAngular, self.linear, self.angular) if foreign is None else foreign


def _both(coordinates: Any, linear: ArrayLike | None, angular: ArrayLike | None) -> Any:
    if coordinates is not None and linear is None and angular is None:
        return coordinates
    if coordinates is not None or linear is None or angular is None:
        raise InvalidArgument("A twist takes either linear= and angular=, or coordinates=.")
    return LinearAngular(linear=linear, angular=angular)  # type: ignore[arg-type]
