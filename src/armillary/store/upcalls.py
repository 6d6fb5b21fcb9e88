"""Everything that the C++ bindings call in Python: one typed value, an argument of the constructor of a store.

The bindings look each function up once, when a store is made: a missing one is found there and not in a query.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from armillary.store import admitting, bodies, joints, names, points, query, twists
from armillary.store.observers import notify_of_change
from armillary.store.values import as_transform, warn_of_dropped, with_row

__all__ = ["UPCALLS", "Upcalls"]

Call = Callable[..., Any]


def with_velocities(store: Any, question: str, **asked: Any) -> Any:
    """Answer a question about motion with the velocities that were measured alone."""
    from armillary.store.velocities import with_velocities as answer  # noqa: PLC0415  (few programs measure half a motion)

    return answer(store, question, **asked)


@dataclass(frozen=True, slots=True, kw_only=True)
class Upcalls:
    """The functions, each with the store as its first argument where it needs one.

    Attributes:
        admit_name: (store, name): the stored form of a name that may be added by use.
        declare_name: (store, name): the stored form of a name that is added explicitly.
        recall_name: (store, name): the stored form of a frame's name that must exist.
        knows_name: (store, name): whether a frame has this name.
        recall_joint: (store, name): the stored form of a joint's name that must exist.
        check_new_pose: (store, of, in_frame, source, start): refuse a pose relation that breaks a rule of bodies.
        read_twist: (store, twist, of=, ...): coordinates of a twist as numbers along named axes.
        store_twist: (store, of=, ..., pending=): store a twist of a new relation, or keep it until its poses come.
        store_pending: (store): store pending twists whose poses have come.
        complete_joints: (store, joints, at, covariance): add the joints that follow from these.
        complete_joint_series: (store, names, positions, stamps, velocities): add them for many instants.
        joints_came: (store, first, last, count, source): follow loops anew through later samples of joints.
        admit_joints: (store, joints, at, velocities, covariance, unknown, limits): the same without followers.
        admit_joint_series: (store, names, positions, velocities, covariance, unknown, limits): the same without
            followers.
        wheels_turned: (store, at, source): move the bases whose wheels got a velocity.
        pose_between_points: (store, of=, ...): a pose of other points or along other axes than those of its frames.
        by_policy: (store, question, ...): answer by a policy that is a callable.
        with_velocities: (store, question, ...): the motions of a question with velocities that were measured alone.
        notify: (store, change): run a change in its order and notify observers of its record.
        as_transform: (value): any pose coordinates as a `Transform`.
        as_joint_covariance: (covariance, count, with_velocities): a checked (k, k) matrix.
        as_joint_covariances: (covariance, rows, count, with_velocities, added): checked (N, k, k) or (1, k, k).
        with_row: (error, row): the error with the row of a batch.
        warn_of_dropped: (store, what, dropped, given): warn that samples of a batch were too old to be kept.
    """

    admit_name: Call
    declare_name: Call
    recall_name: Call
    knows_name: Call
    recall_joint: Call
    check_new_pose: Call
    read_twist: Call
    store_twist: Call
    store_pending: Call
    complete_joints: Call
    complete_joint_series: Call
    joints_came: Call
    admit_joints: Call
    admit_joint_series: Call
    wheels_turned: Call
    pose_between_points: Call
    by_policy: Call
    with_velocities: Call
    notify: Call
    as_transform: Call
    as_joint_covariance: Call
    as_joint_covariances: Call
    with_row: Call
    warn_of_dropped: Call


UPCALLS = Upcalls(
    admit_name=names.admit_name,
    declare_name=names.declare_name,
    recall_name=names.recall_name,
    knows_name=names.knows_name,
    recall_joint=names.recall_joint,
    check_new_pose=bodies.check_new_pose,
    read_twist=twists.read_given_twist,
    store_twist=twists.store_twist,
    store_pending=twists.store_pending,
    complete_joints=joints.complete_joints,
    complete_joint_series=joints.complete_joint_series,
    joints_came=joints.joints_came,
    admit_joints=admitting.admit_joints,
    admit_joint_series=admitting.admit_joint_series,
    wheels_turned=joints.wheels_turned,
    pose_between_points=points.pose_between_points,
    by_policy=query.by_policy,
    with_velocities=with_velocities,
    notify=notify_of_change,
    as_transform=as_transform,
    as_joint_covariance=joints.as_joint_covariance,
    as_joint_covariances=joints.as_joint_covariances,
    with_row=with_row,
    warn_of_dropped=warn_of_dropped,
)
