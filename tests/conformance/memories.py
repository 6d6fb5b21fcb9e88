"""Plain accounts of which samples are remembered, kept in Python: one as tf2 does it, one as armillary does."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable
from itertools import groupby
from typing import Any, NamedTuple

from armillary import Transform

ENDLESS = 10**18


class Sample(NamedTuple):
    of: str
    in_frame: str
    stamp: int
    xyz: tuple[float, float, float]
    wxyz: tuple[float, float, float, float]

    @property
    def transform(self) -> Transform:
        return Transform.from_xyz_wxyz(xyz=self.xyz, wxyz=self.wxyz)

    @property
    def for_tf2(self) -> tuple[Any, ...]:
        return self.in_frame, self.of, self.stamp, list(self.xyz), list(self.wxyz)


class Segment(NamedTuple):
    of: str
    in_frame: str
    at: int | None


class Memory:
    """Which samples are held, and the structure they imply; the kinds below say how they are dropped."""

    def __init__(self, history: int) -> None:
        self.history = history
        self.samples: dict[str, dict[int, Sample]] = defaultdict(dict)
        self.fixed: dict[str, Sample] = {}

    @property
    def frames(self) -> set[str]:
        held = [self.fixed, *self.samples.values()]
        return {name for series in held for sample in series.values() for name in (sample.of, sample.in_frame)}

    def insert(self, sample: Sample) -> bool:
        """Whether the sample was taken."""
        rivals = self._expiring_with(sample)
        newest = max((rival.stamp for rival in rivals), default=sample.stamp)
        if sample.stamp < newest - self.history or not self._replaces(sample):
            return False
        held = self.samples[sample.of]
        held[sample.stamp] = sample
        for rival in rivals:
            if rival.stamp < sample.stamp - self.history:
                del held[rival.stamp]
                self._forgotten(rival)
        return True

    def samples_for_tf2(self, of: str) -> dict[int, Sample]:
        """Return the samples of a frame that make a tf2 buffer answer alike."""
        return self.samples[of]

    def fix(self, sample: Sample) -> None:
        self.fixed[sample.of] = sample

    def neighbours(self, of: str, at: int) -> tuple[Sample | None, Sample | None]:
        """The samples at or before, and at or after an instant."""
        samples_for_tf2 = self.samples_for_tf2(of)
        stamps = sorted(samples_for_tf2)
        place = bisect_right(stamps, at)
        before = samples_for_tf2[stamps[place - 1]] if place else None
        if before is not None and before.stamp == at:
            return before, before
        return before, samples_for_tf2[stamps[place]] if place < len(stamps) else None

    def parent(self, of: str, at: int | None) -> str | None:
        """Return its parent, as if the first and the last sample had no limits in time."""
        if of in self.fixed:
            return self.fixed[of].in_frame
        if not self.samples.get(of):
            return None
        before, after = self.neighbours(of, ENDLESS if at is None else at)
        return (before or after).in_frame

    def way_up(self, frame: str, at: int | None) -> list[str]:
        return climb(frame, lambda child: self.parent(child, at))

    def edges(self, segment: Segment) -> set[tuple[str, str]] | None:
        """The (of, in_frame) between the two frames of a segment; None when nothing connects them."""
        between = children_between(self.way_up(segment.of, segment.at), self.way_up(segment.in_frame, segment.at))
        return None if between is None else {(child, self.parent(child, segment.at)) for child in between}

    def way_between(self, segment: Segment) -> tuple[list[str], list[str]] | None:
        """The children from each end of a segment up to the common ancestor, by all that armillary stores."""
        ways = [
            climb(name, lambda child: self.remembered_parent(child, segment.at))
            for name in (segment.of, segment.in_frame)
        ]
        between = children_between(*ways)
        return None if between is None else tuple([child for child in way if child in between] for way in ways)

    def remembered_parent(self, of: str, at: int | None) -> str | None:
        """Return its parent, also where the samples under this parent have expired."""
        return self.parent(of, at)

    def wall(self, of: str, at: int | None) -> Sample | None:
        """The first sample of the run at an instant, where it is forgotten and so is all that followed until then."""

    def moving_edges(self, segment: Segment) -> list[str]:
        return [child for child, _ in self.edges(segment) or () if child not in self.fixed]

    def _expiring_with(self, sample: Sample) -> list[Sample]:
        raise NotImplementedError

    def _replaces(self, sample: Sample) -> bool:
        raise NotImplementedError

    def _forgotten(self, sample: Sample) -> None:
        """Called for a sample that was just dropped for its age."""


def climb(frame: str, parent: Callable[[str], str | None]) -> list[str]:
    """Return a frame and its ancestors, up to the root."""
    way = [frame]
    while (above := parent(way[-1])) is not None:
        way.append(above)
    return way


def children_between(way: list[str], other: list[str]) -> set[str] | None:
    """The frames of two ways up whose edges lie between their beginnings; None when they never meet."""
    return set(way) ^ set(other) if way[-1] == other[-1] else None


class Tf2Memory(Memory):
    """All parents of a frame expire together, and the first sample of an instant stays."""

    def _expiring_with(self, sample: Sample) -> list[Sample]:
        return list(self.samples[sample.of].values())

    def _replaces(self, sample: Sample) -> bool:
        return sample.stamp not in self.samples[sample.of]


class ArmillaryMemory(Memory):
    """Every relation expires by itself, and the last sample of an instant stays.

    Of samples that expired a run keeps its beginning, as a wall: what was before it does not come back. Runs whose
    samples have all expired vanish at the front of a track, and are nothing but a wall in its middle.
    """

    def __init__(self, history: int) -> None:
        super().__init__(history)
        self.walls: dict[str, dict[int, Sample]] = defaultdict(dict)

    def insert(self, sample: Sample) -> bool:
        taken = super().insert(sample)
        if taken:
            self.walls[sample.of].pop(sample.stamp, None)
            self._keep_beginnings(sample.of)
        return taken

    def samples_for_tf2(self, of: str) -> dict[int, Sample]:
        """Return the samples, with a disconnected parent where runs without samples separate others: tf2 has none."""
        nowhere = {
            stamp: wall._replace(in_frame=f"nowhere/{of}")
            for stamp, wall in self.walls[of].items()
            if stamp > min(self.samples[of])
        }
        return self.samples[of] | nowhere

    def wall(self, of: str, at: int | None) -> Sample | None:
        newest = max((stamp for stamp in self.samples_for_tf2(of) if at is None or stamp <= at), default=None)
        return self.walls[of].get(newest)

    def remembered_parent(self, of: str, at: int | None) -> str | None:
        wall = self.wall(of, at)
        return wall.in_frame if wall else self.parent(of, at)

    def _forgotten(self, sample: Sample) -> None:
        self.walls[sample.of][sample.stamp] = sample

    def _keep_beginnings(self, of: str) -> None:
        """Only the first sample of a run can be a wall, and no run of walls alone comes first."""
        events = sorted((self.samples[of] | self.walls[of]).values(), key=lambda event: event.stamp)
        runs = [list(run) for _, run in groupby(events, key=lambda event: event.in_frame)]
        first = next(number for number, run in enumerate(runs) if run[-1].stamp in self.samples[of])
        begins = {run[0].stamp for run in runs[first:]}
        self.walls[of] = {stamp: wall for stamp, wall in self.walls[of].items() if stamp in begins}

    def _expiring_with(self, sample: Sample) -> list[Sample]:
        return [held for held in self.samples[sample.of].values() if held.in_frame == sample.in_frame]

    def _replaces(self, sample: Sample) -> bool:
        return True
