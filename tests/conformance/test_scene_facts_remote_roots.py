"""Graphs of other agents, held against the facts of the paper's library about remote roots."""

import pytest

from armillary import World
from armillary.errors import NodeExists, NotConnected, PermanentNode, UnknownNode
from armillary.scene import AddRemoteRoot, NodeId
from conformance.things import fixed, xyz


@pytest.fixture
def remote(scene):
    return scene.add_remote_root(NodeId.random())


@pytest.fixture
def far(scene, remote):
    return fixed(scene, -1, -2, -3, parent=remote, attributes={"name": "far"})


class TestARemoteRoot:
    def test_is_not_our_own(self, scene):
        with pytest.raises(NodeExists, match=r"the same in every world.*NodeId\.of_name.*merge.*add_parent"):
            scene.add_remote_root(World("arm").scene.root)

    def test_comes_once(self, scene, remote):
        with pytest.raises(NodeExists):
            scene.add_remote_root(remote)

    @pytest.mark.parametrize("is_mounted", [False, True])
    def test_is_removed_once_mounted_or_not(self, scene, remote, far, is_mounted):
        if is_mounted:
            scene.add_parent(remote, scene.root)
        scene.remove(remote)
        assert (remote in scene, far in scene) == (False, False)
        with pytest.raises(UnknownNode):
            scene.remove(remote)

    def test_has_no_parent(self, scene, remote):
        assert scene.parents(remote) == []

    def test_is_listed_in_the_order_it_came(self, scene, remote):
        second = scene.add_remote_root(NodeId.random())
        assert scene.remote_roots == [remote, second]


class TestItsContent:
    def test_is_addressed_but_not_found_until_it_is_mounted(self, scene, remote, far):
        assert scene.attributes(far) == {"name": "far"}
        assert scene.find({"name": "far"}) == []
        assert scene.find({"name": "far"}, under=remote) == [far]
        scene.add_parent(remote, scene.root)
        assert scene.find({"name": "far"}) == [far]

    def test_is_nowhere_until_it_is_mounted(self, house, scene, remote, far):
        with pytest.raises(NotConnected):
            xyz(house, far)

    def test_is_seen_from_ours_and_ours_from_it(self, house, scene, remote, far):
        near = fixed(scene, 1, 2, 3, parent=scene.root)
        scene.add_parent(remote, scene.root)
        assert xyz(house, near, seen_from=far) == [2, 4, 6]
        assert xyz(house, far, seen_from=near) == [-2, -4, -6]

    def test_is_the_same_in_a_copy(self, house, scene, remote, far):
        near = fixed(scene, 1, 2, 3, parent=scene.root)
        scene.add_parent(remote, scene.root)
        copy = World("copy")
        copy.merge(scene.changes())
        assert xyz(copy, near, seen_from=far) == [2, 4, 6]
        assert copy.scene.find({"name": "far"}) == [far]

    def test_is_mounted_where_one_likes(self, house, scene, remote, far):
        shelf = fixed(scene, 0, 0, 10, parent=scene.root)
        scene.add_parent(remote, shelf)
        assert xyz(house, far) == [-1, -2, 7]


class TestRemoteRootsDiffer:
    def test_by_never_being_above_our_root_r1(self, scene, remote):
        for parent in (remote, scene.root):
            with pytest.raises(PermanentNode):
                scene.add_parent(scene.root, parent)

    def test_by_not_being_needed_between_replicas_r2(self, house, scene):
        """Replicas have one root in common: none is announced, and a node of one is found by the other."""
        scene.add_group(parent=scene.root, attributes={"name": "cup"})
        copy = World("copy")
        copy.merge(scene.changes())
        assert len(copy.scene.find({"name": "cup"})) == 1

    def test_by_being_mounted_by_any_observer_r3(self, scene, remote, far):
        copy = World("copy")

        def mount(batch):
            for change in batch:
                if isinstance(change, AddRemoteRoot):
                    copy.scene.add_parent(change.id, copy.scene.root)

        copy.scene.attach(mount)
        copy.merge(scene.changes())
        assert copy.scene.find({"name": "far"}) == [far]

    def test_by_going_with_the_last_mount_r4(self, scene, remote):
        scene.add_parent(remote, scene.root)
        scene.remove_parent(remote, scene.root)
        assert remote not in scene
