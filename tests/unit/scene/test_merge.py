"""Merging changes that several replicas of a scene made without knowing of each other."""

import copy
import itertools
import json
import pickle

import pytest

from armillary import Transform, World
from armillary._core import ROOT_NODE, ChangeRequest
from armillary.errors import ChangesForgotten, InvalidArgument
from armillary.scene import AddGroup, AddParent, ChangeRecord, NodeId, Sphere
from log_records import ENDED, Author, sampled
from unit.kit import FakeClock, moved, run_python

ONE, TWO, THREE = (NodeId(f"{digit}0000000-0000-4000-8000-000000000000") for digit in "123")
THEY = Author(2)


class Replicas:
    """Two replicas that began with the same groups."""

    def __init__(self):
        self.clock = FakeClock(1000)
        self.one, self.other = World("one", clock=self.clock), World("other", clock=self.clock)
        self.root = self.one.scene.root
        self.one.apply([AddGroup(parent=self.root, id=ONE), AddGroup(parent=self.root, id=TWO)])
        self.exchange()

    def exchange(self):
        self.clock.ns += 1000
        mine, theirs = self.one.scene.changes(), self.other.scene.changes()
        self.other.merge(mine)
        self.one.merge(theirs)
        assert self.one.scene.digest() == self.other.scene.digest()

    @property
    def scenes(self):
        return self.one.scene, self.other.scene

    def answers(self, name, *arguments):
        """What both say, which must be the same."""
        first, second = (getattr(scene, name)(*arguments) for scene in self.scenes)
        assert first == second
        return first


@pytest.fixture
def replicas():
    replicas = Replicas()
    yield replicas
    replicas.one.close()
    replicas.other.close()


class TestTwoWriters:
    def test_of_different_keys_keep_both(self, replicas):
        replicas.one.scene.set_attributes(ONE, {"name": "table"})
        replicas.other.scene.set_attributes(ONE, {"legs": 4})
        replicas.exchange()
        assert replicas.answers("attributes", ONE) == {"name": "table", "legs": 4}

    def test_of_one_key_keep_the_later(self, replicas):
        replicas.other.scene.set_attributes(ONE, {"name": "early"})
        replicas.clock.ns += 1
        replicas.one.scene.set_attributes(ONE, {"name": "late"})
        replicas.exchange()
        assert replicas.answers("attributes", ONE) == {"name": "late"}

    def test_are_ordered_by_their_timestamps_not_by_their_instants(self, replicas):
        replicas.other.scene.set_attributes(ONE, {"name": "early"}, at=10**6)
        replicas.clock.ns += 1
        replicas.one.scene.set_attributes(ONE, {"name": "late"}, at=0)
        replicas.exchange()
        assert replicas.answers("attributes", ONE) == {"name": "late"}

    def test_one_of_whom_erases(self, replicas):
        replicas.one.scene.set_attributes(ONE, {"name": "table"})
        replicas.exchange()
        replicas.one.scene.set_attributes(ONE, {"name": None})
        replicas.clock.ns += 1
        replicas.other.scene.set_attributes(ONE, {"name": "desk"})
        replicas.exchange()
        assert replicas.answers("attributes", ONE) == {"name": "desk"}

    def test_that_merged_each_other_are_in_order_although_their_clocks_are_not(self, replicas):
        replicas.one.scene.set_attributes(ONE, {"name": "first"})
        replicas.other.merge(replicas.one.scene.changes())
        replicas.clock.ns -= 500
        replicas.other.scene.set_attributes(ONE, {"name": "second"})
        replicas.exchange()
        assert replicas.answers("attributes", ONE) == {"name": "second"}


class TestContainment:
    def test_that_was_added_survives_a_removal_that_did_not_know_it(self, replicas):
        replicas.one.scene.add_group(parent=ONE, id=THREE)
        replicas.exchange()
        replicas.one.scene.remove(THREE)
        replicas.other.scene.add_parent(THREE, TWO)
        replicas.exchange()
        assert replicas.answers("parents", THREE) == [TWO]

    def test_below_what_was_removed_goes_with_it(self, replicas):
        replicas.one.scene.remove(ONE)
        replicas.other.scene.add_group(parent=ONE, id=THREE)
        replicas.exchange()
        assert not any(node in scene for scene in replicas.scenes for node in (ONE, THREE))

    def test_below_what_was_removed_comes_back_with_it(self, replicas):
        replicas.one.scene.remove(ONE)
        replicas.other.scene.add_group(parent=ONE, id=THREE)
        replicas.exchange()
        replicas.one.undo()
        replicas.exchange()
        assert replicas.answers("children", ONE) == [THREE]

    def test_of_a_later_incarnation_is_not_hit_by_the_removal_of_an_earlier(self, replicas):
        replicas.other.scene.remove(ONE)
        replicas.one.scene.remove(ONE)
        replicas.one.scene.add_group(parent=replicas.root, id=ONE, attributes={"life": 2})
        replicas.exchange()
        assert replicas.answers("attributes", ONE) == {"life": 2}

    def test_in_a_cycle_loses_one_link_the_same_everywhere(self, replicas):
        replicas.one.scene.add_parent(ONE, TWO)
        replicas.other.scene.add_parent(TWO, ONE)
        replicas.exchange()
        assert sorted([len(replicas.answers("parents", ONE)), len(replicas.answers("parents", TWO))]) == [1, 2]
        assert replicas.answers("find", {}) == [replicas.root, ONE, TWO]

    def test_in_a_cycle_comes_back_when_the_cycle_is_opened(self, replicas):
        replicas.one.scene.add_parent(ONE, TWO)
        replicas.other.scene.add_parent(TWO, ONE)
        replicas.exchange()
        low, high = sorted((ONE, TWO), key=lambda node: len(replicas.one.scene.parents(node)), reverse=True)
        replicas.one.scene.remove_parent(low, high)
        replicas.exchange()
        assert replicas.answers("parents", high) == [replicas.root, low]

    def test_of_a_remote_root_that_both_named_is_of_one_node(self, replicas):
        for scene, name in zip(replicas.scenes, ("mine", "yours"), strict=True):
            scene.add_remote_root(THREE, attributes={name: True})
            scene.add_group(parent=THREE)
        replicas.exchange()
        assert len(replicas.answers("children", THREE)) == 2
        assert replicas.answers("attributes", THREE) == {"mine": True, "yours": True}


class TestMerging:
    def records(self, replicas):
        scene = replicas.one.scene
        scene.add_transform(parent=ONE, transform=moved(1), at=None, id=THREE)
        scene.add_parent(THREE, TWO)
        scene.set_attributes(THREE, {"name": "cup"})
        scene.remove_parent(THREE, ONE)
        return scene.changes()

    def test_in_any_order_gives_the_same(self, replicas):
        for third in self.thirds_in_any_order(replicas):
            assert third.scene.digest() == replicas.one.scene.digest()
            assert third.scene.frame(THREE) == str(THREE)

    def test_in_any_order_puts_things_where_they_are(self, replicas):
        for third in self.thirds_in_any_order(replicas):
            assert third.pose(of=str(THREE), in_frame="map", at=10**6).transform.is_close(moved(1))

    def thirds_in_any_order(self, replicas):
        records = self.records(replicas)
        for order in itertools.permutations(records[2:]):
            with World("third", clock=replicas.clock) as third:
                for record in (*records[:2], *order):
                    third.merge([record])
                yield third

    def test_twice_gives_nothing_new(self, replicas):
        records = self.records(replicas)
        assert len(replicas.other.merge(records)) == 4
        assert replicas.other.merge(records) == []

    def test_has_what_is_missing_and_no_more(self, replicas):
        self.records(replicas)
        lacking = replicas.one.scene.changes(since=replicas.other.scene.version_vector())
        assert [record.type for record in lacking] == ["add_node", "add_edge", "set_attributes", "remove_edges"]
        replicas.other.merge(lacking[1::2])
        lacking = replicas.one.scene.changes(since=replicas.other.scene.version_vector())
        assert [record.type for record in lacking] == ["add_node", "set_attributes"]

    def test_passes_on_what_came_from_others(self, replicas):
        self.records(replicas)
        replicas.other.merge(replicas.one.scene.changes())
        with World("third") as third:
            third.merge(replicas.other.scene.changes())
            assert third.scene.digest() == replicas.one.scene.digest()

    @pytest.mark.parametrize(
        "sent",
        [
            lambda record: ChangeRecord.from_json(record.to_json()),
            lambda record: pickle.loads(pickle.dumps(record)),
            copy.deepcopy,
        ],
        ids=["json", "pickle", "copy"],
    )
    def test_takes_records_that_were_written_out(self, replicas, sent):
        records = [sent(record) for record in self.records(replicas)]
        replicas.other.merge(records)
        assert replicas.other.scene.digest() == replicas.one.scene.digest()

    def test_of_two_worlds_of_one_name_loses_nothing(self):
        with World() as one, World() as other:
            mine, theirs = (world.scene.add_group(parent=world.scene.root) for world in (one, other))
            one.merge(other.scene.changes())
            assert {mine, theirs} < set(one.scene.find({}))

    def test_waits_for_what_comes_before(self, replicas):
        add, parent, say, _ = self.records(replicas)[2:]
        replicas.other.merge([say, parent])
        assert THREE not in replicas.other.scene
        replicas.other.merge([add])
        assert replicas.other.scene.attributes(THREE) == {"name": "cup"}


A_SECOND_LIFE = """
from armillary import Transform, World
from armillary.scene import AddGroup, NodeId
group, thing = NodeId.random(), NodeId.random()
now = [1000]
one, other = (World(name, clock=lambda: now[0]) for name in ("one", "other"))
root = one.scene.root
one.scene.add_group(parent=root, id=group)
other.merge(one.scene.changes())
other.scene.add_group(parent=group, id=thing)
other.scene.add_parent(thing, root)
now[0] = 2000
one.scene.remove(group)
one.undo()
one.scene.add_transform(parent=root, transform=Transform.identity(), at=None, id=thing)
other.merge(one.scene.changes())
print(other.scene.kind(thing))
"""


class TestAnIncarnationThatReplacesAnother:
    def test_takes_over_its_frame(self):
        assert run_python(A_SECOND_LIFE).stdout == "transform\n"


class TestMergingIsRefused:
    def test_where_the_changes_are_forgotten(self):
        with World("forgetful", max_changes=2) as world:
            for i in range(4):
                world.fix(of=f"frame {i}", in_frame="map", transform=Transform.identity())
            held = world.scene.version_vector()
            for i in range(4):
                world.remove_frame(f"frame {i}")
            with pytest.raises(ChangesForgotten, match="full copy") as caught:
                world.scene.changes(since=held)
            assert caught.value.kept == len(world.scene.changes()) == 2
            assert world.scene.changes(since={}) == world.scene.changes()  # who has nothing misses no removal

    @pytest.mark.parametrize("text", ["{}", "[1, 2]", '["x"]', "15", "null"])
    def test_where_it_is_no_record(self, text):
        with pytest.raises(InvalidArgument, match="This is no change"):
            ChangeRecord.from_json(text)

    @pytest.mark.parametrize("no_text", [None, (), 7, b"{}", {}])
    def test_where_it_is_no_text(self, no_text):
        with pytest.raises(InvalidArgument, match="read from a text"):
            ChangeRecord.from_json(no_text)

    @pytest.mark.parametrize("nonsense", [{"no": "such"}, [[]], 2.5, -(2**62), "\x00"])
    def test_field_by_field_for_every_field_that_is_nonsense(self, replicas, nonsense):
        record = json.loads(TestMerging().records(replicas)[2].to_json())
        for name in record.keys() - {"origin"}:  # any text
            with pytest.raises(InvalidArgument):
                ChangeRecord.from_json(json.dumps(record | {name: nonsense}))

    def test_field_by_field_for_every_field_that_is_missing(self, replicas):
        for record in TestMerging().records(replicas):
            fields = json.loads(record.to_json())
            for name in fields:
                with pytest.raises(InvalidArgument):
                    ChangeRecord.from_json(json.dumps({key: fields[key] for key in fields if key != name}))

    def test_where_it_comes_without_what_the_node_carries(self, replicas):
        replicas.one.scene.add_geometry(parent=ONE, shape=Sphere(1), at=None, id=THREE)
        record = replicas.one.scene.changes()[-1]
        with pytest.raises(InvalidArgument, match="content="):
            replicas.other.merge([ChangeRecord.from_json(record.to_json())])
        assert THREE not in replicas.other.scene
        replicas.other.merge([ChangeRecord.from_json(record.to_json(), record.content_object)])
        assert replicas.other.scene.digest() == replicas.one.scene.digest()

    @pytest.mark.parametrize(
        "record",
        [
            THEY.says("cup", sampled("map"), 5, rank="fallback"),
            THEY.says("cup", ENDED, 5, kind="twist"),
            THEY.adds_edge(THEY.adds(str(THREE)), str(ROOT_NODE), rank="statement"),
        ],
        ids=lambda record: record["type"],
    )
    def test_where_nothing_here_makes_such_changes_yet(self, replicas, record):
        before = replicas.one.digest()
        with pytest.raises(InvalidArgument, match="does not know what ChangeRecord"):
            replicas.one.merge([ChangeRecord.from_json(json.dumps(record))])
        assert (replicas.one.digest(), len(replicas.one.scene.changes())) == (before, 2)

    def test_where_requests_are_given_for_records(self, replicas):
        request = ChangeRequest.set_frames(names=["lens"], at=1)
        with pytest.raises(InvalidArgument):
            replicas.one.merge([request])
        for no_request in (replicas.one.scene.changes()[0], ChangeRequest.__new__(ChangeRequest), ("add_node",), None):
            with pytest.raises(TypeError):
                replicas.one.store.apply_requests([no_request], 1)

    def test_where_the_author_is_not_the_one_of_its_id(self, replicas):
        record = json.loads(replicas.one.scene.changes()[0].to_json())
        name, bearer = record["author"]
        for author in ([name + "!", bearer], [name, "0" * 16], ["", bearer]):
            with pytest.raises(InvalidArgument, match="author"):
                ChangeRecord.from_json(json.dumps(record | {"author": author}))


class TestFramesOfCopies:
    def test_are_where_they_are_asserted_to_be(self, replicas):
        replicas.one.scene.add_transform(parent=ONE, transform=moved(1), at=None, id=THREE)
        replicas.other.merge(replicas.one.scene.changes())
        assert replicas.other.pose(of=str(THREE), in_frame="map").transform.is_close(moved(1))

    def test_come_into_being_together(self, replicas):
        replicas.one.scene.add_group(parent=ONE, id=THREE)
        replicas.one.apply([AddParent(ONE, TWO), AddParent(THREE, replicas.root)])
        replicas.other.merge(replicas.one.scene.changes())
        assert {str(ONE), str(THREE)} <= set(replicas.other.frames())

    def test_are_the_same_where_one_link_of_a_cycle_lost(self, replicas):
        replicas.one.scene.add_parent(ONE, TWO)
        replicas.other.scene.add_parent(TWO, ONE)
        replicas.exchange()
        low = replicas.answers("frame", ONE if len(replicas.one.scene.parents(ONE)) > 1 else TWO)
        assert [low in world.frames() for world in (replicas.one, replicas.other)] == [True, True]


@pytest.mark.parametrize("given", [World(), World().scene, [1], None], ids=lambda given: type(given).__name__)
def test_what_is_no_list_of_records_is_refused(given):
    with pytest.raises(InvalidArgument, match=r"scene\.changes\(\)"):
        World().merge(given)
