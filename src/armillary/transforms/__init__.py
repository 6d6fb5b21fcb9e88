"""Rotations and transforms, names of frames, and the values that a world reports."""

from armillary._core import Rotation, Transform
from armillary.transforms._held import HeldSample, joined_held
from armillary.transforms._names import TypoGuard, check_name
from armillary.transforms._reports import (
    JointSamples,
    JointState,
    RelationInfo,
    Samples,
    Snapshot,
    Tree,
    TwistSamples,
    WrenchSamples,
)
from armillary.transforms.diagnosis import Diagnosis, LinkState

__all__ = [
    "Diagnosis",
    "HeldSample",
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
    "WrenchSamples",
    "check_name",
    "joined_held",
]
