"""What the worlds of a story answer in the end, as plain data in groups, so that builds can be compared.

Errors are known by their class, nodes and their frames by what the story calls them: no answer depends on identities
that are drawn anew in every process, or on the wording of a message.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from armillary import LATEST, World
from armillary.errors import ArmillaryError
from armillary.scene import exists, greater
from corpus.telling import NODE_LABELS, NODES, OWN_ROOTS, SHARED_ROOTS, Replay, replayed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from armillary import Transform
    from armillary.scene import NodeId, PastScene, Scene
    from corpus.stories import Story

    Group = dict[str, Any]

ASKED_NS = (750, 1100, 1200, 1650, 2300, 6000)
PAST_NS = (1000, 1500, 2100)
PAIRED_NS = (1200, 1900)
FRAMES = ("p", "q", "r", "gun", "cart", "map")
LATER_NS = 10**6
DIGITS = 6
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
PROBE = np.array([1.0, 2.0, 4.0])
IDENTIFYING = (
    "of",
    "in_frame",
    "relative_to",
    "source",
    "at",
    "name",
    "names",
    "frames",
    "id",
    "parent",
    "frame",
    "joints",
)


def answers(story: Story) -> dict[str, Group]:
    """By `who: group`; the group of a world that answers as the first one does is just the name of that one."""
    replay = replayed(story)
    try:
        return _all_groups(replay)
    finally:
        replay.close()


def _all_groups(replay: Replay) -> dict[str, Group]:
    found: dict[str, Group] = {"story: outcomes": dict(enumerate_text(replay.outcomes))}
    found["story: digests"] = _digests(replay)
    for world in replay.worlds:
        _add(found, replay, world.name if world.name in "abcde" else "loaded", world)
    if replay.story.number % 3 == 0:
        newcomer = replay.newcomer()
        if isinstance(newcomer, str):
            found["newcomer: error"] = {"error": newcomer}
        else:
            _add(found, replay, "newcomer", newcomer)
            newcomer.close()
    return found


def _add(found: dict[str, Group], replay: Replay, who: str, world: World) -> None:
    replay.now_ns = max(replay.now_ns, LATER_NS)  # all clocks have passed what is asked about
    first = replay.worlds[0].name
    for name, group in world_answers(world, replay.story.family).items():
        same = who != first and found.get(f"{first}: {name}") == group
        found[f"{who}: {name}"] = {"as": first} if same else group


def world_answers(world: World, family: str, asked_ns: Sequence[int] = ASKED_NS) -> dict[str, Group]:
    """All groups of one world."""
    return {name: ask(world) for name, ask in _groups(family, asked_ns).items()}


def _groups(family: str, asked_ns: Sequence[int] = ASKED_NS) -> dict[str, Callable[[World], Group]]:
    groups: dict[str, Callable[[World], Group]] = {
        "digest values": lambda world: {"world": world.digest()[:12], "scene": world.scene.digest()[:12]},
        "nodes": lambda world: _nodes(world.scene),
        "past": _past,
        "find": _found,
        "frames": _frames,
        "bodies": _bodies,
        "relations": _relations,
        "inactive": _inactive,
        "joints": lambda world: _joints(world, asked_ns),
        "pairs": _pairs,
        "places": lambda world: _places(world, asked_ns),
        "twists": _twists,
        "poses unique": lambda world: _snapshots(world, asked_ns, "unique", "raise"),
        "poses unique hold": lambda world: _snapshots(world, asked_ns, "unique", "hold"),
        "poses latest": lambda world: _snapshots(world, asked_ns, "latest", "hold"),
    }
    if family == "uncertain":  # elsewhere exact contradictions and ties make them arbitrary (findings, scene 1 and 12)
        groups["poses most_certain"] = lambda world: _snapshots(world, asked_ns, "most_certain", "hold")
        groups["poses fuse"] = lambda world: _snapshots(world, asked_ns, "fuse", "hold", digits=4)
    return groups


def group_digests(story_answers: dict[str, Group]) -> dict[str, str]:
    """A short digest of each group."""
    return {name: hashlib.sha256(canonical(group).encode()).hexdigest()[:6] for name, group in story_answers.items()}


def canonical(group: Group) -> str:
    return json.dumps(group, sort_keys=True, separators=(",", ":"))


# -- Groups


def _digests(replay: Replay) -> Group:
    """Which steps left the world that acted with equal digests: what undo restores, and where replicas agree."""
    found: Group = {}
    for which, name in enumerate(("world", "scene")):
        seen: dict[str, int] = {}
        values = [pair[which] for pair in replay.digests]
        values += [(world.digest(), world.scene.digest())[which] for world in replay.worlds]
        found[name] = [seen.setdefault(value, len(seen)) for value in values]
    return found


def _nodes(scene: Scene | PastScene) -> Group:
    named = [node for node in (*NODES, *OWN_ROOTS, *SHARED_ROOTS) if node in scene]
    found: Group = {label(scene, node): _of_node(scene, node) for node in [scene.root, *named]}
    return found | {"count": len(scene.find({}))}


def _of_node(scene: Any, node: NodeId) -> Group:
    kind = scene.kind(node)
    facts: Group = {"kind": kind, "parents": labels(scene, scene.parents(node))}
    facts |= {"children": labels(scene, scene.children(node)), "attributes": dict(scene.attributes(node))}
    if kind == "geometry":
        facts["shape"] = repr(scene.geometry(node))
    if kind == "connection":
        tie = scene.connection(node)
        facts["connects"] = [labels(scene, tie.sources), labels(scene, tie.targets)]
    return facts


def _past(world: World) -> Group:
    pasts = {stamp: world.scene.as_of(stamp) for stamp in PAST_NS}
    return {str(stamp): answer(lambda past=past: _nodes(past)) for stamp, past in pasts.items()}


def _found(world: World) -> Group:
    queries: dict[str, dict[str, Any]] = {f"mass {mass}": {"mass": mass} for mass in range(8)}
    queries |= {f"name {name}": {"name": name} for name in ("cup", *(f"{who}{n}" for who in "abcd" for n in range(3)))}
    queries |= {"heavy": {"mass": greater(3)}, "some": {"name": exists()}, "pattern": {"name": re.compile("a.*")}}
    found = {name: labels(world.scene, world.scene.find(query)) for name, query in queries.items()}
    return {name: nodes for name, nodes in found.items() if nodes}


def _frames(world: World) -> Group:
    return {"frames": sorted(map(plain, world.frames()))}


def _bodies(world: World) -> Group:
    bodies: Group = {"bodies": sorted(world.bodies())}
    return bodies | {plain(frame): plain(world.body_of(frame)) for frame in world.frames()}


def _relations(world: World) -> Group:
    facts = [(r.of, r.in_frame, r.source, r.kind, r.samples, r.first, r.last) for r in world.relations()]
    return {" ".join(map(plain, fact[:4])): list(fact[4:]) for fact in facts}


def _inactive(world: World) -> Group:
    return {"inactive": sorted(f"{_named(one.change)}: {type(one.reason).__name__}" for one in world.scene.inactive())}


def _named(change: Any) -> str:
    """A change by what it is about, not by where it puts it."""
    fields = {field.name: getattr(change, field.name) for field in dataclasses.fields(change)}
    told_of = {name: fields[name] for name in IDENTIFYING if fields.get(name) is not None}
    return plain(f"{type(change).__name__}({', '.join(f'{k}={v}' for k, v in told_of.items())})")


def _joints(world: World, asked_ns: Sequence[int]) -> Group:
    found: Group = {"joints": sorted(world.joints())}
    for name in world.joints():
        asked = [(at, outside) for at in asked_ns for outside in ("raise", "hold")]
        found[name] = [answer(lambda a=a, o=o, n=name: number(world.joint(n, at=a, outside=o).value)) for a, o in asked]
    return found


def _pairs(world: World) -> Group:
    """Any frame in any other, at few instants, strictly."""
    pairs = [(of, above) for of in FRAMES for above in FRAMES if of != above]
    asked = [(of, above, at) for of, above in pairs for at in (*PAIRED_NS, LATEST)]
    return {f"{of} in {above} at {at}": answer(lambda q=(of, above, at): _pose(world, *q)) for of, above, at in asked}


def _pose(world: World, of: str, in_frame: str, at: Any) -> list[float]:
    return transform(world.pose(of=of, in_frame=in_frame, at=at).transform)


def _places(world: World, asked_ns: Sequence[int]) -> Group:
    """Where the nodes are and were, by the frame that the scene gives them."""
    scene, found = world.scene, {}
    for node in (*NODES, *OWN_ROOTS, *SHARED_ROOTS):
        if node in scene:
            frame = scene.frame(node)
            poses = [answer(lambda f=frame, a=at: _held(world, f, a)) for at in asked_ns]
            found[plain(str(node))] = {"frame": plain(frame), "poses": poses, "stamp": scene.stamp(node)}
    return found


def _held(world: World, frame: str, at: int) -> list[float]:
    return transform(world.pose(of=frame, in_frame=world.root_frame, at=at, outside="hold").transform)


def _twists(world: World) -> Group:
    return {f"{of} at {at}": answer(lambda o=of, a=at: _twist(world, o, a)) for of in FRAMES[:3] for at in PAIRED_NS}


def _twist(world: World, of: str, at: int) -> list[float]:
    twist = world.twist(of=of, relative_to="map", at=at, outside="hold")
    return [float(f"{value:.4g}") + 0.0 for value in (*twist.linear, *twist.angular)]


def _snapshots(world: World, asked_ns: Sequence[int], policy: str, outside: str, *, digits: int = DIGITS) -> Group:
    """Not with joints for other policies than "unique": where two sources set one, the recorded build crashes."""
    if policy != "unique" and world.joints():
        return {}
    return {str(at): answer(lambda a=at: _snapshot(world, a, policy, outside, digits)) for at in (*asked_ns, LATEST)}


def _snapshot(world: World, at: Any, policy: str, outside: Any, digits: int) -> Group:
    seen = world.snapshot(in_frame="map", at=at, outside=outside, policy=policy)
    found: Group = {plain(frame): transform(pose, digits) for frame, pose in seen.items()}
    return found | {plain(frame): type(error).__name__ for frame, error in seen.missing.items()}


# -- Plain data


def answer(ask: Callable[[], Any]) -> Any:
    """What was answered, or what hinders it."""
    try:
        return ask()
    except (ArmillaryError, np.linalg.LinAlgError) as error:
        return type(error).__name__


def transform(value: Transform, digits: int = DIGITS) -> list[float]:
    """The position, and where it turns a vector to: a quaternion has two signs."""
    return [number(each, digits) for each in (*value.translation, *(value.rotation.matrix @ PROBE))]


def number(value: float, digits: int = DIGITS) -> float:
    return round(float(value), digits) + 0.0


def label(scene: Any, node: NodeId) -> str:
    """What the story calls a node; others are known by their frame."""
    if node == scene.root:
        return "root"
    return NODE_LABELS.get(str(node)) or f"node of {plain(scene.frame(node))}"


def labels(scene: Any, nodes: Iterable[NodeId]) -> list[str]:
    return sorted(label(scene, node) if node in scene else plain(str(node)) for node in nodes)


def plain(text: Any) -> str:
    """A name in which ids are what the story calls them."""
    return UUID.sub(lambda found: NODE_LABELS.get(found[0], found[0]), str(text))


def enumerate_text(texts: list[str]) -> Iterable[tuple[str, str]]:
    return ((str(place), text) for place, text in enumerate(texts))
