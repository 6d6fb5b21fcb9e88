"""Mechanisms and robots that tests of motion share."""

from __future__ import annotations

from armillary import Transform
from armillary.articulation import (
    ArticulationModel,
    Constraint,
    DifferentialDrive,
    FixedJoint,
    FloatingJoint,
    Limits,
    PrismaticJoint,
    RevoluteJoint,
    SetValue,
    greater,
    logical_and,
    position,
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


def lockbox(conditions=None) -> ArticulationModel:
    """The box of the thesis (4.12, 4.13): six slides that lock each other; `a` opens it.

    Args:
        conditions: By slide, other conditions than those of the thesis.
    """
    model = ArticulationModel()
    slides = {name: position(f"box/{name}") for name in "abcdef"}
    locks = {
        "a": logical_and(greater(slides["b"], 0.4), greater(slides["c"], 0.6)),
        "b": greater(slides["d"], 0.8),
        "c": logical_and(greater(slides["d"], 0.5), greater(slides["e"], 1.0)),
        "d": greater(slides["e"], 0.9),
        "e": greater(slides["f"], 1.2),
    } | (conditions or {})
    for name, slide in slides.items():
        speed, free = (0.4 if name in "af" else 0.1), locks.get(name, 1.0)
        lower = -speed * free if name == "a" else -speed
        model.apply(SetValue(f"box/{name}_speed", Constraint(lower, speed * free, slide.velocity)), tag=f"speed {name}")
    for name, end in (("b", 0.7), ("c", 0.8), ("d", 0.9), ("e", 1.1)):
        model.apply(SetValue(f"box/{name}_range", Constraint(0.0, end, slides[name])), tag=f"range {name}")
    return model


CLOSED_BOX = {f"box/{name}": 0.0 for name in "abcdef"}
