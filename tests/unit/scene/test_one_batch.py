"""What the changes of one batch may say of each other."""

import pytest

from armillary import Transform, World
from armillary.errors import UnknownNode
from armillary.scene import AddConnection, AddFrameNode, AddGroup, NodeId, SetAttributes

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
