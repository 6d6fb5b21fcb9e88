"""Simulated kitchen: a world, and the sources that write to it."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from armillary import Transform, World, seconds
from armillary.articulation import ArticulationModel
from armillary.demos._common import SimulatedClock
from armillary.demos.kitchen.kinematics import Kinematics
from armillary.demos.kitchen.names import (
    BASE,
    CUP,
    CUP_HEIGHT_M,
    CUP_RADIUS_M,
    DOOR_JOINT,
    HAND,
    HEAD,
    HEAD_CAMERA,
    ISLAND,
    MAP,
    MAP_T_PLATE,
    ODOM,
    PLATE,
    PLATE_HEIGHT_M,
    PLATE_RADIUS_M,
    TOOL,
    WALL,
    WALL_CAMERA,
    WORKTOP,
    robot_joint,
)
from armillary.demos.kitchen.scenario import GRASP_S, Scenario, holds_cup, phase_s
from armillary.demos.kitchen.sensors import (
    ENCODER_SIGMA,
    HEAD_CAMERA_MODEL,
    WALL_CAMERA_MODEL,
    Camera,
    Measurement,
    Odometry,
    localise,
    look_at,
)
from armillary.demos.models import kitchen, mobile_manipulator
from armillary.fusion.policies import by_source
from armillary.scene import AddGeometry, Cylinder, SetAttributes

BUMP_S = 7.2  # phase from which the wall camera is misaligned
_TICK = seconds(0.01)
_ROBOT_PERIOD = seconds(0.02)
_LASER_PERIOD = seconds(0.05)
_HEAD_PERIOD = seconds(0.06)
_WALL_PERIOD = seconds(0.1)
_NS_PER_S = 1e9
MAP_T_WALL_CAMERA = look_at((2.75, -0.95, 2.3), towards=(1.3, 0.6, 0.95))
_COLORS = {CUP: (0.85, 0.25, 0.2, 1.0), PLATE: (0.95, 0.93, 0.85, 1.0)}
_WALL_T_BUMPED = Transform.from_xyz_rpy(xyz=(0.0, 0.0, 0.0), rpy=(0.0, math.radians(1.5), 0.0))


class Kitchen:
    """Simulation of the kitchen, which writes to a world.

    Args:
        history: Length of the history of the world [ns].
        seed: Seed of the noise.

    Attributes:
        world: The world.
        clock: Clock of the world.
        scenario: True motion.
    """

    def __init__(self, history: int, *, seed: int = 4) -> None:
        self.clock = SimulatedClock()
        self.world = World("robot", history=history, clock=self.clock)
        model = ArticulationModel()
        model.add_robot(kitchen(), name="kitchen")
        model.add_robot(mobile_manipulator(), name="robot")
        furniture = self.world.mount(model, under="kitchen", in_frame=MAP)
        robot = self.world.mount(model, under="robot")
        self.scenario = Scenario(Kinematics(model, robot.limits))
        self._closed = dict.fromkeys(furniture.joints.values(), 0.0)
        self._odometry, self._noise = Odometry(), np.random.default_rng(seed)
        self._seen: dict[tuple[str, str], int] = {}
        self._next, self._is_held = 0, False
        self._add_objects()
        self.advance(to=0)

    def advance(self, *, to: int) -> None:
        """Simulate until `to` [ns]; each source writes at its own rate."""
        while self._next <= to:
            self.clock.time = now = self._next
            phase = phase_s(now / _NS_PER_S)
            for period, write in self._sources():
                if now % period == 0:
                    write(phase, now)
            self._grasp_or_release(phase)
            self._next += _TICK
        self.clock.time = to

    def map_T_camera(self, source: str, phase: float) -> Transform:
        """Return the true pose of a camera."""
        if source == HEAD:
            return self.scenario.map_T_camera(phase)
        return MAP_T_WALL_CAMERA @ _WALL_T_BUMPED if phase > BUMP_S else MAP_T_WALL_CAMERA

    # Initial contents

    def _add_objects(self) -> None:
        self.world.fix(of=WALL_CAMERA, in_frame=MAP, transform=MAP_T_WALL_CAMERA)
        shapes = {
            CUP: Cylinder(radius_m=CUP_RADIUS_M, length_m=CUP_HEIGHT_M),
            PLATE: Cylinder(radius_m=PLATE_RADIUS_M, length_m=PLATE_HEIGHT_M),
        }
        for name, shape in shapes.items():
            self.world.add_frame(name)
            attributes = {"role": "visual", "color": _COLORS[name]}
            self.world.apply(
                [SetAttributes(name, {"name": name}), AddGeometry(parent=name, shape=shape, attributes=attributes)]
            )

    # Sources

    def _sources(self) -> tuple[tuple[int, Callable[[float, int], None]], ...]:
        return (
            (_ROBOT_PERIOD, self._write_joints),
            (_ROBOT_PERIOD, self._write_odometry),
            (_LASER_PERIOD, self._write_localisation),
            (_HEAD_PERIOD, partial(self._write_detections, HEAD, HEAD_CAMERA, HEAD_CAMERA_MODEL)),
            (_WALL_PERIOD, partial(self._write_detections, WALL, WALL_CAMERA, WALL_CAMERA_MODEL)),
        )

    def _write_joints(self, phase: float, now: int) -> None:
        true, speeds = self.scenario.joints(phase), self.scenario.speeds(now / _NS_PER_S)
        kitchen_joints = self._closed | {DOOR_JOINT: true.pop(DOOR_JOINT)}
        self.world.set_joints(kitchen_joints, at=now)
        read = {name: value + self._noise.normal(0.0, ENCODER_SIGMA) for name, value in true.items()}
        variances = np.full(len(read), ENCODER_SIGMA**2)
        self.world.set_joints(read, at=now, velocities={name: speeds[name] for name in read}, covariance=variances)

    def _write_odometry(self, phase: float, now: int) -> None:
        joints = self.scenario.joints(phase)
        moved = self._odometry.turn(joints[robot_joint("left_wheel")], joints[robot_joint("right_wheel")])
        self._write(BASE, ODOM, moved, now)

    def _write_localisation(self, phase: float, now: int) -> None:
        self._write(ODOM, MAP, localise(self.scenario.map_T_base(phase), self._odometry.odom_T_base, self._noise), now)

    def _write_detections(self, source: str, frame: str, camera: Camera, phase: float, now: int) -> None:
        camera_T_map = self.map_T_camera(source, phase).inverse()
        for name, map_T_object in ((CUP, self.scenario.map_T_cup(phase)), (PLATE, MAP_T_PLATE)):
            camera_T_object = camera_T_map @ map_T_object
            if camera.sees(camera_T_object):
                self._write(name, frame, camera.measure(camera_T_object, self._noise), now, source)
                self._seen[source, name] = now
            else:
                self._lose_sight(source, name)

    def _lose_sight(self, source: str, name: str) -> None:
        """Keep an object that left the field of view at its last pose on the map, as far as this source knows."""
        last_seen = self._seen.pop((source, name), None)
        if last_seen is not None:
            policy = by_source(source)
            self.world.attach(of=name, to=MAP, at=last_seen, source=source, policy=policy, prefer=False)

    def _write(self, of: str, in_frame: str, measurement: Measurement, at: int, source: str | None = None) -> None:
        self.world.set_pose(
            of=of,
            in_frame=in_frame,
            transform=measurement.transform,
            covariance=measurement.covariance,
            at=at,
            source=source,
        )

    def _grasp_or_release(self, phase: float) -> None:
        if holds_cup(phase) == self._is_held:
            return
        self._is_held = not self._is_held
        if self._is_held:
            self.world.attach(of=CUP, to=TOOL, source=HAND, policy="fuse", prefer=False)
        else:
            surface = WORKTOP if phase < GRASP_S else ISLAND
            self.world.attach(of=CUP, to=surface, source=HAND, policy=by_source(HAND), prefer=False)
