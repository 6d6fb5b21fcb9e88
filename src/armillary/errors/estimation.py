"""Errors about estimates from several measurements: nothing to average, trees that are connected already."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from armillary.errors.base import ArmillaryError
from armillary.errors.format import format_stamp, join_names

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

__all__ = ["AlreadyConnected", "NothingToAverage"]


class NothingToAverage(ArmillaryError, LookupError):
    """No sample of a frame lies in the interval; `sources` are those that sample it at other times, if any."""

    def __init__(
        self,
        of: str,
        in_frame: str,
        *,
        source: str | None,
        start: int | None,
        end: int | None,
        sources: Sequence[str],
    ) -> None:
        self.of, self.in_frame, self.source = of, in_frame, source
        self.start, self.end, self.sources = start, end, tuple(sources)
        super().__init__(self._sentence())

    def _sentence(self) -> str:
        who = "" if self.source is None else f" by source '{self.source}'"
        limits = [f"from {format_stamp(self.start)}" if self.start is not None else ""]
        limits.append(f"until {format_stamp(self.end)}" if self.end is not None else "")
        when = "".join(f" {limit}" for limit in limits if limit)
        asked = f"The mean pose of '{self.of}' in '{self.in_frame}' was asked, and there is no sample of it{who}{when}."
        if self.sources:
            known = join_names(self.sources)
            return f"{asked} These sources sample it: {known}. Leave out source=, or ask for another interval."
        return (
            f"{asked} Samples of '{self.of}' are averaged, each seen from '{self.in_frame}': set some with set_pose. "
            f"Where '{self.in_frame}' is the frame that is sampled, average that one and take the inverse."
        )


class AlreadyConnected(ArmillaryError, ValueError):
    """A measurement between two frames was to connect their trees, and they are in one tree.

    Attributes:
        of: The frame that was measured.
        in_frame: The frame that it was measured from.
        root: The root of the tree that both are in.
        requested: The instant of the measurement [ns].
        residual: (6,) how far the measurement is from the known pose, translation [m] then rotation [rad], in the
            tangent of `of`: `known.inverse() @ measured` as a tangent.
        distance: The same in standard deviations of both; None where one of them is unknown.
    """

    def __init__(
        self,
        of: str,
        in_frame: str,
        *,
        root: str,
        requested: int,
        residual: NDArray[float64],
        distance: float | None,
    ) -> None:
        self.of, self.in_frame, self.root, self.requested = of, in_frame, root, requested
        self.residual, self.distance = residual, distance
        shift, turn = (sum(float(x) ** 2 for x in part) ** 0.5 for part in (residual[:3], residual[3:]))
        apart = f"{shift:.4g} m and {turn:.4g} rad" + ("" if distance is None else f" ({distance:.3g} deviations)")
        super().__init__(
            f"'{of}' and '{in_frame}' are in one tree already, that of '{root}', at {format_stamp(requested)}: "
            f"there is nothing to connect. The measurement differs from what is known by {apart}. Pass update=True to "
            "correct a connection of this source, or set_pose(..., source=...) to let the measurement contest."
        )
