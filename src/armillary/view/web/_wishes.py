"""What who looks at the picture wants to see."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from armillary.view.web._timeline import Timeline

if TYPE_CHECKING:
    from typing import TypeAlias

__all__ = ["Change", "Wishes"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """All that can be chosen beside the picture.

    Attributes:
        in_frame: The frame that the picture stands in; None while the world has none.
        timeline: Which instant is shown.
        selected: The frame of which more is told.
        seen_from: The frame in which its pose is told; None: that of the picture.
        search: Words that names of frames have to hold.
        names: Which frames have their names beside them.
        trails: Whether the ways of moving frames are shown.
        trail_s: How long these are [s].
        motions: Whether velocities are shown.
        ellipsoids: Whether uncertainty is shown.
        frames: Whether axes are shown.
    """

    in_frame: str | None = None
    timeline: Timeline = field(default_factory=Timeline)
    selected: str | None = None
    seen_from: str | None = None
    search: str = ""
    names: Literal["all", "found", "none"] = "all"
    trails: bool = True
    trail_s: float = 3.0
    motions: bool = False
    ellipsoids: bool = True
    frames: bool = True


Change: TypeAlias = Callable[[Wishes], Wishes]
"""From what was wanted to what is wanted now."""
