"""Scenes that are deeper, or have more names in them, than anybody would build by hand."""

from __future__ import annotations

import pytest

from armillary import World
from armillary.errors import LimitReached, SceneCycle
from armillary.scene import AddGroup, NodeId

DEEP = 200_000
MOST_KEYS = 100_000


def chain(world, length):
    """Groups in one another, the outermost first."""
    ids = [NodeId.random() for _ in range(length)]
    above = [world.scene.root, *ids]
    world.apply([AddGroup(parent=parent, id=node) for parent, node in zip(above, ids, strict=False)])
    return ids


@pytest.fixture(scope="module")
def deep():
    with World("deep") as world:
        yield world, chain(world, DEEP)


class TestADeepScene:
    def test_is_searched_from_its_end_to_its_beginning(self, deep):
        world, ids = deep
        world.scene.set_attributes(ids[-1], {"deep": True})
        assert world.scene.find({"deep": True}, under=ids[0]) == [ids[-1]]
        assert world.scene.find({"deep": True}, under=ids[-1]) == [ids[-1]]

    def test_has_its_frame_in_the_past_as_well(self, deep):
        world, ids = deep
        assert world.scene.as_of(world.now()).frame(ids[-1]) == "map"

    def test_refuses_a_whole_cycle(self, deep):
        world, ids = deep
        with pytest.raises(SceneCycle) as refused:
            world.scene.add_parent(ids[0], ids[-1])
        assert len(refused.value.path) == DEEP


@pytest.fixture(scope="module")
def full():
    """A world with as many names of attributes as there may be, and a thing in it."""
    with World("full") as world:
        for first in range(0, MOST_KEYS, 1000):
            names = (f"key_{i}" for i in range(first, first + 1000))
            thing = world.scene.add_group(parent=world.scene.root, attributes=dict.fromkeys(names, 1))
        yield world, thing


class TestNamesOfAttributes:
    def test_are_bounded(self, full):
        world, thing = full
        before = world.scene.digest()
        with pytest.raises(LimitReached, match="At most 100000 names of attributes"):
            world.scene.set_attributes(thing, {"one_more": 1})
        assert world.scene.digest() == before
        world.scene.set_attributes(thing, {f"key_{MOST_KEYS - 1}": "another value"})

    def test_of_one_thing_are_bounded_those_that_were_removed_within(self):
        with World() as world:
            thing = world.scene.add_group(parent=world.scene.root)
            for i in range(1000):
                world.scene.set_attributes(thing, {f"key {i}": i})
                world.scene.set_attributes(thing, {f"key {i}": None})
            with pytest.raises(LimitReached, match="At most 1000 names of attributes of one thing"):
                world.scene.set_attributes(thing, {"one more": 1})
            world.scene.set_attributes(thing, {"key 7": "again"})
            assert world.scene.attributes(thing) == {"key 7": "again"}

    def test_of_other_replicas_are_all_kept(self, full):
        world, _ = full
        with World("other") as other, World("third") as third:
            extra = other.scene.add_group(parent=other.scene.root, attributes={"one_more": 1})
            third.merge([*world.scene.changes(), *other.scene.changes()])
            assert third.scene.find({"one_more": 1}) == [extra]
