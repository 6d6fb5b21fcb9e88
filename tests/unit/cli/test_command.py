"""The command as a user types it: `python -m armillary ...` in a folder of his own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from xml.etree import ElementTree as ET

import pytest

import armillary
from armillary.cli import main
from unit.cli.kit import on_a_terminal

pytest.importorskip("typer")
pytest.importorskip("rich")

WITHOUT = "import sys; sys.modules[{module!r}] = None; from armillary.cli import main; sys.exit(main({arguments!r}))"


def run(*command, cwd, **environment):
    return subprocess.run(
        [sys.executable, *command],
        cwd=cwd,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("user")


@pytest.fixture(scope="module")
def turtles(folder):
    """One run without any option, in a pipe."""
    return run("-m", "armillary", "demo", "turtles", cwd=folder)


@pytest.fixture(scope="module")
def kitchen(folder):
    """What `armillary demo` does in a pipe."""
    return run("-m", "armillary", "demo", "--out", "kitchen", cwd=folder)


@pytest.fixture(scope="module")
def kitchen_report(folder):
    answer = run("-m", "armillary", "demo", "--seconds", "3", "--out", "short", "--json", cwd=folder)
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stdout)


@pytest.fixture(scope="module")
def report(folder):
    answer = run(
        "-m", "armillary", "demo", "turtles", "--seconds", "20", "--out", "deep/pictures", "--json", cwd=folder
    )
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stdout)


def test_the_kitchen_goes_on_in_a_terminal_while_a_browser_may_look(tmp_path):
    pytest.importorskip("viser")
    status, screens = on_a_terminal("demo", "--seconds", "2", "--out", "kitchen", cwd=tmp_path, lines=40)
    output = [screen for screen in screens if "of 2 s" in screen]
    assert status == 0
    assert len({re.search(r"(\S+) of 2 s", screen)[1] for screen in output}) > 2  # it goes on
    assert "http://127.0.0.1:" in output[0]


class TestTheKitchenWithoutATerminal:
    def test_ends_by_itself_with_a_report(self, kitchen):
        assert (kitchen.returncode, kitchen.stderr) == (0, "")
        for word in (
            "A robot in a kitchen: 10 s of it",
            "opens the cupboard",
            "Who disagrees?\n",
            "  the wall camera: ",
            "moved in the gripper by 0.000 mm",
            "opened by 57 degrees",
        ):
            assert word in kitchen.stdout

    def test_leaves_both_pictures_in_the_folder_it_names(self, kitchen, folder):
        assert "kitchen: kitchen.svg, cup.svg" in kitchen.stdout
        for name in ("kitchen.svg", "cup.svg"):
            assert ET.parse(folder / "kitchen" / name).getroot().tag.endswith("svg")

    def test_prints_lines_that_fit_into_a_terminal(self, kitchen):
        assert max(map(len, kitchen.stdout.splitlines())) <= 80

    def test_gives_programs_the_figures_and_the_answers(self, kitchen_report):
        assert (kitchen_report["demo"], kitchen_report["simulated_s"]) == ("kitchen", 3.0)
        assert kitchen_report["slip_in_hand_m"] is None  # it has no cup in its hand yet
        assert [bool(answer["values"]) for answer in kitchen_report["answers"]] == [True, True, True, True, False]
        assert set(kitchen_report["cup_error_m"]) == {"head camera", "wall camera", "together"}

    def test_needs_the_extra_for_models(self, tmp_path):
        answer = run("-c", WITHOUT.format(module="casadi", arguments=["demo"]), cwd=tmp_path)
        assert (answer.returncode, answer.stdout) == (1, "")
        assert "pip install 'armillary[articulation]'" in answer.stderr
        assert (answer.stderr.count("\n"), list(tmp_path.iterdir())) == (1, [])


class TestTheTurtlesWithoutATerminal:
    def test_end_by_themselves_with_a_report(self, turtles):
        assert (turtles.returncode, turtles.stderr) == (0, "")
        for word in ("turtle2 followed turtle1", "follow error", "1,501 of turtle1", "lookups a second", "└── turtle2"):
            assert word in turtles.stdout

    def test_leave_both_pictures_in_the_folder_they_name(self, turtles, folder):
        assert "armillary_demo: tracks.svg, tree.svg" in turtles.stdout
        for name in ("tracks.svg", "tree.svg"):
            assert ET.parse(folder / "armillary_demo" / name).getroot().tag.endswith("svg")

    def test_print_lines_that_fit_into_a_terminal(self, turtles):
        assert max(map(len, turtles.stdout.splitlines())) <= 80

    def test_write_ascii_where_the_output_has_nothing_else(self, tmp_path):
        answer = run("-m", "armillary", "demo", "turtles", "--seconds", "1", cwd=tmp_path, PYTHONIOENCODING="ascii")
        assert answer.returncode == 0
        assert "??? turtle2" in answer.stdout


class TestTheReportForPrograms:
    def test_holds_the_figures(self, report):
        assert report["simulated_s"] == 20.0
        assert report["samples"] == {"turtle1": 1001, "turtle2": 801}
        assert report["two_time_lookups_per_s"] > 0
        assert report["batch_lookups_per_s"] > report["two_time_lookups_per_s"]

    def test_reports_how_well_the_follower_followed(self, report):
        assert 5.0 < report["follow_error"]["since_s"] < 15.0
        assert 0.0 < report["follow_error"]["mean_m"] < report["follow_error"]["largest_m"] < 1e-4

    def test_names_the_files_that_are_there(self, report, folder):
        pictures = report["pictures"]
        assert {file.name for file in (folder / pictures["folder"]).iterdir()} == set(pictures["files"])
        assert bool(pictures["missing"]) != ("tracks.png" in pictures["files"])


class TestAMistake:
    @pytest.mark.parametrize(
        ("typed", "expected"),
        [
            (["demo", "tortoises"], "No demonstration named 'tortoises'. There are: kitchen, push, turtles."),
            (["demo", "--seconds", "0"], "--seconds must be between 1 and 600, got 0."),
            (["demo", "--seconds", "nan"], "--seconds must be between 1 and 600, got nan."),
            (["demo", "--seconds", "1e9"], "--seconds must be between 1 and 600"),
            (["demo", "--seconds", "soon"], "Invalid value for '--seconds'"),
            (["demo", "--headles"], "No such option: --headles"),
            (["dance"], "No such command 'dance'"),
            (["demo", "--out", __file__], "is a file"),
            (["demo", "--out", f"{__file__}/below"], "Not a directory"),
        ],
    )
    def test_is_reported_in_one_line(self, typed, expected, tmp_path, capsys, monkeypatch):
        monkeypatch.chdir(tmp_path)
        assert main(typed) == 1
        output = capsys.readouterr()
        assert output.out == ""
        assert expected in output.err
        assert output.err.startswith("armillary: ")
        assert output.err.count("\n") == 1

    def test_leaves_nothing_behind(self, tmp_path):
        answer = run("-m", "armillary", "demo", "--seconds", "-3", cwd=tmp_path)
        assert (answer.returncode, answer.stdout, list(tmp_path.iterdir())) == (1, "", [])
        assert "Traceback" not in answer.stderr


class TestAMissingPart:
    @pytest.mark.parametrize("module", ["typer", "rich"])
    def test_is_named_with_the_command_that_installs_it(self, module, tmp_path):
        answer = run("-c", WITHOUT.format(module=module, arguments=["demo"]), cwd=tmp_path)
        assert answer.returncode == 1
        assert answer.stderr == (
            f"armillary: This needs '{module}', which is not installed. Install it with: pip install 'armillary[cli]'\n"
        )

    def test_costs_the_demonstration_only_its_png(self, tmp_path):
        arguments = ["demo", "turtles", "--seconds", "1"]
        answer = run("-c", WITHOUT.format(module="matplotlib", arguments=arguments), cwd=tmp_path)
        assert answer.returncode == 0
        assert "No PNG. This needs 'matplotlib'" in answer.stdout
        assert "turtle2 had not caught up yet" in answer.stdout
        assert {file.name for file in (tmp_path / "armillary_demo").iterdir()} == {"tracks.svg", "tree.svg"}


class TestAskingTheCommandItself:
    def test_for_its_version(self, capsys):
        assert main(["--version"]) == 0
        assert capsys.readouterr().out == f"armillary {armillary.__version__}\n"

    @pytest.mark.parametrize("arguments", [[], ["--help"]])
    def test_for_help(self, arguments, capsys):
        assert main(arguments) == 0
        assert "demo" in capsys.readouterr().out

    def test_importing_it_loads_nothing_optional(self, tmp_path):
        code = "import sys, armillary.cli; print({'typer', 'rich', 'matplotlib'} & set(sys.modules))"
        assert run("-c", code, cwd=tmp_path).stdout == "set()\n"
