"""Searches of real scenes: after any change they find what looking at everything finds, whatever they kept."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from armillary import Box, Sphere, World
from armillary.errors import ArmillaryError
from unit.kit import FakeClock, moved
from unit.scene.kit import any_transform

MOST_NODES = 14
NUMBERS = st.integers(0, 99)
KINDS = (*["transform", "shape", "group", "frame", "share", "share", "part", "remove"] * 2, "reset")
FRAME_KINDS = (*["fix", "fix", "attach", "sample", "move"] * 3, "forget_frame", "prefer", "undo", "undo")
edits = st.lists(st.tuples(st.sampled_from(KINDS + FRAME_KINDS), NUMBERS, NUMBERS, NUMBERS), min_size=4, max_size=20)


class EditedScene:
    """A world whose scene is edited by numbers; what is refused was not meant."""

    def __init__(self) -> None:
        self.clock = FakeClock(100)
        self.world = World(clock=self.clock)
        self.scene = self.world.scene
        self.nodes, self.frames = [self.scene.root], ["map", "table", "hand", "shelf"]
        for i, frame in enumerate(self.frames[1:]):
            self.world.fix(of=frame, in_frame="map", transform=moved(2 * i))
            for kind, one in (("frame", i + 1), ("transform", 3 * i + 1), ("shape", 3 * i + 2)):
                getattr(self, kind)(one, 0, i)

    def edit(self, kind: str, one: int, other: int, value: int) -> None:
        self.clock.ns += 10
        with suppress(ArmillaryError):
            getattr(self, kind)(one, other, value)

    def _node(self, number: int):
        return self.nodes[number % len(self.nodes)]

    def _placed(self, number: int):
        """One that is not the root."""
        return self.nodes[1 + number % (len(self.nodes) - 1)]

    def _frame(self, number: int) -> str:
        names = [*self.frames, *(self.scene.frame(node) for node in self.nodes if node in self.scene)]
        return names[number % len(names)]

    def transform(self, one, _, value):
        at = None if value % 3 else self.clock.ns
        self._keep(self.scene.add_transform(parent=self._node(one), transform=moved(value % 5, value % 3), at=at))

    def shape(self, one, _, value):
        self._keep(self.scene.add_geometry(parent=self._node(one), shape=Box((0.2 + value % 4, 1, 1)), at=None))

    def group(self, one, *_):
        self._keep(self.scene.add_group(parent=self._node(one)))

    def frame(self, one, _, value):
        """A frame of the world becomes a node, with something in it."""
        self._keep(self.scene.add_transform(parent=self.frames[one % 4], transform=moved(value % 2), at=None))

    def _keep(self, node):
        self.nodes = [self.nodes[0], *[*self.nodes[1:], node][-MOST_NODES:]]

    def share(self, one, other, _):
        self.scene.add_parent(self._placed(one), parent=self._node(other))

    def part(self, one, *_):
        self.scene.remove_parent(child := self._placed(one), parent=self.scene.parents(child)[0])

    def remove(self, one, *_):
        self.scene.remove(self._placed(one), subtree=True)

    def fix(self, one, other, value):
        at = None if value % 2 else self.clock.ns
        self.world.fix(of=self._frame(one), in_frame=self._frame(other), transform=moved(value % 7), at=at)

    def attach(self, one, other, _):
        self.world.attach(of=self._frame(one), to=self._frame(other))

    def sample(self, one, other, value):
        edge = {"of": self._frame(one + 1), "in_frame": self._frame(other), "source": "eyes"}
        self.world.set_pose(**edge, transform=moved(0, value % 4), at=self.clock.ns - value)

    def move(self, one, _, value):
        self.scene.set_transform(self._placed(one), moved(value % 6, 1))

    def forget_frame(self, one, *_):
        self.world.remove_frame(self._frame(one), subtree=True)

    def prefer(self, one, other, _):
        self.world.prefer(of=self._frame(one), source=["eyes", None][other % 2])

    def undo(self, *_):
        self.world.undo()

    def reset(self, *_):
        self.world.reset_time()

    def met_one_by_one(self, shape) -> set:
        return {
            node for node in self.scene.find({}) if self.scene.kind(node) == "geometry" and self._meets(shape, node)
        }

    def _meets(self, shape, node) -> bool:
        try:
            map_T_node = self.world.pose(of=self.scene.frame(node), in_frame="map", outside="hold").transform
        except ArmillaryError:
            return False
        return shape.overlaps(self.scene.geometry(node), this_T_other=map_T_node)


class TestASearchOfASceneThatChanges:
    @given(edits)
    def test_finds_what_looking_at_everything_finds(self, script):
        edited = EditedScene()
        with edited.world:
            for step in script:
                edited.edit(*step)
                for shape in (Sphere(2.5), Box((9.0, 0.5, 0.5))):
                    found = edited.scene.overlapping(shape, in_frame="map", outside="hold")
                    assert set(found) == edited.met_one_by_one(shape)


@pytest.fixture(scope="module")
def boxes():
    """A hundred groups of a hundred boxes each."""
    world, generator = World(), np.random.default_rng(7)
    for row in range(100):
        group = world.scene.add_transform(parent=world.scene.root, transform=moved(100.0 * row), at=None)
        for _ in range(10):
            thing = world.scene.add_transform(parent=group, transform=any_transform(generator, 5.0), at=None)
            world.scene.add_geometry(parent=thing, shape=Box((0.2, 0.3, 0.4)), at=None)
    with world:
        yield world


class TestVisitingARealScene:
    def test_is_confined_to_the_subgraph_that_is_touched(self, boxes):
        found = boxes.scene.overlapping(Sphere(7.0), in_frame="map")
        assert len(found) > 0
        assert 0 < found.visited < 200

    def test_of_nothing_ends_at_the_top(self, boxes):
        boxes.fix(of="far", in_frame="map", transform=moved(0, 1e6))
        assert boxes.scene.overlapping(Sphere(1.0), in_frame="far").visited == 1

    @pytest.mark.parametrize("change", ["fix", "add_group", "attach"])
    def test_asks_only_for_poses_that_may_have_changed(self, boxes, change, monkeypatch):
        boxes.scene.overlapping(Sphere(7.0), in_frame="map")
        thing = boxes.scene.children(boxes.scene.children(boxes.scene.root)[3])[0]
        changes = {
            "fix": lambda: boxes.fix(of="lamp", in_frame="map", transform=moved(3)),
            "add_group": lambda: boxes.scene.add_group(parent=boxes.scene.root),
            "attach": lambda: boxes.attach(of=boxes.scene.frame(thing), to="map"),
        }
        changes[change]()
        kind, asked = type(boxes.scene._geometry()), []
        place = kind.in_frame_T_frames

        def counted(self, here, frames, question):
            asked.extend(frames)
            return place(self, here, frames, question)

        monkeypatch.setattr(kind, "in_frame_T_frames", counted)
        assert len(boxes.scene.overlapping(Sphere(7.0), in_frame="map")) > 0
        assert len(asked) < 20
