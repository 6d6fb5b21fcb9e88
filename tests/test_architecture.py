"""The promise, the import contract, and the house rules that a machine can check."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import armillary
from unit.kit import run_python

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
NATIVE = ("cpp/include", "cpp/src", "bindings")
SOURCES = sorted((ROOT / "src").rglob("*.py"))
NATIVE_SOURCES = sorted(path for folder in NATIVE for path in (ROOT / folder).rglob("*.[chi]*") if path.suffix != ".in")
LONGEST_FILE = 800
LOOKED_UP_THERE = {"src/armillary/world.py"}  # the facade: people look everything up there
PACKAGES = [
    f"armillary.{name}"
    for name in (
        "articulation",
        "collision",
        "errors",
        "formats",
        "demos.models",
        "motion",
        "record",
        "relations",
        "scene",
        "stamps",
        "store",
        "transforms",
        "view",
        "view.web",
    )
]
MOST_NAMES = 30
MOST_PRIVATE_ACCESSES = 10
EXTRAS = ("typer", "rich", "matplotlib", "casadi", "lxml", "trimesh", "viser", "xacrodoc", "yaml")
LEFT = ("TODO", "FIXME", "XXX", "HACK")


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


class TestThePromise:
    def test_is_kept(self):
        assert sorted(armillary.__all__) == (HERE / "public_names.txt").read_text().split()

    def test_is_short(self):
        assert len(armillary.__all__) <= MOST_NAMES

    def test_is_fulfilled(self):
        assert [name for name in armillary.__all__ if not hasattr(armillary, name)] == []

    def test_names_the_version_of_the_package(self):
        project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
        assert armillary.__version__ == project["version"]

    @pytest.mark.parametrize("name", PACKAGES)
    def test_of_each_package_is_sorted_and_true(self, name):
        module = importlib.import_module(name)
        assert sorted(module.__all__) == list(module.__all__)
        assert all(hasattr(module, promised) for promised in module.__all__)


class TestImporting:
    def test_loads_numpy_at_most(self):
        result = run_python(
            "import sys\n"
            "before = set(sys.modules)\n"
            "import armillary\n"
            "loaded = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
            "print(*sorted(loaded - set(sys.stdlib_module_names) - {'armillary', 'numpy'}))\n"
        )
        assert (result.stdout.split(), result.returncode) == ([], 0), result.stderr

    def test_needs_no_extra(self):
        result = run_python(
            "import sys\n"
            f"sys.modules.update(dict.fromkeys({EXTRAS!r}))\n"
            "import armillary, armillary.formats, armillary.demos.models, armillary.view.web\n"
            "world = armillary.World()\n"
            "world.fix(of='a', in_frame='b', transform=armillary.Transform.identity())\n"
            "print(world.pose(of='a', in_frame='b').stamp, world.tree())\n"
        )
        assert result.returncode == 0, result.stderr

    def test_prints_nothing_and_starts_nothing(self):
        result = run_python("import armillary, threading; assert threading.active_count() == 1")
        assert (result.returncode, result.stdout, result.stderr) == (0, "", "")

    def test_changes_nothing_of_others(self):
        result = run_python(
            "import builtins, logging, numpy, sys, warnings\n"
            "look = lambda: (set(vars(builtins)), list(warnings.filters), sys.excepthook, logging.root.handlers[:])\n"
            "before = look()\n"
            "import armillary\n"
            "assert look() == before\n"
        )
        assert result.returncode == 0, result.stderr

    def test_a_missing_extra_says_what_to_install(self):
        result = run_python(
            "import sys\n"
            f"sys.modules.update(dict.fromkeys({EXTRAS!r}))\n"
            "from armillary.cli import main\n"
            "sys.exit(main())\n"
        )
        assert result.returncode == 1
        assert "pip install 'armillary[cli]'" in result.stderr
        assert "Traceback" not in result.stderr


class TestTheImportContract:
    def test_is_kept(self):
        linter = shutil.which("lint-imports", path=str(Path(sys.executable).parent))
        if linter is None:
            pytest.skip("import-linter is not installed; `make check` runs it")
        result = subprocess.run(
            [linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
        )
        assert result.returncode == 0, result.stdout

    def test_lists_every_package_there_is(self):
        contract = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"][0]
        layers = " ".join(contract["layers"])
        packages = [m.name for m in pkgutil.iter_modules(armillary.__path__) if m.name not in {"_core", "__main__"}]
        assert [name for name in packages if f"armillary.{name}" not in layers] == []

    def test_leaves_private_modules_to_their_package(self):
        found = {relative(path): _reached_into(path) for path in SOURCES}
        assert {name: modules for name, modules in found.items() if modules} == {}


def _reached_into(path: Path) -> list[str]:
    """What a file imports of the private parts of other packages; the native module is everybody's."""
    package = path.relative_to(ROOT / "src").parts[1]
    imported = [f"{node.module}.{name.name}" for node in nodes(path, ast.ImportFrom) for name in node.names]
    others = [
        name for name in imported if name.startswith("armillary.") and name.split(".")[1] not in {package, "_core"}
    ]
    return [name for name in others if "._" in name.removeprefix("armillary.")]


def nodes(path: Path, kind: type[ast.AST]) -> list:
    return [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, kind)]


def calls_of(names: set[str], found: list) -> list[str]:
    """Which of these calls are calls of one of these names."""
    called = [node.func for node in found if isinstance(node, ast.Call)]
    return [f"{name.id} in line {name.lineno}" for name in called if isinstance(name, ast.Name) and name.id in names]


class TestComposition:
    def test_lets_the_world_inherit_from_its_native_face_alone(self):
        assert [kind.__module__ for kind in armillary.World.__mro__[1:]] == ["armillary._core", "builtins"]

    def test_lets_bindings_call_no_private_member(self):
        texts = {path: path.read_text() for path in NATIVE_SOURCES if "bindings" in path.parts}
        assert [relative(path) for path, text in texts.items() if 'attr("_' in text] == []

    def test_needs_few_private_accesses(self):
        assert sum(path.read_text().count("SLF001") for path in SOURCES) < MOST_PRIVATE_ACCESSES


class TestTheArchitecturePage:
    PAGE = (ROOT / "docs" / "architecture.md").read_text()

    def test_names_files_that_exist(self):
        named = set(re.findall(r"(?<![\w./])((?:[a-z_]+/)*[a-z_]+\.(?:py|cpp|hpp|txt|toml))", self.PAGE))
        folders = (
            ROOT,
            ROOT / "src",
            ROOT / "src/armillary",
            ROOT / "cpp/src",
            ROOT / "cpp/include/armillary",
            ROOT / "bindings",
        )
        everywhere = {
            path.name for folder in ("src", "cpp", "bindings", "tests") for path in (ROOT / folder).rglob("*")
        }
        found = {name for name in named if any((folder / name).exists() for folder in folders)}
        assert {name for name in named - found if "/" in name or name not in everywhere} == set()

    def test_lists_the_folders_of_the_core_in_the_order_of_their_includes(self):
        section = self.PAGE.split("cpp/include/armillary/   ")[1].split("bindings/")[0]
        order = re.findall(r"^   (\w+)/ ", section, re.MULTILINE)
        assert sorted(order) == sorted(path.name for path in (ROOT / "cpp/include/armillary").iterdir())
        upward = [
            (relative(path), included)
            for path in NATIVE_SOURCES
            if path.is_relative_to(ROOT / "cpp")
            for included in re.findall(r'#include "(?:armillary/)?(\w+)/', path.read_text())
            if order.index(included) > order.index(path.parent.name)
        ]
        assert upward == []

    def test_names_every_module_of_the_store(self):
        section = self.PAGE.split("## Store")[1].split("## ")[0]
        modules = {path.name for path in (ROOT / "src/armillary/store").glob("*.py")} - {"__init__.py"}
        assert {name for name in modules if f"`{name}`" not in section} == set()


class TestContributing:
    def test_lists_every_folder_and_no_other(self):
        text = (ROOT / "CONTRIBUTING.md").read_text().split("```text\n")[1].split("```")[0]
        package = {line.split()[0] for line in text.splitlines() if line.startswith("   ")}
        top = {line.split()[0] for line in text.splitlines() if not line.startswith("   ")}
        parts = (ROOT / "src" / "armillary").iterdir()
        public = {f"{part.name}/" if part.is_dir() else part.name for part in parts if not part.name.startswith("_")}
        assert package == {name for name in public if name.endswith(("/", ".py"))}
        assert top == {"cpp/", "bindings/", "src/armillary/", "tests/", "benchmarks/", "examples/", "docs/", "tools/"}


class TestEveryFile:
    def test_is_short(self):
        lengths = {relative(path): len(path.read_text().splitlines()) for path in [*SOURCES, *NATIVE_SOURCES]}
        assert {
            name: length for name, length in lengths.items() if length > LONGEST_FILE and name not in LOOKED_UP_THERE
        } == {}

    def test_leaves_nothing_to_be_done(self):
        found = [
            (relative(path), word) for path in [*SOURCES, *NATIVE_SOURCES] for word in LEFT if word in path.read_text()
        ]
        assert found == []

    def test_does_not_print(self):
        found = {relative(path): calls_of({"print", "breakpoint"}, nodes(path, ast.Call)) for path in SOURCES}
        assert {name: calls for name, calls in found.items() if calls} == {}

    def test_raises_errors_with_a_name_of_their_own(self):
        raised = {relative(path): [node.exc for node in nodes(path, ast.Raise)] for path in SOURCES}
        vague = {name: calls_of({"Exception", "RuntimeError"}, found) for name, found in raised.items()}
        assert {name: calls for name, calls in vague.items() if calls} == {}

    def test_asserts_nothing_of_its_users(self):
        assert [relative(path) for path in SOURCES if nodes(path, ast.Assert)] == []

    def test_of_the_core_knows_no_python(self):
        core = [path for path in NATIVE_SOURCES if path.is_relative_to(ROOT / "cpp")]
        assert core
        assert [
            relative(path) for path in core if "Python.h" in path.read_text() or "nanobind" in path.read_text()
        ] == []


def public_parts(module):
    """Public functions and classes of a module, and the public members of these classes."""
    for name in module.__all__:
        part = getattr(module, name)
        if inspect.isclass(part):
            yield f"{module.__name__}.{name}", part
            for member, value in vars(part).items():
                is_documentable = callable(value) or isinstance(value, property | staticmethod)
                if not member.startswith("_") and is_documentable:
                    yield f"{module.__name__}.{name}.{member}", getattr(part, member)
        elif callable(part):
            yield f"{module.__name__}.{name}", part


def documented_modules():
    return [importlib.import_module(name) for name in ("armillary", *PACKAGES)]


class TestDocumentation:
    def test_describes_every_module(self):
        undocumented = [relative(path) for path in SOURCES if not ast.get_docstring(ast.parse(path.read_text()))]
        assert undocumented == []

    @pytest.mark.parametrize("module", documented_modules(), ids=lambda module: module.__name__)
    def test_describes_everything_public(self, module):
        silent = [name for name, part in public_parts(module) if not (inspect.getdoc(part) or "").strip()]
        assert silent == []

    def test_describes_every_method_of_the_world(self):
        names = [name for name in dir(armillary.World) if not name.startswith("_")]
        silent = [name for name in names if not (inspect.getdoc(getattr(armillary.World, name)) or "").strip()]
        assert silent == []

    @pytest.mark.parametrize("kind", [armillary.World, armillary.Transform, armillary.Rotation, armillary.Pose])
    def test_of_native_calls_says_more_than_their_signature(self, kind):
        bare = []
        for name in (name for name in dir(kind) if not name.startswith("_")):
            lines = (inspect.getdoc(getattr(kind, name)) or "").splitlines()
            words = [line for line in lines if line.strip() and not line.startswith(f"{name}(")]
            if not words:
                bare.append(name)
        assert bare == []
