"""A mirror: a world that applies the notified changes of another one, batch by batch, and stays equal to it."""

import pytest

from armillary import Transform, World, seconds
from armillary.scene import AddParent, AddRemoteRoot, AddTransform, NodeId, Remove, Restore, SetTransform

THING, OTHER, ARM = (NodeId(f"{digit}0000000-0000-4000-8000-000000000000") for digit in "123")


def at_x(x_m):
    return Transform.from_xyz_rpy(xyz=(x_m, 0, 0), rpy=(0, 0, 0))


@pytest.fixture
def clock():
    instants = iter(range(seconds(10), seconds(1000), seconds(1)))
    return lambda: next(instants)


@pytest.fixture
def mirror():
    with World("mirror", clock=lambda: seconds(10)) as mirror:
        yield mirror


@pytest.fixture
def notified(world, mirror):
    """All changes that the mirror was notified of; it fails the test where it refuses one."""
    notified, refused = [], []
    world.scene.attach(lambda batch: (notified.extend(batch), mirror.apply(batch)))
    world.on_error = refused.append
    yield notified
    assert refused == []
    assert mirror.scene.digest() == world.scene.digest()


def place(world, node=THING, *, x_m=0.0, at=None):
    return AddTransform(parent=world.scene.root, transform=at_x(x_m), at=at, id=node)


def x_of(world, node, at=None):
    return world.pose(of=world.scene.frame(node), in_frame="map", at=at, outside="hold").xyz[0]


class TestTheSamplesOfABatch:
    def test_are_notified_with_their_parents(self, world, notified):
        world.apply([place(world, at=1)])
        world.apply([SetTransform(THING, at_x(2), at=2), Remove(THING, 3)])
        assert [type(change) for change in notified] == [AddTransform, SetTransform, Remove]

    def test_stay_with_their_incarnation(self, world, mirror, notified):
        world.apply([place(world, at=1)])
        world.apply([SetTransform(THING, at_x(2), at=2), Remove(THING, 3), place(world, x_m=5, at=3)])
        assert (x_of(world, THING, 4), x_of(mirror, THING, 4)) == (5, 5)
        assert [type(change) for change in notified[1:]] == [SetTransform, Remove, AddTransform]

    def test_are_notified_with_their_instant(self, world, mirror, notified):
        world.apply(
            [place(world, at=1), SetTransform(THING, at_x(2)), place(world, OTHER), SetTransform(OTHER, at_x(3))]
        )
        assert [change.at for change in notified if isinstance(change, SetTransform)] == [seconds(10)] * 2
        assert [x_of(mirror, node, seconds(10)) for node in (THING, OTHER)] == [2, 3]

    def test_are_notified_after_the_node_of_a_frame(self, world, notified):
        world.fix(of="shelf", in_frame="map", transform=at_x(1))
        world.apply(
            [AddTransform(parent="shelf", transform=at_x(1), at=1, id=THING), SetTransform(THING, at_x(2), at=2)]
        )
        assert [type(change).__name__ for change in notified[-3:]] == ["AddFrameNode", "AddTransform", "SetTransform"]


class TestARemovalThatLetsFramesGo:
    def test_is_notified_as_it_was_given(self, world, notified):
        world.apply([place(world)])
        world.fix(of="label", in_frame=world.scene.frame(THING), transform=at_x(1))
        world.scene.remove(THING, subtree=True)
        assert notified[-1].subtree is True

    def test_of_another_replica_happens_in_the_mirror_too(self, world, mirror, notified):
        world.apply([place(world)])
        with World("other") as other:
            other.merge(world.scene.changes())
            world.fix(of="label", in_frame=world.scene.frame(THING), transform=at_x(1))
            other.scene.remove(THING)
            world.merge(other.scene.changes(since=world.scene.version_vector()))
        assert THING not in mirror.scene


class TestARootOfOthers:
    @pytest.fixture(autouse=True)
    def _root(self, world, notified):
        world.scene.add_remote_root(ARM, attributes={"name": "arm"})
        world.scene.add_group(parent=ARM, id=OTHER)

    def test_that_is_restored_unmounted_is_notified_so(self, world, mirror, notified):
        world.scene.remove(ARM)
        world.undo()
        assert notified[-1] == Restore(ARM, None, notified[-1].at)
        assert mirror.scene.children(ARM) == [OTHER]

    def test_whose_removal_is_done_again_is_removed(self, world, mirror, notified):
        world.scene.remove(ARM)
        world.undo()
        world.redo()
        assert ARM not in world.scene
        assert ARM not in mirror.scene

    def test_that_comes_and_goes_in_one_batch_does_so_again(self, world, mirror, notified):
        world.apply([AddRemoteRoot(THING), Remove(THING)])
        for again in (world.undo, world.redo, world.undo):
            again()
            assert THING not in mirror.scene

    def test_whose_mounting_is_undone_waits_again(self, world, mirror, notified):
        world.scene.add_parent(ARM, world.scene.root)
        world.undo()
        assert mirror.scene.parents(ARM) == world.scene.parents(ARM)
        world.redo()
        assert mirror.scene.parents(ARM) == [world.scene.root]

    def test_leaves_what_it_waited_in_without_a_notification(self, world, notified):
        world.apply([AddRemoteRoot(THING), AddParent(THING, world.scene.root), Remove(THING)])
        assert [type(change) for change in notified[-3:]] == [AddRemoteRoot, AddParent, Remove]
