"""Which observers are notified of what, against the facts of the paper's library about observers and filters."""

import pytest

from armillary.errors import AlreadyItsParent, ArmillaryError, InvalidArgument, NodeExists, NotAGroup, UnknownNode
from armillary.scene import (
    AddConnection,
    AddGeometry,
    AddGroup,
    AddRemoteRoot,
    AddTransform,
    Box,
    NodeId,
    Remove,
    SetTransform,
    Sphere,
)
from armillary.scene.domains import SubgraphChecker
from conformance.scenes import shifted
from conformance.things import RecordedChanges, covariance_of, fixed

SURE = covariance_of(1, 1, 1, 1, 1, 1)
NOBODY = NodeId("11111111-1111-4111-8111-111111111111")

SCRIPT = {
    "AddGroup": 4,
    "AddTransform": 1,
    "AddUncertainTransform": 1,
    "AddGeometry": 1,
    "AddRemoteRoot": 1,
    "AddConnection": 1,
    "SetAttributes": 1,
    "SetTransform": 2,
    "AddParent": 1,
    "RemoveParent": 1,
    "Remove": 1,
}


def play(scene):
    """Everything once or more: three plain nodes, one of them from a map, a group, and one of each other kind."""
    plain = scene.add_group(parent=scene.root, id=NodeId.random())
    scene.add_group(parent=scene.root, id=NodeId.random(), attributes={"osm:way": "12"})
    last = scene.add_group(parent=scene.root, id=NodeId.random())
    group = scene.add_group(parent=scene.root, id=NodeId.random())
    tf = scene.add_transform(parent=group, transform=shifted(1, 2, 3), at=1, id=NodeId.random())
    utf = scene.add_uncertain_transform(
        parent=group, transform=shifted(4, 5, 6), covariance=SURE, at=1, id=NodeId.random()
    )
    scene.add_geometry(parent=tf, shape=Box((1, 2, 3)), id=NodeId.random())
    scene.add_remote_root(NodeId.random())
    scene.add_connection(parent=group, sources=[tf], targets=[utf], id=NodeId.random())
    scene.set_attributes(plain, {"name": "plain"})
    scene.set_transform(tf, shifted(1, 2, 4), at=2)
    scene.set_transform(utf, shifted(4, 5, 7), at=2)
    scene.add_parent(last, group)
    scene.remove_parent(last, scene.root)
    scene.remove(last)


class TestAnObserver:
    def test_is_called_once_for_every_change(self, scene):
        recorded = RecordedChanges(scene)
        play(scene)
        assert recorded.counts() == SCRIPT
        assert recorded.batches == sum(SCRIPT.values())

    def test_is_not_notified_after_it_was_detached(self, scene):
        recorded = RecordedChanges(scene)
        scene.detach(recorded)
        play(scene)
        assert recorded == []

    def test_is_detached_once_o2(self, scene):
        recorded = RecordedChanges(scene)
        scene.detach(recorded)
        with pytest.raises(InvalidArgument, match="is not attached"):
            scene.detach(recorded)

    def test_is_notified_once_of_a_cascade(self, scene):
        top = scene.add_group(parent=scene.root)
        scene.add_group(parent=scene.add_group(parent=top))
        recorded = RecordedChanges(scene)
        scene.remove(top)
        assert [type(change) for change in recorded] == [Remove]


class TestAChangeThatFails:
    """One error each, raised to the caller, and to no observer."""

    @pytest.fixture
    def leaf(self, scene):
        return scene.add_geometry(parent=scene.root, shape=Sphere(1.0))

    @pytest.mark.parametrize(
        ("change", "error"),
        [
            (lambda scene, leaf: scene.add_group(parent=NOBODY), UnknownNode),
            (lambda scene, leaf: scene.add_group(parent=leaf), NotAGroup),
            (lambda scene, leaf: scene.add_group(parent=scene.root, id=leaf), NodeExists),
            (lambda scene, leaf: scene.set_attributes(NOBODY, {"a": 1}), UnknownNode),
            (lambda scene, leaf: scene.remove(NOBODY), UnknownNode),
            (lambda scene, leaf: scene.add_parent(leaf, scene.root), AlreadyItsParent),
        ],
        ids=["parent missing", "parent a leaf", "id exists", "id missing", "remove missing", "parent twice"],
    )
    def test_raises_and_notifies_no_observer_o1_o3(self, house, scene, leaf, change, error):
        reported = []
        house.on_error = reported.append
        recorded = RecordedChanges(scene)
        with pytest.raises(error) as refused:
            change(scene, leaf)
        assert isinstance(refused.value, ArmillaryError)
        assert (recorded, reported) == ([], [])


class Filtered(list):
    """A filter is an observer that asks a question first."""

    def __init__(self, scene, lets_pass) -> None:
        super().__init__()
        scene.attach(lambda batch: self.extend(change for change in batch if lets_pass(change)))


class TestAFilterIsAFunction:
    """The library had a language of constraints for this; here filters are Python functions."""

    def passed(self, scene, lets_pass):
        recorded = Filtered(scene, lets_pass)
        play(scene)
        return recorded

    def test_without_a_condition_passes_all_f1(self, scene):
        assert len(self.passed(scene, lambda _: True)) == sum(SCRIPT.values())

    def test_that_lets_nothing_pass_but_roots_and_removals_f1(self, scene):
        assert len(self.passed(scene, lambda change: isinstance(change, AddRemoteRoot | Remove))) == 2

    @pytest.mark.parametrize(("kind", "left"), [(AddGroup, 11), (AddTransform, 14), (SetTransform, 13)])
    def test_that_lets_one_kind_not_pass_f1(self, scene, kind, left):
        assert len(self.passed(scene, lambda change: not isinstance(change, kind))) == left

    def test_by_context_drops_what_is_tagged_f1(self, scene):
        def is_foreign(change):
            return any(key.startswith("osm:") for key in getattr(change, "attributes", None) or {})

        assert len(self.passed(scene, lambda change: not is_foreign(change))) == sum(SCRIPT.values()) - 1

    @pytest.mark.parametrize(("least", "boxes"), [(0.1, 1), (1.0, 0)])
    def test_by_level_of_detail_f1(self, scene, least, boxes):
        """Three numbers for 1 x 2 x 3 cubic metres: 0.5 a cubic metre."""

        def is_fine(change):
            return isinstance(change, AddGeometry) and 3.0 / float(_volume(change.shape)) > least

        assert len(self.passed(scene, is_fine)) == boxes

    @pytest.mark.parametrize(("within_m", "known"), [(10.0, 2), (5.0, 1), (1.0, 0)])
    def test_by_distance_f1(self, house, scene, within_m, known):
        def is_near(change):
            if not isinstance(change, SetTransform):
                return False
            position = house.pose(of=scene.frame(change.id), in_frame="map", at=change.at).transform.translation
            return float((position @ position) ** 0.5) < within_m

        assert len(self.passed(scene, is_near)) == known

    def test_by_containment_f1(self, scene):
        def is_below_the_last_child(change):
            if not isinstance(change, AddConnection):
                return False
            group = scene.children(scene.root)[-1]
            return scene.traverse(SubgraphChecker(group), under=change.id).is_contained

        assert len(self.passed(scene, is_below_the_last_child)) == 1


def _volume(box):
    low, high = box.bounding_box().low, box.bounding_box().high
    return (high[0] - low[0]) * (high[1] - low[1]) * (high[2] - low[2])


class TestChainedObservers:
    def test_are_notified_of_what_observers_change(self, scene):
        """A mounter: every root of others is put into ours as soon as it comes."""

        def mount(batch):
            for change in batch:
                if isinstance(change, AddRemoteRoot):
                    scene.add_parent(change.id, scene.root)

        scene.attach(mount)
        recorded = RecordedChanges(scene)
        remote = scene.add_remote_root(NodeId.random())
        far = fixed(scene, 1, parent=remote, attributes={"name": "far"})
        assert recorded.counts() == {"AddRemoteRoot": 1, "AddParent": 1, "AddTransform": 1}
        assert scene.find({"name": "far"}) == [far]
