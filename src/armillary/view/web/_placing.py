"""Where all frames are at one instant, as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from armillary.stamps import Latest

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

    from armillary.transforms import Snapshot
    from armillary.view.web._viewed import Viewed

__all__ = ["Placed", "composed", "place", "turned"]

_AFTER_EVERYTHING_NS = 2**61


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Placed:
    """Frames seen from one frame at one instant.

    Attributes:
        in_frame: The frame they are seen from.
        at_ns: The instant that was asked for.
        names: The frames that were asked for.
        rows: (N, 7): x, y, z, then the quaternion w, x, y, z; NaN where the pose is not known.
        snapshot: What the world answered.
        held: Frames that were looked at beyond their history.
    """

    in_frame: str
    at_ns: int
    names: tuple[str, ...]
    rows: NDArray[float64]
    snapshot: Snapshot
    held: frozenset[str]

    @property
    def is_known(self) -> NDArray[np.bool_]:
        """(N,): which have a pose."""
        return ~np.isnan(self.rows[:, 0])

    def of(self, name: str) -> NDArray[float64] | None:
        """(7,) of one frame; None where it is not known."""
        row = self.rows[self.names.index(name)] if name in self.names else None
        return None if row is None or np.isnan(row[0]) else row


def place(world: Viewed, names: Sequence[str], *, in_frame: str, at: int | Latest) -> Placed:
    """Where these frames are: all of them from one sweep.

    Beyond the history of a frame its nearest sample is shown, and said to be held. `LATEST` takes the newest of every
    relation: the newest that all of a path covers differs from frame to frame, and would tear a robot apart whose
    joints are told one by one.
    """
    at_ns = _AFTER_EVERYTHING_NS if isinstance(at, Latest) else at
    snapshot = world.snapshot(in_frame=in_frame, at=at_ns, outside="hold")
    return Placed(
        in_frame=in_frame,
        at_ns=at_ns,
        names=tuple(names),
        rows=snapshot.xyz_wxyz(names),
        snapshot=snapshot,
        held=frozenset() if isinstance(at, Latest) else snapshot.held,
    )


def composed(a_T_b: NDArray[float64], b_T_c: NDArray[float64]) -> NDArray[float64]:
    """(N, 7) a_T_c of rows that belong together."""
    aw, ax, ay, az = a_T_b[:, 3:].T
    bw, bx, by, bz = b_T_c[:, 3:].T
    turns = np.stack(
        [
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ],
        axis=1,
    )
    return np.concatenate([a_T_b[:, :3] + turned(a_T_b[:, 3:], b_T_c[:, :3]), turns], axis=1)


def turned(wxyz: NDArray[float64], vectors: NDArray[float64]) -> NDArray[float64]:
    """(N, 3): each vector turned by its quaternion."""
    across = 2.0 * np.cross(wxyz[:, 1:], vectors)
    answer: NDArray[float64] = vectors + wxyz[:, :1] * across + np.cross(wxyz[:, 1:], across)
    return answer
