"""Answers by a callable: every question of a store for which one decides among several candidate paths.

`Store.policy_answers` is this module: each function is named after the question, and takes the store first. Batches ask
anew for each instant, because each may have other paths. Policies with a name are answered by the C++ core.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from armillary._core import ReadyQueue
from armillary.errors import AmbiguousPath, ArmillaryError, InvalidArgument, WaitTimeout
from armillary.stamps import LATEST, as_stamps
from armillary.store.names import frame_of_body, knows_name, recall_name
from armillary.store.values import with_row
from armillary.transforms import joined_held
from armillary.transforms.conversions import PointForm

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import ArrayLike, NDArray

    from armillary._core import PathChoice
    from armillary.fusion.candidates import FoundPaths
    from armillary.fusion.filter import Filter
    from armillary.fusion.policies import Policy
    from armillary.relations import Pose, Twist
    from armillary.store import Store
    from armillary.transforms import HeldSample, Transform

__all__ = [
    "can_pose",
    "check_policy",
    "map_points",
    "pose",
    "pose_or_watch",
    "pose_type",
    "poses_at_once",
    "sweep",
    "transforms",
    "twist",
    "twists",
    "twists_with_covariances",
    "wait_for_pose",
]

_SIGNAL_CHECK_S = 0.05  # how often an interrupt is looked for; nothing is asked again then


def check_policy(_store: Store, policy: object) -> Policy:
    """Return the policy of a name, or a callable as it is; refuse anything else."""
    from armillary.fusion.policies import as_policy  # noqa: PLC0415  (most programs have one path)

    over_time = _as_filter(policy)
    return as_policy(policy if over_time is None else over_time)


def pose_type(_store: Store) -> type[Pose]:
    """Return the class of the poses that policies answer with."""
    from armillary.fusion.policies import PolicyPose  # noqa: PLC0415

    return PolicyPose


def pose(store: Store, *, policy: object, **question: Any) -> Pose:
    """Return the pose that a callable makes of the candidate paths; where nobody contests one, the only one."""
    from armillary.fusion.policies import Judgement, PolicyPose, judged  # noqa: PLC0415

    over_time = _as_filter(policy)
    if over_time is not None:
        from armillary.fusion.filter import filtered_pose  # noqa: PLC0415

        return filtered_pose(store, over_time, **question)
    decide = check_policy(store, policy)
    try:
        only = store.pose(**question, policy="unique")
    except AmbiguousPath:
        pass
    else:
        return PolicyPose.of_pose(only, Judgement.of_only_path(only, only.data_stamps()))
    found = _paths(store, decide, question)
    return judged(decide, found.candidates, found.lost)


def _as_filter(policy: object) -> Filter | None:
    """Return the filter over time that a policy is; None where it chooses among the paths of one instant."""
    if not (isinstance(policy, str) and policy == "filter") and type(policy).__name__ != "Filter":
        return None
    from armillary.fusion.filter import as_filter  # noqa: PLC0415  (few programs filter)

    return as_filter(policy)


def _paths(store: Store, policy: Policy, question: dict[str, Any]) -> FoundPaths:
    from armillary.fusion.candidates import FoundPaths  # noqa: PLC0415

    found = FoundPaths.of(store.candidates(**question, max_paths=store.max_paths))
    common = found.common_stamp
    if common is None or question["at"] is not LATEST or not getattr(policy, "at_one_instant", False):
        return found
    return FoundPaths.of(store.candidates(**question | {"at": common}, max_paths=store.max_paths))


def poses_at_once(store: Store, pairs: list[tuple[str, str]], *, at: Any, **asked: Any) -> list[Pose]:
    """Return several poses at one instant: with `LATEST` at the newest that all of them cover."""
    poses = [store.pose(of=of, in_frame=in_frame, at=at, **asked) for of, in_frame in pairs]
    stamps = {pose.stamp for pose in poses if pose.stamp is not None}
    if at is not LATEST or len(stamps) <= 1:
        return poses
    return [store.pose(of=of, in_frame=in_frame, at=min(stamps), **asked) for of, in_frame in pairs]


def can_pose(store: Store, *, of: str, in_frame: str, fixed_frame: str | None, **asked: Any) -> bool:
    """Whether `pose` would answer; never raises for missing data."""
    names = [name for name in (of, in_frame, fixed_frame) if name is not None]
    check_policy(store, asked["policy"])
    if not all(knows_name(store, name) for name in names):
        return False
    store.check_question(of=of, in_frame=in_frame, fixed_frame=fixed_frame, **asked)
    try:
        pose(store, of=of, in_frame=in_frame, fixed_frame=fixed_frame, **asked)
    except InvalidArgument:
        raise
    except ArmillaryError:
        return False
    return True


def transforms(store: Store, *, of: str, in_frame: str, at: ArrayLike, as_: str, **asked: Any) -> NDArray[float64]:
    """Return `in_frame_T_of` at many instants, each by the policy."""
    answers = [
        _transform_at(store, row, stamp, asked | {"of": of, "in_frame": in_frame})
        for row, stamp in enumerate(_stamps(at))
    ]
    if as_ == "matrix":
        return np.array([answer.matrix for answer in answers]).reshape(-1, 4, 4)
    return np.array([answer.xyz_wxyz for answer in answers]).reshape(-1, 7)


def _transform_at(store: Store, row: int, at: int, asked: dict[str, Any]) -> Transform:
    try:
        return store.pose(at=at, **asked).transform
    except ArmillaryError as error:
        raise with_row(error, row) from None


def map_points(
    store: Store, points: ArrayLike, *, from_frame: str, to_frame: str, at: Any, **asked: Any
) -> NDArray[Any]:
    """Return points of one frame as coordinates of another, by the policy."""
    if at is LATEST or np.ndim(at) == 0:
        return store.pose(of=from_frame, in_frame=to_frame, at=at, **asked).transform @ points
    form = PointForm(points)
    rows, stamps = form.rows, form.flat(at)
    if rows.shape != (len(stamps), 3):
        raise InvalidArgument(
            f"points has shape {rows.shape} and at has {len(stamps)} stamps. Give (N, 3) points and one stamp, or "
            "one stamp per point."
        )
    asked |= {"of": from_frame, "in_frame": to_frame, "at": stamps, "as_": "matrix"}
    matrices = transforms(store, **asked)
    return form.restored(np.einsum("nij,nj->ni", matrices[:, :3, :3], rows) + matrices[:, :3, 3])


def sweep(store: Store, *, in_frame: str, **asked: Any) -> PolicySweep:
    """Return the pose of every answerable frame, each by the policy."""
    recall_name(store, in_frame)
    found: dict[str, Pose] = {}
    missing: dict[str, ArmillaryError] = {}
    for name in store.frames():
        try:
            found[name] = store.pose(of=name, in_frame=in_frame, **asked)
        except InvalidArgument:
            raise
        except ArmillaryError as error:
            missing[name] = error
    return PolicySweep(found, missing)


# -- Motion


def twist(store: Store, *, policy: object, **question: Any) -> Twist:
    """Return the motion along the path that the policy chooses; with "fuse" that of all paths, fused."""
    decide = check_policy(store, policy)
    try:
        return store.twist(**question, policy="unique")
    except AmbiguousPath as error:
        if error.motion:
            raise
    found = _used(decide, _paths_of_motion(store, decide, question, question["of"]))
    others = [name for name in (question["expressed_in"], question["point"]) if name is not None]
    more = [_choice(store, decide, question, name) for name in others]
    if len(found.choices) == 1:
        return store.twist(**question, policy=_joined([*found.choices, *more]))
    return _fused_twist(store, question, found, more)


def twists(store: Store, *, at: ArrayLike, **question: Any) -> NDArray[float64]:
    """Return (N, 6) twists at many instants, each by the policy."""
    rows = [_six(_twist_of_row(store, row, stamp, question)) for row, stamp in enumerate(_stamps(at))]
    return np.array(rows).reshape(-1, 6)


def twists_with_covariances(
    store: Store, *, at: ArrayLike, **question: Any
) -> tuple[NDArray[float64], NDArray[float64]]:
    """Return (N, 6) twists at many instants, each by the policy, and their covariances; NaN where unknown."""
    found = [_twist_of_row(store, row, stamp, question) for row, stamp in enumerate(_stamps(at))]
    spreads = [np.full((6, 6), np.nan) if one.covariance is None else one.covariance for one in found]
    return np.reshape([_six(one) for one in found], (-1, 6)), np.reshape(spreads, (-1, 6, 6))


def _twist_of_row(store: Store, row: int, at: int, question: dict[str, Any]) -> Twist:
    try:
        return store.twist(**question, at=at)
    except ArmillaryError as error:
        raise with_row(error, row) from None


def _six(twist: Twist) -> NDArray[float64]:
    return np.concatenate([twist.linear, twist.angular])


def _paths_of_motion(store: Store, policy: Policy, question: dict[str, Any], of: str) -> FoundPaths:
    asked = {key: question[key] for key in ("at", "outside", "interpolation", "hold_up_to_s")}
    in_frame = frame_of_body(store, question["relative_to"])
    return _paths(store, policy, asked | {"of": of, "in_frame": in_frame, "of_at": None, "fixed_frame": None})


def _choice(store: Store, policy: Policy, question: dict[str, Any], of: str) -> PathChoice:
    """The path to a frame whose axes or origin are asked for; where paths are fused, the first."""
    return _used(policy, _paths_of_motion(store, policy, question, of)).choices[0]


def _used(policy: Policy, found: FoundPaths) -> FoundPaths:
    from armillary.fusion.policies import used_by  # noqa: PLC0415

    return found.limited_to(used_by(policy, found.candidates))


def _fused_twist(store: Store, question: dict[str, Any], found: FoundPaths, more: list[PathChoice]) -> Twist:
    from armillary.fusion.estimate import fused_twist  # noqa: PLC0415

    stamps = [path.pose.stamp for path in found.candidates if path.pose.stamp is not None]
    at = question["at"] if question["at"] is not LATEST or not stamps else min(stamps)
    asked = question | {"at": at}
    return fused_twist([store.twist(**asked, policy=_joined([choice, *more])) for choice in found.choices])


# -- Waiting


def pose_or_watch(store: Store, queue: ReadyQueue, wait_id: int, *, policy: object, **question: Any) -> Pose | None:
    """Return the pose, or None while something may still come; then the wait is woken."""
    may_come = store.watch_paths(queue, wait_id, store.max_paths, **question)
    try:
        pose = store.pose(**question, policy=policy)  # type: ignore[arg-type]
    except InvalidArgument:
        raise
    except ArmillaryError:
        if may_come:
            return None
        raise
    store.forget_wait(wait_id)
    return pose


def wait_for_pose(store: Store, timeout_s: float, **question: Any) -> Pose:
    """Block until the policy has an answer, or the time is over."""
    queue, wait_id = ReadyQueue(), store.new_wait_id()
    deadline = None if timeout_s < 0 else time.monotonic() + timeout_s
    try:
        while (pose := pose_or_watch(store, queue, wait_id, **question)) is None:
            if not _is_woken(queue, deadline):
                return _pose_in_time(store, timeout_s, question)
        return pose
    finally:
        store.forget_wait(wait_id)


def _pose_in_time(store: Store, timeout_s: float, question: dict[str, Any]) -> Pose:
    """Ask once more at the end: data may have come at the last moment."""
    try:
        return store.pose(**question)
    except ArmillaryError as reason:
        raise WaitTimeout(question["of"], question["in_frame"], timeout_s, reason) from None


class PolicySweep:
    """The poses of all frames, each by the policy; has the methods of the `SweepAnswer` of the C++ core."""

    def __init__(self, found: dict[str, Pose], missing: dict[str, ArmillaryError]) -> None:
        self._names, self._poses, self._missing = list(found), list(found.values()), missing

    def __len__(self) -> int:
        return len(self._poses)

    def positions(self) -> dict[str, int]:
        """Map the names of frames to rows."""
        return {name: row for row, name in enumerate(self._names)}

    def missing(self, _world: object, _in_frame: str) -> dict[str, ArmillaryError]:
        """Map the names of frames without a pose to the reason."""
        return self._missing

    def xyz_wxyz(self) -> NDArray[float64]:
        """The transforms of all rows, (N, 7)."""
        return np.array([pose.transform.xyz_wxyz for pose in self._poses]).reshape(-1, 7)

    def any_held(self) -> bool:
        """Whether the nearest sample was taken in some row."""
        return any(pose.held for pose in self._poses)

    def transform(self, row: int) -> Transform:
        """The transform of one row."""
        return self._poses[row].transform

    def stamp(self, row: int) -> int | None:
        """The instant of one row [ns]; None where everything is fixed."""
        return self._poses[row].stamp

    def held(self, row: int) -> bool:
        """Whether the nearest sample was taken in one row."""
        return bool(self._poses[row].held)

    def held_samples(self, _world: object) -> tuple[HeldSample, ...]:
        """What was held for any of the rows; of one sample the largest age."""
        oldest: dict[Any, HeldSample] = {}
        for sample in joined_held(*(pose.held for pose in self._poses)):
            known = oldest.setdefault((sample.relation, sample.joint), sample)
            if abs(known.age_s) < abs(sample.age_s):
                oldest[sample.relation, sample.joint] = sample
        return tuple(oldest.values())

    def predicted(self, row: int) -> bool:
        """Whether the last motion was continued in one row."""
        return self._poses[row].predicted


def _stamps(at: Any) -> list[int]:
    return [int(stamp) for stamp in as_stamps(at)]


def _joined(choices: list[PathChoice]) -> Any:
    """Several path choices as one policy that the C++ core takes."""
    first, *rest = choices
    for choice in rest:
        first = first.joined(choice)
    return first


def _is_woken(queue: ReadyQueue, deadline: float | None) -> bool:
    """Wait until the queue is signalled; false when the time is over."""
    while deadline is None or time.monotonic() < deadline:
        left = _SIGNAL_CHECK_S if deadline is None else min(_SIGNAL_CHECK_S, max(0.0, deadline - time.monotonic()))
        if queue.pop(left) != 0:
            return True
    return False
