"""The documentation as a site: every page can be reached, and links lead to pages. `make docs` builds it for real."""

from __future__ import annotations

import importlib.util
import posixpath
import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
SETTINGS = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
EXAMPLES = ROOT / "examples"
LINK = re.compile(r"\]\((?P<target>[^)\s:#]+)(?:#[^)\s]*)?\)")
FENCED = re.compile(r"^```.*?^```[ \t]*$", re.MULTILINE | re.DOTALL)


def tool(name):
    spec = importlib.util.spec_from_file_location(f"site_{name}", ROOT / f"tools/site/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def named_in(navigation):
    for entry in navigation:
        for part in entry.values() if isinstance(entry, dict) else [entry]:
            yield from [part] if isinstance(part, str) else named_in(part)


def pages():
    """Every page of the site, and its file where it is one."""
    written = {path.relative_to(ROOT / "docs").as_posix(): path for path in ROOT.glob("docs/**/*.md")}
    written |= {"benchmarks.md": ROOT / "benchmarks/README.md", "examples/index.md": EXAMPLES / "README.md"}
    folders = [path for path in EXAMPLES.iterdir() if path.is_dir() and list(path.glob("*.[pc]*"))]
    made = [f"examples/{path.stem}.md" for path in [*EXAMPLES.glob("*.py"), *folders]]
    return written | dict.fromkeys([*made, *tool("interface").interface_pages()])


class TestTheNavigation:
    def test_names_every_page_once(self):
        assert sorted(named_in(SETTINGS["nav"])) == sorted(pages())


@pytest.mark.parametrize("page", [page for page, path in pages().items() if path is not None])
class TestAPageOfTheSite:
    def test_links_to_what_is_on_the_site(self, page):
        text = tool("links").relinked(pages()[page].read_text(encoding="utf-8"), page)
        links = [found["target"] for found in LINK.finditer(FENCED.sub("", text))]
        leads_to = {posixpath.normpath(posixpath.join(posixpath.dirname(page), link)) for link in links}
        assert {name for name in leads_to - set(pages()) if not (ROOT / "docs" / name).is_file()} == set()


class TestTheLooks:
    def test_come_from_this_place(self):
        own = [*SETTINGS["extra_css"], *SETTINGS["extra"]["polyfills"]]
        assert [name for name in own if not (ROOT / "docs" / name).is_file()] == []
        assert SETTINGS["theme"]["font"] is False
