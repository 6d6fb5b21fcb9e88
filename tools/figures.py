"""Writes the figures of README.md and docs/evidence.md from the records in benchmarks/results.

.venv/bin/python tools/figures.py [--check]   # --check: exit status 1 where a page is not what the records say
"""

# ruff: noqa: E501  (paragraphs and table lines of the pages)

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks/results"
README, EVIDENCE = ROOT / "README.md", ROOT / "docs/evidence.md"
BEGIN, END = "<!-- figures: tools/figures.py -->\n", "<!-- end of figures -->\n"
PYTHON, CPP = "tf2 Py", "tf2 C++"


@dataclass(frozen=True)
class Line:
    """One line of README's table, and the rows of the record that it is made from.

    Attributes:
        what: What the reader would call it.
        conditions: Under which it was measured.
        row: The text of the row in the record.
        python: The name of tf2's Python in that row; empty: not compared.
        cpp: The same for tf2's C++.
    """

    what: str
    conditions: str
    row: str
    python: str = ""
    cpp: str = ""


CHAIN = "10 s at 1 kHz an edge, random times"
LINES = [
    Line("one `world.pose`, 10 edges", CHAIN, "pose, 10 edges, random times", PYTHON, CPP),
    Line("one `world.pose`, 1 edge", CHAIN, "pose, 1 edge, random times", PYTHON, CPP),
    Line(
        "one `world.twist`, 10 edges",
        f"{CHAIN}; mean over 10 ms, as tf's `lookupTwist`",
        "twist, 10 edges, random times, mean of 10 ms",
        "tf lookupTwist",
    ),
    Line(
        "`world.transforms`, each",
        f"100 000 in a call, 10 edges; {CHAIN}",
        "transforms, 100k times, 10 edges",
        PYTHON,
        CPP,
    ),
    Line(
        "`world.map_points`, each",
        f"100 000 points with a stamp each, 10 edges; {CHAIN}; tf2: the lookup alone",
        "map_points, 100k stamps, 10 edges, a point",
        "tf2 Py lookup",
    ),
    Line(
        "the same, of a scan",
        "3 edges, stamps in order",
        "map_points, 100k stamps in order, 3 edges, a point",
        "tf2 Py lookup",
    ),
    Line("`world.set_pose`", "in order, history full", "set_pose in order", PYTHON, CPP),
    Line(
        "`world.set_poses`, a sample",
        "10 000 in a call, in order, history full",
        "set_poses, 10k samples, a sample",
        PYTHON,
        CPP,
    ),
    Line(
        "a sample 9 s late", "`set_pose`, the whole call from Python", "set_pose 9 s late, whole Python call", "", CPP
    ),
    Line("two siblings, 100 frames deep", CHAIN, "siblings at depth 100", "", CPP),
    Line("`set_pose` beside 1000 waits", "that wait for other frames", "set_pose, 1000 waits elsewhere", "", CPP),
    Line(
        "`world.snapshot`, 1000 frames",
        "10 s at 10 Hz a frame, mean depth 7; every `Transform` delivered; tf2: 1000 lookups",
        "snapshot, 1000 Transforms, wide tree",
        f"1000 {PYTHON}",
        f"1000 {CPP}",
    ),
    Line(
        "the same as one array",
        "`snapshot.xyz_wxyz`",
        "snapshot as one array, wide tree",
        f"1000 {PYTHON}",
        f"1000 {CPP}",
    ),
    Line(
        "memory of a transform",
        "60 frames of 10 000 samples; resident, tf2: as malloc counts",
        "bytes a transform, set_poses",
        "",
        CPP,
    ),
]
SCENE_LINES = [
    ("overlapping a box, of 10000 flat", "`scene.overlapping` of 10 000 boxes that stand", "testing each"),
    ("overlapping a box, of 10000 moving", "the same where a hundred of them move", "testing each"),
]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--check", action="store_true", help="change nothing; exit status 1 where something would change"
    )
    options = parser.parse_args()
    pages = {README: readme_text(), EVIDENCE: evidence_text()}
    stale = [path for path, text in pages.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path in stale:
        if options.check:
            print(f"{path.relative_to(ROOT)} is not what benchmarks/results says. Run: make figures", file=sys.stderr)
        else:
            path.write_text(text := pages[path], encoding="utf-8")
            print(f"{path.relative_to(ROOT)}: {len(text.splitlines())} lines")
    return 1 if options.check and stale else 0


def record(name: str) -> dict[str, Any]:
    path = RESULTS / name
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


# -- README


def readme_text() -> str:
    before, _, rest = README.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + BEGIN + "\n" + speed_section(record("benchmarks.json")) + "\n" + END + after


def speed_section(measured: dict[str, Any]) -> str:
    """The paragraph about the machine, and the table."""
    lines = [
        f"Measured on {measured['machine']}, against Debian's tf2: CPU time, the least of {measured['repeats']} repeats that",
        f"take turns with the peer's ({about(measured)}). *3 times* means that tf2 took three times as long.",
        "",
        "| what | conditions | Armillary | tf2 from Python | tf2 from C++ |",
        "|---|---|---|---|---|",
    ]
    for line in LINES:
        ours = row_of(measured, line.row)
        theirs = [times(row_of(measured, line.row, peer)) if peer else "" for peer in (line.python, line.cpp)]
        lines.append(f"| {line.what} | {line.conditions} | {amount(ours)} | {theirs[0]} | {theirs[1]} |")
    for what, said, peer in SCENE_LINES:
        row = row_of(measured, what, peer)
        lines.append(f"| {said} | against the exact test of each of them, {times(row)} | {amount(row)} | | |")
    return "\n".join(lines) + "\n"


def about(measured: dict[str, Any]) -> str:
    """When, at which commit, beside what."""
    load = measured["load_average"]
    note = f"; {measured['note']}" if measured["note"] else ""
    return f"{measured['when'][:10]}, commit `{measured['commit']}`, load average {load[0]} before and {load[1]} after{note}"


def row_of(measured: dict[str, Any], what: str, peer: str | None = None) -> dict[str, Any]:
    for row in measured["rows"]:
        if row["what"].strip() == what and (peer is None or row["peer_name"] == peer):
            return row
    raise SystemExit(f"benchmarks/results/benchmarks.json has no row {what!r} with {peer!r}. Run: make bench")


def amount(row: dict[str, Any]) -> str:
    value, unit = row["ours"], row["unit"]
    if unit == "ns" and value >= 999.5:
        return f"{value / 1000:.3g} µs" if value < 1e6 else f"{value / 1e6:.3g} ms"
    return f"{value:.3g} {'bytes' if unit == 'B' else unit}"


def times(row: dict[str, Any]) -> str:
    if row["peer"] is None:
        return "not measured"
    ratio = row["peer"] / row["ours"]
    return (
        f"{row['peer']:.0f} bytes"
        if row["unit"] == "B"
        else f"{ratio:.0f} times"
        if ratio >= 9.95
        else f"{ratio:.2g} times"
    )


# -- The page of evidence


def evidence_text() -> str:
    nightly, measured = record("nightly.json"), record("benchmarks.json")
    parts = [HEAD, sanitizer_lines(nightly), soak_lines(nightly), uncertainty_lines(), benchmark_lines(measured)]
    return "\n".join(parts)


HEAD = """# Evidence

What is tested, how often, and what the last long run found. `tools/figures.py` writes this page from
`benchmarks/results`, where the records are; a test holds it to them.

## On every commit

`.ci/run`, on a fresh clone. Where Debian's tf2 and chromium can be installed, it sets `ARMILLARY_REQUIRE=tf2,chromium`:
then a test that would be skipped for want of them fails.

| what | command |
|---|---|
| formatting, types, import contract, stub file | `make check` |
| the C++ core: units, a million checked answers under stress, every kernel of batches against single poses | `make test-cpp` |
| laws against plain models, stories, units, tf2 in a second process, a real browser, every page and example | `make test-python` |

Random inputs are those of one seed, which the run begins by printing; `ARMILLARY_SEED=fresh` takes others, as every night
does, and `ARMILLARY_SEED=` with a printed number takes those again.
A test that takes five minutes ends its process with the stacks of all threads, and is reported. No test asserts a time.

## Every night

`make nightly` runs what takes too long for a commit, and writes its record, which is then committed. Parts of it: `tools/nightly.py --only soak`.
"""


def when(stage: dict[str, Any]) -> str:
    note = f" {stage['note'].capitalize()}." if stage["note"] else ""
    return f"Last run {stage['when'].replace('T', ' ')}, commit `{stage['commit']}`, {stage['took_s'] / 60:.0f} minutes.{note}"


def sanitizer_lines(nightly: dict[str, Any]) -> str:
    stage = nightly.get("sanitizers")
    if stage is None:
        return "### Sanitizers\n\nNot run yet.\n"
    answers = " and ".join(f"{number:,}".replace(",", " ") for number in stage["answers"])
    listed = "\n".join(f"* {line}" for line in stage["lines"])
    return f"""### Sanitizers

The core's tests under the address, undefined-behaviour and thread sanitizers; readers, writers, moves, removals and waits
at once, where every answer can be checked. Programs with a known fault show that the sanitizers are awake.

{when(stage)} {answers} answers were checked under stress, {stage["torn"]} were torn. {green(stage)}

{listed}
"""


def soak_lines(nightly: dict[str, Any]) -> str:
    stage = nightly.get("soak")
    if stage is None:
        return "### Soak\n\nNot run yet.\n"
    failed = "".join(f"\n* {line}" for line in stage["failed"])
    return f"""### Soak

Laws, conformance and units with {stage["examples"]} examples of each law (40 on a commit) and other random worlds.

{when(stage)} Seed {stage["seed"]}: {stage.get("passed", 0)} passed, {len(stage["failed"])} failed, \
{stage.get("skipped", 0)} skipped. {green(stage)}
{failed}
"""


def uncertainty_lines() -> str:
    measured = record("uncertainty.json")
    if not measured:
        return "### Uncertainty\n\nNot run yet.\n"
    rows = "\n".join(
        f"| {row['what']} | {row['nees']:.2f} ± {row['standard_error']:.2f} | {'a bound' if row['is_bound'] else '5 to 7.5'} | "
        f"{'yes' if row['ok'] else 'NO'} |"
        for row in measured["rows"]
    )
    return f"""### Uncertainty

Whether covariances are honest: `benchmarks/uncertainty.py` draws errors, asks, and averages the squared error in standard
deviations (NEES) over {measured["rows"][0]["draws"]} worlds. 6 is honest, for six degrees of freedom; more is too sure. Between two samples the
covariance is a bound on purpose. Commit `{measured["commit"]}`, seed {measured["seed"]}.

| what | NEES | asked | reached |
|---|---|---|---|
{rows}
"""


def green(stage: dict[str, Any]) -> str:
    return "All was well." if stage["is_green"] else "**Something failed.**"


def benchmark_lines(measured: dict[str, Any]) -> str:
    rows = "\n".join(
        f"| {row['what'].strip()} | {amount_or_none(row)} | {peer_cell(row)} | {target_cell(row)} | {row['ok']} |"
        for row in measured["rows"]
    )
    judged = [row for row in measured["rows"] if row["ok"]]
    missed = [row["what"].strip() for row in judged if row["ok"] in {"NO", "?"}]
    return f"""### Benchmarks

On {measured["machine"]}, Python {measured["python"]}, {measured["repeats"]} repeats ({about(measured)}). What each row
measures is in `benchmarks/README.md`. Of {len(judged)} targets {len(judged) - len(missed)} were reached. Not reached, or not
measured: {", ".join(missed) or "none"}. Topics: {", ".join(dict.fromkeys(row["topic"] for row in measured["rows"]))}.

| what | Armillary | beside | target | reached |
|---|---|---|---|---|
{rows}
"""


def amount_or_none(row: dict[str, Any]) -> str:
    if row["ours"] is None:
        return ""
    return f"{row['ours']:.0e}" if row["unit"] == "" else amount(row)


def peer_cell(row: dict[str, Any]) -> str:
    if not row["peer_name"]:
        return ""
    ratio = f", {row['ratio']:.3g}x" if row["ratio"] else ""
    return f"{row['peer_name']}{ratio}"


def target_cell(row: dict[str, Any]) -> str:
    if row["asked"] is None:
        return ""
    return f"{'≤' if row['less_is_better'] else '≥'} {row['asked']:g}{row['figure_unit']}"


if __name__ == "__main__":
    sys.exit(main())
