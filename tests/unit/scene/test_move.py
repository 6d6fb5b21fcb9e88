"""Moving a thing from one place to another: containment and frame in one step, and where it is stays."""

from __future__ import annotations

import numpy as np
import pytest

from armillary import Box, Transform, World, seconds
from armillary.errors import FrameLoop, PermanentNode, SceneCycle, StampOutOfRange, UnknownFrame, UnknownNode
from armillary.scene import AddTransform, Move, NodeId
from unit.kit import FakeClock, moved

STILL = Transform.identity()
YAW = Transform.from_xyz_rpy(xyz=(0.5, -0.2, 1.0), rpy=(0.1, 0.2, 1.3))


@pytest.fixture
def clock():
    return FakeClock(seconds(5))


@pytest.fixture
def table(scene):
    return scene.add_transform(parent=scene.root, transform=moved(2.0), at=None, frame="table")


@pytest.fixture
def cup(scene, table):
    return scene.add_transform(parent=table, transform=YAW, at=seconds(1), frame="cup_red")


@pytest.fixture
def hand(world):
    """A gripper that moves along x at one metre a second, turning."""
    for t in range(1, 10):
        pose = Transform.from_xyz_rpy(xyz=(float(t), 1.0, 0.0), rpy=(0.0, 0.0, 0.1 * t))
        world.set_pose(of="gripper", in_frame="map", transform=pose, at=seconds(t))
    return "gripper"


def where(world, thing, t):
    return world.pose(of=thing, in_frame="map", at=seconds(t), outside="hold").transform.matrix


class TestAMove:
    def test_keeps_where_the_thing_is(self, world, scene, cup, hand):
        before = where(world, cup, 5)
        scene.move(cup, to=hand, at=seconds(5))
        np.testing.assert_allclose(where(world, "cup_red", 5), before, atol=1e-12)

    def test_lets_it_follow_from_then_on(self, world, scene, cup, hand):
        map_T_gripper = where(world, hand, 5)
        grasp = np.linalg.inv(map_T_gripper) @ where(world, cup, 5)
        scene.move(cup, to=hand, at=seconds(5))
        for t in (5.0, 5.5, 8.0):
            np.testing.assert_allclose(where(world, cup, t), where(world, hand, t) @ grasp, atol=1e-12)

    def test_leaves_the_past_as_it_was(self, world, scene, cup, table, hand):
        before = where(world, cup, 3)
        scene.move(cup, to=hand, at=seconds(5))
        np.testing.assert_allclose(where(world, cup, 3), before, atol=1e-12)
        assert scene.as_of(seconds(4)).parents(cup) == [table]

    def test_changes_what_contains_it(self, scene, cup, table, hand):
        scene.move(cup, to=hand, at=seconds(5))
        assert scene.parents(cup) == [scene.node(hand)]
        assert scene.children(table) == []
        assert scene.as_of(seconds(6)).children(hand) == [cup]

    def test_takes_a_node_or_the_name_of_a_frame(self, world, scene, cup, table):
        shelf = scene.add_group(parent=scene.add_transform(parent=scene.root, transform=YAW, at=None, frame="shelf"))
        before = where(world, cup, 5)
        scene.move("cup_red", to=shelf, at=seconds(5))
        assert scene.parents(cup) == [shelf]
        assert world.tree(at=seconds(6)).parents["cup_red"][0] == "shelf"
        np.testing.assert_allclose(where(world, cup, 6), before, atol=1e-12)

    def test_is_from_now_on_where_it_was_seen_last(self, world, scene, cup, hand, clock):
        clock.ns = seconds(9)
        seen = world.pose(of=cup, in_frame=hand).transform.matrix  # at one second, the newest that both cover
        scene.move(cup, to=hand)
        assert scene.contained_since(cup, hand) == seconds(9)
        np.testing.assert_allclose(where(world, cup, 9), where(world, hand, 9) @ seen, atol=1e-12)

    def test_of_a_thing_in_two_places_leaves_both(self, scene, cup, hand):
        scene.add_parent(cup, scene.add_group(parent=scene.root))
        scene.move(cup, to=hand, at=seconds(5), policy="latest")
        assert scene.parents(cup) == [scene.node(hand)]

    def test_carries_the_covariance(self, world, scene, table):
        plate = scene.add_uncertain_transform(
            parent=table, transform=STILL, covariance=np.eye(6) * 1e-4, at=seconds(5), frame="plate"
        )
        scene.move(plate, to=scene.root, at=seconds(5))
        np.testing.assert_allclose(world.pose(of=plate, in_frame="map", at=seconds(6)).covariance, np.eye(6) * 1e-4)

    def test_is_written_with_its_rank(self, scene, cup, hand):
        for released, prefer, rank in ((False, True, "statement"), (False, False, "plain"), (True, True, "fallback")):
            scene.move(cup, to=hand, at=seconds(5), released=released, prefer=prefer)
            newest = max((r for r in scene.changes() if r.type == "assert"), key=lambda record: record.time)
            assert (newest.rank, newest.track[1]) == (rank, str(cup))


class TestTakingAMoveBack:
    def test_is_one_step(self, world, scene, cup, table, hand):
        before, digest = where(world, cup, 5), scene.digest()
        scene.move(cup, to=hand, at=seconds(5))
        world.undo()
        assert scene.parents(cup) == [table]
        assert scene.digest() == digest
        for t in (3, 5, 8):
            np.testing.assert_allclose(where(world, cup, t), before, atol=1e-12)

    def test_and_making_it_again_is_one_step(self, world, scene, cup, hand):
        scene.move(cup, to=hand, at=seconds(5))
        there = where(world, cup, 8)
        world.undo()
        world.redo()
        assert scene.parents(cup) == [scene.node(hand)]
        np.testing.assert_allclose(where(world, cup, 8), there, atol=1e-12)


class TestAReplica:
    def test_moves_it_as_well(self, world, scene, cup, hand, clock):
        scene.move(cup, to=hand, at=seconds(5))
        with World("other", clock=clock) as other:
            other.merge(scene.changes())
            assert other.digest() == world.digest()
            assert other.scene.parents(cup) == [scene.node(hand)]

    def test_from_a_file_has_moved_it(self, world, scene, cup, hand, tmp_path):
        scene.move(cup, to=hand, at=seconds(5))
        world.save(tmp_path / "a.json")
        with World.load(tmp_path / "a.json") as loaded:
            assert loaded.digest() == world.digest()
            seen = loaded.pose(of="cup_red", in_frame=hand, at=seconds(8)).transform.matrix
            np.testing.assert_allclose(
                seen, world.pose(of="cup_red", in_frame=hand, at=seconds(8)).transform.matrix, atol=1e-12
            )


class TestABatch:
    def test_has_a_move_among_others(self, world, scene, cup, table):
        node, nothing = world.apply(
            [
                AddTransform(parent="map", transform=moved(7.0), at=None, frame="shelf"),
                Move("cup_red", table, seconds(5)),
            ]
        )
        assert world.scene.frame(node) == "shelf"
        assert nothing is None
        assert scene.parents(cup) == [table]

    def test_is_notified_of_what_a_move_did(self, scene, cup, hand):
        seen = []
        scene.subscribe(lambda batch: seen.extend(type(change).__name__ for change in batch))
        scene.move(cup, to=hand, at=seconds(5))
        assert seen[-3:] == ["AddParent", "RemoveParent", "Fix"]


@pytest.fixture
def tray(scene, table):
    """A group without a frame of its own, with a cup, a group and a shape in it."""
    return scene.add_group(parent=table, at=seconds(1), attributes={"name": "tray"})


@pytest.fixture
def below(scene, tray):
    mug = scene.add_transform(parent=tray, transform=YAW, at=None, frame="mug")
    part = scene.add_group(parent=tray, at=seconds(1))
    return {"mug": mug, "part": part, "lid": scene.add_geometry(parent=part, shape=Box((0.1, 0.1, 0.1)), at=seconds(1))}


class TestAThingWithoutAFrameOfItsOwn:
    def test_stays_where_it_is_and_follows(self, world, scene, tray, below, hand):
        things = [tray, *below.values()]
        before = {thing: where(world, thing, 5) for thing in things}
        carried = np.linalg.inv(where(world, hand, 5))
        scene.move(tray, to=hand, at=seconds(5))
        for thing in things:
            for t in (1.0, 3.0, 4.999999999, 5.0):
                np.testing.assert_allclose(where(world, thing, t), before[thing], atol=1e-12)
            for t in (5.5, 8.0):
                follows = where(world, hand, t) @ carried @ before[thing]
                np.testing.assert_allclose(where(world, thing, t), follows, atol=1e-12)

    def test_is_in_the_other_from_then_on(self, scene, table, tray, below, hand):
        scene.move(tray, to=hand, at=seconds(5))
        assert scene.parents(tray) == [scene.node(hand)] == scene.as_of(seconds(7)).parents(tray)
        assert scene.as_of(seconds(4)).parents(tray) == [table]
        assert scene.parents(below["mug"]) == [tray]
        assert scene.frame(tray) == scene.as_of(seconds(4)).frame(tray) == str(tray)

    def test_may_be_a_shape(self, world, scene, tray, below, hand):
        lid, before = below["lid"], where(world, below["lid"], 5)
        scene.move(lid, to=hand, at=seconds(5))
        scene.move(lid, to=tray, at=seconds(7), released=True)
        put = where(world, hand, 7) @ np.linalg.inv(where(world, hand, 5)) @ before
        for t, expected in ((2, before), (5, before), (7, put), (9, put)):
            np.testing.assert_allclose(where(world, lid, t), expected, atol=1e-12)
        assert scene.parents(lid) == [tray]
        np.testing.assert_allclose(where(world, below["part"], 9), where(world, tray, 9), atol=1e-12)

    def test_is_put_down_where_it_is(self, world, scene, tray, below, hand):
        (table,) = scene.parents(tray)
        scene.move(tray, to=hand, at=seconds(5))
        held = {thing: where(world, thing, 7) for thing in (tray, *below.values())}
        scene.move(tray, to=table, at=seconds(7), released=True)
        for thing, pose in held.items():
            np.testing.assert_allclose(where(world, thing, 7), pose, atol=1e-12)
            np.testing.assert_allclose(where(world, thing, 9), pose, atol=1e-12)

    @pytest.mark.usefixtures("hand")
    @pytest.mark.parametrize("thing", ["tray", "lid"])
    def test_put_down_counts_where_it_is_seen_again(self, world, scene, tray, below, thing):
        node, table = {"tray": tray, **below}[thing], scene.parents(tray)[0]
        scene.move(node, to="gripper", at=seconds(5))
        scene.move(node, to=table, at=seconds(7), released=True)
        put = where(world, node, 7)
        seen = Transform.from_xyz_rpy(xyz=(3.0, 0.1, 0.2), rpy=(0, 0, 0.4))
        world.set_pose(of=node, in_frame="map", transform=seen, at=seconds(8), source="camera")
        for t, expected in ((7.5, put), (8, seen.matrix), (8.5, seen.matrix)):
            np.testing.assert_allclose(where(world, node, t), expected, atol=1e-12)
        assert world.can_pose(of=node, in_frame="map", at=seconds(8))

    def test_is_back_after_undo(self, world, scene, tray, below, hand):
        (table,) = scene.parents(tray)
        before = {thing: where(world, thing, 5) for thing in (tray, *below.values())}
        scene.move(tray, to=hand, at=seconds(5))
        world.undo()
        assert scene.parents(tray) == [table]
        for thing, pose in before.items():
            for t in (3, 5, 8):
                np.testing.assert_allclose(where(world, thing, t), pose, atol=1e-12)
        world.redo()
        assert scene.parents(tray) == [scene.node(hand)]

    @pytest.mark.usefixtures("hand")
    def test_undone_later_was_never_moved(self, world, scene, tray, below, clock):
        (table,) = scene.parents(tray)
        clock.ns, instants = seconds(9), (3, 5, 6.5, 8, 9)
        before = {(thing, t): where(world, thing, t) for thing in (tray, *below.values()) for t in instants}
        for _ in range(2):
            scene.move(tray, to="gripper", at=seconds(5))
            after = {(thing, t): where(world, thing, t) for thing, t in before}
            for _ in range(2):
                world.undo()
                for (thing, t), pose in before.items():
                    np.testing.assert_allclose(where(world, thing, t), pose, atol=1e-12)
                assert [scene.as_of(seconds(t)).parents(tray) for t in instants] == [[table]] * 5
                world.redo()
                for (thing, t), pose in after.items():
                    np.testing.assert_allclose(where(world, thing, t), pose, atol=1e-12)
                assert scene.as_of(seconds(7)).parents(tray) == [scene.node("gripper")]
            world.undo()

    def test_moved_as_a_rival_contests_what_others_say_and_not_its_containment(self, world, scene, tray, hand):
        before = where(world, tray, 5)
        scene.move(tray, to=hand, at=seconds(5), prefer=False)
        carried = np.linalg.inv(where(world, hand, 5)) @ before
        np.testing.assert_allclose(where(world, tray, 7), where(world, hand, 7) @ carried, atol=1e-12)
        for t in (6, 8):
            world.set_pose(of=tray, in_frame="map", transform=STILL, at=seconds(t), source="camera")
        assert not world.can_pose(of=tray, in_frame="map", at=seconds(7))

    def test_fixed_in_what_contains_it_is_there(self, world, scene, table):
        tray = scene.add_group(parent=table, at=seconds(1), frame="tray")
        world.fix(of=tray, in_frame=table, transform=YAW, at=seconds(3), source="carpenter")
        np.testing.assert_allclose(where(world, tray, 2), where(world, table, 2), atol=1e-12)
        np.testing.assert_allclose(where(world, tray, 4), where(world, table, 4) @ YAW.matrix, atol=1e-12)

    def test_is_the_same_in_a_replica_and_in_a_file(self, world, scene, tray, tmp_path):
        world.fix(of="stand", in_frame="map", transform=moved(4.0))
        scene.move(tray, to="stand", at=seconds(5))
        expected = where(world, tray, 8)
        world.save(tmp_path / "kitchen.json")
        with World("other") as other, World.load(tmp_path / "kitchen.json") as loaded:
            other.merge(scene.changes())
            for copy in (other, loaded):
                np.testing.assert_allclose(where(copy, tray, 8), expected, atol=1e-12)


class TestAFrameThatIsNoNodes:
    @pytest.mark.parametrize("has_node", [False, True])
    def test_moves_by_its_name(self, world, scene, table, hand, has_node):
        world.fix(of="cart", in_frame="map", transform=moved(4.0), at=seconds(1))
        if has_node:
            scene.set_attributes("cart", {"color": "red"})
        before, frames = where(world, "cart", 5), set(world.frames())
        scene.move("cart", to=hand, at=seconds(5))
        follows = where(world, hand, 8) @ np.linalg.inv(where(world, hand, 5)) @ before
        np.testing.assert_allclose(where(world, "cart", 5), before, atol=1e-12)
        np.testing.assert_allclose(where(world, "cart", 8), follows, atol=1e-12)
        assert scene.parents("cart") == [scene.node(hand)]
        assert set(world.frames()) == frames


class TestWhatIsRefused:
    def test_is_a_thing_into_itself(self, world, scene, cup, table):
        before = world.digest()
        with pytest.raises((SceneCycle, FrameLoop)):
            scene.move(table, to=cup, at=seconds(1))
        assert world.digest() == before

    def test_is_the_root(self, scene, table):
        with pytest.raises((PermanentNode, SceneCycle)):
            scene.move(scene.root, to=table, at=seconds(1))

    def test_is_what_does_not_exist(self, scene, cup, table):
        with pytest.raises(UnknownNode):
            scene.move(NodeId.random(), to=table)
        with pytest.raises(UnknownFrame):
            scene.move(cup, to="nowhere", at=seconds(1))

    def test_is_a_thing_whose_place_is_not_known(self, world, scene, cup, hand):
        before = world.digest()
        with pytest.raises(StampOutOfRange):
            scene.move(cup, to=hand, at=seconds(20), outside="raise")
        assert world.digest() == before
