"""What differs between two scenes, as objects and as text: between worlds, files and instants."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from armillary import Box, Sphere, Transform, World, seconds
from armillary.errors import InvalidArgument
from armillary.scene import NodeId
from unit.kit import FakeClock, moved

STILL = Transform.identity()


@pytest.fixture
def clock():
    return FakeClock(seconds(1))


@pytest.fixture
def cup(scene):
    return scene.add_transform(
        parent=scene.root, transform=moved(1.0), at=seconds(1), attributes={"name": "cup", "full": True}
    )


@pytest.fixture
def before(world, cup):
    with world.copy() as twin:
        yield twin.scene


class TestEqualScenes:
    def test_do_not_differ(self, world, scene, before):
        found = before.difference(scene)
        assert not found
        assert found == []
        assert len(found) == 0
        assert str(found) == "no difference"
        assert before.difference(world) == []

    def test_of_other_worlds_that_merged_do_not_differ(self, world, scene, cup):
        with World("other", clock=world.now) as other:
            other.merge(scene.changes())
            assert other.scene.difference(scene) == []


class TestMotion:
    def test_of_eight_metres_is_seen(self, scene, before, cup):
        scene.set_transform(cup, moved(9.0), at=seconds(2))
        (move,) = before.difference(scene).moved
        assert (move.thing, move.name, move.in_frame) == (cup, "cup", "map")
        assert move.distance_m == pytest.approx(8.0)
        assert move.angle_rad == 0.0
        assert move.before.translation.tolist() == [1.0, 0.0, 0.0]
        assert move.after.translation.tolist() == [9.0, 0.0, 0.0]
        assert before.difference(scene) == [cup]
        assert "cup: moved 8 m" in str(before.difference(scene))

    def test_by_another_source_is_seen(self, world, scene, before, cup):
        world.set_pose(of=cup, in_frame="map", transform=moved(4.0), at=seconds(5), source="camera")
        (move,) = before.difference(scene).moved
        assert move.distance_m == pytest.approx(3.0)

    def test_of_a_turn_is_an_angle(self, scene, before, cup):
        scene.set_transform(cup, Transform.from_xyz_rpy(xyz=(1, 0, 0), rpy=(0, 0, math.pi)), at=seconds(2))
        (move,) = before.difference(scene).moved
        assert move.distance_m == pytest.approx(0.0)
        assert move.angle_rad == pytest.approx(math.pi)
        assert "turned 180 deg" in str(move)

    @pytest.mark.parametrize(("metres", "seen"), [(0.0009, False), (0.0011, True)])
    def test_within_the_tolerance_is_none(self, scene, before, cup, metres, seen):
        scene.set_transform(cup, moved(1.0 + metres), at=seconds(2))
        assert bool(before.difference(scene)) is seen
        assert not before.difference(scene, tolerance_m=0.01)
        assert before.difference(scene, tolerance_m=0.0)

    def test_of_a_frame_that_is_no_node_is_seen(self, world, scene, cup):
        world.set_pose(of="robot", in_frame="map", transform=moved(0.0), at=seconds(1))
        world.fix(of="camera", in_frame="robot", transform=moved(0.0, 0.0, 1.0))
        with world.copy() as past:
            world.set_pose(of="robot", in_frame="map", transform=moved(2.0), at=seconds(2))
            found = past.scene.difference(scene)
        by_thing = {move.thing: move for move in found.moved}
        assert set(by_thing) == {"robot", "camera"}
        assert by_thing["robot"].carried_by is None
        assert by_thing["camera"].carried_by == "robot"
        assert "moved with these: camera" in str(found)

    def test_in_a_tree_without_the_root_is_seen(self, world, scene):
        world.set_pose(of="base", in_frame="odom", transform=moved(0.0), at=seconds(1))
        with world.copy() as past:
            world.set_pose(of="base", in_frame="odom", transform=moved(2.0), at=seconds(2))
            (move,) = past.scene.difference(scene).moved
        assert (move.thing, move.in_frame, move.distance_m) == ("base", "odom", pytest.approx(2.0))

    def test_to_nowhere_is_said(self, world, scene, before, cup):
        world.store.clear_node_samples(cup)
        (move,) = before.difference(scene).moved
        assert move.after is None
        assert move.distance_m is None
        assert "no longer known" in str(move)

    @pytest.mark.parametrize("seed", range(10))
    def test_is_what_plain_arithmetic_gives(self, seed, clock):
        numbers = np.random.default_rng(seed)
        one, other = World("one", clock=clock), World("one", clock=clock)
        ids = [NodeId.of_name("test", str(i)) for i in range(8)]
        poses = {world: [_random_pose(numbers) for _ in ids] for world in (one, other)}
        poses[other][0] = poses[one][0]
        for world in (one, other):
            for node, pose in zip(ids, poses[world], strict=True):
                world.scene.add_transform(parent="map", transform=Transform.from_matrix(pose), at=0, id=node)
        found = {move.thing: move for move in one.scene.difference(other).moved}
        assert set(found) == set(ids[1:])
        for i, node in enumerate(ids[1:], start=1):
            a, b = poses[one][i], poses[other][i]
            angle = math.acos(max(-1.0, min(1.0, (np.trace(a[:3, :3].T @ b[:3, :3]) - 1.0) / 2.0)))
            assert found[node].distance_m == pytest.approx(np.linalg.norm(a[:3, 3] - b[:3, 3]))
            assert found[node].angle_rad == pytest.approx(angle, abs=1e-6)


def _random_pose(numbers):
    axes, _ = np.linalg.qr(numbers.normal(size=(3, 3)))
    pose = np.eye(4)
    pose[:3, :3] = axes * np.sign(np.linalg.det(axes))
    pose[:3, 3] = numbers.normal(size=3)
    return pose


class TestStructure:
    def test_that_is_new_is_added(self, scene, before):
        plate = scene.add_group(parent=scene.root, attributes={"name": "plate"})
        found = before.difference(scene)
        assert [(entry.thing, entry.name, entry.kind) for entry in found.added] == [(plate, "plate", "group")]
        assert str(found) == "+ plate  [group]"
        assert [entry.thing for entry in scene.difference(before).removed] == [plate]

    def test_that_is_gone_is_removed(self, scene, before, cup):
        scene.remove(cup)
        found = before.difference(scene)
        assert [(entry.thing, entry.name) for entry in found.removed] == [(cup, "cup")]
        assert "- cup  [transform]" in str(found)

    def test_of_attributes_has_both_values(self, scene, before, cup):
        scene.set_attributes(cup, {"full": None, "mass_kg": 0.3})
        found = before.difference(scene)
        changed = [(entry.key, entry.before, entry.after) for entry in found.attributes]
        assert changed == [("full", True, None), ("mass_kg", None, 0.3)]
        assert "cup: mass_kg (none) -> 0.3" in str(found)

    def test_of_containment_has_names(self, scene, before, cup):
        shelf = scene.add_transform(parent=scene.root, transform=STILL, at=None, frame="shelf")
        scene.add_parent(cup, shelf)
        (entry,) = before.difference(scene).containment
        assert (entry.before, entry.after) == (("map",), ("map", "shelf"))

    def test_of_shapes_is_seen(self, world, scene):
        node = NodeId.of_name("test", "box")
        scene.add_geometry(parent=scene.root, shape=Box((1, 1, 1)), id=node, at=None)
        with World("other", clock=world.now) as other:
            other.scene.add_geometry(parent=other.scene.root, shape=Sphere(1.0), id=node, at=None)
            (entry,) = scene.difference(other).geometry
        assert (entry.before, entry.after) == (Box((1, 1, 1)), Sphere(1.0))

    def test_of_an_id_that_means_another_thing_is_both(self, world, scene):
        node = NodeId.of_name("test", "box")
        scene.add_group(parent=scene.root, id=node)
        with World("other", clock=world.now) as other:
            other.scene.add_transform(parent=other.scene.root, transform=STILL, id=node, at=None)
            found = scene.difference(other)
        assert [entry.kind for entry in found.removed] == ["group"]
        assert [entry.kind for entry in found.added] == ["transform"]

    def test_of_frames_has_their_names(self, world, scene, before):
        world.add_frame("lamp")
        assert [(entry.thing, entry.kind) for entry in before.difference(scene).added] == [("lamp", "frame")]

    def test_of_one_thing_can_be_asked_for(self, scene, before, cup):
        scene.set_attributes(cup, {"full": False})
        scene.set_transform(cup, moved(3.0), at=seconds(2))
        assert [type(entry).__name__ for entry in before.difference(scene).of(cup)] == ["Moved", "AttributeChanged"]


class TestInstants:
    def test_of_one_scene_are_compared(self, scene, clock, cup):
        clock.ns = seconds(5)
        scene.set_transform(cup, moved(3.0), at=seconds(3))
        scene.set_attributes(cup, {"full": False})
        plate = scene.add_transform(parent=scene.root, transform=STILL, at=seconds(5))
        found = scene.as_of(seconds(1)).difference(scene.as_of(seconds(5)))
        assert [entry.thing for entry in found.added] == [plate]
        assert [entry.distance_m for entry in found.moved] == [pytest.approx(2.0)]
        assert [entry.key for entry in found.attributes] == ["full"]
        assert scene.difference(scene.as_of(seconds(1)), scene.as_of(seconds(5))).as_fields() == found.as_fields()
        assert scene.as_of(seconds(5)).difference(scene) == []

    def test_between_samples_are_interpolated(self, scene, clock, cup):
        clock.ns = seconds(5)
        scene.set_transform(cup, moved(3.0), at=seconds(3))
        (move,) = scene.as_of(seconds(1)).difference(scene.as_of(seconds(2))).moved
        assert move.distance_m == pytest.approx(1.0)


class TestFiles:
    def test_are_compared_by_their_paths(self, world, scene, cup, tmp_path):
        first, second = tmp_path / "a.json", str(tmp_path / "b.json")
        world.save(first)
        scene.set_transform(cup, moved(9.0), at=seconds(2))
        world.save(second)
        (move,) = scene.difference(first, second).moved
        assert move.distance_m == pytest.approx(8.0)
        assert scene.difference(second) == []

    def test_are_worlds(self, scene, tmp_path):
        (tmp_path / "a.json").write_text("{}")
        with pytest.raises(ValueError, match="'format' is missing"):
            scene.difference(tmp_path / "a.json")


class TestWhatIsRefused:
    @pytest.mark.parametrize("other", [None, 3, object(), [], b"a"])
    def test_is_no_scene(self, scene, other):
        with pytest.raises(InvalidArgument, match="compared with a scene"):
            scene.difference(other)

    @pytest.mark.parametrize("wrong", [-1.0, math.nan, "1", None, True])
    def test_is_no_tolerance(self, scene, wrong):
        with pytest.raises(InvalidArgument, match="tolerance_m"):
            scene.difference(scene, tolerance_m=wrong)


@pytest.mark.parametrize("seed", range(10))
def test_there_and_back_is_the_opposite(seed, clock):
    choice = random.Random(seed)
    one = World("one", clock=clock)
    nodes = [one.scene.add_transform(parent="map", transform=moved(float(i)), at=0) for i in range(5)]
    other = one.copy()
    for node in nodes:
        step = choice.randrange(4)
        if step == 0:
            other.scene.remove(node)
        elif step == 1:
            other.scene.set_transform(node, moved(choice.random(), 3.0), at=seconds(1))
        elif step == 2:
            other.scene.set_attributes(node, {"a": choice.random()})
    other.scene.add_group(parent="map")
    there, back = one.scene.difference(other), other.scene.difference(one)
    assert {entry.thing for entry in there.added} == {entry.thing for entry in back.removed}
    assert {entry.thing for entry in there.removed} == {entry.thing for entry in back.added}
    assert {(m.thing, m.distance_m) for m in there.moved} == {(m.thing, m.distance_m) for m in back.moved}
    assert [(a.key, a.before) for a in there.attributes] == [(a.key, a.after) for a in back.attributes]
