"""The change record: one Python class, one JSON form, strict about what it reads."""

from __future__ import annotations

import json
import math
import pickle

import numpy as np
import pytest

from armillary import Transform
from armillary._core import ChangeRecord, NodeId
from armillary.errors import InvalidArgument
from armillary.scene import (
    AddFrame,
    AddGroup,
    AddParent,
    AddTransform,
    Fix,
    Remove,
    RemoveParent,
    SetAttributes,
)
from log_records import ROOT, Author, driven, fixed, node_id, sampled
from resolver_reference import DETACHED, stand_in

UP = Transform.from_xyz_rpy(xyz=(0, 0, 1), rpy=(0, 0, 1))


def change(record):
    return ChangeRecord.from_json(json.dumps(record))


class TestAChange:
    def test_has_the_fields_of_its_type_by_name(self):
        cup = change(Author().adds(node_id(1), x=1.0, frame_name="cup", settings=[["mass", 0.2]], at=7))
        assert (cup.type, cup.id, cup.at, cup.epoch) == ("add_node", ("0000000000000001", 1), 7, None)
        assert (cup.node, cup.frame_name, cup.settings) == (NodeId(node_id(1)), "cup", (("mass", 0.2),))
        assert cup.edge["parent"] == ROOT
        assert cup.placement["pose"] == (1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)

    def test_names_the_type_where_a_field_is_asked_for_that_it_has_not(self):
        with pytest.raises(AttributeError, match="type 'prefer' has no field 'names'"):
            _ = change(Author().prefers("cup", "camera")).names

    def test_cannot_be_changed(self):
        with pytest.raises(AttributeError):
            change(Author().prefers("cup", "camera")).source = "lidar"

    def test_equals_what_is_read_from_its_text_and_from_a_pickle(self):
        me = Author()
        records = [
            me.says("door", driven("frame")),
            me.says("a", fixed("b", 0.1), 5),
            me.adds(node_id(1), DETACHED, incarnation=[1, 0, 0, "0" * 16, 0]),
        ]
        for record in records:
            one = change(record)
            assert json.loads(one.to_json()) == record
            assert one == ChangeRecord.from_json(one.to_json()) == pickle.loads(pickle.dumps(one))
            assert hash(one) == hash(ChangeRecord.from_json(one.to_json()))
        assert len({change(record) for record in records + records}) == 3

    def test_equals_the_one_that_is_read_back_from_the_log(self, world):
        root, cup, lid = world.scene.root, NodeId(node_id(1)), NodeId(node_id(2))
        batches = [
            [AddGroup(parent=root, id=cup, attributes={"name": "cup", "mass": 1}), AddFrame("lens")],
            [AddTransform(parent=cup, id=lid, transform=UP, at=5), Fix(of="lens", in_frame="map", transform=UP)],
            [SetAttributes(cup, {"name": "mug", "colour": None}), AddParent(lid, root), RemoveParent(lid, cup)],
            [Remove(lid)],
        ]
        given = [record for batch in batches for record in world.store.add_unchecked(batch)]
        assert [record for record in given if record.type == "set_attributes"]
        assert world.scene.changes() == given

    def test_carries_the_content_of_a_node_beside_its_digest(self):
        record = Author().adds(node_id(1), kind="geometry", content="ab" * 32)
        ball = object()
        assert ChangeRecord.from_json(json.dumps(record), ball).content_object is ball
        assert change(record).content == "ab" * 32
        assert change(record).content_object is None

    def test_keeps_every_bit_of_a_number(self):
        numbers = [0.1, 1e-300, 5e-324, 1.7976931348623157e308, -0.0, 1 / 3, 2.0]
        record = Author().adds(node_id(1), settings=[[str(i), n] for i, n in enumerate(numbers)] + [["whole", 2]])
        kept = json.loads(change(record).to_json())["settings"]
        assert [math.copysign(1, value) * value for _, value in kept[:-1]] == [math.copysign(1, n) * n for n in numbers]
        assert [type(value) for _, value in kept] == [float] * len(numbers) + [int]

    def test_writes_infinite_attributes_in_words(self):
        text = change(Author().adds(node_id(1), settings=[["range", {"float": "-inf"}]])).to_json()
        assert json.loads(text)["settings"] == [["range", {"float": "-inf"}]]

    def test_has_canonical_quaternions(self):
        record = Author().says(
            "a", {"fixed": {"in_frame": "b", "pose": [0, 0, 0, 0.6000001, 0.8, 0, 0], "certainty": "exact"}}
        )
        once = change(record)
        assert ChangeRecord.from_json(once.to_json()).to_json() == once.to_json()
        assert math.hypot(*once.value["fixed"]["pose"][3:]) == pytest.approx(1, abs=1e-15)


class TestThePartsOfAChange:
    @pytest.fixture
    def scene(self, world):
        return world.scene

    def test_of_a_node_are_the_values_that_it_was_made_with(self, world, scene):
        spread = np.diag([1, 2, 3, 4, 5, 6]) / 7
        here = Transform.from_xyz_rpy(xyz=(0.1, 0.2, 0.3), rpy=(0.4, 0.5, 0.6))
        attributes = {"range": math.inf, "mass": 0.1, "tags": ["a", [1, 2.5]]}
        cup = scene.add_uncertain_transform(
            parent=scene.root, transform=here, covariance=spread, at=None, attributes=attributes
        )
        (record,) = scene.changes()
        assert (record.type, record.kind, record.node, record.parent) == (
            "add_node",
            "uncertain_transform",
            cup,
            scene.root,
        )
        assert (record.attributes, record.is_fixed, record.is_unsure) == (attributes, True, False)
        assert record.transform.is_close(here)
        assert np.array_equal(record.covariance, spread)
        assert (record.author, record.sequence, record.authority) == (world.name, 1, 0)

    def test_of_an_assertion_are_the_values_that_it_was_made_with(self, world):
        world.fix(of="lens", in_frame="camera", transform=Transform.identity(), at=7)
        (record,) = world.scene.changes()
        assert (record.type, record.value_type, record.in_frame, record.since) == ("assert", "fixed", "camera", 7)
        assert (record.transform, record.covariance) == (Transform.identity(), None)

    def test_say_which_edges_were_meant(self, scene):
        group, other = (scene.add_group(parent=scene.root) for _ in range(2))
        scene.add_parent(group, other)
        scene.remove_parent(group, scene.root)
        scene.remove(group)
        joined, left, removed = scene.changes()[2:]
        assert (joined.type, joined.parent, joined.restores) == ("add_edge", other, False)
        assert (left.type, left.parent, removed.type, removed.parent) == (
            "remove_edges",
            scene.root,
            "remove_edges",
            None,
        )

    def test_are_those_of_its_type_alone(self, world):
        world.add_frame("lens")
        (record,) = world.scene.changes()
        for name in ("node", "parent", "attributes", "value_type", "in_frame", "form"):
            with pytest.raises(AttributeError, match=f"type 'set_frames' has no field '{name}'"):
                getattr(record, name)
        assert (record.transform, record.covariance, record.content_object) == (None, None, None)

    def test_are_those_of_its_author_where_he_is_known_by_name(self, world):
        world.add_frame("lens")
        (record,) = world.scene.changes()
        assert json.loads(record.to_json())["author"][0] == record.author == world.name
        assert change(Author().prefers("cup", "camera")).author == ""


def changed(record, **fields):
    return {**record, **fields}


ME = Author()
CUP = ME.adds(node_id(1), x=1.0)
STAND_IN = ME.adds_stand_in("table")
SAID = ME.says("a", fixed("b"), 5)
REFUSED = {
    "field that is not known: 'wings'": changed(SAID, wings=2),
    "not known: 'wings'": changed(CUP, edge={**CUP["edge"], "wings": 2}),
    "field 'rank' is missing": {k: v for k, v in SAID.items() if k != "rank"},
    "there is no type 'paint'": changed(SAID, type="paint"),
    "a frame is not in itself": changed(SAID, value=fixed("a")),
    "a name that is empty": changed(SAID, value=fixed("")),
    "begins with '/'": changed(SAID, track=["pose", "/a", "robot"]),
    "control character": changed(SAID, track=["pose", "a\x85", "robot"]),
    "samples, and an end, begin at an instant": changed(SAID, value=sampled("b"), since=None),
    "motion is sampled": changed(SAID, track=["twist", "a", "robot"]),
    "not of length one": changed(
        SAID, value={"fixed": {"in_frame": "b", "pose": [0, 0, 0, 2, 0, 0, 0], "certainty": "exact"}}
    ),
    "'covariance' is missing": changed(SAID, value={"fixed": {**fixed("b")["fixed"], "certainty": "known"}}),
    "neither empty, fixed, driven, sampled nor ended": changed(SAID, value={"painted": {}}),
    "field 'at' is no whole number": changed(SAID, at=2**62),
    "field 'authority' is no whole number": changed(SAID, authority=256),
    "16 hexadecimal digits": changed(SAID, id=["1", 1]),
    "a sequence that begins at one": changed(SAID, id=["0" * 16, 0]),
    "have no parents": changed(CUP, node=ROOT),
    "one incarnation alone": changed(CUP, edge={**CUP["edge"], "parent_incarnation": CUP["incarnation"]}),
    "not that of a new node": changed(CUP, incarnation=[1, 0, 0, "0" * 16, 0]),
    "a Transform has a placement": changed(CUP, placement=None),
    "a Transform that may move is added at an instant": changed(CUP, at=None),
    "is not its own parent": changed(CUP, edge={**CUP["edge"], "parent": CUP["node"]}),
    "is no node id": changed(CUP, node="nobody"),
    "is set twice": changed(CUP, settings=[["k", 1], ["k", 2]]),
    "nested more than eight deep": changed(CUP, settings=[["k", [[[[[[[[[[1]]]]]]]]]]]]),
    "field 'author' is not the one of its id": changed(SAID, author=["robot", "0" * 16]),
    "field 'author' has 2 parts": changed(SAID, author=["robot"]),
    "not the one that stands for the frame": changed(STAND_IN, node=node_id(3)),
    "'end' is not after 'start'": ME.prefers("cup", "camera", 5, 5),
}


class TestReadingAChange:
    @pytest.mark.parametrize("why", REFUSED)
    def test_refuses_what_is_wrong_with_a_sentence(self, why):
        with pytest.raises(InvalidArgument, match=why):
            change(REFUSED[why])

    @pytest.mark.parametrize(
        "text", ["", "[", '{"a":1,"a":2}', "nul", "1" * 40, '"\\ud800"', "[" * 99, '{"id":01}', "1e999", "\x00"]
    )
    def test_refuses_what_is_no_json(self, text):
        with pytest.raises(InvalidArgument, match="This is no JSON"):
            ChangeRecord.from_json(text)

    def test_takes_what_it_should(self):
        for record in (CUP, STAND_IN, SAID):
            assert json.loads(change(record).to_json()) == record
        assert change(STAND_IN).node == NodeId(stand_in("table"))

    def test_takes_the_batch_that_earlier_versions_wrote(self):
        assert change(changed(SAID, batch=7)) == change(SAID)
