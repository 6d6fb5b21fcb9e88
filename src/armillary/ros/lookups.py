"""Why a lookup failed in the field: what was known when it was made, and when the rest came."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from armillary._core import TransformTable
from armillary.errors.format import format_duration, format_stamp
from armillary.formats.logs import LogFile, Topic, grouped
from armillary.ros.topics import TopicUse, use_of

if TYPE_CHECKING:
    from armillary.transforms import Diagnosis

__all__ = ["Arrival", "LookupReport", "arrivals"]

_NS_PER_S = 1e9
_ROWS_AT_ONCE = 100_000


@dataclass(frozen=True, slots=True)
class Arrival:
    """When one link of a path was told in the log.

    Attributes:
        of: The frame.
        in_frame: Its parent.
        newest: The newest stamp that was known when the lookup was made [ns]; None: nothing was.
        came: When the first sample came that is as new as the instant that was asked for [ns]; None: never.
        delay_s: How long after its stamp a sample usually comes [s].
    """

    of: str
    in_frame: str
    newest: int | None
    came: int | None
    delay_s: float

    def __str__(self) -> str:
        newest = "nothing known yet" if self.newest is None else f"newest stamp then {format_stamp(self.newest)}"
        came = "never came" if self.came is None else f"came at {format_stamp(self.came)}"
        usual, what = format_duration(round(self.delay_s * _NS_PER_S)), f"'{self.of}' in '{self.in_frame}'"
        return f"{what}: {newest}; what was asked for {came}; samples come {usual} after their stamp"


@dataclass(frozen=True, slots=True)
class LookupReport:
    """Why a pose could not be looked up at one instant of a log, or that it could.

    Attributes:
        of: The frame.
        in_frame: The frame that it was to be seen from.
        at: The instant that was asked for [ns].
        asked_at: When it was asked, in the log [ns].
        then: What was wrong with what was known then.
        later: What is wrong with all that is in the log.
        links: The moving links between the two, and when they were told.
    """

    of: str
    in_frame: str
    at: int
    asked_at: int
    then: Diagnosis
    later: Diagnosis
    links: tuple[Arrival, ...]

    @property
    def answerable_from(self) -> int | None:
        """When all that is needed had come [ns]; None: it never did."""
        if not self.later.is_visible or any(link.came is None for link in self.links):
            return None
        return max([self.asked_at, *(link.came for link in self.links if link.came is not None)])

    @property
    def reason(self) -> str:
        """Return one sentence."""
        asked, at = format_stamp(self.asked_at), format_stamp(self.at)
        if self.then.is_visible:
            return f"'{self.of}' could be seen from '{self.in_frame}' at {at}, when it was asked at {asked}."
        came = self.answerable_from
        if came is None:
            return f"{self.later.reason if not self.later.is_visible else self.then.reason}"
        late = [link for link in self.links if link.came is not None and link.came > self.asked_at]
        if not late:
            return self.then.reason
        last = max(late, key=lambda link: link.came or 0)
        wait = format_duration(came - self.asked_at)
        return (
            f"The lookup came too early: '{last.of}' in '{last.in_frame}' for {at} was not there before "
            f"{format_stamp(came)}, {wait} after it was asked."
        )

    @property
    def hint(self) -> str:
        """Return what helps."""
        came = self.answerable_from
        if self.then.is_visible:
            return ""
        if came is None or came <= self.asked_at:
            return self.then.hint if came is not None or self.later.is_visible else self.later.hint
        wait_s = (came - self.asked_at) / _NS_PER_S
        return (
            f"Wait for it: wait_for_pose(..., timeout_s={max(0.1, round(2 * wait_s, 1)):g}), in tf2 a timeout of as "
            "much; or look up an instant that is that much older."
        )

    def __str__(self) -> str:
        hint = [self.hint] if self.hint else []
        return "\n".join([self.reason, *hint, *(f"    {link}" for link in self.links)])


class _Link:
    """What is known of one link while the log goes by."""

    def __init__(self, parent: str) -> None:
        self.parent, self.newest, self.came, self.delays = parent, None, None, list[float]()

    newest: int | None
    came: int | None

    def see(self, parent: str, stamps: Any, log_times: Any, at: int, asked_at: int) -> None:
        self.parent = parent
        known = stamps[log_times <= asked_at]
        if len(known):
            self.newest = max(int(known.max()), -(2**62) if self.newest is None else self.newest)
        enough = log_times[stamps >= at]
        if len(enough):
            first = int(enough.min())
            self.came = first if self.came is None else min(first, self.came)
        self.delays.append(float(np.median(log_times - stamps)) / _NS_PER_S)


def arrivals(
    log: LogFile, topics: Mapping[str, Mapping[str, str]], frames: set[str], at: int, asked_at: int
) -> tuple[Arrival, ...]:
    """Return when the moving links of some frames to their parents were told, by their transforms.

    Args:
        log: The log.
        topics: How topics are used.
        frames: The frames on the path.
        at: The instant that was asked for [ns].
        asked_at: When it was asked [ns].
    """
    uses: dict[Topic, TopicUse | None] = {}
    tables: dict[str, TransformTable] = {}
    links: dict[str, _Link] = {}

    def note(table: TransformTable) -> None:
        for parent, child, stamps, _, log_times in table.take():
            if child in frames:
                links.setdefault(child, _Link(parent)).see(parent, stamps, log_times, at, asked_at)

    for block in log.blocks():
        for part in grouped(log, block):
            if part.topic not in uses:
                uses[part.topic] = use_of(part.topic, topics)
            use = uses[part.topic]
            if use is None or use.kind != "transforms" or use.form not in {"ros1", "cdr", "foxglove", "foxglove_one"}:
                continue
            table = tables.setdefault(use.form, TransformTable())
            table.add(part.block.data, part.block.offsets, part.block.sizes, part.block.log_times, use.form)
            table.take_newest()
            if len(table) >= _ROWS_AT_ONCE:
                note(table)
    for table in tables.values():
        note(table)
    return tuple(
        Arrival(child, link.parent, link.newest, link.came, float(np.median(link.delays)))
        for child, link in sorted(links.items())
    )
