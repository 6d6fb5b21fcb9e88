"""Eight threads that call everything at once on one world, with observers, waits and twists that wait for poses.

`python hammer.py SECONDS SEED` prints what it did; errors of the library are answers, everything else is a surprise.
"""

from __future__ import annotations

import collections
import faulthandler
import random
import sys
import tempfile
import threading
import time
from pathlib import Path

from armillary import LATEST, Sphere, Transform, World
from armillary.errors import ArmillaryError
from armillary.scene import AddJoints, Fix, RemoveJoints, SetAttributes

THREADS = 8
STILL = Transform.identity()
FORWARD = {"linear": (1, 0, 0), "angular": (0, 0, 0)}


class Hammer:
    """One world, a peer of it, and every kind of call by name."""

    def __init__(self, folder: Path) -> None:
        self.world, self.peer, self.folder = World("world"), World("peer"), folder
        self.world.scene.subscribe(lambda _: self.world.frames())
        self.peer.scene.subscribe(lambda _: self.peer.frames())
        self.calls = [name for name in vars(Hammer) if name.startswith("do_")]

    def frame(self, draw: random.Random) -> str:
        return draw.choice(["map", "base", *(f"wheel {i}" for i in range(4))])

    def two(self, draw: random.Random) -> dict[str, str]:
        return {"of": self.frame(draw), "in_frame": self.frame(draw)}

    def node(self, draw: random.Random):
        return draw.choice(self.world.scene.find({}))

    # -- Poses

    def do_fix(self, draw):
        self.world.fix(**self.two(draw), transform=STILL, at=draw.choice([None, draw.randrange(10**9)]))

    def do_set_pose(self, draw):
        self.world.set_pose(**self.two(draw), transform=STILL, at=draw.randrange(10**9), source=draw.choice("ab"))

    def do_set_poses(self, draw):
        rows = [STILL.xyz_wxyz] * 20
        stamps = sorted(draw.sample(range(10**9), 20))
        self.world.set_poses(**self.two(draw), transforms=rows, at=stamps)

    def do_attach(self, draw):
        self.world.attach(of=self.frame(draw), to=self.frame(draw), at=draw.randrange(10**9))

    def do_prefer(self, draw):
        self.world.prefer(of=self.frame(draw), source=draw.choice(["a", "b", None]))

    def do_remove_frame(self, draw):
        self.world.remove_frame(self.frame(draw), subtree=draw.random() < 0.5)

    def do_pose(self, draw):
        self.world.pose(**self.two(draw), at=draw.choice([LATEST, draw.randrange(10**9)]))

    def do_policy(self, draw):
        self.world.pose(**self.two(draw), policy=draw.choice(["newest", "fuse"]))

    def do_snapshot(self, draw):
        self.world.snapshot(in_frame=self.frame(draw))

    def do_diagnose(self, draw):
        self.world.diagnose(**self.two(draw))

    # -- Twists

    def do_pending(self, draw):
        of, relative_to = self.two(draw).values()
        at = draw.randrange(10**9)
        self.world.set_twist(of=of, relative_to=relative_to, expressed_in="map", **FORWARD, at=at, pending=True)

    def do_twist(self, draw):
        of, relative_to = self.two(draw).values()
        self.world.twist(of=of, relative_to=relative_to, expressed_in=of, at=LATEST)

    # -- Bodies, joints, time

    def do_body(self, draw):
        self.world.add_body("body", frames=[self.frame(draw)])

    def do_remove_body(self, _):
        self.world.remove_body("body")

    def do_joints(self, draw):
        self.world.apply([AddJoints({"hinge": "linear"})])
        self.world.set_joints({"hinge": draw.random()}, at=draw.randrange(10**9))

    def do_remove_joints(self, _):
        self.world.apply([RemoveJoints(["hinge"])])

    def do_clear(self, _):
        self.world.clear()

    def do_reset(self, _):
        self.world.reset_time()

    # -- The scene

    def do_add(self, draw):
        scene, parent = self.world.scene, self.node(draw)
        made = scene.add_transform(parent=parent, transform=STILL, at=draw.choice([None, draw.randrange(10**9)]))
        scene.add_geometry(parent=made, shape=Sphere(0.1), at=None)

    def do_parent(self, draw):
        self.world.scene.add_parent(self.node(draw), parent=self.node(draw))

    def do_remove(self, draw):
        self.world.scene.remove(self.node(draw), subtree=True)

    def do_attributes(self, draw):
        self.world.scene.set_attributes(self.node(draw), {"name": draw.choice(["cup", None])})

    def do_search(self, _):
        self.world.scene.raycast(origin=(0, 0, 5), direction=(0, 0, -1), in_frame="map")

    def do_batch(self, draw):
        fix = Fix(of=self.frame(draw), in_frame="map", transform=STILL)
        self.world.apply([fix, SetAttributes(self.node(draw), {"k": draw.random()})])

    # -- Replicas, undo, files, waits

    def do_merge(self, _):
        self.world.merge(self.peer.scene.changes())

    def do_merge_back(self, _):
        self.peer.merge(self.world.scene.changes())

    def do_peer(self, draw):
        self.peer.fix(of=self.frame(draw), in_frame="map", transform=STILL)

    def do_undo(self, _):
        self.world.undo()

    def do_redo(self, _):
        self.world.redo()

    def do_copy(self, draw):
        with self.world.copy() as twin:
            twin.fix(of=self.frame(draw), in_frame="map", transform=STILL)

    def do_save(self, draw):
        file = self.folder / f"{draw.randrange(3)}.json"
        self.world.save(file)
        World.load(file).close()

    def do_wait(self, draw):
        self.world.wait_for_pose(**self.two(draw), timeout_s=0.01)

    def do_observe(self, _):
        self.world.scene.subscribe(seen := [].append)
        self.world.fix(of="base", in_frame="map", transform=STILL)
        self.world.scene.unsubscribe(seen)


def hit(hammer: Hammer, seed: str, end: float, done: collections.Counter, surprises: list[str]) -> None:
    draw = random.Random(seed)
    while time.monotonic() < end:
        name = draw.choice(hammer.calls)
        try:
            getattr(hammer, name)(draw)
            done[name] += 1
        except ArmillaryError:
            pass
        except Exception as error:  # noqa: BLE001  (a surprise)
            surprises.append(f"{name}: {error!r}")


def main(seconds: float, seed: int) -> None:
    faulthandler.dump_traceback_later(seconds + 90, exit=True)
    done, surprises = collections.Counter(), []
    with tempfile.TemporaryDirectory() as folder:
        hammer, end = Hammer(Path(folder)), time.monotonic() + seconds
        threads = [
            threading.Thread(target=hit, args=(hammer, f"{seed} {i}", end, done, surprises)) for i in range(THREADS)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    missing = [name for name in hammer.calls if not done[name]]
    print(f"{len(surprises)} surprises, {sum(done.values()) > 0}")
    sys.stderr.write("\n".join([*surprises[:20], f"{sum(done.values())} calls", f"never answered: {missing}"]))


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]))
