"""Every row of docs/scene_graph_differences.md is held by a test of that id, and every such test has its row."""

import re
from pathlib import Path

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs/scene_graph_differences.md"
ROW = re.compile(r"^\| ([A-Z]\d+) \|", re.MULTILINE)
TEST = re.compile(r"def test_\w*?((?:_[a-z]\d+)+)\(")


def rows() -> list[str]:
    return ROW.findall(PAGE.read_text(encoding="utf-8"))


def ids_of_tests() -> set[str]:
    texts = [path.read_text(encoding="utf-8") for path in HERE.glob("test_scene_facts_*.py")]
    named = [ids for text in texts for ids in TEST.findall(text)]
    return {one.upper() for ids in named for one in ids.split("_") if one}


class TestThePageOfDifferences:
    def test_has_each_row_once(self):
        assert len(rows()) == len(set(rows()))

    def test_is_held_row_by_row(self):
        assert set(rows()) - ids_of_tests() == set()

    def test_lacks_nothing_that_is_tested(self):
        assert ids_of_tests() - set(rows()) == set()
