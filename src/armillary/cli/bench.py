"""`armillary bench`: how long single calls take on this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from time import process_time

import numpy as np

from armillary import Transform, World, seconds
from armillary.cli._arguments import AsJson
from armillary.cli._output import print_result
from armillary.cli._terminal import track_progress

EXAMPLE = "armillary bench"

_EDGES, _SAMPLES, _PERIOD_S = 10, 1000, 0.01
_CALLS, _BATCH = 20_000, 200_000
_REPEATS = 3
MEASURES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """Measured time of one call.

    Attributes:
        what: Name of the call.
        per_call_us: CPU time of one call, the minimum of three runs [us].
    """

    what: str
    per_call_us: float


def measures() -> Iterator[Measure]:
    """Measure all calls, one after the other, which takes a few seconds."""
    world = _chain()
    stamps = np.random.default_rng(0).integers(0, seconds(_PERIOD_S * (_SAMPLES - 1)), size=_BATCH)
    some = stamps[:_CALLS].tolist()
    yield _timed("set_pose", _CALLS, _writer())
    yield _timed("pose, 1 edge", _CALLS, lambda: [world.pose(of="f1", in_frame="f0", at=at) for at in some])
    yield _timed("pose, 10 edges", _CALLS, lambda: [world.pose(of="f10", in_frame="f0", at=at) for at in some])
    yield _timed("twist, 10 edges", _CALLS, lambda: [world.twist(of="f10", relative_to="f0", at=at) for at in some])
    yield _timed("transforms, 10 edges, each", _BATCH, lambda: world.transforms(of="f10", in_frame="f0", at=stamps))


def _chain() -> World:
    world = World(history=seconds(_PERIOD_S * _SAMPLES))
    stamps = np.arange(_SAMPLES) * seconds(_PERIOD_S)
    turned = np.linspace(0.0, 1.0, _SAMPLES)
    rows = np.zeros((_SAMPLES, 7))
    rows[:, 0], rows[:, 3], rows[:, 6] = turned, np.cos(turned / 2), np.sin(turned / 2)
    for i in range(_EDGES):
        world.set_poses(of=f"f{i + 1}", in_frame=f"f{i}", transforms=rows, at=stamps)
    return world


def _writer() -> Callable[[], object]:
    pose = Transform.from_xyz_rpy(xyz=(1, 2, 3), rpy=(0.1, 0.2, 0.3))
    stamps = [seconds(0.001 * i) for i in range(_CALLS)]

    def write() -> None:
        world = World()
        for at in stamps:
            world.set_pose(of="robot", in_frame="map", transform=pose, at=at)

    return write


def _timed(what: str, calls: int, work: Callable[[], object]) -> Measure:
    took_s = []
    for _ in range(_REPEATS):
        begin = process_time()
        work()
        took_s.append(process_time() - begin)
    return Measure(what=what, per_call_us=1e6 * min(took_s) / calls)


def bench(*, as_json: AsJson = False) -> None:
    """Measure the CPU time of single calls on this machine. `make bench` compares with other libraries."""
    found = list(track_progress("Measuring", measures(), MEASURES))
    lines = [f"  {measure.what:28}{measure.per_call_us:10.3f} us" for measure in found]
    text = "\n".join(["CPU time of one call:", *lines])
    print_result(as_json=as_json, fields=[asdict(measure) for measure in found], text=text)
