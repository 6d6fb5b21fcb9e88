"""Cases in which replicas with the same changes, and so with equal digests, used to answer differently."""

from __future__ import annotations

import itertools

import pytest

from armillary import Transform, World, seconds
from armillary.errors import ArmillaryError, FrameInUse, InvalidArgument
from armillary.scene import AddTransform, NodeId

I = Transform.identity()
ONE_M = Transform.from_xyz_rpy(xyz=(1.0, 0.0, 0.0), rpy=(0.0, 0.0, 0.0))


def copied(world: World, *, one_by_one: bool = False) -> World:
    """A new world that merged all changes of another one."""
    copy = World("copy")
    changes = world.scene.changes()
    if one_by_one:
        for change in changes:
            copy.merge([change])
    else:
        copy.merge(changes)
    return copy


def test_a_copy_is_whole_however_many_changes_there_were() -> None:
    world = World("robot", max_changes=20)
    for i in range(100):
        world.scene.add_group(parent=world.scene.root, attributes={"number": i})
        world.fix(of="camera", in_frame="map", transform=I, recalibrate=True)
    copy = copied(world)
    assert copy.digest() == world.digest()
    assert copy.scene.digest() == world.scene.digest()
    assert len(copy.scene.find({})) == len(world.scene.find({}))
    assert world.scene.changes(since=copy.scene.version_vector()) == []


def test_a_copy_learns_what_came_later() -> None:
    world = World("robot")
    cup = world.scene.add_group(parent=world.scene.root)
    copy = copied(world)
    world.scene.remove(cup)
    world.fix(of="camera", in_frame="map", transform=I)
    copy.merge(world.scene.changes(since=copy.scene.version_vector()))
    assert cup not in copy.scene
    assert copy.digest() == world.digest()


def test_superseded_changes_are_not_kept() -> None:
    world = World("robot")
    for x in range(50):
        world.fix(of="camera", in_frame="map", transform=Transform.from_xyz_rpy(xyz=(x, 0, 0), rpy=(0, 0, 0)))
    assert len(world.scene.changes()) < 5


@pytest.mark.parametrize("first", ["one", "two"])
def test_a_shared_root_is_found_by_the_attributes_it_has(first: str) -> None:
    arm = NodeId.of_name("arm", "root")
    worlds = {name: World(name) for name in ("one", "two")}
    for i, world in enumerate(worlds.values()):
        world.scene.add_remote_root(arm, attributes={"k": i})
        world.scene.add_parent(arm, world.scene.root)
    order = [first, "two" if first == "one" else "one"]
    copy = World("copy")
    for name in order:
        copy.merge(worlds[name].scene.changes())
    worlds["one"].merge(worlds["two"].scene.changes())
    for world in (copy, worlds["one"]):
        value = world.scene.attributes(arm)["k"]
        assert world.scene.find({"k": value}) == [arm]
        assert world.scene.find({"k": 1 - value}) == []
    assert copy.scene.attributes(arm) == worlds["one"].scene.attributes(arm)


def test_an_older_removal_by_a_peer_spares_newer_samples() -> None:
    now = [10]
    peer = World("peer", clock=lambda: now[0])
    peer.fix(of="cup", in_frame="table", transform=I)
    peer.remove_frame("cup")
    now[0] = seconds(100)
    world = World("robot", clock=lambda: now[0])
    for t in range(5):
        world.set_pose(of="cup", in_frame="map", transform=I, at=seconds(t))
        world.set_twist(
            of="cup", relative_to="hand", expressed_in="cup", linear=(1, 0, 0), angular=(0, 0, 0), at=seconds(t)
        )
    before = sorted((r.in_frame, r.kind, r.samples) for r in world.relations())
    world.merge(peer.scene.changes())
    assert sorted((r.in_frame, r.kind, r.samples) for r in world.relations()) == before


def test_what_a_peer_takes_back_spares_what_is_said_here() -> None:
    peer, world = World("peer"), World("robot")
    peer.fix(of="cup", in_frame="table", transform=I)
    peer.undo()
    for t in range(5):
        world.set_pose(of="cup", in_frame="map", transform=I, at=seconds(t))
    world.merge(peer.scene.changes())
    assert world.can_pose(of="cup", in_frame="map", at=seconds(2))
    assert "table" not in world.frames()


def test_a_removal_ends_what_was_said_before_it() -> None:
    now = [10]
    world, peer = World("robot", clock=lambda: now[0]), World("peer", clock=lambda: now[0])
    world.set_pose(of="cup", in_frame="map", transform=I, at=seconds(1))
    peer.merge(world.scene.changes())
    now[0] += 1
    peer.remove_frame("cup")
    now[0] += 1
    world.merge(peer.scene.changes())
    assert "cup" not in world.frames()
    assert world.digest() == peer.digest()


def test_the_root_keeps_its_frame() -> None:
    world, other = World("robot"), World("other")
    other.fix(of="box", in_frame="map", transform=I)
    other.scene.set_attributes("box", {"name": "box"})
    world.scene.add_group(parent=world.scene.root)
    world.fix(of="q", in_frame="map", transform=I)
    world.undo()
    world.merge(other.scene.changes())
    assert "map" in world.frames()
    assert world.can_pose(of="box", in_frame="map")


@pytest.mark.parametrize("one_by_one", [False, True])
def test_nodes_after_a_reset_of_time_have_their_poses(one_by_one: bool) -> None:
    world = World("robot")
    world.reset_time()
    node = world.scene.add_transform(parent=world.scene.root, transform=ONE_M, at=12)
    copy = copied(world, one_by_one=one_by_one)
    for one in (world, copy):
        assert one.pose(of=one.scene.frame(node), in_frame="map", at=12).xyz[0] == 1.0


def answer(world: World, frame: str, at: int) -> object:
    """A pose, or which error there is in its place."""
    try:
        return tuple(world.pose(of=frame, in_frame="map", at=at).xyz)
    except ArmillaryError as error:
        return type(error).__name__


def test_nodes_before_a_reset_of_time_answer_the_same_however_they_were_merged() -> None:
    world = World("robot")
    node = world.scene.add_transform(parent=world.scene.root, transform=ONE_M, at=12)
    world.reset_time()
    copies = [copied(world), copied(world, one_by_one=True)]
    for at in (0, 11, 12, 13):
        assert {answer(one, one.scene.frame(node), at) for one in (world, *copies)} == {(1.0, 0.0, 0.0)}


def test_a_frame_with_nodes_in_it_is_removed_with_them_or_not_at_all() -> None:
    world = World("robot")
    world.fix(of="table", in_frame="map", transform=I)
    cup = world.scene.add_transform(parent="table", transform=I, at=None)
    with pytest.raises(ArmillaryError):
        world.remove_frame("table")
    assert cup in world.scene
    world.remove_frame("table", subtree=True)
    assert cup not in world.scene
    copy = copied(world)
    assert copy.frames() == world.frames()
    assert copy.digest() == world.digest()
    assert cup not in copy.scene


def test_a_frame_that_is_not_removed_names_the_nodes_and_the_frames_in_it() -> None:
    world = World("robot")
    world.fix(of="table", in_frame="map", transform=I)
    world.fix(of="lens", in_frame="table", transform=I)
    world.fix(of="filter", in_frame="lens", transform=I)
    cup = world.scene.add_transform(parent="table", transform=I, at=None)
    group = world.scene.add_group(parent="table")
    with pytest.raises(FrameInUse) as caught:
        world.remove_frame("table")
    assert sorted(caught.value.frames) == sorted([str(cup), str(group), "lens", "filter"])


def test_the_frame_of_a_removed_node_goes_when_its_past_is_forgotten() -> None:
    now = [seconds(10)]
    world = World("robot", clock=lambda: now[0], history=seconds(1))
    nodes = [world.scene.add_transform(parent=world.scene.root, transform=I, at=None) for _ in range(300)]
    frame = world.scene.frame(nodes[0])
    for node in nodes:
        world.scene.remove(node)
    with pytest.raises(InvalidArgument, match=r"a node that was removed.*World\(history=\)"):
        world.remove_frame(frame)
    now[0] += seconds(2)
    world.scene.add_group(parent=world.scene.root)
    assert frame not in world.frames()


def test_the_frame_of_a_node_is_removed_with_the_node_alone() -> None:
    world = World("robot")
    cup = world.scene.add_transform(parent=world.scene.root, transform=I, at=None)
    with pytest.raises(ArmillaryError, match=r"scene\.remove"):
        world.remove_frame(world.scene.frame(cup))
    assert world.can_pose(of=world.scene.frame(cup), in_frame="map")


def test_nodes_put_into_a_frame_that_a_peer_removed_are_gone_everywhere() -> None:
    now = [10]
    world, peer = World("robot", clock=lambda: now[0]), World("peer", clock=lambda: now[0])
    world.fix(of="table", in_frame="map", transform=I)
    peer.merge(world.scene.changes())
    now[0] += 1
    world.scene.apply([AddTransform(parent="table", transform=I, at=None)])
    now[0] += 1
    peer.remove_frame("table")
    world.merge(peer.scene.changes())
    peer.merge(world.scene.changes())
    newcomer = copied(world)
    assert world.frames() == peer.frames() == newcomer.frames()
    assert world.scene.digest() == peer.scene.digest() == newcomer.scene.digest()


def test_a_frame_that_a_node_stands_for_exists_in_whatever_order_that_is_merged() -> None:
    world = World("robot")
    world.fix(of="b", in_frame="a", transform=I)
    world.scene.set_attributes("a", {"name": "shelf"})
    world.fix(of="b", in_frame="map", transform=I)
    changes = world.scene.changes()
    for order in itertools.permutations(changes):
        copy = World("copy")
        for change in order:
            copy.merge([change])
        assert sorted(copy.frames()) == sorted(world.frames())


def test_two_authors_of_one_stamp_agree_once_they_exchanged_their_samples() -> None:
    first = World("first")
    first.add_frame("map", "cup")
    first.add_relation(of="cup", in_frame="map", source="eyes")
    worlds = [copied(first), copied(first)]
    edge = {"of": "cup", "in_frame": "map", "source": "eyes"}
    given = []
    for world, pose in zip(worlds, (I, ONE_M), strict=True):
        given.append({"transforms": [pose.xyz_wxyz], "at": [seconds(1)], "base": world.store.sample_base()})
        world.set_pose(**edge, transform=pose, at=seconds(1))
    for world, other in zip(worlds, reversed(given), strict=True):
        world.store.merge_poses(**edge, **other)
    poses = [world.pose(of="cup", in_frame="map", at=seconds(1)) for world in worlds]
    assert poses[0].transform == poses[1].transform
