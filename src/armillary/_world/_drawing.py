"""Pictures of a world, without a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

from armillary._world._diagnosing import DiagnosingWorld
from armillary.stamps import LATEST, Latest

if TYPE_CHECKING:
    from os import PathLike
    from pathlib import Path

    from armillary.view import Theme


class DrawingWorld(DiagnosingWorld):
    """A world that draws itself. The ending of a path decides: .svg needs nothing, .png needs matplotlib."""

    def draw_tree(self, path: str | PathLike[str], *, at: int | Latest = LATEST, theme: Theme = "light") -> Path:
        """Draw which frame hangs under which at one time, and how each edge is known: kind, rate, age, source.

        Raises:
            InvalidArgument: Another ending than .svg or .png.
            MissingExtra: A PNG, and no matplotlib.
        """
        from armillary.view import draw_tree  # noqa: PLC0415  (a world that is not drawn needs none of it)

        return draw_tree(self, path, at=at, theme=theme)
