"""Function blocks that are written or installed wrongly: refused where that is seen, with what to do."""

from __future__ import annotations

import copy
import importlib.metadata
import pickle

import pytest

from armillary import PointCloud, World
from armillary.errors import BlockFailed, InvalidArgument, PortMismatch, UnusableBlock
from armillary.scene import REQUIRED, AddGroup, FunctionBlock, NodeId, Port
from armillary.scene.blocks import _registry


class Idle(FunctionBlock):
    """Does nothing."""

    name = "idle"

    def compute(self, data):
        return []


class Nameless(FunctionBlock):
    """Forgot to say what it is called."""

    def compute(self, data):
        return []


class Unfinished(FunctionBlock):
    """Forgot to compute."""

    name = "unfinished"


class Unmade(Idle):
    """Cannot be made here."""

    def __init__(self, scene):
        raise OSError("no camera")


@pytest.fixture
def scene():
    with World() as world:
        yield world.scene


def offered(monkeypatch, *values):
    points = [importlib.metadata.EntryPoint("one", f"{__name__}:{value}", _registry.GROUP) for value in values]
    monkeypatch.setattr(_registry, "entry_points", lambda group: points)
    monkeypatch.setattr(importlib.metadata.EntryPoint, "load", lambda self: globals()[self.attr])


class TestAnInstalledBlock:
    @pytest.mark.parametrize(
        ("value", "why"), [("Unmade", "no camera"), ("Unfinished", "compute"), ("Nameless", "name")]
    )
    def test_that_cannot_be_made_is_unusable(self, scene, monkeypatch, value, why):
        offered(monkeypatch, value)
        with pytest.raises(UnusableBlock, match=rf"making .*{value} raised .*{why}.*\. Mend it"):
            scene.load_block("one")

    def test_that_two_packages_offer_is_nobodys(self, scene, monkeypatch):
        offered(monkeypatch, "Idle", "Unmade")
        with pytest.raises(UnusableBlock, match=r"Idle and .*Unmade.*Uninstall"):
            scene.load_block("one")

    def test_that_is_found_twice_is_one(self, scene, monkeypatch):
        offered(monkeypatch, "Idle", "Idle")
        assert isinstance(scene.load_block("one"), Idle)


class TestABlockThatIsWrittenWrongly:
    @pytest.mark.parametrize("given", [None, 3, "scene"])
    def test_works_on_a_scene(self, given):
        with pytest.raises(InvalidArgument, match=r"as world\.scene is one"):
            Idle(given)

    def test_works_on_no_world(self):
        with World() as world, pytest.raises(InvalidArgument, match=r"as world\.scene is one"):
            Idle(world)

    @pytest.mark.parametrize(
        ("ports", "why"),
        [
            (Port("cloud"), r"\(Port\(\.\.\.\), \.\.\.\)"),
            (("cloud",), r"\(Port\(\.\.\.\), \.\.\.\)"),
            ((Port("cloud"), Port("cloud")), "two ports of one name"),
            ((Port("clouds", many=True), Port("box")), "Only the last port"),
        ],
    )
    @pytest.mark.parametrize("side", ["inputs", "outputs"])
    def test_declares_ports_in_order(self, scene, side, ports, why):
        kind = type("Declaring", (Idle,), {side: ports})
        with pytest.raises(InvalidArgument, match=why):
            kind(scene)

    def test_cannot_plan_when_it_is_through(self, scene):
        block = Idle(scene)
        block.execute()
        with pytest.raises(InvalidArgument, match=r"before compute\(\) returns"):
            block.scene.plan(AddGroup(parent=scene.root))

    def test_fails_in_one_sentence(self, scene):
        def planning(self, data):
            return [self.scene.plan(3)]

        with pytest.raises(BlockFailed, match=r"got 3\. Mend"):
            type("Planning", (Idle,), {"compute": planning})(scene).execute()


class TestWhatABlockGives:
    @pytest.mark.parametrize("given", [None, 3, NodeId.random()], ids=type)
    def test_is_a_list(self, scene, given):
        block = type("Giving", (Idle,), {"compute": lambda self, data: given})(scene)
        with pytest.raises(
            BlockFailed, match=r"must return a list of nodes, .* \[\] for none; it returned .*Mend the block"
        ):
            block.execute()

    @pytest.mark.parametrize(
        ("method", "change"), [("add_group", "AddGroup"), ("set_attributes", "SetAttributes"), ("remove", "Remove")]
    )
    def test_is_planned(self, scene, method, change):
        block = type("Adding", (Idle,), {"compute": lambda self, data: getattr(self.scene, method)(data)})(scene)
        with pytest.raises(
            BlockFailed, match=rf"Instead of {method}\(\.\.\.\), self\.scene\.plan\({change}\(\.\.\.\)\)"
        ):
            block.execute()

    def test_is_planned_by_no_other_names(self, scene):
        block = type("Guessing", (Idle,), {"compute": lambda self, data: self.scene.guess})(scene)
        with pytest.raises(BlockFailed, match="'Transaction' object has no attribute 'guess'"):
            block.execute()


class TestAPort:
    @pytest.mark.parametrize("kinds", ["geometry", ("geometri",), None, (["group"],)], ids=str)
    def test_is_for_kinds_of_node(self, kinds):
        with pytest.raises(InvalidArgument, match=r"kinds=\('group',\)"):
            Port("in", kinds=kinds)

    @pytest.mark.parametrize("shapes", [PointCloud, ("PointCloud",), (NodeId,), None], ids=str)
    def test_is_for_classes_of_shape(self, shapes):
        with pytest.raises(InvalidArgument, match=r"shapes=\(Box,\)"):
            Port("in", shapes=shapes)

    def test_reports_the_kind_of_a_node_without_a_shape(self, scene):
        block = type("Shaped", (Idle,), {"inputs": (Port("in", shapes=(PointCloud,)),)})(scene)
        block.set_data([scene.root])
        with pytest.raises(PortMismatch, match=r"is a group\. Give a PointCloud"):
            block.execute()

    @pytest.mark.parametrize("given", [3, [1], None], ids=str)
    def test_takes_nodes(self, scene, given):
        block = type("Taking", (Idle,), {"inputs": (Port("in"),)})(scene)
        block.set_data([given])
        with pytest.raises(InvalidArgument, match="named by its NodeId"):
            block.execute()


class TestParametersOfOurs:
    @pytest.mark.parametrize("name", ["crop_to_box", "voxel_subsample", "associate_nearest"])
    @pytest.mark.parametrize("outside", ["extrapolate", None, 3], ids=str)
    def test_are_checked_when_they_are_set(self, scene, name, outside):
        with pytest.raises(InvalidArgument, match="outside must be"):
            scene.load_block(name).configure(outside=outside)

    def test_that_are_required_stay_so_in_copies(self):
        assert pickle.loads(pickle.dumps(REQUIRED)) is REQUIRED
        assert copy.deepcopy(REQUIRED) is REQUIRED
