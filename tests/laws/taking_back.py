"""What holds of whatever is taken back, and done again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from armillary import seconds
from armillary.errors import ArmillaryError
from armillary.scene import NodeId

if TYPE_CHECKING:
    from armillary import RelationInfo, World

NAMED = "thing"  # how names of nodes' frames begin
STAMPS = tuple(seconds(s) for s in (0.5, 2.0, 5.5, 9.0, 20.0))


def assert_is_taken_back_and_done_again(world: World, before: str) -> None:
    """The last change: undo leads back to the digest `before` or is refused and changes nothing, redo leads forward."""
    after = world.digest()
    try:
        world.undo()
    except ArmillaryError:
        assert world.digest() == after
        return
    assert world.digest() == before
    world.redo()
    assert world.digest() == after


@dataclass(frozen=True)
class Structure:
    """What questions about structure find, asked one by one: independent of how a digest is made."""

    digest: str
    frames: frozenset[str]
    bodies: dict[str, str]
    joints: tuple[str, ...]
    relations: frozenset[tuple[Any, ...]]
    nodes: dict[NodeId, tuple[Any, ...]]
    inactive: int
    fixed_poses: dict[tuple[str, str, int], Any]  # that no sample is part of


@dataclass(frozen=True)
class Answers:
    """What is found now: structure, and all relations and poses, with those that samples are part of."""

    structure: Structure
    relations: frozenset[tuple[Any, ...]]
    poses: dict[tuple[str, str, int], Any]

    def assert_are(self, other: Answers, *, samples_are_lost: bool) -> None:
        """Where samples are lost, what follows from structure alone has to be the same."""
        mine, others = self.structure, other.structure
        for name in ("digest", "frames", "bodies", "joints", "relations", "nodes", "inactive"):
            assert getattr(mine, name) == getattr(others, name), name
        if not samples_are_lost:
            assert self.relations == other.relations, "sampled relations"
            assert self.poses == other.poses, "poses"
        kept = {question: self.poses[question] for question in others.fixed_poses}
        assert kept == others.fixed_poses, "fixed poses"


def answers_of(world: World) -> Answers:
    nodes = _nodes(world)
    frames = _present(world, nodes)
    own = {frame for *_, frame in nodes.values()}  # they keep the past of their nodes
    found = [one for one in world.relations() if one.of in frames and one.of not in own]
    sampled = {(one.of, one.in_frame, one.source) for one in world.relations() if one.kind in {"sampled", "integrated"}}
    tops = [frame for frame in (world.root_frame, "a") if frame in frames]
    asked = {(one.of, one.in_frame) for one in found if one.kind != "twist"} | {
        (of, top) for of in frames for top in tops
    }
    # A node that comes back is there from then on, though it was there before.
    questions = [(*pair, at) for pair in sorted(asked) for at in (STAMPS[-1:] if own.intersection(pair) else STAMPS)]
    poses = {question: _pose(world, *question) for question in questions}
    sampled_frames = {of for of, _, _ in sampled}  # whose samples decide which sources count, where there are several
    structure = Structure(
        digest=world.digest(),
        frames=frozenset(frames),
        bodies={frame: world.body_of(frame) for frame in frames},
        joints=world.joints(),
        relations=frozenset(_named(one) for one in found if one.kind == "twist"),
        nodes=nodes,
        inactive=len(world.scene.inactive()),
        fixed_poses={
            asked: pose
            for asked, (pose, used) in poses.items()
            if used and sampled_frames.isdisjoint(of for of, _, _ in used)
        },
    )
    return Answers(structure, frozenset(map(_named, found)), {asked: pose for asked, (pose, _) in poses.items()})


def _named(one: RelationInfo) -> tuple[Any, ...]:
    return one.kind == "twist", one.of, one.in_frame, one.source, one.interpolation


def _present(world: World, nodes: dict[NodeId, tuple[Any, ...]]) -> list[str]:
    """All frames but those of nodes that were removed, whose past is remembered."""
    own = {frame for *_, frame in nodes.values()}
    return [name for name in world.frames() if name in own or not (name.startswith(NAMED) or _is_id(name))]


def _is_id(name: str) -> bool:
    try:
        NodeId(name.partition("/")[0])
    except ArmillaryError:
        return False
    return True


def _pose(world: World, of: str, in_frame: str, at: int) -> tuple[Any, tuple[tuple[str, str, str], ...]]:
    """The pose, or why there is none, and the relations that it is made of."""
    try:
        pose = world.pose(of=of, in_frame=in_frame, at=at)
    except ArmillaryError as error:
        return type(error).__name__, ()
    return tuple(pose.transform.matrix.ravel().round(9).tolist()), pose.relations


def _nodes(world: World) -> dict[NodeId, tuple[Any, ...]]:
    scene = world.scene
    found, waiting = {}, [scene.root]
    while waiting:
        node = waiting.pop()
        if node in found:
            continue
        parents = frozenset(scene.parents(node))
        found[node] = (scene.kind(node), parents, repr(sorted(scene.attributes(node).items())), scene.frame(node))
        waiting.extend(scene.children(node))
    return found
