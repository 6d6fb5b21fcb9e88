"""Scenes in files: what is written comes back, and what is wrong is refused by its place."""

from __future__ import annotations

import copy
import functools
import hashlib
import io
import json
import zipfile
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

import randomness
from armillary import LATEST, Box, PointCloud, World, seconds
from armillary.errors import InvalidSceneFile, NodeExists
from armillary.scene import NodeId
from json_schema import faults
from unit.kit import FakeClock, moved
from unit.scene.scene_kit import full_scene

SCHEMA = json.loads((Path(__file__).resolve().parents[4] / "docs" / "scene.schema.json").read_text())


def new_world(s: float = 10.0) -> World:
    return World(clock=FakeClock(seconds(s)))


@pytest.fixture
def saved(tmp_path):
    """A world with something of every kind, its nodes, and the file it was saved to."""
    world = new_world()
    ids = full_scene(world)
    world.fix(of="robot", in_frame="map", transform=moved(1))
    world.scene.set_attributes("robot", {"battery": 0.5})
    ids["remote"] = world.scene.add_remote_root(NodeId.random(), attributes={"agent": "b"}, at=seconds(1))
    ids["far"] = world.scene.add_group(parent=ids["remote"], at=seconds(1))
    world.scene.save(tmp_path / "kitchen.json")
    return world, ids, tmp_path / "kitchen.json"


@pytest.fixture
def loaded(saved):
    world = new_world(20)
    world.scene.load(saved[2])
    return world


class TestSavingAndLoading:
    def test_keeps_the_digest(self, saved, loaded):
        assert loaded.scene.digest() == saved[0].scene.digest()

    def test_keeps_the_order_of_children_and_of_parents(self, saved, loaded):
        before, after = saved[0].scene, loaded.scene
        for node in before.find({}):
            assert after.children(node) == before.children(node)
            assert after.parents(node) == before.parents(node)

    def test_keeps_attributes_and_their_types(self, saved, loaded):
        for node in saved[0].scene.find({}):
            before, after = (world.scene.attributes(node) for world in (saved[0], loaded))
            assert {key: (type(value), repr(value)) for key, value in after.items()} == {
                key: (type(value), repr(value)) for key, value in before.items()
            }

    @pytest.mark.parametrize("case", [str.lower, str.upper])
    def test_keeps_a_frame_that_is_named_like_a_node(self, tmp_path, case):
        world, other, name = new_world(), new_world(20), case("a0000000-0000-4000-8000-000000000000")
        world.add_frame(name)
        world.scene.set_attributes(name, {"a": 1})
        world.scene.save(tmp_path / "named.json")
        other.scene.load(tmp_path / "named.json")
        assert other.scene.attributes(name) == {"a": 1}
        assert other.scene.digest() == world.scene.digest()

    def test_keeps_where_something_fixed_was_moved(self, tmp_path):
        world = new_world()
        shelf = world.scene.add_transform(parent=world.scene.root, transform=moved(1), at=None)
        for x in (2, 3):
            world.scene.set_transform(shelf, moved(x), at=seconds(x))
        world.scene.save(tmp_path / "shelf.json")
        assert faults(json.loads((tmp_path / "shelf.json").read_text()), SCHEMA, SCHEMA) == []
        other = new_world(20)
        other.scene.load(tmp_path / "shelf.json")
        for one in (world, other):
            poses = (one.pose(of=str(shelf), in_frame="map", at=seconds(s), outside="hold") for s in (1, 2, 2.5, 9))
            assert [pose.xyz[0] for pose in poses] == [1, 2, 2.5, 3]
        assert other.scene.digest() == world.scene.digest()

    def test_keeps_what_has_always_looked_so(self, tmp_path):
        world, other = new_world(), new_world(20)
        top = world.scene.add_geometry(parent=world.scene.root, shape=Box((1, 1, 1)), at=None)
        world.scene.save(tmp_path / "top.json")
        other.scene.load(tmp_path / "top.json")
        assert other.scene.expire(older_than=0) == []
        assert (other.scene.levels(top).is_always, other.scene.digest()) == (True, world.scene.digest())

    def test_keeps_every_level_and_every_field(self, saved, loaded):
        for name in ("cloud", "mesh", "grid"):
            before, after = (world.scene.levels(saved[1][name]) for world in (saved[0], loaded))
            assert after == before

    def test_keeps_stamps(self, saved, loaded):
        for name in ("table", "cloud", "mesh", "tie"):
            assert loaded.scene.stamp(saved[1][name]) == saved[0].scene.stamp(saved[1][name])

    @pytest.mark.parametrize(("name", "at"), [("cup", seconds(1.5)), ("seen", seconds(2.5)), ("fixed", LATEST)])
    def test_keeps_where_things_were(self, saved, loaded, name, at):
        frame = saved[0].scene.frame(saved[1][name])
        before, after = (world.pose(of=frame, in_frame="map", at=at) for world in (saved[0], loaded))
        assert after.transform.is_close(before.transform)

    @pytest.mark.parametrize(("name", "s"), [("cup", 1), ("cup", 2), ("seen", 2), ("seen", 3)])
    def test_keeps_which_covariances_are_known(self, saved, loaded, name, s):
        frame = saved[0].scene.frame(saved[1][name])
        before, after = (world.pose(of=frame, in_frame="map", at=seconds(s)).covariance for world in (saved[0], loaded))
        assert (after is None) == (before is None)
        assert before is None or np.array_equal(after, before)

    def test_keeps_connections_whose_ends_are_gone(self, saved, loaded):
        assert loaded.scene.connection(saved[1]["tie"]) == saved[0].scene.connection(saved[1]["tie"])

    def test_keeps_roots_of_others_apart(self, saved, loaded):
        remote = saved[1]["remote"]
        assert loaded.scene.attributes(remote) == {"agent": "b"}
        assert loaded.scene.children(remote) == [saved[1]["far"]]
        assert remote not in loaded.scene.find({})

    def test_names_the_frames_of_the_world(self, loaded):
        assert loaded.scene.attributes("robot") == {"battery": 0.5}

    def test_keeps_the_digest_of_an_empty_scene(self, tmp_path):
        World().scene.save(tmp_path / "empty.json")
        world = World()
        assert world.scene.load(tmp_path / "empty.json") == []
        assert world.scene.digest() == World().scene.digest()

    def test_adds_to_what_is_there(self, saved):
        world = new_world(20)
        other = world.scene.add_group(parent=world.scene.root)
        world.scene.load(saved[2])
        assert other in world.scene
        assert saved[1]["cup"] in world.scene

    def test_is_one_batch_to_observers(self, saved):
        world, batches = new_world(20), []
        world.scene.attach(batches.append)
        world.scene.load(saved[2])
        assert len(batches) == 1

    def test_is_ordinary_changes_to_other_replicas(self, loaded):
        copy_of_it = World("copy", clock=FakeClock(seconds(20)))
        copy_of_it.merge(loaded.scene.changes())
        assert copy_of_it.scene.digest() == loaded.scene.digest()


class TestAFile:
    def test_is_what_the_schema_says(self, saved):
        assert faults(json.loads(saved[2].read_text()), SCHEMA, SCHEMA) == []

    def test_that_is_not_is_found_by_the_check(self, saved):
        document = json.loads(saved[2].read_text())
        document["nodes"][0]["strange"] = 1
        assert faults(document, SCHEMA, SCHEMA)

    def test_is_the_same_for_the_same_scene(self, saved):
        before = {path.name: path.read_bytes() for path in saved[2].parent.iterdir()}
        saved[0].scene.save(saved[2])
        assert {path.name: path.read_bytes() for path in saved[2].parent.iterdir()} == before

    def test_replaces_the_old_one_and_its_arrays(self, saved):
        saved[0].scene.add_geometry(parent=saved[0].scene.root, shape=PointCloud([(1, 2, 3)]))
        saved[0].scene.save(saved[2])
        assert sorted(path.suffix for path in saved[2].parent.iterdir()) == [".json", ".npz"]

    def test_has_no_arrays_beside_it_where_there_are_none(self, tmp_path):
        world = World()
        world.scene.add_geometry(parent=world.scene.root, shape=Box((1, 1, 1)))
        world.scene.save(tmp_path / "box.json")
        assert [path.name for path in tmp_path.iterdir()] == ["box.json"]

    def test_stays_whole_where_writing_fails(self, saved):
        saved[0].scene.set_attributes(saved[0].scene.root, {"name": "other"})
        with mock.patch("os.fsync", side_effect=OSError("disk full")), pytest.raises(OSError, match="disk full"):
            saved[0].scene.save(saved[2])
        world = new_world(20)
        world.scene.load(saved[2])
        assert world.scene.attributes(world.scene.root)["name"] == "kitchen"
        assert sorted(path.suffix for path in saved[2].parent.iterdir()) == [".json", ".npz"]

    def test_holds_a_transform_whose_samples_are_forgotten_as_it_was_made(self, saved):
        world, ids, path = saved
        world.clear()
        world.scene.save(path)
        other = new_world(20)
        other.scene.load(path)
        assert other.scene.digest() == world.scene.digest()
        cup = other.scene.frame(ids["cup"])
        assert world.relations() == tuple(info for info in world.relations() if info.samples == 0)
        assert [info.samples for info in other.relations() if info.of == cup] == [1]

    def test_has_no_attributes_of_a_root_without_any(self, tmp_path):
        world, other = new_world(5), new_world(20)
        world.scene.add_group(parent=world.scene.root)
        world.scene.save(tmp_path / "plain.json")
        other.scene.load(tmp_path / "plain.json")
        assert [record.type for record in other.scene.changes()] == ["add_node"]


class TestLoadingWhatIsThere:
    def test_is_refused_and_changes_nothing(self, saved):
        before = saved[0].scene.digest()
        with pytest.raises(NodeExists):
            saved[0].scene.load(saved[2])
        assert saved[0].scene.digest() == before

    def test_names_no_frames_where_it_is_refused(self, saved):
        world = new_world(20)
        world.scene.add_group(parent=world.scene.root, id=saved[1]["grid"])
        with pytest.raises(NodeExists):
            world.scene.load(saved[2])
        assert world.frames() == ("map",)


# -- What is refused


def node_of_kind(document, kind):
    return next(i for i, node in enumerate(document["nodes"]) if node["kind"] == kind)


def change_of(kind, *keys, to):
    """A change of one field of the first node of a kind, and the place that must be named."""

    def change(document):
        i = node_of_kind(document, kind)
        place, value = f"nodes[{i}]", document["nodes"][i]
        for key in keys[:-1]:
            value, place = value[key], place + (f"[{key}]" if isinstance(key, int) else f".{key}")
        value[keys[-1]] = to
        return place + (f"[{keys[-1]}]" if isinstance(keys[-1], int) else f".{keys[-1]}")

    return change


def top(key, to):
    def change(document):
        document[key] = to
        return key

    return change


def deep(levels):
    value = 1
    for _ in range(levels):
        value = [value]
    return value


def loose_node(document):
    child = document["nodes"][-1]["id"]
    document["contains"] = [edge for edge in document["contains"] if edge[1] != child]
    return f"nodes[{len(document['nodes']) - 1}]"


def cycle(document):
    table = document["nodes"][node_of_kind(document, "group")]["id"]
    below = next(child for parent, child in document["contains"] if parent == table)
    document["contains"].append([below, table])
    return "contains["


def twice(document):
    document["nodes"].append(copy.deepcopy(document["nodes"][0]))
    return f"nodes[{len(document['nodes']) - 1}].id"


WRONG = {
    "another format": top("format", "other"),
    "a later version": top("version", 2),
    "a version that is no number": top("version", "1"),
    "nodes that are no list": top("nodes", {}),
    "a root of another id": lambda d: (d["root"].update(id=str(NodeId.random())), "root.id")[1],
    "an attribute that is NaN": change_of("group", "attributes", "mass", to=float("nan")),
    "an attribute that is infinite": change_of("group", "attributes", "mass", to=float("inf")),
    "an attribute that is nothing": change_of("group", "attributes", "mass", to=None),
    "an attribute that is an object": change_of("group", "attributes", "mass", to={"a": 1}),
    "an attribute that is too large": change_of("group", "attributes", "mass", to=2**70),
    "an attribute nested too deep": change_of("group", "attributes", "mass", to=deep(9)),
    "half a character": change_of("group", "attributes", "mass", to="\ud800"),
    "a kind that is none": change_of("group", "kind", to="wall"),
    "an id that is none": change_of("group", "id", to="table"),
    "a stamp that is none": change_of("group", "at_ns", to=1.5),
    "a stamp beyond all time": change_of("geometry", "at_ns", to=2**62),
    "an infinity that is none": lambda d: (
        d["root"]["attributes"].update(far={"float": []}),
        "root.attributes.far.float",
    )[1],
    "a key that is none": change_of("group", "colour", to="red"),
    "a quaternion that is none": change_of("transform", "samples", 0, "wxyz", to=[2, 0, 0, 0]),
    "a quaternion of three": change_of("transform", "samples", 0, "wxyz", to=[1, 0, 0]),
    "a translation that is NaN": change_of("transform", "samples", 0, "xyz_m", 1, to=float("nan")),
    "a translation beyond all floats": change_of("transform", "samples", 0, "xyz_m", 1, to=10**400),
    "no samples": change_of("transform", "samples", to=[]),
    "stamps that go back": change_of("transform", "samples", 1, "at_ns", to=0),
    "a covariance of no shape": change_of("uncertain_transform", "samples", 0, "covariance", to=[[1]]),
    "no levels": change_of("geometry", "levels", to=[]),
    "a shape that is none": lambda d: change_of("geometry", "levels", 0, "kind", to="heart")(d).removesuffix(".kind"),
    "an array that is not there": change_of("geometry", "levels", 0, "arrays", "points", to="array_99"),
    "a connection that ends before it starts": change_of("connection", "end_ns", to=1),
    "an end that is no id": change_of("connection", "sources", 0, to=3),
    "a frame of another id": lambda d: (change_of("frame", "frame", to="tool")(d), "")[1] + "nodes[",
    "a frame that cannot be named so": change_of("frame", "frame", to="/robot"),
    "a node twice": twice,
    "a node without a parent": loose_node,
    "a cycle": cycle,
    "containment of three": lambda d: (d["contains"].__setitem__(0, ["a", "b", "c"]), "contains[0]")[1],
    "containment in a shape": lambda d: (
        d["contains"].append([d["nodes"][node_of_kind(d, "geometry")]["id"], d["nodes"][-1]["id"]]),
        f"contains[{len(d['contains']) - 1}][0]",
    )[1],
    "containment twice": lambda d: (
        d["contains"].append(d["contains"][0]),
        f"contains[{len(d['contains']) - 1}]",
    )[1],
    "a remote root that is none": top("remote_roots", [str(NodeId.random())]),
    "arrays elsewhere": lambda d: (d["arrays"].update(file="/etc/passwd"), "arrays.file")[1],
    "arrays above": lambda d: (d["arrays"].update(file="../a.npz"), "arrays.file")[1],
    "arrays that are not there": lambda d: (d["arrays"].update(file="a.npz"), "arrays.file")[1],
    "other arrays": lambda d: (d["arrays"].update(sha256="0" * 64), "arrays.sha256")[1],
}


class TestABadFile:
    @pytest.mark.parametrize("name", WRONG)
    def test_is_refused_with_the_place_of(self, saved, name):
        document = json.loads(saved[2].read_text())
        place = WRONG[name](document)
        saved[2].write_text(json.dumps(document))
        world = new_world(20)
        before = world.scene.digest()
        with pytest.raises(InvalidSceneFile) as caught:
            world.scene.load(saved[2])
        assert caught.value.field.startswith(place)
        assert place in str(caught.value)
        assert (world.scene.digest(), world.frames()) == (before, ("map",))

    def test_quotes_keys_that_are_no_names(self, saved):
        document = json.loads(saved[2].read_text())
        i = node_of_kind(document, "group")
        document["nodes"][i]["attributes"]["odd key"] = None
        saved[2].write_text(json.dumps(document))
        with pytest.raises(InvalidSceneFile) as caught:
            new_world().scene.load(saved[2])
        assert caught.value.field == f'nodes[{i}].attributes["odd key"]'

    @pytest.mark.parametrize("key", ["format", "nodes", "contains", "remote_roots", "arrays", "root", "version"])
    def test_is_refused_without(self, saved, key):
        document = json.loads(saved[2].read_text())
        del document[key]
        saved[2].write_text(json.dumps(document))
        with pytest.raises(InvalidSceneFile, match=f"'{key}' is missing"):
            new_world().scene.load(saved[2])

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "{",
            "[]",
            "null",
            "3",
            '"scene"',
            "\xff",
            "[" * 200_000,
            '{"a":' * 200_000,
            '{"a": 1, "a": 2}',
            "9" * 10_000,
        ],
        ids=lambda text: text[:10],
    )
    def test_that_is_no_scene_at_all_is_refused(self, tmp_path, text):
        (tmp_path / "bad.json").write_bytes(text.encode("latin-1"))
        with pytest.raises(InvalidSceneFile, match="Nothing was loaded"):
            new_world().scene.load(tmp_path / "bad.json")

    def test_that_is_too_large_is_not_read(self, saved):
        with pytest.raises(InvalidSceneFile, match="larger than max_bytes, 100 bytes"):
            new_world().scene.load(saved[2], max_bytes=100)

    def test_whose_arrays_are_too_large_is_not_read(self, saved):
        with pytest.raises(InvalidSceneFile, match="what is left of max_bytes"):
            new_world().scene.load(saved[2], max_bytes=saved[2].stat().st_size + 10)

    def test_that_is_not_there_is_not_found(self, tmp_path):
        with pytest.raises(FileNotFoundError):
            new_world().scene.load(tmp_path / "none.json")


JUNK = [None, True, -1, 1.5, 1e308, 2**63, "", str(NodeId.random()), [], {}, [[]], float("nan"), float("inf"), {"a": 1}]


def places(value, way=()):
    """Every way into a document."""
    keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield (*way, key)
        yield from places(value[key], (*way, key))


class TestAFileWithRandomFaults:
    def test_is_refused_or_loaded_whole(self, saved):
        rng, loaded = randomness.chance(4), 0
        document = json.loads(saved[2].read_text())
        ways = list(places(document))
        for _ in range(150):
            spoilt = copy.deepcopy(document)
            *way, last = rng.choice(ways)
            target = functools.reduce(lambda value, key: value[key], way, spoilt)
            target[last] = rng.choice(JUNK)
            saved[2].write_text(json.dumps(spoilt))
            world = new_world(20)
            try:
                world.scene.load(saved[2])
            except InvalidSceneFile:
                assert (len(world.scene), world.frames()) == (1, ("map",))
                continue
            loaded += 1
            self.assert_is_whole(world, saved[2].with_name("again.json"))
        assert 0 < loaded < 150

    def assert_is_whole(self, world, path):
        """What was taken says the same when it is saved and loaded again."""
        world.scene.save(path)
        again = new_world(21)
        again.scene.load(path)
        assert again.scene.digest() == world.scene.digest()
        assert set(again.scene.find({})) == set(world.scene.find({}))


def npy_of(array) -> bytes:
    content = io.BytesIO()
    np.save(content, array)
    return content.getvalue()


def archive(members: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", compression) as target:
        for name, data in members.items():
            target.writestr(name, data)
    return content.getvalue()


class Bomb:
    def __reduce__(self):
        return (pytest.fail, ("a pickle was opened",))


def pickled() -> bytes:
    content = io.BytesIO()
    np.save(content, np.array([Bomb()], dtype=object), allow_pickle=True)
    return content.getvalue()


def npy_that_claims(shape: tuple[int, ...], data: bytes = b"") -> bytes:
    content = io.BytesIO()
    np.lib.format.write_array_header_1_0(content, {"descr": "<f8", "fortran_order": False, "shape": shape})
    return content.getvalue() + data


def misled() -> bytes:
    """An archive whose end says that its members begin before the file does."""
    content = bytearray(archive({"array_0.npy": npy_of(np.zeros(1))}))
    content[-6:-2] = (2**31).to_bytes(4, "little")
    return bytes(content)


HUGE = npy_of(np.zeros(1)).replace(b"(1,), ", b"(999999999,), ".ljust(6))

BAD_ARRAYS = {
    "a file that is no archive": b"array",
    "nothing": b"",
    "a compressed array": archive({"array_0.npy": npy_of(np.zeros(1_000_000))}, zipfile.ZIP_DEFLATED),
    "an array that says it is larger": archive({"array_0.npy": HUGE}),
    "an array that is cut off": archive({"array_0.npy": npy_of(np.zeros(100))[:-8]}),
    "a member that is no array": archive({"array_0.npy": b"array"}),
    "a header that is none": archive({"array_0.npy": b"\x93NUMPY\x01\x00\x05\x00{'a':"}),
    "objects": archive({"array_0.npy": pickled()}),
    "lengths below zero": archive({"array_0.npy": npy_that_claims((-1, -8), bytes(64))}),
    "lengths beyond all memory": archive({"array_0.npy": npy_that_claims((0, 10**30))}),
    "more axes than numpy has": archive({"array_0.npy": npy_that_claims((1,) * 100, bytes(8))}),
    "lengths that are truth values": archive({"array_0.npy": npy_that_claims((True,), bytes(8))}),
    "members before the file": misled(),
    "a member named in no text": archive({"é.npy": b""}).replace("é".encode(), b"\xff\xff"),
    "texts": archive({"array_0.npy": npy_of(np.array(["a"]))}),
}


class TestBadArrays:
    @pytest.mark.parametrize("name", BAD_ARRAYS)
    def test_are_refused_where_they_are(self, saved, name):
        document = json.loads(saved[2].read_text())
        content = BAD_ARRAYS[name]
        document["arrays"]["sha256"] = hashlib.sha256(content).hexdigest()
        saved[2].with_name(document["arrays"]["file"]).write_bytes(content)
        saved[2].write_text(json.dumps(document))
        with pytest.raises(InvalidSceneFile) as caught:
            new_world().scene.load(saved[2])
        assert caught.value.field == "arrays.file"


class TestAFileOfAnotherKind:
    def test_is_named_with_what_loads_it(self, tmp_path):
        path = tmp_path / "kitchen.json"
        new_world().save(path)
        with pytest.raises(InvalidSceneFile) as caught:
            new_world().scene.load(path)
        assert caught.value.field == "format"
        assert "it is a saved world ('armillary.world'), and 'armillary.scene' is expected" in caught.value.reason
        assert str(caught.value).endswith(f"Nothing was loaded; load it with World.load('{path}').")

    def test_is_reported_before_anything_else(self, tmp_path):
        path = tmp_path / "other.json"
        path.write_text('{"format": "graph", "version": 7, "edges": []}')
        with pytest.raises(InvalidSceneFile, match=r"at format: 'armillary.scene' is .* and it is .graph"):
            new_world().scene.load(path)

    def test_of_a_later_version_is_reported_whatever_else_is_in_it(self, saved):
        document = json.loads(saved[2].read_text())
        saved[2].write_text(json.dumps(document | {"version": 2, "layers": []}))
        with pytest.raises(InvalidSceneFile, match="at version: version 1 is what this release reads"):
            new_world().scene.load(saved[2])

    def test_has_a_shape_of_somebodys_own(self, saved):
        document = json.loads(saved[2].read_text())
        change_of("geometry", "levels", 0, "kind", to="heart")(document)
        saved[2].write_text(json.dumps(document))
        with pytest.raises(InvalidSceneFile, match=r"'heart' here; there are box, .*import the module that defines it"):
            new_world().scene.load(saved[2])
