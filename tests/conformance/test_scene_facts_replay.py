"""Replaying, comparing and mirroring scenes, held against the facts of the paper's library."""

import pytest

from armillary import World, seconds
from armillary.scene import NodeId, Sphere
from conformance.things import RecordedChanges, fixed


@pytest.fixture
def copy(clock):
    with World("copy", clock=clock) as world:
        yield world


def two_diamonds(scene):
    """One plain node, six groups, a transform, a geometry; two of them have a parent more."""
    top, left, right = (scene.add_group(parent=scene.root) for _ in range(3))
    bottom = scene.add_group(parent=left)
    scene.add_parent(bottom, right)
    tf = fixed(scene, 1, 2, 3, parent=top)
    sides = [scene.add_group(parent=tf) for _ in range(2)]
    shape = scene.add_geometry(parent=sides[0], shape=Sphere(1.0))
    scene.add_parent(shape, sides[1])
    scene.add_group(parent=bottom, attributes={"name": "plain"})


class TestAReplay:
    def test_lists_each_thing_once(self, house, copy):
        two_diamonds(house.scene)
        recorded = RecordedChanges(copy.scene)
        copy.merge(house.scene.changes())
        assert recorded.counts() == {"AddGroup": 7, "AddParent": 2, "AddTransform": 1, "AddGeometry": 1}

    def test_is_the_same_scene(self, house, copy):
        two_diamonds(house.scene)
        copy.merge(house.scene.changes())
        assert copy.scene.digest() == house.scene.digest()
        assert copy.scene.difference(house.scene) == []

    def test_twice_is_once_p1(self, house, copy):
        two_diamonds(house.scene)
        copy.merge(house.scene.changes())
        recorded = RecordedChanges(copy.scene)
        assert copy.merge(house.scene.changes()) == []
        assert recorded == []

    def test_in_any_order_is_the_same_p1(self, house, copy):
        """The library lost every child whose parent came later."""
        two_diamonds(house.scene)
        for record in reversed(house.scene.changes()):
            copy.merge([record])
        assert copy.scene.digest() == house.scene.digest()


class TestTheDigest:
    def test_does_not_mind_the_order_of_children(self, house, copy):
        ids = [NodeId.random() for _ in range(5)]
        for world, order in ((house, ids), (copy, ids[::-1])):
            for node in order:
                world.scene.add_group(parent=world.scene.root, id=node, attributes={"a": 1})
        assert house.scene.digest() == copy.scene.digest()

    def test_is_of_ids_and_attributes(self, house, copy):
        node = NodeId.random()
        for world in (house, copy):
            world.scene.add_group(parent=world.scene.root, id=node, attributes={"name": "cup"})
        assert house.scene.digest(under=node) == copy.scene.digest(under=node)
        copy.scene.set_attributes(node, {"name": "mug"})
        assert house.scene.digest(under=node) != copy.scene.digest(under=node)

    def test_changes_with_a_child(self, scene):
        group = scene.add_group(parent=scene.root)
        before = scene.digest(under=group), scene.digest()
        scene.add_group(parent=group)
        assert scene.digest(under=group) != before[0]
        assert scene.digest() != before[1]

    def test_is_64_digits_of_its_own_h1(self, scene):
        digest = scene.digest()
        assert len(digest) == 64
        assert set(digest) <= set("0123456789abcdef")

    def test_always_counts_ids_h2(self, house, copy):
        for world in (house, copy):
            world.scene.add_group(parent=world.scene.root, attributes={"name": "cup"})
        assert house.scene.digest() != copy.scene.digest()
        assert len(house.scene.difference(copy.scene)) >= 2


class Mirror:
    """Two worlds that send each other every change that they receive."""

    def __init__(self, *worlds):
        for here, there in (worlds, worlds[::-1]):
            here.scene.attach(lambda _, here=here, there=there: self.pass_on(here, there))

    def pass_on(self, here, there):
        there.merge(here.scene.changes(since=there.scene.version_vector()))


class TestTwoScenesThatMirrorEachOther:
    @pytest.fixture
    def recorded(self, house, copy):
        Mirror(house, copy)
        return RecordedChanges(house.scene), RecordedChanges(copy.scene)

    def counts(self, recorded, name):
        return [one.counts().get(name, 0) for one in recorded]

    def test_both_know_both_roots(self, house, copy, recorded):
        for world in (house, copy):
            world.scene.add_remote_root(NodeId.random())
        assert self.counts(recorded, "AddRemoteRoot") == [2, 2]

    def test_are_notified_of_a_group_once(self, house, copy, recorded):
        group = house.scene.add_group(parent=house.scene.root)
        assert self.counts(recorded, "AddGroup") == [1, 1]
        assert group in copy.scene

    def test_do_not_play_ping_pong(self, house, copy, recorded):
        group = house.scene.add_group(parent=house.scene.root)
        for world, value in ((house, 1), (copy, 2), (house, 1), (copy, 1)):
            world.scene.set_attributes(group, {"toggle": value})
        assert self.counts(recorded, "SetAttributes") == [4, 4]
        assert house.scene.attributes(group) == copy.scene.attributes(group) == {"toggle": 1}

    def test_agree_on_the_last_assertion_a11(self, house, copy, recorded):
        """The library refused the second, whose stamp is older, and passed it on to nobody."""
        group = house.scene.add_group(parent=house.scene.root)
        house.scene.set_attributes(group, {"color": "red"}, at=seconds(1))
        copy.scene.set_attributes(group, {"color": "blue"}, at=seconds(0.5))
        assert house.scene.attributes(group) == copy.scene.attributes(group) == {"color": "blue"}
