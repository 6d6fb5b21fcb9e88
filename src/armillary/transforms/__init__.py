"""Rigid motions in time: the face of the native core."""

from armillary._core import Rotation, Transform
from armillary.transforms._dispatcher import (
    POSE,
    TWIST,
    Dispatcher,
    Kind,
    WaitHandle,
    as_number,
    check_timeout,
    print_error,
)
from armillary.transforms._joints import JointSamples, JointState
from armillary.transforms._names import TypoGuard, check_name, warn_of_typo
from armillary.transforms._queue import StampedQueue
from armillary.transforms._reports import RelationInfo, Samples, Snapshot, TwistSamples
from armillary.transforms._tree import Tree
from armillary.transforms.diagnosis import Diagnosis, LinkState

__all__ = [  # noqa: RUF022 - in plain order, as in every package
    "Diagnosis",
    "Dispatcher",
    "JointSamples",
    "JointState",
    "Kind",
    "LinkState",
    "POSE",
    "RelationInfo",
    "Rotation",
    "Samples",
    "Snapshot",
    "StampedQueue",
    "TWIST",
    "Transform",
    "Tree",
    "TwistSamples",
    "TypoGuard",
    "WaitHandle",
    "as_number",
    "check_name",
    "check_timeout",
    "print_error",
    "warn_of_typo",
]
