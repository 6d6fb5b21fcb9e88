"""Lists that must have something among their items, held against plain Python."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from armillary import World
from armillary.scene import contains

items = st.booleans() | st.integers(-2, 2) | st.sampled_from(["red", "", "1", -0.0, 0.5, 1.0])
values = items | st.lists(items, max_size=3)
attributes = values | st.lists(values, max_size=4)


def has(value: object, item: object) -> bool:
    """Texts and numbers by value, a truth value only as itself, at every depth."""
    return isinstance(value, list) and plain(item) in [plain(one) for one in value]


def plain(value: object) -> object:
    return tuple(map(plain, value)) if isinstance(value, list) else (isinstance(value, bool), value)


class TestWhatContainsFinds:
    @given(st.lists(attributes, max_size=6), values)
    def test_is_what_has_the_item_oldest_first(self, tags, item):
        with World() as world:
            scene = world.scene
            nodes = [scene.add_group(parent=scene.root, attributes={"tags": value}) for value in tags]
            expected = [node for node, value in zip(nodes, tags, strict=True) if has(value, item)]
            assert scene.find({"tags": contains(item)}) == expected

    def test_follows_the_list(self):
        scene = World().scene
        cup = scene.add_group(parent=scene.root, attributes={"tags": ["red", "clean"]})
        assert scene.find({"tags": contains("red")}) == [cup]
        scene.set_attributes(cup, {"tags": ["clean"]})
        assert scene.find({"tags": contains("red")}) == []
