"""Undo reverts changes, as new changes."""

import pytest

from armillary import Transform, World, seconds
from armillary.errors import BuiltUpon, NotConnected, NothingToUndo, PermanentNode, SingleSample, UnknownNode
from armillary.scene import AddBody, AddGroup, AddParent, NodeId, Remove, SetAttributes, Sphere
from unit.kit import FakeClock, moved

ONE, TWO, THREE = (NodeId(f"{digit}0000000-0000-4000-8000-000000000000") for digit in "123")


@pytest.fixture
def clock():
    return FakeClock(1000)


class TestUndo:
    def test_of_an_addition_removes(self, world, scene):
        table = scene.add_group(parent=scene.root)
        world.undo()
        assert table not in scene

    def test_of_a_removal_brings_back_all_that_went_with_it(self, world, scene):
        table = scene.add_transform(parent=scene.root, transform=moved(1), at=None, attributes={"name": "table"})
        cup = scene.add_transform(parent=table, transform=moved(2), at=None)
        scene.remove(table)
        world.undo()
        assert scene.attributes(table) == {"name": "table"}
        assert scene.children(table) == [cup]
        assert world.pose(of=scene.frame(cup), in_frame="map").transform.is_close(moved(3))

    def test_of_attributes_gives_the_values_from_before(self, world, scene):
        table = scene.add_group(parent=scene.root, attributes={"name": "table", "legs": 4})
        scene.set_attributes(table, {"name": None, "legs": 3, "new": True})
        world.undo()
        assert scene.attributes(table) == {"name": "table", "legs": 4}

    def test_reverts_a_whole_batch(self, world, scene):
        scene.add_group(parent=scene.root, id=THREE)
        before = scene.digest()
        world.apply([AddGroup(parent=scene.root, id=ONE), AddGroup(parent=ONE, id=TWO), Remove(THREE)])
        world.undo()
        assert scene.digest() == before

    def test_of_a_mounting_puts_a_remote_root_back_where_it_was(self, world, scene):
        scene.add_remote_root(ONE)
        scene.add_parent(ONE, scene.root)
        world.undo()
        assert ONE in scene
        assert ONE not in scene.find({})

    def test_goes_back_step_by_step_and_redo_forth(self, world, scene):
        digests = [scene.digest()]
        for edit in (
            lambda: scene.add_group(parent=scene.root, id=ONE),
            lambda: scene.set_attributes(ONE, {"k": 1}),
            lambda: scene.set_attributes(ONE, {"k": 2}),
            lambda: scene.remove(ONE),
            lambda: scene.add_group(parent=scene.root, id=ONE),
            lambda: scene.set_attributes(ONE, {"k": 3}),
        ):
            edit()
            digests.append(scene.digest())
        back = [(world.undo(), scene.digest())[1] for _ in digests[1:]]
        assert back == digests[-2::-1]
        forth = [(world.redo(), scene.digest())[1] for _ in digests[1:]]
        assert forth == digests[1:]

    def test_never_rewrites_history(self, world, scene, clock):
        table = scene.add_group(parent=scene.root)
        clock.ns = 2000
        scene.remove(table)
        clock.ns = 3000
        world.undo()
        assert [table in scene.as_of(stamp) for stamp in (1500, 2500, 3500)] == [True, False, True]
        assert len(scene.changes()) == 3

    def test_of_a_removal_lets_a_sampled_transform_go_on_from_its_last_sample(self, world, scene, clock):
        cup = scene.add_transform(parent=scene.root, transform=moved(1))  # at 1000
        clock.ns = 2000
        scene.remove(cup)
        clock.ns = 3000
        world.undo()
        of = scene.frame(cup)
        assert world.pose(of=of, in_frame="map").stamp == 1000
        assert world.pose(of=of, in_frame="map", at=3000, outside="hold").transform.is_close(moved(1))
        with pytest.raises(SingleSample):
            world.pose(of=of, in_frame="map", at=3000)
        with pytest.raises(NotConnected):
            world.pose(of=of, in_frame="map", at=2500, outside="hold")
        scene.set_transform(cup, moved(2), at=4000)
        assert world.pose(of=of, in_frame="map", at=4000).transform.is_close(moved(2))
        assert world.pose(of=of, in_frame="map", at=1000).transform.is_close(moved(1))

    def test_leaves_samples_alone(self, world, scene):
        table = scene.add_transform(parent=scene.root, transform=moved(1), at=1000)
        scene.set_attributes(table, {"name": "table"})
        scene.set_transform(table, moved(5), at=2000)
        world.undo()
        assert scene.attributes(table) == {}
        assert world.pose(of=scene.frame(table), in_frame="map", at=2000).transform.is_close(moved(5))

    def test_is_a_change_that_others_follow(self, world, scene):
        table = scene.add_group(parent=scene.root)
        with World("other") as other:
            other.merge(scene.changes())
            world.undo()
            other.merge(scene.changes())
            assert table not in other.scene
            assert other.scene.digest() == scene.digest()


class TestUndoIsRefused:
    def test_where_nothing_was_done(self, world):
        with pytest.raises(NothingToUndo, match=r"nothing to undo or redo.*`redo` an `undo`"):
            world.undo()

    def test_where_nothing_was_undone(self, world, scene):
        scene.add_group(parent=scene.root)
        with pytest.raises(NothingToUndo):
            world.redo()

    def test_where_something_new_was_done_since(self, world, scene):
        table = scene.add_group(parent=scene.root)
        world.undo()
        scene.add_group(parent=scene.root)
        with pytest.raises(NothingToUndo):
            world.redo()
        assert table not in scene

    def test_where_it_is_too_long_ago(self):
        with World("forgetful", max_undo=2) as world:
            for _ in range(3):
                world.scene.add_group(parent=world.scene.root)
            world.undo()
            world.undo()
            with pytest.raises(NothingToUndo, match="max_undo"):
                world.undo()

    def test_where_another_replica_put_something_under_it(self, world, scene):
        scene.add_group(parent=scene.root, id=ONE)
        before = self.answered_by_another_replica(world, [AddGroup(parent=ONE, id=TWO)])
        with pytest.raises(BuiltUpon, match="later changes depend on") as caught:
            world.undo()
        assert caught.value.node in (ONE, TWO)
        assert scene.digest() == before

    def test_where_another_replica_asserted_something_since(self, world, scene):
        scene.add_group(parent=scene.root, id=ONE)
        scene.set_attributes(ONE, {"name": "mine"})
        before = self.answered_by_another_replica(world, [SetAttributes(ONE, {"name": "yours"})])
        with pytest.raises(BuiltUpon):
            world.undo()
        assert scene.digest() == before

    def answered_by_another_replica(self, world, changes) -> str:
        with World("other") as other:
            other.merge(world.scene.changes())
            other.apply(changes)
            world.merge(other.scene.changes())
            return world.scene.digest()

    def test_and_what_was_refused_cannot_be_undone(self, world, scene):
        table = scene.add_group(parent=scene.root)
        with pytest.raises(PermanentNode):
            scene.remove(scene.root)
        with pytest.raises(UnknownNode):
            world.apply([AddGroup(parent=scene.root), Remove(NodeId.random())])
        world.undo()
        assert table not in scene


class TestUndoOfOneWorld:
    def test_reverts_its_own_changes_only(self, world, scene):
        mine = scene.add_group(parent=scene.root)
        with World("other") as other:
            theirs = other.scene.add_group(parent=scene.root)
            world.merge(other.scene.changes())
        world.undo()
        assert (mine in scene, theirs in scene) == (False, True)

    def test_does_not_count_samples_as_changes(self, world, scene):
        table = scene.add_transform(parent=scene.root, transform=Transform.identity())
        scene.set_transform(table, moved(1))
        world.undo()
        assert table not in scene


def fixed(world, x, **options):
    world.fix(of="gun", in_frame="map", transform=moved(x), **options)


STORIES = {
    "a frame with further assertions": [
        lambda world: fixed(world, 1),
        lambda world: fixed(world, 2),
        lambda world: fixed(world, 3, at=5),
        lambda world: world.scene.set_attributes("gun", {"k": 1}),
        lambda world: world.scene.add_geometry(parent="gun", shape=Sphere(1.0)),
    ],
    "a frame that was there before it was placed": [
        lambda world: world.add_frame("gun"),
        lambda world: fixed(world, 1),
        lambda world: world.prefer(of="gun", source=world.name),
    ],
    "a preference for a node": [
        lambda world: world.scene.add_transform(parent=world.scene.root, transform=moved(1), id=ONE),
        lambda world: world.prefer(of=str(ONE), source=world.name),
        lambda world: world.prefer(of=str(ONE), source=None),
    ],
    "a remote root that is mounted twice at once": [
        lambda world: world.scene.add_remote_root(ONE),
        lambda world: world.scene.add_group(parent=world.scene.root, id=TWO),
        lambda world: world.apply([AddParent(ONE, TWO), AddParent(ONE, world.scene.root)]),
    ],
    "a remote root with the id of what was removed": [
        lambda world: world.scene.add_group(parent=world.scene.root, id=ONE),
        lambda world: world.scene.remove(ONE),
        lambda world: world.scene.add_remote_root(ONE),
    ],
    "what was in two, of which one was removed before it": [
        lambda world: world.scene.add_group(parent=world.scene.root, id=ONE),
        lambda world: world.scene.add_group(parent=ONE, id=TWO),
        lambda world: world.scene.add_parent(TWO, world.scene.root),
        lambda world: world.scene.remove(ONE),
        lambda world: world.scene.remove(TWO),
    ],
}


class TestUndoOfEverything:
    @pytest.mark.parametrize("story", STORIES.values(), ids=STORIES.keys())
    def test_leads_back_to_the_empty_world_and_redo_to_the_full_one(self, world, scene, clock, story):
        digests = [world.digest()]
        for edit in story:
            edit(world)
            clock.ns += 1
            digests.append(world.digest())
        for before in reversed(digests[:-1]):
            world.undo()
            assert world.digest() == before
        assert (len(scene), "gun" in world.frames()) == (1, False)
        for after in digests[1:]:
            world.redo()
            assert world.digest() == after

    @pytest.mark.parametrize("story", STORIES.values(), ids=STORIES.keys())
    def test_leads_back_in_a_copy_as_well(self, world, clock, story):
        digests = [world.digest()]
        for edit in story:
            edit(world)
            clock.ns += 1
            digests.append(world.digest())
        with world.copy() as once, once.copy() as twin:
            for before in reversed(digests[:-1]):
                clock.ns += 1
                twin.undo()
                assert twin.digest() == before
            assert world.digest() == once.digest() == digests[-1]

    def test_in_a_copy_leaves_later_assertions_of_the_original(self, world, scene):
        table = scene.add_group(parent=scene.root)
        with world.copy() as twin:
            scene.set_attributes(table, {"name": "table"})
            twin.merge(scene.changes())
            with pytest.raises(BuiltUpon):
                twin.undo()

    def test_leaves_a_frame_that_others_named_meanwhile(self, world, scene):
        fixed(world, 1)
        with World("other") as other:
            other.merge(scene.changes())
            other.fix(of="lens", in_frame="gun", transform=moved(1))
            world.merge(other.scene.changes())
        world.undo()
        assert {"gun", "lens"} <= set(world.frames())

    def test_leaves_a_frame_that_has_samples(self, world, scene):
        world.add_frame("gun")
        with World("camera") as other:
            other.set_pose(of="gun", in_frame="map", transform=moved(1), at=5)
            world.merge(other.scene.changes())
        world.set_pose(of="gun", in_frame="map", transform=moved(1), at=5, source="camera")
        world.undo()
        assert world.pose(of="gun", in_frame="map").xyz.tolist() == [1, 0, 0]

    def test_leaves_the_frame_of_the_root(self, world, scene):
        fixed(world, 1)
        world.undo()
        assert world.can_pose(of=scene.frame(scene.root), in_frame="map")
        assert list(scene.raycast(origin=(0, 0, 0), direction=(1, 0, 0), in_frame="map")) == []


class TestRedo:
    def test_makes_a_removal_as_it_was(self, world):
        world.set_twist(
            of="cup", relative_to="hand", expressed_in="cup", at=seconds(1), linear=(1, 0, 0), angular=(0, 0, 0)
        )
        world.remove_frame("hand")
        removed = world.digest(), set(world.frames())
        world.undo()
        report = world.redo()
        assert (world.digest(), set(world.frames())) == removed
        assert str(report) == "Done again: RemoveFrame 'hand'."

    def test_of_a_removal_can_be_undone_again(self, world):
        world.set_pose(of="cup", in_frame="hand", transform=Transform.identity(), at=seconds(1))
        before = world.digest()
        world.remove_frame("hand", subtree=True)
        for _ in range(2):
            world.undo()
            assert world.digest() == before
            world.redo()

    def test_keeps_the_frames_that_samples_made_undoable(self, world):
        empty = world.digest()
        world.set_pose(of="cup", in_frame="hand", transform=Transform.identity(), at=seconds(1))
        world.remove_frame("hand", subtree=True)
        world.undo()
        world.undo()
        assert world.digest() == empty

    def test_of_a_removal_lets_a_node_that_came_after_it_be_done_again(self, world, scene):
        world.set_pose(of="cup", in_frame="hand", transform=Transform.identity(), at=seconds(1))
        world.remove_frame("cup")
        world.add_frame("cup")
        scene.add_group(parent="cup", id=ONE)
        done = world.digest()
        for _ in range(4):
            world.undo()
        for _ in range(4):
            world.redo()
        assert world.digest() == done
        assert ONE in scene


class TestABodyThatIsDeclaredAgain:
    @pytest.mark.parametrize(
        "declare", [lambda w: w.add_body("gun", ["a"]), lambda w: w.apply([AddBody("gun", ["a"])])]
    )
    def test_makes_no_record(self, world, declare):
        world.add_body("gun", ["a"])
        heard = []
        world.scene.subscribe(heard.append)
        before = world.scene.version_vector()
        declare(world)
        assert world.scene.version_vector() == before
        world.undo()
        assert "gun" not in world.bodies()


class TestAnAnnouncedRelation:
    def test_leaves_what_is_fixed_there_until_its_first_sample(self, world):
        world.fix(of="odom", in_frame="map", transform=Transform.identity(), at=seconds(1))
        world.add_relation(of="odom", in_frame="map", interpolation="step", at=seconds(5))
        other = World()
        other.merge(world.scene.changes())
        for one in (world, other):
            assert one.pose(of="odom", in_frame="map", at=seconds(6)).method == "fixed"
