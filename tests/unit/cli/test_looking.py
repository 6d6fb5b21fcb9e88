"""What the commands show: odd names, uncertainty, pictures, narrow terminals."""

from __future__ import annotations

import re
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("rich")
pytest.importorskip("casadi")
pytest.importorskip("lxml")

from armillary import Box, World, seconds
from armillary.demos.models import mobile_manipulator
from armillary.formats import write_urdf
from unit.cli.kit import answer, on_a_terminal
from unit.kit import moved

ODD = ("arm[/left]", "[red]danger[/red]")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("user")
    world = World("odd")
    for name in ODD:
        world.fix(of=name, in_frame="map", transform=moved(1))
    world.fix(of="cup", in_frame="map", transform=moved(2), covariance=np.diag([1e-4, 4e-4, 9e-4, 0, 0, 0.01]))
    world.fix(of="a frame with a name that is rather long/and longer", in_frame="cup", transform=moved(1), source="me")
    cup = world.scene.add_transform(parent="cup", transform=moved(1), at=None, attributes={"name": "handle"})
    world.scene.add_geometry(parent=cup, shape=Box((0.1, 0.1, 0.1)))
    world.save(path / "odd.json")
    write_urdf(mobile_manipulator(), path / "robot.urdf")
    return path


@pytest.fixture
def here(folder, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.delenv("ARMILLARY_WORLD", raising=False)
    return folder


class TestWatching:
    @pytest.mark.parametrize("name", ODD)
    def test_shows_a_name_as_it_is(self, folder, name):
        status, screens = on_a_terminal("watch", name, "map", "-w", "odd.json", cwd=folder)
        assert status == 0
        assert any(f"{name} in map" in screen for screen in screens)

    def test_reports_no_age_by_another_clock(self, typed):
        status, out, _ = typed("watch torso_lift base_link -w robot.urdf")
        assert (status, "ms old" in out, "by another clock" in out) == (0, False, True)


class TestAPose:
    def test_comes_with_its_deviations(self, typed):
        _, out, _ = typed("pose cup map -w odd.json")
        assert re.search(r"±xyz +0\.0100 +0\.0200 +0\.0300 +m", out)
        assert re.search(r"±rpy +0\.000 +0\.000 +5\.730 +deg", out)

    def test_of_two_instants_needs_a_fixed_frame(self, typed):
        assert answer(typed, "pose cup map --of-at 1 --at 2 --fixed-frame map -w odd.json")["xyz_m"] == [2, 0, 0]
        status, _, err = typed("pose cup map --of-at 1 -w odd.json")
        assert (status, "--fixed-frame belong together" in err) == (1, True)

    def test_refuses_an_unknown_word_for_outside(self, typed):
        status, _, err = typed("pose cup map --outside guess -w odd.json")
        assert (status, "--outside takes one of raise, hold, predict" in err) == (1, True)


class TestASource:
    def test_that_nobody_has_is_refused_with_what_is_true(self, typed):
        status, _, err = typed("pose torso_lift base_link --source nobody -w robot.urdf")
        assert status == 1
        assert "Known: ." not in err


class TestATree:
    def test_is_written_as_a_picture_without_ids(self, typed, here):
        status, out, _ = typed("tree odd.json -o tree.svg")
        assert (status, out) == (0, "5 frames are drawn in tree.svg.\n")
        picture = (here / "tree.svg").read_text()
        assert "cup" in picture
        assert "handle" not in picture

    def test_as_json_has_kind_rate_and_source(self, typed):
        by_name = {record["frame"]: record for record in answer(typed, "tree odd.json")}
        long = by_name["a frame with a name that is rather long/and longer"]
        assert (long["kind"], long["source"], long["rate_hz"]) == ("fixed", "me", None)
        assert "kind" not in by_name["map"]

    def test_breaks_no_word_on_a_narrow_terminal(self, folder):
        status, screens = on_a_terminal("tree", "odd.json", cwd=folder, columns=60)
        assert status == 0
        assert all(len(line) <= 60 for line in screens[-1].splitlines())
        assert re.search(r"^[ │]+\[fixed by 'me'\]$", screens[-1], re.MULTILINE)


class TestATwist:
    def test_of_a_robot_at_rest_is_not_told_to_ask_for_the_latest(self, typed):
        status, _, err = typed("twist torso_lift base_link -w robot.urdf")
        assert status == 1
        assert "--at latest" not in err


class TestTheMonitor:
    def test_is_as_wide_as_the_terminal(self, folder):
        _, screens = on_a_terminal("monitor", "odd.json", cwd=folder, columns=200)
        assert any("a frame with a name that is rather long/and longer" in screen for screen in screens)


class TestCtrlC:
    def test_during_the_imports_leaves_no_traceback(self, folder):
        code = (
            "import builtins, os, signal\nimport armillary.cli\n"
            "real = builtins.__import__\n"
            "def interrupted(name, *rest, **more):\n"
            "    if name == 'armillary.cli._app':\n"
            "        os.kill(os.getpid(), signal.SIGINT)\n"
            "    return real(name, *rest, **more)\n"
            "builtins.__import__ = interrupted\n"
            "raise SystemExit(armillary.cli.main(['tree', 'odd.json']))\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=60, check=False
        )
        assert (done.returncode, done.stderr) == (130, "")


class TestAHistory:
    def test_of_a_contested_pose_is_plotted_by_a_policy(self, tmp_path):
        world = World()
        for source, y in (("left", 0.0), ("right", 1.0)):
            for t in range(3):
                world.set_pose(of="cup", in_frame="map", transform=moved(t, y), at=seconds(t), source=source)
        path = world.plot_history(tmp_path / "cup.svg", of="cup", in_frame="map", policy="latest")
        assert "cup seen from map" in path.read_text()
