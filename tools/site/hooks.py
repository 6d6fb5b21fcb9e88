"""What mkdocs asks while it builds the site: pages that are made from other files, and links to these files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from examples import example_pages
from interface import interface_pages
from links import relinked
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that no file in `docs/` is."""
    pages = {"benchmarks.md": (ROOT / "benchmarks/README.md").read_text(encoding="utf-8")}
    for name, content in (pages | example_pages(ROOT / "examples") | interface_pages()).items():
        files.append(File.generated(config, name, content=content))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Lead links to files of the repository to the pages made from them."""
    return relinked(markdown, page.file.src_uri)
