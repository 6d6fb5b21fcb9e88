"""The kitchen in a browser, where the extra for it is installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from armillary.errors import MissingExtra

if TYPE_CHECKING:
    from armillary import World


@contextmanager
def shown_in_browser(world: World) -> Iterator[str]:
    """While it lasts a browser can look; gives the line that says where, or what to install."""
    try:
        viewer = world.view(quiet=True)
    except MissingExtra as missing:
        yield f"In a browser: {missing}"
        return
    with viewer:
        yield str(viewer)
