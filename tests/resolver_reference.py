"""The resolver in plain Python: which assertions of a change log hold at an instant, as plainly as possible.

It is the oracle of the write path (`scene::Store` and the forest below it): tests/laws/test_resolver_laws.py compares
worlds with it. Records are the JSON objects of `ChangeRecord.to_json()`. Everything is computed from the whole set, for
one instant at a time: no intervals, no increments, no compaction. It is done in strata; none of them reads a later one.

    S0  barriers and epochs   a removal of a frame voids what was asserted of it before; what was written in an earlier
                              time epoch, and held last there, holds since always
    S1  slots                 of two writes of one slot the newer wins; one that is empty, or whose parent was removed
                              later, leaves nothing: what it superseded never comes back
    S2  containment           which nodes are alive: edges in strength order, but for cycles, from the root down
    S3  relations of nodes    each edge in force places the node's own frame in that of the parent
    S4  bodies                declarations, claims and relations in strength order; within a body nothing moves
    S5  tracks                what one source says of one frame, from its slots and samples; where it says nothing, S3
    S6  cycles                at each instant pieces in strength order, those of S3 first, but for what closes a cycle
    S7  preferences           per subject the newest preference that covers an instant; then ranks
    S8  variables             joints that wait for their variables

Two orders decide, and never the same question: *newer* between two writes of one slot, *stronger* between different
things that cannot hold together (rule 9).
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from armillary._core import ROOT_NODE, NodeId

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    Record = dict[str, Any]
    Track = tuple[str, str, str]  # kind, of, source
    Id = tuple[str, int]

ALWAYS, NEVER = -(2**63), 2**63 - 1
PRESENT = NEVER - 1  # an instant after everything: what was not removed
SAME = 1e-9  # metres and radians within which two poses are equal
ROOT, DETACHED = str(ROOT_NODE), "6c696d62-6f00-8000-8000-000000000000"
TRANSFORMS = ("transform", "uncertain_transform")


def newness(record: Record) -> tuple[Any, ...]:
    """Order between two writes of one slot: the highest wins."""
    return (*record["time"], record["authority"], *record["id"])


def strength(record: Record) -> tuple[Any, ...]:
    """Order between different things that cannot hold together: the lowest stays."""
    return (-record["authority"], *record["time"], *record["id"])


def epoch_of(record: Record) -> tuple[Any, ...]:
    """Order of time epochs: that of their ResetTime; () is the first."""
    return tuple(record["epoch"] or ())


def instant(value: int | None, default: int = ALWAYS) -> int:
    """A stamp of a record, where null stands for always or never."""
    return default if value is None else value


def is_empty(record: Record) -> bool:
    """Whether an assertion takes its slot back: null, or of samples under one parent {"empty": {"sampled_in": ...}}."""
    return record["value"] is None or "empty" in record["value"]


def sampled_in(record: Record) -> str:
    """The parent under which an assertion announces samples, or takes that back: such a slot stands by itself."""
    value = record["value"] or {}
    return value.get("sampled", {}).get("in_frame", "") or value.get("empty", {}).get("sampled_in", "")


def stand_in(frame: str) -> str:
    """Id of the node that stands for a frame."""
    return str(NodeId.of_name("frame", frame))


def greedy(items: Iterable[Any], ends: Callable[[Any], tuple[str, str]]) -> tuple[list[Any], list[Any]]:
    """Take items, the strongest first, but for those that close a cycle with the ones already taken."""
    taken: list[Any] = []
    skipped: list[Any] = []
    above: dict[str, set[str]] = defaultdict(set)
    for item in items:
        child, parent = ends(item)
        seen, waiting = {parent}, [parent]
        while waiting:
            new = above[waiting.pop()] - seen
            seen |= new
            waiting += new
        if child in seen:
            skipped.append(item)
        else:
            taken.append(item)
            above[child].add(parent)
    return taken, skipped


def is_same_pose(a: Record, b: Record) -> bool:
    """Whether two fixed values differ by no more than rounding."""
    (*p, aw, ax, ay, az), (*q, bw, bx, by, bz) = a["pose"], b["pose"]
    w = aw * bw + ax * bx + ay * by + az * bz
    vector = (
        aw * bx - ax * bw - ay * bz + az * by,
        aw * by + ax * bz - ay * bw - az * bx,
        aw * bz - ax * by + ay * bx - az * bw,
    )
    return math.dist(p, q) <= SAME and 2 * math.atan2(math.hypot(*vector), abs(w)) <= SAME


@dataclass
class Slot:
    """What a source asserts of a frame from `since` on, after S0 and S1."""

    since: int
    record: Record
    is_boundary: bool = True  # False: a sampled relation that is known from an earlier epoch

    @property
    def kind(self) -> str:
        return next(iter(self.record["value"]))

    @property
    def parent(self) -> str:
        return self.record["value"][self.kind].get("in_frame", "")


Event = tuple[int, int, str, Slot | None]  # instant, whether it is a sample, parent, slot


@dataclass
class Edge:
    """One containment edge, with its interval on the time axis of the present epoch."""

    node: str
    incarnation: tuple[Any, ...]
    parent: str
    parent_incarnation: tuple[Any, ...]
    start: int
    until: int
    record: Record
    given: Record  # parent, pose, rank

    @property
    def id(self) -> Id:
        return tuple(self.record["id"])


@dataclass
class Piece:
    """What one track says of its frame at one instant."""

    parent: str
    provider: str  # fixed, driven, sampled, identity, node
    record: Record
    rank: str
    holds: bool
    is_base: bool = False
    newest: int | None = None  # the last sample of the run; None: there is none, or it is no matter of samples

    @property
    def key(self) -> tuple[Any, ...]:
        return (self.parent, self.provider, tuple(self.record["id"]), self.rank, self.holds)


@dataclass
class Containment:
    """Nodes at one instant: current incarnations, edges in force, nodes that the anchors reach."""

    incarnations: dict[str, tuple[Any, ...]]
    taken: list[Edge]
    skipped: list[Edge]
    unreachable: list[Edge]
    alive: set[str] = field(default_factory=set)

    def parents(self, node: str) -> list[str]:
        """Living parents, the one of the strongest edge first; DETACHED only where there is no other."""
        found = [e.parent for e in self.taken if e.node == node and (e.parent in self.alive or e.parent == DETACHED)]
        return list(dict.fromkeys([p for p in found if p != DETACHED] or found))


class Resolution:
    """What a set of changes and samples means. Samples are one dict per row."""

    def __init__(self, records: Iterable[Record], samples: Sequence[Record] = (), root_frame: str = "map") -> None:
        self.held = {tuple(r["id"]): r for r in records}
        self.root_frame = root_frame
        every = sorted(self.held.values(), key=newness)
        self.removed = {f: r for r in every if r["type"] == "remove_frames" for f in r["names"]}
        self.removed_nodes = {stand_in(frame): r for frame, r in self.removed.items()}
        resets = [r for r in every if r["type"] == "reset_time"]
        begun = [(*r["time"], r["authority"], *r["id"]) for r in resets]
        self.epoch = max([(), *begun, *map(epoch_of, every)])  # one that is named has begun, too
        self.live = [r for r in every if not self._is_dead(r)]  # the oldest first
        self._resolve_slots()
        self.variables = {key[1]: kind for key, (_, kind) in self.slot.items() if key[0] == "variable" and kind}
        self._resolve_nodes()
        self._resolve_bodies()
        self._count_rows(samples)
        self._report_pending()

    # -- S0: barriers and epochs

    def _is_after(self, barriers: dict[str, Record], name: str, record: Record) -> bool:
        return name in barriers and newness(barriers[name]) > newness(record)

    def _is_dead(self, record: Record) -> bool:
        match record["type"]:
            case "assert":
                return self._is_after(self.removed, record["track"][1], record)
            case "forget":
                return self._is_after(self.removed, record["of"], record)
            case "prefer":
                return "frame" in record["subject"] and self._is_after(self.removed, record["subject"]["frame"], record)
            case "add_node" | "add_edge" | "remove_edges" | "set_attributes":
                return self._is_after(self.removed_nodes, record["node"], record)
        return False

    def _is_severed(self, record: Record) -> bool:
        value = record["value"] or {}
        return any(self._is_after(self.removed, part.get("in_frame"), record) for part in value.values())

    def _here(self, record: Record, stamp: int | None, default: int = ALWAYS) -> int:
        """A stamp of a record on the present time axis: what was said in an earlier epoch holds since always."""
        return instant(stamp, default) if epoch_of(record) == self.epoch else ALWAYS

    # -- S1: slots

    def _of_type(self, kind: str) -> list[Record]:
        return [r for r in self.live if r["type"] == kind]

    def _resolve_slots(self) -> None:
        self.slot: dict[tuple[str, ...], tuple[Record, Any]] = {}  # of frames, bodies, claims, variables
        for record in self.live:
            for key, value in self._writes(record):
                self.slot[key] = (record, value)
        self.always: dict[Track, Record] = {}
        for record in self._of_type("assert"):
            if record["since"] is None:
                self.always[tuple(record["track"])] = record
        self.asserts: dict[Track, dict[tuple[Any, ...], Record]] = defaultdict(dict)  # by epoch, since, sampled in
        for record in self._of_type("assert"):
            track: Track = tuple(record["track"])
            if track in self.always and newness(record) < newness(self.always[track]):
                continue
            self.asserts[track][epoch_of(record), instant(record["since"]), sampled_in(record)] = record
        self.tracks = {track: self._slots_of(written) for track, written in self.asserts.items()}

    def _writes(self, record: Record) -> Iterable[tuple[tuple[str, ...], Any]]:
        """Slots without a time axis: (key, value); a value of None or False is empty."""
        match record["type"]:
            case "set_frames":
                for name in record["names"]:
                    if not self._is_after(self.removed, name, record):
                        yield ("frame", name), record["present"]
            case "set_body":
                if record["present"] or not record["frames"]:
                    yield ("body", record["body"]), record["present"]
                for name in record["frames"]:
                    if not self._is_after(self.removed, name, record):
                        yield ("claim", record["body"], name), record["present"]
            case "set_variables":
                for name, kind in record["variables"]:
                    yield ("variable", name), kind

    def _slots_of(self, written: dict[tuple[Any, ...], Record]) -> list[Slot]:
        """The winners of one track: those of the present epoch, and what held last in the newest one before."""
        present = {key: r for key, r in written.items() if not is_empty(r) and not self._is_severed(r)}
        here = []
        for key, record in sorted(present.items()):
            slot = Slot(key[1], record)
            slot.is_boundary = _is_newest_of_instant(key, present)
            if key[0] == self.epoch and (slot.is_boundary or slot.kind == "sampled"):
                here.append(slot)
        before = [key for key in present if key[0] != self.epoch and _is_newest_of_instant(key, present)]
        if before and not any(slot.since == ALWAYS for slot in here):
            last = Slot(ALWAYS, present[max(before)])
            last.is_boundary = last.kind != "sampled"
            if last.kind != "ended":
                here.insert(0, last)
        return here

    # -- S2: containment

    def _resolve_nodes(self) -> None:
        self.heads: dict[str, dict[tuple[Any, ...], list[Record]]] = defaultdict(lambda: defaultdict(list))
        ends: dict[tuple[Any, ...], int] = {}
        for record in self.live:
            if record["type"] == "add_node":
                self.heads[record["node"]][tuple(record["incarnation"])].append(record)
            if record["type"] == "remove_edges":
                for dot in record["dots"]:
                    edge = (record["node"], *record["incarnation"], *dot)
                    ends[edge] = min(ends.get(edge, NEVER), self._here(record, record["at"]))
        self.edges: list[Edge] = []
        self.severed_edges: list[Edge] = []
        for record in sorted(self.live, key=strength):
            if record["type"] not in ("add_node", "add_edge"):
                continue
            given = record["edge"] if record["type"] == "add_node" else record
            start = self._here(record, record["at"])
            end = ends.get((record["node"], *record["incarnation"], *record["id"]), NEVER)
            until = max(start, end)
            names = record["node"], tuple(record["incarnation"]), given["parent"], tuple(given["parent_incarnation"])
            is_severed = self._is_after(self.removed_nodes, given["parent"], record)
            (self.severed_edges if is_severed else self.edges).append(Edge(*names, start, until, record, given))
        named = [(r["node"], tuple(r["incarnation"])) for r in self.live if "incarnation" in r]
        self.newest_incarnation: dict[str, tuple[Any, ...]] = {}
        for node, incarnation in [*named, *((e.parent, e.parent_incarnation) for e in self.edges)]:
            self.newest_incarnation[node] = max(self.newest_incarnation.get(node, ()), incarnation)
        stamps = {stamp for e in self.edges for stamp in (e.start, e.until)}
        self.stand_ins = {n for n in self.heads for i in self.heads[n] if self.head(n, i)["kind"] == "frame"}
        self.named = {self.root_frame} | {
            key[1] for key, (_, value) in self.slot.items() if key[0] == "frame" and value
        }
        self.named |= {key[2] for key, (_, value) in self.slot.items() if key[0] == "claim" and value}
        for (kind, of, _), slots in self.tracks.items():
            self.named |= {of for slot in slots}
            bodies = {key[1] for key, (_, value) in self.slot.items() if key[0] == "body" and value}
            self.named |= {
                s.parent for s in slots if s.kind != "ended" and not (kind == "twist" and s.parent in bodies)
            }
        for (_, of, _), written in self.asserts.items():
            self.named |= {of for (epoch, *_), r in written.items() if epoch == self.epoch and self._is_severed(r)}
        self._alive_at = {t: self.containment(t, for_places=True) for t in {*stamps, ALWAYS, PRESENT} if t != NEVER}

    def head(self, node: str, incarnation: tuple[Any, ...]) -> Record:
        """The AddNode that says what a node is: of several for one incarnation the strongest."""
        return min(self.heads[node][incarnation], key=strength)

    def created_at(self, node: str, incarnation: tuple[Any, ...]) -> int:
        return min(self._here(r, r["at"]) for r in self.heads[node][incarnation])

    def frame(self, node: str, incarnation: tuple[Any, ...]) -> str:
        """The own frame of a node."""
        return self.root_frame if node == ROOT else self.head(node, incarnation)["frame_name"] or node

    def _incarnation(self, node: str, t: int, for_places: bool) -> tuple[Any, ...] | None:
        known = sorted(self.heads.get(node, {}))
        if t == PRESENT and self.newest_incarnation[node] not in known:
            return None  # rule 25: the id was used again, by somebody whose AddNode is still to come
        begun = [i for i in known if self.created_at(node, i) <= t]
        if begun:
            return begun[-1]
        return known[0] if known and for_places else None

    @cache  # noqa: B019
    def containment(self, t: int, *, for_places: bool = False) -> Containment:
        """Containment at an instant; for places there is no time before a node was added."""
        current = {ROOT: (0, 0, 0, "0" * 16, 0), DETACHED: (0, 0, 0, "0" * 16, 0)}
        current |= {n: i for n in self.heads if (i := self._incarnation(n, t, for_places)) is not None}

        def is_in_force(e: Edge) -> bool:
            is_first = for_places and e.start <= self.created_at(e.node, e.incarnation)
            return (is_first or e.start <= t) and t < e.until

        links = [e for e in self.edges if current.get(e.node) == e.incarnation and is_in_force(e)]
        unreachable = [e for e in links if current.get(e.parent) != e.parent_incarnation]
        taken, skipped = greedy([e for e in links if e not in unreachable], lambda e: (e.node, e.parent))
        result = Containment(current, taken, skipped, unreachable)
        anchors = {ROOT} | {e.node for e in taken if e.parent == DETACHED}
        waiting = list(anchors)
        while waiting:
            node = waiting.pop()
            if node not in result.alive:
                result.alive.add(node)
                waiting += [e.node for e in taken if e.parent == node]
        return result

    def attributes(self, node: str, incarnation: tuple[Any, ...], t: int) -> dict[str, Any]:
        """Attributes of a node at an instant: per key the newest step at or before it."""
        steps: dict[str, list[tuple[Record, Any]]] = defaultdict(list)
        for r in self.live:
            if (
                r["type"] in ("add_node", "set_attributes")
                and r["node"] == node
                and tuple(r["incarnation"]) == incarnation
            ):
                for key, value in r["settings"]:
                    steps[key].append((r, value))
        found = {}
        for key, written in steps.items():
            before = [s for s in written if epoch_of(s[0]) != self.epoch]
            last = max(before, key=lambda s: (epoch_of(s[0]), newness(s[0])), default=None)
            here = [s for s in written if epoch_of(s[0]) == self.epoch and instant(s[0]["at"]) <= t]
            newest = max(here + ([last] if last else []), key=lambda s: newness(s[0]), default=None)
            if newest is not None and newest[1] is not None:
                found[key] = newest[1]
        return found

    # -- S4: bodies (S3 is part of `pieces`)

    def _resolve_bodies(self) -> None:
        claims = {key: r for key, (r, value) in self.slot.items() if value and key[0] in ("body", "claim")}
        claimed = {name for key in claims for name in key[1:]}
        candidates: list[tuple[Any, ...]] = []
        for key, record in claims.items():
            # A record that puts frames on a body declares the body, too: a later declaration does not weaken it.
            declaring = [r for k, r in claims.items() if k[1] == key[1]] if key[0] == "body" else [record]
            candidates.append((min(map(strength, declaring)), 0 if key[0] == "body" else 1, key, None))
        for track, slots in self.tracks.items():
            within = [s for s in slots if s.kind != "ended" and {track[1], s.parent} <= claimed]
            candidates += [(strength(s.record), 2, (*track, s.since), s) for s in within]
        self.bodies: set[str] = set()
        self.on: dict[str, str] = {}
        self.reasons: set[tuple[Id, str]] = set()
        self.breaks_body: set[Id] = set()
        self._taken: list[tuple[Track, Slot]] = []
        for _, _, key, slot in sorted(candidates, key=lambda c: c[:3]):
            if slot is not None:
                reason = self._refuse_relation(key[:3], slot)
            else:
                reason = self._refuse_claim(*key[1:]) if key[0] == "claim" else self._refuse_body(key[1])
            if reason:
                self.reasons.add((tuple((slot.record if slot else claims[key])["id"]), reason))
            if reason and slot is not None:
                self.breaks_body.add(tuple(slot.record["id"]))
            elif slot is not None:
                self._taken.append((key[:3], slot))

    def _refuse_body(self, body: str) -> str:
        if self.on.setdefault(body, body) != body:
            return "on_other_body"
        self.bodies.add(body)
        return ""

    def _refuse_claim(self, body: str, frame: str) -> str:
        if self.on.get(frame, body) != body or (body not in self.bodies and body in self.on):
            return "on_other_body"
        if body not in self.bodies:
            return "no_body"
        within = {f for f, b in self.on.items() if b == body} | {frame}
        fixed: dict[tuple[str, ...], Record] = {}
        for track, slot in self._taken:
            if not {track[1], slot.parent} <= within:
                continue
            if slot.kind != "fixed":
                return "moves_in_body"
            if slot.record["recalibrate"]:
                continue
            first = fixed.setdefault((*track, slot.parent), slot.record["value"]["fixed"])
            if not is_same_pose(first, slot.record["value"]["fixed"]):
                return "moves_in_body"
        self.on[frame] = body
        return ""

    def _refuse_relation(self, track: Track, slot: Slot) -> str:
        body = self.on.get(track[1])
        if body is None or self.on.get(slot.parent) != body:
            return ""
        if slot.kind != "fixed":
            return "constant_in_body"
        if slot.record["recalibrate"]:
            return ""
        for other_track, other in self._taken:
            if other_track[:2] == track[:2] and other.kind == "fixed" and self.on.get(other.parent) == body:
                poses = slot.record["value"]["fixed"], other.record["value"]["fixed"]
                if other.parent != slot.parent or not is_same_pose(*poses):
                    return "constant_in_body"
        return ""

    # -- S5: tracks

    def _count_rows(self, samples: Sequence[Record]) -> None:
        """Rows that count, by track and by (node, incarnation)."""
        self.rows: dict[Any, list[Record]] = defaultdict(list)
        for row in samples:
            if tuple(row["epoch"] or ()) != self.epoch:
                continue
            if "node" in row:
                node, incarnation = row["node"], tuple(row["incarnation"])
                track = ("pose", self.frame(node, incarnation), "") if incarnation in self.heads[node] else None
                if track is not None and not self._is_forgotten(row, track, None):
                    self.rows[node, incarnation].append(row)
            else:
                track = tuple(row["track"])
                if self._is_known(track, row) and not self._is_forgotten(row, track, row["in_frame"]):
                    self.rows[track].append(row)

    def _is_known(self, track: Track, row: Record) -> bool:
        barriers = [self.always.get(track), self.removed.get(track[1]), self.removed.get(row["in_frame"])]
        if any(r is not None and r["time"] > row["base"] for r in barriers):
            return False
        return any(s.kind == "sampled" and s.parent == row["in_frame"] for s in self._active_slots(track))

    def _is_forgotten(self, row: Record, track: Track, in_frame: str | None) -> bool:
        """Whether a newer Forget takes a row back; rows of nodes are in no frame, and of no source."""
        kind, of, source = track
        return any(
            r["of"] == of
            and r["track_kind"] in (None, kind)
            and r["in_frame"] in (None, in_frame)
            and (in_frame is None or r["source"] in (None, source))
            and instant(r["start"]) <= row["stamp"] < instant(r["end"], NEVER)
            and r["time"] > row["base"]
            and epoch_of(r) == self.epoch
            for r in self._of_type("forget")
        )

    def _active_slots(self, track: Track) -> list[Slot]:
        """Slots of a track that no body rule makes inactive."""
        return [s for s in self.tracks.get(track, []) if tuple(s.record["id"]) not in self.breaks_body]

    def _events(self, track: Track) -> list[Event]:
        """What begins when: slots, and samples whose instants no slot states; at one instant slots first.

        One that breaks a body is among them: as where a cycle is cut, what its source said before has ended (rule 6).
        """
        slots = self.tracks.get(track, [])
        stated = {s.since for s in slots if s.kind != "sampled"}
        rows: dict[int, Record] = {}
        for row in sorted(self.rows[track], key=lambda r: (r["rewrites"], r["author"])):
            if row["stamp"] not in stated:
                rows[row["stamp"]] = row
        found: list[Event] = [(s.since, 0, s.parent, s) for s in slots if s.is_boundary]
        found += [(stamp, 1, row["in_frame"], None) for stamp, row in rows.items()]
        events: list[Event] = []
        for event in sorted(found, key=lambda e: e[:2]):
            if not events or not _waits_beside(event[3], events[-1][3]):
                events.append(event)
        return events

    def _asserted(self, track: Track, t: int) -> Piece | None:
        slots, events = self._active_slots(track), self._events(track)
        before = [i for i, event in enumerate(events) if event[0] <= t]
        if not before:
            return None
        first = last = before[-1]
        _, _, parent, slot = events[first]
        if slot is not None and (slot.kind == "ended" or tuple(slot.record["id"]) in self.breaks_body):
            return None
        if slot is not None and slot.kind != "sampled":
            is_pending = slot.kind == "driven" and self._why_pending(slot.record["value"]["driven"]["form"]) != ""
            return Piece(parent, slot.kind, slot.record, slot.record["rank"], not is_pending)

        def is_of_run(i: int) -> bool:
            return (
                0 <= i < len(events)
                and events[i][2] == parent
                and (events[i][3] is None or events[i][3].kind == "sampled")
            )

        while is_of_run(first - 1):
            first -= 1
        while is_of_run(last + 1):
            last += 1
        stamps = [event[0] for event in events[first : last + 1] if event[3] is None]
        holds = bool(stamps) and stamps[0] <= t <= stamps[-1]
        record = min((s.record for s in slots if s.kind == "sampled" and s.parent == parent), key=strength)
        return Piece(parent, "sampled", record, record["rank"], holds, newest=stamps[-1] if stamps else None)

    # -- S3: relations of nodes

    def _base(self, t: int) -> dict[Track, Piece]:
        now = self.containment(t, for_places=True)
        pieces: dict[Track, Piece] = {}
        placed: set[str] = set()
        for e in now.taken:  # the strongest first
            if e.node not in now.alive or e.parent not in now.alive or e.node in self.stand_ins:
                continue
            head = self.head(e.node, e.incarnation)
            is_transform = head["kind"] in TRANSFORMS
            is_main = is_transform and e.node not in placed
            placed.add(e.node)
            source = head["placement"]["source"] if is_main else f"in:{e.parent}"
            track = ("pose", self.frame(e.node, e.incarnation), source)
            piece = self._piece_of_edge(e, head, is_transform, t)
            pieces.setdefault(track, piece)
        return pieces

    def _piece_of_edge(self, e: Edge, head: Record, is_transform: bool, t: int) -> Piece:
        parent = self.frame(e.parent, e.parent_incarnation)
        if not is_transform:
            return Piece(parent, "identity", e.record, e.given["rank"], True, is_base=True)
        created = self.created_at(e.node, e.incarnation)
        start = ALWAYS if e.start <= created else e.start
        stamps = [r["stamp"] for r in self.rows[e.node, e.incarnation] if start <= r["stamp"] < e.until]
        has_own_pose = e.given["pose"] is not None
        rank = e.given["rank"] if stamps or has_own_pose else "fallback"
        if head["placement"]["is_fixed"]:
            return Piece(parent, "node", e.record, rank, True, is_base=True)
        stamps.append(e.start if has_own_pose else max(created, start))
        holds = min(stamps) <= t <= max(stamps)
        return Piece(parent, "node", e.record, rank, holds, is_base=True, newest=max(stamps))

    def pieces(self, t: int) -> dict[Track, Piece]:
        """What each track says at an instant, cycles left aside. What others say of a node's frame needs the node."""
        found = self._base(t)
        now = self.containment(t, for_places=True)
        own = defaultdict(set)
        for node in self.heads:
            for incarnation in self.heads[node]:
                if node not in self.stand_ins:
                    own[self.frame(node, incarnation)].add(node)
        own.pop(self.root_frame, None)
        here = {self.frame(n, now.incarnations[n]) for n in now.alive - {ROOT}}
        for track in {*self.tracks, *(k for k in self.rows if len(k) == 3)}:
            piece = self._asserted(track, t)
            if piece is not None and (track[1] not in own or track[1] in here):
                found[track] = piece
        return found

    # -- S6: cycles

    def active(self, t: int) -> tuple[dict[Track, Piece], dict[Track, Piece]]:
        """Pieces that are in force, and those that would close a cycle at this instant."""
        pieces = self.pieces(t)
        contenders = [(track, p) for track, p in pieces.items() if p.holds and track[0] == "pose"]
        contenders.sort(key=lambda c: (not c[1].is_base, strength(c[1].record), c[0]))
        _, skipped = greedy(contenders, lambda c: (c[0][1], c[1].parent))
        cut = dict(skipped)
        return {track: p for track, p in pieces.items() if track not in cut}, cut

    # -- S7 and S8: preferences and variables

    def preference(self, subject: dict[str, str], t: int) -> str | None:
        """The preferred source at an instant: that of the newest preference which covers it."""
        written = [r for r in self._of_type("prefer") if r["subject"] == subject]
        last = [r for r in written if epoch_of(r) != self.epoch and r["end"] is None]
        covering = [
            r for r in written if epoch_of(r) == self.epoch and instant(r["start"]) <= t < instant(r["end"], NEVER)
        ]
        covering += sorted(last, key=lambda r: (epoch_of(r), newness(r)))[-1:]
        return max(covering, key=newness)["source"] if covering else None

    def chosen(self, t: int, rival_timeout: int = 10**9) -> dict[str, list[tuple[str, Piece]]]:
        """By frame the sources that place it at an instant, after preferences and ranks: several contest it."""
        pieces: dict[str, dict[str, Piece]] = defaultdict(dict)
        for (kind, of, source), piece in self.active(t)[0].items():
            if kind == "pose":
                pieces[of][source] = piece
        return {of: _choice(by, self.preference({"frame": of}, t), t, rival_timeout) for of, by in pieces.items()}

    def _report_pending(self) -> None:
        for slots in self.tracks.values():
            for slot in slots:
                if slot.kind == "driven" and (reason := self._why_pending(slot.record["value"]["driven"]["form"])):
                    self.reasons.add((tuple(slot.record["id"]), reason))

    def _why_pending(self, form: Record) -> str:
        names = [*form["positions"], *form["velocities"]]
        if not set(names) <= set(self.variables):
            return "awaits_variable"
        first = {"ball": 0, "floating": 3}.get(form["joint"]["kind"], len(names)) if "joint" in form else len(names)
        kinds = [self.variables[name] for name in form["positions"]]
        fits = all(kind != "velocity" and (i >= first) == (kind == "unit_quaternion") for i, kind in enumerate(kinds))
        if "joint" not in form:
            fits = "velocity" not in kinds
        return "" if fits else "kind_mismatch"

    # -- Everything that can be asked

    @property
    def frames(self) -> set[str]:
        """Names of the frames that exist: those that a live record names, and those of remembered nodes."""
        alive = {(n, c.incarnations[n]) for c in self._alive_at.values() for n in c.alive if n not in self.stand_ins}
        now = self._alive_at[PRESENT]
        alive |= {(n, now.incarnations[n]) for n in now.alive & self.stand_ins}
        for c in self._alive_at.values():  # where something was placed in it, its frame is remembered with that
            alive |= {(e.parent, e.parent_incarnation) for e in c.taken if {e.node, e.parent} <= c.alive}
        own = {self.frame(*one) for one in alive}
        return self.named | own

    def inactive(self, t: int) -> set[tuple[Id, str]]:
        """Records that do not take effect, with the reason; a cycle counts at this instant alone."""
        rows = set(self.reasons)
        for written in self.asserts.values():
            rows |= {(tuple(r["id"]), "parent_removed") for r in written.values() if self._is_severed(r)}
        rows |= {(e.id, "parent_removed") for e in self.severed_edges}
        rows |= {(tuple(p.record["id"]), "cycle") for p in self.active(t)[1].values()}
        now = self.containment(t)
        rows |= {(e.id, "cycle") for e in now.skipped} | {(e.id, "unreachable") for e in now.unreachable}
        for r in self.live:
            is_of_node = r["type"] in ("add_edge", "set_attributes")
            if is_of_node and r["node"] != ROOT and tuple(r["incarnation"]) not in self.heads.get(r["node"], {}):
                rows.add((tuple(r["id"]), "unknown_node"))
        return {row for row in rows if row[0] in self.needed()}

    def moves_with(self) -> dict[str, frozenset[str]]:
        """Frames that never move relative to one another: those of a declared body, and those fixed for always."""
        groups: dict[str, frozenset[str]] = {}

        def join(a: str, b: str) -> None:
            union = groups.get(a, frozenset({a})) | groups.get(b, frozenset({b}))
            groups.update(dict.fromkeys(union, union))

        for frame, body in self.on.items():
            join(frame, body)
        seen = [self.active(t)[0] for t in self.change_points()]
        for track in seen[0]:
            pieces = [active.get(track) for active in seen]
            constant = [p for p in pieces if p is not None and p.holds and p.provider in ("fixed", "identity", "node")]
            is_one = len(constant) == len(seen) and len({p.key[:3] for p in constant}) == 1
            if is_one and track[0] == "pose":
                join(track[1], constant[0].parent)
        return groups

    def change_points(self) -> list[int]:
        """All instants at which something may begin or end, and their neighbours."""
        stamps = {ALWAYS + 1, PRESENT - 1}
        for r in self.held.values():
            stamps |= {v for v in (r["at"], r.get("since"), r.get("start"), r.get("end")) if v is not None}
        stamps |= {row["stamp"] for rows in self.rows.values() for row in rows}
        return sorted({s + d for s in stamps for d in (-1, 0, 1)})

    @cache  # noqa: B019  a resolution lives as long as a test
    def needed(self) -> set[Id]:
        """Ids of the records that no other one makes superfluous: what a compacted log keeps."""
        keep = {tuple(r["id"]) for r in self.removed.values()} | {tuple(r["id"]) for r, _ in self.slot.values()}
        keep |= {tuple(r["id"]) for written in self.asserts.values() for r in written.values()}
        always_kept = ("reset_time", "add_node", "add_edge", "remove_edges")
        keep |= {tuple(r["id"]) for r in self.live if r["type"] in always_kept}
        steps = [(r, key) for r in self._of_type("set_attributes") for key, _ in r["settings"]]
        every = steps + [(r, key) for r in self._of_type("add_node") for key, _ in r["settings"]]
        keep |= {tuple(r["id"]) for r, key in steps if not any(_hides_step(other, r) for other, k in every if k == key)}
        prefers = self._of_type("prefer")
        keep |= {tuple(r["id"]) for r in prefers if not _is_covered(r, prefers)}
        forgets = self._of_type("forget")
        keep |= {tuple(r["id"]) for r in forgets if not any(_forgets_no_less(other, r) for other in forgets)}
        return keep


def _is_newest_of_instant(key: tuple[Any, ...], written: dict[tuple[Any, ...], Record]) -> bool:
    """Whether no newer write of the same track is of the same epoch and instant."""
    return all(newness(r) <= newness(written[key]) for other, r in written.items() if other[:2] == key[:2])


def _choice(by: dict[str, Piece], preferred: str | None, t: int, rival_timeout: int) -> list[tuple[str, Piece]]:
    """Rule 8: the preferred source while it is open; else the open ones of the highest rank; else who spoke last."""

    def is_open(piece: Piece) -> bool:
        is_sampled = piece.provider in ("sampled", "node") and not piece.record.get("placement", {}).get("is_fixed")
        return not is_sampled or (piece.newest is not None and t <= piece.newest + rival_timeout)

    rivals = {source: piece for source, piece in by.items() if is_open(piece)}
    if preferred in rivals:
        return [(preferred, rivals[preferred])]
    is_put = any(piece.rank == "fallback" for piece in rivals.values())
    said = {piece.parent for piece in rivals.values() if piece.provider != "identity"}  # where in it, not only that
    rivals = {s: p for s, p in rivals.items() if p.provider != "identity" or not (is_put or p.parent in said)}
    stated = [(source, piece) for source, piece in rivals.items() if piece.rank == "statement"]
    plain = [(source, piece) for source, piece in rivals.items() if piece.rank == "plain"]
    return stated or plain or list((rivals or by).items())


def _waits_beside(slot: Slot | None, before: Slot | None) -> bool:
    """Whether samples are announced for a parent in which the frame is fixed: rule 8, that does not end it."""
    if slot is None or before is None or slot.kind != "sampled":
        return False
    return before.kind in ("fixed", "driven") and before.parent == slot.parent and before.since < slot.since


def _hides_step(newer: Record, step: Record) -> bool:
    is_of_one = all(newer[name] == step[name] for name in ("node", "incarnation", "epoch"))
    return is_of_one and newness(newer) > newness(step) and instant(newer["at"]) <= instant(step["at"])


def _forgets_no_less(newer: Record, other: Record) -> bool:
    is_newer = newness(newer) > newness(other) and newer["epoch"] == other["epoch"] and newer["of"] == other["of"]
    about = all(newer[name] in (None, other[name]) for name in ("track_kind", "in_frame", "source"))
    within = instant(newer["start"]) <= instant(other["start"])
    return is_newer and about and within and instant(other["end"], NEVER) <= instant(newer["end"], NEVER)


def _is_covered(record: Record, others: list[Record]) -> bool:
    """Whether newer preferences of the same epoch cover all of the interval of this one."""
    reached, end = instant(record["start"]), instant(record["end"], NEVER)
    rivals = [r for r in others if newness(r) > newness(record) and r["epoch"] == record["epoch"]]
    rivals = [r for r in rivals if r["subject"] == record["subject"]]
    for r in sorted(rivals, key=lambda r: instant(r["start"])):
        if instant(r["start"]) <= reached:
            reached = max(reached, instant(r["end"], NEVER))
    return reached >= end
