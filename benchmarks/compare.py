"""Two builds of the product side by side: the same rows, in turns, the least CPU time of each, and the ratio.

    .venv/bin/python benchmarks/compare.py OLD_PYTHON NEW_PYTHON [--only TOPIC ...] [--rounds 5] [--json FILE]
    .venv/bin/python benchmarks/compare.py OLD_PYTHON --baseline benchmarks/baseline.json

Each build runs in a process of its own, under its own interpreter, with the rows of this folder. In a round every topic
is measured by one build and then by the other, the first one changing from round to round, so that a slow moment of the
machine hits both. Figures of different runs or machines cannot be compared; the ratios of one run can.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from importlib import import_module
from itertools import chain
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOPICS = (
    "pose", "batch", "points", "insert", "late", "siblings", "waits", "snapshot", "twists", "relation_graph",
    "overlapping", "scene_add", "scene_find", "scene_change", "scene_remove", "scene_pose", "driven",
)  # fmt: skip
ROUNDS = 5
REPEATS = 3  # of each row in each round
SLOWER = 1.1
Figures = dict[str, float]


def main() -> int:
    options = _options()
    if options.worker:
        _work()
        return 0
    builds = [Build(python) for python in options.pythons]
    try:
        figures, units = _measure(builds, options.only, options.rounds)
    finally:
        for build in builds:
            build.close()
    if options.baseline:
        _write_baseline(options.baseline, figures[0], units)
    if len(builds) > 1:
        _print_table(*figures[:2], units)
    if options.json:
        rows = {name: {"unit": units[name], "figures": [each.get(name) for each in figures]} for name in units}
        options.json.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n")
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Two builds side by side.")
    parser.add_argument("pythons", nargs="*", metavar="PYTHON", help="the interpreters: first the old build's")
    parser.add_argument(
        "--only", nargs="+", choices=TOPICS, default=list(TOPICS), metavar="TOPIC", help=", ".join(TOPICS)
    )
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"how often each build has its turn ({ROUNDS})")
    parser.add_argument("--json", type=Path, help="where the figures go")
    parser.add_argument("--baseline", type=Path, help="keep the figures of the first build here")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


# -- One build


class Build:
    """A process that measures topics with one build."""

    def __init__(self, python: str) -> None:
        command = [*python.split(), str(HERE / "compare.py"), "--worker"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def rows(self, topic: str) -> dict:
        self._process.stdin.write(topic + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        return json.loads(answer) if answer else {"error": "it ended"}

    def close(self) -> None:
        self._process.communicate("")


def _work() -> None:
    """Measure each topic that is asked for, and print its rows as one line of JSON."""
    from context import Bench
    from scenario import make_scenario

    with tempfile.TemporaryDirectory(prefix="armillary_bench_") as folder:
        scenario = make_scenario()
        scenario.write(Path(folder))
        bench = Bench(scenario, {}, REPEATS, quick=True)
        for topic in sys.stdin:
            print(json.dumps(_rows(bench, topic.strip())), flush=True)


def _rows(bench, topic: str) -> dict:
    try:
        rows = list(import_module(f"rows.{topic}").rows(bench))
    except Exception as error:  # noqa: BLE001  (a row that this build cannot do is no reason to stop)
        return {"error": f"{type(error).__name__}: {error}"}
    return {"rows": [[row.what, row.ours, row.unit] for row in rows if row.ours]}


# -- Both


def _measure(builds: list[Build], topics: list[str], rounds: int) -> tuple[list[Figures], dict[str, str]]:
    """The least figure of every row for each build, and the units."""
    best: list[Figures] = [{} for _ in builds]
    units: dict[str, str] = {}
    turns = chain.from_iterable([(turn, topic) for topic in topics] for turn in range(rounds))
    for turn, topic in turns:
        order = list(range(len(builds)))[:: 1 if turn % 2 == 0 else -1]
        for place in order:
            found = builds[place].rows(topic)
            if "error" in found and turn == 0:
                print(f"{topic}, build {place + 1}: {found['error']}", file=sys.stderr)
            for what, figure, unit in found.get("rows", ()):
                name = f"{topic}: {what.strip()}"
                units[name] = unit
                best[place][name] = min(figure, best[place].get(name, figure))
    return best, units


def _print_table(old: Figures, new: Figures, units: dict[str, str]) -> None:
    from table import quantity

    print(f"{'row':60} {'old':>9} {'new':>9} {'new/old':>8}")
    for name, unit in units.items():
        before, after = old.get(name), new.get(name)
        ratio = after / before if before and after else None
        mark = " slower" if ratio and ratio > SLOWER and unit != "k/s" else ""
        text = f"{ratio:8.2f}" if ratio else "       ?"
        print(f"{name:60} {quantity(before, unit):>9} {quantity(after, unit):>9} {text}{mark}")


def _write_baseline(path: Path, figures: Figures, units: dict[str, str]) -> None:
    about = "Least CPU time of each row, on a shared machine: what counts is a run of compare.py with both builds."
    rows = {name: {"unit": units[name], "figure": float(f"{value:.3g}")} for name, value in figures.items()}
    path.write_text(json.dumps({"about": about, "rows": rows}, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    sys.exit(main())
