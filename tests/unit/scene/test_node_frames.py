"""Frames that nodes created, recognised by name."""

from __future__ import annotations

import pytest

from armillary import World
from armillary.store.nodes import is_of_a_node, maker_of
from unit.kit import moved

HEX = "0123456789abcdef0123456789abcdef"


class TestAFrame:
    def test_of_a_transform_names_its_node(self):
        scene = World().scene
        cup = scene.add_transform(parent=scene.root, transform=moved(1))
        assert maker_of(scene.frame(cup)) == cup

    def test_that_places_a_transform_with_several_parents_names_it_too(self):
        world = World()
        left, right = (world.scene.add_transform(parent=world.scene.root, transform=moved(x)) for x in (1, 2))
        cup = world.scene.add_transform(parent=left, transform=moved(0))
        world.scene.add_parent(cup, right)
        assert {maker_of(name) for name in world.frames() if name.startswith(str(cup))} == {cup}
        assert f"{cup}/mount" in world.frames()

    @pytest.mark.parametrize("name", ["map", "arm/mount", HEX, f"{{{HEX}}}", f"urn:uuid:{HEX}"])
    def test_that_somebody_named_is_of_no_node(self, name):
        assert maker_of(name) is None
        assert not is_of_a_node(name)
