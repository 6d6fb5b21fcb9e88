"""Merging and loading with a prefix: equal robots in one world."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from armillary import Box, World, seconds
from armillary.errors import ArmillaryError, InvalidArgument, InvalidName
from armillary.store.prefixes import Prefix
from unit.kit import moved
from unit.record.kit import full_world

ROOT = Path(__file__).resolve().parents[3]


def robot(name="robot"):
    """A robot with a body, a camera, a thing in its scene, and a frame on that thing."""
    world = World(name)
    world.set_pose(of="base", in_frame="map", transform=moved(1), at=seconds(1))
    world.fix(of="camera", in_frame="base", transform=moved(0, 1))
    world.add_body("cart", frames=["base", "camera"])
    shelf = world.scene.add_transform(
        parent=world.scene.root, transform=moved(3), at=None, attributes={"name": "shelf"}
    )
    board = world.scene.add_geometry(parent=shelf, shape=Box(size_m=(1.0, 0.3, 0.02)), at=None)
    world.fix(of="tag", in_frame=world.scene.frame(shelf), transform=moved(0, 0, 1))
    lens = world.scene.add_group(parent="camera", attributes={"name": "lens"}, at=0)
    world.scene.add_connection(parent=world.scene.root, sources=[lens], targets=[board], start=0, end=None, at=0)
    return world


def shelves(world):
    return world.scene.find({"name": "shelf"})


class TestTwoEqualRobots:
    def test_share_one_world(self):
        world, one = World(), robot()
        for prefix in ("A/", "B/"):
            world.merge(one.scene.changes(), prefix=prefix)
        assert {"A/base", "A/camera", "A/map", "B/base", "B/camera", "B/map", "B/tag"} <= set(world.frames())
        assert "base" not in world.frames()
        assert world.bodies() == ("A/cart", "B/cart")
        assert world.store.inactive() == []

    def test_keep_their_samples_apart(self):
        world, one = World(), robot()
        for prefix, x in (("A/", 1.0), ("B/", 5.0)):
            world.merge(one.scene.changes(), prefix=prefix)
            world.set_pose(
                of=f"{prefix}base", in_frame=f"{prefix}map", transform=moved(x), at=seconds(1), source="robot"
            )
        for prefix, x in (("A/", 1.0), ("B/", 5.0)):
            seen = world.pose(of=f"{prefix}camera", in_frame=f"{prefix}map", at=seconds(1))
            np.testing.assert_allclose(seen.xyz, [x, 1, 0])

    def test_have_nodes_of_their_own_in_maps_of_their_own(self):
        world, one = World(), robot()
        for prefix in ("A/", "B/"):
            world.merge(one.scene.changes(), prefix=prefix)
        expected = {Prefix(prefix).node(*shelves(one)) for prefix in ("A/", "B/")}
        assert set(shelves(world)) == expected
        for prefix in ("A/", "B/"):
            shelf = Prefix(prefix).node(*shelves(one))
            np.testing.assert_allclose(world.pose(of=world.scene.frame(shelf), in_frame=f"{prefix}map").xyz, [3, 0, 0])
            np.testing.assert_allclose(world.pose(of=f"{prefix}tag", in_frame=f"{prefix}map").xyz, [3, 0, 1])
            (board,) = world.scene.children(shelf)
            np.testing.assert_allclose(world.scene.geometry(board).size_m, (1.0, 0.3, 0.02))

    def test_have_connections_between_their_own_nodes(self):
        world, one = World(), robot()
        world.merge(one.scene.changes(), prefix="B/")
        naming = Prefix("B/", known=one.frames())
        (lens,) = one.scene.find({"name": "lens"})
        (found,) = world.scene.find({"name": "lens"})
        assert found == naming.node(lens)
        (record,) = [r for r in world.scene.changes() if r.type == "add_node" and r.kind == "connection"]
        assert record.content_object.sources == (found,)

    def test_may_share_the_root(self):
        world, one = World(), robot()
        for prefix in ("A/", "B/"):
            world.merge(one.scene.changes(), prefix=prefix, shared=["map"])
        assert set(world.frames()) >= {"map", "A/base", "B/base"}
        assert "A/map" not in world.frames()
        for shelf in shelves(world):
            np.testing.assert_allclose(world.pose(of=world.scene.frame(shelf), in_frame="map").xyz, [3, 0, 0])
        assert set(shelves(world)) <= set(world.scene.children(world.scene.root))

    def test_may_have_another_root_frame(self):
        one = World("robot", root_frame="hall")
        one.scene.add_transform(parent=one.scene.root, transform=moved(2), at=None, attributes={"name": "shelf"})
        world = World()
        world.merge(one.scene.changes(), prefix="B/", root_frame="hall")
        (shelf,) = shelves(world)
        np.testing.assert_allclose(world.pose(of=world.scene.frame(shelf), in_frame="B/hall").xyz, [2, 0, 0])


class TestMergingAgain:
    def test_changes_nothing(self):
        world, one = World(), robot()
        assert world.merge(one.scene.changes(), prefix="B/") != []
        before = world.digest()
        assert world.merge(one.scene.changes(), prefix="B/") == []
        assert world.digest() == before

    def test_follows_later_changes(self):
        world, one = World(), robot()
        world.merge(one.scene.changes(), prefix="B/")
        seen = one.scene.version_vector()
        (lens,) = one.scene.find({"name": "lens"})
        one.scene.set_attributes(lens, {"name": "wide lens"}, at=seconds(2))
        one.scene.add_group(parent="base", attributes={"name": "bumper"}, at=0)
        one.scene.remove(*shelves(one), subtree=True)
        one.fix(of="camera", in_frame="base", transform=moved(0, 2), recalibrate=True)
        world.merge(one.scene.changes(since=seen), prefix="B/")
        whole = World()
        whole.merge(one.scene.changes(), prefix="B/")
        assert world.digest() == whole.digest()
        assert len(world.scene.find({"name": "wide lens"})) == 1
        assert shelves(world) == shelves(whole) == []

    def test_gives_the_same_at_once_in_parts_and_shuffled(self):
        records, rng, digests = full_world().scene.changes(), np.random.default_rng(1), set()
        for parts in (1, 2, 5, len(records)):
            world = World()
            for some in np.array_split(np.arange(len(records)), parts):
                world.merge([records[k] for k in rng.permutation(some)], prefix="B/")
            digests.add(world.digest())
        assert len(digests) == 1

    def test_can_be_nested(self):
        inner, outer = World(), World()
        inner.merge(robot().scene.changes(), prefix="arm/")
        outer.merge(inner.scene.changes(), prefix="B/")
        assert {"B/arm/base", "B/arm/map"} <= set(outer.frames())
        (shelf,) = shelves(outer)
        np.testing.assert_allclose(outer.pose(of=outer.scene.frame(shelf), in_frame="B/arm/map").xyz, [3, 0, 0])

    def test_is_not_undone_by_undo(self):
        world = World()
        world.merge(robot().scene.changes(), prefix="B/")
        world.fix(of="extra", in_frame="B/base", transform=moved(1))
        world.undo()
        assert "extra" not in world.frames()
        assert "B/base" in world.frames()


class TestALoadedWorld:
    def test_has_every_name_prefixed(self, tmp_path):
        full_world().save(tmp_path / "world.json")
        plain, named = World.load(tmp_path / "world.json"), World.load(tmp_path / "world.json", prefix="B/")
        naming = Prefix("B/", known=plain.frames())
        expected = {naming.name(name) for name in plain.frames()}
        assert set(named.frames()) == expected | {"map"}
        assert named.bodies() == tuple(f"B/{name}" for name in plain.bodies())
        assert named.joints() == tuple(f"B/{name}" for name in plain.joints())
        assert named.joint("B/door/hinge").value == plain.joint("door/hinge").value

    def test_answers_as_the_plain_one_does(self, tmp_path):
        full_world().save(tmp_path / "world.json")
        plain, named = World.load(tmp_path / "world.json"), World.load(tmp_path / "world.json", prefix="B/")
        naming = Prefix("B/", known=plain.frames())
        for of in plain.frames():
            for in_frame in plain.frames():
                for at in (seconds(7), seconds(9)):
                    answers = [answer_of(plain, of, in_frame, at)]
                    answers.append(answer_of(named, naming.name(of), naming.name(in_frame), at))
                    assert answers[0] == answers[1], (of, in_frame, at)

    def test_is_what_merging_its_records_gives(self, tmp_path):
        full_world().save(tmp_path / "world.json")
        loaded = World.load(tmp_path / "world.json", prefix="B/")
        merged = World("robot")
        merged.merge(World.load(tmp_path / "world.json").scene.changes(), prefix="B/")
        assert loaded.digest() == merged.digest()

    def test_moves_with_its_joints_and_follows_its_model(self, tmp_path):
        full_world().save(tmp_path / "world.json")
        both = World.load(tmp_path / "world.json", prefix="B/")
        (mount,) = both.mounts
        assert mount.frames == {"door/links/frame": "B/door/frame", "door/links/panel": "B/door/panel"}
        both.set_joints({"B/door/hinge": 1.0}, at=seconds(10))
        turned = both.pose(of="B/door/panel", in_frame="B/map", at=seconds(10))
        np.testing.assert_allclose(turned.transform.rotation.rpy, [0, 0, 1], atol=1e-12)

    def test_can_be_saved_and_loaded_again(self, tmp_path):
        full_world().save(tmp_path / "world.json")
        both = World.load(tmp_path / "world.json", prefix="B/")
        both.save(tmp_path / "both.json")
        again = World.load(tmp_path / "both.json")
        assert again.digest() == both.digest()
        assert again.mounts[0].frames == both.mounts[0].frames
        outer = World.load(tmp_path / "both.json", prefix="C/")
        assert "C/B/door/panel" in outer.mounts[0].frames.values()

    def test_is_merged_with_its_twin(self, tmp_path):
        robot().save(tmp_path / "robot.json")
        world = World()
        for prefix in ("A/", "B/"):
            world.merge(World.load(tmp_path / "robot.json", prefix=prefix).scene.changes())
        assert {"A/camera", "B/camera"} <= set(world.frames())
        assert len(shelves(world)) == 2


def answer_of(world, of, in_frame, at):
    try:
        pose = world.pose(of=of, in_frame=in_frame, at=at, outside="hold")
    except ArmillaryError as error:
        return type(error).__name__
    return pose.transform.xyz_wxyz.tolist(), None if pose.covariance is None else pose.covariance.tolist()


class TestAPrefix:
    @pytest.mark.parametrize("prefix", ["", 3, "/B", "a\nb", b"B/"])
    def test_that_is_none_is_refused(self, prefix):
        with pytest.raises((InvalidArgument, InvalidName)):
            World().merge(robot().scene.changes(), prefix=prefix)

    @pytest.mark.parametrize("shared", ["map", 3, [3]])
    def test_refuses_what_is_no_list_of_names(self, shared):
        with pytest.raises((InvalidArgument, InvalidName)):
            World().merge(robot().scene.changes(), prefix="B/", shared=shared)

    def test_knows_every_kind_of_record_and_every_field_of_it(self):
        """A new kind, or a new field that may hold a name, has to be thought of here."""
        schema = json.loads((ROOT / "docs" / "saved_world.schema.json").read_text())
        kinds = {}
        for one in schema["$defs"]["record"]["oneOf"]:
            kinds[one["properties"]["type"]["const"]] = set(one["required"])
        assert kinds == KNOWN_FIELDS

    def test_keeps_sources_but_those_that_are_nodes(self):
        naming, node = Prefix("B/"), World().scene.root
        assert naming.source("camera") == "camera"
        assert naming.source(str(node)) == str(naming.node(node))


KNOWN_FIELDS = {
    "add_node": {"node", "incarnation", "kind", "content", "placement", "frame_name", "settings", "edge"},
    "add_edge": {"node", "incarnation", "parent", "parent_incarnation", "pose", "rank", "restores"},
    "remove_edges": {"node", "incarnation", "dots", "parent"},
    "set_attributes": {"node", "incarnation", "settings"},
    "set_frames": {"names", "present"},
    "remove_frames": {"names"},
    "assert": {"track", "since", "value", "rank", "recalibrate"},
    "set_body": {"body", "frames", "present"},
    "prefer": {"subject", "source", "start", "end"},
    "set_variables": {"variables"},
    "forget": {"of", "track_kind", "in_frame", "source", "start", "end"},
    "reset_time": {"clock"},
}
