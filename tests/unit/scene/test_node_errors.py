"""Each error about nodes: raised by a real call, with its evidence and its hint."""

from __future__ import annotations

import copy
import pickle
import queue
import re
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from armillary import Box, Transform, World, errors
from armillary.scene import NodeId, SetAttributes
from unit.errors.kinds import NODES

STILL = Transform.identity()


@dataclass(frozen=True)
class Case:
    """A call that is refused, what its sentence says, and which evidence it keeps."""

    kind: type[errors.ArmillaryError]
    call: Callable[[World], object]
    hint: str
    evidence: tuple[str, ...] = ("node",)

    def error(self) -> errors.ArmillaryError:
        """In a world of its own."""
        with World("here") as world, pytest.raises(self.kind) as caught:
            self.call(world)
        return caught.value


def _group(world, **given):
    return world.scene.add_group(parent=world.scene.root, **given)


def _box(world):
    return world.scene.add_geometry(parent=world.scene.root, shape=Box((1, 1, 1)))


def _cycle(world):
    outer = _group(world)
    world.scene.add_parent(outer, world.scene.add_group(parent=outer))


def _twice(world):
    inner = _group(world)
    world.scene.add_parent(inner, world.scene.root)


def _frames_below(world):
    node = world.scene.add_transform(parent=world.scene.root, transform=STILL, at=None)
    world.fix(of="cup", in_frame=world.scene.frame(node), transform=STILL)
    world.scene.remove(node)


def _built_upon(world):
    group, other = _group(world), World("there")
    other.merge(world.scene.changes())
    other.apply([SetAttributes(group, {"name": "ours"})])
    world.merge(other.scene.changes())
    world.undo()


def _without_inverse(world):
    world.reset_time()
    world.undo()


def _forgotten(_):
    with World("short", max_changes=1) as world:
        world.add_frame("one", "other")
        held = world.scene.version_vector()
        world.remove_frame("one"), world.remove_frame("other")
        world.scene.changes(since=held)


def _behind(world):
    reported: list[BaseException] = []
    world.on_error = reported.append
    world.scene.attach(queue.Queue(maxsize=1))
    _group(world), _group(world)
    raise reported[0]


CASES = [
    Case(errors.UnknownNode, lambda world: world.scene.children(NodeId.random()), "scene.find"),
    Case(errors.NodeExists, lambda world: _group(world, id=_group(world)), "Leave `id` out"),
    Case(errors.FrameNameTaken, lambda world: _group(world, frame="map"), "another `frame`", ("frame", "owner")),
    Case(errors.NotAGroup, lambda world: world.scene.add_group(parent=_box(world)), "Put both under one group"),
    Case(errors.NotATransform, lambda world: world.scene.set_transform(_group(world), STILL), "add_transform"),
    Case(errors.WrongKind, lambda world: world.scene.geometry(_group(world)), "scene.children", ("node", "kind")),
    Case(errors.SceneCycle, _cycle, "Choose another parent", ("node", "path")),
    Case(errors.NotItsParent, lambda world: world.scene.remove_parent(_group(world), _group(world)), "scene.parents"),
    Case(errors.AlreadyItsParent, _twice, "Nothing was changed", ("node", "parent")),
    Case(errors.PermanentNode, lambda world: world.scene.remove(world.scene.root), "Remove what is in it"),
    Case(
        errors.InvalidAttribute, lambda world: _group(world, attributes={"a": {}}), "a text, a number", ("key", "value")
    ),
    Case(errors.FramesHanging, _frames_below, "subtree=True", ("frames",)),
    Case(errors.NothingToUndo, lambda world: world.undo(), "max_undo", ()),
    Case(errors.BuiltUpon, _built_upon, "Undo those first"),
    Case(errors.NoOpposite, _without_inverse, "use `world.copy()`", ("frame",)),
    Case(errors.ChangesForgotten, _forgotten, "full copy", ("kept",)),
    Case(errors.ObserverBehind, _behind, "Make it faster", ("missed",)),
]

each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.kind.__name__)


def test_all_of_them_are_here():
    assert {case.kind for case in CASES} == NODES


@each_case
class TestEachErrorAboutNodes:
    def test_is_raised_by_a_real_call(self, case):
        assert type(case.error()) is case.kind

    def test_offers_a_cure(self, case):
        assert case.hint in str(case.error())

    def test_keeps_its_evidence(self, case):
        error = case.error()
        assert [name for name in case.evidence if not hasattr(error, name)] == []

    def test_survives_a_copy(self, case):
        error = case.error()
        if case.kind is not errors.ObserverBehind:  # it holds the observer itself
            assert str(pickle.loads(pickle.dumps(error))) == str(error)
        assert str(copy.copy(error)) == str(error)


CUP, BOX = (NodeId(f"{digit}0000000-0000-4000-8000-000000000000") for digit in "12")
REFUSED = {
    "There is no node 10000000 'cup' in": lambda scene: (scene.remove(CUP), scene.children(CUP)),
    "There is no node 10000000 'cup' in ": lambda scene: (scene.remove(CUP), scene.add_group(parent=CUP)),
    "The id 10000000 'cup' is taken": lambda scene: scene.add_group(parent=scene.root, id=CUP),
    "Node 10000000 'cup' would contain itself: 20000000 'box' is in 10000000 'cup'.": lambda scene: scene.add_parent(
        CUP, BOX
    ),
    "Node 10000000 'cup' is a group, not a transform": lambda scene: scene.set_transform(CUP, STILL),
    "Node 20000000 'box' is in 10000000 'cup' already": lambda scene: scene.add_parent(BOX, CUP),
    "Node 10000000 'cup' is not in 20000000 'box'": lambda scene: scene.remove_parent(CUP, BOX),
    "Node 20000000 'box' is not in 726f6f74-": lambda scene: scene.contained_since(BOX, scene.root),
}


class TestASentenceAboutANodeWithAName:
    @pytest.mark.parametrize("sentence", REFUSED)
    def test_shows_it_and_the_beginning_of_the_id(self, sentence):
        with World("here") as world:
            world.scene.add_group(parent=world.scene.root, attributes={"name": "cup"}, id=CUP)
            world.scene.add_group(parent=CUP, attributes={"name": "box"}, id=BOX)
            with pytest.raises(errors.ArmillaryError, match=f"^{re.escape(sentence.rstrip())}") as caught:
                REFUSED[sentence](world.scene)
        assert caught.value.node in {CUP, BOX}

    @pytest.mark.parametrize("name", [5, True, ["cup"]])
    def test_keeps_the_whole_id_where_the_name_is_no_text(self, name):
        with World("here") as world:
            world.scene.add_group(parent=world.scene.root, attributes={"name": name}, id=CUP)
            with pytest.raises(errors.NodeExists, match=f"^The id {CUP} is taken"):
                world.scene.add_group(parent=world.scene.root, id=CUP)

    def test_is_short_where_the_name_is_long(self):
        with World("here") as world:
            world.scene.add_group(parent=world.scene.root, attributes={"name": "cup\n" * 999}, id=CUP)
            with pytest.raises(errors.NodeExists, match=r"^The id 10000000 'cup\\ncup\\n.{,60}\.\.\. is taken"):
                world.scene.add_group(parent=world.scene.root, id=CUP)
