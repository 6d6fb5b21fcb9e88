"""The id of a node is accepted wherever a frame is asked for by name, and the answers have the name."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from armillary import LATEST, Transform, World, seconds
from armillary.errors import UnknownNode
from armillary.scene import Fix, NodeId, Prefer, Sphere
from unit.kit import FakeClock, moved

STAMPS = np.array([seconds(1), seconds(2)])


@pytest.fixture
def clock():
    return FakeClock(seconds(2))


@pytest.fixture
def cup(world, scene):
    node = scene.add_transform(parent=scene.root, transform=moved(1.0), at=seconds(1), frame="cup")
    scene.set_transform(node, moved(2.0), at=seconds(2))
    world.fix(of="camera", in_frame="map", transform=moved(0.0, 1.0))
    return node


QUESTIONS = {
    "pose": lambda w, f, r: w.pose(of=f, in_frame=r),
    "inverse": lambda w, f, r: w.pose(of=r, in_frame=f),
    "fixed_frame": lambda w, f, r: w.pose(of="camera", in_frame=f, at=seconds(2), of_at=seconds(1), fixed_frame=r),
    "points": lambda w, f, r: w.pose(of="camera", in_frame=r, expressed_in=f),
    "latest": lambda w, f, r: w.pose(of=f, in_frame=r, policy="latest"),
    "can_pose": lambda w, f, r: w.can_pose(of=f, in_frame=r),
    "can_latest": lambda w, f, r: w.can_pose(of=f, in_frame=r, policy="latest"),
    "transforms": lambda w, f, r: w.transforms(of=f, in_frame=r, at=STAMPS),
    "map_points": lambda w, f, r: w.map_points(np.ones((2, 3)), from_frame=f, to_frame=r, at=STAMPS),
    "one_map": lambda w, f, r: w.map_points(np.ones((2, 3)), from_frame=r, to_frame=f),
    "samples": lambda w, f, r: w.samples(of=f, in_frame=r),
    "snapshot": lambda w, f, r: w.snapshot(in_frame=f, at=seconds(2)),
    "position": lambda w, f, r: w.position(of=f, in_frame=r),
    "axes": lambda w, f, r: w.position(of="camera", in_frame=r, expressed_in=f),
    "orientation": lambda w, f, r: w.orientation(of=f, in_frame=r),
    "twist": lambda w, f, r: w.twist(of=f, relative_to=r, expressed_in=f),
    "twists": lambda w, f, r: w.twists(of=f, relative_to=r, at=STAMPS),
    "twist_latest": lambda w, f, r: w.twist(of=f, relative_to=r, policy="latest"),
    "angular_velocity": lambda w, f, r: w.angular_velocity(of=f, relative_to=r),
    "express": lambda w, f, r: w.express(np.ones((2, 3)), in_frame=f, kind="points", from_frame=r, at=STAMPS),
    "wait_for_pose": lambda w, f, r: w.wait_for_pose(of=f, in_frame=r, timeout_s=5),
    "wait_latest": lambda w, f, r: w.wait_for_pose(of=f, in_frame=r, timeout_s=5, policy="latest"),
    "wait_for_twist": lambda w, f, r: w.wait_for_twist(of=f, relative_to=r, timeout_s=5),
    "await": lambda w, f, r: asyncio.run(w.pose_when_ready(of=f, in_frame=r, timeout_s=5)),
    "body_of": lambda w, f, r: w.body_of(f),
    "diagnose": lambda w, f, r: w.diagnose(of=f, in_frame=r),
    "raycast": lambda w, f, r: list(w.scene.raycast(origin=(0, 0, 0), direction=(1, 0, 0), in_frame=f)),
    "overlapping": lambda w, f, r: list(w.scene.overlapping(Sphere(1.0), in_frame=f)),
    "node": lambda w, f, r: w.scene.node(f),
}


@pytest.mark.parametrize("ask", QUESTIONS.values(), ids=QUESTIONS)
def test_a_question_takes_the_id_of_a_node(world, scene, cup, ask):
    by_name = ask(world, "cup", "map")
    for _ in range(2):  # the first use of a name, and a later one
        assert repr(ask(world, cup, scene.root)) == repr(by_name)
    assert str(cup) not in repr(by_name) or isinstance(by_name, NodeId)


STATEMENTS = {
    "set_pose": lambda w, f: w.set_pose(of=f, in_frame="camera", transform=moved(3.0), at=seconds(2), source="eye"),
    "set_poses": lambda w, f: w.set_poses(
        of=f, in_frame="camera", transforms=np.tile([1.0, 0, 0, 1, 0, 0, 0], (2, 1)), at=STAMPS, source="eye"
    ),
    "parent": lambda w, f: w.set_pose(of="fly", in_frame=f, transform=moved(3.0), at=seconds(2)),
    "fix": lambda w, f: w.fix(of="fly", in_frame=f, transform=moved(3.0)),
    "Fix": lambda w, f: w.apply([Fix(of="fly", in_frame=f, transform=moved(3.0))]),
    "attach": lambda w, f: w.attach(of="camera", to=f, at=seconds(2)),
    "detach": lambda w, f: w.detach(of=f, to="camera", at=seconds(2)),
    "prefer": lambda w, f: (STATEMENTS["set_pose"](w, f), w.prefer(of=f, source="eye")),
    "Prefer": lambda w, f: (STATEMENTS["set_pose"](w, f), w.apply([Prefer(of=f, source="eye")])),
    "set_twist": lambda w, f: w.set_twist(
        of=f, relative_to="map", expressed_in=f, linear=(1, 0, 0), angular=(0, 0, 1), at=seconds(2)
    ),
    "pending": lambda w, f: w.set_twist(
        of="fly", relative_to="map", expressed_in=f, linear=(1, 0, 0), angular=(0, 0, 1), at=seconds(2), pending=True
    ),
    "add_body": lambda w, f: w.add_body("ware", frames=[f]),
    "keep": lambda w, f: w.keep(of=f, in_frame="map", history=seconds(3)),
    "set_attributes": lambda w, f: w.scene.set_attributes(f, {"a": 1}),
    "add_group": lambda w, f: w.scene.add_group(parent=f, id=NodeId.of_name("test", "in it")),
}


@pytest.mark.parametrize("state", STATEMENTS.values(), ids=STATEMENTS)
def test_a_statement_takes_the_id_of_a_node(world, cup, state):
    with world.copy() as twin:
        state(world, "cup")
        state(twin, cup)
        assert twin.digest() == world.digest()
        assert twin.frames() == world.frames()
        assert twin.pending_twists() == world.pending_twists()
        assert [row[:5] for row in twin.store.relation_rows()] == [row[:5] for row in world.store.relation_rows()]


def test_a_stamped_queue_takes_the_id_of_a_node(world, cup):
    got = []
    queue = world.stamped_queue(lambda item, poses: got.append((item, list(poses))), in_frames=[cup])
    queue.put("scan", frame=world.scene.root, at=seconds(2))
    while not got:
        pass
    assert got == [("scan", ["cup"])]


def test_a_node_without_a_frame_of_its_own_stands_for_the_one_that_it_is_in(world, scene, cup):
    group = scene.add_group(parent=cup)
    assert world.pose(of=group, in_frame="map").of == "cup"
    scene.add_parent(group, scene.add_transform(parent=scene.root, transform=moved(1.0), at=None))
    assert world.frames()[-1] != "cup"
    assert world.can_pose(of=scene.frame(group), in_frame=group, at=LATEST)


def test_a_node_follows_its_moves_also_where_it_was_asked_for_before(world, scene, cup):
    other = scene.add_transform(parent=scene.root, transform=moved(7.0), at=None, frame="other")
    group = scene.add_group(parent=cup)
    assert world.pose(of=group, in_frame="map").xyz[0] == 2.0
    scene.remove(group)
    again = scene.add_group(parent=other, id=group)
    assert again == group
    assert world.pose(of=group, in_frame="map").xyz[0] == 7.0


def test_an_id_that_no_node_has_is_refused(world):
    unknown = NodeId.random()
    with pytest.raises(UnknownNode):
        world.pose(of=unknown, in_frame="map")
    with pytest.raises(UnknownNode):
        world.set_pose(of=unknown, in_frame="map", transform=Transform.identity(), at=0)
    assert not world.can_pose(of=unknown, in_frame="map")
    assert world.frames() == ()


def test_a_mount_takes_the_id_of_a_node(world, cup):
    articulation = pytest.importorskip("armillary.articulation")
    mount = world.mount(articulation.ArticulationModel(), in_frame=cup)
    assert mount.options.in_frame == "cup"


def test_names_of_worlds_are_their_own():
    first, second = World("a"), World("b")
    one = first.scene.add_group(parent="map", frame="cup")
    second.scene.add_group(parent="map", frame="cup")
    with pytest.raises(UnknownNode):
        second.pose(of=one, in_frame="map")
