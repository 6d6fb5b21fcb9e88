"""Traversals of a scene."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from armillary import World
from armillary.errors import InvalidArgument, UnknownNode
from armillary.scene import Visitor, Walk
from unit.kit import moved
from unit.scene.scene_kit import two_ways


class Steps(Visitor):
    """What happened, in order."""

    def __init__(self, *, stop_at=(), skip_at=()):
        self.entered, self.left, self.paths = [], [], []
        self._stop_at, self._skip_at = stop_at, skip_at

    def visit(self, node):
        self.entered.append(node.id)
        self.paths.append(node.path)
        if node.id in self._stop_at:
            return Walk.STOP
        return Walk.SKIP if node.id in self._skip_at else None

    def leave(self, node):
        self.left.append(node.id)


class TestWalkingDown:
    def test_visits_each_node_once_before_what_is_in_it(self):
        seen = two_ways()
        walk = seen.scene.traverse(Steps())
        assert walk.entered == [seen.scene.root, seen.tf1, seen.utf3, seen.n5, seen.utf2, seen.g4]

    def test_visits_a_shared_node_once_for_each_path(self):
        seen = two_ways()
        walk = seen.scene.traverse(Steps(), once="path")
        assert walk.entered == [seen.scene.root, seen.tf1, seen.utf3, seen.n5, seen.utf2, seen.g4, seen.n5]

    def test_leaves_each_node_after_what_is_in_it(self):
        seen = two_ways()
        walk = seen.scene.traverse(Steps())
        assert walk.left == [seen.n5, seen.utf3, seen.tf1, seen.g4, seen.utf2, seen.scene.root]

    def test_has_the_path_to_each_node(self):
        seen = two_ways()
        walk = seen.scene.traverse(Steps(), once="path")
        assert walk.paths[3] == (seen.scene.root, seen.tf1, seen.utf3)
        assert walk.paths[6] == (seen.scene.root, seen.utf2, seen.g4)

    def test_begins_at_the_given_node(self):
        seen = two_ways()
        assert seen.scene.traverse(Steps(), under=seen.utf2).entered == [seen.utf2, seen.g4, seen.n5]

    def test_is_not_bounded_by_the_stack(self):
        scene = World().scene
        node = scene.root
        for _ in range(3000):
            node = scene.add_group(parent=node)
        assert len(scene.traverse(Steps()).entered) == 3001


class TestWalkingUp:
    def test_reaches_every_parent(self):
        seen = two_ways()
        walk = seen.scene.traverse(Steps(), under=seen.n5, direction="up")
        assert walk.entered == [seen.n5, seen.utf3, seen.tf1, seen.scene.root, seen.g4, seen.utf2]

    def test_goes_every_path_if_asked(self):
        seen = two_ways()
        walk = seen.scene.traverse(Steps(), under=seen.n5, direction="up", once="path")
        assert walk.entered.count(seen.scene.root) == 2


class TestAnswering:
    def test_stop_ends_the_walk_and_leaves_what_was_entered(self):
        seen = two_ways()
        walk = seen.scene.traverse(Steps(stop_at={seen.utf3}))
        assert walk.entered == [seen.scene.root, seen.tf1, seen.utf3]
        assert walk.left == [seen.utf3, seen.tf1, seen.scene.root]

    def test_skip_does_not_go_beyond(self):
        seen = two_ways()
        assert seen.scene.traverse(Steps(skip_at={seen.tf1})).entered == [
            seen.scene.root, seen.tf1, seen.utf2, seen.g4, seen.n5,
        ]  # fmt: skip

    def test_anything_else_is_refused(self):
        with pytest.raises(InvalidArgument, match=r"Walk\.STOP"):
            two_ways().scene.traverse(lambda node: node.kind)


class TestAVisitor:
    def test_may_be_a_callable(self):
        kinds = []
        two_ways().scene.traverse(lambda node: kinds.append(node.kind))
        assert kinds == ["group", "transform", "uncertain_transform", "geometry", "uncertain_transform", "group"]

    def test_has_a_method_for_each_kind(self):
        class Kinds(Visitor):
            def __init__(self):
                self.seen = []

            def visit_transform(self, node):
                self.seen.append("transform")

            def visit_geometry(self, node):
                self.seen.append("geometry")

        assert two_ways().scene.traverse(Kinds()).seen == ["transform", "transform", "geometry", "transform"]

    def test_is_shown_connections_and_frames_like_every_kind(self):
        class Kinds(Visitor):
            def __init__(self):
                self.seen = []

            def visit_connection(self, node):
                self.seen.append(("connection", node.id))

            def visit_frame(self, node):
                self.seen.append(("frame", node.id))

        seen = two_ways()
        tie = seen.scene.add_connection(parent=seen.g4, sources=[seen.tf1], targets=[seen.n5])
        seen.world.add_frame("door")
        seen.scene.set_attributes("door", {"open": True})
        assert seen.scene.traverse(Kinds()).seen == [("connection", tie), ("frame", seen.scene.node("door"))]
        assert len(seen.scene.traverse(Steps()).entered) == 8

    @pytest.mark.parametrize("given", [3, "visitor", None, SimpleNamespace(visit=print)])
    def test_that_is_none_is_refused(self, given):
        with pytest.raises(InvalidArgument, match=r"is no visitor\. .*a subclass of Visitor .*`visit\(self, node\)`"):
            two_ways().scene.traverse(given)

    def test_that_is_a_class_is_refused_with_the_way_to_make_one(self):
        with pytest.raises(InvalidArgument, match=r"Steps\(\.\.\.\)"):
            two_ways().scene.traverse(Steps)

    @pytest.mark.parametrize("how", [{"direction": "sideways"}, {"once": "twice"}, {"direction": ""}, {"once": 0}])
    def test_is_not_led_in_other_ways(self, how):
        with pytest.raises(InvalidArgument, match="' or '"):
            two_ways().scene.traverse(Steps(), **how)

    def test_cannot_begin_nowhere(self):
        seen = two_ways()
        seen.scene.remove(seen.n5)
        with pytest.raises(UnknownNode):
            seen.scene.traverse(Steps(), under=seen.n5)


class TestAVisitedNode:
    def test_is_shown_and_compared_however_deep_it_is(self):
        with World() as world:
            node = world.scene.root
            for _ in range(2000):
                node = world.scene.add_group(parent=node)
            once, again = [], []
            world.scene.traverse(once.append)
            world.scene.traverse(again.append)
            assert repr(once[-1]) == f"VisitedNode(group {str(node)[:8]})"
            assert len({once[-1], again[-1]}) == 2
            assert once[-1] != again[-1]


class TestOneVersion:
    def test_is_seen_by_the_whole_walk(self):
        seen = two_ways()
        entered = []

        def enter(node):
            entered.append(node.id)
            if node.id == seen.tf1:
                seen.scene.remove(seen.g4)
                seen.scene.add_transform(parent=seen.scene.root, transform=moved())

        seen.scene.traverse(enter)
        assert entered == [seen.scene.root, seen.tf1, seen.utf3, seen.n5, seen.utf2, seen.g4]

    def test_may_be_one_of_the_past(self):
        seen = two_ways()
        seen.scene.remove(seen.utf2, at=5_000_000_000)
        assert seen.utf2 not in seen.scene.traverse(Steps()).entered
        assert seen.utf2 in seen.scene.as_of(4_000_000_000).traverse(Steps()).entered
