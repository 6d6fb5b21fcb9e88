"""The scene that product and peers are measured on: numbered things, ten of a name."""

import itertools

from armillary import World
from armillary.scene import AddGroup, NodeId
from scenario import START_NS

THINGS = 100_000
ALIKE = 10  # things of one name
TICK_NS = 5_000_000
Attributes = dict[str, str | int]


def attributes_of(index: int) -> Attributes:
    """What is said of a thing: ten share a name, numbers differ."""
    return {"name": f"thing_{index // ALIKE}", "number": index}


def things(count: int) -> list[Attributes]:
    return [attributes_of(index) for index in range(count)]


def filled_scene(count: int) -> World:
    """A world with so many things under the root, whose clock goes on by `TICK_NS` with every change."""
    world = World(clock=itertools.count(START_NS, TICK_NS).__next__)
    world.apply([AddGroup(parent=world.scene.root, attributes=said) for said in things(count)])
    return world


def nested_scene(groups: int, things_each: int) -> tuple[World, NodeId]:
    """A world with one group of groups of things, and that group."""
    world = World()
    top = world.scene.add_group(parent=world.scene.root)
    middle = world.apply([AddGroup(parent=top)] * groups)
    world.apply([AddGroup(parent=group, attributes=said) for group in middle for said in things(things_each)])
    return world, top
