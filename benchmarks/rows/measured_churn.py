"""Makes and removes things and prints what one costs early and late, and how much memory each leaves. See churn.py.

.venv/bin/python benchmarks/rows/measured_churn.py frames 1000000
"""

import gc
import json
import sys
from pathlib import Path
from time import process_time_ns

from armillary import Box, Transform, World, seconds
from armillary.scene import AddJoints, RemoveJoints

STILL = Transform.identity()
PERIOD_NS = 10_000_000


def frames(world: World, numbers: range) -> None:
    """A tracker: each object is seen once, under a name of its own."""
    for i in numbers:
        world.set_pose(of=f"track_{i}", in_frame="map", transform=STILL, at=PERIOD_NS * i)
        world.remove_frame(f"track_{i}")


def again(world: World, numbers: range) -> None:
    """The same frame, over and over."""
    for i in numbers:
        world.set_pose(of="track", in_frame="map", transform=STILL, at=PERIOD_NS * i)
        world.remove_frame("track")


def nodes(world: World, numbers: range) -> None:
    """Things of a scene, each with attributes."""
    scene, root = world.scene, world.scene.root
    for i in numbers:
        scene.remove(scene.add_group(parent=root, attributes={"number": i}))


def keys(world: World, numbers: range) -> None:
    """Attributes of one thing, each under a key of its own."""
    scene = world.scene
    thing = (scene.find({"name": "thing"}) or [scene.add_group(parent=scene.root, attributes={"name": "thing"})])[0]
    for i in numbers:
        scene.set_attributes(thing, {f"key {i}": 1})
        scene.set_attributes(thing, {f"key {i}": None})


def joints(world: World, numbers: range) -> None:
    """Joints without a model, each under a name of its own."""
    for i in numbers:
        world.apply([AddJoints({f"joint {i}": "linear"})])
        world.set_joints({f"joint {i}": 0.5}, at=PERIOD_NS * i)
        world.apply([RemoveJoints([f"joint {i}"])])


def parents(world: World, numbers: range) -> None:
    """One thing, put into a second group and taken out of it."""
    scene, root = world.scene, world.scene.root
    things = scene.find({"name": "thing"}) or [scene.add_group(parent=root, attributes={"name": "thing"})]
    groups = scene.find({"name": "group"}) or [scene.add_group(parent=root, attributes={"name": "group"})]
    for _ in numbers:
        scene.add_parent(things[0], parent=groups[0])
        scene.remove_parent(things[0], parent=groups[0])


def bodies(world: World, numbers: range) -> None:
    """Bodies that are declared and removed, each under a name of its own."""
    for i in numbers:
        world.add_frame(f"frame {i}")
        world.add_body(f"body {i}", frames=[f"frame {i}"])
        world.remove_body(f"body {i}")
        world.remove_frame(f"frame {i}")


def fixes(world: World, numbers: range) -> None:
    """A thing that is carried to and fro between two fixed places."""
    for i in numbers:
        world.fix(of="thing", in_frame=("table", "shelf")[i % 2], transform=STILL, at=PERIOD_NS * i)


def attributes(world: World, numbers: range) -> None:
    """One attribute that changes."""
    scene = world.scene
    thing = (scene.find({"name": "thing"}) or [scene.add_group(parent=scene.root, attributes={"name": "thing"})])[0]
    for i in numbers:
        scene.set_attributes(thing, {"count": i})


def shapes(world: World, numbers: range) -> None:
    """Boxes on transforms, added and removed."""
    scene, root = world.scene, world.scene.root
    for i in numbers:
        place = scene.add_transform(parent=root, transform=STILL, at=None)
        scene.add_geometry(parent=place, shape=Box((1.0, 1.0, 1.0 + 1e-6 * i)), at=None)
        scene.remove(place, subtree=True)


def undone(world: World, numbers: range) -> None:
    """Changes that are taken back."""
    for i in numbers:
        world.fix(of=f"frame {i}", in_frame="map", transform=STILL)
        world.undo()


CHURNS = {
    "frames": frames,
    "again": again,
    "nodes": nodes,
    "keys": keys,
    "joints": joints,
    "parents": parents,
    "bodies": bodies,
    "fixes": fixes,
    "attributes": attributes,
    "shapes": shapes,
    "undone": undone,
}


def resident_bytes() -> int:
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def main() -> None:
    churn, count = CHURNS[sys.argv[1]], int(sys.argv[2])
    clock = iter(range(0, PERIOD_NS * 100 * count, PERIOD_NS))
    world, part = World(clock=clock.__next__, history=seconds(1.0)), count // 10
    churn(world, range(part))  # what is bounded fills up
    costs, before = [], resident_bytes()
    for k in range(1, 10):
        started = process_time_ns()
        churn(world, range(k * part, (k + 1) * part))
        costs.append((process_time_ns() - started) / part)
    grown = resident_bytes() - before
    print(json.dumps({"early_ns": min(costs[:3]), "late_ns": min(costs[-3:]), "bytes": grown / (9 * part)}))


if __name__ == "__main__":
    main()
