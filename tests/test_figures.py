"""The figures of README and of the page of evidence are those of the committed records."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks/results"


class TestTheFigures:
    def test_are_those_of_the_records(self):
        command = [sys.executable, str(ROOT / "tools/figures.py"), "--check"]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (ran.returncode, ran.stderr) == (0, "")

    def test_are_of_a_full_run_at_a_commit(self):
        record = json.loads((RESULTS / "benchmarks.json").read_text(encoding="utf-8"))
        assert record["repeats"] >= 20
        assert len(record["commit"]) == 12
        assert {"pose", "overlapping", "viewer"} <= {row["topic"] for row in record["rows"]}
