"""Operations on numbers, and what a history is when it is replayed from nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from armillary.articulation.history import Apply, History
from armillary.articulation.operations import Operation, Reading


@dataclass(frozen=True)
class Sum(Operation):
    """Writes the sum of what it reads and a number, to every path it writes."""

    to: tuple[str, ...]
    of: tuple[str, ...] = ()
    more: float = 0.0
    runs: list[str] = field(default_factory=list, compare=False)

    @property
    def reads(self) -> Sequence[str]:
        return self.of

    @property
    def writes(self) -> Sequence[str]:
        return self.to

    def run(self, read: Reading) -> Mapping[str, Any]:
        self.runs.append("ran")
        return dict.fromkeys(self.to, sum(read(path) for path in self.of) + self.more)


@dataclass(frozen=True)
class Failing(Sum):
    """Raises where the sum is negative."""

    def run(self, read: Reading) -> Mapping[str, Any]:
        if sum(read(path) for path in self.of) + self.more < 0.0:
            raise ArithmeticError("the sum is negative.")
        return super().run(read)


def number(path: str, value: float = 1.0) -> Sum:
    return Sum((path,), more=value)


def history(max_undo: int = 100) -> History:
    return History(max_undo=max_undo, check=lambda values, paths: None)


def replayed(old: History) -> History:
    """The same operations, run one after the other in a new history."""
    new = history()
    for tag in old.tags:
        new.edit([Apply(tag, old.operation(tag))])
    return new


def state(some: History) -> tuple:
    return dict(some.values), some.tags, [some.operation(tag) for tag in some.tags]
