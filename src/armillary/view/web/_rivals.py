"""Where frames would be, if this or that source were believed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from armillary.errors import AmbiguousPath, ArmillaryError
from armillary.view.web._ellipsoids import Ellipsoid, ellipsoid_of

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

    from armillary.fusion.policies import Candidate
    from armillary.view.web._placing import Placed
    from armillary.view.web._viewed import Viewed

__all__ = ["Rival", "rivals"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rival:
    """One hypothesis about one frame.

    Attributes:
        of: The frame.
        sources: Who says so, where others say otherwise.
        row: (7,): x, y, z, then the quaternion w, x, y, z.
        ellipsoid: How sure that is; None where it is exact or unknown.
    """

    of: str
    sources: tuple[str, ...]
    row: NDArray[float64]
    ellipsoid: Ellipsoid | None

    @property
    def said_by(self) -> str:
        """The sources in one word."""
        return " + ".join(self.sources)


def rivals(world: Viewed, names: Iterable[str], placed: Placed) -> list[Rival]:
    """All hypotheses about those frames that have no pose because sources disagree."""
    contested = [name for name in names if isinstance(placed.snapshot.missing.get(name), AmbiguousPath)]
    return [rival for name in contested for rival in _hypotheses(world, name, placed)]


def _hypotheses(world: Viewed, name: str, placed: Placed) -> list[Rival]:
    found: list[Candidate] = []

    def collect(candidates: Sequence[Candidate]) -> Candidate:
        found.extend(candidates)
        return candidates[0]

    try:
        world.pose(of=name, in_frame=placed.in_frame, at=placed.at_ns, outside="hold", policy=collect)
    except ArmillaryError:
        return []
    return [
        Rival(
            of=name,
            sources=tuple(dict.fromkeys(source for *_, source in one.chosen)),
            row=np.array(one.pose.transform.xyz_wxyz),
            ellipsoid=ellipsoid_of(one.pose),
        )
        for one in found
    ]
