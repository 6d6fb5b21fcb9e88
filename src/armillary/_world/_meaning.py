"""Questions with all seven names, and the parts of answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from armillary._world._twists import MovingWorld
from armillary.errors import HelperBodiesDiffer, InvalidArgument, UnknownFrame
from armillary.relations import Pose
from armillary.relations.arrays import skew
from armillary.relations.uncertainty import along_axes, between_points
from armillary.stamps import LATEST, Latest
from armillary.transforms import check_name

if TYPE_CHECKING:
    from armillary.fusion.policies import AnyPolicy
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
        policy: AnyPolicy = "unique",
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
        axes = next(name for name in (expressed_in, in_frame, reference) if name is not None)
        if check_name(axes) == check_name(reference):
            return self.pose(of=target, in_frame=reference, **asked).position
        if check_name(axes) == check_name(target):
            return self.pose(of=reference, in_frame=target, **asked).position.inverse()
        pose, turn = self._poses_at_once([(target, reference), (reference, axes)], **asked)
        return along_axes(pose.position, turn, skew(pose.xyz))  # type: ignore[no-any-return]

    def orientation(
        self,
        *,
        of: str,
        in_frame: str,
        expressed_in: str | None = None,
        at: int | Latest = LATEST,
        outside: str = "raise",
        policy: AnyPolicy = "unique",
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
        policy: AnyPolicy = "unique",
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
        policy: AnyPolicy = "unique",
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
        at: int | Latest,
        of_at: int | Latest | None,
        fixed_frame: str | None,
        point: str | None,
        reference_point: str | None,
        expressed_in: str | None,
        **asked: Any,
    ) -> Pose:
        """Called by the native half for a pose with other points or axes than those of its two frames."""
        question: dict[str, Any] = {"of": of, "in_frame": in_frame, "of_at": of_at, "fixed_frame": fixed_frame}
        self._check_question(**question, at=at, **asked)
        far: dict[str, Any] = {"point": (point, of)} if _is_other(point, of) else {}
        near: dict[str, Any] = {"axes": (in_frame, expressed_in)} if _is_other(expressed_in, in_frame) else {}
        near |= {"reference_point": (reference_point, in_frame)} if _is_other(reference_point, in_frame) else {}
        if fixed_frame is None:
            seen = self._at_once({"whole": (of, in_frame)} | far | near, at, asked)
        else:
            there = self._at_once({"far": (of, fixed_frame)} | far, of_at, asked)
            here = self._at_once({"near": (fixed_frame, in_frame)} | near, at, asked)
            whole = self.pose(**question | {"of_at": _instant(there, of_at)}, at=_instant(here, at), **asked)
            seen = there | here | {"whole": whole}
        parts = [seen.get(name) for name in ("point", "reference_point", "axes")]
        for mount in (part for part in parts[:2] if part is not None):
            _check_rigid(mount)
        return between_points(seen["whole"], *parts)

    def _at_once(self, pairs: dict[str, Any], at: Any, asked: dict[str, Any]) -> dict[str, Pose]:
        return dict(zip(pairs, self._poses_at_once(list(pairs.values()), at=at, **asked), strict=True))

    def _as_transform(self, value: Any) -> Any:
        """Called by the native half for a pose that comes in other coordinates than a `Transform`."""
        return as_transform(value)


def _is_other(name: str | None, frame: str) -> bool:
    """Whether a point or axes are asked for beside those of the frame itself."""
    return name is not None and check_name(name) != check_name(frame)


def _check_rigid(mount: Pose) -> None:
    """Refused where a point may move on the body that it is taken for a point of."""
    if mount.stamp is None or mount.body == mount.reference_body or mount.of == mount.in_frame:
        return
    raise HelperBodiesDiffer(
        operation="pose",
        asked=f"take '{mount.of}' for a point on the body of '{mount.in_frame}'",
        expected=mount.reference_body,
        found=mount.body,
        hint=f"Declare them one body, world.add_body({mount.in_frame!r}, frames=[{mount.of!r}]), or fix() one in the "
        "other.",
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


def _instant(seen: dict[str, Pose], at: Any) -> Any:
    """The one of them all, where one of them has one."""
    return next((pose.stamp for pose in seen.values() if pose.stamp is not None), at)
