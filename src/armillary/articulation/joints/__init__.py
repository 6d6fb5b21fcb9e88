"""Joints: how one link moves in another. Each kind is one small class."""

from armillary.articulation.joints._bases import DifferentialDrive, ExpressionJoint, OmniBase
from armillary.articulation.joints._joint import ClosedForm, Interpolation, Joint, TapeForm
from armillary.articulation.joints._one_axis import (
    AxisJoint,
    ContinuousJoint,
    FixedJoint,
    PrismaticJoint,
    RevoluteJoint,
    ScrewJoint,
)
from armillary.articulation.joints._several_axes import (
    BallJoint,
    CylindricalJoint,
    FloatingJoint,
    NamedJoint,
    PlanarJoint,
    UniversalJoint,
)

__all__ = [
    "AxisJoint",
    "BallJoint",
    "ClosedForm",
    "ContinuousJoint",
    "CylindricalJoint",
    "DifferentialDrive",
    "ExpressionJoint",
    "FixedJoint",
    "FloatingJoint",
    "Interpolation",
    "Joint",
    "NamedJoint",
    "OmniBase",
    "PlanarJoint",
    "PrismaticJoint",
    "RevoluteJoint",
    "ScrewJoint",
    "TapeForm",
    "UniversalJoint",
]
