"""How many of something one store holds at most, where no setting says so.

What comes from other replicas is not refused: all of them would have to agree.
"""

from __future__ import annotations

from armillary.errors import LimitReached

__all__ = ["MOST_BODIES", "MOST_JOINTS", "check_limit"]

MOST_BODIES = 1_000
MOST_JOINTS = 10_000


def check_limit(count: int, limit: int, what: str, hint: str) -> None:
    """Raise `LimitReached` where there would be more than `limit` of something."""
    if count > limit:
        raise LimitReached(what, limit, hint)
