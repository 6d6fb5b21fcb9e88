"""Who is in whom, who owns whom and who goes with whom, held against the facts of the paper's library."""

import pytest

from armillary.errors import (
    AlreadyItsParent,
    FramesHanging,
    InvalidArgument,
    NodeExists,
    NotAGroup,
    NotATransform,
    NotItsParent,
    PermanentNode,
    SceneCycle,
    UnknownNode,
    WrongKind,
)
from armillary.scene import NodeId, Sphere
from conformance.scenes import IDENTITY, shifted
from conformance.things import covariance_of, fixed, xyz

NOBODY = NodeId("11111111-1111-4111-8111-111111111111")
NIL = NodeId("00000000-0000-0000-0000-000000000000")
SURE = covariance_of(1, 1, 1, 1, 1, 1)
ADDING = {
    "group": lambda scene, **more: scene.add_group(**more),
    "transform": lambda scene, **more: scene.add_transform(transform=IDENTITY, **more),
    "uncertain": lambda scene, **more: scene.add_uncertain_transform(transform=IDENTITY, covariance=SURE, **more),
    "geometry": lambda scene, **more: scene.add_geometry(shape=Sphere(1.0), **more),
    "connection": lambda scene, **more: scene.add_connection(sources=(), targets=(), **more),
}
ASKING = {
    "kind": lambda scene, node: scene.kind(node),
    "parents": lambda scene, node: scene.parents(node),
    "children": lambda scene, node: scene.children(node),
    "attributes": lambda scene, node: scene.attributes(node),
    "stamp": lambda scene, node: scene.stamp(node),
    "geometry": lambda scene, node: scene.geometry(node),
    "connection": lambda scene, node: scene.connection(node),
    "frame": lambda scene, node: scene.frame(node),
    "find": lambda scene, node: scene.find({}, under=node),
    "digest": lambda scene, node: scene.digest(under=node),
    "bounding_sphere": lambda scene, node: scene.bounding_sphere(node),
    "set_attributes": lambda scene, node: scene.set_attributes(node, {"a": 1}),
    "set_transform": lambda scene, node: scene.set_transform(node, IDENTITY),
    "add_parent": lambda scene, node: scene.add_parent(node, scene.root),
    "add_to": lambda scene, node: scene.add_group(parent=node),
    "remove_parent": lambda scene, node: scene.remove_parent(node, scene.root),
    "remove": lambda scene, node: scene.remove(node),
}


def every(calls):
    return pytest.mark.parametrize("call", calls.values(), ids=list(calls))


@pytest.fixture
def group(scene):
    return scene.add_group(parent=scene.root)


@pytest.fixture
def leaf(scene, group):
    return scene.add_geometry(parent=group, shape=Sphere(1.0))


class TestAnUnknownNode:
    @every(ASKING)
    def test_is_refused_by_every_call(self, scene, call):
        before = scene.digest()
        with pytest.raises(UnknownNode):
            call(scene, NOBODY)
        assert scene.digest() == before

    @every(ADDING)
    def test_is_no_parent(self, scene, call):
        with pytest.raises(UnknownNode):
            call(scene, parent=NOBODY)
        assert len(scene) == 1

    @every(ASKING)
    def test_is_what_a_node_becomes_by_removing_it(self, scene, group, call):
        scene.remove(group)
        with pytest.raises(UnknownNode):
            call(scene, group)


class TestANode:
    def test_is_listed_in_the_order_it_came(self, scene, group):
        nodes = [ADDING[kind](scene, parent=group) for kind in ADDING]
        scene.remove(nodes[1])
        assert scene.children(group) == [nodes[0], *nodes[2:]]

    @every(ADDING)
    def test_is_refused_a_second_time(self, scene, call):
        node = call(scene, parent=scene.root)
        before = scene.digest()
        with pytest.raises(NodeExists):
            call(scene, parent=scene.root, id=node)
        assert scene.digest() == before

    def test_enters_a_group_once(self, scene, group, leaf):
        with pytest.raises(AlreadyItsParent):
            scene.add_parent(leaf, group)
        assert scene.parents(leaf) == [group]

    @every(ADDING)
    def test_that_is_a_leaf_has_no_children(self, scene, leaf, call):
        with pytest.raises(NotAGroup):
            call(scene, parent=leaf)

    def test_that_is_no_transform_is_not_moved(self, scene, group, leaf):
        for node in (group, leaf):
            with pytest.raises(NotATransform):
                scene.set_transform(node, IDENTITY)

    def test_that_is_no_geometry_has_no_shape(self, scene, group):
        with pytest.raises(WrongKind, match="is a group, not a geometry"):
            scene.geometry(group)


class TestANodeDiffers:
    def test_by_having_a_place_without_being_a_transform_s1(self, house, scene):
        hand = fixed(scene, 1, 2, 3, parent=scene.root)
        group = scene.add_group(parent=hand)
        leaf = scene.add_geometry(parent=group, shape=Sphere(1.0))
        assert xyz(house, group) == xyz(house, leaf) == [1, 2, 3]

    def test_by_having_no_children_as_a_leaf_s2(self, scene, leaf):
        assert scene.children(leaf) == []

    def test_by_being_a_group_where_it_only_has_attributes_s3(self, scene):
        plain = scene.add_group(parent=scene.root, attributes={"name": "plain"})
        assert (scene.kind(plain), scene.children(plain)) == ("group", [])


class TestTheRoot:
    def test_stays(self, scene):
        with pytest.raises(PermanentNode):
            scene.remove(scene.root)
        assert scene.root in scene

    def test_has_no_parent_and_gets_none(self, scene, group):
        assert scene.parents(scene.root) == []
        for parent in (group, scene.root):
            with pytest.raises(PermanentNode):
                scene.add_parent(scene.root, parent)


class TestRemovingAParent:
    @pytest.fixture
    def inner(self, scene, group):
        return scene.add_group(parent=group)

    @pytest.fixture
    def named(self, scene, group, inner):
        return {"root": scene.root, "group": group, "inner": inner, "nobody": NOBODY}

    @pytest.mark.parametrize(
        ("node", "parent", "error"),
        [
            ("inner", "root", NotItsParent),
            ("inner", "inner", NotItsParent),
            ("group", "inner", NotItsParent),
            ("root", "root", PermanentNode),
            ("root", "group", PermanentNode),
            ("nobody", "root", UnknownNode),
            ("inner", "nobody", NotItsParent),
        ],
    )
    def test_that_it_has_not_changes_nothing(self, scene, named, node, parent, error):
        before = scene.digest()
        with pytest.raises(error):
            scene.remove_parent(named[node], named[parent])
        assert scene.digest() == before

    def test_named_nil_changes_nothing(self, scene, group):
        with pytest.raises(InvalidArgument, match="names no node"):
            scene.remove_parent(group, NIL)
        assert scene.parents(group) == [scene.root]

    def test_twice_is_refused(self, scene, group, inner):
        scene.add_parent(inner, scene.root)
        scene.remove_parent(inner, group)
        with pytest.raises(NotItsParent):
            scene.remove_parent(inner, group)

    def test_that_was_the_last_takes_the_node_and_what_is_under_it_alone(self, scene, group, inner, leaf):
        scene.remove_parent(group, scene.root)
        assert [node in scene for node in (group, inner, leaf)] == [False, False, False]


class TestOwnership:
    @pytest.fixture
    def groups(self, scene):
        """root over g1 and g2, both over g3."""
        g1, g2 = (scene.add_group(parent=scene.root) for _ in range(2))
        g3 = scene.add_group(parent=g1)
        scene.add_parent(g3, g2)
        return g1, g2, g3

    def test_is_shared(self, scene, groups):
        g1, g2, g3 = groups
        scene.remove(g1)
        assert (g3 in scene, scene.parents(g3)) == (True, [g2])

    def test_ends_with_the_last_owner(self, scene, groups):
        g1, g2, g3 = groups
        scene.remove(g1)
        scene.remove(g2)
        assert g3 not in scene
        assert scene.children(scene.root) == []

    def test_shrinks_the_lists_of_the_parents(self, scene, groups):
        g1, g2, g3 = groups
        scene.remove(g3)
        assert scene.children(g1) == scene.children(g2) == []

    def test_is_never_of_itself(self, scene, groups):
        g1, _, g3 = groups
        with pytest.raises(SceneCycle):
            scene.add_parent(g1, g1)
        with pytest.raises(SceneCycle) as refused:
            scene.add_parent(g1, g3)
        assert refused.value.path == (g3, g1)


class TestRemovingDiffers:
    @pytest.fixture
    def hand(self, house, scene):
        hand = fixed(scene, 1, parent=scene.root)
        house.fix(of="cup", in_frame=scene.frame(hand), transform=shifted(0, 1))
        return hand

    def test_by_refusing_while_others_are_below_s4(self, scene, hand):
        with pytest.raises(FramesHanging, match="'cup'"):
            scene.remove(hand)
        scene.remove(hand, subtree=True)
        assert hand not in scene

    def test_by_naming_who_is_below_s4(self, scene, hand):
        with pytest.raises(FramesHanging) as refused:
            scene.remove(hand)
        assert refused.value.frames == ("cup",)

    def test_by_keeping_the_past_s5(self, scene, clock, group, leaf):
        clock.ns = 1000
        scene.remove(group)
        was = scene.as_of(999)
        assert was.children(was.root) == [group]
        assert was.geometry(leaf) == Sphere(1.0)
