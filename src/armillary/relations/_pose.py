"""The pose of one frame in another, and its algebra.

The storage is native: the answers of a world are of this class, and their numbers stay in C++ until they are read.
Coordinates of other representations are kept as they were given.
"""

from __future__ import annotations

from typing import Any, Self, Unpack

import numpy as np

from armillary._core import Pose as NativePose
from armillary.errors import InvalidArgument, NotRepresentable, SemanticError
from armillary.relations import _checks, _display, uncertainty
from armillary.relations._arguments import explain_arguments
from armillary.relations._checks import Asked, no_sum
from armillary.relations._orientation import Orientation, composed, turn_to
from armillary.relations._position import Position
from armillary.relations.representations import NATIVE, POSITION_QUATERNION, Representation
from armillary.relations.representations.adapters import adapt_pose, adapt_rotation, adapt_vector, unwrap
from armillary.relations.storage import (
    POSE_ORIGIN,
    PoseOrigin,
    Stored,
    as_names,
    as_origin,
    origin_of,
    origin_of_both,
    trusted,
)
from armillary.stamps import as_stamp
from armillary.transforms import Transform

_DEFAULTS = {"point": "of", "body": "of", "reference_point": "in_frame", "reference_body": "in_frame"}
_DEFAULTS |= {"expressed_in": "in_frame"}
_USE_FREE_COORDINATES = (
    "Use free coordinates: pass PositionQuaternion(xyz, rotation), or .converted(POSITION_QUATERNION) first "
    "(from armillary.relations import POSITION_QUATERNION)."
)


@explain_arguments
class Pose(Stored, NativePose):
    """Where frame `of` is, seen from frame `in_frame`.

    Seven names define its meaning: the position of `point` from `reference_point` along the axes of `expressed_in`, and
    the orientation of `of` in `in_frame`; `of` and `point` are fixed to `body`, the others to `reference_body`. What is
    not given follows from the two frames: points are their origins, each is on its own body, axes are those of
    `in_frame`.

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
        held: The samples that were used at another instant than their own, with their ages.
        predicted: Whether an edge was extrapolated.
        integrated: Whether the poses of an edge were integrated from twists.
        relations: What it was computed from: (of, in_frame, source).

    Frozen. `a @ b` composes, reference first: `map_T_base @ base_T_camera`.
    """

    __slots__ = ()
    _NAMES = ("of", "in_frame", "point", "body", "reference_point", "reference_body", "expressed_in")
    _COMPARED = (*_NAMES, "coordinates", "stamp", "covariance")
    _FIELDS = (*_NAMES, "coordinates", *POSE_ORIGIN)
    _adapter = staticmethod(adapt_pose)

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
        if transform is not None and not isinstance(transform, Transform):
            raise InvalidArgument(
                f"transform must be a Transform, got {transform!r}. Make one with Transform.from_matrix(...), or pass "
                "it as coordinates=."
            )
        if (coordinates is None) == (transform is None):
            raise InvalidArgument("A pose takes either transform= or coordinates=, and one of them.")
        parts = adapt_pose(coordinates if transform is None else transform)
        self._fill(
            as_names(names, _DEFAULTS) | {"coordinates": unwrap(parts)} | as_origin(6, POSE_ORIGIN, origin),
        )
        if parts.frame_form and not self.is_frame_form:
            kind = type(self.coordinates).__name__
            raise _not_representable(Asked("make", "make {}", (self,)), _point_names(self), kind)

    def _fill(self, fields: dict[str, Any]) -> None:
        if isinstance(fields["coordinates"], Transform):
            fields = fields | {"transform": fields["coordinates"], "coordinates": None}
        NativePose.__init__(self, **fields)

    @classmethod
    def identity(cls, frame: str, *, body: str | None = None) -> Self:
        """The pose of a frame in itself."""
        return cls(of=frame, in_frame=frame, body=body, reference_body=body, transform=Transform.identity())

    @classmethod
    def from_parts(
        cls, position: Position, orientation: Orientation, *, representation: Representation | None = None
    ) -> Self:
        """The pose that has this position and this orientation, both of the same two bodies."""
        asked = _checks.joining("Pose", position, orientation)
        _checks.kind(asked, position, Position)
        _checks.kind(asked, orientation, Orientation)
        _checks.body(asked, position.body, orientation.body)
        _checks.reference_body(asked, position.reference_body, orientation.reference_body)
        names = {
            "of": orientation.of,
            "in_frame": orientation.in_frame,
            "point": position.point,
            "reference_point": position.reference_point,
            "expressed_in": position.expressed_in,
        }
        chosen = orientation.turn.representation if representation is None else representation
        coordinates = _from_parts(asked, chosen, names, position.vector, orientation.turn)
        names |= {"body": orientation.body, "reference_body": orientation.reference_body}
        origin = origin_of_both(position, orientation, _checks.stamp(asked, position.stamp, orientation.stamp))
        return cls(**names, coordinates=coordinates, **origin)  # type: ignore[arg-type]

    # Text

    def __repr__(self) -> str:
        """A sentence with numbers for a plain transform between two frames; else all the names."""
        return NativePose.__repr__(self) if self._is_plain() else _display.pose_names(self)

    def __str__(self) -> str:
        return NativePose.__repr__(self) if self._is_plain() else _display.pose_text(self)

    def _repr_html_(self) -> str:
        return _display.pose_html(self)

    def _is_plain(self) -> bool:
        on_implicit_bodies = self.body == self.of and self.reference_body == self.in_frame
        return on_implicit_bodies and type(self.coordinates) is Transform

    # Parts

    @property
    def parts(self) -> Any:
        """The coordinates, with the methods of `PoseCoordinates`."""
        return adapt_pose(self.coordinates)

    @property
    def position(self) -> Position:
        """The position part, as a relation."""
        return trusted(
            Position,
            point=self.point,
            body=self.body,
            reference_point=self.reference_point,
            reference_body=self.reference_body,
            expressed_in=self.expressed_in,
            coordinates=unwrap(adapt_vector(self.parts.position)),
            covariance=uncertainty.of_position(self),
            **origin_of(self),
        )

    @property
    def orientation(self) -> Orientation:
        """The orientation part, as a relation."""
        return trusted(
            Orientation,
            of=self.of,
            body=self.body,
            in_frame=self.in_frame,
            reference_body=self.reference_body,
            expressed_in=self.in_frame,
            coordinates=unwrap(adapt_rotation(self.parts.rotation)),
            covariance=uncertainty.of_orientation(self),
            **origin_of(self),
        )

    def foreign_part(self, what: str) -> Any:
        """Numbers of coordinates that the C++ core does not know."""
        if what == "xyz":
            return self.position.xyz
        if what == "rotation":
            return self.orientation.rotation
        if isinstance(self.coordinates, Transform):
            return self.coordinates
        if not self.is_frame_form:
            asked = Asked("transform", "read the transform of {}", (self,))
            hint = "Read its two parts, .xyz and .rotation; or .position and .orientation, which keep their names."
            raise _not_representable(asked, _point_names(self), "Transform", hint)
        return Transform.from_rotation(self.orientation.rotation, xyz=self.position.xyz)

    # Algebra

    def is_close(self, other: NativePose, *, m: float = 1e-9, rad: float = 1e-9) -> bool:
        """Same names, and at most `m` metres and `rad` radians apart."""
        if not isinstance(other, Pose) or not self._same_names(other):
            return False
        distance = np.linalg.norm(self.xyz - other.xyz)
        return bool(distance <= m) and self.rotation.is_close(other.rotation, rad=rad)

    def stamped(self, stamp: int | None) -> Self:
        """The same pose at another instant; None: at every instant."""
        return self._replace(stamp=as_stamp(stamp))

    def converted(self, representation: Representation) -> Self:
        """The same pose in other coordinates, exact to rounding; raises where they cannot express it."""
        vector, turn = representation.vector(self.position.xyz), representation.rotation(self.orientation.rotation)
        asked = Asked("converted", "convert {}", (self,))
        return self._replace(coordinates=_from_parts(asked, representation, _point_names(self), vector, turn))

    def inverse(self) -> Self:
        """The reference seen from the target.

        A frame form stays one: its coordinates move to the axes of `of`. Coordinates with a free position keep the axes
        they are along.
        """
        parts = self.parts
        names = {
            "of": self.in_frame,
            "in_frame": self.of,
            "point": self.reference_point,
            "reference_point": self.point,
            "expressed_in": self.of if parts.frame_form else self.expressed_in,
        }
        if parts.frame_form:
            coordinates = unwrap(parts.inverse())
        else:
            asked = Asked("inverse", "invert {}", (self,))
            vector, turn = -adapt_vector(parts.position), adapt_rotation(parts.rotation).inverse()
            coordinates = _from_parts(asked, parts.representation, names, vector, turn)
        names |= {"body": self.reference_body, "reference_body": self.body}
        return self._replace(**names, coordinates=coordinates, covariance=uncertainty.inverted(self))

    def compose(self, other: Pose) -> Self:
        """`map_T_base.compose(base_T_camera)` is `map_T_camera`; the errors of the two count as independent.

        Where both were computed from the same relation they are not: the covariance is then None.
        """
        asked = _checks.composing(self, other)
        _checks.kind(asked, other, type(self))
        _checks.inner_point(asked, self, other)
        _checks.inner_orientation_frame(asked, self, other)
        _checks.inner_body(asked, self, other)
        return self._replace(
            of=other.of,
            body=other.body,
            point=other.point,
            coordinates=_composed_coordinates(asked, self, other),
            covariance=uncertainty.composed(self, other),
            **origin_of_both(self, other, _checks.stamp(asked, self.stamp, other.stamp)),
        )

    __add__ = no_sum

    def change_point(self, position: Position) -> Self:
        """To another point of the same body: `position` is that of the new point from the present one."""
        asked = _checks.changing("change_point", self, position)
        position = _checks.part(asked, position, Position)
        _checks.helper_point(asked, self, position)
        vector = self.position.vector + position.vector
        covariance = uncertainty.at_another_point(self, position)
        return self._moved(asked, vector, self.orientation.turn, {"point": position.point}, covariance=covariance)

    def change_reference_point(self, position: Position) -> Self:
        """From another point of the reference body: `position` is that of the present one from the new one."""
        asked = _checks.changing("change_reference_point", self, position)
        position = _checks.part(asked, position, Position)
        _checks.helper_reference_point(asked, self, position)
        vector = self.position.vector + position.vector
        return self._moved(asked, vector, self.orientation.turn, {"reference_point": position.reference_point})

    def change_orientation_frame(self, orientation: Orientation) -> Self:
        """Other axes on the same body: `orientation` is that of the new frame in `of`."""
        asked = _checks.changing("change_orientation_frame", self, orientation)
        orientation = _checks.part(asked, orientation, Orientation)
        _checks.helper_orientation_frame(asked, self, orientation)
        turn = composed(asked, self.orientation.turn, orientation.turn)
        covariance = uncertainty.in_other_axes(self, orientation)
        return self._moved(asked, self.position.vector, turn, {"of": orientation.of}, covariance=covariance)

    def change_reference_orientation_frame(self, orientation: Orientation) -> Self:
        """Other reference axes on the same body: `orientation` is that of `in_frame` in the new frame."""
        asked = _checks.changing("change_reference_orientation_frame", self, orientation)
        orientation = _checks.part(asked, orientation, Orientation)
        _checks.helper_reference_orientation_frame(asked, self, orientation)
        turn = composed(asked, orientation.turn, self.orientation.turn)
        return self._moved(asked, self.position.vector, turn, {"in_frame": orientation.in_frame})

    def change_coordinate_frame(self, orientation: Orientation) -> Self:
        """The position along other axes: `orientation` is that of `expressed_in` in the new frame."""
        asked = _checks.changing("change_coordinate_frame", self, orientation)
        vector = adapt_vector(turn_to(self, orientation).rotate(self.position.vector))
        return self._moved(asked, vector, self.orientation.turn, {"expressed_in": orientation.in_frame})

    def _moved(self, asked: Asked, vector: Any, turn: Any, names: dict[str, str], **others: Any) -> Self:
        """The pose with another position or rotation, and the names that change with them."""
        parts, all_names = self.parts, _point_names(self) | names
        if parts.frame_form and not _are_of_frame_form(all_names):
            raise _not_representable(asked, all_names, type(self.coordinates).__name__)
        coordinates = _from_parts(asked, parts.representation, all_names, vector, turn)
        return self._replace(**names, coordinates=coordinates, **others)


def _point_names(pose: Pose) -> dict[str, str]:
    return {name: getattr(pose, name) for name in ("of", "in_frame", "point", "reference_point", "expressed_in")}


def _are_of_frame_form(names: dict[str, str]) -> bool:
    """Whether points and axes are those of the two frames."""
    return (names["point"], names["reference_point"]) == (names["of"], names["in_frame"]) and (
        names["expressed_in"] == names["in_frame"]
    )


def _not_representable(
    asked: Asked, names: dict[str, str], kind: str, hint: str = _USE_FREE_COORDINATES
) -> SemanticError:
    reason = f"{kind} coordinates always have the points and axes of the two frames"
    pairs = (("point", "of"), ("reference_point", "in_frame"), ("expressed_in", "in_frame"))
    other = [f"{name}='{names[name]}'" for name, frame in pairs if names[name] != names[frame]]
    return asked.error(NotRepresentable, reason, ", ".join(other), hint)


def _from_parts(asked: Asked, representation: Representation, names: dict[str, str], vector: Any, turn: Any) -> Any:
    """Make pose coordinates of a position and a rotation; raises where the representation cannot express them."""
    is_frame_form = _are_of_frame_form(names)
    coordinates = representation.pose(adapt_vector(vector), adapt_rotation(turn), is_frame_form=is_frame_form)
    if coordinates is None:
        raise _not_representable(asked, names, representation.name)
    return unwrap(coordinates)


def _composed_coordinates(asked: Asked, a: Pose, b: Pose) -> Any:
    first, second = a.parts, b.parts
    representation: Representation = first.representation
    if {first.representation, second.representation} == {NATIVE, POSITION_QUATERNION}:
        representation = POSITION_QUATERNION
    else:
        _checks.representation(asked, first.representation, second.representation)
    if a.is_frame_form and b.is_frame_form and representation is not POSITION_QUATERNION:
        return unwrap(first.compose(second))
    if b.expressed_in == a.of and a.expressed_in == a.in_frame:
        vector = a.position.vector + adapt_vector(a.orientation.turn.rotate(b.position.vector))
    else:
        _checks.coordinate_frame(asked, a.expressed_in, b.expressed_in)
        vector = a.position.vector + b.position.vector
    turn = composed(asked, a.orientation.turn, b.orientation.turn)
    names = _point_names(a) | {"of": b.of, "point": b.point}
    return _from_parts(asked, representation, names, vector, turn)
