"""A kitchen of 60 links and 23 degrees of freedom: 15 things slide and 8 turn.

Twelve of them have a handle that a robot can push: nine drawers, and three doors, of which two open downwards. The
kitchen stands against the plane x = 0 of its own frame and opens towards +x; the island stands in front of it and opens
towards the kitchen.

`python -m models.kitchen`, run in the folder of the examples, prints it as URDF.
"""

from __future__ import annotations

import math

from armillary.formats import write_urdf
from models.parts import DARK, STEEL, WHITE, WOOD, Assembly, Y, at, box, rod

DEPTH, BOARD = 0.6, 0.02
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


def kitchen():
    """The description."""
    made = Assembly("kitchen", "kitchen")
    _walls(made)
    _sink_area(made)
    _oven_area(made)
    _fridge_area(made)
    _island(made)
    return made.description()


def carcass(width, height):
    """Two sides, a back and a bottom around an origin on the floor, in the middle of the front."""
    return [
        box((DEPTH, BOARD, height), at(-DEPTH / 2, side * (width - BOARD) / 2, height / 2), WOOD) for side in (-1, 1)
    ] + [
        box((BOARD, width, height), at(BOARD / 2 - DEPTH, 0, height / 2), WOOD),
        box((DEPTH, width, BOARD), at(-DEPTH / 2, 0, BOARD / 2), WOOD),
    ]


def front(width, height):
    """A panel whose back lies in the plane x = 0, and a tray behind it."""
    return [
        box((BOARD, width, height), at(BOARD / 2), WHITE),
        box((0.5, width - 0.06, 0.01), at(-0.26, 0, 0.02 - height / 2), WOOD),
    ]


def drawer(made, name, on, place, size):
    made.slide(name, on, place, front(*size))
    lying = (math.pi / 2, 0.0, 0.0)
    made.fix(f"{name}_handle", name, at(BOARD + 0.035), [rod(0.008, 0.6 * size[0], at(rpy=lying))])


def flap(made, name, on, place, size):
    """A door that opens downwards: its frame lies in the hinge, at its lower edge."""
    width, height = size
    made.hinge(name, on, place, [box((BOARD, width, height), at(BOARD / 2, 0, height / 2), DARK)], axis=Y)
    lying = (math.pi / 2, 0.0, 0.0)
    made.fix(f"{name}_handle", name, at(BOARD + 0.035, 0, height - 0.06), [rod(0.008, 0.7 * width, at(rpy=lying))])


def door(made, name, on, place, size):
    """A door whose hinge stands upright at its right edge."""
    width, height = size
    panel = box((BOARD, width, height), at(BOARD / 2, width / 2, height / 2))
    made.hinge(name, on, place, [panel], axis=(0.0, 0.0, -1.0), reach=(0.0, 2.0))


def _walls(made):
    made.fix("wall_back", "kitchen", at(-0.05, 1.0, 1.25), [box((0.1, 4.2, 2.5))])
    made.fix("wall_side", "kitchen", at(1.0, -1.15, 1.25), [box((2.2, 0.1, 2.5))])
    made.fix("shelf", "wall_back", at(0.2, -1.3, 0.35), [box((0.3, 0.9, BOARD), material=WOOD)])
    made.fix("cupboard", "wall_back", at(0.4, -0.3, 0.2), [box((0.3, 0.6, 0.6), at(-0.17, 0, 0.3), WOOD)])
    door(made, "cupboard_door", "cupboard", at(0, -0.3, 0), (0.6, 0.6))


def _sink_area(made):
    made.fix("sink_area", "kitchen", at(DEPTH, -0.2, 0), carcass(1.6, 0.84))
    made.fix("sink_area_footprint", "sink_area", at(-DEPTH / 2))
    made.fix("sink_area_worktop", "sink_area", at(-DEPTH / 2, 0, 0.86), [box((DEPTH, 1.6, 0.04), material=WOOD)])
    made.fix("sink_area_basin", "sink_area_worktop", at(0, -0.2, -0.08), [box((0.4, 0.45, 0.16), material=STEEL)])
    made.fix("faucet", "sink_area_worktop", at(-0.22, -0.2, 0.02), [rod(0.025, 0.1, at(0, 0, 0.05))])
    spout = [rod(0.012, 0.2, at(0, 0, 0.1)), rod(0.012, 0.2, at(0.1, 0, 0.2, (0.0, math.pi / 2, 0.0)))]
    made.hinge("faucet_spout", "faucet", at(0, 0, 0.1), spout, reach=(-1.2, 1.2))
    made.hinge("faucet_lever", "faucet", at(0, -0.03, 0.06), [rod(0.006, 0.08)], axis=Y, reach=(0.0, 0.8))
    for name, height, size in (("upper", 0.74, 0.16), ("middle", 0.52, 0.24), ("lower", 0.22, 0.32)):
        drawer(made, f"sink_area_{name}_drawer", "sink_area", at(0, 0.52, height), (0.54, size))
    made.slide("sink_area_trash_drawer", "sink_area", at(0, -0.55, 0.45), front(0.46, 0.76), reach=(0.0, 0.5))
    made.fix("dishwasher", "sink_area", at(0, 0, 0.1), [box((0.02, 0.44, 0.7), at(-0.55, 0, 0.35), STEEL)])
    flap(made, "dishwasher_door", "dishwasher", at(), (0.44, 0.72))
    for name, height in (("upper", 0.45), ("lower", 0.12)):
        rack = [box((0.5, 0.4, 0.02), at(-0.27), STEEL)]
        made.slide(f"dishwasher_{name}_rack", "dishwasher", at(0, 0, height), rack, reach=(0.0, 0.5))


def _oven_area(made):
    made.fix("oven_area", "kitchen", at(DEPTH, 0.95, 0), carcass(0.7, 0.84))
    made.fix("oven_area_footprint", "oven_area", at(-DEPTH / 2))
    made.fix("oven_area_hob", "oven_area", at(-DEPTH / 2, 0, 0.86), [box((DEPTH, 0.7, 0.04), material=DARK)])
    made.fix("oven_area_panel", "oven_area", at(BOARD / 2, 0, 0.79), [box((BOARD, 0.66, 0.08), material=STEEL)])
    forward = (0.0, math.pi / 2, 0.0)
    for name, side in (("temperature", -0.15), ("mode", 0.15)):
        knob = [rod(0.02, 0.03, at(0, 0, 0.015))]
        made.hinge(f"oven_{name}_knob", "oven_area_panel", at(BOARD / 2, side, 0, forward), knob, reach=(0.0, 4.5))
    made.fix("oven", "oven_area", at(0, 0, 0.28), [box((0.02, 0.6, 0.44), at(-0.5, 0, 0.22), DARK)])
    flap(made, "oven_door", "oven", at(), (0.6, 0.44))
    made.slide("oven_tray", "oven", at(0, 0, 0.2), [box((0.45, 0.5, 0.02), at(-0.25), STEEL)], reach=(0.0, 0.35))
    drawer(made, "oven_area_drawer", "oven_area", at(0, 0, 0.15), (0.64, 0.2))
    made.fix("hood", "wall_back", at(0.3, -0.05, 0.5), [box((0.5, 0.7, 0.1), material=STEEL)])


def _fridge_area(made):
    made.fix("fridge_area", "kitchen", at(DEPTH, 1.7, 0), carcass(0.7, 2.0))
    made.fix("fridge_area_footprint", "fridge_area", at(-DEPTH / 2))
    made.fix("fridge", "fridge_area", at(0, 0, 0.6), [box((0.02, 0.64, 1.3), at(-0.55, 0, 0.65))])
    door(made, "fridge_door", "fridge", at(0, -0.33, 0), (0.66, 1.3))
    made.fix("fridge_door_handle", "fridge_door", at(BOARD + 0.035, 0.6, 0.5), [rod(0.01, 0.4)])
    for name, height in (("upper", 1.0), ("lower", 0.6)):
        made.fix(f"fridge_{name}_shelf", "fridge", at(-0.3, 0, height), [box((0.4, 0.6, 0.01))])
    crisper = [box((0.4, 0.56, 0.02), at(-0.25))]
    made.slide("fridge_crisper", "fridge", at(0, 0, 0.15), crisper, reach=(0.0, 0.35))
    drawer(made, "fridge_area_drawer", "fridge_area", at(0, 0, 0.32), (0.66, 0.5))


def _island(made):
    made.fix("island", "kitchen", at(2.2, 0.6, 0, (0.0, 0.0, math.pi)), carcass(1.4, 0.84))
    made.fix("island_footprint", "island", at(-DEPTH / 2))
    made.fix("island_worktop", "island", at(-DEPTH / 2, 0, 0.86), [box((0.8, 1.6, 0.04), material=WOOD)])
    for side, y in (("left", 0.35), ("right", -0.35)):
        for level, z in (("upper", 0.62), ("lower", 0.24)):
            drawer(made, f"island_{side}_{level}_drawer", "island", at(0, y, z), (0.66, 0.34))
    board = [box((0.4, 0.5, 0.02), at(-0.2), WOOD)]
    made.slide("island_cutting_board", "island", at(0, 0, 0.825), board, reach=(0.0, 0.3))


if __name__ == "__main__":
    print(write_urdf(kitchen()))
