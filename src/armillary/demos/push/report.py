"""Report of the pushing demonstration: what every robot closed, with which gaps, and how the kitchen was tidied."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter

from armillary.demos._common import Pictures
from armillary.demos.push.setting import OPEN, ROBOTS, Setting
from armillary.demos.push.simulation import Run, close
from armillary.demos.push.tidying import ALPHA, Moment, Tidying, tidy
from armillary.demos.push.world import RecordedWorld

__all__ = ["Report", "RobotFigures", "close_all", "run_push"]

_TIDIER = "two-armed"
_STEPS_PER_S = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class RobotFigures:
    """What one robot did with all handles, one after the other, each from the same start.

    Attributes:
        closed: How many things it closed, to 5 mm or mrad.
        of: How many there were.
        worst_gap_mm: The largest distance between tool and handle, before and after each step in which a thing moved.
        cpu_ms_per_step: Of the controller, on average.
        steps: Of 0.1 s, for each thing.
        controls: How many velocities are commanded.
    """

    closed: int
    of: int
    worst_gap_mm: float
    cpu_ms_per_step: float
    steps: tuple[int, ...]
    controls: int


def close_all(setting: Setting) -> tuple[Run, ...]:
    """Let a robot push what each handle belongs to; that is open at first, and everything else is shut."""
    starts = ((handle, setting.start | {setting.joint(handle).name: OPEN}) for handle in setting.handles)
    return tuple(close(setting, handle, start) for handle, start in starts)


def figures_of(setting: Setting, runs: Sequence[Run]) -> RobotFigures:
    """Return the figures of one robot."""
    return RobotFigures(
        closed=sum(run.is_closed for run in runs),
        of=len(runs),
        worst_gap_mm=1e3 * max(run.worst_gap_m for run in runs),
        cpu_ms_per_step=1e3 * sum(run.cpu_s for run in runs) / sum(run.steps for run in runs),
        steps=tuple(run.steps for run in runs),
        controls=len(setting.controls),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Everything that the demonstration found out.

    Attributes:
        robots: By name.
        kitchen: How it was kept in order, under noise.
        pictures: Files that were drawn.
        took_s: Wall-clock time [s].
    """

    robots: dict[str, RobotFigures]
    kitchen: Tidying
    pictures: Pictures
    took_s: float

    def json(self) -> str:
        """Return the report as JSON."""
        kitchen = {
            "robot": _TIDIER,
            "noise_alpha": ALPHA,
            "opened": len(self.kitchen.opened),
            "closed": len(self.kitchen.closed),
            "simulated_s": self.kitchen.steps / _STEPS_PER_S,
            "tracking_error": self.kitchen.tracking_error,
            "cpu_ms_per_step": 1e3 * self.kitchen.cpu_s / max(self.kitchen.steps, 1),
        }
        pictures = asdict(self.pictures) | {"folder": str(self.pictures.folder)}
        robots = {name: asdict(figures) for name, figures in self.robots.items()}
        report = {"demo": "push", "took_s": self.took_s, "robots": robots, "kitchen": kitchen, "pictures": pictures}
        return json.dumps(report, indent=2)

    def text(self) -> str:
        """Return the report as text."""
        return "\n".join([*self._robots(), "", *self._kitchen()])

    def _robots(self) -> Iterator[str]:
        yield f"Three robots push a kitchen shut, done in {self.took_s:.1f} s."
        yield ""
        yield f"  {'robot':<14} closed   steps       worst gap   CPU a step"
        for name, one in self.robots.items():
            steps = f"{min(one.steps)} to {max(one.steps)}"
            gap, cpu = f"{one.worst_gap_mm:.2f} mm", f"{one.cpu_ms_per_step:.2f} ms"
            yield f"  {name:<14} {one.closed:>2} of {one.of:<2} {steps:<11} {gap:<11} {cpu}"

    def _kitchen(self) -> Iterator[str]:
        kitchen, pictures = self.kitchen, self.pictures
        noise = f"alpha {ALPHA:g}, {1e3 * (2**ALPHA - 1):.1f} mm at one metre"
        yield f"Somebody opens {len(kitchen.opened)} things one after the other. The {_TIDIER} robot sees with noise"
        yield f"({noise}), and closes {len(kitchen.closed)} of them."
        yield f"  simulated   {kitchen.steps / _STEPS_PER_S:.0f} s"
        yield f"  tracking    {kitchen.tracking_error:.3f} m or rad off on average, unseen things included"
        yield f"  pictures    {pictures.folder}: {', '.join(pictures.files)}"
        if pictures.missing:
            yield f"              No PNG. {pictures.missing}"


def _waiting(name: str, *, live: bool) -> AbstractContextManager[None]:
    if not live:
        return nullcontext()
    from armillary.demos.push.screen import waiting  # noqa: PLC0415  (rich is of another extra)

    return waiting(name)


def run_push(duration_s: float | None, out: Path, *, live: bool) -> Report:
    """Let three robots close everything, and one keep the kitchen in order; `live` shows the latter in real time."""
    begin = perf_counter()
    robots = {}
    for name, kind in ROBOTS.items():
        with _waiting(name, live=live):
            setting = Setting(kind)
            robots[name] = figures_of(setting, close_all(setting))
    setting = Setting(ROBOTS[_TIDIER])
    recorded = RecordedWorld(setting)
    most = {} if duration_s is None else {"max_steps": round(duration_s * _STEPS_PER_S)}

    def run(show: Callable[[Moment], object]) -> Tidying:
        return tidy(setting, show=show, **most)

    if live:
        from armillary.demos.push.screen import watch  # noqa: PLC0415  (rich is of another extra)

        kitchen = watch(setting, recorded, run)
    else:
        kitchen = run(recorded.record)
    return Report(robots=robots, kitchen=kitchen, pictures=recorded.draw(out), took_s=perf_counter() - begin)
