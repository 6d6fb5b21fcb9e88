"""What takes too long for every commit: sanitizers, soak, benchmarks; recorded in benchmarks/results/nightly.json.

    .venv/bin/python tools/nightly.py [--only STAGE ...] [--examples N] [--answers N] [--note TEXT]

A stage that is not run keeps the record of its last run, with its date. Then tools/figures.py writes docs/evidence.md.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import secrets
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RECORD = ROOT / "benchmarks/results/nightly.json"
COUNTS = re.compile(r"(\d+) (passed|failed|skipped|xfailed|error)")
STRESS = re.compile(r"(\d+) reads, (\d+) answered, (\d+) torn")
HOURS_FOR_A_LAW_S = 6 * 3600


def main() -> int:
    options = _options()
    record = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
    for stage in options.only:
        print(f"== {stage}", flush=True)
        began_s = time.monotonic()
        found = STAGES[stage](options)
        when = {"when": time.strftime("%Y-%m-%dT%H:%M:%S"), "commit": _commit(), "note": options.note}
        record[stage] = {**when, "took_s": round(time.monotonic() - began_s), **found}
        RECORD.parent.mkdir(parents=True, exist_ok=True)
        RECORD.write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    _run([sys.executable, "tools/figures.py"], {})
    return 0 if all(record[stage]["is_green"] for stage in options.only) else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    stages = list(STAGES)
    parser.add_argument("--only", nargs="+", choices=stages, default=stages, help=f"some of: {', '.join(stages)}")
    parser.add_argument("--examples", type=int, default=3000, help="of each law in soak")
    parser.add_argument("--answers", type=int, default=10_000_000, help="that each sanitizer checks")
    parser.add_argument("--note", default="", help="what a reader of the record must know about the machine")
    return parser.parse_args()


def sanitizers(options: argparse.Namespace) -> dict[str, Any]:
    """The core under three sanitizers, and the programs with a fault that they must report."""
    ran = _run(["sh", "tools/sanitize.sh"], {"ARMILLARY_STRESS_ANSWERS": str(options.answers)})
    return read_sanitizers(ran.stdout) | {"is_green": ran.returncode == 0}


def read_sanitizers(text: str) -> dict[str, Any]:
    """What tools/sanitize.sh printed."""
    stress = [tuple(map(int, found)) for found in STRESS.findall(text)]
    lines = [line.removeprefix("ok   ") for line in text.splitlines() if line.startswith(("ok   ", "FAIL "))]
    torn = sum(each[2] for each in stress)
    return {"reads": sum(s[0] for s in stress), "answers": [s[1] for s in stress], "torn": torn, "lines": lines}


def soak(options: argparse.Namespace) -> dict[str, Any]:
    """Laws, tf2's differential and the random tests of units, with many more examples and another seed."""
    seed = str(secrets.randbelow(2**32))
    environment = {"ARMILLARY_HYPOTHESIS": "soak", "ARMILLARY_SEED": seed, "ARMILLARY_EXAMPLES": str(options.examples)}
    tests = ["tests/laws", "tests/conformance", "tests/unit"]
    patience = ["-o", f"faulthandler_timeout={HOURS_FOR_A_LAW_S}"]
    ran = _run([sys.executable, "-m", "pytest", "-q", "-n", "2", "--dist", "worksteal", *patience, *tests], environment)
    lines = ran.stdout.splitlines()
    counts = {kind: int(number) for number, kind in COUNTS.findall(lines[-1])}
    failed = [line.split(" - ")[0].removeprefix("FAILED ") for line in lines if line.startswith("FAILED")]
    made = {"seed": int(seed), "examples": options.examples, "is_green": ran.returncode == 0}
    return {**counts, **made, "failed": failed}


def benchmarks(options: argparse.Namespace) -> dict[str, Any]:
    """Product and peers; the figures have a file of their own."""
    ran = _run([sys.executable, "benchmarks/run.py", "--note", options.note], {})
    return {"is_green": ran.returncode == 0, "figures": "benchmarks/results/benchmarks.json"}


STAGES: dict[str, Callable[[argparse.Namespace], dict[str, Any]]] = {
    "sanitizers": sanitizers,
    "soak": soak,
    "benchmarks": benchmarks,
}


def _run(command: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Show what a command prints, and keep it."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    printed = []
    with subprocess.Popen(
        command, cwd=ROOT, env={**os.environ, "PATH": path, **environment}, stdout=subprocess.PIPE, text=True
    ) as running:
        for line in running.stdout or ():
            print(line, end="", flush=True)
            printed.append(line)
    return subprocess.CompletedProcess(command, running.returncode, "".join(printed))


def _commit() -> str:
    asked = subprocess.run(
        ["git", "rev-parse", "--short=12", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return asked.stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
