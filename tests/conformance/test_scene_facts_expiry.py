"""What is old leaves the scene, held against the facts of the paper's library about its deleter of outdated data."""

import pytest

from armillary import seconds
from armillary.scene import Sphere
from conformance.scenes import shifted
from conformance.things import RecordedChanges, fixed, sampled


@pytest.fixture
def shared(scene):
    """Two transforms, one of which has a younger sample, over one group."""
    old, young = sampled(scene, 0), sampled(scene, 0, 8)
    child = scene.add_group(parent=old)
    scene.add_parent(child, young)
    return old, young, child


class TestTheDeleter:
    def test_leaves_a_shared_child_to_its_other_parent(self, scene, clock, shared):
        old, young, child = shared
        clock.ns = seconds(10)
        assert scene.expire(older_than=seconds(5)) == [old]
        assert scene.parents(child) == [young]

    def test_takes_the_child_with_its_last_parent(self, scene, clock, shared):
        clock.ns = seconds(100)
        scene.expire(older_than=seconds(5))
        assert [node in scene for node in shared] == [False, False, False]

    def test_spares_what_is_static(self, scene, clock):
        tagged = {"transformType": "static"}
        spared = [
            fixed(scene, 1, parent=scene.root),
            scene.add_transform(parent=scene.root, transform=shifted(), at=0, attributes=tagged),
        ]
        clock.ns = seconds(100)
        assert scene.expire(older_than=seconds(5)) == []
        assert all(node in scene for node in spared)

    def test_notifies_observers(self, scene, clock):
        sampled(scene, 0)
        recorded = RecordedChanges(scene)
        clock.ns = seconds(100)
        scene.expire(older_than=seconds(5))
        assert recorded.counts() == {"Remove": 1}

    def test_can_be_asked_for_one_kind_alone(self, scene, clock):
        node = sampled(scene, 0)
        cloud = scene.add_geometry(parent=scene.root, shape=Sphere(1.0), at=0)
        clock.ns = seconds(6)
        assert scene.expire(older_than=seconds(5), kinds=("geometry",)) == [cloud]
        assert node in scene


class TestTheDeleterDiffers:
    def test_by_age_and_not_by_the_number_of_samples_e1(self, scene, clock):
        lone = sampled(scene, 0)
        clock.ns = seconds(5)
        assert scene.expire(older_than=seconds(5)) == []
        assert lone in scene

    @pytest.mark.parametrize("age_s", [1, 5, 3600])
    def test_by_any_age_for_shapes_e2(self, scene, clock, age_s):
        cloud = scene.add_geometry(parent=scene.root, shape=Sphere(1.0), at=0)
        clock.ns = seconds(age_s)
        assert scene.expire(older_than=seconds(age_s)) == []
        clock.ns += 1
        assert scene.expire(older_than=seconds(age_s)) == [cloud]
