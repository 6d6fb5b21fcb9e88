"""Errors about time: a history has no sample at, or around, the requested instant."""

from __future__ import annotations

from armillary.errors.base import FromEvidence
from armillary.errors.format import format_duration, format_stamp, small_unit

__all__ = [
    "AfterHistory",
    "BeforeHistory",
    "NoSamples",
    "NotReceived",
    "SamplesDropped",
    "SingleSample",
    "StampOutOfRange",
]

Edge = tuple[str, str, str]
"""A pose relation: (of, in_frame, source)."""


def _edge_text(edge: Edge) -> str:
    of, in_frame, source = edge
    return f"'{of}' in '{in_frame}'" + (f" (source '{source}')" if source else "")


class StampOutOfRange(FromEvidence, LookupError):
    """An edge on the path has no samples around the requested instant; `joint` is the variable that lacks them.

    `edge` is None where the query or the sample was about a joint itself.
    """

    def __init__(
        self,
        *,
        edge: Edge | None,
        requested: int | None,
        first: int | None,
        last: int | None,
        row: int | None = None,
        inserting: bool = False,
        horizon: int | None = None,
        hold_up_to: int | None = None,
        joint: str | None = None,
    ) -> None:
        self.edge, self.requested, self.first, self.last, self.row = edge, requested, first, last, row
        self.inserting, self.horizon, self.hold_up_to, self.joint = inserting, horizon, hold_up_to, joint

    def _message(self) -> str:
        where = "" if self.row is None else f" (row {self.row} of the batch)"
        return self._sentence() + where + self._unit_hint()

    def _sentence(self) -> str:
        return f"The {self._what()} is not known {self._when()}; {self._held()}."

    def _unit_hint(self) -> str:
        """Name the unit that was probably meant, where one stamp is a wall clock's and the other is far too small."""
        known = self.last if self.first is None else self.first
        if self.requested is None or known is None:
            return ""
        small, large = sorted((self.requested, known))
        unit = small_unit(small, large)
        if unit is None:
            return ""
        suspect = "This instant looks" if small == self.requested else "Its samples look"
        return f" {suspect} like {unit} of a wall clock: stamps are nanoseconds, or datetime64 of any unit."

    def _what(self, asked: str = "pose") -> str:
        return self._name() if self.edge is None else f"{asked} of {_edge_text(self.edge)}"

    def _name(self) -> str:
        return f"joint '{self.joint}'" if self.edge is None else _edge_text(self.edge)

    def _limit(self) -> str:
        """Name the limit of `outside='hold'` that the nearest sample is beyond."""
        return f"hold_up_to_s allows {format_duration(self.hold_up_to or 0)}"

    def _when(self) -> str:
        return "at any common time" if self.requested is None else f"at {format_stamp(self.requested)}"

    def _held(self) -> str:
        holder = "it" if self.edge is None or self.joint is None else f"its joint '{self.joint}'"
        if self.first is None:
            return f"{holder} holds no samples"
        if self.last is None:
            return f"{holder} holds from {format_stamp(self.first)} on"
        return f"{holder} holds [{format_stamp(self.first)}, {format_stamp(self.last)}]"


class SamplesDropped(UserWarning):
    """A batch had more samples than the world keeps: `dropped` of `given` samples of `what`, the oldest, are gone."""

    def __init__(self, what: str, dropped: int, given: int) -> None:
        self.what, self.dropped, self.given = what, dropped, given
        super().__init__(what, dropped, given)

    def __str__(self) -> str:
        return (
            f"{self.dropped} of {self.given} samples of {self.what} are older than what is kept, and are gone. "
            "World(history=None) keeps everything, World(history=seconds(60)) a minute; max_samples= limits the number."
        )


class BeforeHistory(StampOutOfRange):
    """The requested instant is before the oldest sample, or a given sample is older than the history."""

    def _sentence(self) -> str:
        if self.inserting:
            return (
                f"A sample of {self._name()} at {format_stamp(self.requested or 0)} is older than its history, "
                f"which reaches back to {format_stamp(self.first or 0)}. Give World(history=) or "
                f"world.keep(history=) a "
                "longer time, or call reset_time() if the clock started again."
            )
        if self.requested is not None and self.first is None:
            gone = f"The samples of {self._name()} around {format_stamp(self.requested)} have expired"
            return f"{gone}. Keep a longer history."
        if self.requested is not None and self.last is None and self.joint is None:
            cure = "or pass outside='hold'." if self.hold_up_to is None else f"or a longer limit: {self._limit()}."
            return (
                f"The {self._what()} was asked {format_duration((self.first or 0) - self.requested)} before "
                f"it was fixed, from {format_stamp(self.first or 0)} on. Ask for a later stamp, {cure}"
            )
        if self.requested is None or self.first is None:
            return (
                f"The histories on the path do not overlap: {self._name()} begins after another edge ends; "
                f"{self._held()}."
            )
        early = f"The {self._what()} was asked {format_duration(self.first - self.requested)} before its first sample"
        if self.hold_up_to is not None:
            return f"{early} ({self._held()}), and {self._limit()}. Ask for a later stamp, or allow more."
        return f"{early} ({self._held()}). Ask for a later stamp, keep a longer history, or pass outside='hold'."


class AfterHistory(StampOutOfRange):
    """The requested instant is after the newest sample, or between two parents."""

    def _sentence(self) -> str:
        late = format_duration((self.requested or 0) - (self.last or 0))
        if self.horizon is not None:
            return (
                f"The {self._what()} was asked {late} after its last sample ({self._held()}), and a "
                f"prediction reaches {format_duration(self.horizon)}. Pass at=LATEST, or give "
                f"World(predict_up_to_s=) more."
            )
        if self.hold_up_to is not None:
            return (
                f"The {self._what()} was asked {late} after its last sample ({self._held()}), and {self._limit()}. "
                "Pass at=LATEST, wait_for_pose(...), or allow more."
            )
        return (
            f"The {self._what()} was asked {late} after its last sample ({self._held()}). "
            "Pass at=LATEST, wait_for_pose(...), outside='hold' to accept the nearest sample, or outside='predict' to "
            "continue its motion."
        )


class SingleSample(StampOutOfRange):
    """The history has one sample: nothing to interpolate at another stamp, nothing to differentiate at its own."""

    def _sentence(self) -> str:
        if self.requested is not None and self.requested == self.last:
            return (
                f"The {self._what('velocity')} was asked at {format_stamp(self.requested)}, where its only "
                "sample is, and one pose does not move. Give it another sample, or set its twist with set_twist(...)."
            )
        only = f"The {self._what()} was asked at {format_stamp(self.requested or 0)}, and its only sample is at"
        if self.hold_up_to is not None:
            return f"{only} {format_stamp(self.last or 0)}, and {self._limit()}. Allow more, or fix() what never moves."
        return f"{only} {format_stamp(self.last or 0)}. Pass outside='hold' to accept it, or fix() what never moves."


class NoSamples(StampOutOfRange):
    """The relation exists and has no samples."""

    def _sentence(self) -> str:
        if self.joint is not None:
            return (
                f"The {self._what()} is not known: joint '{self.joint}' has no values. "
                f"Call set_joints({{'{self.joint}': ...}}, at=...)."
            )
        return f"The {self._what()} holds no samples. Set one, or wait for it with wait_for_pose(...)."


class NotReceived(StampOutOfRange):
    """The samples that the question needs are given in another process, and do not come from there at present."""

    def _sentence(self) -> str:
        asked = "at the newest instant" if self.requested is None else f"at {format_stamp(self.requested)}"
        return (
            f"The {self._what()} was asked {asked}, and its samples do not come at present; {self._held()} of earlier. "
            "Is the process that gives them there (world.peers())? Ask again, or share(samples='all') to take all."
        )
