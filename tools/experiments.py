"""Runs the experiments of the Kineverse thesis, draws them, and writes the table of docs/experiments.md.

.venv/bin/python tools/experiments.py    # about a minute; needs the extras motion and view
"""

# ruff: noqa: E501  (lines of a table)

from __future__ import annotations

from pathlib import Path
from time import process_time

import matplotlib as mpl
import numpy as np

from armillary import Transform
from armillary.articulation import ArticulationModel, greater, less, position, stack
from armillary.articulation.constraints import limits_of
from armillary.demos.lockbox import CLOSED, lockbox
from armillary.demos.models import kitchen
from armillary.demos.push.report import close_all, figures_of
from armillary.demos.push.setting import ROBOTS, Setting
from armillary.demos.push.tidying import tidy
from armillary.motion import Controller, JointGoal, Tracker, Unlocking

mpl.use("svg")
import matplotlib.pyplot as plt

ROOT = Path(__file__).resolve().parent.parent
PAGE, IMAGES = ROOT / "docs/experiments.md", ROOT / "docs/images"
BEGIN, END = "<!-- experiments: tools/experiments.py -->\n", "<!-- end of experiments -->\n"
LEVELS = ((0.0375, 2.5, 0.0305), (0.075, 5.0, 0.0592), (0.1125, 7.5, 0.0844), (0.15, 10.0, 0.108))
SAMPLES = 200
PEER_MS = {"omni": "2.1 ms", "differential": "CPU not measured", "two-armed": "3.3 ms"}
PEER_GAP = {"omni": "20 to 49 mm off (one door)"}
PEER_STEPS = {"omni": "204 to 500", "differential": "230 to 500", "two-armed": "145 to 239"}
PEER_CLOSED = {"omni": "12 of 12", "differential": "10 of 12", "two-armed": "12 of 12"}
Line = tuple[str, str, str, str]


def main() -> None:
    """Runs everything, writes the table and the pictures."""
    IMAGES.mkdir(exist_ok=True)
    lines = [*opening(), *tracking(), *pushing(), tidying()]
    table = ["| experiment | published | peer, as measured | ours |", "|---|---|---|---|"]
    table += [f"| {' | '.join(line)} |" for line in lines]
    page = PAGE.read_text(encoding="utf-8")
    before, rest = page.split(BEGIN)
    PAGE.write_text(before + BEGIN + "\n" + "\n".join(table) + "\n\n" + END + rest.split(END)[1], encoding="utf-8")


def opened(model: ArticulationModel, dt_s: float) -> tuple[list[dict[str, float]], float]:
    """Returns all configurations of an opening, and the CPU time of a step [ms]."""
    controller = Controller(model, controls=model.controls(), dt_s=dt_s)
    controller.add(JointGoal("box/a", 1.2, tolerance=1e-3, name="open"))
    unlocking, begin = Unlocking(controller), process_time()
    passed = unlocking.run(CLOSED, unmet="raise")
    return passed, 1e3 * (process_time() - begin) / (len(passed) - 1)


def opening() -> list[Line]:
    """The lockbox of the thesis, and one that it cannot open."""
    d = position("box/d")
    boxes = {"": lockbox(), "twice": lockbox({"b": less(d, 0.2), "c": greater(d, 0.4)})}
    fine, ms = opened(boxes[""], 0.19)
    coarse, _ = opened(boxes[""], 0.1)
    twice, _ = opened(boxes["twice"], 0.19)
    _plot_slides(fine, twice)
    most_c = max(values["box/c"] for values in fine)
    return [
        (
            "lockbox, step 0.19 s: steps until a is within 0.001 of 1.2 (limits of speed alone need 145)",
            "opens",
            "never; 0.002 off after 166",
            f"{len(fine) - 1}",
        ),
        ("lockbox: c, which has to be above 0.6", "about 0.7", "0.721", f"{most_c:.4f}"),
        (
            "lockbox, step 0.1 s (limits of speed alone need 270)",
            "200 steps, which is impossible",
            "434 steps",
            f"{len(coarse) - 1} steps",
        ),
        ("lockbox: CPU of a step", "", "2.0 ms", f"{ms:.2f} ms"),
        ("lockbox that needs one slide in two places", "fails", "", f"opens in {len(twice) - 1} steps"),
    ]


def _plot_slides(fine: list[dict[str, float]], twice: list[dict[str, float]]) -> None:
    figure, panels = plt.subplots(2, 1, figsize=(7.6, 5.2), sharex=True)
    for panel, passed, title in zip(
        panels, (fine, twice), ("the box of the thesis", "d in two places: b below 0.2, c above 0.4"), strict=True
    ):
        for name in "abcdef":
            panel.plot([values[f"box/{name}"] for values in passed], label=name)
        panel.set_title(title, fontsize=10)
        panel.set_ylabel("slides")
    panels[0].legend(ncols=6, fontsize=8)
    panels[1].set_xlabel("steps of 0.19 s")
    _save(figure, "experiment_lockbox.svg")


def tracking() -> list[Line]:
    """The kitchen, tracked with the thesis' own sampler of noise."""
    model = ArticulationModel()
    model.add_robot(kitchen())
    links = list(model.links())
    poses = stack([model.pose(link).matrix for link in links])
    variables = sorted(poses.free_variables, key=lambda one: one.name)
    compiled, names = poses.compile(order=variables), [one.name for one in variables]
    limits = limits_of(model.constraints(variables).values())
    lower, upper = np.array([limits[one] for one in variables]).T
    lines, errors = [], []
    for linear, degrees, peer in LEVELS:
        random, angular = np.random.default_rng(0), np.radians(degrees)
        tracker = Tracker(model, links=links)
        tracker.update(_seen(links, compiled(0.5 * (lower + upper)), 0.0, 0.0, random))
        off, iterations, begin, spent = [], [], 0.0, 0.0
        for _ in range(SAMPLES):
            truth = random.uniform(lower, upper)
            seen = _seen(links, compiled(truth), linear, angular, random)
            begin = process_time()
            found = tracker.update(seen, covariances=(linear**2 / 3,) * 3 + (angular**2 / 3,) * 3)
            spent += process_time() - begin
            off.append(np.mean(np.abs([found.configuration[name] for name in names] - truth)))
            iterations.append(found.iterations)
        errors.append(float(np.mean(off)))
        ms = 1e3 * spent / sum(iterations)
        lines.append(
            (
                f"tracker, {linear:g} m and {degrees:g}°: mean error; iterations; CPU of one",
                "in a cumulative table",
                f"{peer:g}; 10; 10.6 ms",
                f"{errors[-1]:.4f}; {np.mean(iterations):.1f}; {ms:.3f} ms",
            )
        )
    figure, panel = plt.subplots(figsize=(7.6, 3.2))
    places = np.arange(len(LEVELS))
    panel.bar(places - 0.2, [level[2] for level in LEVELS], 0.4, label="peer")
    panel.bar(places + 0.2, errors, 0.4, label="ours")
    panel.set_xticks(places, [f"{linear:g} m, {degrees:g}°" for linear, degrees, _ in LEVELS])
    panel.set_ylabel("mean error [m or rad]")
    panel.legend()
    _save(figure, "experiment_tracking.svg")
    return lines


def _seen(
    links: list[str], matrices: np.ndarray, linear: float, angular: float, random: np.random.Generator
) -> dict[str, Transform]:
    found = {}
    for link, matrix in zip(links, matrices.reshape(-1, 4, 4), strict=True):
        true = Transform.from_matrix(matrix)
        shift, turn = (_direction(random) * (size * random.normal()) for size in (linear, angular))
        moved = Transform.from_rotation(true.rotation, xyz=true.translation + shift)
        found[link] = moved @ Transform.exp((0.0, 0.0, 0.0, *turn))
    return found


def _direction(random: np.random.Generator) -> np.ndarray:
    """A direction as the thesis draws it: azimuth in [0, pi], height in [0, 1]."""
    azimuth, height = random.uniform(0.0, np.pi), random.uniform(0.0, 1.0)
    radius = np.sqrt(1.0 - height**2)
    return np.array([radius * np.cos(azimuth), radius * np.sin(azimuth), height])


def pushing() -> list[Line]:
    """Twelve handles, three robots."""
    lines = []
    figure, panels = plt.subplots(2, 1, figsize=(7.6, 5.2), sharex=True)
    for name, kind in ROBOTS.items():
        setting = Setting(kind)
        runs = close_all(setting)
        found = figures_of(setting, runs)
        ms, steps = f"{found.cpu_ms_per_step:.2f} ms", f"{min(found.steps)} to {max(found.steps)}"
        peer = f"{PEER_CLOSED[name]}; {PEER_STEPS[name]}; {PEER_MS[name]}; {PEER_GAP.get(name, 'not measured')}"
        ours = f"{found.closed} of {found.of}; {steps}; {ms}; {found.worst_gap_mm:.2f} mm at most"
        lines.append(
            (
                f"push, {name}, {found.controls} controls: closed; steps; CPU of one; tool off the handle while it moves",
                "plausible",
                peer,
                ours,
            )
        )
        if name == "differential":
            for run in runs:
                panels[0].plot(1e3 * np.maximum(run.gaps_m, 0.0), linewidth=0.9)
                panels[1].plot(run.positions, linewidth=0.9)
    panels[0].set_ylabel("tool to handle [mm]")
    panels[0].set_yscale("symlog", linthresh=1.0)
    panels[1].set_ylabel("open [m or rad]")
    panels[1].set_xlabel("steps of 0.1 s")
    panels[0].set_title("twelve handles, differential drive: what moves is touched", fontsize=10)
    _save(figure, "experiment_pushing.svg")
    return lines


def tidying() -> Line:
    """The full system, with noise."""
    found = tidy(Setting(ROBOTS["two-armed"]), alpha=0.01)
    closed, opened_ones = len(found.closed), len(found.opened)
    ours = f"{closed} of {opened_ones} closed in {found.steps / 10:.0f} simulated seconds"
    return "kitchen kept in order with noise, alpha = 0.01", "without noise only", "", ours


def _save(figure: plt.Figure, name: str) -> None:
    figure.tight_layout()
    figure.savefig(IMAGES / name, metadata={"Date": None})
    plt.close(figure)


if __name__ == "__main__":
    main()
