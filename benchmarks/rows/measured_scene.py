"""Fills one scene and prints how many bytes a node took. See scene_memory.py."""

import json
import sys

from armillary import World
from armillary.scene import AddGroup
from rows.measured_world import used_bytes
from scene_scenario import THINGS, attributes_of


def plain(index: int) -> None:
    """Nothing is said of a plain node."""


def one_by_one(world: World, said) -> None:
    for index in range(THINGS):
        world.scene.add_group(parent=world.scene.root, attributes=said(index))


def at_once(world: World, said) -> None:
    world.apply([AddGroup(parent=world.scene.root, attributes=said(index)) for index in range(THINGS)])


def main() -> None:
    how, what = sys.argv[1:]
    fill = {"one_by_one": one_by_one, "at_once": at_once}[how]
    said = {"plain": plain, "named": attributes_of}[what]
    world = World()
    world.scene.add_group(parent=world.scene.root, attributes=said(0))  # touch the code first
    before = used_bytes()
    fill(world, said)
    after = used_bytes()
    print(json.dumps({key: (after[key] - before[key]) / THINGS for key in after}))


if __name__ == "__main__":
    main()
