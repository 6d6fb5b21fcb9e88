"""Questions with all seven names, and the parts of answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from armillary._world._twists import MovingWorld
from armillary.errors import HelperBodiesDiffer, InvalidArgument, UnknownFrame
from armillary.relations import Pose
from armillary.relations._numbers import point_moved, seen_through
from armillary.relations.representations import PositionQuaternion
from armillary.stamps import LATEST, Latest
from armillary.transforms import check_name

if TYPE_CHECKING:
    from armillary.relations import AngularVelocity, LinearVelocity, Orientation, Position


class MeaningfulWorld(MovingWorld):
    """A world that answers in relations."""

    def position(
        self,
        *,
        of: str | None = None,
        in_frame: str | None = None,
        expressed_in: str | None = None,
        point: str | None = None,
        reference_point: str | None = None,
        at: int | Latest = LATEST,
        outside: str = "raise",
        policy: str = "unique",
        interpolation: str | None = None,
    ) -> Position:
        """Where the origin of one frame was, from the origin of another; `point` and `reference_point` say the same.

        Args:
            of: Frame whose origin is wanted.
            in_frame: Frame from whose origin it is measured.
            expressed_in: Frame along whose axes the numbers are; `in_frame` if not given.
            point: Frame whose origin is wanted, in place of `of`.
            reference_point: Frame from whose origin it is measured, in place of `in_frame`.
            at: As for `pose`.
            outside: As for `pose`.
            policy: As for `pose`.
            interpolation: As for `pose`.
        """
        asked: dict[str, Any] = {"at": at, "outside": outside, "policy": policy, "interpolation": interpolation}
        target, reference = _one(point, of, "of="), _one(reference_point, in_frame, "in_frame=")
        position = self.pose(of=target, in_frame=reference, **asked).position
        axes = next(check_name(name) for name in (expressed_in, in_frame, reference) if name is not None)
        if axes == position.expressed_in:
            return position
        turn = self.orientation(of=reference, in_frame=axes, **asked | {"at": _instant(position, at)})
        flags = {"held": position.held or turn.held, "predicted": position.predicted or turn.predicted}
        return position.change_coordinate_frame(turn)._replace(**flags)

    def orientation(
        self,
        *,
        of: str,
        in_frame: str,
        expressed_in: str | None = None,
        at: int | Latest = LATEST,
        outside: str = "raise",
        policy: str = "unique",
        interpolation: str | None = None,
    ) -> Orientation:
        """How the axes of one frame were turned, seen from another; arguments as for `pose`.

        A rotation is always along the axes of `in_frame`: any other `expressed_in` is refused.
        """
        asked: dict[str, Any] = {"at": at, "outside": outside, "policy": policy, "interpolation": interpolation}
        answer = self.pose(of=of, in_frame=in_frame, **asked).orientation
        if expressed_in is not None and check_name(expressed_in) != answer.in_frame:
            raise answer._not_along(expressed_in)  # noqa: SLF001  (its own refusal)
        return answer

    def linear_velocity(
        self,
        *,
        of: str,
        relative_to: str,
        expressed_in: str | None = None,
        point: str | None = None,
        at: int | Latest = LATEST,
        window: int | None = None,
        outside: str = "raise",
        policy: str = "unique",
        interpolation: str | None = None,
    ) -> LinearVelocity:
        """How fast a point of one body moved relative to another; arguments as for `twist`."""
        asked: dict[str, Any] = {"outside": outside, "policy": policy, "interpolation": interpolation, "window": window}
        names: dict[str, Any] = {"of": of, "relative_to": relative_to, "expressed_in": expressed_in, "point": point}
        return self.twist(**names, at=at, **asked).velocity

    def angular_velocity(
        self,
        *,
        of: str,
        relative_to: str,
        expressed_in: str | None = None,
        at: int | Latest = LATEST,
        window: int | None = None,
        outside: str = "raise",
        policy: str = "unique",
        interpolation: str | None = None,
    ) -> AngularVelocity:
        """How fast one body turned relative to another; `of` is a body or any frame on it, the rest as for `twist`."""
        of = self._frame_of_body(of)
        asked: dict[str, Any] = {"outside": outside, "policy": policy, "interpolation": interpolation, "window": window}
        names: dict[str, Any] = {"of": of, "relative_to": relative_to, "expressed_in": expressed_in}
        return self.twist(**names, at=at, **asked).angular_velocity

    def _frame_of_body(self, name: str) -> str:
        """A frame that turns as the named body does; the name itself where it is a frame, or nothing at all."""
        is_body = isinstance(name, str) and not self._knows(name) and self._is_only_a_body(name)
        return next(iter(self._frames_of(self._stored_name(name))), name) if is_body else name

    def _recall(self, name: object) -> str:
        """A name that must exist, in its stored form; a body says which frames it has."""
        stored = check_name(name)
        if not self._has_frame(stored):
            bodies = self.bodies()
            own = self._frames_of(stored) if stored in bodies else ()
            raise UnknownFrame(stored, self.frames(), own, bodies)
        return stored

    def _pose_between_points(
        self,
        *,
        of: str,
        in_frame: str,
        point: str | None,
        reference_point: str | None,
        expressed_in: str | None,
        **asked: Any,
    ) -> Pose:
        """Called by the native half for a pose with other points or axes than those of its two frames.

        Its covariance is taken at the point, and does not depend on the reference point: both are mounted exactly, or
        it is unknown.
        """
        seen = self.pose(of=of, in_frame=in_frame, **asked)
        when = {key: asked[key] for key in ("outside", "policy", "interpolation")} | {"at": _instant(seen, asked["at"])}
        xyz, spread = seen.transform.translation, seen.covariance
        if point is not None:
            mount = self._rigid(point, of, when)
            xyz, spread = seen.transform @ mount.xyz, _at_point(spread, mount)
        if reference_point is not None:
            mount = self._rigid(reference_point, in_frame, when)
            xyz, spread = xyz - mount.xyz, spread if _is_exact(mount) else None
        if expressed_in is not None:
            xyz = self.pose(of=in_frame, in_frame=expressed_in, **when).rotation @ xyz
        names: dict[str, Any] = {"point": point, "reference_point": reference_point, "expressed_in": expressed_in}
        return _with_points(seen, PositionQuaternion(xyz, seen.rotation), names | {"covariance": spread})

    def _as_transform(self, value: Any) -> Any:
        """Called by the native half for a pose that comes in other coordinates than a `Transform`."""
        return as_transform(value)

    def _rigid(self, point: str, frame: str, when: dict[str, Any]) -> Pose:
        """Where a point is on the body of a frame; refused where it may move on it."""
        fixed = self.pose(of=point, in_frame=frame, **when)
        if fixed.stamp is None or fixed.body == fixed.reference_body or point == frame:
            return fixed
        raise HelperBodiesDiffer(
            operation="pose",
            asked=f"take '{point}' for a point on the body of '{frame}'",
            expected=fixed.reference_body,
            found=fixed.body,
            cure=f"Declare them one body, world.add_body({frame!r}, frames=[{point!r}]), or fix() one in the other.",
        )


def as_transform(value: Any) -> Any:
    """A pose in any coordinates of numbers as a `Transform`; what is none at all stays as it is."""
    try:
        coordinates = Pose(of="child", in_frame="parent", coordinates=value)
    except InvalidArgument:
        return value
    return coordinates.transform


def _one(first: str | None, second: str | None, what: str) -> str:
    name = second if first is None else first
    if name is None:
        raise InvalidArgument(f"The question names no frame. Pass {what}.")
    return name


def _instant(pose: Pose | Position, at: int | Latest) -> int | Latest:
    return LATEST if pose.stamp is None and at is LATEST else at if pose.stamp is None else pose.stamp


def _is_exact(mount: Pose) -> bool:
    return mount.covariance is not None and not mount.covariance.any()


def _at_point(covariance: Any, mount: Pose) -> Any:
    """The covariance of a frame at a point that is mounted on its body; unknown where the mount is not exact."""
    return seen_through(point_moved(mount.xyz), covariance) if _is_exact(mount) else None


def _with_points(seen: Pose, coordinates: PositionQuaternion, names: dict[str, Any]) -> Pose:
    return Pose(
        of=seen.of,
        in_frame=seen.in_frame,
        body=seen.body,
        reference_body=seen.reference_body,
        coordinates=coordinates,
        stamp=seen.stamp,
        held=seen.held,
        predicted=seen.predicted,
        relations=seen.relations,
        **names,
    )
