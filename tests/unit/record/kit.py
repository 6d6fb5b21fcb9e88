"""A world with something of every kind in it."""

from __future__ import annotations

import math

import numpy as np

from armillary import Box, PointCloud, Transform, World, seconds
from armillary.formats import BoxForm, JointDescription, Limits, LinkDescription, RobotDescription, ShapeDescription
from unit.kit import FakeClock, moved


def door():
    """One panel that turns on its frame, with a box to look at."""
    panel = ShapeDescription(form=BoxForm((0.8, 0.04, 2.0)), link_T_shape=moved(0.4))
    hinge = JointDescription(
        name="hinge", kind="revolute", parent="frame", child="panel", parent_T_joint=moved(0.1), axis=(0.0, 0.0, 1.0),
        limits=Limits(lower=0.0, upper=2.0),
    )  # fmt: skip
    links = (LinkDescription(name="frame"), LinkDescription(name="panel", visuals=(panel,)))
    return RobotDescription(name="door", links=links, joints=(hinge,), root="frame")


def full_world() -> World:
    from armillary.articulation import ArticulationModel  # noqa: PLC0415  (casadi is optional)

    world = World("robot", history=seconds(5), clock=FakeClock(seconds(10)), thin_m=1e-3, thin_rad=1e-3)
    world.reset_time()
    tilted = Transform.from_xyz_rpy(xyz=(0.1, 0.0, 0.4), rpy=(0.0, 0.3, 0.0))
    world.fix(of="camera", in_frame="base", transform=tilted, covariance=1e-4 * np.eye(6))
    world.fix(of="lidar", in_frame="base", transform=moved(0.2), source="calibration")
    world.fix(of="cup", in_frame="table", transform=moved(0.5), at=seconds(7))
    down = Transform.from_xyz_rpy(xyz=(0.0, 0.0, 1.0), rpy=(0.2, math.pi / 2, 0.0))
    world.fix(of="downward", in_frame="base", transform=down)
    world.add_body("head", frames=["eye_left", "eye_right"])
    world.add_frame("lonely")
    for source in ("left", "right"):
        world.set_pose(of="ball", in_frame="base", transform=moved(1), at=seconds(8), source=source)
    world.prefer(of="ball", source="right")
    world.keep(of="ball", in_frame="base", source="left", history=seconds(60), max_samples=7)
    still = {"linear": (0, 0, 0), "angular": (0, 0, 0), "expressed_in": "gyro"}
    world.set_twist(of="gyro", relative_to="base", **still, at=seconds(8), source="gyro")
    world.keep_twists(of="gyro", relative_to="base", source="gyro", max_samples=3)
    world.attach(of="ball", to="camera", at=seconds(8.5), source="right", outside="hold")
    model = ArticulationModel()
    model.add_robot(door())
    world.mount(model, in_frame="map")
    world.set_joints({"door/hinge": 0.5}, velocities={"door/hinge": 0.1}, at=seconds(9))
    shelf = world.scene.add_transform(
        parent=world.scene.root, transform=moved(3), at=None, attributes={"name": "shelf"}
    )
    world.scene.add_geometry(parent=shelf, shape=Box(size_m=(1.0, 0.3, 0.02)))
    world.scene.add_geometry(parent=shelf, shape=PointCloud(np.arange(30.0).reshape(10, 3)))
    return world
