"""Examples as pages: what they say of themselves, their code, what they print, what they draw."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import tempfile
from pathlib import Path

_LANGUAGES = {".py": "python", ".cpp": "cpp", ".txt": "cmake"}


def example_pages(folder: Path) -> dict[str, str | bytes]:
    """Every page and picture by its name on the site."""
    pages: dict[str, str | bytes] = {"examples/index.md": (folder / "README.md").read_text(encoding="utf-8")}
    for program in sorted(folder.glob("*.py")):
        pages |= _program_page(program)
    for part in sorted(path for path in folder.iterdir() if path.is_dir() and _files(path)):
        pages[f"examples/{part.name}.md"] = _folder_page(part)
    return pages


def _program_page(program: Path) -> dict[str, str | bytes]:
    printed, picture = _run(program)
    about, code = _split(program.read_text(encoding="utf-8"))
    title, _, text = about.partition("\n")
    shown = f"![What it draws]({program.stem}.svg)\n\n" if picture else ""
    page = (
        f"---\ntitle: {title.partition(':')[0]}\n---\n\n# {title.rstrip('.')}\n\n{text.strip()}\n\n{shown}"
        f"## What it prints\n\n```text\n{printed}```\n\n"
        f'## The program\n\n```python title="examples/{program.name}"\n{code}```\n'
    )
    return {f"examples/{program.stem}.md": page} | ({f"examples/{program.stem}.svg": picture} if picture else {})


def _split(source: str) -> tuple[str, str]:
    """The first lines of a program, which explain it, and the rest."""
    module = ast.parse(source)
    about = ast.get_docstring(module)
    if about is None:
        raise ValueError("an example begins with a docstring: it is its page")
    lines = source.splitlines(keepends=True)
    return about, "".join(lines[module.body[0].end_lineno :]).lstrip("\n")


def _run(program: Path) -> tuple[str, bytes]:
    """What it prints, and the picture it draws when it is given a file to draw it into."""
    with tempfile.TemporaryDirectory() as folder:
        picture = Path(folder) / "picture.svg"
        command = [sys.executable, str(program), str(picture)]
        environment = os.environ | {"PYTHONIOENCODING": "utf-8"}
        ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, encoding="utf-8", check=False)
        if ran.returncode:
            raise RuntimeError(f"{program.name} failed: {ran.stderr}")
        return ran.stdout, picture.read_bytes() if picture.exists() else b""


def _folder_page(folder: Path) -> str:
    """The files of a folder, one after the other."""
    shown = [f"# examples/{folder.name}\n"]
    for file in _files(folder):
        code = file.read_text(encoding="utf-8")
        shown.append(f'```{_LANGUAGES[file.suffix]} title="examples/{folder.name}/{file.name}"\n{code}```\n')
    return "\n".join(shown)


def _files(folder: Path) -> list[Path]:
    return sorted(file for file in folder.iterdir() if file.suffix in _LANGUAGES)
