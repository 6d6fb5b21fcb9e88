"""Every public name with its parameters and attributes, as lines of text that can be compared.

python tests/interface_snapshot.py --write    after a change of the interface that is meant
python tests/interface_snapshot.py            shows the difference

A line is what a user can type. Where a thing is defined, its annotations and its docstring are not in it.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import inspect
import io
import os
import re
import sys
import textwrap
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

SNAPSHOT = Path(__file__).with_name("interface_snapshot.txt")
MODULES = (
    "armillary",
    "armillary.articulation",
    "armillary.articulation.mechanisms",
    "armillary.collision",
    "armillary.demos.models",
    "armillary.errors",
    "armillary.formats",
    "armillary.fusion",
    "armillary.fusion.policies",
    "armillary.motion",
    "armillary.notebook",
    "armillary.record",
    "armillary.relations",
    "armillary.relations.representations",
    "armillary.scene",
    "armillary.shapes",
    "armillary.stamps",
    "armillary.transforms",
    "armillary.view",
    "armillary.view.web",
)
OPERATORS = ("__matmul__", "__enter__", "__exit__", "__iter__", "__len__", "__contains__", "__getitem__", "__call__")
UNSEEN = (object, BaseException, Exception)
HELP_WIDTH = "200"


def lines() -> list[str]:
    """The whole interface."""
    found = [line for name in MODULES for line in _module_lines(importlib.import_module(name))]
    return sorted({*found, *_command_lines()})


def differences() -> tuple[list[str], list[str]]:
    """What the snapshot has and the product has not, and the other way round."""
    before, now = SNAPSHOT.read_text().splitlines(), lines()
    return sorted({*before} - {*now}), sorted({*now} - {*before})


def _module_lines(module: ModuleType) -> Iterator[str]:
    for name in getattr(module, "__all__", ()):
        part = getattr(module, name)
        where = f"{module.__name__}.{name}"
        if isinstance(part, ModuleType):
            yield f"{where} (module)"
        elif inspect.isclass(part):
            yield from _class_lines(where, part)
        elif callable(part):
            yield f"{where}{_parameters(part, name)}"
        else:
            yield f"{where} = {type(part).__name__}"


def _class_lines(where: str, kind: type) -> Iterator[str]:
    yield f"{where}{_parameters(kind, '__init__') if _is_made_by_users(kind) else ''} (class)"
    for name in sorted({*dir(kind), *_fields(kind)}):
        if (name.startswith("_") and name not in OPERATORS) or _is_of_the_language(kind, name):
            continue
        value = inspect.getattr_static(kind, name, None)
        is_call = callable(value) or isinstance(value, staticmethod | classmethod)
        yield f"{where}.{name}{_parameters(getattr(kind, name), name) if is_call else ''}"


def _is_made_by_users(kind: type) -> bool:
    """Enumerations are not, and what takes anything says nothing."""
    return not hasattr(kind, "__members__") and any("__init__" in vars(base) for base in _bases(kind))


def _bases(kind: type) -> list[type]:
    return [base for base in kind.__mro__ if base not in UNSEEN and base.__module__.startswith("armillary")]


def _is_of_the_language(kind: type, name: str) -> bool:
    owner = next((base for base in kind.__mro__ if name in vars(base)), None)
    return owner is not None and not owner.__module__.startswith("armillary")


def _fields(kind: type) -> set[str]:
    """Attributes that only instances have: annotated ones, slots, and what `__init__` sets."""
    found: set[str] = set()
    for base in _bases(kind):
        slots = vars(base).get("__slots__", ())
        found |= {*vars(base).get("__annotations__", {}), *([slots] if isinstance(slots, str) else slots)}
        found |= _set_in(vars(base).get("__init__"))
    return {name for name in found if not name.startswith("_")}


def _set_in(function: Any) -> set[str]:
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        return set()
    stored = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)]
    return {node.attr for node in stored if isinstance(node.value, ast.Name) and node.value.id == "self"}


def _parameters(part: Any, name: str) -> str:
    """Names, kinds and defaults; native calls say them in their docstring."""
    try:
        signature = inspect.signature(part)
    except (ValueError, TypeError):
        return _native_parameters(part, name)
    bare = [each.replace(annotation=inspect.Parameter.empty) for each in signature.parameters.values()]
    text = str(signature.replace(parameters=bare, return_annotation=inspect.Signature.empty))
    text = re.sub(r"^\((self|cls)(, /)?(, )?", "(", text)
    without_address = r"<(?:function|class|built-in function) '?(?:\w+\.)*(\w+)'?[^>]*>"
    return _plain(re.sub(without_address, r"\1", text))


def _native_parameters(part: Any, name: str) -> str:
    overloads = [line for line in (inspect.getdoc(part) or "").splitlines() if line.startswith(f"{name}(")]
    return _plain(" | ".join(_bare(line) for line in overloads) or "(...)")


def _bare(line: str) -> str:
    """The parameters of a line such as `fix(self, *, of: str, at: int | None = None) -> None`."""
    definition = ast.parse(f"def {line}: ...").body[0]
    assert isinstance(definition, ast.FunctionDef)
    arguments = definition.args
    for each in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]:
        if each is not None:
            each.annotation = None
    return re.sub(r"^\((self|cls)(, /)?(, )?", "(", f"({ast.unparse(arguments)})")


def _plain(text: str) -> str:
    return re.sub(r"\s*=\s*", "=", text).replace("Ellipsis", "LATEST")


def _command_lines() -> Iterator[str]:
    """`armillary COMMAND` with its arguments and options, as in its help."""
    overview = _help()
    block = re.split(r"Commands", overview)[-1]
    commands = re.findall(r"^[│| ]*([a-z][a-z-]+) {2,}\S", block, re.MULTILINE)
    yield f"armillary {' '.join(_options(overview))}"
    for command in commands:
        text = _help(command)
        usage = re.search(r"Usage: (?:\S+ )+?\[OPTIONS\](.*)", text)
        arguments = re.sub(r"[{}]", "", usage[1]).split() if usage else []
        yield " ".join(["armillary", command, *arguments, *_options(text)])


def _options(text: str) -> list[str]:
    return sorted({*re.findall(r"(?<![\w-])--[a-z][\w-]*", text.split("Options", 1)[-1])})


def _help(*command: str) -> str:
    from armillary.cli import main  # noqa: PLC0415  (typer is optional)

    kept = {name: os.environ.get(name) for name in ("COLUMNS", "TERMINAL_WIDTH", "NO_COLOR")}
    os.environ.update(COLUMNS=HELP_WIDTH, TERMINAL_WIDTH=HELP_WIDTH, NO_COLOR="1")
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            main([*command, "--help"])
    finally:
        for name, value in kept.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
    return re.sub(r"\x1b\[[\d;]*m", "", out.getvalue())


if __name__ == "__main__":
    if "--write" in sys.argv:
        SNAPSHOT.write_text("\n".join(lines()) + "\n")
    else:
        lost, gained = differences()
        print("\n".join([*(f"- {line}" for line in lost), *(f"+ {line}" for line in gained)]))
