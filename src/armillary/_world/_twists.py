"""Bodies, and how they move."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from armillary._world._bodies import SelectedStructure, SourceTwists, instants_from, said_by_one_source
from armillary._world._pending import PendingWorld
from armillary.errors import InvalidArgument, NotMeasured
from armillary.relations.rules import TwistEdge, raise_if_violated
from armillary.stamps import LATEST, Latest
from armillary.transforms import check_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from armillary._world._given_twists import ReadTwist
    from armillary.fusion.policies import AnyPolicy
    from armillary.relations.motion import TwistResidual


class MovingWorld(PendingWorld):
    """A world of bodies that move relative to each other."""

    def add_body(self, name: str, frames: Iterable[str] = ()) -> None:
        """Declare frames to be one rigid body; they are made where they are new.

        Poses within a body are constant: `fix` says them, once. Every other frame is a body of its own. A frame named
        like a body is on it. Said again, it adds frames.

        Raises:
            ConstraintViolation: A frame is on another body, or two of them are joined by a relation that can move, or
                by frames that are not on it, or a source measures how they move, or one motion of the body twice.
        """
        with self._twist_lock:
            self._add_body(*self._check_body(name, _listed(frames)))
        self._settle_pending()

    def body_of(self, frame: str) -> str:
        """The name of the body that a frame is on: its own until `add_body` says otherwise."""
        return self._body_of(self._recall(frame))

    def twist_residual(
        self,
        *,
        of: str,
        relative_to: str,
        expressed_in: str | None = None,
        at: int | Latest = LATEST,
        window: int | None = None,
        policy: AnyPolicy = "unique",
        interpolation: str | None = None,
    ) -> TwistResidual:
        """How far a measured twist and the derivative of the poses disagree.

        Args:
            of: As for `twist`.
            relative_to: As for `twist`.
            expressed_in: As for `twist`.
            at: Instant [ns]. `LATEST`: the newest that the measured twists cover.
            window: As for `twist`, for the poses.
            policy: As for `twist`.
            interpolation: As for `twist`.

        Raises:
            NotMeasured: Nobody measured this motion at that instant.
        """
        from armillary.relations.motion import TwistResidual  # noqa: PLC0415  (few programs need it)

        asked: dict[str, Any] = {"of": of, "relative_to": relative_to, "expressed_in": expressed_in}
        asked |= {"policy": policy, "interpolation": interpolation}
        measured = self.twist(**asked, at=at)
        if measured.method not in {"measured", "mixed"}:
            raise NotMeasured(of, relative_to)
        when = at if measured.stamp is None else measured.stamp
        derived = self.twist(**asked, at=when, window=window, measured=False)
        return TwistResidual(measured=measured, derived=derived)

    def _read_twist(
        self, twist: Any, *, of: str, relative_to: str, at: int, expressed_in: str | None, covariance: Any
    ) -> ReadTwist:
        """Called by the native half for a twist that comes as a relation or as coordinates."""
        from armillary._world._given_twists import check_names, read_twist  # noqa: PLC0415  (few programs need it)
        from armillary.relations import Twist  # noqa: PLC0415

        of, relative_to = check_name(of), check_name(relative_to)
        if isinstance(twist, Twist):
            point = relative_to if getattr(twist.coordinates, "form", "free") == "spatial" else of
            bodies = {"body": {of, self._body_of(of) or of}}
            bodies |= {"reference_body": {relative_to, self._body_of(relative_to) or relative_to}}
            check_names(twist, at=at, point=point, bodies=bodies)
            expressed_in = twist.expressed_in if expressed_in is None else expressed_in
            covariance = twist.covariance if covariance is None else covariance
            twist = twist.coordinates
        return read_twist(
            twist,
            of=of,
            relative_to=relative_to,
            expressed_in=expressed_in,
            covariance=covariance,
            pose=lambda: self.pose(of=of, in_frame=relative_to, at=at),
        )

    def _check_body(self, name: object, frames: list[str]) -> tuple[str, list[str]]:
        """A body and frames that may be on it, in their stored forms."""
        stored, members = self._stored_name(name), [check_name(frame) for frame in frames]
        self._check_members(stored, members)
        return stored, [self._declare(frame) for frame in members]

    def _check_members(self, name: str, members: list[str]) -> None:
        from armillary.relations import rules  # noqa: PLC0415  (bodies are seldom declared)

        together = {*members, *self._frames_of(name), *([name] if self._has_frame(name) else [])}
        asked = f"put {', '.join(sorted(together))} on one body '{name}'"
        hint = f"Leave one of them out of '{name}', or say the twist under another source=."
        for at in instants_from(self, None):
            structure = SelectedStructure(self, at)
            adopted = [frame for frame in together if structure.body_of(frame) in {frame, name}]
            raise_if_violated(rules.one_body(structure, name, adopted), "add_body", asked)
            for motions in self._motions_by_source(at):
                found = rules.one_twist_path_as_one_body(motions, name, adopted)
                raise_if_violated(said_by_one_source(found, hint), "add_body", asked)

    def _check_one_path(self, of: str, in_frame: str, source: str, start: int | None) -> None:
        """A new pose must not reach a body twice, nor join two words of one source about a motion.

        Called by the native half once there are bodies or twists, for a relation that is open from `start` on.
        """
        from armillary.relations import rules  # noqa: PLC0415

        asked, is_within = f"place '{of}' in '{in_frame}'", self._body_of(of) == self._body_of(in_frame) != ""
        end = self._moved_away_at(of, in_frame, source, start)
        for at in instants_from(self, start):
            if end is not None and (isinstance(at, Latest) or at >= end):
                return
            if not is_within:
                structure = SelectedStructure(self, at, loose=of)
                raise_if_violated(rules.one_pose_path(structure, of, in_frame), "set_pose", asked)
            for motions in self._motions_by_source(at, loose=of):
                found = rules.one_twist_path_when_joined(motions, of, in_frame)
                raise_if_violated(
                    said_by_one_source(found, "Say one of these twists under another source="), "set_pose", asked
                )

    def _moved_away_at(self, of: str, in_frame: str, source: str, start: int | None) -> int | None:
        """When the source places the frame elsewhere, after `start`."""
        moves = (
            first
            for head, tail, who, kind, _, first, _ in self._relations()
            if (head, who) == (of, source) and tail != in_frame and kind != "twist" and first is not None
        )
        return min((first for first in moves if start is not None and first > start), default=None)

    def _twist_edges(self) -> dict[tuple[str, str, str], int | None]:
        """Who measures which frame relative to which body, what waits included: (of, body, source), and since when."""
        said = {
            (of, body, source): first for of, body, source, kind, _, first, _ in self._relations() if kind == "twist"
        }
        waiting = {(of, self._body_of(still) or still, source): None for of, still, source in self._pending_edges}
        return waiting | said

    def _motions_by_source(self, at: int | Latest, loose: str | None = None) -> Iterator[SourceTwists]:
        """What each source measures at one instant: a motion is open from its first sample on."""
        by_source: dict[str, list[TwistEdge]] = {}
        for (of, body, source), since in sorted(self._twist_edges().items(), key=_edge):
            if _is_open(since, at):
                by_source.setdefault(source, []).append(TwistEdge(of, body))
        for source in sorted(by_source):
            yield SourceTwists(self, at, by_source[source], loose)

    def _check_new_twist(self, of: str, relative_to: str, source: str, start: int) -> None:
        """A source says a motion once: called by the native half, under the lock, before it makes a relation."""
        body = self._body_of(relative_to) or relative_to
        if (of, relative_to, source) in self._pending_edges or body == (self._body_of(of) or of):
            return  # it was looked at when it came; and the native half has a sentence of its own
        others = {(head, tail): since for (head, tail, who), since in self._twist_edges().items() if who == source}
        if not others or (of, body) in others:
            return
        from armillary.relations import rules  # noqa: PLC0415

        hint = "Say it under another source=, as a rival, or remove_frame() the frame in the way, with its past."
        for at in instants_from(self, start, *(since for since in others.values() if since is not None)):
            twists = [TwistEdge(*edge) for edge, since in sorted(others.items(), key=_edge) if _is_open(since, at)]
            found = rules.one_twist_path(SourceTwists(self, at, twists), of, body)
            raise_if_violated(
                said_by_one_source(found, hint), "set_twist", f"say how '{of}' moves relative to '{relative_to}'"
            )

    def _stored_name(self, name: object) -> str:
        return check_name(name)

    def _is_only_a_body(self, name: object) -> bool:
        """Whether a declared body has this name, and no frame."""
        stored = check_name(name)
        return not self._has_frame(stored) and stored in self.bodies()


def _edge(item: tuple[tuple[str, ...], int | None]) -> tuple[str, ...]:
    return item[0]


def _is_open(since: int | None, at: int | Latest) -> bool:
    return since is None or isinstance(at, Latest) or since <= at


def _listed(frames: Iterable[str]) -> list[str]:
    if isinstance(frames, str):
        raise InvalidArgument(f"frames must be a list of names, got {frames!r}. Pass frames=[{frames!r}].", frames)
    try:
        return list(frames)
    except TypeError:
        raise InvalidArgument(f"frames must be a list of names, got {frames!r}.", frames) from None
