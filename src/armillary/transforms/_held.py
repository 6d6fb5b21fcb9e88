"""Evidence of a held sample: which one was used at another instant than its own, and how old it was."""

from __future__ import annotations

from dataclasses import dataclass

from armillary.errors.format import format_duration

__all__ = ["HeldSample", "joined_held"]

_NS_PER_S = 1e9


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldSample:
    """A sample that was used at another instant than its own.

    Attributes:
        relation: The relation that it places, or whose motion it is: (of, in_frame, source). None where a joint was
            asked for by itself.
        age_s: How long it was held [s]: the instant asked for, less its own. Negative where it was used before its own
            instant, because nothing earlier is known.
        joint: The joint that it is a value of; None for a pose or a twist.
    """

    relation: tuple[str, str, str] | None
    age_s: float
    joint: str | None = None

    def __str__(self) -> str:
        parts = [] if self.joint is None else [f"joint '{self.joint}'"]
        if self.relation is not None:
            of, in_frame, source = self.relation
            parts.append(f"'{of}' in '{in_frame}'" + (f" by '{source}'" if source else ""))
        return f"{' of '.join(parts)} {self._when()}"

    def _when(self) -> str:
        duration = format_duration(round(abs(self.age_s) * _NS_PER_S))
        return f"for {duration}" if self.age_s >= 0.0 else f"from {duration} later"


def joined_held(*several: tuple[HeldSample, ...]) -> tuple[HeldSample, ...]:
    """Return what was held for several values together, each once."""
    return tuple(dict.fromkeys(sample for held in several for sample in held))
