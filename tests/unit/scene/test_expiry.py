"""Expiry: what is older than a sliding window is removed from the scene."""

from __future__ import annotations

import numpy as np
import pytest

from armillary import Box, World, seconds
from armillary.errors import InvalidArgument, UnknownNode
from armillary.scene import NodeId, Remove, RemoveParent
from unit.kit import STILL, FakeClock, moved

BOX = Box((1, 1, 1))


@pytest.fixture
def clock():
    return FakeClock(0)


@pytest.fixture
def scene(clock):
    return World(clock=clock).scene


class TestExpiringOnce:
    def test_takes_out_old_shapes(self, scene, clock):
        old, young = (scene.add_geometry(parent=scene.root, shape=BOX, at=seconds(s)) for s in (0, 4))
        clock.ns = seconds(6)
        assert scene.expire(older_than=seconds(5)) == [old]
        assert old not in scene
        assert young in scene

    def test_keeps_what_is_exactly_as_old(self, scene, clock):
        shape = scene.add_geometry(parent=scene.root, shape=BOX, at=0)
        clock.ns = seconds(5)
        assert scene.expire(older_than=seconds(5)) == []
        clock.ns += 1
        assert scene.expire(older_than=seconds(5)) == [shape]

    def test_counts_the_newest_sample_of_a_transform(self, scene, clock):
        node = scene.add_transform(parent=scene.root, transform=STILL, at=0)
        scene.set_transform(node, STILL, at=seconds(3))
        clock.ns = seconds(7)
        assert scene.expire(older_than=seconds(5)) == []
        clock.ns = seconds(9)
        assert scene.expire(older_than=seconds(5)) == [node]

    def test_counts_nanoseconds_of_the_worlds_clock(self, scene, clock):
        """The old library took milliseconds for seconds, so that every transform was outdated at once."""
        clock.ns = 1_700_000_000 * 10**9
        node = scene.add_transform(parent=scene.root, transform=STILL)
        clock.ns += seconds(4.9)
        assert scene.expire(older_than=seconds(5)) == []
        assert node in scene

    def test_spares_what_is_fixed_or_static(self, scene, clock):
        fixed = scene.add_transform(parent=scene.root, transform=STILL, at=None)
        static = scene.add_transform(parent=scene.root, transform=STILL, attributes={"transformType": "static"})
        clock.ns = seconds(100)
        assert scene.expire(older_than=seconds(5)) == []
        assert fixed in scene
        assert static in scene

    def test_spares_what_has_always_looked_so(self, scene, clock):
        table = scene.add_transform(parent=scene.root, transform=STILL, at=None)
        top, cloud = (scene.add_geometry(parent=table, shape=BOX, at=at) for at in (None, seconds(1)))
        clock.ns = seconds(100)
        assert scene.expire(older_than=seconds(5)) == [cloud]
        assert top in scene.as_of(-seconds(5))
        again = scene.add_geometry(parent=table, shape=BOX, at=None, id=cloud)
        clock.ns = seconds(200)
        assert scene.expire(older_than=seconds(5)) == []
        assert again in scene

    def test_counts_who_else_sees_a_thing(self, scene, clock):
        world, cup = scene.store, scene.add_transform(parent=scene.root, transform=STILL)
        world.set_pose(of=scene.frame(cup), in_frame="map", transform=STILL, at=seconds(6), source="camera")
        clock.ns = seconds(10)
        assert scene.expire(older_than=seconds(5)) == []
        clock.ns = seconds(12)
        assert scene.expire(older_than=seconds(5)) == [cup]

    def test_takes_static_things_along_with_what_they_are_in(self, scene, clock):
        cup = scene.add_transform(parent=scene.root, transform=STILL)
        grasp = scene.add_transform(parent=cup, transform=moved(1), at=None)
        clock.ns = seconds(10)
        assert scene.expire(older_than=seconds(5)) == [cup]
        assert grasp not in scene

    def test_keeps_a_thing_while_something_in_it_is_young(self, scene, clock):
        tray = scene.add_transform(parent=scene.root, transform=STILL, at=0)
        scene.add_geometry(parent=tray, shape=BOX, at=seconds(8))
        clock.ns = seconds(10)
        assert scene.expire(older_than=seconds(5)) == []

    def test_keeps_groups(self, scene, clock):
        group = scene.add_group(parent=scene.root)
        scene.add_geometry(parent=group, shape=BOX)
        clock.ns = seconds(10)
        scene.expire(older_than=seconds(5))
        assert scene.children(group) == []

    def test_can_be_about_one_kind(self, scene, clock):
        cup = scene.add_transform(parent=scene.root, transform=STILL)
        shape = scene.add_geometry(parent=scene.root, shape=BOX)
        clock.ns = seconds(10)
        assert scene.expire(older_than=seconds(5), kinds=["transform"]) == [cup]
        assert shape in scene

    def test_counts_a_transform_without_samples_from_its_beginning(self, scene, clock):
        cup = scene.add_transform(parent=scene.root, transform=STILL, at=seconds(1))
        scene.store.clear()
        clock.ns = seconds(10)
        assert scene.expire(older_than=seconds(5)) == [cup]

    def test_leaves_nodes_with_frames_of_others_below(self, scene, clock):
        used, other = (scene.add_transform(parent=scene.root, transform=STILL) for _ in range(2))
        scene.store.fix(of="tool", in_frame=scene.frame(used), transform=STILL)
        clock.ns = seconds(10)
        assert scene.expire(older_than=seconds(5)) == [other]
        assert used in scene

    @pytest.mark.parametrize("wrong", [5.0, -1, True, "5 s", None, float("nan"), np.array([5])])
    def test_refuses_what_is_no_duration(self, scene, wrong):
        with pytest.raises(InvalidArgument, match=r"seconds\(5\)"):
            scene.expire(older_than=wrong)

    @pytest.mark.parametrize("kinds", [["group"], [["geometry"]], [], None, 3])
    def test_refuses_kinds_that_do_not_age(self, scene, kinds):
        with pytest.raises(InvalidArgument, match="kinds"):
            scene.expire(older_than=1, kinds=kinds)


class TestAWindowOverASubgraph:
    def test_leaves_the_rest_alone(self, scene, clock):
        inside, outside = (scene.add_group(parent=scene.root) for _ in range(2))
        old = scene.add_geometry(parent=inside, shape=BOX)
        kept = scene.add_geometry(parent=outside, shape=BOX)
        clock.ns = seconds(10)
        assert scene.expire(older_than=seconds(5), under=inside) == [old]
        assert kept in scene

    def test_takes_a_node_out_of_the_window_and_not_of_the_world(self, scene, clock):
        inside, outside = (scene.add_group(parent=scene.root) for _ in range(2))
        node = scene.add_geometry(parent=inside, shape=BOX)
        scene.add_parent(node, outside)
        clock.ns = seconds(10)
        scene.expire(older_than=seconds(5), under=inside)
        assert scene.parents(node) == [outside]

    def test_may_be_over_the_root_of_others(self, scene, clock):
        far = scene.add_remote_root(NodeId.random())
        shape = scene.add_geometry(parent=far, shape=BOX)
        clock.ns = seconds(10)
        assert scene.expire(older_than=seconds(5), under=far) == [shape]
        assert far in scene

    @pytest.mark.parametrize("how", ["expire", "expire_always"])
    def test_is_over_something(self, scene, how):
        with pytest.raises(UnknownNode):
            getattr(scene, how)(older_than=seconds(5), under=NodeId.random())


class TestAStandingRule:
    def test_is_kept_to_after_every_change(self, scene, clock):
        scene.expire_always(older_than=seconds(5))
        old = scene.add_geometry(parent=scene.root, shape=BOX)
        clock.ns = seconds(6)
        scene.add_group(parent=scene.root)
        assert old not in scene

    def test_is_kept_to_when_asked(self, scene, clock):
        scene.expire_always(older_than=seconds(5))
        old = scene.add_geometry(parent=scene.root, shape=BOX)
        clock.ns = seconds(6)
        assert scene.expire_now() == [old]

    def test_sees_data_that_come_late(self, scene, clock):
        clock.ns = seconds(10)
        scene.expire_always(older_than=seconds(5))
        scene.add_group(parent=scene.root)
        late = scene.add_geometry(parent=scene.root, shape=BOX, at=seconds(1))
        assert late not in scene

    def test_sees_what_is_moved_into_the_window(self, scene, clock):
        inside, outside = (scene.add_group(parent=scene.root) for _ in range(2))
        node = scene.add_geometry(parent=outside, shape=BOX)
        clock.ns = seconds(10)
        scene.expire_always(older_than=seconds(5), under=inside)
        scene.add_parent(node, inside)
        assert scene.parents(node) == [outside]

    def test_sees_what_is_static_no_more(self, scene, clock):
        scene.expire_always(older_than=seconds(5))
        cup = scene.add_transform(parent=scene.root, transform=STILL, attributes={"transformType": "static"})
        clock.ns = seconds(10)
        scene.set_attributes(cup, {"transformType": None})
        assert cup not in scene

    @pytest.mark.parametrize("take_out", ["remove", "apply"])
    def test_sees_what_has_nothing_young_in_it_any_more(self, scene, clock, take_out):
        tray = scene.add_transform(parent=scene.root, transform=STILL)
        clock.ns = seconds(4)
        cup = scene.add_geometry(parent=scene.add_group(parent=tray), shape=BOX)
        scene.expire_always(older_than=seconds(5))
        clock.ns = seconds(8)
        assert scene.expire_now() == []
        scene.remove(cup) if take_out == "remove" else scene.apply([Remove(cup)])
        assert tray not in scene

    def test_sees_what_has_left_the_longer_window(self, scene, clock):
        longer = scene.add_group(parent=scene.root)
        shorter = scene.add_group(parent=longer)
        scene.add_parent(shorter, scene.root)
        shape = scene.add_geometry(parent=shorter, shape=BOX)
        scene.expire_always(older_than=seconds(100), under=longer)
        scene.expire_always(older_than=seconds(2), under=shorter)
        clock.ns = seconds(10)
        assert scene.expire_now() == []
        scene.remove(longer)
        assert shape not in scene

    def test_sees_what_undo_and_redo_bring_back(self, scene, clock):
        shape = scene.add_geometry(parent=scene.root, shape=BOX)
        scene.remove(shape)
        scene.expire_always(older_than=seconds(5))
        clock.ns = seconds(10)
        scene.expire_now()
        scene.undo()
        assert shape not in scene

    def test_looks_again_at_nodes_that_had_frames_of_others_below(self, clock):
        with World(clock=clock) as world:
            scene = world.scene
            cup = scene.add_transform(parent=scene.root, transform=STILL)
            world.fix(of="lid", in_frame=scene.frame(cup), transform=STILL)
            scene.expire_always(older_than=seconds(5))
            clock.ns = seconds(6)
            assert scene.expire_now() == []
            world.remove_frame("lid")
            clock.ns = seconds(12)
            scene.add_group(parent=scene.root)
            assert cup not in scene

    def test_ends_when_cancelled(self, scene, clock):
        rule = scene.expire_always(older_than=seconds(5))
        shape = scene.add_geometry(parent=scene.root, shape=BOX)
        rule.cancel()
        rule.cancel()
        clock.ns = seconds(10)
        assert scene.expire_now() == []
        assert shape in scene

    def test_outlives_its_node(self, scene, clock):
        group = scene.add_group(parent=scene.root)
        scene.expire_always(older_than=seconds(5), under=group)
        scene.remove(group)
        clock.ns = seconds(10)
        assert scene.expire_now() == []

    def test_notifies_observers(self, scene, clock):
        batches = []
        scene.expire_always(older_than=seconds(5))
        group = scene.add_group(parent=scene.root)
        cup = scene.add_transform(parent=group, transform=STILL)
        scene.add_geometry(parent=cup, shape=BOX)
        scene.attach(batches.append)
        clock.ns = seconds(6)
        scene.expire_now()
        assert batches == [(Remove(cup, at=seconds(6)),)]


class TestANodeInTwoWindows:
    @pytest.fixture
    def node(self, scene):
        short, long = (scene.add_group(parent=scene.root) for _ in range(2))
        node = scene.add_geometry(parent=short, shape=BOX)
        scene.add_parent(node, long)
        scene.expire_always(older_than=seconds(2), under=short)
        scene.expire_always(older_than=seconds(10), under=long)
        return node

    def test_is_kept_as_long_as_the_longer(self, scene, clock, node):
        clock.ns = seconds(9)
        scene.expire_now()
        assert node in scene
        clock.ns = seconds(11)
        scene.expire_now()
        assert node not in scene

    def test_leaves_the_shorter_when_that_is_over(self, scene, clock, node):
        notified = []
        short = scene.parents(node)[0]
        scene.attach(notified.append)
        clock.ns = seconds(3)
        scene.expire_now()
        assert notified == [(RemoveParent(node, short, at=seconds(3)),)]

    def test_one_in_the_other_is_kept_as_long_as_the_longer(self, scene, clock):
        group = scene.add_group(parent=scene.root)
        node = scene.add_geometry(parent=group, shape=BOX)
        scene.expire_always(older_than=seconds(2), under=group)
        scene.expire_always(older_than=seconds(10))
        clock.ns = seconds(9)
        scene.expire_now()
        assert scene.parents(node) == [group]


class InterruptedClock(FakeClock):
    """Does something when it is asked the next time, as another thread may."""

    meanwhile = None

    def __call__(self):
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile is not None:
            meanwhile()
        return super().__call__()


class TestWhatOthersTakeOutMeanwhile:
    @pytest.fixture
    def clock(self):
        return InterruptedClock(0)

    @pytest.fixture
    def shared(self, scene):
        """One shape in two groups, of which the first is the window; and one in that alone."""
        groups = [scene.add_group(parent=scene.root) for _ in range(2)]
        both, only = (scene.add_geometry(parent=groups[0], shape=BOX) for _ in range(2))
        scene.add_parent(both, groups[1])
        return groups[0], both, only

    def test_is_theirs(self, scene, clock, shared):
        window, both, only = shared
        clock.ns = seconds(10)
        clock.meanwhile = lambda: scene.remove(only, at=seconds(1))
        assert scene.expire(older_than=seconds(5), under=window) == [both]

    def test_may_be_one_of_several_parents(self, scene, clock, shared):
        window, both, only = shared
        clock.ns = seconds(10)
        clock.meanwhile = lambda: scene.remove_parent(both, window, at=seconds(1))
        assert scene.expire(older_than=seconds(5), under=window) == [only]


class TestUndoAfterARuleRemovedSomething:
    def test_reverts_what_was_asked_for(self, scene, clock):
        """What an expiry rule removes is no change to undo."""
        clock.ns = seconds(1)
        scene.expire_always(older_than=seconds(5))
        old = scene.add_transform(parent=scene.root, transform=STILL)
        clock.ns = seconds(20)
        new = scene.add_group(parent=scene.root)
        assert old not in scene
        scene.undo()
        assert (old in scene, new in scene) == (False, False)
