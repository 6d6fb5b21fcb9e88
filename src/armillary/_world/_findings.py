"""What an error means to a person: the cause by name, the truth in one sentence, and the hint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

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
from armillary.transforms import RelationInfo
from armillary.transforms.diagnosis import Cause

if TYPE_CHECKING:
    from armillary._world._saving import SavingWorld

__all__ = ["EXPLAINED", "Finding", "Findings"]

_NS_PER_S = 1e9
_TWO = 2
EXPLAINED = (InvalidName, UnknownFrame, NotConnected, AmbiguousPath, ContestedJoint, StampOutOfRange)


@dataclass(frozen=True, slots=True)
class Finding:
    """See `Diagnosis`."""

    cause: Cause
    reason: str
    hint: str


class Findings:
    """What the errors of one world mean."""

    def __init__(self, world: SavingWorld) -> None:
        self._world = world

    def of_error(self, error: ArmillaryError) -> Finding:
        """One of EXPLAINED."""
        match error:
            case InvalidName():
                return Finding("unknown name", str(error), "")
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

    def _unknown(self, error: UnknownFrame) -> Finding:
        if error.own or error.frame in error.bodies:
            frames = ", ".join(f"'{name}'" for name in error.own)
            hint = (
                f"Ask for one of its frames: {frames}."
                if frames
                else "Give it frames with add_body(name, frames=[...])."
            )
            return Finding("unknown name", f"'{error.frame}' is a body, not a frame.", hint)
        if self._world._is_named(error.frame) is False:  # noqa: SLF001  (one world, two modules)
            hint = "Place it again, or see who removed it; its past went with it."
            return Finding("removed", f"There was a frame '{error.frame}', and it was removed.", hint)
        return Finding("unknown name", f"Nobody ever named a frame '{error.frame}' here.", self._meant(error))

    def _meant(self, error: UnknownFrame) -> str:
        """What is to be done about a name that nobody gave to a frame."""
        scene = self._world.scene
        if called := scene.find({"name": error.frame}):
            frames = list_names([f"'{scene.frame(node)}'" for node in called])
            return f"In the scene something is called so: ask for its frame, {frames}."
        near = nearest_name(error.frame, error.known)
        return f"Did you mean '{near}'?" if near else "Look at world.frames(), or wait until somebody names it."

    # -- Trees

    def _apart(self, error: NotConnected) -> Finding:
        if error.ended is not None:
            return self._ended(error.ended, error.ended_at)
        for frame, root, other in (
            (error.of, error.of_root, error.in_frame_root),
            (error.in_frame, error.in_frame_root, error.of_root),
        ):
            if frame == root and not self._is_placed(frame) and not self._carries(frame):
                hint = f"Say where it is: set_pose or fix '{frame}' in '{other}', or in a frame that hangs there."
                return Finding("missing link", f"Nobody says where '{frame}' is.", hint)
        roots = f"'{error.of}' hangs under '{error.of_root}', '{error.in_frame}' under '{error.in_frame_root}'"
        hint = f"One pose joins them: that of '{error.of_root}' in '{error.in_frame_root}', or the other way round."
        return Finding("separate trees", f"They stand in two trees: {roots}.", hint)

    def _ended(self, frame: str, since: int | None) -> Finding:
        when = "from the beginning" if since is None else f"since {format_stamp(since)}"
        earlier = (
            "Place it again."
            if since is None
            else f"Ask for an instant before {format_stamp(since)}, or place it again."
        )
        if self._is_removed_node(frame):
            return Finding("removed", f"The node '{frame}' is out of the scene {when}.", earlier)
        return Finding("ended", f"'{frame}' hangs nowhere {when}: who placed it ended that.", earlier)

    def _is_removed_node(self, frame: str) -> bool:
        from armillary.scene.nodes import maker_of  # noqa: PLC0415  (a program of poses alone starts without it)

        node = maker_of(frame)
        return node is not None and node not in self._world.scene.find({})

    def _is_placed(self, frame: str) -> bool:
        return any(info.of == frame and info.kind != "twist" for info in self._world.relations())

    def _carries(self, frame: str) -> bool:
        return any(info.in_frame == frame and info.kind != "twist" for info in self._world.relations())

    # -- Times

    def _out_of_range(self, error: StampOutOfRange) -> Finding:
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

    def _no_common_time(self, error: StampOutOfRange) -> Finding:
        begins = "" if error.first is None else f" begins at {format_stamp(error.first)}, when another link"
        reason = f"No instant is covered by every link: {_what(error)}{begins or ', where another'} has ended."
        return Finding(
            "no common time", reason, "Keep a longer history, or see why one of the senders is so far behind."
        )

    def _before(self, error: StampOutOfRange) -> Finding:
        first, requested = error.first, error.requested or 0
        if first is None:
            return Finding("before history", f"{_what(error)} is older than what is kept.", "Keep a longer history.")
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
            hint = f"Nobody had said where it is: ask for {format_stamp(first)} or later."
        return Finding("before history", reason, hint)

    def _late(self, error: StampOutOfRange) -> Finding:
        last, requested = error.last or 0, error.requested or 0
        reason = (
            f"The last word on {_what(error)} is {format_duration(requested - last)} older than the instant asked for"
        )
        sender = _sender(error)
        usual = self._period_of(error)
        rate = f", and usually one comes every {format_duration(usual)}" if usual else ""
        hint = f"See whether {sender} still sends; or ask for LATEST, wait_for_pose(...), or outside='hold'."
        return Finding("late", f"{reason}{rate}.", hint)

    def _next_run(self, error: StampOutOfRange) -> RelationInfo | None:
        """Where the same source placed the frame next, after the instant asked for."""
        if error.edge is None or error.joint is not None:
            return None
        of, _, source = error.edge
        later = [
            info
            for info in self._world.relations()
            if (info.of, info.source) == (of, source) and info.first is not None and info.first > (error.requested or 0)
        ]
        return min(later, key=lambda info: info.first or 0, default=None)

    def _relation_of(self, error: StampOutOfRange) -> RelationInfo | None:
        return next(
            (i for i in self._world.relations() if (i.of, i.in_frame, i.source) == error.edge and i.kind != "twist"),
            None,
        )

    def _period_of(self, error: StampOutOfRange) -> int | None:
        info = None if error.joint is not None else self._relation_of(error)
        return None if info is None or not info.rate_hz else round(_NS_PER_S / info.rate_hz)

    def _history_of(self, error: StampOutOfRange) -> int | None:
        if error.edge is None or error.joint is not None:
            return None
        world = self._world
        return world._retention(world._relation_id(*error.edge))[0]  # noqa: SLF001  (one world, two modules)


def _contested(error: AmbiguousPath | ContestedJoint) -> Finding:
    names, say = join_names(error.sources), "both say" if len(error.sources) == _TWO else "all say"
    if isinstance(error, ContestedJoint):
        hint = f"Choose one: world.prefer_joint('{error.joint}', source='{error.sources[0]}')."
        return Finding("contested", f"{names} {say} where joint '{error.joint}' is.", hint)
    first = error.sources[0] if error.sources else ""
    hint = f"Choose one: world.prefer(of='{error.frame}', source='{first}'), or ask with policy='latest' or 'fuse'."
    return Finding("contested", f"{names} {say} where '{error.frame}' is.", hint)


def _without_samples(error: NoSamples) -> Finding:
    if error.joint is not None:
        hint = f"Say where the joint is: set_joints({{'{error.joint}': ...}}, at=...)."
        return Finding(
            "missing link", f"Nothing was ever said of joint '{error.joint}', which moves {_what(error)}.", hint
        )
    return Finding(
        "missing link",
        f"{_what(error)} is announced, and no sample of it is here.",
        "Set a sample, or wait for one with wait_for_pose(...).",
    )


def _between(error: StampOutOfRange, moved: RelationInfo) -> Finding:
    of, before, _ = error.edge or ("", "", "")
    reason = (
        f"'{of}' was on its way: last seen in '{before}' at {format_stamp(error.last or 0)}, "
        f"and next in '{moved.in_frame}' at {format_stamp(moved.first or 0)}."
    )
    hint = (
        "Nothing is known between two parents: ask before or after that, or accept the last pose with outside='hold'."
    )
    return Finding("between runs", reason, hint)


def _sender(error: StampOutOfRange) -> str:
    if error.joint is not None:
        return f"whoever sets joint '{error.joint}'"
    return f"'{error.edge[2]}'" if error.edge is not None and error.edge[2] else "its sender"


def _what(error: StampOutOfRange) -> str:
    if error.edge is None:
        return f"Joint '{error.joint}'"
    of, in_frame, source = error.edge
    return f"'{of}' in '{in_frame}'" + (f" (source '{source}')" if source else "")
