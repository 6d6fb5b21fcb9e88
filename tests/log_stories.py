"""Random change logs: several authors with wrong clocks who sign changes of all types, and hear of one another late.

A story is a list of steps of plain numbers, so that a failing one shrinks to the few that matter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st

from log_records import ENDED, NO_INCARNATION, ROOT, Author, Record, driven, fixed, node_id, sampled
from resolver_reference import DETACHED, newness, sampled_in

if TYPE_CHECKING:
    from collections.abc import Callable

NODES = [node_id(number) for number in range(1, 6)]
REMOTE = [node_id(number) for number in (6, 7)]
FRAMES = ["map", "a", "b", "c", "cup"]  # "map" is never declared; of frames of nodes replicas tell: replica_frames.py
SOURCES = ["robot", "camera", "lidar"]
BODIES, VARIABLES, KEYS = ["a", "gun"], ["hinge", "slide", "spin"], ["name", "mass"]
KINDS = ["group", "transform", "group", "transform", "uncertain_transform"]
GRID = 8  # stamps, so that equal ones are common

WEIGHTS = {
    "node": 20,
    "frame_node": 4,
    "remote_root": 5,
    "edge": 9,
    "remove": 9,
    "attributes": 8,
    "fix": 14,
    "assert": 10,
    "take_back": 5,
    "twist": 3,
    "row": 20,
    "node_row": 4,
    "body": 7,
    "prefer": 5,
    "variables": 4,
    "declare": 2,
    "remove_frame": 3,
    "forget": 2,
    "reset": 1,
    "tick": 8,
    "hear": 12,
}
some = st.integers(0, 11)
steps = st.tuples(
    st.sampled_from([name for name, weight in WEIGHTS.items() for _ in range(weight)]), some, some, some, some
)
stories = st.lists(steps, min_size=1, max_size=40)


class Story:
    """The records and samples that a list of steps leads to."""

    def __init__(self, told: list[tuple[str, int, int, int, int]]) -> None:
        self.authors = [Author(n + 1, authority=n % 2, clock=1000 + 5 * n) for n in range(3)]
        self.held: list[list[Record]] = [[] for _ in self.authors]
        self.records: list[Record] = []
        self.rows: list[Record] = []
        for step, chosen, a, b, c in told:
            act: Callable[..., Record | None] = getattr(self, f"do_{step}")
            who = chosen % len(self.authors)
            record = act(who, a, b, c)
            if record is not None:
                self.records.append(record)
                self.held[who].append(record)

    # -- What an author knows

    def _known(self, who: int, *types: str) -> list[Record]:
        return [r for r in self.held[who] if r["type"] in types]

    def _node(self, who: int, choice: int) -> Record | None:
        """The newest incarnation of a node that the author holds."""
        heads = self._known(who, "add_node")
        ids = sorted({r["node"] for r in heads})
        if not ids:
            return None
        chosen = ids[choice % len(ids)]
        return max((r for r in heads if r["node"] == chosen), key=lambda r: r["incarnation"])

    def _parent(self, who: int, choice: int) -> tuple[str, list]:
        parent = self._node(who, choice // 2) if choice % 3 else None
        return (parent["node"], parent["incarnation"]) if parent else (ROOT, NO_INCARNATION)

    def _at(self, choice: int) -> int | None:
        return None if choice == 11 else choice % GRID

    # -- Nodes

    def _node_step(self, who: int, node: str, kind: str, choice: int, at: int, **options) -> Record | None:
        parent, incarnation = self._parent(who, choice)
        if parent == node:
            return None
        options["settings"] = [[KEYS[choice % 2], choice % 3]] if choice % 2 else []
        return self.authors[who].adds(node, parent, self._at(at), kind=kind, parent_incarnation=incarnation, **options)

    def do_node(self, who: int, a: int, b: int, c: int) -> Record | None:
        node = NODES[a % len(NODES)]
        is_fixed = {"is_fixed": b % 2 == 0 or b == 11}  # what may move is added at an instant
        return self._node_step(who, node, KINDS[b % len(KINDS)], c, b, **is_fixed)

    def do_frame_node(self, who: int, a: int, b: int, c: int) -> Record:
        frame = FRAMES[1 + a % 3]
        barriers = [r for r in self._known(who, "remove_frames") if frame in r["names"]]
        return self.authors[who].adds_stand_in(frame, max(barriers, key=newness, default=None), self._at(b))

    def do_remote_root(self, who: int, a: int, b: int, c: int) -> Record:
        node = REMOTE[a % len(REMOTE)]
        known = [r["incarnation"][0] for r in self._known(who, "add_node") if r["node"] == node]
        generation = max(known, default=1) + (c % 4 == 0)
        options = {"incarnation": [generation, 0, 0, "0" * 16, 0], "settings": [[KEYS[0], b % 3]]}
        return self.authors[who].adds(node, DETACHED, b % GRID, kind=KINDS[c % 2], **options)

    def do_edge(self, who: int, a: int, b: int, c: int) -> Record | None:
        child, (parent, incarnation) = self._node(who, a), self._parent(who, b)
        if child is None or child["node"] == parent:
            return None
        return self.authors[who].adds_edge(child, parent, self._at(c), parent_incarnation=incarnation)

    def do_remove(self, who: int, a: int, b: int, c: int) -> Record | None:
        node = self._node(who, a)
        if node is None:
            return None
        edges = [r for r in self._known(who, "add_node", "add_edge") if r["incarnation"] == node["incarnation"]]
        edges = [r for r in edges if r["node"] == node["node"]]
        chosen = edges if b % 2 else edges[-1:]
        return self.authors[who].removes(node, *chosen, at=self._at(c % GRID)) if chosen else None

    def do_attributes(self, who: int, a: int, b: int, c: int) -> Record | None:
        node = self._node(who, a)
        settings = {KEYS[b % 2]: None if b % 5 == 0 else b % 3}
        return self.authors[who].sets(node, self._at(c), **settings) if node else None

    # -- Frames

    def _pair(self, a: int, b: int) -> tuple[str, str]:
        of = FRAMES[1 + a % (len(FRAMES) - 1)] if a != 11 else "map"
        return of, next(f for f in FRAMES[b % len(FRAMES) :] + FRAMES if f != of)

    def do_fix(self, who: int, a: int, b: int, c: int) -> Record:
        of, parent = self._pair(a, b)
        since = None if c % 4 == 0 else c % GRID
        options = {"source": SOURCES[a % 3], "recalibrate": c == 5, "rank": ("plain", "statement")[b % 2]}
        return self.authors[who].says(of, fixed(parent, float(c % 2)), since, **options)

    def do_assert(self, who: int, a: int, b: int, c: int) -> Record:
        of, parent = self._pair(a, b)
        values = [sampled(parent), sampled(parent), ENDED, driven(parent, VARIABLES[b % 3])]
        return self.authors[who].says(of, values[c % 4], b % GRID, source=SOURCES[a % 2])

    def do_take_back(self, who: int, a: int, b: int, c: int) -> Record | None:
        known = self._known(who, "assert")
        if not known:
            return None
        meant = known[a % len(known)]
        (kind, of, source), parent = meant["track"], sampled_in(meant)
        value = {"empty": {"sampled_in": parent}} if parent and b % 3 else None
        return self.authors[who].says(of, value, meant["since"], kind=kind, source=source)

    def do_twist(self, who: int, a: int, b: int, c: int) -> Record:
        of, parent = self._pair(a, b)
        return self.authors[who].says(of, sampled(parent), c % GRID, kind="twist", source=SOURCES[0])

    def do_body(self, who: int, a: int, b: int, c: int) -> Record:
        frames = [FRAMES[1 + (b + i) % 4] for i in range(c % 3)]
        return self.authors[who].sign("set_body", body=BODIES[a % 2], frames=frames, present=c % 4 != 3)

    def do_prefer(self, who: int, a: int, b: int, c: int) -> Record:
        start, end = (None if b > GRID else b % GRID), (None if c > GRID else GRID + c % GRID)
        return self.authors[who].prefers(FRAMES[1 + a % 2], SOURCES[b % 3] if c % 4 else None, start, end)

    def do_variables(self, who: int, a: int, b: int, c: int) -> Record:
        kind = ("linear", "velocity", None, "wrap")[b % 4]
        return self.authors[who].sign("set_variables", variables=[[VARIABLES[a % 3], kind]])

    def do_declare(self, who: int, a: int, b: int, c: int) -> Record:
        return self.authors[who].sign("set_frames", names=[FRAMES[1 + a % 4]], present=b % 3 != 0)

    def do_remove_frame(self, who: int, a: int, b: int, c: int) -> Record:
        names = [FRAMES[a % len(FRAMES)], *([FRAMES[b % len(FRAMES)]] if c % 3 == 0 else [])]
        return self.authors[who].sign("remove_frames", names=names)

    def do_forget(self, who: int, a: int, b: int, c: int) -> Record:
        start, end = (None if b > GRID else b % GRID), (None if c > GRID else GRID + c)
        source, kind = SOURCES[b % 2] if c % 2 else None, (None, None, "pose", "twist")[c % 4]
        parent = FRAMES[(a + b) % len(FRAMES)] if b % 4 == 1 else None
        fields = {"track_kind": kind, "in_frame": parent, "source": source, "start": start, "end": end}
        return self.authors[who].sign("forget", of=FRAMES[a % len(FRAMES)], **fields)

    def do_reset(self, who: int, a: int, b: int, c: int) -> Record:
        return self.authors[who].sign("reset_time", clock=None if a % 2 else b)

    # -- Samples, clocks, messages

    def do_row(self, who: int, a: int, b: int, c: int) -> None:
        relations = [r for r in self._known(who, "assert") if r["value"] and "sampled" in r["value"]]
        if relations:
            kind, of, source = relations[a % len(relations)]["track"]
            parent = relations[b % len(relations) if b % 3 == 0 else a % len(relations)]["value"]["sampled"]["in_frame"]
            if parent != of:
                row = self.authors[who].row(of, parent, c % GRID, source=source, kind=kind)
                names = ("track", "stamp", "author")
                row["rewrites"] = sum(all(r.get(n) == row[n] for n in names) for r in self.rows)
                self.rows.append(row)

    def do_node_row(self, who: int, a: int, b: int, c: int) -> None:
        node = self._node(who, a)
        if node and node["placement"]:
            self.rows.append(self.authors[who].node_row(node, c % GRID))

    def do_tick(self, who: int, a: int, b: int, c: int) -> None:
        self.authors[who].clock += a

    def do_hear(self, who: int, a: int, b: int, c: int) -> None:
        other = self.held[(who + 1 + a % 2) % len(self.held)]
        for record in other[b % 3 : len(other) - c % 3]:
            if record not in self.held[who]:
                self.held[who].append(record)
                self.authors[who].hear(record)
