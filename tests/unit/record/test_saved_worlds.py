"""Worlds in files: what is written comes back, and what is wrong is refused by its place."""

from __future__ import annotations

import ast
import copy
import inspect
import json
import os
import pickle
import pydoc
import stat
from pathlib import Path

import numpy as np
import pytest

from armillary import World, seconds
from armillary.errors import BeforeHistory, InvalidArgument, InvalidWorldFile, NoSamples
from armillary.record._format import SETTINGS
from armillary.record._saving import retention_entries
from armillary.scene import Unfix
from json_schema import faults
from replica_frames import inactive_assertions
from unit.kit import FakeClock, moved, run_python
from unit.record.kit import door, full_world

pytest.importorskip("casadi")

from armillary.articulation import ArticulationModel
from armillary.articulation.mechanisms import four_bar

DOCS = Path(__file__).resolve().parents[3] / "docs"
SCHEMA = json.loads((DOCS / "saved_world.schema.json").read_text())
VERSION_1 = Path(__file__).resolve().parent / "version_1" / "kitchen.json"


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A world with something of every kind, and the file it was saved to."""
    path = tmp_path_factory.mktemp("saved") / "kitchen.json"
    world = full_world()
    world.save(path)
    return world, path


@pytest.fixture
def loaded(saved):
    return World.load(saved[1], clock=FakeClock(seconds(20)))


class TestAWorldThatWasSaved:
    def test_has_the_same_structure(self, saved, loaded):
        assert loaded.digest() == saved[0].digest()

    def test_has_the_same_frames_and_bodies(self, saved, loaded):
        assert set(loaded.frames()) == set(saved[0].frames())
        assert loaded.bodies() == saved[0].bodies()

    def test_has_the_same_settings(self, saved, loaded):
        before, after = saved[0].store.settings.keywords, loaded.store.settings.keywords
        assert {**before, "clock": None} == {**after, "clock": None}

    @pytest.mark.parametrize("frame", ["camera", "lidar", "downward"])
    def test_has_the_same_fixed_poses(self, saved, loaded, frame):
        before, after = (world.pose(of=frame, in_frame="base") for world in (saved[0], loaded))
        assert after.transform == before.transform
        assert np.array_equal(after.covariance, before.covariance)

    def test_has_the_same_starts_of_fixed_poses(self, loaded):
        with pytest.raises(BeforeHistory):
            loaded.pose(of="cup", in_frame="table", at=seconds(6))
        assert loaded.can_pose(of="cup", in_frame="table", at=seconds(7))

    def test_has_the_same_relations_without_samples(self, saved, loaded):
        before, after = ([_names(info) for info in world.relations()] for world in (saved[0], loaded))
        assert sorted(after) == sorted(before)
        with pytest.raises(NoSamples):
            loaded.pose(of="ball", in_frame="base", at=seconds(8))

    def test_has_the_same_preferences(self, loaded):
        for source in ("left", "right"):
            loaded.set_pose(of="ball", in_frame="base", transform=moved(2), at=seconds(8), source=source)
        assert loaded.pose(of="ball", in_frame="base", at=seconds(8)).relations == (("ball", "base", "right"),)

    def test_has_the_same_retention(self, saved, loaded):
        kept = [list(retention_entries(world.store)) for world in (saved[0], loaded)]
        assert [(entry["kind"], entry["history_ns"], entry["max_samples"]) for entry in kept[0]] == [
            ("pose", seconds(60), 7),
            ("twist", seconds(5), 3),
        ]
        assert kept[1] == kept[0]

    def test_keeps_an_unknown_covariance_unknown(self, loaded):
        assert loaded.pose(of="ball", in_frame="camera", at=seconds(9)).covariance is None

    def test_has_its_models_where_they_were_mounted(self, saved, loaded):
        before, after = (world.pose(of="door/panel", in_frame="map") for world in (saved[0], loaded))
        assert (after.transform, after.stamp) == (before.transform, seconds(9))
        assert loaded.joint("door/hinge").velocity == 0.1

    def test_has_the_shapes_of_its_models_once(self, saved, loaded):
        assert len(loaded.scene) == len(saved[0].scene)
        assert loaded.mounts[0].shapes == saved[0].mounts[0].shapes

    def test_follows_edits_of_its_models(self, loaded):
        model = loaded.mounts[0].model
        model.remove(next(tag for tag in model.tags if tag.startswith("connect")), "create door/links/panel")
        assert loaded.mounts[0].shapes == {"door/links/frame": []}

    def test_has_what_is_in_its_scene(self, saved, loaded):
        shelf = loaded.scene.find({"name": "shelf"})
        assert shelf == saved[0].scene.find({"name": "shelf"})
        assert [type(loaded.scene.geometry(node)).__name__ for node in loaded.scene.children(shelf[0])] == [
            "Box",
            "PointCloud",
        ]

    def test_can_be_saved_again(self, saved, loaded, tmp_path):
        loaded.save(tmp_path / "again.json")
        assert World.load(tmp_path / "again.json").digest() == saved[0].digest()

    def test_conforms_to_the_schema(self, saved):
        assert faults(json.loads(saved[1].read_text()), SCHEMA, SCHEMA) == []

    def test_holds_the_records_of_the_world(self, saved):
        document = json.loads(saved[1].read_text())
        assert document["records"] == [json.loads(record.to_json()) for record in saved[0].store.records()]


def cup_on_a_node(world, **placed):
    node = world.scene.add_transform(parent=world.scene.root, transform=moved(1), **placed)
    return world.scene.frame(node)


def fixed_on_a_node(world):
    world.fix(of="cup", in_frame=cup_on_a_node(world, at=None), transform=moved(2))


def sampled_on_a_node(world):
    world.set_pose(of="cup", in_frame=cup_on_a_node(world, at=seconds(1)), transform=moved(2), at=seconds(1))


def contested(world):
    world.fix(of=cup_on_a_node(world, at=None), in_frame="table", transform=moved(2), source="other")


def named_like_a_node(world):
    world.fix(of="560cb1dd-d7c0-846a-b54f-f6ddbe5f3744", in_frame="map", transform=moved(2))


class TestFramesOfNodes:
    @pytest.mark.parametrize("change", [fixed_on_a_node, sampled_on_a_node, contested, named_like_a_node])
    def test_differ_from_those_that_were_named(self, change, tmp_path):
        world = World("robot", clock=FakeClock(seconds(2)))
        change(world)
        world.save(tmp_path / "world.json")
        loaded = World.load(tmp_path / "world.json")
        assert loaded.digest() == world.digest()
        assert set(loaded.frames()) == set(world.frames())


class TestAFrameWithNodesInIt:
    @pytest.fixture
    def world(self):
        return World("robot", clock=FakeClock(seconds(10)))

    def test_may_be_removed_with_all_that_it_contains(self, world, tmp_path):
        world.fix(of="shelf", in_frame="map", transform=moved(1))
        cup = world.scene.add_transform(parent="shelf", transform=moved(2), at=None)
        world.remove_frame("shelf", subtree=True)
        world.save(tmp_path / "world.json")
        loaded = World.load(tmp_path / "world.json")
        assert loaded.digest() == world.digest()
        assert cup not in world.scene
        assert cup not in loaded.scene
        assert not loaded.store.is_named("shelf")

    def test_may_be_named_like_a_node(self, world, tmp_path):
        name = "a0000000-0000-4000-8000-000000000000"
        world.fix(of=name, in_frame="map", transform=moved(2))
        world.scene.set_attributes(name, {"full": True})
        world.save(tmp_path / "world.json")
        loaded = World.load(tmp_path / "world.json")
        assert loaded.digest() == world.digest()
        assert loaded.scene.attributes(name) == {"full": True}
        assert loaded.pose(of=name, in_frame="map").xyz[0] == 2


class TestSaving:
    def test_an_empty_world(self, tmp_path):
        World("nothing").save(tmp_path / "empty.json")
        world = World.load(tmp_path / "empty.json")
        assert (world.name, world.frames()) == ("nothing", ())

    def test_knows_every_setting_of_a_world(self):
        arguments = set(inspect.signature(World).parameters) - {"clock"}
        assert set(SETTINGS.values()) == arguments

    def test_keeps_a_history_without_end(self, tmp_path):
        world = World("log", history=None)
        world.set_pose(of="cup", in_frame="map", transform=moved(), at=0)
        world.keep(of="cup", in_frame="map", history=seconds(5))
        world.set_pose(of="tray", in_frame="map", transform=moved(), at=0)
        world.save(tmp_path / "log.json")
        assert faults(json.loads((tmp_path / "log.json").read_text()), SCHEMA, SCHEMA) == []
        again = World.load(tmp_path / "log.json")
        assert again.store.settings.history is None
        for of, kept in (("cup", 1), ("tray", 2)):
            for at in (0, seconds(10_000)):
                again.set_pose(of=of, in_frame="map", transform=moved(), at=at)
            assert len(again.samples(of=of, in_frame="map").stamps) == kept

    def test_keeps_one_relation_without_end(self, tmp_path):
        world = World("log")
        world.set_pose(of="cup", in_frame="map", transform=moved(), at=0)
        world.keep(of="cup", in_frame="map", history=None)
        world.save(tmp_path / "log.json")
        assert faults(json.loads((tmp_path / "log.json").read_text()), SCHEMA, SCHEMA) == []
        again = World.load(tmp_path / "log.json")
        for at in (0, seconds(10_000)):
            again.set_pose(of="cup", in_frame="map", transform=moved(), at=at)
        assert len(again.samples(of="cup", in_frame="map").stamps) == 2

    def test_that_names_no_history_has_the_usual_one(self, tmp_path):
        World("log", history=None).save(tmp_path / "log.json")
        document = json.loads((tmp_path / "log.json").read_text())
        del document["settings"]["history_ns"]
        (tmp_path / "log.json").write_text(json.dumps(document))
        assert World.load(tmp_path / "log.json").store.settings.history == seconds(10)

    def test_needs_no_model_where_another_world_mounted_it(self, saved, tmp_path):
        copy = World("copy", clock=FakeClock(seconds(20)))
        copy.merge(saved[0].scene.changes())
        copy.save(tmp_path / "copy.json")
        loaded = World.load(tmp_path / "copy.json")
        loaded.set_joints({"door/hinge": 0.5}, at=seconds(9))
        assert loaded.digest() == saved[0].digest()
        assert loaded.mounts == ()
        wanted = saved[0].pose(of="door/panel", in_frame="map", at=seconds(9)).transform
        assert loaded.pose(of="door/panel", in_frame="map", at=seconds(9)).transform == wanted

    def test_replaces_the_arrays_of_the_file_before(self, tmp_path):
        world = full_world()
        world.save(tmp_path / "kitchen.json")
        World("empty").save(tmp_path / "kitchen.json")
        assert [path.name for path in tmp_path.iterdir()] == ["kitchen.json"]

    def test_writes_a_model_that_is_mounted_twice_once(self, tmp_path):
        world, model = World(), ArticulationModel()
        for name in ("left", "right"):
            model.add_robot(door(), name=name)
            world.mount(model, under=name, in_frame="map")
        world.save(tmp_path / "doors.json")
        assert len(json.loads((tmp_path / "doors.json").read_text())["models"]) == 1
        mounts = World.load(tmp_path / "doors.json").mounts
        assert mounts[0].model is mounts[1].model


def _names(info):
    return info.of, info.in_frame, info.source, info.kind


class TestLoading:
    def test_makes_a_world_and_is_refused_by_one_that_is_there(self, saved):
        with pytest.raises(InvalidArgument, match=r"makes a new world, and changes none: world = World\.load\("):
            World().load(saved[1])

    def test_is_refused_by_worlds_of_a_subclass_too(self, saved):
        class Kitchen(World):
            pass

        assert type(Kitchen.load(saved[1])) is Kitchen
        with pytest.raises(InvalidArgument, match=r"Kitchen\.load"):
            Kitchen().load(saved[1])

    @pytest.mark.parametrize("asked", [World, World()], ids=["class", "world"])
    def test_explains_itself(self, asked):
        assert hasattr(asked, "load")
        assert asked.load.__doc__.startswith("Return the world that a file describes.")
        named = ["path", "clock", "kinds", "max_bytes", "prefix", "shared"]
        assert list(inspect.signature(asked.load).parameters) == named
        assert "load(path" in pydoc.plain(pydoc.render_doc(World))


class TestASavedFile:
    def test_has_the_permissions_of_the_umask(self, tmp_path):
        before = os.umask(0o027)
        try:
            full_world().save(tmp_path / "kitchen.json")
        finally:
            os.umask(before)
        assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o640}

    def test_keeps_its_permissions(self, tmp_path):
        World().save(tmp_path / "kitchen.json")
        (tmp_path / "kitchen.json").chmod(0o600)
        World("again").save(tmp_path / "kitchen.json")
        assert stat.S_IMODE((tmp_path / "kitchen.json").stat().st_mode) == 0o600


@pytest.fixture
def conflicting():
    """A world with inactive assertions: a cycle, a frame on two bodies, what moves on a body."""
    clocks = [FakeClock(seconds(5)), FakeClock(seconds(6))]
    one, two = (World(name, clock=clock) for name, clock in zip(("one", "two"), clocks, strict=True))
    one.fix(of="p", in_frame="q", transform=moved(1))
    two.fix(of="q", in_frame="p", transform=moved(2), covariance=1e-4 * np.eye(6))
    one.add_body("gun", frames=["tip", "base"])
    two.add_body("cart", frames=["tip", "wheel"])
    two.set_pose(of="tip", in_frame="base", transform=moved(1), at=seconds(1))
    two.keep(of="tip", in_frame="base", source="two", history=seconds(60))
    two.set_twist(of="tip", relative_to="base", expressed_in="tip", linear=(1, 0, 0), angular=(0, 0, 0), at=seconds(1))
    two.prefer(of="tip", source="two")
    one.merge(two.scene.changes())
    return one


class TestAnInactiveAssertion:
    def test_is_loaded_as_inactive(self, conflicting, tmp_path):
        conflicting.save(tmp_path / "world.json")
        loaded = World.load(tmp_path / "world.json", clock=FakeClock(seconds(20)))
        assert loaded.digest() == conflicting.digest()
        assert inactive_assertions(loaded) == inactive_assertions(conflicting)
        assert len(loaded.scene.inactive()) == 4
        assert loaded.pose(of="q", in_frame="p").transform == conflicting.pose(of="q", in_frame="p").transform

    def test_becomes_active_when_the_conflict_is_gone(self, conflicting, tmp_path):
        conflicting.save(tmp_path / "world.json")
        loaded = World.load(tmp_path / "world.json", clock=FakeClock(seconds(20)))
        loaded.apply([Unfix(of="p", in_frame="q", source="one")])
        assert loaded.pose(of="q", in_frame="p").transform == moved(2)

    def test_is_containment_that_would_close_a_cycle(self, tmp_path):
        one, two = World("one", clock=FakeClock(seconds(5))), World("two", clock=FakeClock(seconds(6)))
        table, tray = (one.scene.add_group(parent=one.scene.root) for _ in range(2))
        two.merge(one.scene.changes())
        one.scene.add_parent(tray, table)
        two.scene.add_parent(table, tray)
        one.merge(two.scene.changes())
        one.save(tmp_path / "world.json")
        assert faults(json.loads((tmp_path / "world.json").read_text()), SCHEMA, SCHEMA) == []
        loaded = World.load(tmp_path / "world.json", clock=FakeClock(seconds(20)))
        assert (loaded.digest(), inactive_assertions(loaded)) == (one.digest(), inactive_assertions(one))
        loaded.scene.remove_parent(tray, table)
        assert loaded.scene.parents(table) == [one.scene.root, tray]

    def test_is_not_a_pose_from_before_its_frames_were_on_one_body(self, tmp_path):
        world = World("robot")
        for source in ("left", "right"):
            world.fix(of="tip", in_frame="base", transform=moved(len(source)), source=source)
        world.add_body("gun", frames=["tip", "base"])
        world.save(tmp_path / "world.json")
        loaded = World.load(tmp_path / "world.json")
        assert (loaded.digest(), loaded.scene.inactive()) == (world.digest(), [])

    def test_is_a_preference_for_a_removed_frame(self, tmp_path):
        one, two = World("one", clock=FakeClock(seconds(6))), World("two", clock=FakeClock(seconds(5)))
        two.fix(of="p", in_frame="q", transform=moved(1))
        one.merge(two.scene.changes())
        one.prefer(of="p", source="two")
        two.undo()
        one.merge(two.scene.changes())
        one.save(tmp_path / "world.json")
        assert World.load(tmp_path / "world.json").digest() == one.digest()

    def test_for_always_does_not_end_later_ones_of_its_source(self, tmp_path):
        one, two = World("one", clock=FakeClock(seconds(6))), World("two", clock=FakeClock(seconds(5)))
        two.fix(of="p", in_frame="q", transform=moved(1))
        one.fix(of="q", in_frame="p", transform=moved(2))
        one.fix(of="q", in_frame="map", transform=moved(3), at=seconds(1))
        one.merge(two.scene.changes())
        one.save(tmp_path / "world.json")
        loaded = World.load(tmp_path / "world.json")
        assert (loaded.digest(), inactive_assertions(loaded)) == (one.digest(), inactive_assertions(one))
        assert loaded.pose(of="q", in_frame="map", at=seconds(2)).transform == moved(3)

    def test_is_a_pose_that_samples_alone_made_possible(self, tmp_path):
        world = World("robot")
        world.fix(of="p", in_frame="q", transform=moved(1))
        world.set_pose(of="p", in_frame="r", transform=moved(1), at=seconds(5))
        world.fix(of="q", in_frame="p", transform=moved(2), at=seconds(6))
        world.save(tmp_path / "world.json")
        assert World.load(tmp_path / "world.json").digest() == world.digest()


def _at(place, value):
    def change(document):
        *way, last = place
        for key in way:
            document = document[key]
        if value is ...:
            del document[last]
        else:
            document[last] = value

    return change


BROKEN = [
    (("format",), "armillary.scene", "format", "'armillary.world' is expected"),
    (("version",), 3, "version", "version 2 is what this release reads"),
    (("records",), ..., "", "'records' is missing"),
    (("strange",), 1, "strange", "there is no such key here"),
    (("settings", "colour"), "red", "settings.colour", "there is no such key here"),
    (("settings", "history_ns"), -1, "settings.history_ns", "history"),
    (("settings", "interpolation"), "cubic", "settings.interpolation", "interpolation"),
    (("settings", "thin_rad"), None, "settings.thin_m", "thin"),
    (("settings", "max_runs"), "many", "settings.max_runs", "max_runs"),
    (("has_root_frame",), 1, "has_root_frame", "true or false"),
    (("held", 0, "author"), 7, "held[0].author", "a text is expected"),
    (("held", 0, "author"), "xyz", "held[0].author", "16 hexadecimal digits"),
    (("held", 0, "ranges", 0), [3, 2], "held[0].ranges[0]", "the first and the last"),
    (("dropped",), {}, "dropped", "a list is expected"),
    (("records",), {}, "records", "a list is expected"),
    (("records", 0), 7, "records[0]", "object"),
    (("records", 0, "type"), "dream", "records[0]", "dream"),
    (("records", 0, "id"), ["0", 1], "records[0]", "id"),
    (("records", 0, "strange"), 1, "records[0]", "strange"),
    (("records", 1, "id"), ["0000000000000000", 0], "records[1]", "id"),
    (("records", 1, "since"), 1.5, "records[1]", "since"),
    (("records", 1, "track", 1), "/camera", "records[1]", "begins with '/'"),
    (("records", 1, "value", "fixed", "pose", 0), "left", "records[1]", "pose"),
    (("records", 1, "value", "fixed", "pose"), [0, 0, 0, 0, 0, 0, 0], "records[1]", "pose"),
    (("contents", 0, "digest"), "00" * 32, "contents[0].digest", "not the digest of what is there"),
    (("contents", 0, "levels"), [], "contents[0].levels", "at least one level"),
    (("contents", 0, "is_always"), 1, "contents[0].is_always", "true or false"),
    (("contents", 0, "levels", 0, "kind"), "dream", "contents[0].levels[0].kind", "no kind of shape"),
    (("contents", 0), {"digest": "00"}, "contents[0]", "'is_always' is missing"),
    (("arrays", "file"), "../secret.npz", "arrays.file", "same folder"),
    (("arrays", "sha256"), "00", "arrays.sha256", "not the file that was saved with this one"),
    (("samples",), [{"node": "7", "samples": []}], "samples[0].node", "an id is expected"),
    (("kept", 0, "kind"), "smell", "kept[0].kind", "one of pose, twist"),
    (("kept", 0, "source"), "nobody", "kept[0]", "No source 'nobody'"),
    (("kept", 0, "history_ns"), -1, "kept[0]", "history"),
    (("joints", 0, "name"), "door/hing", "joints[0]", "No joint named 'door/hing'"),
    (("joints", 0, "position"), None, "joints[0].position", "a number is expected"),
    (("joints", 0), {"name": "door/hinge", "source": "", "at_ns": 1}, "joints[0]", "'position' is missing"),
    (("joint_preferences",), [{"name": "x", "source": ""}], "joint_preferences[0]", "No joint named 'x'"),
    (("mounts", 0, "model"), 3, "mounts[0].model", "there are 1 models"),
    (("mounts", 0, "roles", 0), "smell", "mounts[0].roles[0]", "one of visual, collision"),
    (("mounts", 0, "skip_missing"), 0, "mounts[0].skip_missing", "true or false"),
    (("mounts", 0, "objects"), "door", "mounts[0].objects", "a list is expected"),
    (("models", 0, "operations", 0, "kind"), "os.system", "models[0].operations[0].kind", "no such operation"),
    (("models", 0, "sha256"), "00", "models[0].sha256", "not those that were saved"),
    (("closed_loops",), [{}], "closed_loops[0]", "'closures' is missing"),
]  # fmt: skip

BROKEN_VERSION_1 = [
    (("frames",), ..., "", "'frames' is missing"),
    (("strange",), 1, "strange", "there is no such key here"),
    (("frames", 0), "/base", "frames[0]", "begins with '/'"),
    (("frames", 0), 7, "frames[0]", "a text is expected"),
    (("settings", "history_ns"), -1, "settings.history_ns", "history"),
    (("settings", "interpolation"), "cubic", "settings.interpolation", "interpolation"),
    (("settings", "thin_rad"), None, "settings.thin_m", "thin"),
    (("settings", "max_runs"), "many", "settings.max_runs", "max_runs"),
    (("fixed", 0, "wxyz"), [0, 0, 0, 0], "fixed[0].wxyz", "quaternion"),
    (("fixed", 0, "xyz_m", 1), "left", "fixed[0].xyz_m[1]", "a number is expected"),
    (("fixed", 0, "at_ns"), 1.5, "fixed[0].at_ns", "a whole number is expected"),
    (("fixed", 1, "in_frame"), "lidar", "fixed[1]", "placed in itself"),
    (("fixed", 0, "covariance", 0, 0), -1.0, "fixed[0]", "covariance"),
    (("bodies", 0, "frames", 0), "", "bodies[0].frames[0]", "empty"),
    (("mounts", 0, "model"), 3, "mounts[0].model", "there are 1 models"),
    (("mounts", 0, "roles", 0), "smell", "mounts[0].roles[0]", "one of visual, collision"),
    (("mounts", 0, "skip_missing"), 0, "mounts[0].skip_missing", "true or false"),
    (("models", 0, "operations", 0, "kind"), "os.system", "models[0].operations[0].kind", "no such operation"),
    (("models", 0, "sha256"), "00", "models[0].sha256", "not those that were saved"),
    (("fixed", 0, "is_unsure"), True, "fixed[0].is_unsure", "it has a covariance"),
    (("fixed", 1, "is_unsure"), 1, "fixed[1].is_unsure", "true or false"),
    (("time_epoch",), -1, "time_epoch", "from 0 to 100000"),
    (("sampled", 0, "in_frame"), "ball", "sampled[0]", "not in itself"),
    (("measured", 0, "relative_to"), "gyro", "measured[0]", "itself"),
    (("kept", 0, "kind"), "smell", "kept[0].kind", "one of pose, twist"),
    (("kept", 0, "source"), "nobody", "kept[0]", "No source 'nobody'"),
    (("kept", 0, "history_ns"), -1, "kept[0]", "history"),
    (("preferences", 0, "of"), "nothing", "preferences[0]", "No frame named 'nothing'"),
    (("joints", 0, "name"), "door/hing", "joints[0]", "No joint named 'door/hing'"),
    (("joints", 0, "position"), None, "joints[0].position", "a number is expected"),
    (("scene", "nodes", 0, "kind"), "dream", "scene.nodes[0].kind", "a kind is expected"),
    (("scene", "arrays", "file"), "../secret.npz", "scene.arrays.file", "same folder"),
]  # fmt: skip


def check_refused(path, folder, place, value, field, text):  # noqa: PLR0917  (one row of a table)
    document = copy.deepcopy(json.loads(path.read_text()))
    _at(place, value)(document)
    for array in path.parent.glob("*.npz"):
        (folder / array.name).write_bytes(array.read_bytes())
    (folder / "broken.json").write_text(json.dumps(document))
    with pytest.raises(InvalidWorldFile, match="Nothing was made") as error:
        World.load(folder / "broken.json")
    assert (error.value.field, error.value.path) == (field, str(folder / "broken.json"))
    assert text in error.value.reason


class TestABrokenFile:
    @pytest.mark.parametrize("wrong", BROKEN)
    def test_is_refused_with_the_place(self, saved, tmp_path, wrong):
        check_refused(saved[1], tmp_path, *wrong)

    @pytest.mark.parametrize("wrong", BROKEN_VERSION_1)
    def test_of_version_1_is_refused_with_the_place(self, tmp_path, wrong):
        check_refused(VERSION_1, tmp_path, *wrong)

    def test_is_refused_when_a_node_carries_something_else(self, saved, tmp_path):
        document = json.loads(saved[1].read_text())
        place = next(i for i, record in enumerate(document["records"]) if record.get("kind") == "geometry")
        check_refused(
            saved[1], tmp_path, ("records", place, "content"), "00" * 32, f"records[{place}].content", "no such"
        )
        check_refused(
            saved[1], tmp_path, ("records", place, "kind"), "connection", f"records[{place}].content", "carries"
        )

    def test_is_refused_when_a_record_comes_twice(self, saved, tmp_path):
        first = json.loads(saved[1].read_text())["records"][0]
        check_refused(saved[1], tmp_path, ("records", 1), first, "records[1].id", "taken by a record before it")

    @pytest.mark.parametrize("text", ["", "[]", "{", "{}", "null", '{"format": 1, "format": 2}', "[" * 100_000])
    def test_is_refused_when_it_is_something_else(self, tmp_path, text):
        (tmp_path / "broken.json").write_text(text)
        with pytest.raises(InvalidWorldFile):
            World.load(tmp_path / "broken.json")

    def test_is_refused_when_it_is_too_large(self, saved):
        with pytest.raises(InvalidWorldFile, match="larger than max_bytes"):
            World.load(saved[1], max_bytes=100)

    def test_is_refused_when_it_is_a_pipe(self, tmp_path):
        os.mkfifo(tmp_path / "pipe.json")
        with pytest.raises(InvalidWorldFile, match="no regular file"):
            World.load(tmp_path / "pipe.json")

    def test_is_refused_soon_when_a_key_of_many_comes_twice(self, tmp_path):
        keys = [f'"key{i}": 1' for i in range(60_000)]
        (tmp_path / "broken.json").write_text("{" + ", ".join([*keys, keys[-1]]) + "}")
        with pytest.raises(InvalidWorldFile, match="given twice"):
            World.load(tmp_path / "broken.json")

    def test_that_does_not_exist_raises_file_not_found(self, tmp_path):
        with pytest.raises(FileNotFoundError):
            World.load(tmp_path / "nowhere.json")


class TestAWorldWithoutAModel:
    def test_is_loaded_without_casadi(self, tmp_path):
        world = World("plain")
        world.fix(of="camera", in_frame="base", transform=moved(1))
        world.save(tmp_path / "plain.json")
        code = (
            "import sys; sys.modules['casadi'] = None; import armillary\n"
            f"print(armillary.World.load({str(tmp_path / 'plain.json')!r}).frames())"
        )
        assert run_python(code).stdout == "('base', 'camera')\n"


@pytest.fixture
def robot(tmp_path):
    """A world with a door and a loop, its file, and its changes as they travel."""
    model = ArticulationModel()
    model.edit(four_bar("linkage"))
    model.add_robot(door(), name="door")
    with World("robot", clock=FakeClock(seconds(5))) as world:
        world.add_frame("map")
        world.mount(model, in_frame="map")
        (tmp_path / "changes").write_bytes(pickle.dumps(world.scene.changes()))
        world.save(tmp_path / "robot.json")
        world.set_joints(OPENED, at=seconds(1))
        yield world


OPENED = {"linkage/crank": 0.5, "door/hinge": 0.3}
WITHOUT_CASADI = "import pickle, sys; sys.modules['casadi'] = None; from armillary import World, errors, seconds\n"


class TestAWorldWithModels:
    def test_is_received_moved_and_asked_without_casadi(self, robot, tmp_path):
        """Tapes travel: only who edits a model needs what compiles them (rule 30)."""
        names = [name for name in robot.frames() if name != "map"]
        positions = {name: robot.joint(name, at=seconds(1)).value for name in robot.joints()}
        ran = run_python(
            WITHOUT_CASADI + f"world = World(); world.merge(pickle.load(open({str(tmp_path / 'changes')!r}, 'rb')))\n"
            f"world.set_joints({positions!r}, at=seconds(1))\n"
            f"poses = [world.pose(of=name, in_frame='map', at=seconds(1)) for name in {names!r}]\n"
            "print([pose.transform.xyz_wxyz.tolist() for pose in poses])"
        )
        assert ran.stderr == ""
        due = [robot.pose(of=name, in_frame="map", at=seconds(1)).transform.xyz_wxyz for name in names]
        np.testing.assert_allclose(ast.literal_eval(ran.stdout), due, atol=1e-12)

    def test_is_not_loaded_for_editing_without_casadi(self, robot, tmp_path):
        ran = run_python(
            WITHOUT_CASADI + f"try: World.load({str(tmp_path / 'robot.json')!r})\n"
            "except errors.MissingExtra as missing: print(missing)"
        )
        assert "pip install 'armillary[articulation]'" in ran.stdout


class TestAFileOfAnotherKind:
    def test_is_named_with_what_loads_it(self, tmp_path):
        path = tmp_path / "scene.json"
        World().scene.save(path)
        with pytest.raises(InvalidWorldFile) as caught:
            World.load(path)
        assert caught.value.field == "format"
        assert "it is a saved scene ('armillary.scene')" in caught.value.reason
        assert str(caught.value).endswith(f"Nothing was made; load it with world.scene.load('{path}').")

    def test_is_reported_before_anything_else(self, tmp_path):
        path = tmp_path / "other.json"
        path.write_text('{"format": ["graph"], "version": 7, "edges": []}')
        with pytest.raises(InvalidWorldFile, match=r"at format: 'armillary.world' is expected, and it is a list of 1"):
            World.load(path)
