"""Where a link between files of the repository leads on the site."""

from __future__ import annotations

import posixpath
import re

_LINK = re.compile(r"(?<=\])\((?P<target>[^)\s:#]+)(?P<anchor>#[^)\s]*)?\)")
_FENCED = re.compile(r"(^```.*?^```[ \t]*$)", re.MULTILINE | re.DOTALL)
_PAGES = {"benchmarks.md": "benchmarks/README.md", "examples/index.md": "examples/README.md"}


def relinked(markdown: str, page: str) -> str:
    """A page with its links as the site has them; `page` is its name there."""
    parts = _FENCED.split(markdown)
    parts[::2] = [_LINK.sub(lambda link: f"({_on_the_site(link, page)})", part) for part in parts[::2]]
    return "".join(parts)


def _on_the_site(link: re.Match[str], page: str) -> str:
    written_in = posixpath.dirname(file_of(page))
    file = posixpath.normpath(posixpath.join(written_in, link["target"]))
    return posixpath.relpath(page_of(file), posixpath.dirname(page) or ".") + (link["anchor"] or "")


def file_of(page: str) -> str:
    """The file of the repository that a page of the site is made from."""
    return _PAGES.get(page) or (page if page.startswith("examples/") else f"docs/{page}")


def page_of(file: str) -> str:
    """The page of the site that is made from a file or folder of the repository."""
    made = {source: page for page, source in _PAGES.items()}
    if file in made:
        return made[file]
    if file.startswith("examples/") and not file.endswith(".svg"):
        return posixpath.splitext(file)[0] + ".md"
    return file.removeprefix("docs/")
