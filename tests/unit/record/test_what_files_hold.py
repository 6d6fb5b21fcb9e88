"""What a saved world must hold so that it answers as before: what ended, what was removed, who asserted what."""

from __future__ import annotations

import json
import shutil
import threading

import numpy as np
import pytest

from armillary import LATEST, PointCloud, World, seconds
from armillary.errors import ArmillaryError, UnknownFrame
from armillary.scene import AddJoints, Fix, Release, RemoveFrame, SetAttributes
from replica_frames import inactive_assertions
from unit.kit import FakeClock, moved
from unit.record.kit import door, full_world

pytest.importorskip("casadi")

from armillary.articulation import ArticulationModel

NOW = seconds(20)


@pytest.fixture
def world():
    return World("robot", clock=FakeClock(seconds(10)))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "world.json"


def loaded(world, path):
    """The same world from a file, with the same structure."""
    world.save(path)
    found = World.load(path, clock=FakeClock(NOW))
    assert (found.digest(), found.scene.digest()) == (world.digest(), world.scene.digest())
    assert found.store.version_vector() == world.store.version_vector()
    assert inactive_assertions(found) == inactive_assertions(world)
    assert sorted(found.frames()) == sorted(world.frames())
    return found


class TestWhatEnded:
    def test_stays_without_a_parent(self, world, path):
        world.fix(of="a", in_frame="b", transform=moved(1), at=3)
        world.apply([Release(of="a", at=9)])
        again = loaded(world, path)
        assert again.can_pose(of="a", in_frame="b", at=5)
        assert not again.can_pose(of="a", in_frame="b", at=20)

    def test_is_erased_where_a_frame_was_removed(self, world, path):
        world.fix(of="a", in_frame="b", transform=moved(1))
        before = world.scene.changes()
        world.remove_frame("a")
        again = loaded(world, path)
        again.merge(before)
        with pytest.raises(UnknownFrame):
            again.pose(of="a", in_frame="b")

    def test_is_answered_for_nodes_of_the_past(self, world, path):
        cup = world.scene.add_group(parent=world.scene.root, at=seconds(5), attributes={"name": "cup"})
        world.scene.remove(cup, at=seconds(8))
        again = loaded(world, path)
        assert cup not in again.scene
        assert again.scene.as_of(seconds(6)).attributes(cup) == {"name": "cup"}

    def test_is_the_past_of_a_time_epoch(self, world, path):
        world.fix(of="cup", in_frame="map", transform=moved(1), at=seconds(5))
        world.reset_time(to=seconds(1))
        world.fix(of="cup", in_frame="tray", transform=moved(3), at=seconds(12))
        again = loaded(world, path)
        assert again.time_epoch == 1
        assert again.now() == NOW  # the clock is not in the file
        assert again.pose(of="cup", in_frame="map", at=0).transform == moved(1)


class TestWhatWasCleared:
    def where(self, world, node):
        """At some instants, or why not."""
        return {at: self.at(world, node, at) for at in (None, 4, 5, 8, 9, 20)}

    def at(self, world, node, at):
        try:
            return world.pose(of=str(node), in_frame="map", at=LATEST if at is None else at).transform
        except ArmillaryError as error:
            return type(error).__name__

    def test_stays_cleared(self, world, path):
        nodes = [world.scene.add_transform(parent=world.scene.root, transform=moved(1), at=5) for _ in range(3)]
        nodes.append(world.scene.add_transform(parent=world.scene.root, transform=moved(2), at=None))
        world.scene.set_transform(nodes[0], moved(3), at=8)
        world.scene.remove(nodes[2], at=9)
        world.clear()
        world.scene.set_transform(nodes[1], moved(4), at=8)
        again = loaded(world, path)
        assert [self.where(again, node) for node in nodes] == [self.where(world, node) for node in nodes]
        assert self.at(again, nodes[0], 5) == "NoSamples"
        assert self.at(again, nodes[3], 5) == moved(2)

    def test_is_what_the_file_says_and_no_more(self, world, path):
        kept = world.scene.add_transform(parent=world.scene.root, transform=moved(1), at=5)
        again = loaded(world, path)
        assert self.where(again, kept) == self.where(world, kept)
        assert self.at(again, kept, 5) == moved(1)


class TestJoints:
    def test_are_there_without_a_model(self, world, path):
        world.apply([AddJoints({"hinge": "linear", "wheel": "velocity"})])
        world.set_joints({"hinge": 0.5}, velocities={"wheel": 2.0}, at=1)
        again = loaded(world, path)
        assert again.joints() == ("hinge", "wheel")
        assert again.joint("hinge", at=1) == world.joint("hinge", at=1)
        assert again.joint("wheel", at=1) == world.joint("wheel", at=1)

    def test_may_be_ahead_of_the_clock_of_a_new_process(self, path):
        world = World("robot", clock=FakeClock(seconds(10)), max_ahead_s=1.0)
        world.apply([AddJoints({"hinge": "linear"})])
        world.set_joints({"hinge": 0.5}, at=seconds(10))
        node = world.scene.add_transform(parent=world.scene.root, transform=moved(1), at=seconds(9))
        world.scene.set_transform(node, moved(2), at=seconds(10))
        world.save(path)
        again = World.load(path, clock=FakeClock(0))
        assert again.joint("hinge").value == 0.5
        assert again.pose(of=again.scene.frame(node), in_frame="map", at=seconds(9.5)).xyz[0] == 1.5

    def test_have_the_same_preferences(self, world, path):
        world.apply([AddJoints({"hinge": "linear"})])
        for position, source in enumerate(("encoder", "camera")):
            world.set_joints({"hinge": float(position)}, at=1, source=source)
        world.prefer_joint("hinge", source="camera")
        assert loaded(world, path).joint("hinge", at=1).value == 1.0

    def test_have_the_same_preferences_where_their_samples_are_gone(self, world, path):
        world.apply([AddJoints({"hinge": "linear"})])
        for source in ("encoder", "camera"):
            world.set_joints({"hinge": 0.0}, at=1, source=source)
        world.prefer_joint("hinge", source="camera")
        world.clear()
        again = loaded(world, path)
        for position, source in enumerate(("encoder", "camera")):
            again.set_joints({"hinge": float(position)}, at=1, source=source)
        assert again.joint("hinge", at=1).value == 1.0


class TestMounts:
    @pytest.fixture
    def model(self, world):
        model = ArticulationModel()
        model.add_robot(door())
        world.mount(model, in_frame="map")
        return model

    def test_stay_without_frames_that_were_removed(self, world, path):
        model = ArticulationModel()
        model.add_robot(door())
        world.mount(model, in_frame="map", shapes="none")
        world.remove_frame("door/panel")
        world.save(path)
        again = World.load(path)
        assert again.digest() == world.digest()
        assert not again.store.is_named("door/panel")
        assert not again.can_pose(of="door/panel", in_frame="map", outside="hold")
        assert len(again.mounts) == 1

    def test_stay_as_they_were_edited(self, world, model, path):
        model.remove(next(tag for tag in model.tags if tag.startswith("connect")), "create door/links/panel")
        again = loaded(world, path)
        assert again.mounts[0].shapes == world.mounts[0].shapes == {"door/links/frame": []}

    def test_follow_edits_in_both_worlds(self, world, model, path):
        world.save(path)
        again = World.load(path, clock=world.now)
        for one in (world, again):
            mounted = one.mounts[0].model
            mounted.remove(next(tag for tag in mounted.tags if tag.startswith("connect")), "create door/links/panel")
        assert again.digest() == world.digest()

    def test_of_others_are_saved_without_their_model(self, world, model, path):
        other = World("other", clock=FakeClock(seconds(11)))
        other.merge(world.scene.changes())
        again = loaded(other, path)
        assert again.mounts == ()
        again.set_joints({"door/hinge": 0.3}, at=seconds(9))
        world.set_joints({"door/hinge": 0.3}, at=seconds(9))
        poses = [one.pose(of="door/panel", in_frame="map", at=seconds(9)).transform for one in (world, again)]
        assert poses[0] == poses[1]


class TestAfterwards:
    """A loaded world is one more replica of the same world."""

    def test_it_asks_for_nothing_that_it_held(self, world, path):
        for x in range(5):
            world.fix(of="cup", in_frame="map", transform=moved(x))
        again = loaded(world, path)
        assert world.scene.changes(since=again.scene.version_vector()) == []

    def test_it_knows_what_it_does_not_keep(self, path):
        world = World("robot", max_changes=2, clock=FakeClock(seconds(10)))
        for name in "abcdef":
            world.add_frame(name)
            world.remove_frame(name)
        again = loaded(world, path)
        assert again.store.dropped() == world.store.dropped() != {}
        (author,) = again.store.dropped()
        with pytest.raises(ArmillaryError, match="full copy"):
            again.scene.changes(since={author: [(1, 1)]})

    def test_it_exchanges_changes_with_the_one_that_was_saved(self, world, path):
        world.scene.add_group(parent=world.scene.root, attributes={"name": "table"})
        again = loaded(world, path)
        world.fix(of="cup", in_frame="map", transform=moved(1))
        again.fix(of="cup", in_frame="map", transform=moved(2))
        again.scene.set_attributes(again.scene.find({"name": "table"})[0], {"name": "desk"})
        news = [
            one.scene.changes(since=other.scene.version_vector()) for one, other in ((world, again), (again, world))
        ]
        again.merge(news[0])
        world.merge(news[1])
        assert again.digest() == world.digest()
        assert [one.pose(of="cup", in_frame="map").xyz[0] for one in (world, again)] == [2.0, 2.0]
        assert len(world.scene.find({"name": "desk"})) == 1

    def test_it_keeps_who_asserted_what(self, path):
        one, two = World("one", clock=FakeClock(seconds(5))), World("two", clock=FakeClock(seconds(6)))
        cup = one.scene.add_transform(parent=one.scene.root, transform=moved(1), at=seconds(4))
        two.merge(one.scene.changes())
        two.fix(of="hand", in_frame="map", transform=moved(2))
        one.merge(two.scene.changes())
        one.attach(of=one.scene.frame(cup), to="hand", at=seconds(5), outside="hold")
        two.merge(one.scene.changes())
        again = loaded(two, path)
        frame = two.scene.frame(cup)
        for at in (seconds(4), seconds(7)):
            poses = [each.pose(of=frame, in_frame="map", at=at, outside="hold").transform for each in (one, two, again)]
            assert poses[0] == poses[1] == poses[2]
        assert {info.source for info in again.relations()} == {info.source for info in two.relations()}

    def test_a_new_process_has_a_name_of_its_own(self, world, path):
        world.add_frame("a")
        again = loaded(world, path)
        again.add_frame("b")
        assert len(again.store.version_vector()) == 2


class TestASnapshot:
    def test_is_of_one_moment(self, world, path):
        for i in range(100):
            world.fix(of=f"f{i}", in_frame="map", transform=moved(i))
        node = world.scene.add_group(parent=world.scene.root)
        is_over = threading.Event()

        def write():
            number = 0
            while not is_over.is_set():
                number += 1
                pose = Fix(of="moving", in_frame="map", transform=moved(number))
                world.apply([pose, SetAttributes(node, {"number": number})])
                world.fix(of="tmp", in_frame="map", transform=moved(1))
                world.apply([RemoveFrame("tmp")])

        writer = threading.Thread(target=write)
        writer.start()
        try:
            for _ in range(20):
                world.save(path)
                again = World.load(path)
                number = again.scene.attributes(node).get("number")
                if number is not None:
                    assert again.pose(of="moving", in_frame="map").xyz[0] == number
                again.close()
        finally:
            is_over.set()
            writer.join()


class TestArrays:
    def test_of_another_file_stay(self, world, tmp_path):
        scene = world.scene
        scene.add_geometry(parent=scene.root, shape=PointCloud(np.zeros((9, 3))), at=None)
        world.save(tmp_path / "kitchen.json")
        before = world.digest()
        shutil.copy(tmp_path / "kitchen.json", tmp_path / "backup.json")
        world.scene.save(tmp_path / "kitchen.scene")
        scene.add_geometry(parent=scene.root, shape=PointCloud(np.ones((9, 3))), at=None)
        world.save(tmp_path / "kitchen.json")
        assert World.load(tmp_path / "backup.json").digest() == before
        World().scene.load(tmp_path / "kitchen.scene")

    def test_are_read_again_when_the_file_was_replaced_meanwhile(self, world, path, monkeypatch):
        world.scene.add_geometry(parent=world.scene.root, shape=PointCloud(np.zeros((9, 3))), at=None)
        world.save(path)
        from armillary.record import _loading  # noqa: PLC0415

        read = _loading.read_bytes

        def read_and_replace(*arguments):
            data = read(*arguments)
            monkeypatch.setattr(_loading, "read_bytes", read)
            world.scene.add_geometry(parent=world.scene.root, shape=PointCloud(np.ones((9, 3))), at=None)
            world.save(path)
            return data

        monkeypatch.setattr(_loading, "read_bytes", read_and_replace)
        assert World.load(path).digest() == world.digest()

    def test_are_written_once_for_nodes_that_share_them(self, world, path):
        cloud = PointCloud(np.zeros((9, 3)))
        for _ in range(3):
            world.scene.add_geometry(parent=world.scene.root, shape=cloud, at=None)
        again = loaded(world, path)
        assert len(json.loads(path.read_text())["contents"]) == 1
        assert len(again.scene) == len(world.scene)


class TestSettings:
    def test_that_are_missing_have_their_default(self, path):
        full_world().save(path)
        document = json.loads(path.read_text())
        del document["settings"]["max_paths"]
        path.write_text(json.dumps(document))
        assert World.load(path).store.settings.max_paths == World().store.settings.max_paths
