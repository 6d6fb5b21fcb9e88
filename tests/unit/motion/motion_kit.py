"""Mechanisms and robots that tests of motion share."""

from __future__ import annotations

from armillary import Transform
from armillary.articulation import (
    ArticulationModel,
    DifferentialDrive,
    FixedJoint,
    FloatingJoint,
    Limits,
    PrismaticJoint,
    RevoluteJoint,
)

ARM = (  # name, axis, offset along x
    ("one", (0.0, 0.0, 1.0), 0.0),
    ("two", (0.0, 1.0, 0.0), 0.3),
    ("three", (1.0, 0.0, 0.0), 0.4),
    ("four", (0.0, 1.0, 0.0), 0.3),
    ("five", (0.0, 0.0, 1.0), 0.3),
    ("six", (1.0, 0.0, 0.0), 0.2),
)


def arm(*, on_wheels: bool = False) -> ArticulationModel:
    """Six turns of 0.2 to 0.4 m each, `arm/one` to `arm/six`; on wheels if wanted, beside a drawer."""
    model = ArticulationModel()
    model.add("arm/links/base")
    if on_wheels:
        drive = DifferentialDrive(
            variable="arm/drive", wheel_radius_m=0.1, wheel_distance_m=0.4, wheel_limit_rad_s=10.0
        )
        model.add("arm/links/platform", drive, parent="arm/links/base")
    parent = "arm/links/platform" if on_wheels else "arm/links/base"
    for name, axis, offset in ARM:
        joint = RevoluteJoint(
            variable=f"arm/{name}",
            axis=axis,
            parent_T_joint=Transform.from_translation((offset, 0.0, 0.0)),
            limits=Limits(lower=-2.0, upper=2.0, velocity=1.5, effort=1.0),
        )
        model.add(f"arm/links/{name}", joint, parent=parent)
        parent = f"arm/links/{name}"
    tool = Transform.from_xyz_rpy(xyz=(0.1, 0.02, 0.0), rpy=(0.3, 0.2, 0.1))
    model.add("arm/links/tool", FixedJoint(parent_T_joint=tool), parent=parent)
    drawer = PrismaticJoint(
        variable="desk/drawer",
        axis=(1.0, 0.0, 0.0),
        parent_T_joint=Transform.from_translation((0.7, 0.2, 0.1)),
        limits=Limits(lower=0.0, upper=0.4, velocity=0.5, effort=1.0),
    )
    model.add("desk/links/drawer", drawer)
    return model


def floating() -> ArticulationModel:
    """A body that moves freely."""
    model = ArticulationModel()
    model.add("body/links/body", FloatingJoint(variable="body/free"))
    return model


def bent(model: ArticulationModel, angle: float = 0.4) -> dict[str, float]:
    """Every angle of the arm, alternating; everything else at zero."""
    found = {variable.name: 0.0 for variable in model.variables()}
    return found | {f"arm/{name}": angle * (-1.0) ** i for i, (name, _, _) in enumerate(ARM)}
