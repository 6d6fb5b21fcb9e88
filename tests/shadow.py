"""The shadow of a world: its records through the new change log, compared with what the world made of them.

A difference is (subject, today's answer, the new answer). `explanation` names the rule that accounts for it; what it
does not explain is a fault of one of the two.
"""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any

from armillary import Transform
from armillary._core import ChangeLog, NodeId
from armillary.errors import ArmillaryError
from resolver_reference import DETACHED, PRESENT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from armillary import World

    Difference = tuple[Any, Any, Any]


class Shadow:
    """What the change log resolves the records of a world to."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.changes = {change.id: change for change in world.scene.changes()}
        self.log = ChangeLog()
        for change in self.changes.values():
            self.log.append(change)
        self.resolved = self.log.resolve([], world.scene.frame(world.scene.root))

    def differences(
        self, nodes: Sequence[NodeId], frames: Sequence[str], asked_ns: Iterable[int]
    ) -> Iterator[Difference]:
        """All in which the two differ, about these nodes, frames and instants."""
        instants = sorted({t + d for t in asked_ns for d in (-1, 0, 1)})
        for t in [None, *instants]:
            yield from self._nodes(nodes, t)
        yield from self._frames()
        yield from self._bodies(frames)
        yield from self._inactive()
        for t in instants:
            yield from self._poses(frames, t)

    def explanation(self, difference: Difference) -> str | None:
        """The rule that accounts for a difference; None: nothing does."""
        (subject, name, *_), old, new = difference
        if subject == "frame" and old and not new:
            return "A frame that no live record names vanishes."
        if subject == "frame" and any(c.type == "add_node" and c.frame_name == name for c in self.changes.values()):
            return "The node that stands for a frame names it, also where nothing else of it has arrived yet."
        return None

    # -- Containment

    def _nodes(self, nodes: Sequence[NodeId], t: int | None) -> Iterator[Difference]:
        view = self.world.scene if t is None else self.world.scene.as_of(t)
        found = self.resolved.nodes(PRESENT if t is None else t)
        for node in nodes:
            old = None
            if node in view:
                old = (view.kind(node), {str(p) for p in view.parents(node)}, view.attributes(node))
            new = found.get(str(node))
            if new is not None:
                new = (new[0], {*new[2]} - {DETACHED}, new[3])
            if old != new:
                yield ("node", node, t), old, new

    # -- Frames and bodies

    def _frames(self) -> Iterator[Difference]:
        old = {name for name in self.world.frames() if not _is_of_node(name)}
        new = {name for name in self.resolved.frames if not _is_of_node(name)}
        for name in sorted(old ^ new):
            yield ("frame", name), name in old, name in new

    def _bodies(self, frames: Sequence[str]) -> Iterator[Difference]:
        old, new = set(self.world.bodies()), set(self.resolved.bodies)
        if old != new:
            yield ("bodies",), old, new
        for name in {*frames} & {*self.world.frames()} & {*self.resolved.frames}:
            here, there = self.world.body_of(name), self.resolved.on.get(name, name)
            if here != there:
                yield ("on", name), here, there

    def _inactive(self) -> Iterator[Difference]:
        old = {_row_of(one) for one in self.world.scene.inactive()}
        new = set()
        for t in self._points():
            new |= {row for id_, reason in self.resolved.inactive(t) for row in _rows_of(self.changes[id_], reason)}
        for row in sorted(old ^ new, key=str):
            yield ("inactive", *row), row in old, row in new

    def _points(self) -> set[int]:
        return {0, PRESENT, *itertools.chain.from_iterable(_stamps(c) for c in self.changes.values())}

    # -- Poses, where no two sources contest a frame

    def _poses(self, frames: Sequence[str], t: int) -> Iterator[Difference]:
        above: dict[str, list[tuple[str, Transform]]] = {}
        for track, parent, provider, id_, _, holds, is_cut in self.resolved.pieces(t):
            if track[0] == "pose" and not is_cut and (holds or provider == "sampled"):
                value = _pose_of(self.changes[id_]) if provider == "fixed" else None
                above.setdefault(track[1], []).append((parent, value))
        for of, other in itertools.permutations(frames, 2):
            new = _chained(above, of, other)
            if new is not _UNCLEAR:
                old = self._pose(of, other, t)
                if (old is None) != (new is None) or (old is not None and not old.is_close(new)):
                    yield ("pose", of, other, t), old, new

    def _pose(self, of: str, in_frame: str, t: int) -> Transform | None:
        try:
            return self.world.pose(of=of, in_frame=in_frame, at=t).transform
        except ArmillaryError:
            return None


_UNCLEAR = object()  # another source, samples or a node has a say


def _chained(above: dict[str, list[tuple[str, Any]]], of: str, other: str) -> Any:
    """other_T_of along fixed poses; None where there is no way."""
    ways = []
    for name in (of, other):
        way = {name: Transform.identity()}
        while name in above:
            if len(above[name]) > 1 or above[name][0][1] is None:
                return _UNCLEAR
            parent, value = above[name][0]
            way[parent] = value @ way[name]
            name = parent  # noqa: PLW2901
        ways.append(way)
    common = [name for name in ways[0] if name in ways[1]]
    return ways[1][common[0]].inverse() @ ways[0][common[0]] if common else None


def _pose_of(change: Any) -> Transform:
    x, y, z, *wxyz = change.value["fixed"]["pose"]
    return Transform.from_xyz_wxyz(xyz=(x, y, z), wxyz=wxyz)


def _is_of_node(name: str) -> bool:
    try:
        NodeId(name.removesuffix("/mount"))
    except ValueError:
        return False
    return True


def _stamps(change: Any) -> Iterator[int]:
    record = json.loads(change.to_json())
    for name in ("at", "since"):
        if record.get(name) is not None:
            yield record[name]


def _row_of(one: Any) -> tuple[Any, ...]:
    """Which change, and why, in words that both sides have."""
    change, reason = one.change, type(one.reason).__name__
    kind = type(change).__name__
    if kind == "AddBody":
        return ("body", change.name, reason)
    if kind == "AddParent":
        return ("edge", str(change.id), str(change.parent), reason)
    parent = change.relative_to if kind == "AddTwistRelation" else change.in_frame
    return ("relation", change.of, parent, change.source, reason)


_ERRORS = {
    "cycle": "FrameLoop",
    "on_other_body": "ConstraintViolation",
    "moves_in_body": "ConstraintViolation",
    "constant_in_body": "ConstraintViolation",
    "no_body": "ConstraintViolation",
}


def _rows_of(change: Any, reason: str) -> Iterator[tuple[Any, ...]]:
    if reason not in _ERRORS:
        return
    if change.type == "assert":
        value = next(iter(change.value.values()))
        yield ("relation", change.track[1], value["in_frame"], change.track[2], _ERRORS[reason])
    elif change.type == "set_body":
        yield ("body", change.body, _ERRORS[reason])
    else:
        parent = change.edge["parent"] if change.type == "add_node" else str(change.parent)
        yield ("edge", str(change.node), parent, "SceneCycle")
