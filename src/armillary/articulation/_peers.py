"""Descriptions and expressions in the forms of other libraries: pinocchio."""

from __future__ import annotations

import math
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from armillary._core import Transform
from armillary.errors import InvalidArgument, MissingExtra
from armillary.formats.descriptions import (
    JointDescription,
    Limits,
    LinkDescription,
    Mimic,
    RobotDescription,
    Triple,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["pinocchio_model"]

_Z = (0.0, 0.0, 1.0)
_TURNING = {"revolute", "continuous"}
_ORTHOGONAL, _OPPOSITE = 1e-12, 1e-9


def pinocchio_model(robot: RobotDescription) -> Any:
    """Make the `pinocchio.Model` of a description, with a frame for each link and each joint.

    Raises:
        InvalidArgument: A joint is of a kind that pinocchio does not have.
    """
    return _Making(robot).made()


class _Making:
    def __init__(self, robot: RobotDescription) -> None:
        self._robot = robot
        self._pin = _imported()
        self._model = self._pin.Model()
        self._model.name = robot.name
        origin = self._placement(robot.origin_T_root)
        self._carriers: dict[str, tuple[int, Any]] = {
            robot.root: (0, origin)
        }  # of a link: joint, and pose in its frame
        self._ids: dict[str, int] = {}

    def made(self) -> Any:
        self._add_link(self._robot.link_by_name[self._robot.root])
        for joint in self._in_order():
            self._add(joint)
            self._add_link(self._robot.link_by_name[joint.child])
        return self._model

    def _in_order(self) -> list[JointDescription]:
        """Return the joints, each behind the one above its parent and the one that it follows."""
        left, ordered, links, names = list(self._robot.joints_from_root), [], {self._robot.root}, set[str]()
        while left:
            for joint in left:
                if joint.parent in links and (joint.mimic is None or joint.mimic.joint in names):
                    ordered.append(joint)
                    links.add(joint.child)
                    names.add(joint.name)
            rest = [joint for joint in left if joint.name not in names]
            if len(rest) == len(left):
                raise InvalidArgument(
                    f"In pinocchio a joint does not follow one that it carries: that is what '{rest[0].name}' does.",
                    rest[0].name,
                )
            left = rest
        return ordered

    def _add(self, joint: JointDescription) -> None:
        above, pose = self._carriers[joint.parent]
        place, child = pose * self._placement(joint.parent_T_joint), self._placement(joint.joint_T_child)
        frame, kinds = self._model.getFrameId(joint.parent, self._pin.FrameType.BODY), self._pin.FrameType
        if joint.kind == "fixed":
            self._carriers[joint.child] = above, place * child
            self._model.addFrame(self._pin.Frame(joint.name, above, frame, place, kinds.FIXED_JOINT))
            return
        made, axis = self._leading(joint) if joint.mimic is not None else self._joint_model(joint)
        turned = self._pin.SE3(_rotation_between(np.array(axis), np.array(joint.axis)), np.zeros(3))
        number = self._model.addJoint(above, made, place * turned, joint.name, *self._limits(joint, made))
        self._model.addFrame(self._pin.Frame(joint.name, number, frame, turned.inverse(), kinds.JOINT))
        self._ids[joint.name] = number
        self._carriers[joint.child] = number, turned.inverse() * child

    def _leading(self, joint: JointDescription) -> tuple[Any, Triple]:
        """Return the joint of pinocchio that follows another one, which has the axis of that."""
        mimic = joint.mimic or Mimic(joint=joint.name)
        leader = self._robot.joint_by_name[mimic.joint]
        if joint.kind != leader.kind and not {joint.kind, leader.kind} <= _TURNING:
            raise InvalidArgument(
                f"In pinocchio a joint follows one of its own kind: '{joint.name}' is {joint.kind}, and "
                f"'{leader.name}' {leader.kind}.",
                joint.name,
            )
        model = self._model.joints[self._ids[leader.name]]
        axis = _Z if leader.kind == "continuous" else leader.axis
        return self._pin.JointModelMimic(model, mimic.multiplier, mimic.offset), axis

    def _joint_model(self, joint: JointDescription) -> tuple[Any, Triple]:
        """Return the joint of pinocchio, and its axis: that of the joint, where it can have any."""
        pin, axis = self._pin, np.array(joint.axis)
        made, its_axis = None, joint.axis
        match joint.kind:
            case "revolute":
                made = pin.JointModelRevoluteUnaligned(axis)
            case "continuous":  # Python cannot make one about any axis
                made, its_axis = pin.JointModelRUBZ(), _Z
            case "prismatic":
                made = pin.JointModelPrismaticUnaligned(axis)
            case "screw":
                made = pin.JointModelHelicalUnaligned(axis, (joint.pitch_m or 0.0) / math.tau)
            case "floating":
                made = pin.JointModelFreeFlyer()
            case "ball":
                made = pin.JointModelSpherical()
            case "universal" if _are_orthogonal(joint):
                made = pin.JointModelUniversal(axis, np.array(joint.second_axis))
            case "planar" if joint.axis == _Z:
                made = pin.JointModelPlanar()
        if made is None:
            raise InvalidArgument(
                f"pinocchio has no joint like '{joint.name}', which is of the kind '{joint.kind}' along {joint.axis}.",
                joint.name,
            )
        return made, its_axis

    @staticmethod
    def _limits(joint: JointDescription, made: Any) -> tuple[Any, ...]:
        """Return effort, velocity, lower and upper limit of each of its numbers, as pinocchio has them."""
        limits = [joint.limits or Limits(), joint.second_limits or Limits()]
        positions, speeds = (0, 0) if joint.mimic is not None else (made.nq, made.nv)
        if joint.kind == "continuous" or positions not in {1, 2}:
            limits = [Limits(velocity=limits[0].velocity, effort=limits[0].effort)] * max(positions, speeds, 1)
        return (
            np.array([_finite(limits[i].effort, 1.0) for i in range(speeds)]),
            np.array([_finite(limits[i].velocity, 1.0) for i in range(speeds)]),
            np.array([_finite(limits[i].lower, -1.0) for i in range(positions)]),
            np.array([_finite(limits[i].upper, 1.0) for i in range(positions)]),
        )

    def _add_link(self, link: LinkDescription) -> None:
        number, pose = self._carriers[link.name]
        above = 0 if not number else self._model.getFrameId(self._model.names[number], self._pin.FrameType.JOINT)
        self._model.addFrame(self._pin.Frame(link.name, number, above, pose, self._pin.FrameType.BODY))
        if link.inertial is not None:
            # Pinocchio checks what is given to its constructor; files hold moments that are not physical, too.
            inertia = self._pin.Inertia.Zero()
            inertia.mass, inertia.inertia = link.inertial.mass_kg, link.inertial.matrix
            placed = pose * self._placement(link.inertial.link_T_inertia)
            self._model.appendBodyToJoint(number, placed.act(inertia), self._pin.SE3.Identity())

    def _placement(self, transform: Transform) -> Any:
        return self._pin.SE3(np.asarray(transform.matrix))


def _are_orthogonal(joint: JointDescription) -> bool:
    return joint.second_axis is not None and abs(float(np.dot(joint.axis, joint.second_axis))) < _ORTHOGONAL


def _rotation_between(before: NDArray[np.float64], after: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a rotation that takes one unit vector to another."""
    if np.array_equal(before, after):
        return np.eye(3)
    half = before + after
    if np.linalg.norm(half) < _OPPOSITE:  # half a turn about any axis across
        across = np.cross(before, np.eye(3)[np.argmin(np.abs(before))])
        across /= np.linalg.norm(across)
        return 2.0 * np.outer(across, across) - np.eye(3)
    half /= np.linalg.norm(half)
    turned = 2.0 * np.outer(half, half) - np.eye(3)  # half a turn about the middle; then half a turn about the end
    return (2.0 * np.outer(after, after) - np.eye(3)) @ turned


def _finite(value: float | None, unbounded: float) -> float:
    return value if value is not None and math.isfinite(value) else unbounded * math.inf


def _imported() -> Any:
    try:
        return import_module("pinocchio")
    except ModuleNotFoundError as missing:
        raise MissingExtra("pinocchio", "pin") from missing
