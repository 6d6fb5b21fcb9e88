"""How well each relation is fed: rate, delay, age, jitter, gaps, and how far rivals disagree."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from armillary.errors import ArmillaryError
from armillary.scene.node_frames import is_of_a_node

if TYPE_CHECKING:
    from armillary import World
    from armillary.cli._arrivals import Arrivals
    from armillary.transforms import RelationInfo

__all__ = ["Stream", "streams"]

_NS_PER_S = 1e9
_LONG = 2.5
"""An interval so many times the middle one is a gap."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """What one source says of one frame.

    Attributes:
        of: The frame that is placed.
        in_frame: Its parent.
        source: Who says so.
        kind: "fixed", "sampled", "integrated" or "driven".
        rate_hz: Mean rate [Hz]; None for fewer than two samples, as for the others.
        delay_s: How long after its instant a sample comes, on average [s]; None where none was seen coming.
        age_s: How old the newest sample is [s]: its delay, and the time since it came.
        jitter_s: The standard deviation of the time between samples [s].
        gaps: How often it was quiet for more than twice and a half the usual time.
        longest_gap_s: The longest time without a sample [s].
        rivals: Others who place the same frame.
        is_contested: Whether nothing says whom of them to believe.
        apart_m: How far they disagree, at most [m]; None where that is not known.
        apart_rad: The same for the angle [rad].
    """

    of: str
    in_frame: str
    source: str
    kind: str
    rate_hz: float | None
    delay_s: float | None
    age_s: float | None
    jitter_s: float | None
    gaps: int
    longest_gap_s: float | None
    rivals: tuple[str, ...]
    is_contested: bool
    apart_m: float | None
    apart_rad: float | None


def streams(world: World, arrivals: Arrivals) -> list[Stream]:
    """Of every relation of poses, without those of nodes of the scene."""
    infos = [info for info in world.relations() if info.kind != "twist" and not is_of_a_node(info.of)]
    sources: dict[str, list[str]] = defaultdict(list)
    for info in infos:
        if info.source not in sources[info.of]:
            sources[info.of].append(info.source)
    contested = {of for of, note in world.tree().notes.items() if note.startswith("contested")}
    return [_stream(world, info, sources[info.of], arrivals, is_contested=info.of in contested) for info in infos]


def _stream(
    world: World, info: RelationInfo, sources: Sequence[str], arrivals: Arrivals, *, is_contested: bool
) -> Stream:
    intervals_s = _intervals_s(world, info)
    is_fed = len(intervals_s) > 0
    apart = _disagreement(world, info) if len(sources) > 1 else None
    return Stream(
        of=info.of,
        in_frame=info.in_frame,
        source=info.source,
        kind=info.kind,
        rate_hz=info.rate_hz,
        delay_s=arrivals.delay_s(info),
        age_s=info.age_s,
        jitter_s=float(intervals_s.std()) if is_fed else None,
        gaps=int((intervals_s > _LONG * np.median(intervals_s)).sum()) if is_fed else 0,
        longest_gap_s=float(intervals_s.max()) if is_fed else None,
        rivals=tuple(source for source in sources if source != info.source),
        is_contested=is_contested,
        apart_m=None if apart is None else apart[0],
        apart_rad=None if apart is None else apart[1],
    )


def _intervals_s(world: World, info: RelationInfo) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    if not info.samples:
        return np.empty(0)
    stamps = world.samples(of=info.of, in_frame=info.in_frame, source=info.source).stamps
    return np.diff(stamps) / _NS_PER_S


def _disagreement(world: World, info: RelationInfo) -> tuple[float, float] | None:
    """Between any two of the sources, at the newest instant that all of them cover."""
    policy = _Spread()
    try:
        world.pose(of=info.of, in_frame=info.in_frame, policy=policy)
    except ArmillaryError:
        return None
    return policy.apart


class _Spread:
    """A policy that looks at all paths, and takes the first."""

    at_one_instant = True

    def __init__(self) -> None:
        self.apart: tuple[float, float] | None = None

    def __call__(self, candidates: Sequence[Any]) -> Any:
        places = [candidate.pose.transform for candidate in candidates]
        pairs = [a.inverse() @ b for i, a in enumerate(places) for b in places[i + 1 :]]
        if pairs:
            angles = [math.hypot(*pair.rotation.log()) for pair in pairs]
            self.apart = max(math.hypot(*pair.translation) for pair in pairs), max(angles)
        return candidates[0]
