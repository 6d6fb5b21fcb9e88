"""Kitchen and mobile manipulator of this project as `RobotDescription`, for demonstrations and tests.

`armillary.formats.write_urdf` writes them as files.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from armillary.formats import (
    BoxForm,
    CylinderForm,
    Inertial,
    JointDescription,
    Limits,
    LinkDescription,
    Material,
    RobotDescription,
    ShapeDescription,
)
from armillary.formats.descriptions import JointKind, Triple
from armillary.transforms import Transform

__all__ = ["HANDLES", "TRACK_M", "WHEEL_RADIUS_M", "kitchen", "mobile_manipulator", "two_armed_robot"]

_WOOD = Material("wood", (0.72, 0.53, 0.35, 1.0))
_WHITE = Material("white", (0.92, 0.92, 0.9, 1.0))
_STEEL = Material("steel", (0.7, 0.72, 0.75, 1.0))
_DARK = Material("dark", (0.2, 0.2, 0.22, 1.0))
_X, _Y, _Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
_KG_PER_M3 = 400.0
_LIGHTEST_KG = 0.05
_DEPTH_M, _BOARD_M = 0.6, 0.02
_LYING = (math.pi / 2, 0.0, 0.0)
HANDLES = (
    "sink_area_upper_drawer_handle",
    "sink_area_middle_drawer_handle",
    "sink_area_lower_drawer_handle",
    "oven_area_drawer_handle",
    "fridge_area_drawer_handle",
    "island_left_upper_drawer_handle",
    "island_left_lower_drawer_handle",
    "island_right_upper_drawer_handle",
    "island_right_lower_drawer_handle",
    "dishwasher_door_handle",
    "oven_door_handle",
    "fridge_door_handle",
)
WHEEL_RADIUS_M = 0.065
TRACK_M = 0.38  # between the wheels


def _at(x: float = 0.0, y: float = 0.0, z: float = 0.0, rpy: Triple = (0.0, 0.0, 0.0)) -> Transform:
    """Return a transform from a translation [m] and roll, pitch, yaw [rad]."""
    return Transform.from_xyz_rpy(xyz=(x, y, z), rpy=rpy)


def _box(size_m: Triple, place: Transform | None = None, material: Material = _WHITE) -> ShapeDescription:
    """Describe a box centred at `place`."""
    return ShapeDescription(form=BoxForm(size_m), link_T_shape=place or _at(), material=material)


def _rod(
    radius_m: float, length_m: float, place: Transform | None = None, material: Material = _STEEL
) -> ShapeDescription:
    """Describe a cylinder centred at `place`, along its z axis."""
    return ShapeDescription(form=CylinderForm(radius_m, length_m), link_T_shape=place or _at(), material=material)


class _Assembly:
    """Builder of a robot description: each call adds a link and the joint that connects it to its parent.

    Args:
        name: Name of the robot.
        root: Name of the root link.
        shapes: Shapes of the root link.
    """

    def __init__(self, name: str, root: str, shapes: Sequence[ShapeDescription] = ()) -> None:
        self._name, self._root = name, root
        self._links, self._joints = [_link(root, shapes)], list[JointDescription]()

    def fix(self, name: str, on: str, place: Transform, shapes: Sequence[ShapeDescription] = ()) -> None:
        """Add a link with a fixed joint."""
        self._add("fixed", name, on, place, shapes)

    def slide(
        self,
        name: str,
        on: str,
        place: Transform,
        shapes: Sequence[ShapeDescription] = (),
        *,
        axis: Triple = _X,
        reach: tuple[float, float] = (0.0, 0.45),
        velocity: float = 0.4,
        effort: float = 60.0,
    ) -> None:
        """Add a link with a prismatic joint along `axis`."""
        limits = Limits(lower=reach[0], upper=reach[1], velocity=velocity, effort=effort)
        self._add("prismatic", name, on, place, shapes, axis=axis, limits=limits)

    def hinge(
        self,
        name: str,
        on: str,
        place: Transform,
        shapes: Sequence[ShapeDescription] = (),
        *,
        axis: Triple = _Z,
        reach: tuple[float, float] = (0.0, 1.6),
        velocity: float = 1.0,
        effort: float = 60.0,
    ) -> None:
        """Add a link with a revolute joint about `axis`."""
        limits = Limits(lower=reach[0], upper=reach[1], velocity=velocity, effort=effort)
        self._add("revolute", name, on, place, shapes, axis=axis, limits=limits)

    def turn(self, name: str, on: str, place: Transform, shapes: Sequence[ShapeDescription], *, axis: Triple) -> None:
        """Add a link with a continuous joint about `axis`."""
        self._add("continuous", name, on, place, shapes, axis=axis, limits=Limits(velocity=18.0, effort=20.0))

    def glide(self, name: str, on: str, place: Transform, shapes: Sequence[ShapeDescription]) -> None:
        """Add a link with a planar joint."""
        self._add("planar", name, on, place, shapes, axis=_Z)

    def description(self) -> RobotDescription:
        """Return the description of all links and joints added so far."""
        return RobotDescription(name=self._name, links=tuple(self._links), joints=tuple(self._joints), root=self._root)

    def _add(
        self,
        kind: JointKind,
        name: str,
        on: str,
        place: Transform,
        shapes: Sequence[ShapeDescription],
        *,
        axis: Triple = _X,
        limits: Limits | None = None,
    ) -> None:
        self._links.append(_link(name, shapes))
        self._joints.append(
            JointDescription(
                name=f"{name}_joint",
                kind=kind,
                parent=on,
                child=name,
                parent_T_joint=place,
                axis=axis,
                limits=limits,
            )
        )


def _link(name: str, shapes: Sequence[ShapeDescription]) -> LinkDescription:
    """Describe a link whose collision shapes are its visual shapes."""
    touched = tuple(ShapeDescription(form=shape.form, link_T_shape=shape.link_T_shape) for shape in shapes)
    return LinkDescription(
        name=name, visuals=tuple(shapes), collisions=touched, inertial=_inertial(shapes) if shapes else None
    )


def _inertial(shapes: Sequence[ShapeDescription]) -> Inertial:
    """Return the inertia of the first shape with the mass of all shapes, which is accurate enough for furniture."""
    volumes = [x * y * z for x, y, z in map(_cuboid_m, shapes)]
    mass = max(_LIGHTEST_KG, _KG_PER_M3 * sum(volumes))
    x, y, z = _cuboid_m(shapes[0])
    third = mass / 12.0
    moments = (third * (y * y + z * z), 0.0, 0.0, third * (x * x + z * z), 0.0, third * (x * x + y * y))
    return Inertial(mass_kg=mass, link_T_inertia=shapes[0].link_T_shape, moments=moments)


def _cuboid_m(shape: ShapeDescription) -> Triple:
    """Return the size of the bounding box of a shape."""
    match shape.form:
        case CylinderForm(radius_m, length_m):
            return (2 * radius_m, 2 * radius_m, length_m)
        case BoxForm(size_m):
            return size_m
        case _:
            return (0.0, 0.0, 0.0)


def kitchen() -> RobotDescription:
    """Describe a kitchen of 60 links and 23 degrees of freedom: 15 prismatic and 8 revolute joints.

    Twelve of the moving links have a handle that a robot can push: nine drawers, and three doors, two of which open
    downwards. The kitchen is against the plane x = 0 of its own frame and opens towards +x; the island is in front of
    it and opens towards the kitchen.
    """
    assembly = _Assembly("kitchen", "kitchen")
    _walls(assembly)
    _sink_area(assembly)
    _oven_area(assembly)
    _fridge_area(assembly)
    _island(assembly)
    return assembly.description()


def _carcass(width_m: float, height_m: float) -> list[ShapeDescription]:
    """Return two sides, a back and a bottom; the origin is on the floor, in the middle of the front."""
    to_side_m, middle_m = (width_m - _BOARD_M) / 2, height_m / 2
    side = (_DEPTH_M, _BOARD_M, height_m)
    return [
        _box(side, _at(-_DEPTH_M / 2, -to_side_m, middle_m), _WOOD),
        _box(side, _at(-_DEPTH_M / 2, to_side_m, middle_m), _WOOD),
        _box((_BOARD_M, width_m, height_m), _at(_BOARD_M / 2 - _DEPTH_M, 0, middle_m), _WOOD),
        _box((_DEPTH_M, width_m, _BOARD_M), _at(-_DEPTH_M / 2, 0, _BOARD_M / 2), _WOOD),
    ]


def _front(width_m: float, height_m: float) -> list[ShapeDescription]:
    """Return a panel whose back is in the plane x = 0, and a tray behind it."""
    return [
        _box((_BOARD_M, width_m, height_m), _at(_BOARD_M / 2), _WHITE),
        _box((0.5, width_m - 0.06, 0.01), _at(-0.26, 0, 0.02 - height_m / 2), _WOOD),
    ]


def _drawer(assembly: _Assembly, name: str, on: str, place: Transform, size_m: tuple[float, float]) -> None:
    """Add a drawer with a handle."""
    assembly.slide(name, on, place, _front(*size_m))
    assembly.fix(f"{name}_handle", name, _at(_BOARD_M + 0.035), [_rod(0.008, 0.6 * size_m[0], _at(rpy=_LYING))])


def _flap(assembly: _Assembly, name: str, on: str, place: Transform, size_m: tuple[float, float]) -> None:
    """Add a door that opens downwards, with a handle; its frame is at the hinge, at its lower edge."""
    width_m, height_m = size_m
    panel = _box((_BOARD_M, width_m, height_m), _at(_BOARD_M / 2, 0, height_m / 2), _DARK)
    assembly.hinge(name, on, place, [panel], axis=_Y)
    handle = _rod(0.008, 0.7 * width_m, _at(rpy=_LYING))
    assembly.fix(f"{name}_handle", name, _at(_BOARD_M + 0.035, 0, height_m - 0.06), [handle])


def _door(assembly: _Assembly, name: str, on: str, place: Transform, size_m: tuple[float, float]) -> None:
    """Add a door with a vertical hinge at its right edge."""
    width_m, height_m = size_m
    panel = _box((_BOARD_M, width_m, height_m), _at(_BOARD_M / 2, width_m / 2, height_m / 2))
    assembly.hinge(name, on, place, [panel], axis=(0.0, 0.0, -1.0), reach=(0.0, 2.0))


def _walls(assembly: _Assembly) -> None:
    assembly.fix("wall_back", "kitchen", _at(-0.05, 1.0, 1.25), [_box((0.1, 4.2, 2.5))])
    assembly.fix("wall_side", "kitchen", _at(1.0, -1.15, 1.25), [_box((2.2, 0.1, 2.5))])
    assembly.fix("shelf", "wall_back", _at(0.2, -1.3, 0.35), [_box((0.3, 0.9, _BOARD_M), material=_WOOD)])
    assembly.fix("cupboard", "wall_back", _at(0.4, -0.3, 0.2), [_box((0.3, 0.6, 0.6), _at(-0.17, 0, 0.3), _WOOD)])
    _door(assembly, "cupboard_door", "cupboard", _at(0, -0.3, 0), (0.6, 0.6))


def _sink_area(assembly: _Assembly) -> None:
    assembly.fix("sink_area", "kitchen", _at(_DEPTH_M, -0.2, 0), _carcass(1.6, 0.84))
    assembly.fix("sink_area_footprint", "sink_area", _at(-_DEPTH_M / 2))
    assembly.fix(
        "sink_area_worktop", "sink_area", _at(-_DEPTH_M / 2, 0, 0.86), [_box((_DEPTH_M, 1.6, 0.04), material=_WOOD)]
    )
    assembly.fix(
        "sink_area_basin", "sink_area_worktop", _at(0, -0.2, -0.08), [_box((0.4, 0.45, 0.16), material=_STEEL)]
    )
    assembly.fix("faucet", "sink_area_worktop", _at(-0.22, -0.2, 0.02), [_rod(0.025, 0.1, _at(0, 0, 0.05))])
    spout = [_rod(0.012, 0.2, _at(0, 0, 0.1)), _rod(0.012, 0.2, _at(0.1, 0, 0.2, (0.0, math.pi / 2, 0.0)))]
    assembly.hinge("faucet_spout", "faucet", _at(0, 0, 0.1), spout, reach=(-1.2, 1.2))
    assembly.hinge("faucet_lever", "faucet", _at(0, -0.03, 0.06), [_rod(0.006, 0.08)], axis=_Y, reach=(0.0, 0.8))
    for name, height_m, size_m in (("upper", 0.74, 0.16), ("middle", 0.52, 0.24), ("lower", 0.22, 0.32)):
        _drawer(assembly, f"sink_area_{name}_drawer", "sink_area", _at(0, 0.52, height_m), (0.54, size_m))
    assembly.slide("sink_area_trash_drawer", "sink_area", _at(0, -0.55, 0.45), _front(0.46, 0.76), reach=(0.0, 0.5))
    assembly.fix("dishwasher", "sink_area", _at(0, 0, 0.1), [_box((0.02, 0.44, 0.7), _at(-0.55, 0, 0.35), _STEEL)])
    _flap(assembly, "dishwasher_door", "dishwasher", _at(), (0.44, 0.72))
    for name, height_m in (("upper", 0.45), ("lower", 0.12)):
        rack = [_box((0.5, 0.4, 0.02), _at(-0.27), _STEEL)]
        assembly.slide(f"dishwasher_{name}_rack", "dishwasher", _at(0, 0, height_m), rack, reach=(0.0, 0.5))


def _oven_area(assembly: _Assembly) -> None:
    assembly.fix("oven_area", "kitchen", _at(_DEPTH_M, 0.95, 0), _carcass(0.7, 0.84))
    assembly.fix("oven_area_footprint", "oven_area", _at(-_DEPTH_M / 2))
    assembly.fix(
        "oven_area_hob", "oven_area", _at(-_DEPTH_M / 2, 0, 0.86), [_box((_DEPTH_M, 0.7, 0.04), material=_DARK)]
    )
    assembly.fix(
        "oven_area_panel", "oven_area", _at(_BOARD_M / 2, 0, 0.79), [_box((_BOARD_M, 0.66, 0.08), material=_STEEL)]
    )
    forward = (0.0, math.pi / 2, 0.0)
    for name, side in (("temperature", -0.15), ("mode", 0.15)):
        knob = [_rod(0.02, 0.03, _at(0, 0, 0.015))]
        assembly.hinge(
            f"oven_{name}_knob", "oven_area_panel", _at(_BOARD_M / 2, side, 0, forward), knob, reach=(0.0, 4.5)
        )
    assembly.fix("oven", "oven_area", _at(0, 0, 0.28), [_box((0.02, 0.6, 0.44), _at(-0.5, 0, 0.22), _DARK)])
    _flap(assembly, "oven_door", "oven", _at(), (0.6, 0.44))
    assembly.slide(
        "oven_tray", "oven", _at(0, 0, 0.2), [_box((0.45, 0.5, 0.02), _at(-0.25), _STEEL)], reach=(0.0, 0.35)
    )
    _drawer(assembly, "oven_area_drawer", "oven_area", _at(0, 0, 0.15), (0.64, 0.2))
    assembly.fix("hood", "wall_back", _at(0.3, -0.05, 0.5), [_box((0.5, 0.7, 0.1), material=_STEEL)])


def _fridge_area(assembly: _Assembly) -> None:
    assembly.fix("fridge_area", "kitchen", _at(_DEPTH_M, 1.7, 0), _carcass(0.7, 2.0))
    assembly.fix("fridge_area_footprint", "fridge_area", _at(-_DEPTH_M / 2))
    assembly.fix("fridge", "fridge_area", _at(0, 0, 0.6), [_box((0.02, 0.64, 1.3), _at(-0.55, 0, 0.65))])
    _door(assembly, "fridge_door", "fridge", _at(0, -0.33, 0), (0.66, 1.3))
    assembly.fix("fridge_door_handle", "fridge_door", _at(_BOARD_M + 0.035, 0.6, 0.5), [_rod(0.01, 0.4)])
    for name, height_m in (("upper", 1.0), ("lower", 0.6)):
        assembly.fix(f"fridge_{name}_shelf", "fridge", _at(-0.3, 0, height_m), [_box((0.4, 0.6, 0.01))])
    crisper = [_box((0.4, 0.56, 0.02), _at(-0.25))]
    assembly.slide("fridge_crisper", "fridge", _at(0, 0, 0.15), crisper, reach=(0.0, 0.35))
    _drawer(assembly, "fridge_area_drawer", "fridge_area", _at(0, 0, 0.32), (0.66, 0.5))


def _island(assembly: _Assembly) -> None:
    assembly.fix("island", "kitchen", _at(2.2, 0.6, 0, (0.0, 0.0, math.pi)), _carcass(1.4, 0.84))
    assembly.fix("island_footprint", "island", _at(-_DEPTH_M / 2))
    assembly.fix("island_worktop", "island", _at(-_DEPTH_M / 2, 0, 0.86), [_box((0.8, 1.6, 0.04), material=_WOOD)])
    for side, y in (("left", 0.35), ("right", -0.35)):
        for level, z in (("upper", 0.62), ("lower", 0.24)):
            _drawer(assembly, f"island_{side}_{level}_drawer", "island", _at(0, y, z), (0.66, 0.34))
    board = [_box((0.4, 0.5, 0.02), _at(-0.2), _WOOD)]
    assembly.slide("island_cutting_board", "island", _at(0, 0, 0.825), board, reach=(0.0, 0.3))


_ARM = (
    # name, axis, reach, where it sits on the one before, length of the link along x
    ("shoulder_pan", _Z, (-1.6, 1.6), _at(0.12, 0.0, 0.35), 0.12),
    ("shoulder_lift", _Y, (-1.2, 1.5), _at(0.12, 0.0, 0.06), 0.2),
    ("upper_arm_roll", _X, (-math.pi, math.pi), _at(0.21, 0.0, 0.0), 0.14),
    ("elbow_flex", _Y, (-2.2, 2.2), _at(0.14, 0.0, 0.0), 0.18),
    ("forearm_roll", _X, (-math.pi, math.pi), _at(0.19, 0.0, 0.0), 0.13),
    ("wrist_flex", _Y, (-2.1, 2.1), _at(0.13, 0.0, 0.0), 0.13),
    ("wrist_roll", _X, (-math.pi, math.pi), _at(0.13, 0.0, 0.0), 0.1),
)


def mobile_manipulator(base: Literal["differential", "omni"] = "differential") -> RobotDescription:
    """Describe a robot on wheels with a lift, an arm of seven joints, a pan-tilt head and a gripper of two fingers.

    With its two driven wheels and the bellows of the lift it has 15 degrees of freedom. Its differential drive is no
    joint of URDF: a model adds it to this description. With `base="omni"` it moves by a planar joint between `odom`
    and `base_link` instead.
    """
    body = [_rod(0.27, 0.3, _at(0, 0, 0.2), _WHITE)]
    if base == "omni":
        assembly = _Assembly("mobile_manipulator", "odom")
        assembly.glide("base_link", "odom", _at(), body)
    else:
        assembly = _Assembly("mobile_manipulator", "base_link", body)
    _base(assembly)
    _torso(assembly)
    _head(assembly)
    _arm(assembly)
    _gripper(assembly)
    return assembly.description()


def two_armed_robot() -> RobotDescription:
    """Describe a robot of the class of the PR2: a square base, a lift, a pan-tilt head, and two arms with grippers.

    It has 23 degrees of freedom. The base is no joint of it: a model puts it on one.
    """
    assembly = _Assembly("two_armed_robot", "base_link", [_box((0.64, 0.64, 0.28), _at(0, 0, 0.2), _WHITE)])
    place = _at(-0.05, 0, 0.6)
    trunk = [_box((0.3, 0.5, 0.5), _at(-0.1, 0, 0.0), _WHITE)]
    assembly.slide("torso_lift", "base_link", place, trunk, axis=_Z, reach=(0.0, 0.33), velocity=0.1, effort=900.0)
    neck, head = [_box((0.1, 0.2, 0.06))], [_box((0.1, 0.3, 0.1))]
    assembly.hinge("head_pan", "torso_lift", _at(0, 0, 0.35), neck, reach=(-2.9, 2.9), velocity=2.5)
    assembly.hinge("head_tilt", "head_pan", _at(0.07, 0, 0.06), head, axis=_Y, reach=(-0.5, 1.4), velocity=2.5)
    optical = (-math.pi / 2, 0.0, -math.pi / 2)
    assembly.fix("camera_optical", "head_tilt", _at(0.05, 0, 0.03, optical))
    for side, sign in (("right", -1.0), ("left", 1.0)):
        _arm(assembly, prefix=f"{side}_", shoulder=_at(0.0, sign * 0.19, 0.15))
        _gripper(assembly, prefix=f"{side}_")
    return assembly.description()


def _base(assembly: _Assembly) -> None:
    lying = (-math.pi / 2, 0.0, 0.0)
    wheel = [_rod(WHEEL_RADIUS_M, 0.04, _at(rpy=lying), _DARK)]
    for side, sign in (("left", 1), ("right", -1)):
        assembly.turn(f"{side}_wheel", "base_link", _at(0, sign * TRACK_M / 2, WHEEL_RADIUS_M), wheel, axis=_Y)
    assembly.fix("laser", "base_link", _at(0.24, 0, 0.28), [_rod(0.03, 0.04, material=_DARK)])
    assembly.fix("estop", "base_link", _at(-0.2, 0.1, 0.36), [_rod(0.02, 0.02)])


def _torso(assembly: _Assembly) -> None:
    assembly.fix("torso_fixed", "base_link", _at(-0.1, 0, 0.35), [_box((0.2, 0.24, 0.3), _at(0, 0, 0.15))])
    trunk, bellows = _box((0.16, 0.2, 0.5), _at(0, 0, 0.25)), _box((0.02, 0.18, 0.3), _at(0, 0, 0.15), _DARK)
    for name, x_m, shape in (("torso_lift", 0.0, trunk), ("bellows", 0.1, bellows)):
        place = _at(x_m, 0, 0.05)
        assembly.slide(name, "torso_fixed", place, [shape], axis=_Z, reach=(0.0, 0.4), velocity=0.1, effort=450.0)


def _head(assembly: _Assembly) -> None:
    neck, head = [_box((0.1, 0.2, 0.06))], [_box((0.06, 0.24, 0.06))]
    assembly.hinge("head_pan", "torso_lift", _at(0.05, 0, 0.58), neck, reach=(-1.5, 1.5), velocity=2.5)
    assembly.hinge("head_tilt", "head_pan", _at(0.12, 0, 0.06), head, axis=_Y, reach=(-0.7, 1.4), velocity=2.5)
    assembly.fix("camera", "head_tilt", _at(0.05, 0, 0.02), [_box((0.03, 0.12, 0.03), material=_DARK)])
    optical = (-math.pi / 2, 0.0, -math.pi / 2)
    assembly.fix("camera_optical", "camera", _at(0.015, 0, 0, optical))


def _arm(assembly: _Assembly, *, prefix: str = "", shoulder: Transform | None = None) -> None:
    on = "torso_lift"
    for i, (name, axis, reach, usual, length) in enumerate(_ARM):
        place = shoulder if shoulder is not None and i == 0 else usual
        shape = _rod(0.05, length, _at(length / 2, 0, 0, (0.0, math.pi / 2, 0.0)), _WHITE)
        assembly.hinge(prefix + name, on, place, [shape], axis=axis, reach=reach, velocity=3.0, effort=80.0)
        on = prefix + name


def _gripper(assembly: _Assembly, *, prefix: str = "") -> None:
    on = f"{prefix}gripper"
    assembly.fix(on, f"{prefix}wrist_roll", _at(0.14, 0, 0), [_box((0.08, 0.12, 0.06), material=_DARK)])
    for side, sign in (("left", 1.0), ("right", -1.0)):
        finger = [_box((0.06, 0.014, 0.025), _at(0.07))]
        out = (0.0, sign, 0.0)
        assembly.slide(f"{prefix}{side}_finger", on, _at(0, sign * 0.016, 0), finger, axis=out, reach=(0.0, 0.05))
    assembly.fix(f"{prefix}tool", on, _at(0.1))
