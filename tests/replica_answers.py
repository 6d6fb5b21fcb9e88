"""Everything at once in a simulation of replicas, and everything that a replica answers from.

Nodes, shared remote roots, frames, grasps, bodies, preferences with an end, models, removals, resets of time, undo,
samples that contradict one another, and replicas that are saved and loaded in between. Nobody declares the root.
"""

from __future__ import annotations

import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from armillary import World
from armillary.errors import ArmillaryError
from armillary.scene import Prefer, Sphere
from replica_barriers import FRAMES as PLACES
from replica_barriers import KINDS as BARRIER_KINDS
from replica_barriers import OF_NODES, barrier_change
from replica_frames import AMONG_NODES, BODIES, FRAMES, edit_frame, inactive_assertions
from replica_samples import SampleExchange
from replicas import EDITS as NODE_KINDS
from replicas import IDS, LATER_NS, about_now, about_the_past, edit_node, undeclared_world

if TYPE_CHECKING:
    from unit.kit import FakeClock

ROOT = "map"
ASKED_NS = (500, 800, 1000, 1200, 1900, LATER_NS)
POLICIES = ("unique", "latest", "most_certain", "fuse")
VALUES = [f"{who}{value}" for who in "abcde" for value in range(3)]
KINDS = (
    *[("node", kind) for kind in NODE_KINDS],
    *[("frame", kind) for kind in AMONG_NODES],
    *[("barrier", kind) for kind in BARRIER_KINDS if kind not in OF_NODES and kind not in {"reset", "reset_to"}],
    *[("barrier", "reset"), ("own", "prefer"), ("own", "prefer"), ("own", "model")],
)

SEEN = (*FRAMES[:4], "table")
SEEN_NS = (605, 805, 900, 995, 1195)


class AnsweringReplicas(SampleExchange):
    """Replicas that do everything."""

    def new_world(self, number: int, clock: FakeClock) -> World:
        return undeclared_world(number, clock)

    def change(self, replica: int, kind: tuple[str, str], first: int, second: int, value: int) -> None:
        """What is refused was not meant."""
        with suppress(ArmillaryError):
            self._do(replica, lambda world: _change(world, kind, first, second, value))

    def see(self, replica: int, of: int, other: int, value: int) -> None:
        me = replica % len(self.worlds)
        source = "eyes" if value % 4 else f"{self.worlds[me].name}'s eyes"
        edge = {"of": SEEN[of % len(SEEN)], "in_frame": (*SEEN, ROOT)[other % (len(SEEN) + 1)], "source": source}
        self._see(me, edge, SEEN_NS[value % len(SEEN_NS)], 1.0 + (of + value + other) % 3)

    def reload(self, replica: int) -> None:
        """The replica goes on from a file that it wrote, in which there are no samples of poses."""
        me = replica % len(self.worlds)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "world.json"
            self.worlds[me].save(path)
            loaded = World.load(path, clock=self.clocks[me])
        loaded.store.set_machine_time(self.clocks[me].ns)
        self.worlds[me].close()
        self.worlds[me] = loaded
        self.known[me].clear()


def _change(world: World, kind: tuple[str, str], first: int, second: int, value: int) -> None:
    topic, name = kind
    if topic == "node":
        edit_node(world, name, first % len(IDS), second % (len(IDS) + 1), value % 3)
    elif topic == "frame":
        edit_frame(world, name, first % len(FRAMES), second % len(FRAMES), value)
    elif topic == "barrier":
        world.apply([barrier_change(world, name, first % len(IDS), second % 6, value % 3)])
    elif name == "prefer":
        source = (None, "shared", "a's", "b's")[value % 4]
        frame = (*FRAMES, *PLACES, *map(str, IDS))[(first + 5 * second) % 13]
        world.apply([Prefer(of=frame, source=source, start=(None, 900)[value // 4], end=(None, 1300)[second % 2])])
    else:
        world.mount(arm(), in_frame=(ROOT, *PLACES, None)[second % 5], prefix=f"{'xy'[value % 2]}/", shapes="none")


def arm() -> Any:
    from armillary.articulation import ArticulationModel, ContinuousJoint  # noqa: PLC0415  (needs casadi)
    from armillary.articulation.mechanisms import Parts  # noqa: PLC0415  (needs casadi)

    parts = Parts("arm", "base")
    for link in ("base", "hand"):
        parts.link(link)
    parts.joint("elbow", ContinuousJoint(variable="arm/elbow", axis=(0, 0, 1)), child="hand", parent="base")
    model = ArticulationModel()
    model.edit(parts.edits)
    return model


def about_answers(world: World) -> dict[Any, Any]:
    """Return everything that replicas must agree on: all that they answer from."""
    facts = about_now(world) | about_the_past(world)
    facts |= {("find", value): world.scene.find({"name": value}) for value in VALUES}
    facts |= {("weighs", mass): world.scene.find({"mass": mass}) for mass in range(3)}
    facts |= {"frames": sorted(world.frames()), "epoch": world.time_epoch, "inactive": inactive_assertions(world)}
    facts["relations"] = sorted((one.of, one.in_frame, one.source, str(one.kind)) for one in world.relations())
    facts |= {"joints": sorted(world.joints()), "bodies": sorted(world.bodies()), "roots": world.scene.remote_roots}
    facts |= {("on", frame): world.body_of(frame) for frame in (*world.frames(), *BODIES) if frame in world.frames()}
    for at in ASKED_NS:
        facts |= _places(world, at)
        facts["tree", at] = _or_error(lambda at=at: _tree(world, at))
        facts["overlaps", at] = _or_error(lambda at=at: _overlaps(world, at))
    return facts


def _places(world: World, at: int) -> dict[Any, Any]:
    frames = [frame for frame in world.frames() if frame != ROOT]
    return {
        (policy, outside, at, frame): _or_error(lambda f=frame, p=policy, o=outside: _place(world, f, at, p, o))
        for frame in frames
        for policy in POLICIES
        for outside in ("raise", "hold")
    }


def _place(world: World, frame: str, at: int, policy: str, outside: str) -> Any:
    pose = world.pose(of=frame, in_frame=ROOT, at=at, policy=policy, outside=outside)
    return tuple(pose.transform.xyz_wxyz.round(7))


def _tree(world: World, at: int) -> Any:
    """Its branches, in any order: they are drawn in that of their arrival."""
    tree = world.tree(at=at)
    return dict(tree.parents), dict(tree.notes)


def _overlaps(world: World, at: int) -> Any:
    found = world.scene.overlapping(Sphere(3.0), in_frame=ROOT, at=at, outside="hold", policy="latest")
    return sorted(map(str, found)), sorted(map(str, found.missing))


def _or_error(ask: Any) -> Any:
    try:
        return ask()
    except ArmillaryError as error:
        return type(error).__name__
