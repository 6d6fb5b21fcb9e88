"""Questions that several paths may answer. The native half calls these methods for every policy but "unique"."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from armillary._core import ReadyQueue
from armillary._world._expressing import ExpressingWorld
from armillary.errors import AmbiguousPath, ArmillaryError, InvalidArgument, InvalidStamp, WaitTimeout
from armillary.stamps import LATEST

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import ArrayLike, NDArray

    from armillary._core import PathChoice
    from armillary.fusion.candidates import FoundPaths
    from armillary.fusion.policies import Policy
    from armillary.relations import Pose, Twist
    from armillary.transforms import Transform

_SIGNAL_CHECK_S = 0.05  # how often an interrupt is looked for; nothing is asked again then


class JudgingWorld(ExpressingWorld):
    """A world that decides among sources by a policy.

    Every path is asked for by itself. Batches ask anew for each instant, because each may have other paths.
    """

    _max_paths: int

    def _check_policy(self, policy: object) -> Policy:
        from armillary.fusion.policies import as_policy  # noqa: PLC0415  (most programs have one path)

        return as_policy(policy)

    def _pose_by_policy(self, *, policy: object, **question: Any) -> Pose:
        from armillary.fusion.policies import judged  # noqa: PLC0415

        decide = self._check_policy(policy)
        found = self._paths(decide, question)
        return judged(decide, found.candidates, found.lost)

    def _paths(self, policy: Policy, question: dict[str, Any]) -> FoundPaths:
        from armillary.fusion.candidates import FoundPaths  # noqa: PLC0415

        found = FoundPaths.of(self._candidates(**question, max_paths=self._max_paths))
        common = found.common_stamp
        if common is None or question["at"] is not LATEST or not getattr(policy, "at_one_instant", False):
            return found
        return FoundPaths.of(self._candidates(**question | {"at": common}, max_paths=self._max_paths))

    def _poses_at_once_by_policy(self, pairs: list[tuple[str, str]], *, at: Any, **asked: Any) -> list[Pose]:
        """All at one instant: with `LATEST` at the newest that every one of them covers."""
        poses = [self.pose(of=of, in_frame=in_frame, at=at, **asked) for of, in_frame in pairs]
        stamps = {pose.stamp for pose in poses if pose.stamp is not None}
        if at is not LATEST or len(stamps) <= 1:
            return poses
        return [self.pose(of=of, in_frame=in_frame, at=min(stamps), **asked) for of, in_frame in pairs]

    def _can_pose_by_policy(self, *, of: str, in_frame: str, fixed_frame: str | None, **asked: Any) -> bool:
        names = [name for name in (of, in_frame, fixed_frame) if name is not None]
        self._check_policy(asked["policy"])
        if not all(map(self._knows, names)):
            return False
        self._check_question(of=of, in_frame=in_frame, fixed_frame=fixed_frame, **asked)
        try:
            self._pose_by_policy(of=of, in_frame=in_frame, fixed_frame=fixed_frame, **asked)
        except InvalidArgument:
            raise
        except ArmillaryError:
            return False
        return True

    def _transforms_by_policy(
        self, *, of: str, in_frame: str, at: ArrayLike, as_: str, **asked: Any
    ) -> NDArray[float64]:
        answers = [self._transform_at(row, of, in_frame, stamp, asked) for row, stamp in enumerate(_stamps(at))]
        if as_ == "matrix":
            return np.array([answer.matrix for answer in answers]).reshape(-1, 4, 4)
        return np.array([answer.xyz_wxyz for answer in answers]).reshape(-1, 7)

    def _transform_at(self, row: int, of: str, in_frame: str, at: int, asked: dict[str, Any]) -> Transform:
        try:
            return self.pose(of=of, in_frame=in_frame, at=at, **asked).transform
        except ArmillaryError as error:
            raise self._with_row(error, row) from None

    def _map_points_by_policy(
        self, points: ArrayLike, *, from_frame: str, to_frame: str, at: Any, **asked: Any
    ) -> NDArray[float64]:
        if at is LATEST or np.ndim(at) == 0:
            return self.pose(of=from_frame, in_frame=to_frame, at=at, **asked).transform @ points
        rows = np.asarray(points, dtype=float)
        stamps = _stamps(at)
        if rows.shape != (len(stamps), 3):
            raise InvalidArgument(
                f"points has shape {rows.shape} and at has {len(stamps)} stamps. Give (N, 3) points and one stamp, or "
                "one stamp per point."
            )
        asked |= {"of": from_frame, "in_frame": to_frame, "at": at, "as_": "matrix"}
        matrices = self._transforms_by_policy(**asked)
        return np.asarray(np.einsum("nij,nj->ni", matrices[:, :3, :3], rows) + matrices[:, :3, 3])

    def _sweep_by_policy(self, *, in_frame: str, **asked: Any) -> PolicySweep:
        self._recall(in_frame)
        found: dict[str, Pose] = {}
        missing: dict[str, ArmillaryError] = {}
        for name in self.frames():
            try:
                found[name] = self.pose(of=name, in_frame=in_frame, **asked)
            except InvalidArgument:
                raise
            except ArmillaryError as error:
                missing[name] = error
        return PolicySweep(found, missing)

    # -- Re-parenting

    def attach(
        self,
        *,
        of: str,
        to: str,
        at: int | None = None,
        source: str | None = None,
        outside: str = "raise",
        policy: str | Policy = "unique",
    ) -> None:
        """Hang a frame under another from `at` on, keeping where it is: the grasped cup.

        Args:
            of: The frame that is moved.
            to: What it hangs under from then on.
            at: With a stamp: where it is then, from then on. None: where it was last seen, from `world.now()` on.
            source: In whose name. Left out, it is whoever holds the frame at that instant, so that it is a move and not
                a rival; with a policy other than "unique", this world.
            outside: As for `pose`.
            policy: As for `pose`: where it is, if several sources say so.

        Raises:
            InvalidArgument: A policy found a pose of unknown uncertainty.
        """
        if policy == "unique":
            super().attach(of=of, to=to, at=at, source=source, outside=outside)
            return
        seen = self.pose(of=of, in_frame=to, at=LATEST if at is None else at, outside=outside, policy=policy)
        if seen.covariance is None:
            raise InvalidArgument(
                f"Where '{of}' is in '{to}' is known, but not how well. Give its samples a covariance, or settle who "
                "is believed with world.prefer.",
                of,
            )
        since = self.now() if at is None else at
        self.fix(of=of, in_frame=to, transform=seen.transform, at=since, covariance=seen.covariance, source=source)

    def detach(
        self,
        *,
        of: str,
        to: str,
        at: int | None = None,
        source: str | None = None,
        outside: str = "raise",
        policy: str | Policy = "unique",
    ) -> None:
        """Let a frame go: from `at` on it stays where it is in `to`. The reverse of `attach`, and the same motion."""
        self.attach(of=of, to=to, at=at, source=source, outside=outside, policy=policy)

    # -- Motion

    def _twist_by_policy(self, *, policy: object, **question: Any) -> Twist:
        """The motion along the path of poses that the policy chooses; "fuse": of all the paths, fused."""
        decide = self._check_policy(policy)
        try:
            return self.twist(**question, policy="unique")
        except AmbiguousPath as error:
            if error.motion:
                raise
        found = self._used(decide, self._paths_of_motion(decide, question, question["of"]))
        others = [name for name in (question["expressed_in"], question["point"]) if name is not None]
        more = [self._choice(decide, question, name) for name in others]
        if len(found.choices) == 1:
            return self.twist(**question, policy=_joined([*found.choices, *more]))
        return self._fused_twist(question, found, more)

    def _twists_by_policy(self, *, at: ArrayLike, **question: Any) -> NDArray[float64]:
        rows = [self._twist_row(row, stamp, question) for row, stamp in enumerate(_stamps(at))]
        return np.array(rows).reshape(-1, 6)

    def _twist_row(self, row: int, at: int, question: dict[str, Any]) -> NDArray[float64]:
        try:
            twist = self.twist(**question, at=at)
        except ArmillaryError as error:
            raise self._with_row(error, row) from None
        return np.concatenate([twist.linear, twist.angular])

    def _paths_of_motion(self, policy: Policy, question: dict[str, Any], of: str) -> FoundPaths:
        asked = {key: question[key] for key in ("at", "outside", "interpolation")}
        in_frame = self._frame_of_body(question["relative_to"])
        return self._paths(policy, asked | {"of": of, "in_frame": in_frame, "of_at": None, "fixed_frame": None})

    def _choice(self, policy: Policy, question: dict[str, Any], of: str) -> PathChoice:
        """Of the frame whose axes or origin are asked for; where paths are fused, that of the first."""
        return self._used(policy, self._paths_of_motion(policy, question, of)).choices[0]

    def _used(self, policy: Policy, found: FoundPaths) -> FoundPaths:
        from armillary.fusion.policies import used_by  # noqa: PLC0415

        return found.limited_to(used_by(policy, found.candidates))

    def _fused_twist(self, question: dict[str, Any], found: FoundPaths, more: list[PathChoice]) -> Twist:
        from armillary.fusion.estimate import fused_twist  # noqa: PLC0415

        stamps = [path.pose.stamp for path in found.candidates if path.pose.stamp is not None]
        at = question["at"] if question["at"] is not LATEST or not stamps else min(stamps)
        asked = question | {"at": at}
        return fused_twist([self.twist(**asked, policy=_joined([choice, *more])) for choice in found.choices])

    # -- Waiting

    def _answer_or_watch_by_policy(
        self, queue: ReadyQueue, wait_id: int, *, policy: object, **question: Any
    ) -> Pose | None:
        """As `_answer_or_watch`: the pose, or None while something may still come."""
        may_come = self._watch_paths(queue, wait_id, self._max_paths, **question)
        try:
            pose = self.pose(**question, policy=policy)  # type: ignore[arg-type]
        except InvalidArgument:
            raise
        except ArmillaryError:
            if may_come:
                return None
            raise
        self._forget_wait(wait_id)
        return pose

    def _wait_by_policy(self, timeout_s: float, **question: Any) -> Pose:
        queue, wait_id = ReadyQueue(), self._new_wait_id()
        deadline = None if timeout_s < 0 else time.monotonic() + timeout_s
        try:
            while (pose := self._answer_or_watch_by_policy(queue, wait_id, **question)) is None:
                if not _rang(queue, deadline):
                    return self._pose_in_time(timeout_s, question)
            return pose
        finally:
            self._forget_wait(wait_id)

    def _pose_in_time(self, timeout_s: float, question: dict[str, Any]) -> Pose:
        """What came at the last moment counts."""
        try:
            return self.pose(**question)
        except ArmillaryError as reason:
            raise WaitTimeout(question["of"], question["in_frame"], timeout_s, reason) from None


class PolicySweep:
    """What was found of all frames, one by one; has the methods of a native `SweepAnswer`."""

    def __init__(self, found: dict[str, Pose], missing: dict[str, ArmillaryError]) -> None:
        self._names, self._poses, self._missing = list(found), list(found.values()), missing

    def __len__(self) -> int:
        return len(self._poses)

    def positions(self) -> dict[str, int]:
        """Name to row."""
        return {name: row for row, name in enumerate(self._names)}

    def missing(self, _world: object, _in_frame: str) -> dict[str, ArmillaryError]:
        """Name to the reason."""
        return self._missing

    def xyz_wxyz(self) -> NDArray[float64]:
        """(N, 7), all rows."""
        return np.array([pose.transform.xyz_wxyz for pose in self._poses]).reshape(-1, 7)

    def any_held(self) -> bool:
        """Whether one of them is."""
        return any(pose.held for pose in self._poses)

    def transform(self, row: int) -> Transform:
        """Of one row."""
        return self._poses[row].transform

    def stamp(self, row: int) -> int | None:
        """Of one row [ns]."""
        return self._poses[row].stamp

    def held(self, row: int) -> bool:
        """Of one row."""
        return self._poses[row].held

    def predicted(self, row: int) -> bool:
        """Of one row."""
        return self._poses[row].predicted


def _stamps(at: Any) -> list[int]:
    try:
        stamps = np.asarray(at)
    except (TypeError, ValueError, OverflowError):
        stamps = np.empty((0, 0))  # rows of unequal lengths are no list of stamps
    if stamps.ndim != 1 or (stamps.size and stamps.dtype.kind not in "iu"):
        raise InvalidStamp(
            f"at must be (N,) integer nanoseconds, got {at!r}. Pass np.array([...]) of seconds(...).", at
        )
    return [int(stamp) for stamp in stamps]


def _joined(choices: list[PathChoice]) -> Any:
    """All of them, as a policy that native calls take."""
    first, *rest = choices
    for choice in rest:
        first = first.joined(choice)
    return first


def _rang(queue: ReadyQueue, deadline: float | None) -> bool:
    """False when the time is over."""
    while deadline is None or time.monotonic() < deadline:
        left = _SIGNAL_CHECK_S if deadline is None else min(_SIGNAL_CHECK_S, max(0.0, deadline - time.monotonic()))
        if queue.pop(left) != 0:
            return True
    return False
