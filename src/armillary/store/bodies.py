"""The structural rules of bodies in a store: those of a RelationGraph, at every instant."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from armillary.errors import FrameNameTaken, InvalidArgument
from armillary.relations.rules import TwistEdge, raise_if_violated
from armillary.stamps import LATEST, Latest
from armillary.store import limits
from armillary.store.names import declare_name, frame_name
from armillary.transforms import check_name

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence

    from armillary._core import NodeId
    from armillary.relations.rules import Violation
    from armillary.store.store import Store

__all__ = ["check_body", "check_new_pose", "check_new_twist", "check_on_body", "listed_frames"]


def listed_frames(frames: Iterable[str | NodeId]) -> list[str | NodeId]:
    """Return the frames of a body as a list; refuse a single text."""
    if isinstance(frames, str):
        raise InvalidArgument(f"frames must be a list of names, got {frames!r}. Pass frames=[{frames!r}].", frames)
    try:
        return list(frames)
    except TypeError:
        raise InvalidArgument(f"frames must be a list of names, got {frames!r}.", frames) from None


def check_body(store: Store, name: object, frames: Sequence[str | NodeId]) -> tuple[str, list[str]]:
    """Return the stored names of a body and of frames that may be on it, or raise `ConstraintViolation`."""
    from armillary.relations import rules  # noqa: PLC0415  (bodies are seldom declared)

    stored, members = check_name(name), [frame_name(store, frame) for frame in frames]
    if (node := store.node_of_frame(stored)) is not None and stored != str(node):
        raise FrameNameTaken(stored, node)
    declared = store.bodies()
    hint = "Take back those that are gone with world.remove_body."
    limits.check_limit(len(declared) + (stored not in declared), limits.MOST_BODIES, "bodies", hint)
    together = {*members, *store.frames_of(stored), *([stored] if store.has_frame(stored) else [])}
    asked = f"put {', '.join(sorted(together))} on one body '{stored}'"
    hint = f"Leave one of them out of '{stored}', or set the twist with another source=."
    for at in _instants_from(store, None):
        structure = SelectedStructure(store, at)
        adopted = [frame for frame in together if structure.body_of(frame) in {frame, stored}]
        raise_if_violated(rules.one_body(structure, stored, adopted), "add_body", asked)
        for motions in _motions_by_source(store, at):
            found = rules.one_twist_path_as_one_body(motions, stored, adopted)
            raise_if_violated(_by_one_source(found, hint), "add_body", asked)
    return stored, [declare_name(store, frame) for frame in members]


def check_on_body(store: Store, name: object, frames: list[str]) -> tuple[str, list[str]]:
    """Return the stored names of a body that was declared, and of frames that are on it."""
    stored, members = check_name(name), [check_name(frame) for frame in frames]
    if stored not in store.bodies():
        declared = ", ".join(f"'{body}'" for body in store.bodies()) or "none"
        raise InvalidArgument(f"No body named '{stored}' was declared. Declared: {declared}.", stored)
    for frame in members:
        if frame not in store.frames_of(stored):
            on_it = ", ".join(f"'{one}'" for one in store.frames_of(stored)) or "none"
            raise InvalidArgument(f"Frame '{frame}' is not on the body '{stored}'. Frames on it: {on_it}.", frame)
    return stored, members


def check_new_pose(store: Store, of: str, in_frame: str, source: str, start: int | None) -> None:
    """Refuse a pose relation that reaches a body twice, or joins two motions that one source measures.

    The bindings call it once there are bodies or twists, for a relation that is open from `start` on.
    """
    from armillary.relations import rules  # noqa: PLC0415

    of, in_frame = store.frame_label(of), store.frame_label(in_frame)
    asked = f"place '{of}' in '{in_frame}'"
    is_within = store.body_name(of) == store.body_name(in_frame) != ""
    end = _moved_away_at(store, of, in_frame, source, start)
    for at in _instants_from(store, start):
        if end is not None and (isinstance(at, Latest) or at >= end):
            return
        structure = SelectedStructure(store, at, loose=of)
        if not is_within or structure.root_of(of) != structure.root_of(in_frame):
            raise_if_violated(rules.one_pose_path(structure, of, in_frame), "set_pose", asked)
        for motions in _motions_by_source(store, at, loose=of):
            found = rules.one_twist_path_when_joined(motions, of, in_frame)
            raise_if_violated(_by_one_source(found, "Set one of these twists with another source="), "set_pose", asked)


def check_new_twist(store: Store, of: str, relative_to: str, source: str, start: int) -> None:
    """Refuse a relation by which a source measures a motion twice. The caller holds `store.pending.lock`."""
    body = store.body_name(relative_to) or relative_to
    if (of, relative_to, source) in store.pending.edges() or body == (store.body_name(of) or of):
        return  # checked when it became pending; and the core refuses what moves relative to itself
    others = {(head, tail): since for (head, tail, who), since in _twist_edges(store).items() if who == source}
    later = _end_of_reference(store, of, source, start, others)
    if not others or (of, body) in others:
        return
    from armillary.relations import rules  # noqa: PLC0415

    hint = "Set it with another source=, as a rival, or remove_frame() the conflicting frame, with its past."
    for at in _instants_from(store, start, *(since for since in others.values() if since is not None)):
        if later is not None and (isinstance(at, Latest) or at >= later):
            return
        twists = [TwistEdge(*edge) for edge, since in sorted(others.items(), key=_edge) if _is_open(since, at)]
        found = rules.one_twist_path(SourceTwists(store, at, twists), of, body)
        raise_if_violated(_by_one_source(found, hint), "set_twist", f"set how '{of}' moves relative to '{relative_to}'")


def _end_of_reference(
    store: Store, of: str, source: str, start: int, others: dict[tuple[str, str], int | None]
) -> int | None:
    """Take out the twists of a frame that ended before `start`; return when it is measured relative to another next.

    A source may measure a frame relative to one body after the other: one at every instant.
    """
    later = None
    for head, tail, who, kind, _, first, last, *_ in store.relation_rows():
        if (head, who, kind) != (of, source, "twist") or first is None or last is None:
            continue
        if last < start:
            others.pop((head, tail), None)
        elif first > start:
            others.pop((head, tail), None)
            later = first if later is None else min(later, first)
    return later


def _moved_away_at(store: Store, of: str, in_frame: str, source: str, start: int | None) -> int | None:
    """Return when the source places the frame elsewhere, after `start`."""
    moves = (
        first
        for head, tail, who, kind, _, first, *_ in store.relation_rows()
        if (head, who) == (of, source) and tail != in_frame and kind != "twist" and first is not None
    )
    return min((first for first in moves if start is not None and first > start), default=None)


def _twist_edges(store: Store) -> dict[tuple[str, str, str], int | None]:
    """Return the relations of twists, pending ones included: (of, body, source) to the first stamp."""
    stored = {
        (of, body, source): first for of, body, source, kind, _, first, *_ in store.relation_rows() if kind == "twist"
    }
    waiting = {(of, store.body_name(still) or still, source): None for of, still, source in store.pending.edges()}
    return waiting | stored


def _motions_by_source(store: Store, at: int | Latest, loose: str | None = None) -> Iterator[SourceTwists]:
    """Yield the twists of each source at one instant: each is there from its first sample on."""
    by_source: dict[str, list[TwistEdge]] = {}
    for (of, body, source), since in sorted(_twist_edges(store).items(), key=_edge):
        if _is_open(since, at):
            by_source.setdefault(source, []).append(TwistEdge(of, body))
    for source in sorted(by_source):
        yield SourceTwists(store, at, by_source[source], loose)


def _edge(item: tuple[tuple[str, ...], int | None]) -> tuple[str, ...]:
    return item[0]


def _is_open(since: int | None, at: int | Latest) -> bool:
    return since is None or isinstance(at, Latest) or since <= at


class SelectedStructure:
    """The parents of all frames at one instant, by the preferred sources. `SourceTwists` adds twists.

    Implements `armillary.relations.rules.Structure`.
    """

    def __init__(self, store: Store, at: int | Latest, loose: str | None = None) -> None:
        """Read the parents; `loose`, which is about to be placed anew, gets none."""
        parents = store.parents(at)
        self._parents = {name: None if parent is None else parent[0] for name, parent in parents.items()}
        self._store = store
        if loose is not None:
            self._parents[loose] = None

    def is_body(self, name: str) -> bool:
        """Whether a body was declared by this name."""
        return name in self._store.bodies()

    def body_of(self, frame: str) -> str | None:
        """The body of a frame: its own, until it is declared on another."""
        return self._store.body_name(frame) or frame

    def frames_of(self, body: str) -> Collection[str]:
        """The frames on a body."""
        return self._store.frames_of(body)

    def pose_parent(self, frame: str) -> str | None:
        """The parent of a frame; None for a root, for a contested frame, and for a new one."""
        return self._parents.get(frame)

    def root_of(self, frame: str) -> str:
        """The topmost frame; where frames that do not cover the same instant form a cycle, any of them."""
        passed = {frame}
        while (parent := self.pose_parent(frame)) is not None and parent not in passed:
            passed.add(parent)
            frame = parent
        return frame

    def bodies_in(self, root: str) -> Collection[str]:
        """The declared bodies in a tree: no other can be in two trees."""
        return [body for body in self._store.bodies() if root in map(self.root_of, self.frames_of(body))]

    def twists_in(self, root: str) -> Collection[TwistEdge]:  # noqa: ARG002
        """No twists: preferences do not select them."""
        return ()

    def twist_parent(self, frame: str) -> str | None:  # noqa: ARG002
        """None: there are no twists."""
        return None

    def twist_group(self, root: str, body: str) -> Hashable:  # noqa: ARG002
        """The body itself: without twists, each is a group of its own."""
        return body


class SourceTwists(SelectedStructure):
    """The twists that one source measures, in the trees of poses of the preferred sources at one instant.

    Implements `armillary.relations.rules.Structure`.
    """

    def __init__(self, store: Store, at: int | Latest, twists: Sequence[TwistEdge], loose: str | None = None) -> None:
        """Read the parents; `twists` are relative to bodies."""
        super().__init__(store, at, loose)
        self._twists = twists

    def twists_in(self, root: str) -> Collection[TwistEdge]:
        """The twists of this source whose frame is in the tree."""
        return [twist for twist in self._twists if self.root_of(twist.of) == root]

    def twist_parent(self, frame: str) -> str | None:
        """The body that this source measures the frame relative to."""
        return next((twist.relative_to for twist in self._twists if twist.of == frame), None)

    def twist_group(self, root: str, body: str) -> Hashable:
        """The first by name of the bodies that twists connect with this one."""
        links = [{self.body_of(twist.of) or "", twist.relative_to} for twist in self.twists_in(root)]
        group, size = {body}, 0
        while len(group) > size:
            size = len(group)
            group = group.union(*(link for link in links if link & group))
        return min(group)


def _instants_from(store: Store, start: int | None, *others: int) -> Iterator[int | Latest]:
    """Yield each instant from `start` on at which structure may differ: moves of frames, `others`, the newest."""
    moves = set(store.moves_after(start)) | {at for at in others if start is None or at > start}
    yield from () if start is None else (start,)
    yield from sorted(moves)
    yield LATEST


def _by_one_source(violation: Violation | None, hint: str) -> Violation | None:
    """Return a violation with its text for a store, where another source may assert the same."""
    if violation is None:
        return None
    reason = violation.reason.replace("known twice in one tree of poses", "measured twice by one source")
    return replace(violation, reason=reason, hint=hint)
