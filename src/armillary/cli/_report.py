"""The end of the demonstration in words, or as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from armillary.cli._figures import Figures, FollowError
    from armillary.cli._pictures import Pictures
    from armillary.transforms import Tree


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Everything there is to say.

    Attributes:
        tree: The frames at the end.
        figures: What was measured.
        pictures: What was drawn.
        took_s: How long the drive took on the wall clock [s].
    """

    tree: Tree
    figures: Figures
    pictures: Pictures
    took_s: float

    def json(self) -> str:
        """For programs."""
        drawn = asdict(self.pictures) | {"folder": str(self.pictures.folder)}
        report = {"demo": "turtles", "took_s": self.took_s, **asdict(self.figures), "pictures": drawn}
        return json.dumps(report, indent=2)

    def text(self) -> str:
        """For people."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        figures, pictures = self.figures, self.pictures
        counts = ", ".join(f"{count:,} of {turtle}" for turtle, count in figures.samples.items())
        driven = f"{figures.simulated_s:.4g} s of driving, done in {self.took_s:.2f} s"
        yield f"turtle2 followed turtle1, five seconds behind: {driven}."
        yield f"\n{self.tree}\n"
        yield f"  follow error  {_following(figures.follow_error)}"
        yield f"  samples       {counts}"
        yield f"  lookups       {figures.two_time_lookups_per_s:,.0f} two-time lookups a second, one by one"
        yield f"                {figures.batch_lookups_per_s:,.0f} lookups a second in one batch"
        yield f"  pictures      {pictures.folder}: {', '.join(pictures.files)}"
        if pictures.missing:
            yield f"                No PNG. {pictures.missing}"


def _following(error: FollowError | None) -> str:
    if error is None:
        return "turtle2 had not caught up yet; drive longer with --seconds 30"
    return (
        f"mean {error.mean_m * 1e3:.3f} mm, largest {error.largest_m * 1e3:.3f} mm "
        f"at {error.instants:,} instants from {error.since_s:.2f} s on"
    )
