"""What was found in a log, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from armillary.errors.format import format_stamp

__all__ = ["LogReport", "TopicReport"]

_NS_PER_S = 1e9


@dataclass(slots=True)
class TopicReport:
    """One topic of a log.

    Attributes:
        name: As "/tf".
        type: Of its messages.
        source: Who says so, in the world; empty where it is not used.
        messages: How many were read.
        samples: How many samples of the world were made of them.
        malformed: How many messages could not be decoded.
    """

    name: str
    type: str
    source: str = ""
    messages: int = 0
    samples: int = 0
    malformed: int = 0

    def __str__(self) -> str:
        used = f"{self.samples} samples by '{self.source}'" if self.source else "not used"
        bad = f", {self.malformed} malformed" if self.malformed else ""
        return f"{self.name} ({self.type}): {self.messages} messages, {used}{bad}"


@dataclass(slots=True)
class LogReport:
    """What was read from a log.

    Attributes:
        path: Where it is.
        first: When the first message that was used was written down [ns]; None where there is none.
        last: When the last one was.
        topics: By name.
        late: How many samples came after a newer one of the same frame.
        passes: Where time went back in the log, as when it was played in a loop: the log times of each pass, the first
            and the last.
        used_pass: The number of the pass that was read.
        preferred: Frames that several sources place, and the one that is preferred.
        left_out: What was not stored: how often, by reason.
        notes: What is wrong with the file.
    """

    path: str
    first: int | None = None
    last: int | None = None
    topics: dict[str, TopicReport] = field(default_factory=dict)
    late: int = 0
    passes: tuple[tuple[int, int], ...] = ()
    used_pass: int = 0
    preferred: dict[str, str] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def leave_out(self, reason: str, count: int = 1) -> None:
        """Count what is not stored."""
        if count:
            known = reason if reason in self.left_out or len(self.left_out) < 100 else "others"  # noqa: PLR2004
            self.left_out[known] = self.left_out.get(known, 0) + count

    @property
    def problems(self) -> tuple[str, ...]:
        """Return a sentence for each thing that whoever reads the log should know."""
        found = [f"The file is damaged: {note}." for note in self.notes]
        if len(self.passes) > 1:
            many = len(self.passes)
            found.append(
                f"Time goes back {many - 1} times in this log: it has {many} passes, and number {self.used_pass} was "
                "read."
            )
        if self.late:
            found.append(f"{self.late} samples came later than newer ones of the same frame; they were sorted in.")
        found += [f"{count} left out: {reason}." for reason, count in self.left_out.items()]
        found += [
            f"{one.malformed} messages of {one.name} are malformed." for one in self.topics.values() if one.malformed
        ]
        for frame, source in self.preferred.items():
            found.append(f"Several sources place '{frame}': '{source}' is preferred, see world.prefer.")
        return tuple(found)

    def __str__(self) -> str:
        span = "nothing that is used"
        if self.first is not None and self.last is not None:
            span = (
                f"{format_stamp(self.first)} to {format_stamp(self.last)}, {(self.last - self.first) / _NS_PER_S:.1f} s"
            )
        lines = [f"{self.path}: {span}", *(f"  {topic}" for topic in self.topics.values()), *self.problems]
        return "\n".join(lines)
