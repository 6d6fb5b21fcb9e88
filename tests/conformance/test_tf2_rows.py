"""Every row of the tf2 conformance table is a test here or a difference that is explained to the user."""

import re
from pathlib import Path

HERE = Path(__file__).parent
DIFFERENCES = HERE.parents[1] / "docs" / "tf2_differences.md"
ROWS = {"i": 20, "s": 10, "v": 15, "e": 19, "w": 15, "x": 5}


def every_row():
    return {f"{kind}{number}" for kind, last in ROWS.items() for number in range(1, last + 1)}


def rows_with_a_test():
    sources = "\n".join(path.read_text() for path in HERE.glob("test_tf2_*.py"))
    return set(re.findall(r"def test_([isvewx]\d+)_", sources))


def rows_explained():
    return {row.lower() for row in re.findall(r"^\| ([ISVEWX]\d+) \|", DIFFERENCES.read_text(), flags=re.MULTILINE)}


class TestTheConformanceTable:
    def test_every_row_is_accounted_for(self):
        assert rows_with_a_test() | rows_explained() == every_row()

    def test_every_row_that_differs_says_what_both_do_and_why(self):
        rows = [line for line in DIFFERENCES.read_text().splitlines() if re.match(r"\| [ISVEWX]\d+ \|", line)]
        assert all(len([cell for cell in row.split("|") if cell.strip()]) == 4 for row in rows)
        assert len(rows) == len(rows_explained())
