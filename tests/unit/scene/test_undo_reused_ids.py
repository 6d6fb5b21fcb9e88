"""Undo and redo where ids are reused, where a batch has several changes of one node, and where frames come and go."""

from __future__ import annotations

import pytest

from armillary import World, seconds
from armillary.scene import (
    NOW,
    AddFrame,
    AddGroup,
    AddParent,
    AddTransform,
    Fix,
    NodeId,
    Remove,
    SetAttributes,
)
from unit.kit import FakeClock, moved

A, B = (NodeId(f"{digit}0000000-0000-4000-8000-000000000000") for digit in "12")
ROOT = World().scene.root


@pytest.fixture
def clock():
    return FakeClock(seconds(1))


@pytest.fixture
def world(clock):
    """Time goes on with every look at it."""

    def tick():
        clock.ns += 1000
        return clock.ns

    return World(clock=tick)


def x_m(world, node) -> float:
    return world.pose(of=str(node), in_frame="map", at=world.now(), outside="hold").xyz[0]


BATCHES = {
    "in one of themselves": [AddGroup(parent=ROOT, id=B), AddGroup(parent=ROOT, id=A), AddParent(B, A)],
    "in another, and removed": [AddGroup(parent=ROOT, id=A), AddGroup(parent=ROOT, id=B), AddParent(B, A), Remove(B)],
    "in what goes": [
        AddGroup(parent=ROOT, id=A),
        AddGroup(parent=A, id=B),
        SetAttributes(B, {"full": True}),
        Remove(A),
    ],
    "used again": [AddGroup(parent=ROOT, id=A), Remove(A), AddTransform(parent=ROOT, transform=moved(1), id=A)],
    "fixed twice": [Fix(of="q", in_frame="map", transform=moved(x)) for x in (1, 2)],
}


@pytest.mark.parametrize("batch", BATCHES.values(), ids=BATCHES)
def test_a_batch_is_undone_and_redone(world, batch):
    world.add_frame("map")
    before = world.digest()
    world.apply(batch)
    after = world.digest()
    for _ in range(2):
        world.undo()
        assert world.digest() == before
        world.redo()
        assert world.digest() == after


def test_a_removal_leaves_frames_without_parent_when_it_is_redone(world):
    world.scene.add_transform(parent=ROOT, transform=moved(1), id=A)
    world.fix(of="q", in_frame=str(A), transform=moved(1))
    world.scene.remove(A, subtree=True)
    after = world.digest()
    world.undo()
    world.redo()
    assert world.digest() == after


def test_a_remote_root_is_redone_at_the_same_instant():
    world = World(clock=lambda: seconds(10))
    world.scene.add_remote_root(A)
    world.apply([Remove(A), AddGroup(parent=ROOT, id=A)])
    after = world.digest()
    world.undo()
    world.redo()
    assert A in world.scene
    assert world.digest() == after


class TestAnIdThatWasUsedAgain:
    @pytest.mark.parametrize("at", [None, NOW], ids=["fixed", "sampled"])
    def test_is_where_it_was_last(self, world, at):
        world.scene.add_transform(parent=ROOT, id=A, transform=moved(1), at=at)
        world.scene.set_transform(A, moved(5))
        before = world.digest()
        world.scene.remove(A)
        world.scene.add_group(parent=ROOT, id=A)
        world.undo()
        world.undo()
        assert (x_m(world, A), world.digest()) == (5.0, before)

    def test_is_where_it_was_last_when_it_is_done_again(self, world):
        world.scene.add_group(parent=ROOT, id=A)
        world.apply([Remove(A), AddTransform(parent=ROOT, transform=moved(1), id=A)])
        world.scene.set_transform(A, moved(5))
        world.undo()
        world.redo()
        assert x_m(world, A) == 5.0

    @pytest.mark.parametrize("how", ["in two steps", "in one"])
    def test_comes_back_into_what_it_went_with(self, world, how):
        world.scene.add_group(parent=ROOT, id=A)
        world.scene.add_transform(parent=A, id=B, transform=moved(3), attributes={"name": "cup"})
        inner = world.scene.add_group(parent=B)
        before = world.digest()
        steps = [Remove(A), AddGroup(parent=ROOT, id=B)]
        for batch in [steps] if how == "in one" else [[step] for step in steps]:
            world.apply(batch)
        for _ in range(1 if how == "in one" else 2):
            world.undo()
        assert world.digest() == before
        assert (world.scene.parents(B), world.scene.parents(inner), x_m(world, B)) == ([A], [B], 3.0)


class TestANodeInAFrameThatIsTakenBack:
    @pytest.mark.parametrize(
        "made", [AddFrame("shelf"), Fix(of="shelf", in_frame="map", transform=moved(1))], ids=["add", "fix"]
    )
    def test_has_its_samples_when_that_is_done_again(self, world, made):
        world.apply([made, AddTransform(parent="shelf", id=A, transform=moved(1))])
        for x in (6, 7):
            world.scene.set_transform(A, moved(x))
        world.undo()
        assert str(A) not in world.frames()
        world.redo()
        samples = world.samples(of=str(A), in_frame="shelf")
        assert [pose[0] for pose in samples.transforms] == [1, 6, 7]


class TestAFrameThatSomebodyElseMoves:
    """A node places a frame, and so does `fix`: by the same source, in whatever order they arrive."""

    @pytest.fixture
    def grasped(self, world):
        world.fix(of="tray", in_frame="map", transform=moved(3))
        world.scene.add_transform(parent=ROOT, id=A, transform=moved(1), at=None)
        world.fix(of=str(A), in_frame="tray", transform=moved(4), at=seconds(5))
        return world

    @pytest.mark.parametrize("order", [1, -1])
    def test_is_the_same_for_a_replica(self, grasped, order):
        with World("other") as other:
            for record in grasped.scene.changes()[::order]:
                other.merge([record])
            assert other.digest() == grasped.digest()
            assert [self.x_m(world, 9) for world in (grasped, other)] == [7, 7]
            assert [self.x_m(world, 2) for world in (grasped, other)] == [1, 1]

    def test_is_the_same_in_a_file(self, grasped, tmp_path):
        grasped.save(tmp_path / "world.json")
        loaded = World.load(tmp_path / "world.json")
        assert [self.x_m(loaded, at) for at in (2, 9)] == [1, 7]

    @staticmethod
    def x_m(world, at) -> float:
        return world.pose(of=str(A), in_frame="map", at=seconds(at)).xyz[0]


def test_a_file_holds_the_samples_of_the_present_incarnation_alone(world, tmp_path):
    scene = world.scene
    scene.add_transform(parent=ROOT, id=A, transform=moved(7), at=seconds(0.9))
    scene.remove(A)
    scene.add_transform(parent=ROOT, id=A, transform=moved(1), at=seconds(0.5))
    assert x_m(world, A) == 1
    assert world.samples(of=str(A), in_frame="map").stamps.tolist() == [seconds(0.5), seconds(0.9)]
    scene.save(tmp_path / "scene.json")
    other = World(clock=lambda: seconds(2))
    other.scene.load(tmp_path / "scene.json")
    assert x_m(other, A) == 1
    assert other.scene.digest() == scene.digest()
