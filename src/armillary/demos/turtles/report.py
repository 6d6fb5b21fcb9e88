"""Report of the turtles: measured figures, pictures, text and JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from armillary.demos._common import Pictures, draw_svg_and_png
from armillary.demos.turtles.screen import show_live
from armillary.demos.turtles.simulation import DELAY, FOLLOWER, LEADER, WORLD, Turtles
from armillary.stamps import seconds
from armillary.view import draw_tracks, draw_tree

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from armillary.transforms import Tree

_NS_PER_S = 1e9
_SINGLE_LOOKUPS = 20_000
_BATCH_LOOKUPS = 200_000
_STEP = seconds(0.05)
_USUAL_S = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowError:
    """Distance of the follower from the position of the leader five seconds before.

    Attributes:
        since_s: Time at which it had caught up [s].
        instants: Number of compared instants since then: all samples of the leader.
        mean_m: Mean distance [m].
        largest_m: Largest distance [m].
    """

    since_s: float
    instants: int
    mean_m: float
    largest_m: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Measured figures of the report.

    Attributes:
        simulated_s: Simulated time [s].
        samples: Number of samples by turtle.
        follow_error: None if the follower has not caught up.
        two_time_lookups_per_s: Calls of `world.pose(of_at=, fixed_frame=)`, per second, one after the other.
        batch_lookups_per_s: Instants per second in one call of `world.transforms`.
    """

    simulated_s: float
    samples: dict[str, int]
    follow_error: FollowError | None
    two_time_lookups_per_s: float
    batch_lookups_per_s: float


def measure_figures(turtles: Turtles) -> Figures:
    """Measure all figures of the simulation."""
    return Figures(
        simulated_s=turtles.clock.time / _NS_PER_S,
        samples={info.of: info.samples for info in turtles.world.relations() if info.kind == "sampled"},
        follow_error=follow_error(turtles),
        two_time_lookups_per_s=_two_time_lookups_per_s(turtles),
        batch_lookups_per_s=_batch_lookups_per_s(turtles),
    )


def follow_error(turtles: Turtles) -> FollowError | None:
    """Compare the follower with the leader five seconds before, at every sample of the leader."""
    if turtles.caught_up is None:
        return None
    world, newest = turtles.world, _newest_common(turtles)
    at = world.samples(of=LEADER, in_frame=WORLD, start=turtles.caught_up, end=newest).stamps
    if len(at) == 0:
        return None
    follower = world.transforms(of=FOLLOWER, in_frame=WORLD, at=at, as_="xyz_wxyz")
    leader_before = world.transforms(of=LEADER, in_frame=WORLD, at=at - DELAY, as_="xyz_wxyz")
    distances_m = np.linalg.norm(follower[:, :3] - leader_before[:, :3], axis=1)
    return FollowError(
        since_s=turtles.caught_up / _NS_PER_S,
        instants=len(at),
        mean_m=float(distances_m.mean()),
        largest_m=float(distances_m.max()),
    )


def _newest_common(turtles: Turtles) -> int:
    """Return the newest common time of both turtles."""
    stamp = turtles.world.pose(of=LEADER, in_frame=FOLLOWER).stamp
    return 0 if stamp is None else stamp


def _random_stamps(turtles: Turtles, count: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.random.default_rng(0).integers(0, _newest_common(turtles), size=count, endpoint=True)


def _two_time_lookups_per_s(turtles: Turtles) -> float:
    pose = turtles.world.pose
    stamps = [(at, max(0, at - DELAY)) for at in _random_stamps(turtles, _SINGLE_LOOKUPS).tolist()]
    begin = perf_counter()
    for at, of_at in stamps:
        pose(of=LEADER, of_at=of_at, in_frame=FOLLOWER, at=at, fixed_frame=WORLD)
    return _SINGLE_LOOKUPS / (perf_counter() - begin)


def _batch_lookups_per_s(turtles: Turtles) -> float:
    stamps = _random_stamps(turtles, _BATCH_LOOKUPS)
    begin = perf_counter()
    turtles.world.transforms(of=f"{LEADER}_head", in_frame=f"{FOLLOWER}_head", at=stamps)
    return _BATCH_LOOKUPS / (perf_counter() - begin)


def draw_pictures(turtles: Turtles, folder: Path) -> Pictures:
    """Draw both tracks and the frame tree."""
    return draw_svg_and_png(folder, lambda kind: _draw(turtles, folder, kind))


def _draw(turtles: Turtles, folder: Path, kind: str) -> tuple[str, ...]:
    newest = turtles.world.pose(of=LEADER, in_frame=FOLLOWER).stamp or 0
    at = np.append(np.arange(0, newest, _STEP), newest)
    tracks = draw_tracks(turtles.world, folder / f"tracks.{kind}", of=(LEADER, FOLLOWER), in_frame=WORLD, at=at)
    tree = draw_tree(turtles.world, folder / f"tree.{kind}")
    return tracks.name, tree.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Frame tree, figures and pictures of the turtles.

    Attributes:
        tree: Frame tree at the end.
        figures: Measured figures.
        pictures: Files that were drawn.
        took_s: Wall-clock time of the simulation [s].
    """

    tree: Tree
    figures: Figures
    pictures: Pictures
    took_s: float

    def json(self) -> str:
        """Return the report as JSON."""
        drawn = asdict(self.pictures) | {"folder": str(self.pictures.folder)}
        report = {"demo": "turtles", "took_s": self.took_s, **asdict(self.figures), "pictures": drawn}
        return json.dumps(report, indent=2)

    def text(self) -> str:
        """Return the report as text."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        figures, pictures = self.figures, self.pictures
        counts = ", ".join(f"{count:,} of {turtle}" for turtle, count in figures.samples.items())
        driven = f"{figures.simulated_s:.4g} s of driving, done in {self.took_s:.2f} s"
        yield f"turtle2 followed turtle1, five seconds behind: {driven}."
        yield f"\n{self.tree}\n"
        yield f"  follow error  {_following(figures.follow_error)}"
        yield f"  samples       {counts}"
        yield f"  lookups       {figures.two_time_lookups_per_s:,.0f} two-time lookups a second, one by one"
        yield f"                {figures.batch_lookups_per_s:,.0f} lookups a second in one batch"
        yield f"  pictures      {pictures.folder}: {', '.join(pictures.files)}"
        if pictures.missing:
            yield f"                No PNG. {pictures.missing}"


def _following(error: FollowError | None) -> str:
    if error is None:
        return "turtle2 had not caught up yet; drive longer with --seconds 30"
    return (
        f"mean {error.mean_m * 1e3:.3f} mm, largest {error.largest_m * 1e3:.3f} mm "
        f"at {error.instants:,} instants from {error.since_s:.2f} s on"
    )


def run_turtles(duration_s: float | None, out: Path, *, live: bool) -> Report:
    """Run the simulation, draw it into the folder `out`, and report; `live` runs in real time in the terminal."""
    lasts_s = _USUAL_S if duration_s is None else duration_s
    turtles, end = Turtles(history=seconds(lasts_s + 1)), seconds(lasts_s)
    begin = perf_counter()
    if live:
        show_live(turtles, to=end)
    else:
        turtles.advance(to=end)
    took_s = perf_counter() - begin
    return Report(
        tree=turtles.world.tree(), figures=measure_figures(turtles), pictures=draw_pictures(turtles, out), took_s=took_s
    )
