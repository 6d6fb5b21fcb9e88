"""Refusals of policies that choose among several paths."""

from __future__ import annotations

from collections.abc import Sequence

from armillary.errors._base import ArmillaryError

__all__ = ["NoPathChosen"]


class NoPathChosen(ArmillaryError, LookupError):
    """Several paths have an answer, and none of them is as wanted; `paths` are the relations that tell them apart."""

    def __init__(self, of: str, in_frame: str, wanted: str, paths: Sequence[Sequence[tuple[str, str, str]]]) -> None:
        self.of, self.in_frame, self.wanted = of, in_frame, wanted
        self.paths = tuple(tuple(path) for path in paths)
        told = "; ".join(" and ".join(f"'{of}' by '{source}'" for of, _, source in path) for path in self.paths)
        super().__init__(
            f"No path from '{of}' to '{in_frame}' goes by {wanted}. There are: {told}. Choose among these, or pass "
            "policy='latest', 'most_certain' or 'fuse'."
        )
