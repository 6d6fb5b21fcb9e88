"""Change records that nobody signed: they are refused, or become inactive; what merges can be saved and loaded."""

from __future__ import annotations

import json
import random

import pytest

from armillary import Sphere, Transform, World
from armillary.errors import ArmillaryError
from armillary.scene import AddJoints, ChangeRecord, NodeId, RemoveJoints
from laws.mutants import mutated_document
from randomness import scaled

LOGS = scaled(120, 20_000)
FORGED = 0.3
STILL = Transform.identity()


def told() -> list[ChangeRecord]:
    """Records of every kind."""
    world = World("peer")
    scene = world.scene
    world.fix(of="a", in_frame="map", transform=STILL)
    world.fix(of="b", in_frame="a", transform=STILL, at=3)
    for at in (5, 50):
        world.set_pose(of="c", in_frame="b", transform=STILL, at=at)
    group = scene.add_group(parent=scene.root)
    transform = scene.add_transform(parent=group, transform=STILL, at=None)
    sphere = scene.add_geometry(parent=transform, shape=Sphere(1.0))
    scene.add_connection(parent=group, sources=[group], targets=[transform])
    scene.add_parent(transform, parent=scene.root)
    scene.set_attributes(group, {"name": "cup", "mass": 1.0})
    world.add_body("body", frames=["a", "b"])
    world.prefer(of="b", source="peer")
    world.apply([AddJoints({"j": "linear"})])
    world.attach(of="c", to="a", at=9)
    world.reset_time()
    world.fix(of="d", in_frame="map", transform=STILL)
    world.remove_frame("d")
    scene.add_remote_root(NodeId.random())
    scene.remove(sphere)
    world.undo()
    world.apply([RemoveJoints(["j"])])
    world.remove_body("body", ["b"])
    return list(scene.changes())


@pytest.fixture(scope="module")
def records():
    return told()


def forged(records: list[ChangeRecord], draw: random.Random) -> list[ChangeRecord]:
    """The log, some of it forged, in another order; what is refused at once is left out."""
    documents = [json.loads(record.to_json()) for record in records]
    contents = [record.content_object for record in records]
    taken = []
    for document, content in zip(documents, contents, strict=True):
        told_so = mutated_document(document, draw, documents) if draw.random() < FORGED else document
        carried = content if draw.random() < 0.95 else draw.choice([*contents, object(), 3])
        try:
            taken.append(ChangeRecord.from_json(json.dumps(told_so), carried))
        except ArmillaryError:
            continue
    draw.shuffle(taken)
    return taken


def answers(world: World) -> object:
    """What a world answers from."""
    scene = world.scene
    nodes = scene.find({})
    return (
        (world.digest(), world.frames(), sorted(map(str, nodes)), world.joints()),
        [(info.of, info.in_frame, info.source, info.kind) for info in world.relations()],
        [scene.attributes(node) for node in nodes],
        len(scene.inactive()),
    )


def test_forged_records_harm_nobody(records, tmp_path):
    merged = 0
    for seed in range(LOGS):
        draw = random.Random(seed)
        with World("me") as world:
            world.fix(of="a", in_frame="map", transform=STILL)
            before = answers(world)
            try:
                world.merge(forged(records, draw))
            except ArmillaryError:
                assert answers(world)[0][0] == before[0][0], seed
                continue
            merged += 1
            after = answers(world)
            world.save(tmp_path / "saved.json")
            with World.load(tmp_path / "saved.json") as loaded:
                assert loaded.digest() == after[0][0], seed
            world.fix(of="mine", in_frame="map", transform=STILL)
            world.undo()
    assert merged > LOGS // 4


@pytest.mark.parametrize("content", [object(), 3, Sphere(2.0)])
def test_a_node_carries_what_its_record_names(records, content):
    made = next(record for record in records if record.type == "add_node" and record.kind == "geometry")
    forged_record = ChangeRecord.from_json(made.to_json(), content)
    with World("me") as world, pytest.raises(ArmillaryError, match="carries"):
        world.merge([forged_record])
