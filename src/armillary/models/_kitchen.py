"""A kitchen of 60 links and 23 degrees of freedom: 15 things slide and 8 turn.

Twelve of them have a handle that a robot can push: nine drawers, and three doors, of which two open downwards. The
kitchen stands against the plane x = 0 of its own frame and opens towards +x; the island stands in front of it and opens
towards the kitchen.
"""

from __future__ import annotations

import math

from armillary.formats import RobotDescription, ShapeDescription
from armillary.models._parts import DARK, STEEL, WHITE, WOOD, Assembly, Y, at, box, rod
from armillary.transforms import Transform

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


def kitchen() -> RobotDescription:
    """A kitchen of 60 links and 23 degrees of freedom: 15 things slide and 8 turn."""
    made = Assembly("kitchen", "kitchen")
    _walls(made)
    _sink_area(made)
    _oven_area(made)
    _fridge_area(made)
    _island(made)
    return made.description()


def _carcass(width_m: float, height_m: float) -> list[ShapeDescription]:
    """Two sides, a back and a bottom around an origin on the floor, in the middle of the front."""
    to_side_m, middle_m = (width_m - _BOARD_M) / 2, height_m / 2
    side = (_DEPTH_M, _BOARD_M, height_m)
    return [
        box(side, at(-_DEPTH_M / 2, -to_side_m, middle_m), WOOD),
        box(side, at(-_DEPTH_M / 2, to_side_m, middle_m), WOOD),
        box((_BOARD_M, width_m, height_m), at(_BOARD_M / 2 - _DEPTH_M, 0, middle_m), WOOD),
        box((_DEPTH_M, width_m, _BOARD_M), at(-_DEPTH_M / 2, 0, _BOARD_M / 2), WOOD),
    ]


def _front(width_m: float, height_m: float) -> list[ShapeDescription]:
    """A panel whose back lies in the plane x = 0, and a tray behind it."""
    return [
        box((_BOARD_M, width_m, height_m), at(_BOARD_M / 2), WHITE),
        box((0.5, width_m - 0.06, 0.01), at(-0.26, 0, 0.02 - height_m / 2), WOOD),
    ]


def _drawer(made: Assembly, name: str, on: str, place: Transform, size_m: tuple[float, float]) -> None:
    """A drawer with a handle."""
    made.slide(name, on, place, _front(*size_m))
    made.fix(f"{name}_handle", name, at(_BOARD_M + 0.035), [rod(0.008, 0.6 * size_m[0], at(rpy=_LYING))])


def _flap(made: Assembly, name: str, on: str, place: Transform, size_m: tuple[float, float]) -> None:
    """A door that opens downwards: its frame lies in the hinge, at its lower edge."""
    width_m, height_m = size_m
    panel = box((_BOARD_M, width_m, height_m), at(_BOARD_M / 2, 0, height_m / 2), DARK)
    made.hinge(name, on, place, [panel], axis=Y)
    handle = rod(0.008, 0.7 * width_m, at(rpy=_LYING))
    made.fix(f"{name}_handle", name, at(_BOARD_M + 0.035, 0, height_m - 0.06), [handle])


def _door(made: Assembly, name: str, on: str, place: Transform, size_m: tuple[float, float]) -> None:
    """A door whose hinge stands upright at its right edge."""
    width_m, height_m = size_m
    panel = box((_BOARD_M, width_m, height_m), at(_BOARD_M / 2, width_m / 2, height_m / 2))
    made.hinge(name, on, place, [panel], axis=(0.0, 0.0, -1.0), reach=(0.0, 2.0))


def _walls(made: Assembly) -> None:
    made.fix("wall_back", "kitchen", at(-0.05, 1.0, 1.25), [box((0.1, 4.2, 2.5))])
    made.fix("wall_side", "kitchen", at(1.0, -1.15, 1.25), [box((2.2, 0.1, 2.5))])
    made.fix("shelf", "wall_back", at(0.2, -1.3, 0.35), [box((0.3, 0.9, _BOARD_M), material=WOOD)])
    made.fix("cupboard", "wall_back", at(0.4, -0.3, 0.2), [box((0.3, 0.6, 0.6), at(-0.17, 0, 0.3), WOOD)])
    _door(made, "cupboard_door", "cupboard", at(0, -0.3, 0), (0.6, 0.6))


def _sink_area(made: Assembly) -> None:
    made.fix("sink_area", "kitchen", at(_DEPTH_M, -0.2, 0), _carcass(1.6, 0.84))
    made.fix("sink_area_footprint", "sink_area", at(-_DEPTH_M / 2))
    made.fix("sink_area_worktop", "sink_area", at(-_DEPTH_M / 2, 0, 0.86), [box((_DEPTH_M, 1.6, 0.04), material=WOOD)])
    made.fix("sink_area_basin", "sink_area_worktop", at(0, -0.2, -0.08), [box((0.4, 0.45, 0.16), material=STEEL)])
    made.fix("faucet", "sink_area_worktop", at(-0.22, -0.2, 0.02), [rod(0.025, 0.1, at(0, 0, 0.05))])
    spout = [rod(0.012, 0.2, at(0, 0, 0.1)), rod(0.012, 0.2, at(0.1, 0, 0.2, (0.0, math.pi / 2, 0.0)))]
    made.hinge("faucet_spout", "faucet", at(0, 0, 0.1), spout, reach=(-1.2, 1.2))
    made.hinge("faucet_lever", "faucet", at(0, -0.03, 0.06), [rod(0.006, 0.08)], axis=Y, reach=(0.0, 0.8))
    for name, height_m, size_m in (("upper", 0.74, 0.16), ("middle", 0.52, 0.24), ("lower", 0.22, 0.32)):
        _drawer(made, f"sink_area_{name}_drawer", "sink_area", at(0, 0.52, height_m), (0.54, size_m))
    made.slide("sink_area_trash_drawer", "sink_area", at(0, -0.55, 0.45), _front(0.46, 0.76), reach=(0.0, 0.5))
    made.fix("dishwasher", "sink_area", at(0, 0, 0.1), [box((0.02, 0.44, 0.7), at(-0.55, 0, 0.35), STEEL)])
    _flap(made, "dishwasher_door", "dishwasher", at(), (0.44, 0.72))
    for name, height_m in (("upper", 0.45), ("lower", 0.12)):
        rack = [box((0.5, 0.4, 0.02), at(-0.27), STEEL)]
        made.slide(f"dishwasher_{name}_rack", "dishwasher", at(0, 0, height_m), rack, reach=(0.0, 0.5))


def _oven_area(made: Assembly) -> None:
    made.fix("oven_area", "kitchen", at(_DEPTH_M, 0.95, 0), _carcass(0.7, 0.84))
    made.fix("oven_area_footprint", "oven_area", at(-_DEPTH_M / 2))
    made.fix("oven_area_hob", "oven_area", at(-_DEPTH_M / 2, 0, 0.86), [box((_DEPTH_M, 0.7, 0.04), material=DARK)])
    made.fix("oven_area_panel", "oven_area", at(_BOARD_M / 2, 0, 0.79), [box((_BOARD_M, 0.66, 0.08), material=STEEL)])
    forward = (0.0, math.pi / 2, 0.0)
    for name, side in (("temperature", -0.15), ("mode", 0.15)):
        knob = [rod(0.02, 0.03, at(0, 0, 0.015))]
        made.hinge(f"oven_{name}_knob", "oven_area_panel", at(_BOARD_M / 2, side, 0, forward), knob, reach=(0.0, 4.5))
    made.fix("oven", "oven_area", at(0, 0, 0.28), [box((0.02, 0.6, 0.44), at(-0.5, 0, 0.22), DARK)])
    _flap(made, "oven_door", "oven", at(), (0.6, 0.44))
    made.slide("oven_tray", "oven", at(0, 0, 0.2), [box((0.45, 0.5, 0.02), at(-0.25), STEEL)], reach=(0.0, 0.35))
    _drawer(made, "oven_area_drawer", "oven_area", at(0, 0, 0.15), (0.64, 0.2))
    made.fix("hood", "wall_back", at(0.3, -0.05, 0.5), [box((0.5, 0.7, 0.1), material=STEEL)])


def _fridge_area(made: Assembly) -> None:
    made.fix("fridge_area", "kitchen", at(_DEPTH_M, 1.7, 0), _carcass(0.7, 2.0))
    made.fix("fridge_area_footprint", "fridge_area", at(-_DEPTH_M / 2))
    made.fix("fridge", "fridge_area", at(0, 0, 0.6), [box((0.02, 0.64, 1.3), at(-0.55, 0, 0.65))])
    _door(made, "fridge_door", "fridge", at(0, -0.33, 0), (0.66, 1.3))
    made.fix("fridge_door_handle", "fridge_door", at(_BOARD_M + 0.035, 0.6, 0.5), [rod(0.01, 0.4)])
    for name, height_m in (("upper", 1.0), ("lower", 0.6)):
        made.fix(f"fridge_{name}_shelf", "fridge", at(-0.3, 0, height_m), [box((0.4, 0.6, 0.01))])
    crisper = [box((0.4, 0.56, 0.02), at(-0.25))]
    made.slide("fridge_crisper", "fridge", at(0, 0, 0.15), crisper, reach=(0.0, 0.35))
    _drawer(made, "fridge_area_drawer", "fridge_area", at(0, 0, 0.32), (0.66, 0.5))


def _island(made: Assembly) -> None:
    made.fix("island", "kitchen", at(2.2, 0.6, 0, (0.0, 0.0, math.pi)), _carcass(1.4, 0.84))
    made.fix("island_footprint", "island", at(-_DEPTH_M / 2))
    made.fix("island_worktop", "island", at(-_DEPTH_M / 2, 0, 0.86), [box((0.8, 1.6, 0.04), material=WOOD)])
    for side, y in (("left", 0.35), ("right", -0.35)):
        for level, z in (("upper", 0.62), ("lower", 0.24)):
            _drawer(made, f"island_{side}_{level}_drawer", "island", at(0, y, z), (0.66, 0.34))
    board = [box((0.4, 0.5, 0.02), at(-0.2), WOOD)]
    made.slide("island_cutting_board", "island", at(0, 0, 0.825), board, reach=(0.0, 0.3))
