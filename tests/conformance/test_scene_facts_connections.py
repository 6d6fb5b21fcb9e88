"""Connections, held against the facts of the paper's library."""

import pytest

from armillary import seconds
from armillary.errors import UnknownNode, WrongKind
from armillary.scene import Connection, NodeId
from conformance.things import fixed


@pytest.fixture
def ends(scene):
    return fixed(scene, 1, parent=scene.root), scene.add_group(parent=scene.root)


@pytest.fixture
def tie(scene, ends):
    tf1, node3 = ends
    return scene.add_connection(
        parent=scene.root,
        sources=[tf1],
        targets=[node3],
        start=seconds(1),
        end=seconds(2),
        attributes={"name": "holds"},
    )


class TestAConnection:
    def test_is_among_the_children_of_its_parent(self, scene, ends, tie):
        assert scene.children(scene.root) == [*ends, tie]
        assert scene.parents(tie) == [scene.root]

    def test_has_attributes_as_any_node(self, scene, tie):
        assert scene.attributes(tie) == {"name": "holds"}
        assert scene.find({"name": "holds"}) == [tie]

    def test_has_its_ends(self, scene, ends, tie):
        assert scene.connection(tie).sources == (ends[0],)
        assert scene.connection(tie).targets == (ends[1],)

    def test_is_no_parent_of_its_ends(self, scene, ends, tie):
        assert scene.children(tie) == []
        assert [scene.parents(end) for end in ends] == [[scene.root], [scene.root]]

    def test_leaves_its_ends_when_it_goes(self, scene, ends, tie):
        scene.remove(tie)
        assert all(end in scene for end in ends)
        with pytest.raises(UnknownNode):
            scene.connection(tie)

    def test_is_asked_for_as_one_n1(self, scene, ends):
        with pytest.raises(WrongKind, match="is a transform, not a connection"):
            scene.connection(ends[0])

    def test_names_several_ends_in_their_order(self, scene, ends):
        tie = scene.add_connection(parent=scene.root, sources=ends, targets=ends[::-1])
        assert scene.connection(tie) == Connection(ends, ends[::-1])

    def test_keeps_no_list_that_was_cut_off_n2(self, scene, ends):
        with pytest.raises(UnknownNode):
            scene.add_connection(parent=scene.root, sources=[ends[0], NodeId.random(), ends[1]], targets=[])
        assert scene.children(scene.root) == list(ends)
