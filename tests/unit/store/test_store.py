"""A store by itself, as a transport, a recorder or a viewer uses it: no World, no Scene, public methods alone."""

import gc
import weakref

import numpy as np
import pytest

from armillary import LATEST, Transform, seconds
from armillary.errors import AmbiguousPath, InvalidArgument, NothingToUndo, WaitTimeout, WorldClosed
from armillary.fusion import answers
from armillary.fusion.policies import latest
from armillary.scene import AddGroup, AddTransform, Fix
from armillary.store import PoseQuery, Query, Settings, Store


def shift(x: float) -> Transform:
    return Transform.from_xyz_rpy(xyz=(x, 0.0, 0.0), rpy=(0.0, 0.0, 0.0))


def named(name: str) -> Store:
    return Store(Settings(name=name, clock=lambda: seconds(9)))


@pytest.fixture
def store():
    store = named("robot")
    yield store
    store.close()


class TestAStore:
    def test_answers_without_a_world(self, store):
        store.fix(of="camera", in_frame="base", transform=shift(0.1))
        for t in (1, 2):
            store.set_pose(of="base", in_frame="map", transform=shift(t), at=seconds(t))
        assert store.pose(of="camera", in_frame="map", at=seconds(1.5)).xyz[0] == pytest.approx(1.6)
        assert [info.kind for info in store.relations()] == ["fixed", "sampled"]

    def test_takes_a_query_whole(self, store):
        store.set_pose(of="base", in_frame="map", transform=shift(1.0), at=seconds(1))
        query = Query(at=seconds(5), outside="hold")
        assert store.snapshot("map", query)["base"].translation[0] == 1.0
        assert query.at_instant(LATEST) == Query(outside="hold")

    def test_applies_all_changes_or_none(self, store):
        before = store.digest()
        with pytest.raises(InvalidArgument):
            store.apply(
                [Fix(of="a", in_frame="b", transform=shift(1.0)), Fix(of="c", in_frame="c", transform=shift(1.0))]
            )
        assert (store.digest(), store.has_frame("a")) == (before, False)

    def test_returns_the_node_that_each_change_is_about(self, store):
        group, cup = store.apply(
            [AddGroup(parent=store.root_frame), AddTransform(parent=store.root_frame, transform=shift(1.0))]
        )
        assert store.view().contains(group)
        assert store.view().kind(cup) == "transform"

    def test_refuses_to_undo_what_is_not_there(self, store):
        with pytest.raises(NothingToUndo):
            store.undo()


class TestReplicas:
    def test_agree_after_exchanging_what_each_lacks(self, store):
        other = named("other")
        store.fix(of="camera", in_frame="base", transform=shift(0.1))
        other.apply([AddGroup(parent=other.root_frame, attributes={"name": "table"})])
        other.merge(store.changes(since=other.version_vector()))
        store.merge(other.changes(since=store.version_vector()))
        assert store.digest() == other.digest()
        assert store.version_vector() == other.version_vector()
        other.close()

    def test_report_what_is_inactive(self, store):
        other = named("other")
        store.fix(of="a", in_frame="b", transform=shift(1.0))
        other.fix(of="b", in_frame="a", transform=shift(1.0))
        store.merge(other.changes())
        assert [type(one.reason).__name__ for one in store.inactive()] == ["FrameLoop"]
        other.close()


class TestACopy:
    def test_is_independent(self, store):
        store.fix(of="camera", in_frame="base", transform=shift(0.1))
        twin = store.copy()
        twin.fix(of="lamp", in_frame="base", transform=shift(0.2))
        assert (store.has_frame("lamp"), twin.has_frame("camera")) == (False, True)
        twin.close()


class TestObservers:
    def test_are_notified_of_every_way_to_change_in_order(self, store):
        batches = []
        store.attach_observer(batches.append)
        store.fix(of="camera", in_frame="base", transform=shift(0.1))
        store.apply([AddGroup(parent=store.root_frame)])
        store.undo()
        assert [type(batch[0]).__name__ for batch in batches] == ["Fix", "AddGroup", "Remove"]
        store.detach_observer(batches.append)
        store.add_frame("later")
        assert len(batches) == 3

    def test_may_hold_a_pending_twist_and_merge(self, store):
        store.attach_observer(lambda batch: None)
        store.set_twist(
            of="wheel", relative_to="base", expressed_in="map", linear=(1, 0, 0), angular=(0, 0, 0), at=0, pending=True
        )
        other = named("other")
        other.fix(of="wheel", in_frame="map", transform=Transform.identity())
        store.merge(other.changes())
        assert store.pending_twists() == ()
        other.close()


class TestPolicies:
    def test_that_are_callables_need_the_layer_that_calls_them(self, store):
        for source in ("left", "right"):
            store.set_pose(of="cup", in_frame="map", transform=shift(1.0), at=1, source=source)
        with pytest.raises(AmbiguousPath):
            store.pose(of="cup", in_frame="map", at=1)
        assert store.pose(of="cup", in_frame="map", at=1, policy="latest").xyz[0] == 1.0
        with pytest.raises(InvalidArgument, match=r"callable"):
            store.pose(of="cup", in_frame="map", at=1, policy=latest)
        store.policy_answers = answers
        assert store.pose(of="cup", in_frame="map", at=1, policy=latest).xyz[0] == 1.0


class TestWaiting:
    def test_ends_with_the_reason(self, store):
        with pytest.raises(WaitTimeout, match="cup"):
            store.wait_for_pose(PoseQuery(of="cup", in_frame="map"), timeout_s=0.0)

    def test_is_refused_once_it_is_closed(self, store):
        store.close()
        store.close()
        with pytest.raises(WorldClosed):
            store.call_when_known(PoseQuery(of="cup", in_frame="map"), print, None, None)


class TestSamples:
    def test_are_read_back_by_relation(self, store):
        store.set_poses(of="base", in_frame="map", transforms=np.array([[1.0, 0, 0, 1, 0, 0, 0]] * 3), at=np.arange(3))
        assert store.samples(of="base", in_frame="map").stamps.tolist() == [0, 1, 2]
        assert store.known_relation("base", "map", None) == store.relation_id("base", "map", "robot")

    def test_have_a_limit_of_their_own(self, store):
        store.set_poses(of="base", in_frame="map", transforms=np.array([[1.0, 0, 0, 1, 0, 0, 0]] * 9), at=np.arange(9))
        store.keep(store.known_relation("base", "map", None), max_samples=2)
        store.set_pose(of="base", in_frame="map", transform=shift(1.0), at=20)
        assert len(store.samples(of="base", in_frame="map")) == 2


class TestTheLifetime:
    def test_ends_with_the_last_reference(self):
        store = named("gone")
        store.apply([AddGroup(parent=store.root_frame)])
        gone = weakref.ref(store)
        gc.disable()
        try:
            del store
            assert gone() is None
        finally:
            gc.enable()
