"""Reports of a world: relations, stored samples, joints, snapshots, and the tree of frames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, ValuesView
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from armillary.notebook import card, listing

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from armillary._core import StoreCore, SweepAnswer, Transform
    from armillary.errors import ArmillaryError
    from armillary.transforms._held import HeldSample

_NS_PER_S = 1e9
_ID_DIGITS = 8  # as many as the repr of an id shows


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationInfo:
    """One relation: which source places which frame in which, and how much is known.

    Attributes:
        of: The frame that is placed.
        in_frame: Its parent.
        source: The source that places it.
        kind: "fixed", "sampled", "integrated" or "driven"; "twist" for a motion, relative to the body `in_frame`.
        samples: Number of samples held.
        first: Oldest instant held [ns]; None without samples.
        last: Newest instant held [ns]; None without samples.
        age_s: The age of `last` on the world's clock [s]; None without samples.
        interpolation: How its samples follow one another: "linear", "screw" or "step".
    """

    of: str
    in_frame: str
    source: str
    kind: str
    samples: int
    first: int | None
    last: int | None
    age_s: float | None
    interpolation: str = "linear"

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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WrenchSamples:
    """The measured wrenches on one frame by one body, by one source, oldest first.

    Attributes:
        stamps: (N,) int64 [ns].
        wrenches: (N, 6): the force [N], then the torque [N m], about the origin and along the axes of the frame.
    """

    stamps: NDArray[np.int64]
    wrenches: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.stamps)


@dataclass(frozen=True, slots=True, kw_only=True)
class JointState:
    """One joint at one instant.

    Attributes:
        value: Its position [rad] or [m]; an angle that wraps is known up to whole turns. None for a wheel of which only
            the velocity is set.
        velocity: Its velocity [rad/s] or [m/s]; None for a single sample without one.
        stamp: The instant [ns].
        held: Whether its position is that of another instant, and how old it is: a tuple of one, or empty.
        predicted: Whether its last motion was continued (`outside='predict'`).
        integrated: Whether it was integrated from the velocities of wheels.
    """

    value: float | None
    velocity: float | None
    stamp: int
    held: tuple[HeldSample, ...]
    predicted: bool
    integrated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JointSamples:
    """The stored samples of one joint, by one source, oldest first.

    Attributes:
        stamps: (N,) int64 [ns].
        positions: (N,) [rad] or [m].
        velocities: (N,) [rad/s] or [m/s]; NaN where none was given.
    """

    stamps: NDArray[np.int64]
    positions: NDArray[np.float64]
    velocities: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.stamps)


@dataclass(frozen=True, slots=True)
class _KeptSweep:
    """What a snapshot has once it was pickled, without its world; has the methods of the core's `SweepAnswer`."""

    rows: list[tuple[str, Transform, int | None]]
    of_held: frozenset[str]
    of_predicted: frozenset[str]
    samples: tuple[HeldSample, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def positions(self) -> dict[str, int]:
        """Map the names of frames to rows."""
        return {name: row for row, (name, _, _) in enumerate(self.rows)}

    def xyz_wxyz(self) -> NDArray[np.float64]:
        """Return the transforms of all rows, (N, 7)."""
        import numpy as np  # noqa: PLC0415  (a world of single questions starts without it)

        return np.array([transform.xyz_wxyz for _, transform, _ in self.rows]).reshape(-1, 7)

    def any_held(self) -> bool:
        """Whether the nearest sample was taken in some row."""
        return bool(self.of_held)

    def transforms(self) -> list[Transform]:
        """Return the transforms of all rows."""
        return [transform for _, transform, _ in self.rows]

    def transform(self, row: int) -> Transform:
        """Return the transform of one row."""
        return self.rows[row][1]

    def stamp(self, row: int) -> int | None:
        """Return the instant of one row [ns]; None where everything is fixed."""
        return self.rows[row][2]

    def held(self, row: int) -> bool:
        """Whether the nearest sample was taken in one row."""
        return self.rows[row][0] in self.of_held

    def held_samples(self, _world: object) -> tuple[HeldSample, ...]:
        """Return what was held for any of the rows."""
        return self.samples

    def predicted(self, row: int) -> bool:
        """Whether the last motion was continued in one row."""
        return self.rows[row][0] in self.of_predicted


class _Transforms(ValuesView["Transform"]):
    """The transforms of a snapshot, all of them made in one call."""

    def __init__(self, snapshot: Snapshot, sweep: SweepAnswer | _KeptSweep) -> None:
        super().__init__(snapshot)
        self._sweep = sweep

    def __iter__(self) -> Iterator[Transform]:
        return iter(self._sweep.transforms())


class Snapshot(Mapping[str, "Transform"]):
    """The transform of every frame that has one, by name: `in_frame_T_name`."""

    def __init__(self, store: StoreCore, sweep: SweepAnswer, in_frame: str) -> None:
        self.in_frame = in_frame
        self._sweep: SweepAnswer | _KeptSweep = sweep
        self._store: Any = store  # None, where it comes from a pickle
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

    def values(self) -> ValuesView[Transform]:
        """Return the transforms, in the order of the names."""
        return _Transforms(self, self._sweep)

    def xyz_wxyz(self, names: Iterable[str] | None = None) -> NDArray[np.float64]:
        """Return (N, 7): x, y, z, then the quaternion w, x, y, z.

        Args:
            names: Of these frames, NaN for one without an answer; of all, in the order of the snapshot, if left out.
        """
        if names is None:
            return self._sweep.xyz_wxyz()
        import numpy as np  # noqa: PLC0415  (a world of single questions starts without it)

        rows, last = self._rows, len(self)
        chosen = np.array([rows.get(name, last) for name in names], dtype=np.intp)
        return np.concatenate([self._sweep.xyz_wxyz(), np.full((1, 7), np.nan)])[chosen]

    @property
    def missing(self) -> Mapping[str, ArmillaryError]:
        """Frames without an answer, each with its error."""
        return MappingProxyType(self._missing)

    @property
    def stamps(self) -> Mapping[str, int | None]:
        """The instant of each answer [ns]; None where everything on the path is fixed."""
        return MappingProxyType({name: self._sweep.stamp(row) for name, row in self._rows.items()})

    @property
    def held(self) -> frozenset[str]:
        """Frames for which a sample was used at another instant than its own; `held_samples` has the ages."""
        if not self._sweep.any_held():
            return frozenset()
        return frozenset(name for name, row in self._rows.items() if self._sweep.held(row))

    @cached_property
    def held_samples(self) -> tuple[HeldSample, ...]:
        """The samples that were held for any of the frames; with `LATEST`, each with its largest age."""
        return self._sweep.held_samples(self._store)

    @property
    def predicted(self) -> frozenset[str]:
        """Frames whose last motion was continued (`outside='predict'`)."""
        return frozenset(name for name, row in self._rows.items() if self._sweep.predicted(row))

    def __getstate__(self) -> dict[str, Any]:
        return {
            "in_frame": self.in_frame,
            "missing": self._missing,
            "rows": [(name, self[name], stamp) for name, stamp in self.stamps.items()],
            "held": self.held,
            "predicted": self.predicted,
            "held_samples": self.held_samples,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.in_frame, self._missing = state["in_frame"], state["missing"]
        self._sweep = _KeptSweep(state["rows"], state["held"], state["predicted"], state["held_samples"])
        self._store = None

    def __repr__(self) -> str:
        return f"Snapshot({len(self)} frames in {self.in_frame}, {len(self._missing)} missing)"


@dataclass(frozen=True, slots=True)
class Tree:
    """The parent of each frame at one time. Its text is the tree.

    Attributes:
        parents: Frame to (parent, source); None for a root and for a contested frame.
        notes: Frame to a note about its relation.
        names: Frame of a node to the node's attribute `name`: such frames are named by ids.
    """

    parents: Mapping[str, tuple[str, str] | None]
    notes: Mapping[str, str]
    names: Mapping[str, str] = field(default_factory=dict)

    @property
    def roots(self) -> tuple[str, ...]:
        """Frames without a parent."""
        return tuple(name for name, parent in self.parents.items() if parent is None)

    def text(self, name: str) -> str:
        """Return what people call a frame; that of a node without a name of its own by the node's name and id."""
        if name not in self.names:
            return name
        node, slash, mount = name.partition("/")
        return f"{self.names[name]} ({node[:_ID_DIGITS]}){slash}{mount}"

    def children(self, name: str) -> tuple[str, ...]:
        """Return the frames whose parent is `name`."""
        return tuple(child for child, parent in self.parents.items() if parent is not None and parent[0] == name)

    def lines(self) -> Iterator[str]:
        """Yield the lines of the text, from the top."""
        children: dict[str | None, list[str]] = {}
        for name, parent in self.parents.items():
            children.setdefault(None if parent is None else parent[0], []).append(name)
        # A stack of what is still to be drawn: a long chain must not exhaust Python's own.
        stack = [(name, "", "") for name in reversed(children.get(None, []))]
        while stack:
            name, lead, below = stack.pop()
            note = self.notes.get(name)
            yield f"{lead}{self.text(name)}" + (f"  {note}" if note else "")
            stack.extend(_branches(children.get(name, []), below))

    def __str__(self) -> str:
        return "\n".join(self.lines()) or "(no frames)"

    def _repr_html_(self) -> str:
        total = len(self.parents)
        return card(f"{total} frame{'' if total == 1 else 's'}", listing(self.lines(), total))


def _branches(names: Sequence[str], below: str) -> list[tuple[str, str, str]]:
    last = len(names) - 1
    drawn = [
        (name, below + ("└── " if i == last else "├── "), below + ("    " if i == last else "│   "))
        for i, name in enumerate(names)
    ]
    return drawn[::-1]
