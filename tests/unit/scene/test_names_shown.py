"""What people read calls nodes by their names, also where a node is the source of a containment."""

from __future__ import annotations

import re

import pytest

from armillary import Box, Transform, World, errors, seconds
from armillary.fusion.policies import by_attribute, by_source
from armillary.scene import Prefer
from unit.kit import FakeClock

ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-|\b[0-9a-f]{8}\b")


def at(x: float) -> Transform:
    return Transform.from_translation((x, 0, 0))


class Kitchen:
    """A world in which every node that contains another has a frame with a name."""

    def __init__(self) -> None:
        self.world = World("robot", clock=FakeClock(seconds(3)))
        self.scene = self.world.scene
        self.table = self.scene.add_transform(parent="map", transform=at(2), at=None, frame="table")
        self.tray = self.scene.add_transform(parent="map", transform=at(3), at=None, frame="tray")
        self.cup = self.scene.add_transform(parent=self.table, transform=at(0.3), at=seconds(0), frame="cup")
        self.lid = self.scene.add_transform(parent=self.cup, transform=at(0.1), at=None, frame="lid")
        self.spoon = self.scene.add_group(parent=self.table, frame="spoon")
        self.label = self.scene.add_geometry(parent=self.cup, shape=Box((1, 1, 1)), frame="label")
        self.world.fix(of="hook", in_frame="map", transform=at(9))
        self.scene.add_parent(self.scene.add_group(parent="hook", frame="towel"), self.scene.root)
        for thing in (self.spoon, self.lid):
            self.scene.add_parent(thing, self.tray)

    def pose(self, frame: str, **how):
        return self.world.pose(of=frame, in_frame="map", **how)


@pytest.fixture
def kitchen():
    return Kitchen()


def refused(act) -> str:
    with pytest.raises(errors.ArmillaryError) as caught:
        act()
    return str(caught.value)


SHOWN = {
    "the tree": lambda k: str(k.world.tree()),
    "the parents of a tree": lambda k: str(k.world.tree().parents),
    "the relations": lambda k: str(k.world.relations()),
    "the frames": lambda k: str(k.world.frames()),
    "the relations of a pose": lambda k: str(k.pose("label", at=seconds(0)).relations),
    "the paths of a policy": lambda k: str(k.pose("spoon", policy="latest").paths_used),
    "a contested frame": lambda k: refused(lambda: k.pose("spoon")),
    "a contested mount": lambda k: refused(lambda: k.pose("lid")),
    "a frame contested by the root": lambda k: refused(lambda: k.pose("towel")),
    "a diagnosis": lambda k: str(k.world.diagnose(of="spoon", in_frame="map")),
    "a diagnosis by ids": lambda k: repr(k.world.diagnose(of=k.lid, in_frame=k.scene.root)),
    "an unknown source": lambda k: refused(lambda: k.world.prefer(of="spoon", source="nobody")),
    "an unknown relation": lambda k: refused(lambda: k.world.remove_relation(of="spoon", in_frame="hook")),
    "a containment that is removed": lambda k: refused(lambda: k.world.remove_relation(of="spoon", in_frame="tray")),
    "a containment that is ended": lambda k: refused(lambda: k.world.end(of="spoon", source="tray")),
    "a snapshot": lambda k: str([str(error) for error in k.world.snapshot(in_frame="map").missing.values()]),
    "a visit": lambda k: str(visited(k.scene)),
    "a difference": lambda k: str(k.scene.as_of(seconds(1)).difference(k.scene)),
    "a card of the scene": lambda k: re.sub("<style.*?</style>", "", k.scene._repr_html_(), flags=re.DOTALL),
}


def visited(scene) -> list:
    found: list = []
    scene.traverse(found.append)
    return found


@pytest.mark.parametrize("what", SHOWN)
def test_no_id_is_shown_of(kitchen, what):
    shown = SHOWN[what](kitchen)
    assert not ID.findall(re.sub(r"NodeId\('.{8}'\)", "", shown)), shown


UNDONE = {
    "AddParent 'cup' in 'tray'": lambda k: k.scene.add_parent(k.cup, k.tray),
    "SetAttributes 'cup'": lambda k: k.scene.set_attributes(k.cup, {"color": "red"}),
    "AddGroup 'fork' in 'cup'": lambda k: k.scene.add_group(parent=k.cup, frame="fork"),
    "AddGroup 'knife' in 'map'": lambda k: k.scene.add_group(parent=k.scene.root, attributes={"name": "knife"}),
    "Remove 'lid'": lambda k: k.scene.remove(k.lid),
    "Prefer 'spoon' by 'tray'": lambda k: k.world.prefer(of="spoon", source="tray"),
    "AddRelation 'cup' in 'table' by 'camera' from 2.000 s": lambda k: k.world.set_pose(
        of="cup", in_frame="table", transform=at(1), at=seconds(2), source="camera"
    ),
    "AddParent 'cup' in 'tray'; RemoveParent 'cup' in 'table'; Fix 'cup' in 'tray' by 'robot' from 3.000 s": (
        lambda k: k.scene.move(k.cup, to=k.tray, at=seconds(3))
    ),
}


@pytest.mark.parametrize("text", UNDONE)
def test_undo_calls_what_it_took_back_by_name(kitchen, text):
    UNDONE[text](kitchen)
    assert str(kitchen.world.undo()).startswith(f"Undone: {text}.")


class TestAContainmentAsASource:
    def test_is_called_like_the_frame_that_contains(self, kitchen):
        assert kitchen.pose("label", at=seconds(0)).relations[0] == ("label", "cup", "cup")
        infos = [info.source for info in kitchen.world.relations() if info.of == "spoon"]
        assert sorted(infos) == ["table", "tray"]

    def test_of_a_node_without_a_name_is_its_id(self):
        scene = (world := World("robot")).scene
        table = scene.add_transform(parent="map", transform=at(2), at=None)
        cup = scene.add_group(parent=table, frame="cup")
        assert world.pose(of=cup, in_frame="map").relations[0] == ("cup", str(table), str(table))

    @pytest.mark.parametrize("choose", [lambda k: "tray", lambda k: k.tray, lambda k: str(k.tray)])
    def test_is_preferred_by_name_or_by_id(self, kitchen, choose):
        kitchen.world.prefer(of="spoon", source=choose(kitchen))
        assert kitchen.pose("spoon").xyz[0] == 3
        kitchen.world.prefer(of="spoon", source=None)
        with pytest.raises(errors.AmbiguousPath):
            kitchen.pose("spoon")

    def test_is_preferred_by_name_in_a_batch(self, kitchen):
        kitchen.world.apply([Prefer(of="spoon", source="tray")])
        assert kitchen.pose("spoon").xyz[0] == 3

    def test_is_what_a_policy_chooses_by_name(self, kitchen):
        assert kitchen.pose("spoon", policy=by_source("tray")).xyz[0] == 3
        kitchen.scene.set_attributes("tray", {"is_clean": True})
        assert kitchen.pose("spoon", policy=by_attribute(kitchen.scene, {"is_clean": True})).xyz[0] == 3

    def test_is_told_apart_from_a_source_of_the_same_name(self, kitchen):
        kitchen.world.fix(of="spoon", in_frame="map", transform=at(7), source="tray")
        with pytest.raises(errors.AmbiguousPath) as caught:
            kitchen.pose("spoon")
        assert sorted(caught.value.sources) == sorted(["table", "tray", str(kitchen.tray)])
        kitchen.world.prefer(of="spoon", source="tray")
        assert kitchen.pose("spoon").xyz[0] == 7
        kitchen.world.prefer(of="spoon", source=kitchen.tray)
        assert kitchen.pose("spoon").xyz[0] == 3

    def test_is_saved_and_merged_by_its_id(self, kitchen, tmp_path):
        kitchen.world.prefer(of="spoon", source="tray")
        kitchen.world.save(tmp_path / "kitchen.json")
        other = World("other")
        other.merge(kitchen.scene.changes())
        for copy in (World.load(tmp_path / "kitchen.json"), other):
            assert copy.pose(of="spoon", in_frame="map").xyz[0] == 3

    def test_does_not_end_but_with_the_containment(self, kitchen):
        with pytest.raises(errors.InvalidArgument, match=r"'spoon' is in 'tray' follows .* scene.move"):
            kitchen.world.end(of="spoon", source=kitchen.tray)


def test_names_of_removed_nodes_are_not_in_the_tree_of_now():
    world = World("robot", clock=(clock := FakeClock(seconds(1))))
    table = world.scene.add_transform(parent="map", transform=at(2), at=None, frame="table")
    world.scene.add_group(parent=table, frame="cup")
    clock.ns = seconds(5)
    world.scene.remove(table)
    assert str(world.tree()) == "map"
    world.scene.add_group(parent="map", frame="fork")
    world.undo()
    assert "fork" not in str(world.tree())


def test_a_named_node_that_came_later_is_not_a_frame_that_was_lost():
    world = World("robot", clock=(clock := FakeClock(seconds(1))))
    clock.ns = seconds(5)
    world.scene.add_group(parent="map", frame="spoon")
    found = world.scene.as_of(seconds(2)).difference(world.scene)
    assert [entry.name for entry in found.added] == ["spoon"]
    assert not found.removed
