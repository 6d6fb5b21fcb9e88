"""Small mechanisms that tests of models share."""

from __future__ import annotations

import math

from armillary import Transform
from armillary.articulation.joints import FixedJoint, PrismaticJoint, RevoluteJoint
from armillary.articulation.model import ArticulationModel
from armillary.articulation.operations import AddJoint, AddLink, Connect
from armillary.formats import BoxForm, Limits, ShapeDescription

BOARD = ShapeDescription(name="board", form=BoxForm((0.8, 0.02, 2.0)))
DOOR_URDF = """
<robot name="door">
  <link name="frame"/>
  <link name="panel"><visual><geometry><box size="0.8 0.02 2"/></geometry></visual></link>
  <link name="handle"><collision><geometry><sphere radius="0.05"/></geometry></collision></link>
  <link name="bolt"/>
  <joint name="hinge" type="revolute">
    <parent link="frame"/><child link="panel"/><origin xyz="0.1 0 0"/><axis xyz="0 0 1"/>
    <limit lower="0" upper="1.5" velocity="2" effort="1"/>
    <safety_controller soft_lower_limit="0.1" soft_upper_limit="1.4" k_velocity="1"/>
  </joint>
  <joint name="latch" type="revolute">
    <parent link="panel"/><child link="handle"/><origin xyz="0.7 0 1"/><axis xyz="0 1 0"/>
    <limit lower="0" upper="0.8" velocity="3" effort="1"/>
  </joint>
  <joint name="push" type="prismatic">
    <parent link="panel"/><child link="bolt"/><origin xyz="0.8 0 1"/><axis xyz="1 0 0"/>
    <limit lower="-0.1" upper="0.1" velocity="1" effort="1"/><mimic joint="latch" multiplier="-0.1" offset="0.02"/>
  </joint>
</robot>
"""


def moved(x: float = 0.0, y: float = 0.0, z: float = 0.0, yaw: float = 0.0) -> Transform:
    return Transform.from_xyz_rpy(xyz=(x, y, z), rpy=(0.0, 0.0, yaw))


def door(name: str = "door") -> ArticulationModel:
    """A panel on a hinge, a handle on it, and a bolt that follows the handle."""
    model = ArticulationModel()
    model.load_urdf(DOOR_URDF, name=name)
    return model


def add_link(model: ArticulationModel, path: str, parent: str | None, joint) -> None:
    """A link with its joint, at `path` and `path` + `_joint`."""
    model.apply(AddLink(path=path, visuals=(BOARD,)), tag=f"create {path}")
    model.apply(AddJoint(path=f"{path}_joint", joint=joint), tag=f"create {path}_joint")
    model.apply(Connect(child=path, joint=f"{path}_joint", parent=parent), tag=f"connect {path}")


def arm() -> ArticulationModel:
    """Two turns and a slide, one metre each."""
    model = ArticulationModel()
    add_link(model, "arm/links/base", None, FixedJoint(parent_T_joint=moved(z=1.0)))
    add_link(model, "arm/links/upper", "arm/links/base", RevoluteJoint(variable="arm/one", axis=(0.0, 0.0, 1.0)))
    add_link(
        model,
        "arm/links/lower",
        "arm/links/upper",
        RevoluteJoint(variable="arm/two", axis=(0.0, 0.0, 1.0), parent_T_joint=moved(x=1.0)),
    )
    add_link(
        model,
        "arm/links/tip",
        "arm/links/lower",
        PrismaticJoint(
            variable="arm/three", axis=(1.0, 0.0, 0.0), limits=Limits(lower=0.0, upper=0.5), parent_T_joint=moved(x=1.0)
        ),
    )
    return model


def arm_tip(one: float, two: float, three: float) -> tuple[float, float, float]:
    """Where the tip of that arm is."""
    reach = 1.0 + three
    return (
        math.cos(one) + reach * math.cos(one + two),
        math.sin(one) + reach * math.sin(one + two),
        1.0,
    )
