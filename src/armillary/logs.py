"""Worlds from logs of any kind: those that worlds were recorded into, and those of ROS and Foxglove."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeVar

from armillary.formats.logs import is_log, open_log
from armillary.formats.whole_files import as_file_path
from armillary.record import Replay, is_recording, recorded_settings
from armillary.ros import LogReport, LookupReport, TopicsLike, arrivals, as_topics, read_into
from armillary.stamps import as_instant, as_stamp
from armillary.store.diagnosis import diagnose

if TYPE_CHECKING:
    from armillary.stamps import StampLike

__all__ = ["is_log", "lookup_in_log", "world_of_log"]

W = TypeVar("W")


@dataclass(slots=True)
class _Standing:
    """A clock that stands at an instant [ns]."""

    at: int = 0

    def now(self) -> int:
        return self.at


def world_of_log(
    make: Callable[..., W],
    path: str | PathLike[str],
    *,
    start: StampLike | None,
    end: StampLike | None,
    history: int | None,
    topics: TopicsLike | None,
    which_pass: int,
    name: str,
    progress: Callable[[float], object] | None,
) -> tuple[W, LogReport]:
    """Make a world of a log; `make` takes the arguments of `World`. Arguments as for `World.from_log`."""
    file, clock = as_file_path(path), _Standing()
    used, first, last = as_topics(topics), as_stamp(start, "start"), as_stamp(end, "end")
    if file.suffix == ".mcap" and is_recording(file):
        return _recorded(make, file, clock, last, history, progress)
    world, report = read_into(
        open_log(file), lambda: make(name, clock=clock.now, history=history), used, first, last, which_pass, progress
    )
    ends = [at for at in (last, report.last) if at is not None]
    clock.at = min(ends, default=0)
    return world, report


def _recorded(  # noqa: PLR0917
    make: Callable[..., W],
    path: Any,
    clock: _Standing,
    end: int | None,
    history: int | None,
    progress: Callable[[float], object] | None,
) -> tuple[W, LogReport]:
    """Play a recording as fast as possible."""
    settings = recorded_settings(path) | {"history": history}
    world: Any = make(clock=clock.now, **settings)
    replay = Replay(path, world, 0.0)
    for at in replay.instants() if end is None else [end]:
        replay.play_until(at)
        if progress is not None:
            progress(replay.progress)
    clock.at = replay.now()
    replay.close()
    report = LogReport(str(path), replay.first, clock.at, notes=replay.notes)
    for reason, count in replay.refused.items():
        report.leave_out(reason, count)
    return world, report


def lookup_in_log(
    make: Callable[..., Any],
    path: str | PathLike[str],
    *,
    of: str,
    in_frame: str,
    at: StampLike,
    asked_at: StampLike | None,
    buffer: int | None,
    topics: TopicsLike | None,
) -> LookupReport:
    """Explain a lookup; arguments as for `World.explain_lookup`."""
    instant = as_instant(at)
    asked = instant if asked_at is None else as_instant(asked_at, "asked_at")
    how: dict[str, Any] = {"start": None, "topics": topics, "which_pass": -1, "name": "log", "progress": None}
    then, _ = world_of_log(make, path, end=asked, history=buffer, **how)
    later, _ = world_of_log(make, path, end=None, history=None, **how)
    found = [diagnose(world.store, of=of, in_frame=in_frame, at=instant) for world in (then, later)]
    frames = {link.of for diagnosis in found for link in diagnosis.links}
    file = as_file_path(path)
    is_own = file.suffix == ".mcap" and is_recording(file)
    links = () if is_own else arrivals(open_log(file), as_topics(topics), frames, instant, asked)
    then.close()
    later.close()
    return LookupReport(of, in_frame, instant, asked, found[0], found[1], links)
