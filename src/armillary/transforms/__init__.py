"""Rigid motions in time: the face of the native core."""

from armillary._core import Rotation, Transform
from armillary.transforms._joints import JointSamples, JointState
from armillary.transforms._names import TypoGuard, check_name
from armillary.transforms._reports import RelationInfo, Samples, Snapshot, TwistSamples
from armillary.transforms._tree import Tree
from armillary.transforms.diagnosis import Diagnosis, LinkState

__all__ = [
    "Diagnosis",
    "JointSamples",
    "JointState",
    "LinkState",
    "RelationInfo",
    "Rotation",
    "Samples",
    "Snapshot",
    "Transform",
    "Tree",
    "TwistSamples",
    "TypoGuard",
    "check_name",
]
