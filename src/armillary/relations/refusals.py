"""From a broken rule to the error that says so."""

from __future__ import annotations

from typing import Any

from armillary.errors.relations import ConstraintViolation
from armillary.relations.structure import Violation


def violated(violation: Violation, call: str, asked: str, offer: Any = None) -> ConstraintViolation:
    """The error of a broken rule."""
    return ConstraintViolation(
        constraint=violation.constraint,
        operation=call,
        asked=asked,
        reason=violation.reason,
        existing=violation.existing,
        hint=violation.hint,
        offer=offer,
    )


def refuse(violation: Violation | None, call: str, asked: str) -> None:
    """Raises where a rule is broken."""
    if violation is not None:
        raise violated(violation, call, asked)
