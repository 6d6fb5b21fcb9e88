"""The world in a browser."""

from __future__ import annotations

import sys
from abc import abstractmethod
from typing import TYPE_CHECKING

from armillary._world._drawing import DrawingWorld
from armillary.errors import WorldClosed

if TYPE_CHECKING:
    from armillary.view.web import Viewer


class ViewingWorld(DrawingWorld):
    """A world that can be looked at."""

    root_frame: str
    _closed: bool
    _viewers: tuple[Viewer, ...] = ()

    @abstractmethod
    def _report(self, error: BaseException) -> None:
        """Tell what went wrong where nobody could be told."""

    def view(
        self,
        *,
        in_frame: str | None = None,
        host: str = "127.0.0.1",
        port: int | None = None,
        rate_hz: float = 60.0,
        quiet: bool = False,
    ) -> Viewer:
        """Show this world in a browser until it, or the viewer, is closed; says on stderr where, and to whom.

        Args:
            in_frame: The frame that the picture stands in; the root, if left out.
            host: Who can look: this computer alone, unless another address is given. There is no password.
            port: The first free one from 8080 on, if left out.
            rate_hz: How often the picture moves.
            quiet: Say nothing.

        Raises:
            MissingExtra: viser is not installed.
            InvalidArgument: The port is taken.
        """
        from armillary.view.web import Viewer  # noqa: PLC0415  (an extra)

        if self._closed:
            raise WorldClosed
        viewer = Viewer(self, in_frame=in_frame, host=host, port=port, rate_hz=rate_hz, on_error=self._report)
        self._viewers = (*(other for other in self._viewers if other.is_open), viewer)
        if not quiet:
            sys.stderr.write(f"{viewer}\n")
        return viewer

    def _close_viewers(self) -> None:
        for viewer in self._viewers:
            viewer.close()
