"""Frames of nodes that were given a name: unique in a world, saved, merged, undone, copied, and shown."""

from __future__ import annotations

import itertools
import random
import threading

import numpy as np
import pytest

from armillary import Box, Transform, World, seconds
from armillary.errors import FrameNameTaken, InvalidName, UnknownFrame
from armillary.scene import AddFrame, AddGeometry, AddGroup, AddTransform, AddUncertainTransform, Fix, NodeId
from unit.kit import FakeClock, moved

STILL = Transform.identity()


@pytest.fixture
def clock():
    return FakeClock(seconds(1))


@pytest.fixture
def cup(scene):
    return scene.add_transform(parent=scene.root, transform=moved(1.0), at=seconds(1), frame="cup_red")


class TestAFrameOfANodeWithAName:
    def test_is_called_so_everywhere(self, world, scene, cup):
        world.fix(of="label", in_frame="cup_red", transform=moved(0.1))
        assert scene.frame(cup) == "cup_red"
        assert world.frames() == ("map", "cup_red", "label")
        assert world.pose(of="cup_red", in_frame="map").xyz[0] == 1.0
        assert world.tree().parents["label"] == ("cup_red", "tester")
        assert {info.of for info in world.relations()} == {"cup_red", "label"}
        assert world.pose(of="label", in_frame="map").relations[0][:2] == ("label", "cup_red")
        assert set(world.snapshot(in_frame="map", at=seconds(1))) == {"map", "cup_red", "label"}
        assert world.scene.node("cup_red") == cup
        assert str(cup) not in str(world.tree())

    @pytest.mark.parametrize(
        "change",
        [
            AddGroup(parent="map", frame="thing"),
            AddTransform(parent="map", transform=STILL, frame="thing"),
            AddUncertainTransform(parent="map", transform=STILL, covariance=np.eye(6), frame="thing"),
            AddGeometry(parent="map", shape=Box((1, 1, 1)), frame="thing"),
        ],
        ids=lambda change: type(change).__name__,
    )
    def test_may_be_of_every_kind_that_has_one(self, world, change):
        (node,) = world.apply([change])
        assert world.scene.frame(node) == "thing"
        assert "thing" in world.frames()

    def test_of_a_group_is_where_its_parent_is(self, world, scene, cup):
        scene.add_group(parent=cup, frame="handle")
        assert world.pose(of="handle", in_frame="map").xyz.tolist() == [1.0, 0.0, 0.0]

    def test_is_still_found_by_its_id(self, world, cup):
        assert world.pose(of=str(cup), in_frame="map").of == "cup_red"

    def test_takes_samples_of_other_sources(self, world, cup):
        world.set_pose(of="cup_red", in_frame="camera", transform=moved(2.0), at=seconds(1), source="camera")
        assert world.frames().count("cup_red") == 1
        assert world.samples(of="cup_red", in_frame="camera", source="camera").stamps.tolist() == [seconds(1)]
        assert world.samples(of=cup, in_frame="camera", source="camera").stamps.tolist() == [seconds(1)]

    def test_of_something_in_two_places_has_a_mount_of_that_name(self, world, scene, cup):
        scene.add_parent(cup, scene.add_group(parent=scene.root))
        assert "cup_red/mount" in world.frames()
        assert world.can_pose(of="cup_red", in_frame="cup_red/mount", at=seconds(1))

    def test_is_waited_for_before_it_is_there(self, world, scene):
        found = []
        thread = threading.Thread(
            target=lambda: found.append(world.wait_for_pose(of="cup_red", in_frame="map", timeout_s=20))
        )
        thread.start()
        while not world.store.waits_pending():
            pass
        scene.add_transform(parent=scene.root, transform=moved(1.0), at=seconds(1), frame="cup_red")
        thread.join()
        assert [pose.of for pose in found] == ["cup_red"]

    def test_is_waited_for_by_a_callback(self, world, scene):
        done = threading.Event()
        world.on_pose(lambda _: done.set(), of="cup_red", in_frame="map")
        scene.add_transform(parent=scene.root, transform=STILL, at=seconds(1), frame="cup_red")
        assert done.wait(20)


class TestAName:
    def test_is_that_of_one_node(self, scene, cup):
        with pytest.raises(FrameNameTaken, match="has the frame 'cup_red' already") as refused:
            scene.add_group(parent=scene.root, frame="cup_red")
        assert (refused.value.frame, refused.value.owner) == ("cup_red", cup)

    def test_is_not_that_of_another_frame(self, world, scene):
        world.add_frame("camera")
        before = world.digest()
        with pytest.raises(FrameNameTaken, match=r"scene\.set_attributes\('camera'") as refused:
            scene.add_group(parent=scene.root, frame="camera")
        assert refused.value.owner is None
        assert world.digest() == before

    def test_is_not_that_of_the_root(self, scene):
        with pytest.raises(FrameNameTaken):
            scene.add_group(parent=scene.root, frame="map")

    def test_is_not_that_of_a_body(self, world, scene, cup):
        world.add_body("gun", frames=["muzzle"])
        with pytest.raises(FrameNameTaken):
            scene.add_group(parent=scene.root, frame="gun")
        with pytest.raises(FrameNameTaken):
            world.add_body("cup_red", frames=["muzzle"])

    @pytest.mark.parametrize("wrong", ["", "/cup", "a\nb", 3, b"cup", "c0000001-0000-4000-8000-000000000000"])
    def test_must_be_one(self, scene, wrong):
        with pytest.raises(InvalidName):
            scene.add_group(parent=scene.root, frame=wrong)

    def test_is_free_again_when_its_node_is_removed(self, world, scene, clock, cup):
        clock.ns = seconds(3)
        scene.remove(cup)
        assert world.pose(of="cup_red", in_frame="map", at=seconds(1)).xyz[0] == 1.0  # the past still answers
        clock.ns = seconds(4)
        again = scene.add_transform(parent=scene.root, transform=moved(5.0), at=seconds(4), frame="cup_red")
        assert world.pose(of="cup_red", in_frame="map", at=seconds(4)).xyz[0] == 5.0
        assert scene.frame(again) == "cup_red"
        assert scene.as_of(seconds(2)).frame(cup) == str(cup)
        with pytest.raises(FrameNameTaken):
            world.apply([AddTransform(parent="map", transform=STILL, id=cup, frame="cup_red")])


class TestABatch:
    def test_knows_the_names_that_it_gives(self, world):
        node, _ = world.apply(
            [
                AddTransform(parent="map", transform=moved(1.0), at=None, frame="cup_red"),
                Fix(of="label", in_frame="cup_red", transform=moved(0.5)),
            ]
        )
        assert world.frames().count("cup_red") == 1
        assert world.pose(of="label", in_frame="map").xyz[0] == 1.5
        assert world.scene.frame(node) == "cup_red"

    def test_contains_what_it_names(self, world):
        outer, inner = world.apply([AddGroup(parent="map", frame="shelf"), AddGroup(parent="shelf")])
        assert world.scene.parents(inner) == [outer]

    @pytest.mark.parametrize("other", [AddFrame("cup"), AddGroup(parent="map", frame="cup")])
    def test_gives_a_name_once(self, world, other):
        before = world.digest()
        with pytest.raises(FrameNameTaken):
            world.apply([other, AddGroup(parent="map", frame="cup")])
        assert world.digest() == before


class TestTakingBack:
    def test_takes_the_name_back(self, world, scene, cup):
        assert cup in scene
        world.undo()
        assert cup not in scene
        world.redo()
        assert scene.frame(cup) == "cup_red"
        assert world.pose(of="cup_red", in_frame="map").xyz[0] == 1.0

    def test_is_refused_where_the_name_has_passed_on(self, world, scene, cup):
        world.undo()
        scene.add_group(parent=scene.root, frame="cup_red")
        world.undo()
        other = World("other", clock=world.now)
        other.merge(scene.changes())
        other.scene.add_group(parent=other.scene.root, frame="cup_red")
        world.merge(other.scene.changes())
        with pytest.raises(FrameNameTaken):
            world.redo()
        assert cup not in scene


class TestACopy:
    def test_knows_the_names(self, world, cup):
        with world.copy() as twin:
            assert twin.frames() == world.frames()
            assert twin.pose(of="cup_red", in_frame="map").xyz[0] == 1.0
            assert twin.scene.frame(cup) == "cup_red"
            assert twin.digest() == world.digest()

    def test_from_a_file_knows_them(self, world, scene, cup, tmp_path):
        world.fix(of="label", in_frame="cup_red", transform=moved(0.5))
        scene.add_group(parent=cup, frame="handle")
        world.save(tmp_path / "kitchen.json")
        with World.load(tmp_path / "kitchen.json") as loaded:
            assert set(loaded.frames()) == set(world.frames())
            assert loaded.pose(of="label", in_frame="map").xyz[0] == 1.5
            assert loaded.digest() == world.digest()

    def test_from_a_file_of_the_scene_knows_them(self, scene, cup, tmp_path):
        scene.add_group(parent=cup, frame="handle")
        scene.save(tmp_path / "scene.json")
        with World("other") as other:
            other.scene.load(tmp_path / "scene.json")
            assert other.scene.frame(cup) == "cup_red"
            assert other.scene.digest() == scene.digest()

    def test_without_the_name_has_another_digest(self, clock):
        digests = []
        for frame in (None, "cup", "cop"):
            with World("one", clock=clock) as world:
                world.scene.add_group(parent=world.scene.root, id=NodeId.of_name("test", "cup"), frame=frame)
                digests.append(world.scene.digest())
        assert len(set(digests)) == 3


def _replicas(*names, clock):
    return [World(name, clock=clock, authority=authority) for name, authority in names]


class TestReplicasThatChoseOneName:
    @pytest.mark.parametrize("authority", [0, 7])
    def test_agree_on_who_has_it(self, clock, authority):
        one, other = _replicas(("one", 0), ("other", authority), clock=clock)
        mine = one.scene.add_transform(parent="map", transform=moved(1.0), at=None, frame="cup")
        clock.ns += 1000
        theirs = other.scene.add_transform(parent="map", transform=moved(2.0), at=None, frame="cup")
        changes = one.scene.changes(), other.scene.changes()
        one.merge(changes[1])
        other.merge(changes[0])
        winner, loser = (mine, theirs) if authority == 0 else (theirs, mine)  # the earlier, or the higher authority
        for world in (one, other):
            assert world.scene.frame(winner) == "cup"
            assert world.scene.frame(loser) == str(loser)
            assert world.pose(of="cup", in_frame="map").xyz[0] == (1.0 if winner == mine else 2.0)
            assert world.pose(of=loser, in_frame="map").xyz[0] == (2.0 if winner == mine else 1.0)
            (inactive,) = world.scene.inactive()
            assert (inactive.change.id, inactive.change.frame) == (loser, "cup")
            assert isinstance(inactive.reason, FrameNameTaken)
            assert inactive.reason.owner == winner
        assert one.digest() == other.digest()

    def test_give_it_to_the_other_when_its_node_is_gone(self, clock):
        one, other = _replicas(("one", 0), ("other", 0), clock=clock)
        mine = one.scene.add_group(parent="map", frame="cup")
        clock.ns += 1000
        theirs = other.scene.add_group(parent="map", frame="cup")
        one.merge(other.scene.changes())
        assert one.pose(of=theirs, in_frame="cup").relations[0][0] == str(theirs)
        one.scene.remove(mine)
        assert one.scene.frame(theirs) == "cup"
        assert one.pose(of="cup", in_frame="map").relations[0][0] == "cup"
        assert one.scene.inactive() == []

    def test_leave_it_to_a_frame_that_is_no_node(self, clock):
        one, other = _replicas(("one", 0), ("other", 0), clock=clock)
        mine = one.scene.add_transform(parent="map", transform=moved(1.0), at=None, frame="cup")
        other.fix(of="cup", in_frame="map", transform=moved(2.0))
        changes = one.scene.changes(), other.scene.changes()
        one.merge(changes[1])
        other.merge(changes[0])
        for world in (one, other):
            assert world.pose(of="cup", in_frame="map").xyz[0] == 2.0
            assert world.pose(of=mine, in_frame="map").xyz[0] == 1.0
            assert [inactive.change.id for inactive in world.scene.inactive()] == [mine]
        assert one.digest() == other.digest()

    @pytest.mark.parametrize("seed", range(20))
    def test_agree_in_any_order_of_arrival(self, seed, clock):
        choice = random.Random(seed)
        worlds = _replicas(*((f"w{i}", choice.choice([0, 0, 1])) for i in range(3)), clock=clock)
        nodes: list[NodeId] = []
        for _ in range(12):
            clock.ns += 1000
            _random_step(choice, worlds, nodes)
        everything = list(itertools.chain.from_iterable(world.scene.changes() for world in worlds))
        for world in worlds:
            choice.shuffle(everything)
            for record in everything:
                world.merge([record])
        assert len({world.digest() for world in worlds}) == 1
        known = [_known_names(world, nodes) for world in worlds]
        assert known[0] == known[1] == known[2]
        assert known[0][0] == _expected_names(worlds[0], nodes)


def _random_step(choice, worlds, nodes):
    world, name = choice.choice(worlds), choice.choice(["cup", "plate"])
    living = [node for node in nodes if node in world.scene]
    kind = choice.randrange(4)
    try:
        if kind == 0 and living:
            world.scene.remove(choice.choice(living))
        elif kind == 1:
            world.merge(choice.choice(worlds).scene.changes())
        elif kind == 2 and choice.random() < 0.2:
            world.fix(of=name, in_frame="map", transform=STILL)
        else:
            nodes.append(world.scene.add_group(parent="map", frame=name))
    except FrameNameTaken:
        pass


def _known_names(world, nodes):
    living = {node: world.scene.frame(node) for node in nodes if node in world.scene}
    unnamed = sorted((str(one.change.id), one.change.frame) for one in world.scene.inactive())
    return living, unnamed, {name for name in ("cup", "plate") if name in world.frames()}


def _expected_names(world, nodes):
    """By the records alone: a frame of that name, else the living node that the strongest record added."""
    records = world.scene.changes()
    plain = {record.track[1] for record in records if record.type == "assert" and record.track[1] in {"cup", "plate"}}
    added = [record for record in records if record.type == "add_node" and record.node in world.scene]
    added.sort(key=lambda record: (-record.authority, record.time, record.id))
    owner: dict[str, NodeId] = {}
    for record in added:
        if record.frame_name and record.frame_name not in plain:
            owner.setdefault(record.frame_name, record.node)
    called = {node: name for name, node in owner.items()}
    return {node: called.get(node, str(node)) for node in nodes if node in world.scene}


class TestErrors:
    def test_say_the_name(self, world, cup):
        with pytest.raises(UnknownFrame, match="Did you mean 'cup_red'"):
            world.pose(of="cup_rad", in_frame="map")
        world.add_frame("lamp")
        with pytest.raises(LookupError, match="'cup_red' is in the tree of 'map'") as apart:
            world.pose(of=cup, in_frame="lamp")
        assert str(cup) not in str(apart.value)

    def test_say_the_name_of_a_frame_that_carries_others(self, world, scene, cup):
        world.fix(of="label", in_frame="cup_red", transform=STILL)
        with pytest.raises(ValueError, match="label"):
            scene.remove(cup)
        with pytest.raises(ValueError, match="Frame 'cup_red' is that of a node"):
            world.remove_frame("cup_red")
