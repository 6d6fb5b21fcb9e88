"""Edits of a history: what may be done to the sequence of operations."""

from __future__ import annotations

from dataclasses import dataclass

from armillary.articulation.operations._operation import Operation

__all__ = ["Apply", "Edit", "InsertAfter", "InsertBefore", "RemoveOperation"]


@dataclass(frozen=True, slots=True)
class Edit:
    """One change of the sequence; `tag` is the operation that it is about."""

    tag: str


@dataclass(frozen=True, slots=True)
class Apply(Edit):
    """At the end, or in place of the operation that has this tag."""

    operation: Operation


@dataclass(frozen=True, slots=True)
class InsertBefore(Edit):
    """A new operation right in front of another."""

    operation: Operation
    before: str


@dataclass(frozen=True, slots=True)
class InsertAfter(Edit):
    """A new operation right behind another."""

    operation: Operation
    after: str


@dataclass(frozen=True, slots=True)
class RemoveOperation(Edit):
    """Out of the sequence."""
