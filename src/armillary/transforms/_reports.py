"""What a world tells about its inside."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from armillary._core import StoreCore, SweepAnswer, Transform
    from armillary.errors import ArmillaryError

_NS_PER_S = 1e9


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationInfo:
    """One pose relation: who places which frame in which, and how much is known.

    Attributes:
        of: The frame that is placed.
        in_frame: Its parent.
        source: Who says so.
        kind: "fixed", "sampled", "integrated" or "driven"; "twist" for a motion, relative to the body `in_frame`.
        samples: Number of samples held.
        first: Oldest instant held [ns]; None without samples.
        last: Newest instant held [ns]; None without samples.
        age_s: How long ago `last` was on the world's clock [s]; None without samples.
    """

    of: str
    in_frame: str
    source: str
    kind: str
    samples: int
    first: int | None
    last: int | None
    age_s: float | None

    @property
    def span_s(self) -> float:
        """Time between the oldest and the newest sample [s]."""
        return 0.0 if self.first is None or self.last is None else (self.last - self.first) / _NS_PER_S

    @property
    def rate_hz(self) -> float | None:
        """Mean rate of the samples held [Hz]; None for fewer than two."""
        return (self.samples - 1) / self.span_s if self.samples > 1 and self.span_s > 0.0 else None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Samples:
    """The stored samples of one relation, oldest first.

    Attributes:
        stamps: (N,) int64 [ns].
        transforms: (N, 7): x, y, z, then the quaternion w, x, y, z.
        covariances: (N, 6, 6) with rows of NaN where unknown; None where no sample has one.
    """

    stamps: NDArray[np.int64]
    transforms: NDArray[np.float64]
    covariances: NDArray[np.float64] | None

    def __len__(self) -> int:
        return len(self.stamps)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TwistSamples:
    """The measured twists of one frame relative to one body, by one source, oldest first.

    Attributes:
        stamps: (N,) int64 [ns].
        twists: (N, 6): the linear velocity [m/s], then the angular one [rad/s], at the origin and along the axes of the
            frame that moves.
        covariances: (N, 6, 6) with rows of NaN where unknown; None where no sample has one.
    """

    stamps: NDArray[np.int64]
    twists: NDArray[np.float64]
    covariances: NDArray[np.float64] | None

    def __len__(self) -> int:
        return len(self.stamps)


class Snapshot(Mapping[str, "Transform"]):
    """The transform of every frame that could be answered for, by name: `in_frame_T_name`."""

    def __init__(self, store: StoreCore, sweep: SweepAnswer, in_frame: str) -> None:
        self.in_frame = in_frame
        self._sweep = sweep
        self._missing = sweep.missing(store, in_frame)

    @cached_property
    def _rows(self) -> dict[str, int]:
        return self._sweep.positions()

    def __getitem__(self, name: str) -> Transform:
        return self._sweep.transform(self._rows[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._sweep)

    def xyz_wxyz(self, names: Iterable[str]) -> NDArray[np.float64]:
        """(N, 7) for these names: x, y, z, then the quaternion w, x, y, z; NaN for a frame without an answer."""
        import numpy as np  # noqa: PLC0415  (a world of single questions starts without it)

        rows, last = self._rows, len(self)
        chosen = np.array([rows.get(name, last) for name in names], dtype=np.intp)
        return np.concatenate([self._sweep.xyz_wxyz(), np.full((1, 7), np.nan)])[chosen]

    @property
    def missing(self) -> Mapping[str, ArmillaryError]:
        """Frames without an answer, and why."""
        return MappingProxyType(self._missing)

    @property
    def stamps(self) -> Mapping[str, int | None]:
        """The instant of each answer [ns]; None where everything on the path is fixed."""
        return MappingProxyType({name: self._sweep.stamp(row) for name, row in self._rows.items()})

    @property
    def held(self) -> frozenset[str]:
        """Frames for which the nearest sample was taken (`outside='hold'`)."""
        if not self._sweep.any_held():
            return frozenset()
        return frozenset(name for name, row in self._rows.items() if self._sweep.held(row))

    @property
    def predicted(self) -> frozenset[str]:
        """Frames whose last motion was continued (`outside='predict'`)."""
        return frozenset(name for name, row in self._rows.items() if self._sweep.predicted(row))

    def __repr__(self) -> str:
        return f"Snapshot({len(self)} frames in {self.in_frame}, {len(self._missing)} missing)"
