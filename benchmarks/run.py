"""Runs the product and its peers side by side and prints one table.

    .venv/bin/python benchmarks/run.py [--quick] [--json FILE] [--note TEXT] [--only TOPIC ...]

See README.md here for what each row means and how far to trust it.
"""

import argparse
import contextlib
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path

HERE = Path(__file__).resolve().parent
RECORD = HERE / "results/benchmarks.json"  # committed; tools/figures.py writes README's table from it
TOPICS = (
    "agreement",
    "pose",
    "everyday",
    "twists",
    "policies",
    "batch",
    "points",
    "insert",
    "late",
    "siblings",
    "waits",
    "snapshot",
    "threads",
    "memory",
    "churn",
    "imports",
    "relation_graph",
    "overlapping",
    "scene_add",
    "scene_find",
    "scene_remove",
    "scene_change",
    "scene_pose",
    "scene_memory",
    "scene_threads",
    "worlds",
    "sharing",
    "logs",
    "driven",
    "loops",
    "tapes",
    "expressions",
    "models",
    "motion",
    "distances",
    "tracking",
    "viewer",
)
REPEATS, QUICK_REPEATS = 20, 3


def main() -> int:
    options = _options()
    if not _product_is_there():
        return 1
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="armillary_bench_") as folder:
        rows = _measure(options, Path(folder))
    _write_json(options, rows, load)
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Product and peers, measured in one run.")
    parser.add_argument("--quick", action="store_true", help="3 repeats instead of 20: a rough look")
    parser.add_argument("--json", type=Path, help="where the figures go: results/benchmarks.json after a full run")
    parser.add_argument("--note", default="", help="what a reader of the record must know about the machine")
    parser.add_argument(
        "--only", nargs="+", choices=TOPICS, default=list(TOPICS), metavar="TOPIC", help=f"some of: {', '.join(TOPICS)}"
    )
    return parser.parse_args()


def _product_is_there() -> bool:
    try:
        import_module("armillary")
    except ImportError as missing:
        print(f"armillary is not built for {sys.executable} ({missing}). Run: make demo", file=sys.stderr)
        return False
    return True


def _measure(options: argparse.Namespace, folder: Path) -> list:
    from context import Bench
    from peers import start_peers
    from scenario import make_scenario

    scenario = make_scenario()
    scenario.write(folder)
    peers, absent = start_peers(folder)
    print("\n".join([*absent, ""]) if absent else "", end="")
    bench = Bench(scenario, peers, QUICK_REPEATS if options.quick else REPEATS, options.quick)
    try:
        return _print_rows(bench, options.only)
    finally:
        for peer in peers.values():
            peer.close()


def _print_rows(bench, topics: list[str]) -> list:
    from table import heading, row_text, summary

    rows = []
    print(heading())
    for topic in topics:
        for row in import_module(f"rows.{topic}").rows(bench):
            rows.append((topic, row))
            print(row_text(row), flush=True)
    print("\n" + summary(row for _, row in rows))
    return rows


def _write_json(options: argparse.Namespace, rows: list, load_before: float) -> None:
    is_full = not options.quick and set(options.only) == set(TOPICS)
    path = options.json or (RECORD if is_full else HERE / "results.json")
    record = {
        "when": time.strftime("%Y-%m-%dT%H:%M:%S"),
        "commit": _commit(),
        "machine": f"{_processor()}, {os.cpu_count()} cores, {platform.machine()}",
        "python": platform.python_version(),
        "repeats": QUICK_REPEATS if options.quick else REPEATS,
        "load_average": [round(load, 1) for load in (load_before, os.getloadavg()[0])],
        "note": options.note,
        "rows": [{"topic": topic} | row.as_json() for topic, row in rows],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n")
    print(f"Written to {path}.")


def _commit() -> str:
    """The commit that is measured, or nothing outside of a clone."""
    asked = subprocess.run(
        ["git", "rev-parse", "--short=12", "HEAD"], cwd=HERE, capture_output=True, text=True, check=False
    )
    return asked.stdout.strip()


def _processor() -> str:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return "unknown processor"


if __name__ == "__main__":
    sys.exit(main())
