"""Why one frame cannot be seen from another: the cause by name, the reason in one sentence, and a hint."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from armillary._core import ROOT_NODE
from armillary.errors import (
    AfterHistory,
    AmbiguousPath,
    ArmillaryError,
    ContestedJoint,
    InvalidName,
    NoSamples,
    NotConnected,
    SingleSample,
    StampOutOfRange,
    UnknownFrame,
)
from armillary.errors.format import format_duration, format_stamp, join_names, list_names, nearest_name
from armillary.stamps import Latest, as_when
from armillary.store.conditions import conditions_of
from armillary.store.names import knows_name
from armillary.store.nodes import names_in
from armillary.transforms import Diagnosis, LinkState, RelationInfo
from armillary.transforms.diagnosis import Cause

if TYPE_CHECKING:
    from armillary.stamps import StampLike
    from armillary.store.store import Store

__all__ = ["diagnose"]


def diagnose(store: Store, *, of: str, in_frame: str, at: StampLike | Latest) -> Diagnosis:
    """Return why `of` cannot be seen from `in_frame`; see `World.diagnose`."""
    explanations, at = Explanations(store), as_when(at)
    try:
        pose = store.pose(of=of, in_frame=in_frame, at=at)
    except EXPLAINED as error:
        found = explanations.of_error(error)
    else:
        when = "at every instant" if pose.stamp is None else f"at {format_stamp(pose.stamp)}"
        found = Explanation("none", f"'{pose.of}' can be seen from '{pose.in_frame}' {when}.", "")
    known = knows_name(store, of) and knows_name(store, in_frame)
    links = _relevant(_links(store, explanations, of, in_frame, at)) if known else ()
    return Diagnosis(
        of=store.frame_label(of) if known else of,
        in_frame=store.frame_label(in_frame) if known else in_frame,
        at=None if isinstance(at, Latest) else at,
        cause=found.cause,
        reason=found.reason,
        hint=found.hint,
        links=links,
        names=names_in(store, " ".join([found.reason, *map(str, links)])),
    )


def _relevant(links: Iterable[LinkState]) -> tuple[LinkState, ...]:
    """Leave out frames that no source ever placed, where another link is the cause."""
    every = tuple(links)
    placed = tuple(link for link in every if link.in_frame is not None or link.sources)
    return placed if any(link.cause != "none" for link in placed) else every


def _links(
    store: Store, explanations: Explanations, of: str, in_frame: str, at: StampLike | Latest
) -> Iterator[LinkState]:
    parents = store.parents(at)
    upwards, downwards = _ancestors(of, parents), _ancestors(in_frame, parents)
    common = next((frame for frame in upwards if frame in set(downwards)), None)
    for path in (upwards, downwards):
        for frame in path:
            if frame == common:
                break
            yield _link(store, explanations, frame, parents[frame], at)


def _link(
    store: Store, explanations: Explanations, frame: str, parent: tuple[str, str] | None, at: StampLike | Latest
) -> LinkState:
    infos = [info for info in store.relations() if info.kind != "twist"]
    if parent is None:
        rivals = store.rivals_of(frame, at)
        return _detached(frame, [info for info in infos if info.of == frame], rivals)
    cause: Cause = "none"
    try:
        store.pose(of=frame, in_frame=parent[0], at=at)
    except EXPLAINED as error:
        cause = explanations.of_error(error).cause
    kind = next((info.kind for info in infos if (info.of, info.in_frame, info.source) == (frame, *parent)), "unknown")
    return LinkState(of=frame, in_frame=parent[0], source=parent[1], kind=kind, cause=cause, sources=(parent[1],))


def _detached(frame: str, infos: Sequence[RelationInfo], rivals: tuple[str, ...]) -> LinkState:
    """Return the state of a frame without a parent: `infos` are its relations, `rivals` the sources that contest it."""
    sources = rivals or tuple(dict.fromkeys(info.source for info in infos))
    kinds = {info.kind for info in infos if info.source in sources}
    lost: Cause = "contested" if rivals else "ended" if sources else "missing link"
    return LinkState(
        of=frame,
        in_frame=None,
        source=sources[0] if len(sources) == 1 else "",
        kind="mixed" if len(kinds) > 1 else next(iter(kinds), "nothing"),
        cause=lost,
        sources=sources,
    )


def _ancestors(frame: str, parents: Mapping[str, tuple[str, str] | None]) -> list[str]:
    path = [frame]
    while (parent := parents.get(path[-1])) is not None and parent[0] not in path:
        path.append(parent[0])
    return path


_NS_PER_S = 1e9
_TWO = 2
EXPLAINED = (InvalidName, UnknownFrame, NotConnected, AmbiguousPath, ContestedJoint, StampOutOfRange)


@dataclass(frozen=True, slots=True)
class Explanation:
    """A cause with its reason and hint, as in `Diagnosis`."""

    cause: Cause
    reason: str
    hint: str


class Explanations:
    """Explains errors of queries by the relations of one store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def of_error(self, error: ArmillaryError) -> Explanation:
        """Return the cause, the reason and the hint of an error, one of `EXPLAINED`."""
        match error:
            case InvalidName():
                return Explanation("unknown name", str(error), "")
            case UnknownFrame():
                return self._unknown(error)
            case NotConnected():
                return self._apart(error)
            case AmbiguousPath() | ContestedJoint():
                return _contested(error)
            case StampOutOfRange():
                return self._out_of_range(error)
        raise error

    # -- Names

    def _unknown(self, error: UnknownFrame) -> Explanation:
        if error.own or error.frame in error.bodies:
            frames = ", ".join(f"'{name}'" for name in error.own)
            hint = (
                f"Ask for one of its frames: {frames}."
                if frames
                else "Give it frames with add_body(name, frames=[...])."
            )
            return Explanation("unknown name", f"'{error.frame}' is a body, not a frame.", hint)
        if self._store.is_named(error.frame) is False:
            hint = "Place it again, or see who removed it; its past went with it."
            return Explanation("removed", f"There was a frame '{error.frame}', and it was removed.", hint)
        return Explanation("unknown name", f"There is no frame '{error.frame}'.", self._meant(error))

    def _meant(self, error: UnknownFrame) -> str:
        """Return a hint about a name that no frame has."""
        view = self._store.view()
        if called := view.find(conditions_of({"name": error.frame}), ROOT_NODE):
            frames = list_names([f"'{view.frame(node)}'" for node in called])
            return f"In the scene something is called so: ask for its frame, {frames}."
        near = nearest_name(error.frame, error.known)
        return f"Did you mean '{near}'?" if near else "Look at world.frames(), or wait until it is added."

    # -- Trees

    def _apart(self, error: NotConnected) -> Explanation:
        if error.ended is not None:
            return self._ended(error.ended, error.ended_at)
        poses = [info for info in self._store.relations() if info.kind != "twist"]
        related = {info.of for info in poses} | {info.in_frame for info in poses}
        for frame, root, other in (
            (error.of, error.of_root, error.in_frame_root),
            (error.in_frame, error.in_frame_root, error.of_root),
        ):
            if frame == root and frame not in related:
                hint = f"Place it: set_pose or fix '{frame}' in '{other}', or in a frame of its tree."
                return Explanation("missing link", f"No source places '{frame}'.", hint)
        roots = f"'{error.of}' is in that of '{error.of_root}', '{error.in_frame}' in that of '{error.in_frame_root}'"
        hint = f"One pose joins them: that of '{error.of_root}' in '{error.in_frame_root}', or the other way round."
        return Explanation("separate trees", f"They are in two trees: {roots}.", hint)

    def _ended(self, frame: str, since: int | None) -> Explanation:
        when = "from the beginning" if since is None else f"since {format_stamp(since)}"
        earlier = (
            "Place it again."
            if since is None
            else f"Ask for an instant before {format_stamp(since)}, or place it again."
        )
        node = self._store.node_of_frame(frame)
        if node is not None and not self._store.view().contains(node):
            return Explanation("removed", f"The node '{frame}' is removed from the scene {when}.", earlier)
        return Explanation("ended", f"'{frame}' has no parent {when}: its source ended the relation.", earlier)

    # -- Times

    def _out_of_range(self, error: StampOutOfRange) -> Explanation:
        if isinstance(error, NoSamples):
            return _without_samples(error)
        if error.requested is None:
            return self._no_common_time(error)
        is_after = isinstance(error, AfterHistory) or (
            isinstance(error, SingleSample) and error.requested > (error.last or 0)
        )
        if not is_after:
            return self._before(error)
        moved = self._next_run(error)
        return self._late(error) if moved is None else _between(error, moved)

    def _no_common_time(self, error: StampOutOfRange) -> Explanation:
        begins = "" if error.first is None else f" begins at {format_stamp(error.first)}, when another link"
        reason = f"No instant is covered by every link: {_what(error)}{begins or ', where another'} has ended."
        return Explanation(
            "no common time", reason, "Keep a longer history, or see why one of the senders is so far behind."
        )

    def _before(self, error: StampOutOfRange) -> Explanation:
        first, requested = error.first, error.requested or 0
        if first is None:
            return Explanation(
                "before history", f"{_what(error)} is older than what is kept.", "Keep a longer history."
            )
        reason = (
            f"{_what(error)} is known from {format_stamp(first)} on, {format_duration(first - requested)} "
            f"after what was asked."
        )
        kept = self._history_of(error)
        if error.last is not None and kept is not None and error.last - requested > kept:
            hint = (
                f"It is kept for {format_duration(kept)}: give World(history=) or world.keep(history=) a longer time."
            )
        else:
            hint = f"It was not placed before: ask for {format_stamp(first)} or later."
        return Explanation("before history", reason, hint)

    def _late(self, error: StampOutOfRange) -> Explanation:
        last, requested = error.last or 0, error.requested or 0
        reason = (
            f"The last sample of {_what(error)} is {format_duration(requested - last)} older than the instant asked for"
        )
        sender = _sender(error)
        info = None if error.joint is not None else self._relation_of(error)
        rate = ""
        if info is not None and info.rate_hz:
            rate = f", and usually one comes every {format_duration(round(_NS_PER_S / info.rate_hz))}"
        hint = f"See whether {sender} still sends; or ask for LATEST, wait_for_pose(...), or outside='hold'."
        return Explanation("late", f"{reason}{rate}.", hint)

    def _next_run(self, error: StampOutOfRange) -> RelationInfo | None:
        """Return the relation in which the same source placed the frame next, after the instant asked for."""
        if error.edge is None or error.joint is not None:
            return None
        of, _, source = error.edge
        later = [
            info
            for info in self._store.relations()
            if (info.of, info.source) == (of, source) and info.first is not None and info.first > (error.requested or 0)
        ]
        return min(later, key=lambda info: info.first or 0, default=None)

    def _relation_of(self, error: StampOutOfRange) -> RelationInfo | None:
        return next(
            (i for i in self._store.relations() if (i.of, i.in_frame, i.source) == error.edge and i.kind != "twist"),
            None,
        )

    def _history_of(self, error: StampOutOfRange) -> int | None:
        if error.edge is None or error.joint is not None:
            return None
        return self._store.retention(self._store.relation_id(*error.edge))[0]


def _contested(error: AmbiguousPath | ContestedJoint) -> Explanation:
    names, all_of_them = join_names(error.sources), "both" if len(error.sources) == _TWO else "all"
    if isinstance(error, ContestedJoint):
        hint = f"Choose one: world.prefer_joint('{error.joint}', source='{error.sources[0]}')."
        return Explanation("contested", f"{names} {all_of_them} set joint '{error.joint}'.", hint)
    first = error.sources[0] if error.sources else ""
    hint = f"Choose one: world.prefer(of='{error.frame}', source='{first}'), or ask with policy='latest' or 'fuse'."
    return Explanation("contested", f"{names} {all_of_them} place '{error.frame}'.", hint)


def _without_samples(error: NoSamples) -> Explanation:
    if error.joint is not None:
        hint = f"Set the joint: set_joints({{'{error.joint}': ...}}, at=...)."
        return Explanation(
            "missing link", f"There is no sample of joint '{error.joint}', which moves {_what(error)}.", hint
        )
    return Explanation(
        "missing link",
        f"There is a relation of {_what(error)}, and no sample of it.",
        "Set a sample, or wait for one with wait_for_pose(...).",
    )


def _between(error: StampOutOfRange, moved: RelationInfo) -> Explanation:
    of, before, _ = error.edge or ("", "", "")
    reason = (
        f"'{of}' moved from one parent to another: last seen in '{before}' at {format_stamp(error.last or 0)}, "
        f"and next in '{moved.in_frame}' at {format_stamp(moved.first or 0)}."
    )
    hint = (
        "Nothing is known between two parents: ask before or after that, or accept the last pose with outside='hold'."
    )
    return Explanation("between runs", reason, hint)


def _sender(error: StampOutOfRange) -> str:
    if error.joint is not None:
        return f"whoever sets joint '{error.joint}'"
    return f"'{error.edge[2]}'" if error.edge is not None and error.edge[2] else "its sender"


def _what(error: StampOutOfRange) -> str:
    if error.edge is None:
        return f"Joint '{error.joint}'"
    of, in_frame, source = error.edge
    return f"'{of}' in '{in_frame}'" + (f" (source '{source}')" if source else "")
