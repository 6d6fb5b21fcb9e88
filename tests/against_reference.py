"""A world against the plain-Python reference of the resolver: what differs in what the two make of the same records.

A difference is (subject, the world's answer, the reference's answer). There is no allowed one: either the write path or
the reference is wrong.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from armillary._core import NodeId
from armillary.errors import AmbiguousPath, ArmillaryError
from resolver_reference import DETACHED, PRESENT, ROOT, Resolution

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from armillary import World
    from resolver_reference import Piece, Record

    Difference = tuple[Any, Any, Any]
    Resolver = Callable[[list[Record], list[Record], str], Resolution]

FAR = 2**62 - 2  # stamps that one can ask about
BODY_REASONS = ("on_other_body", "moves_in_body", "constant_in_body", "no_body")


def records_of(world: World) -> list[Record]:
    """All records that a world keeps, as the reference reads them."""
    return [json.loads(change.to_json()) for change in world.scene.changes()]


def differences(
    world: World,
    records: list[Record] | None = None,
    rows: Iterable[Record] = (),
    *,
    resolve: Resolver = Resolution,
    most_instants: int = 10**6,
) -> list[Difference]:
    """All in which a world differs from the reference, by default about the records that it keeps itself."""
    given = records_of(world) if records is None else records
    reference = resolve(given, list(rows), world.root_frame)
    return list(Comparison(world, reference, most_instants).run())


class Comparison:
    """One world, and the reference that resolved its records."""

    def __init__(self, world: World, reference: Resolution, most_instants: int) -> None:
        self.world, self.reference = world, reference
        points = [t for t in reference.change_points() if abs(t) < FAR]
        step = max(1, len(points) // most_instants)
        self.instants = points[::step] or [0]
        self.of_nodes = {str(node) for node in reference.heads} | {
            record["frame_name"]
            for node in reference.heads
            if node not in reference.stand_ins
            for heads in reference.heads[node].values()
            for record in heads
        }

    def run(self) -> Iterator[Difference]:
        yield from self._frames()
        yield from self._bodies()
        yield from self._variables()
        for t in [None, *self.instants]:
            yield from self._nodes(t)
        yield from self._inactive()
        for t in self.instants:
            yield from self._places(t)

    def _differing(self, subject: str, ours: Iterable[Any], theirs: Iterable[Any]) -> Iterator[Difference]:
        here, there = set(ours), set(theirs)
        for one in sorted(here ^ there, key=str):
            yield (subject, one), one in here, one in there

    # -- What exists

    def _frames(self) -> Iterator[Difference]:
        """Those of nodes are made when somebody asks for them."""
        ours = {name for name in self.world.frames() if not self._is_of_node(name)}
        theirs = {name for name in self.reference.frames if not self._is_of_node(name)}
        yield from self._differing("frame", ours, theirs)

    def _is_of_node(self, name: str) -> bool:
        return name in self.of_nodes or name.removesuffix("/mount") in self.of_nodes

    def _bodies(self) -> Iterator[Difference]:
        yield from self._differing("body", self.world.bodies(), self.reference.bodies)
        for name in {*self.world.frames()} & {*self.reference.frames}:
            here, there = self.world.body_of(name), self.reference.on.get(name, name)
            if here != there:
                yield ("on", name), here, there

    def _variables(self) -> Iterator[Difference]:
        yield from self._differing("variable", self.world.joints(), self.reference.variables)

    def _nodes(self, t: int | None) -> Iterator[Difference]:
        view = self.world.scene if t is None else self.world.scene.as_of(t)
        now = self.reference.containment(PRESENT if t is None else t)
        for node in sorted({*self.reference.heads} - {ROOT, DETACHED}):
            ours = theirs = None
            if (id_ := NodeId(node)) in view:
                ours = (view.kind(id_), {str(p) for p in view.parents(id_)}, view.attributes(id_))
            if node in now.alive:
                incarnation = now.incarnations[node]
                attributes = self.reference.attributes(node, incarnation, PRESENT if t is None else t)
                kind = self.reference.head(node, incarnation)["kind"]
                theirs = (kind, {*now.parents(node)} - {DETACHED}, attributes)
            if ours != theirs:
                yield ("node", node, t), ours, theirs

    # -- What is not active

    def _inactive(self) -> Iterator[Difference]:
        ours = {_row_of(one) for one in self.world.scene.inactive()}
        theirs = set()
        for t in [*self.instants, PRESENT]:
            for id_, reason in self.reference.inactive(t):
                record = self.reference.held[id_]
                if t == PRESENT or record["type"] not in ("add_node", "add_edge"):  # of containment: what is so now
                    theirs |= set(_rows_of(record, reason))
        unknown = {row for row in ours if row and row[0] == "edge" and row[1] not in self.reference.heads}
        yield from self._differing("inactive", ours - unknown - {None}, theirs)

    # -- Which frame is in which

    def _places(self, t: int) -> Iterator[Difference]:
        parents = self.world.store.parents(t)
        chosen = self.reference.chosen(t)
        for frame in sorted({*parents} & self.reference.frames):
            rivals = chosen.get(frame, [])
            is_unclear = any(piece.provider == "driven" or not piece.holds for _, piece in rivals)
            if self._is_of_node(frame) or is_unclear:
                continue
            expected = (rivals[0][1].parent, rivals[0][0]) if len(rivals) == 1 else None
            if parents[frame] != expected and (expected is not None or self._is_covered(frame, parents[frame], t)):
                yield ("parent", frame, t), parents[frame], expected
            elif len(rivals) > 1:
                yield from self._contested(frame, t, dict(rivals))

    def _is_covered(self, frame: str, parent: tuple[str, str] | None, t: int) -> bool:
        """Whether a relation has a value at an instant: one of samples is there before its first one."""
        return parent is not None and self.world.can_pose(of=frame, in_frame=parent[0], at=t)

    def _contested(self, frame: str, t: int, rivals: dict[str, Piece]) -> Iterator[Difference]:
        ours = set()
        for parent in {piece.parent for piece in rivals.values()}:
            try:
                self.world.pose(of=frame, in_frame=parent, at=t)
            except AmbiguousPath as error:
                if error.frame != frame:
                    return  # another frame on the way is contested, too: it is looked at by itself
                ours |= set(error.sources)
            except ArmillaryError:
                return  # something else is in the way first
        if ours != set(rivals):
            yield ("contested", frame, t), ours, set(rivals)


def _row_of(one: Any) -> tuple[Any, ...] | None:
    """Which change, and why, in words that both sides have."""
    change, reason = one.change, type(one.reason).__name__
    match type(change).__name__:
        case "AddBody":
            return ("body", change.name, reason)
        case "AddParent":
            return ("edge", str(change.id), str(change.parent), reason)
        case "AddTwistRelation":
            return ("relation", change.of, change.relative_to, change.source, reason)
        case "Fix" | "AddRelation" | "Drive":
            return ("relation", change.of, change.in_frame, change.source, reason)
    return None  # a name of a frame that is taken: no matter of the resolver


def _rows_of(record: Record, reason: str) -> Iterator[tuple[Any, ...]]:
    if record["type"] == "assert" and reason in ("cycle", *BODY_REASONS):
        value = next(iter(record["value"].values()))
        error = "FrameLoop" if reason == "cycle" else "ConstraintViolation"
        yield ("relation", record["track"][1], value["in_frame"], record["track"][2], error)
    elif record["type"] == "set_body" and reason in BODY_REASONS:
        yield ("body", record["body"], "ConstraintViolation")
    elif record["type"] in ("add_node", "add_edge") and reason == "cycle":
        parent = record["edge"]["parent"] if record["type"] == "add_node" else record["parent"]
        yield ("edge", record["node"], parent, "SceneCycle")
