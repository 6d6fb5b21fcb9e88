"""Changes of one batch that refer to each other."""

import pytest

from armillary import Transform, World
from armillary.errors import UnknownFrame, UnknownNode
from armillary.scene import (
    AddConnection,
    AddFrame,
    AddFrameNode,
    AddGroup,
    AddParent,
    AddRemoteRoot,
    NodeId,
    Remove,
    RemoveFrame,
    RemoveParent,
    Restore,
    SetAttributes,
)

ONE, OTHER = NodeId("3f2a9c1e-0000-4000-8000-000000000001"), NodeId("3f2a9c1e-0000-4000-8000-000000000002")


@pytest.fixture
def world():
    world = World()
    world.fix(of="cup", in_frame="map", transform=Transform.identity())
    return world


class TestAFrameThatABatchNames:
    def test_gets_its_node_once(self, world):
        assert world.apply([SetAttributes("cup", {"full": True}), SetAttributes("cup", {"hot": True})]) == [None, None]
        assert world.scene.attributes("cup") == {"full": True, "hot": True}

    def test_has_the_node_that_the_batch_adds(self, world):
        made = world.apply([AddFrameNode("cup"), SetAttributes("cup", {"full": True})])
        assert made == [world.scene.node("cup"), None]
        assert world.scene.attributes("cup") == {"full": True}

    def test_does_not_hide_what_others_made(self, world):
        made = world.apply([AddGroup(parent="cup", id=ONE), SetAttributes("cup", {"full": True})])
        assert made == [ONE, None]
        assert world.scene.parents(ONE) == [world.scene.node("cup")]


class TestAConnectionOfABatch:
    def test_ties_what_the_batch_adds(self, world):
        root = world.scene.root
        ends = [AddGroup(parent=root, id=ONE), AddGroup(parent=root, id=OTHER)]
        tie = world.apply([*ends, AddConnection(parent=root, sources=[ONE], targets=[OTHER])])[-1]
        assert world.scene.connection(tie).sources == (ONE,)

    @pytest.mark.parametrize("batch", ["before its ends", "without its ends"])
    def test_is_refused_before_its_ends_are_there(self, world, batch):
        root = world.scene.root
        tie = AddConnection(parent=root, sources=[ONE], targets=[ONE])
        late = [AddGroup(parent=root, id=ONE)] if batch == "before its ends" else []
        with pytest.raises(UnknownNode):
            world.apply([tie, *late])
        assert len(world.scene.children(root)) == 0

    @pytest.mark.parametrize("gone", [Remove(ONE), RemoveParent(ONE, World().scene.root)])
    def test_is_refused_once_the_batch_took_its_ends_out(self, world, gone):
        root = world.scene.root
        tie = AddConnection(parent=root, sources=[ONE], targets=[])
        with pytest.raises(UnknownNode):
            world.apply([AddGroup(parent=root, id=ONE), gone, tie])
        world.scene.add_group(parent=root, id=ONE)
        with pytest.raises(UnknownNode):
            world.apply([gone, tie])

    def test_is_refused_where_its_ends_went_with_what_they_were_in(self, world):
        root = world.scene.root
        world.apply([AddGroup(parent=root, id=ONE), AddGroup(parent=ONE, id=OTHER)])
        with pytest.raises(UnknownNode):
            world.apply([Remove(ONE), AddConnection(parent=root, sources=[OTHER], targets=[])])

    @pytest.mark.parametrize(
        "kept", [AddParent(OTHER, World().scene.root), AddParent(OTHER, NodeId.of_name("arm", "root"))]
    )
    def test_ties_what_is_elsewhere_too(self, world, kept):
        root, arm = world.scene.root, NodeId.of_name("arm", "root")
        world.apply([AddGroup(parent=root, id=ONE), AddGroup(parent=ONE, id=OTHER), AddRemoteRoot(arm)])
        tie = world.apply([kept, Remove(ONE), AddConnection(parent=root, sources=[OTHER, arm], targets=[])])[-1]
        assert world.scene.connection(tie).sources == (OTHER, arm)

    def test_ties_what_the_batch_adds_again(self, world):
        root = world.scene.root
        world.scene.add_group(parent=root, id=ONE)
        again = [Remove(ONE), AddGroup(parent=root, id=ONE)]
        tie = world.apply([*again, AddConnection(parent=root, sources=[ONE], targets=[])])[-1]
        assert world.scene.connection(tie).sources == (ONE,)

    def test_ties_what_the_batch_restores(self, world):
        root = world.scene.root
        world.scene.add_group(parent=root, id=ONE)
        world.scene.remove(ONE)
        tie = world.apply([Restore(ONE, root), AddConnection(parent=root, sources=[ONE], targets=[])])[-1]
        assert world.scene.connection(tie).sources == (ONE,)


class TestAFrameThatABatchRemoves:
    @pytest.mark.parametrize("change", [SetAttributes("cup", {"a": 1}), AddGroup(parent="cup"), RemoveFrame("cup")])
    def test_is_not_there_for_what_follows(self, world, change):
        with pytest.raises(UnknownFrame, match="'cup'"):
            world.apply([RemoveFrame("cup"), change])
        assert "cup" in world.frames()

    def test_may_be_one_that_it_made(self, world):
        with pytest.raises(UnknownFrame, match="'plate'"):
            world.apply([AddFrame("plate"), RemoveFrame("plate"), SetAttributes("plate", {"a": 1})])

    def test_may_come_again(self, world):
        world.apply([RemoveFrame("cup"), AddFrame("cup"), SetAttributes("cup", {"full": True})])
        assert world.scene.attributes("cup") == {"full": True}

    def test_takes_what_is_below_it_along(self, world):
        world.fix(of="rim", in_frame="cup", transform=Transform.identity())
        with pytest.raises(UnknownFrame, match="'rim'"):
            world.apply([RemoveFrame("cup", subtree=True), SetAttributes("rim", {"a": 1})])


class TestANodeOfAFrameThatABatchTakesOut:
    @pytest.mark.parametrize("is_new", [True, False])
    def test_is_made_again_where_the_frame_is_named_later(self, world, is_new):
        node = NodeId.of_name("frame", "cup")
        first = [SetAttributes("cup", {"full": True})]
        if not is_new:
            world.apply(first)
        world.apply([*(first if is_new else []), Remove(node), SetAttributes("cup", {"hot": True})])
        assert world.scene.attributes("cup") == {"hot": True}
