"""Pictures of a world, without a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

from armillary._world._diagnosing import DiagnosingWorld
from armillary.notebook import world_html
from armillary.stamps import LATEST, Latest

if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike
    from pathlib import Path

    from numpy.typing import ArrayLike

    from armillary.view.theme import Theme


class DrawingWorld(DiagnosingWorld):
    """A world that draws itself. The ending of a path decides: .svg needs nothing, .png needs matplotlib."""

    root_frame: str

    def _repr_html_(self) -> str:
        return world_html(self)

    def draw(
        self,
        path: str | PathLike[str],
        *,
        in_frame: str | None = None,
        at: int | Latest = LATEST,
        from_: ArrayLike = (1.0, -1.4, 0.9),
        frames: Iterable[str] | None = None,
        theme: Theme = "light",
    ) -> Path:
        """Draw what stands in this world: shapes of its scene, frames, ellipsoids of what is not certain.

        Args:
            path: The file to write.
            in_frame: The frame that the picture stands in, z upwards; the root, if left out.
            at: The instant shown [ns].
            from_: The direction the eye is in, in `in_frame`.
            frames: Those whose axes and names are shown; all that somebody named, if left out.
            theme: "light" or "dark" paper.

        Raises:
            InvalidArgument: `from_` has no direction, or another ending than .svg or .png.
            MissingExtra: A PNG, and no matplotlib.
        """
        from armillary.view import draw_world  # noqa: PLC0415  (a world that is not drawn needs none of it)

        return draw_world(self, path, in_frame=in_frame, at=at, from_=from_, frames=frames, theme=theme)

    def draw_tree(self, path: str | PathLike[str], *, at: int | Latest = LATEST, theme: Theme = "light") -> Path:
        """Draw which frame hangs under which at one time, and how each edge is known: kind, rate, age, source.

        Raises:
            InvalidArgument: Another ending than .svg or .png.
            MissingExtra: A PNG, and no matplotlib.
        """
        from armillary.view import draw_tree  # noqa: PLC0415  (see `draw`)

        return draw_tree(self, path, at=at, theme=theme)

    def plot_history(
        self,
        path: str | PathLike[str],
        *,
        of: str,
        in_frame: str,
        start: int | None = None,
        end: int | None = None,
        deviations: float = 2.0,
        theme: Theme = "light",
    ) -> Path:
        """Plot how a pose changed: position, angles, speed and turning over time, with bands of their covariance.

        Args:
            path: The file to write.
            of: The frame whose pose is wanted.
            in_frame: The frame it is seen from.
            start: The first instant [ns]; the oldest that can be answered, if left out.
            end: The last instant [ns]; `LATEST`, if left out.
            deviations: So many standard deviations to both sides are in the bands.
            theme: "light" or "dark" paper.

        Raises:
            InvalidArgument: The pose is fixed, `start` is after `end`, or another ending than .svg or .png.
            MissingExtra: A PNG, and no matplotlib.
        """
        from armillary.view import plot_history  # noqa: PLC0415  (see `draw`)

        return plot_history(
            self, path, of=of, in_frame=in_frame, start=start, end=end, deviations=deviations, theme=theme
        )
