"""Nothing is documented that is not executed.

Every page is one program: its ```python blocks run in order, in one namespace, in an empty folder. A ```text block that
follows a ```python block is what that block prints. A picture it draws is the one in docs/images with that name. C++
blocks are compiled and run. Links lead somewhere, shell blocks name make targets that exist, and what a page calls a
method of the world is one. In a ```console block what follows a `$` is typed, and the rest is what it prints.
"""

from __future__ import annotations

import ast
import contextlib
import doctest
import importlib
import io
import os
import pkgutil
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest

import armillary
from armillary.errors import MissingExtra

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/*.md"), *ROOT.glob("docs/how_to/*.md")])
ALL_PAGES = sorted([*PAGES, ROOT / "CHANGELOG.md", *ROOT.glob("*/README.md")])
EXAMPLES = sorted(ROOT.glob("examples/*.py"))
EXAMPLE_LIMIT_S = 30.0  # they take a second; a busy machine takes longer

FENCE = re.compile(r"^```(?P<language>\w*)[^\n]*\n(?P<code>.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<!!)\[[^\]]*\]\((?P<target>[^)\s]+)\)")
HEADING = re.compile(r"^#+ +(?P<text>.+?)\s*$", re.MULTILINE)
MAKE_CALL = re.compile(r"(?:^|[\s`&;])make((?:[ \t]+[\w.=-]+)+)")
MAKE_TARGET = re.compile(r"^([\w-]+(?:[ \t]+[\w-]+)*)[ \t]*:(?!=)", re.MULTILINE)
WORLD_CALL = re.compile(r"\bworld\.([a-z]\w*)")


def page_id(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def pages(paths: list[Path] = PAGES) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("path", paths, ids=page_id)


@dataclass(frozen=True)
class Block:
    """One fenced block and its line."""

    language: str
    code: str
    line: int
    printed: str | None  # the ```text block that follows it

    def compiled(self, path: Path) -> Any:
        """With the page's own line numbers, so that a traceback points at the page."""
        return compile("\n" * self.line + self.code, str(path), "exec")


def blocks_of(path: Path) -> list[Block]:
    text = path.read_text(encoding="utf-8")
    found = list(FENCE.finditer(text))
    return [
        Block(match["language"], match["code"], text.count("\n", 0, match.start("code")), _printed(text, match, after))
        for match, after in zip_longest(found, found[1:])
    ]


def _printed(text: str, block: re.Match[str], after: re.Match[str] | None) -> str | None:
    if after is None or after["language"] != "text":
        return None
    return None if text[block.end() : after.start()].strip() else after["code"]


def typed(session: str) -> None:
    """Type what follows each `$` of a session, so that all of the session is printed."""
    from armillary.cli import main  # noqa: PLC0415  (an extra)

    for command in re.findall(r"^\$ (armillary .*)$", session, re.MULTILINE):
        print(f"$ {command}")
        main(shlex.split(command)[1:])


def without_code(path: Path) -> str:
    return FENCE.sub("", path.read_text(encoding="utf-8"))


class TestEveryPage:
    @pages()
    def test_runs_as_one_program_and_prints_what_it_says(self, path, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        namespace: dict[str, Any] = {"__name__": "__main__"}
        for block in [block for block in blocks_of(path) if block.language in {"python", "console"}]:
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(block.compiled(path), namespace) if block.language == "python" else typed(block.code)
            expected = block.code if block.language == "console" else block.printed
            if expected is not None:
                assert printed.getvalue().splitlines() == expected.splitlines(), f"{page_id(path)}:{block.line}"
        stored = ROOT / "docs/images"
        drawn = [file for file in tmp_path.glob("*.svg") if (stored / file.name).exists()]
        assert [file.name for file in drawn if file.read_bytes() != (stored / file.name).read_bytes()] == []

    @pages(ALL_PAGES)
    def test_has_links_that_lead_somewhere(self, path):
        targets = [match["target"] for match in LINK.finditer(without_code(path))]
        assert [target for target in targets if not _resolves(path, target)] == []

    @pages(ALL_PAGES)
    def test_names_make_targets_that_exist(self, path):
        known = {name for line in MAKE_TARGET.findall((ROOT / "Makefile").read_text()) for name in line.split()}
        assert made_in(path) <= known

    @pages(ALL_PAGES)
    def test_names_files_that_exist_in_its_shell_blocks(self, path):
        shell = [block.code for block in blocks_of(path) if block.language in {"sh", "bash", "console"}]
        named = re.findall(r"\b(?:examples|benchmarks|tests|tools)/[\w./]+\.(?:py|sh)\b", "\n".join(shell))
        assert [name for name in named if not (ROOT / name).exists()] == []

    @pages(ALL_PAGES)
    def test_names_methods_that_the_world_has(self, path):
        named = set(WORLD_CALL.findall(without_code(path))) - {"py"}  # `world.py` is where they are
        assert {name for name in named if not hasattr(armillary.World(), name)} == set()

    @pages(ALL_PAGES)
    def test_closes_its_fences(self, path):
        fences = [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("```")]
        assert len(fences) == 2 * len(blocks_of(path))


def made_in(path: Path) -> set[str]:
    """What follows `make` in shell blocks and in code spans; settings such as PYTHON=python3.12 are none."""
    spans = re.findall(r"`[^`\n]+`", without_code(path))
    shell = [block.code for block in blocks_of(path) if block.language in {"sh", "bash", "console"}]
    words = [word for text in [*spans, *shell] for call in MAKE_CALL.findall(text) for word in call.split()]
    return {word for word in words if "=" not in word and not word.startswith("-")}


def _resolves(page: Path, target: str) -> bool:
    if re.match(r"[a-z]+:", target):
        return True  # an address elsewhere; the tests need no network
    name, _, anchor = target.partition("#")
    found = (page.parent / name).resolve() if name else page
    if not found.exists():
        return False
    return not anchor or anchor in {_slug(match["text"]) for match in HEADING.finditer(without_code(found))}


def _slug(heading: str) -> str:
    """The anchor that GitHub and mkdocs make of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


class TestTheDocumentation:
    def test_is_reached_from_its_index(self):
        index = (ROOT / "docs/index.md").read_text(encoding="utf-8")
        assert [
            path.name for path in ROOT.glob("docs/*.md") if path.name != "index.md" and path.name not in index
        ] == []

    def test_lists_every_example(self):
        listing = (ROOT / "examples/README.md").read_text(encoding="utf-8")
        assert [path.name for path in EXAMPLES if path.name not in listing] == []

    def test_is_right_that_the_library_needs_numpy_alone(self):
        """Neither the extras nor anything else that is not Python's own, even where it is installed."""
        program = (
            "import sys; before = set(sys.modules); import armillary; new = set(sys.modules) - before;"
            "print({name.split('.')[0] for name in new} - sys.stdlib_module_names)"
        )
        ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        assert ast.literal_eval(ran.stdout) <= {"armillary", "numpy"}

    def test_says_nothing_about_the_machine_it_was_written_on(self):
        private = re.compile(r"/(?:home|root|work|tmp|Users)/")
        written = [*ALL_PAGES, *EXAMPLES]
        assert [page_id(path) for path in written if private.search(path.read_text(encoding="utf-8"))] == []


def _told(text: str) -> list[str]:
    """The lines without how long something took, and without what is rounding alone."""
    text = re.sub(r"mapped in [\d.]+ ms", "mapped in no time", text)
    return re.sub(r"\d(\.\d+)?e-1[3-9]\b", "rounding", text).splitlines()


@pytest.mark.parametrize("path", EXAMPLES, ids=page_id)
class TestEveryExample:
    def test_prints_what_it_always_printed(self, path, tmp_path):
        """The numbers are those of tests/example_outputs: a change of one is a change of what is documented."""
        # -W error: what an example does must not warn. PYTHONIOENCODING: the tree is drawn with lines.
        command = [sys.executable, "-W", "error", str(path)]
        environment = {**os.environ, "PYTHONIOENCODING": "utf-8"}
        ran = subprocess.run(
            command,
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=EXAMPLE_LIMIT_S,
            check=False,
        )
        assert (ran.returncode, ran.stderr) == (0, "")
        expected = ROOT / "tests/example_outputs" / f"{path.stem}.txt"
        assert _told(ran.stdout) == _told(expected.read_text(encoding="utf-8"))
        assert list(tmp_path.iterdir()) == []

    def test_begins_with_its_page(self, path):
        documentation = compile(path.read_text(encoding="utf-8"), str(path), "exec").co_consts[0]
        assert isinstance(documentation, str)
        assert len(documentation.split()) > 40


def cpp_blocks() -> list[Any]:
    found = [(path, block) for path in PAGES for block in blocks_of(path) if block.language == "cpp"]
    return [pytest.param(block, id=f"{page_id(path)}:{block.line}") for path, block in found]


@pytest.fixture(scope="module")
def library() -> Path:
    """The core as `make test` builds it, or as the Python package links it; never a sanitizer's."""
    for folder in ("build/cpp", "build/dev"):
        built = ROOT / folder / "cpp/libarmillary_core.a"
        if built.exists():
            return built
    pytest.skip("the C++ core is not built here as a library of its own; make test does it")


@pytest.fixture(scope="module")
def compiler() -> str:
    for name in (os.environ.get("CXX", ""), "c++", "g++", "clang++"):
        if name and shutil.which(name):
            return name
    pytest.skip("there is no C++ compiler here")


class TestEveryCppBlock:
    @pytest.mark.parametrize("block", cpp_blocks())
    def test_compiles_and_prints_what_it_says(self, block, library, compiler, tmp_path):
        source, program = tmp_path / "block.cpp", tmp_path / "block"
        source.write_text(block.code, encoding="utf-8")
        options = ["-std=c++20", "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'cpp/include'}"]
        command = [compiler, *options, str(source), str(library), "-pthread", "-o", str(program)]
        compiled = subprocess.run(command, capture_output=True, text=True, check=False)
        assert compiled.returncode == 0, compiled.stderr
        ran = subprocess.run([str(program)], capture_output=True, text=True, timeout=EXAMPLE_LIMIT_S, check=True)
        assert block.printed is None or ran.stdout.splitlines() == block.printed.splitlines()


def modules() -> list[str]:
    found = pkgutil.walk_packages(armillary.__path__, "armillary.", onerror=lambda _: None)
    return ["armillary", *(module.name for module in found if module.name != "armillary._core")]


def with_examples(name: str) -> bool:
    spec = importlib.util.find_spec(name)
    return spec is not None and spec.origin is not None and ">>>" in Path(spec.origin).read_text(encoding="utf-8")


class TestEveryDocstring:
    @pytest.mark.parametrize("name", [name for name in modules() if with_examples(name)])
    def test_has_examples_that_run(self, name):
        try:
            module = importlib.import_module(name)
        except MissingExtra as missing:
            pytest.skip(str(missing))
        except ModuleNotFoundError as missing:
            if (missing.name or "").startswith("armillary"):
                raise
            pytest.skip(f"needs {missing.name}")
        ran = doctest.testmod(module)
        assert ran.attempted > 0
        assert ran.failed == 0
