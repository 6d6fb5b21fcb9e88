"""Ids of nodes, held against the facts of the paper's library about its pool of ids."""

from uuid import UUID

import pytest

from armillary.errors import InvalidArgument, NodeExists, UnknownNode
from armillary.scene import NodeId

ONE, TWO, THREE, FOUR, FIVE = (NodeId(str(UUID(int=number))) for number in range(1, 6))


class TestTheTextOfAnId:
    @pytest.mark.parametrize("number", [0, 1, 513])
    def test_is_that_of_the_uuid(self, number):
        text = str(UUID(int=number))
        assert str(NodeId(text)) == text

    def test_is_read_back(self):
        ids = [NodeId.random() for _ in range(10_000)]
        assert [NodeId(str(node)) for node in ids] == ids
        assert len(set(ids)) == len(ids)

    def test_may_be_in_capitals(self):
        text = "45AF0D52-8D5B-4D4B-9C5D-0A7A1B2C3D4E"
        assert str(NodeId(text)) == text.lower()

    def test_orders_as_the_bytes(self):
        ids = sorted(NodeId.random() for _ in range(100))
        assert [node.bytes for node in ids] == sorted(node.bytes for node in ids)

    @pytest.mark.parametrize("text", ["invalidString", "0" * 19, "0000000-00000-0000-0000-000000000000", ""])
    def test_that_is_none_is_refused_i4(self, text):
        with pytest.raises(InvalidArgument, match="A node id is written like"):
            NodeId(text)


class TestAnIdOfOnesOwn:
    def test_is_taken(self, scene):
        assert scene.add_group(parent=scene.root, id=TWO) == TWO
        assert TWO in scene

    def test_may_be_a_uuid(self, scene):
        assert scene.add_group(parent=scene.root, id=UUID(int=2)) == TWO
        assert UUID(int=2) in scene

    def test_cannot_be_that_of_the_root(self, scene):
        with pytest.raises(NodeExists):
            scene.add_group(parent=scene.root, id=scene.root)

    def test_cannot_be_nil(self, scene):
        with pytest.raises(InvalidArgument):
            scene.add_group(parent=scene.root, id=UUID(int=0))

    def test_cannot_be_a_text(self, scene):
        with pytest.raises(InvalidArgument, match=r"NodeId \(or a uuid.UUID\)"):
            scene.add_group(parent=scene.root, id=str(TWO))

    def test_of_a_refused_node_stays_free_i3(self, scene):
        with pytest.raises(UnknownNode):
            scene.add_group(parent=FIVE, id=FOUR)
        assert scene.add_group(parent=scene.root, id=FOUR) == FOUR

    def test_of_a_removed_node_is_free_again_i3(self, scene):
        scene.add_group(parent=scene.root, id=TWO, attributes={"name": "first"})
        scene.add_group(parent=TWO, id=THREE)
        scene.remove(TWO)
        scene.add_group(parent=scene.root, id=TWO)
        scene.add_group(parent=scene.root, id=THREE)
        assert (scene.attributes(TWO), scene.children(TWO)) == ({}, [])


class TestIdsThatAreAssigned:
    def test_do_not_count_i2(self, scene):
        ids = {scene.add_group(parent=scene.root) for _ in range(1000)}
        assert len(ids) == 1000
        assert {UUID(str(node)).version for node in ids} == {4}

    def test_can_be_made_from_names_i2(self):
        assert NodeId.of_name("kitchen", "cup") == NodeId.of_name("kitchen", "cup")
        assert NodeId.of_name("kitchen", "cup") != NodeId.of_name("garage", "cup")

    def test_are_the_same_root_everywhere_i1(self, scene, world):
        assert scene.root == world.scene.root
