"""Bodies, and how they move."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from armillary._world._bodies import SelectedStructure, SourceTwists, refuse, said_by_one_source
from armillary._world._pending import PendingWorld
from armillary.errors import InvalidArgument, NotMeasured
from armillary.stamps import LATEST, Latest
from armillary.transforms import check_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from armillary._world._given_twists import ReadTwist
    from armillary.relations._residual import TwistResidual
    from armillary.relations.rules import Violation


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
        stored = self._stored_name(name)
        members = [check_name(frame) for frame in _listed(frames)]
        with self._twist_lock:
            self._check_members(stored, members)
            self._add_body(stored, [self._declare(frame) for frame in members])
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
        policy: str = "unique",
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
        from armillary.relations._residual import TwistResidual  # noqa: PLC0415  (few programs need it)

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

    def _check_members(self, name: str, members: list[str]) -> None:
        from armillary.relations import rules  # noqa: PLC0415  (bodies are seldom declared)

        structure = SelectedStructure(self)
        together = {*members, *self._frames_of(name), *([name] if self._has_frame(name) else [])}
        adopted = [frame for frame in together if structure.body_of(frame) in {frame, name}]
        asked = f"put {', '.join(sorted(together))} on one body '{name}'"
        refuse(rules.one_body(structure, name, adopted), "add_body", asked)
        for source in sorted({source for *_, source in self._twist_edges()}):
            refuse(self._motion_said_twice(name, adopted, source), "add_body", asked)

    def _motion_said_twice(self, name: str, frames: list[str], source: str) -> Violation | None:
        from armillary.relations import rules  # noqa: PLC0415

        twists = [rules.TwistEdge(of, body) for of, body, who in self._twist_edges() if who == source]
        found = rules.one_twist_path_as_one_body(SourceTwists(self, twists), name, frames)
        return said_by_one_source(found, f"Leave one of them out of '{name}', or say the twist under another source=.")

    def _check_one_path(self, of: str, in_frame: str) -> None:
        """A new pose must not reach a body twice: called by the native half once there are bodies."""
        if self._body_of(of) == self._body_of(in_frame) != "":
            return
        from armillary.relations import rules  # noqa: PLC0415

        violation = rules.one_pose_path(SelectedStructure(self, loose=of), of, in_frame)
        refuse(violation, "set_pose", f"place '{of}' in '{in_frame}'")

    def _twist_edges(self) -> set[tuple[str, str, str]]:
        """Who measures which frame relative to which body, what waits included: of, body, source."""
        said = {(of, body, source) for of, body, source, kind, *_ in self._relations() if kind == "twist"}
        waiting = {(of, self._body_of(still) or still, source) for of, still, source in self._pending_edges}
        return said | waiting

    def _check_new_twist(self, of: str, relative_to: str, source: str) -> None:
        """A source says a motion once: called by the native half, under the lock, before it makes a relation."""
        body = self._body_of(relative_to) or relative_to
        if (of, relative_to, source) in self._pending_edges or body == (self._body_of(of) or of):
            return  # it was looked at when it came; and the native half has a sentence of its own
        others = sorted((head, tail) for head, tail, who in self._twist_edges() if who == source)
        if not others or (of, body) in others:
            return
        from armillary.relations import rules  # noqa: PLC0415

        twists = [rules.TwistEdge(*edge) for edge in others]
        found = rules.one_twist_path(SourceTwists(self, twists), of, body)
        cure = "Say it under another source=, as a rival, or remove_frame() the frame in the way, with its past."
        refuse(said_by_one_source(found, cure), "set_twist", f"say how '{of}' moves relative to '{relative_to}'")

    def _stored_name(self, name: object) -> str:
        return check_name(name)

    def _is_only_a_body(self, name: object) -> bool:
        """Whether a declared body has this name, and no frame."""
        stored = check_name(name)
        return not self._has_frame(stored) and stored in self.bodies()


def _listed(frames: Iterable[str]) -> list[str]:
    if isinstance(frames, str):
        raise InvalidArgument(f"frames must be a list of names, got {frames!r}. Pass frames=[{frames!r}].", frames)
    try:
        return list(frames)
    except TypeError:
        raise InvalidArgument(f"frames must be a list of names, got {frames!r}.", frames) from None
