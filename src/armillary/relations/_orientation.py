"""The orientation of one frame in another, and its algebra."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, Unpack

from armillary import errors
from armillary.relations import _checks, _display
from armillary.relations._arguments import explain_arguments
from armillary.relations._checks import no_place, no_sum
from armillary.relations.arrays import added, seen_through
from armillary.relations.representations.adapters import adapt_rotation, unwrap
from armillary.relations.storage import (
    POSE_ORIGIN,
    Dated,
    PoseOrigin,
    are_independent,
    as_names,
    as_origin,
    origin_of_both,
    spread_of_helper,
)
from armillary.transforms import Rotation

if TYPE_CHECKING:
    from armillary.relations.representations import Representation

_DEFAULTS = {"body": "of", "reference_body": "in_frame", "expressed_in": "in_frame"}


@explain_arguments
class Orientation(Dated):
    """The orientation of frame `of` in frame `in_frame`.

    Args:
        of: The orientation frame whose axes are described.
        in_frame: The orientation frame they are described in.
        body: The body `of` is fixed to; its own if not given.
        reference_body: The body `in_frame` is fixed to; its own if not given.
        expressed_in: The axes of the coordinates; for rotations always those of `in_frame`.
        rotation: `in_frame_R_of`.
        coordinates: In its place a (3, 3) matrix, or any other `RotationCoordinates`.
        stamp: The instant [ns]; None for what holds always.
        covariance: (3, 3), of a small turn about the axes of `of`, R = mean Exp(d), as in a `Pose`; None where unknown.
        held: The samples that were used at another instant than their own, with their ages.
        predicted: Whether something was extrapolated.
        integrated: Whether something was integrated from twists.
        relations: What it was computed from: (of, in_frame, source).

    Frozen. `a @ b` composes, reference first.
    """

    __slots__ = (*POSE_ORIGIN, "body", "coordinates", "expressed_in", "in_frame", "of", "reference_body")
    _NAMES = ("of", "body", "in_frame", "reference_body", "expressed_in")
    _COMPARED = (*_NAMES, "coordinates", "stamp", "covariance")
    _FIELDS = (*_NAMES, "coordinates", *POSE_ORIGIN)
    _ORIGIN = POSE_ORIGIN
    _adapter = staticmethod(adapt_rotation)

    of: str
    body: str
    in_frame: str
    reference_body: str
    expressed_in: str
    coordinates: Any

    def __init__(
        self,
        *,
        of: str,
        in_frame: str,
        rotation: Rotation | None = None,
        coordinates: Any = None,
        body: str | None = None,
        reference_body: str | None = None,
        expressed_in: str | None = None,
        **origin: Unpack[PoseOrigin],
    ) -> None:
        names: dict[str, str | None] = {"of": of, "in_frame": in_frame, "body": body}
        names |= {"reference_body": reference_body, "expressed_in": expressed_in}
        turn = adapt_rotation(_one_of(rotation, coordinates))
        self._fill(as_names(names, _DEFAULTS) | {"coordinates": unwrap(turn)} | as_origin(3, POSE_ORIGIN, origin))
        if self.expressed_in != self.in_frame:
            raise self.not_along(self.expressed_in)

    def __repr__(self) -> str:
        return (
            f"Orientation([{self.of}]|{self.body} in [{self.in_frame}]|{self.reference_body}, in [{self.expressed_in}])"
        )

    def __str__(self) -> str:
        return _display.orientation_text(self)

    @property
    def turn(self) -> Any:
        """The coordinates, with the methods of `RotationCoordinates`."""
        return adapt_rotation(self.coordinates)

    @property
    def rotation(self) -> Rotation:
        """`in_frame_R_of` in numbers; `NotNumeric` for expressions."""
        numbers: Rotation = self.turn.numbers()
        return numbers

    def is_close(self, other: Orientation, *, m: float = 1e-9, rad: float = 1e-9) -> bool:  # noqa: ARG002 - one face for all
        """Same names, and at most `rad` radians apart."""
        is_same = isinstance(other, Orientation) and self._same_names(other)
        return is_same and self.rotation.is_close(other.rotation, rad=rad)

    def converted(self, representation: Representation) -> Self:
        """The same orientation in other coordinates, exact to rounding."""
        return self._with(representation.rotation(self.rotation))

    def inverse(self) -> Self:
        """The reference seen from the target; the coordinates are then along the target's axes."""
        return self._with(
            self.turn.inverse(),
            of=self.in_frame,
            body=self.reference_body,
            in_frame=self.of,
            reference_body=self.body,
            expressed_in=self.of,
        )._replace(covariance=turned_spread(self, self.covariance))

    def compose(self, other: Orientation) -> Self:
        """`c_R_b.compose(b_R_a)` is `c_R_a`."""
        asked = _checks.composing(self, other)
        _checks.kind(asked, other, Orientation)
        _checks.inner_orientation_frame(asked, self, other)
        _checks.inner_body(asked, self, other)
        stamp = _checks.stamp(asked, self.stamp, other.stamp)
        spread = (
            added(turned_spread(other, self.covariance, back=True), other.covariance)
            if are_independent(self, other)
            else None
        )
        whole = origin_of_both(self, other, stamp) | {"covariance": spread}
        return self._with(composed(asked, self.turn, other.turn), of=other.of, body=other.body)._replace(**whole)

    __matmul__ = compose
    __add__ = no_sum
    change_point = no_place
    change_reference_point = no_place

    def change_orientation_frame(self, orientation: Orientation) -> Self:
        """Other axes on the same body: `orientation` is that of the new frame in `of`."""
        asked = _checks.changing("change_orientation_frame", self, orientation)
        orientation = _checks.part(asked, orientation, Orientation)
        _checks.helper_orientation_frame(asked, self, orientation)
        spread = turned_spread(orientation, self.covariance, back=True)
        return self._with(composed(asked, self.turn, orientation.turn), of=orientation.of)._replace(covariance=spread)

    def change_reference_orientation_frame(self, orientation: Orientation) -> Self:
        """Other reference axes on the same body: `orientation` is that of `in_frame` in the new frame."""
        asked = _checks.changing("change_reference_orientation_frame", self, orientation)
        orientation = _checks.part(asked, orientation, Orientation)
        _checks.helper_reference_orientation_frame(asked, self, orientation)
        frame = orientation.in_frame
        return self._with(composed(asked, orientation.turn, self.turn), in_frame=frame, expressed_in=frame)

    def change_coordinate_frame(self, orientation: Orientation) -> Self:
        """Raise, unless it changes nothing: the coordinates of a rotation are always along `in_frame`."""
        asked = _checks.changing("change_coordinate_frame", self, orientation)
        orientation = _checks.part(asked, orientation, Orientation)
        _checks.helper_coordinate_frame(asked, self, orientation)
        if orientation.in_frame == self.expressed_in:
            return self
        raise self.not_along(orientation.in_frame)

    def _with(self, turn: Any, **names: str) -> Self:
        return self._replace(coordinates=unwrap(adapt_rotation(turn)), **names)

    def not_along(self, frame: str) -> errors.SemanticError:
        """Return the error that refuses to express a rotation along the axes of another frame."""
        asked = _checks.Asked("change_coordinate_frame", "express {} along the axes of {}", (self, frame))
        reason = f"a rotation is always along the axes of its reference frame '{self.in_frame}'"
        hint = f"Leave expressed_in out, or change the reference with .change_reference_orientation_frame to '{frame}'."
        return asked.error(errors.NotRepresentable, reason, f"'{frame}'", hint)


def composed(asked: _checks.Asked, a: Any, b: Any) -> Any:
    """Return the product of two rotations of one representation."""
    _checks.representation(asked, a.representation, b.representation)
    return adapt_rotation(a.compose(b))


def turn_to(value: Any, orientation: object) -> Any:
    """Check `orientation`, and return the rotation from the axes of `value` to those of `orientation.in_frame`."""
    asked = _checks.changing("change_coordinate_frame", value, orientation)
    helper = _checks.part(asked, orientation, Orientation)
    _checks.helper_coordinate_frame(asked, value, helper)
    return adapt_rotation(helper.coordinates)


def spread_of_turn(value: Any, orientation: Any) -> Any:
    """Return the covariance of an orientation, or of that of a pose, as `spread_of_helper` does for this value."""
    return spread_of_helper(value, getattr(orientation, "orientation", orientation))


def turned_spread(turn: Any, covariance: Any, *, back: bool = False) -> Any:
    """Return a (3, 3) covariance along the axes of `turn.in_frame`, or with `back` along those of `turn.of`.

    None where it is unknown, or the rotation is an expression.
    """
    if covariance is None:
        return None
    try:
        R = turn.rotation.matrix
    except errors.NotNumeric:
        return None
    return seen_through(R.T if back else R, covariance)


def _one_of(rotation: Rotation | None, coordinates: Any) -> Any:
    if (rotation is None) == (coordinates is None):
        raise errors.InvalidArgument("Orientation takes either rotation= or coordinates=, and one of them.")
    if rotation is not None and not isinstance(rotation, Rotation):
        raise errors.InvalidArgument(
            f"rotation must be a Rotation, got {_checks.kind_of(rotation)}. Make one, Rotation.from_wxyz(...), or pass "
            "it as coordinates=."
        )
    return coordinates if rotation is None else rotation
