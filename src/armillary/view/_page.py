"""Where things stand on a page: the same in every picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from armillary.view._drawing import Text
from armillary.view._style import INK, MUTED, SMALL_PX, TITLE_PX

if TYPE_CHECKING:
    from armillary.view._axes import Axes
    from armillary.view._drawing import Point

__all__ = ["LEGEND_PX", "MARGIN_PX", "PLAN_CORNER_PX", "heading", "plan_size"]

MARGIN_PX = 28.0
LEGEND_PX = (MARGIN_PX, 80.0)
PLAN_CORNER_PX = (68.0, 116.0)
_BELOW_PLAN_PX = 52.0
_NARROWEST_PX = 420.0
_TITLE_PX, _SAID_PX = (MARGIN_PX, 36.0), (MARGIN_PX, 55.0)


def heading(title: str, said: str) -> tuple[Text, Text]:
    """What it is a picture of, and what else there is to say of it."""
    return (
        Text(at=_TITLE_PX, text=title, size=TITLE_PX, color=INK, bold=True),
        Text(at=_SAID_PX, text=said, size=SMALL_PX, color=MUTED),
    )


def plan_size(axes: Axes, legend_end: float) -> Point:
    """Of the page [px] around a plan that is at `PLAN_CORNER_PX`, and a legend that reaches so far to the right."""
    left, top = PLAN_CORNER_PX
    return max(_NARROWEST_PX, legend_end, left + axes.size[0]) + MARGIN_PX, top + axes.size[1] + _BELOW_PLAN_PX
