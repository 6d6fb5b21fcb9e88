"""What is removed has no parent from then on, and neither has what is in it."""

from __future__ import annotations

import pytest

from armillary import LATEST, World, seconds
from armillary.errors import InvalidArgument, NotConnected
from armillary.scene import AddParent, NodeId
from unit.kit import FakeClock, moved


@pytest.fixture
def clock():
    return FakeClock(seconds(1))


@pytest.fixture(params=["fixed", "sampled"])
def nested(request, scene, clock):
    """A transform in a transform in a transform, the outermost removed after three seconds."""
    at = None if request.param == "fixed" else seconds(1)
    outer = scene.add_transform(parent=scene.root, transform=moved(1), at=at)
    middle = scene.add_transform(parent=outer, transform=moved(1), at=at)
    inner = scene.add_transform(parent=scene.add_group(parent=middle), transform=moved(1), at=at)
    if at is not None:
        for node in (outer, middle, inner):
            scene.set_transform(node, moved(1), at=seconds(9))
    frames = [scene.frame(node) for node in (outer, middle, inner)]
    clock.ns = seconds(5)
    scene.remove(outer, at=seconds(3))
    return frames


class TestPosesAmongRemovedNodes:
    @pytest.mark.parametrize("pair", [(1, 0), (2, 1), (2, 0), (0, 2)])
    def test_answer_before_and_not_after(self, world, nested, pair):
        of, in_frame = (nested[i] for i in pair)
        steps = pair[0] - pair[1]
        assert world.pose(of=of, in_frame=in_frame, at=seconds(2)).xyz.tolist() == [steps, 0, 0]
        for at in (seconds(3), seconds(4), LATEST):
            with pytest.raises(NotConnected):
                world.pose(of=of, in_frame=in_frame, at=at)
            with pytest.raises(NotConnected):
                world.pose(of=of, in_frame=in_frame, at=at, outside="hold")

    def test_answer_again_where_the_removal_is_undone(self, world, nested):
        world.undo()
        assert world.pose(of=nested[2], in_frame=nested[0], at=world.now(), outside="hold").xyz.tolist() == [2, 0, 0]


def test_the_tree_shows_removed_nodes_only_while_they_were_there(world, nested):
    assert set(nested) <= world.tree(at=seconds(2)).parents.keys()
    assert str(world.tree(at=seconds(4))) == str(world.tree()) == "map"


def test_the_tree_calls_nothing_contested_that_is_gone(world, scene, clock):
    hands = [scene.add_transform(parent=scene.root, transform=moved(x), at=None) for x in (1, 2)]
    cup = scene.add_group(parent=hands[0])
    scene.add_parent(cup, hands[1])
    clock.ns = seconds(5)
    scene.remove(cup)
    assert f"{cup}  contested by" in str(world.tree(at=seconds(4)))
    assert str(cup) not in str(world.tree())


def test_a_removed_frame_goes_with_the_nodes_that_were_in_it(world, scene, clock):
    world.fix(of="gun", in_frame="cart", transform=moved(1))
    tag = scene.add_transform(parent="cart", transform=moved(2), at=seconds(1))
    world.remove_frame("cart", subtree=True)
    assert tag not in scene
    with World("other", clock=clock) as other:
        other.merge(scene.changes())
        assert world.frames() == other.frames() == ("map",)


def test_the_frame_of_a_removed_node_stays_for_its_past(world, scene):
    tag = scene.add_transform(parent=scene.root, transform=moved(2), at=seconds(1))
    frame = scene.frame(tag)
    scene.remove(tag, at=seconds(3))
    with pytest.raises(InvalidArgument):
        world.remove_frame(frame)
    assert world.pose(of=frame, in_frame="map", at=seconds(1)).xyz.tolist() == [2, 0, 0]


def test_a_removal_dated_back_leaves_alone_what_was_in_the_node_then(world, scene, clock):
    other, box = NodeId("40000000-0000-4000-8000-000000000000"), NodeId("30000000-0000-4000-8000-000000000000")
    room = scene.add_group(parent=scene.root)
    for root in (other, box):
        scene.add_remote_root(root)
    clock.ns = seconds(4)
    world.apply([AddParent(box, room), AddParent(room, other)])
    clock.ns = seconds(5)
    scene.remove_parent(box, room)
    scene.remove_parent(room, other)
    clock.ns = seconds(6)
    scene.remove_parent(room, scene.root, at=seconds(4))
    assert room not in scene
    assert scene.as_of(seconds(4)).parents(box) == [room]
