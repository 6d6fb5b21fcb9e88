"""Several replicas of one world that exchange their changes over a transport which loses, delays, repeats and reorders.

A run is a list of steps of plain numbers, so that a failing one shrinks to the few that matter. Whatever happened on
the way, a run ends with everybody asking everybody else for what is lacking; then all replicas must be equal.
"""

from __future__ import annotations

import itertools
import json
import random
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from hypothesis import strategies as st

from armillary import Transform, World
from armillary.errors import ArmillaryError
from armillary.scene import (
    AddConnection,
    AddGeometry,
    AddGroup,
    AddParent,
    AddRemoteRoot,
    AddTransform,
    Change,
    ChangeRecord,
    NodeId,
    Remove,
    RemoveParent,
    SetAttributes,
    Sphere,
)
from replica_frames import edit_frame, frame_value, inactive_assertions, some_frame
from unit.kit import FakeClock

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Step = tuple[Any, ...]
    Damage = Callable[[dict[str, Any], World], dict[str, Any]]
    Letter = list[tuple[str, object]]

TICK_NS = 100
PAST_NS = (700, 1000, 1100, 1200, 1300, 1500, 2000)
LATER_NS = 10**6  # when all clocks have passed
IDS = [NodeId(f"{digit}0000000-0000-4000-8000-000000000000") for digit in "12345"]
TURNED = [Transform.from_xyz_rpy(xyz=(value, 1, 0), rpy=(0, 0, 1)) for value in range(3)]
SHARED = ((0, 0), (0, 0), (0, 1))  # what all have from the start: two groups, and one more in the first
ADDITIONS = ("group", "group", "fixed", "sampled", "geometry", "connection", "remote_root")
EDITS = (*ADDITIONS, "say", "unsay", *["add_parent"] * 4, "remove_parent", "remove")

some_replica, some_node = st.integers(0, 4), st.integers(0, len(IDS) - 1)
some_parent, some_value = st.integers(0, len(IDS)), st.integers(0, 2)
edits = st.tuples(st.just("edit"), some_replica, st.sampled_from(EDITS), some_node, some_parent, some_value)
deliveries = st.tuples(st.sampled_from(["deliver", "drop", "repeat"]), st.integers(0, 9))
syncs = st.tuples(st.just("sync"), some_replica, some_replica)
partitions = st.tuples(st.just("partition"), st.integers(0, 31))
take_backs = st.tuples(st.sampled_from(["undo", "redo"]), some_replica)
on_the_way = [*[deliveries] * 3, syncs, partitions, take_backs]
steps = st.sampled_from([edits] * 6 + on_the_way).flatmap(lambda kind: kind)


def frame_steps(kinds: Sequence[str]) -> st.SearchStrategy[Step]:
    """The same about frames."""
    edited = st.tuples(st.just("edit"), some_replica, st.sampled_from(kinds), some_frame, some_frame, frame_value)
    return st.sampled_from([edited] * 6 + on_the_way).flatmap(lambda kind: kind)


def unharmed(record: dict[str, Any], receiver: World) -> dict[str, Any]:
    return record


def written(record: ChangeRecord) -> tuple[str, object]:
    """What travels of a record: its text, and what a new node carries."""
    return record.to_json(), record.content_object


class Replicas:
    """The replicas, the messages between them, and which of them are not connected."""

    def __init__(self, count: int, damage: Damage = unharmed) -> None:
        self.clocks = [FakeClock(1000 + 37 * i) for i in range(count)]  # nobody's clock is right
        self.worlds = [self.new_world(i, clock) for i, clock in enumerate(self.clocks)]
        self.letters: list[tuple[int, int, Letter]] = []
        self.island, self._damage = 0, damage
        self.run([("edit", 0, "group", node, parent, 0) for node, parent in SHARED])

    def new_world(self, number: int, clock: FakeClock) -> World:
        """A replica that knows nothing yet."""
        world = undeclared_world(number, clock)
        world.add_frame(world.scene.frame(world.scene.root))
        return world

    def run(self, script: Sequence[Step]) -> None:
        for step, *what in script:
            getattr(self, step)(*what)
        self.exchange_all()

    def edit(self, replica: int, kind: str, node: int, parent: int, value: int) -> None:
        """What the scene refuses was not meant."""
        with suppress(ArmillaryError):
            action = edit_node if kind in EDITS else edit_frame
            self._do(replica, lambda world: action(world, kind, node, parent, value))

    def undo(self, replica: int) -> None:
        with suppress(ArmillaryError):
            self._do(replica, lambda world: world.undo())

    def redo(self, replica: int) -> None:
        with suppress(ArmillaryError):
            self._do(replica, lambda world: world.redo())

    def _do(self, replica: int, action: Callable[[World], object]) -> None:
        """Do something with a replica, and send its changes to all others."""
        me = replica % len(self.worlds)
        self.clocks[me].ns += TICK_NS
        self.worlds[me].store.set_machine_time(self.clocks[me].ns)
        held = self.worlds[me].scene.version_vector()
        action(self.worlds[me])
        news = [written(record) for record in self.worlds[me].scene.changes(since=held)]
        self.letters += [(me, other, [one]) for other in range(len(self.worlds)) if other != me for one in news]

    def deliver(self, letter: int) -> None:
        self.repeat(letter)
        self.drop(letter)

    def repeat(self, letter: int) -> None:
        """Deliver one and keep it, to come again; between the parts of a partition it waits."""
        if self.letters:
            sender, receiver, records = self.letters[letter % len(self.letters)]
            if self._is_on_island(sender) == self._is_on_island(receiver):
                self._receive(receiver, records)

    def drop(self, letter: int) -> None:
        if self.letters:
            del self.letters[letter % len(self.letters)]

    def partition(self, island: int) -> None:
        """Connect the replicas of these bits with one another, and not with the others; none: all with all."""
        self.island = island

    def _is_on_island(self, replica: int) -> bool:
        return bool(self.island >> replica & 1)

    def sync(self, asked: int, asking: int) -> None:
        asked, asking = asked % len(self.worlds), asking % len(self.worlds)
        if asked != asking:
            news = self.worlds[asked].scene.changes(since=self.worlds[asking].scene.version_vector())
            self.letters.append((asked, asking, [written(record) for record in news]))

    def _receive(self, receiver: int, letter: Letter) -> None:
        world = self.worlds[receiver]
        damaged = ((json.dumps(self._damage(json.loads(text), world)), content) for text, content in letter)
        world.merge([ChangeRecord.from_json(text, content) for text, content in damaged])

    def exchange_all(self) -> None:
        """Everybody asks everybody, twice: what came to one in the first round gets to the others in the second."""
        self.letters.clear()
        self.island = 0
        everybody = range(len(self.worlds))
        for _, asked, asking in itertools.product(range(2), everybody, everybody):
            self.sync(asked, asking)
            if self.letters:
                self.deliver(0)

    def newcomer(self, seed: int) -> World:
        """One more copy, made of the same records in another order, in several messages."""
        records = self.worlds[0].scene.changes()
        random.Random(seed).shuffle(records)
        world = self.new_world(len(self.worlds), self.clocks[0])
        for record in records:
            world.merge([record])
        return world

    def close(self) -> None:
        for world in self.worlds:
            world.close()


def undeclared_world(number: int, clock: FakeClock) -> World:
    """Equal stamps must fall the same way in every run, or failing ones would not shrink."""
    with patch("secrets.randbits", lambda bits: number):
        world = World("abcdef"[number], clock=clock, authority=number % 2)
        world.store.set_machine_time(clock.ns)
    return world


def edit_node(world: World, kind: str, node: int, parent: int, value: int) -> None:
    world.apply([node_change(world, kind, node, parent, value)])


def node_change(world: World, kind: str, node: int, parent: int, value: int) -> Change:
    """Return a change by its numbers; `value` also determines how far it is dated back."""
    this, above = _nodes(world.scene, kind, node, parent)
    at, named = world.now() - 250 * value, {"name": f"{world.name}{value}"}
    changes: dict[str, Callable[[], Change]] = {
        "group": lambda: AddGroup(parent=above, id=this, attributes=named, at=at),
        "fixed": lambda: AddTransform(parent=above, id=this, transform=TURNED[value], at=None),
        "sampled": lambda: AddTransform(parent=above, id=this, transform=TURNED[value], at=at),
        "geometry": lambda: AddGeometry(parent=above, id=this, shape=Sphere(1.0 + value)),
        "connection": lambda: AddConnection(parent=above, id=this, sources=[IDS[value]], targets=[world.scene.root]),
        "remote_root": lambda: AddRemoteRoot(this, named),
        "say": lambda: SetAttributes(this, named, at),
        "unsay": lambda: SetAttributes(this, {"name": None, "mass": value}, at),
        "add_parent": lambda: AddParent(this, above, at),
        "remove_parent": lambda: RemoveParent(this, above, at),
        "remove": lambda: Remove(this, at),
    }
    return changes[kind]()


def _nodes(scene: Any, kind: str, node: int, parent: int) -> tuple[NodeId, NodeId]:
    """The node that is meant and where it goes, such that the change makes sense to its author, as far as possible."""
    there = [one for one in IDS if one in scene]
    this = _some([one for one in IDS if one not in there] if kind in ADDITIONS else there, node)
    above = scene.parents(this) if this in there else []
    elsewhere = [one for one in (scene.root, *there) if one not in (this, *above)]
    return this, _some(above if kind == "remove_parent" else elsewhere, parent)


def _some(nodes: list[NodeId], number: int) -> NodeId:
    return nodes[number % len(nodes)] if nodes else IDS[0]


def differences(worlds: Sequence[World], asked: Callable[[World], dict[Any, Any]]) -> list[str]:
    """Return in what these replicas differ from the first; nothing: they are equal."""
    wanted = asked(worlds[0])
    others = [(world, asked(world)) for world in worlds[1:]]
    return [
        f"{key} is {other.get(key)} for {world.name} and {wanted.get(key)} for {worlds[0].name}"
        for world, other in others
        for key in sorted({*wanted, *other}, key=str)
        if other.get(key) != wanted.get(key)
    ]


def lacking(worlds: Sequence[World]) -> list[str]:
    """Return which replicas lack changes of which others."""
    return [
        f"{asking.name} lacks changes of {asked.name}"
        for asked, asking in itertools.permutations(worlds, 2)
        if asked.scene.changes(since=asking.scene.version_vector())
    ]


def about_everything(world: World) -> dict[Any, Any]:
    return about_now(world) | about_the_past(world) | about_places(world)


def about_now(world: World) -> dict[Any, Any]:
    """Return what replicas must agree on."""
    scene = world.scene
    facts: dict[Any, Any] = {"digest": scene.digest(), "found": scene.find({}), "count": len(scene)}
    facts |= {"light": scene.find({"mass": 0})}
    facts |= {"world": world.digest(), "inactive": inactive_assertions(world)}
    return facts | {node: _of_node(scene, node) for node in [scene.root, *IDS]}


def about_the_past(world: World) -> dict[Any, Any]:
    """The same for some instants before."""
    pasts = {stamp: world.scene.as_of(stamp) for stamp in PAST_NS}
    return {(stamp, node): _of_node(past, node) for stamp, past in pasts.items() for node in [world.scene.root, *IDS]}


def about_places(world: World) -> dict[Any, Any]:
    """Where the frames of all nodes are and were, be they alive or not."""
    frames = [name for node in IDS for name in (str(node), f"{node}/mount")]
    places = {(stamp, frame): _place(world, frame, stamp) for stamp in (*PAST_NS, LATER_NS) for frame in frames}
    nodes = [node for node in IDS if node in world.scene]
    return places | {("now", node): _place(world, world.scene.frame(node), LATER_NS) for node in nodes}


def _of_node(scene: Any, node: NodeId) -> Any:
    if node not in scene:
        return None
    return scene.kind(node), scene.parents(node), scene.children(node), scene.attributes(node), scene.frame(node)


def _place(world: World, frame: str, at_ns: int) -> Any:
    """In the root; or what hinders the answer."""
    try:
        pose = world.pose(of=frame, in_frame=world.scene.frame(world.scene.root), at=at_ns, outside="hold")
    except ArmillaryError as error:
        return type(error).__name__
    return tuple(pose.transform.xyz_wxyz.round(9))
