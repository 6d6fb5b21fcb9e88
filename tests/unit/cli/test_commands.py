"""Every command as a user calls it: good and bad, for people and for programs."""

from __future__ import annotations

import json
import math
import re
import shlex
import shutil

import pytest

pytest.importorskip("typer")
pytest.importorskip("rich")
pytest.importorskip("casadi")
pytest.importorskip("lxml")

from rich.console import Console

from armillary import Box, Transform, World, seconds
from armillary.cli._app import COMMANDS, command_named
from armillary.cli.monitor import Arrivals, screen
from armillary.demos.models import mobile_manipulator
from armillary.formats import write_urdf
from unit.cli.kit import answer, on_a_terminal, run
from unit.kit import FakeClock, drive, moved

TWO_ROBOTS = """<sdf version="1.9"><world name="w">
<model name="a"><link name="l"/></model><model name="b"><link name="l"/></model></world></sdf>"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """What a user has: a robot, and a saved world with a camera on a base and a cup in its scene."""
    path = tmp_path_factory.mktemp("user")
    write_urdf(mobile_manipulator(), path / "robot.urdf")
    world = World("kitchen")
    world.fix(
        of="camera", in_frame="base", transform=Transform.from_xyz_rpy(xyz=(0.1, 0, 0.4), rpy=(0, math.pi / 6, 0))
    )
    world.fix(of="robot/arm/tool", in_frame="robot/arm/wrist", transform=moved(0.1))
    cup = world.scene.add_transform(parent=world.scene.root, transform=moved(2), at=None, attributes={"name": "cup"})
    world.scene.add_geometry(parent=cup, shape=Box(size_m=(0.1, 0.1, 0.1)), attributes={"role": "visual", "size": 3})
    world.save(path / "kitchen.json")
    world.scene.save(path / "scene.json")
    with World("driver") as driver, driver.record(path / "run.mcap"):
        drive(driver, 3, of="base", in_frame="map")
    (path / "two.sdf").write_text(TWO_ROBOTS)
    (path / "broken.json").write_text((path / "kitchen.json").read_text().replace('"pose":[', '"pose":["x",', 1))
    (path / "notes.txt").write_text("milk")
    return path


@pytest.fixture
def here(folder, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.delenv("ARMILLARY_WORLD", raising=False)
    return folder


class TestEveryCommand:
    @pytest.mark.parametrize("name", COMMANDS)
    def test_runs_the_example_of_its_help_in_a_shell(self, name, folder, tmp_path):
        shutil.copytree(folder, tmp_path / "user")
        example = shlex.split(command_named(name)[1])
        assert example[:2] == ["armillary", name]
        done = run(*example[1:], cwd=tmp_path / "user")
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout
        assert "Traceback" not in done.stdout

    @pytest.mark.parametrize("name", COMMANDS)
    def test_shows_its_example_and_knows_json(self, name, typed):
        status, out, _ = typed(f"{name} --help")
        assert status == 0
        assert "--json" in out
        assert f"Example: {command_named(name)[1]}" in " ".join(out.split())

    @pytest.mark.parametrize(
        "line",
        [
            *(f"{name} camera base -w nowhere.json" for name in ("pose", "twist", "watch", "doctor")),
            *(f"{name} nowhere.json" for name in ("tree", "monitor", "load")),
            "list -w nowhere.json",
            "find name=cup -w nowhere.json",
            "save new.json -w nowhere.json",
            "convert nowhere.json new.json",
            "fix a b --xyz 1 2 3 -w no/where.json",
        ],
    )
    def test_reports_when_its_world_is_not_there(self, line, typed, here):
        status, out, err = typed(line)
        assert (status, out) == (1, "")
        assert err.startswith("armillary: Cannot ")
        assert err.count("\n") == 1
        assert not (here / "new.json").exists()


class TestAMistake:
    @pytest.mark.parametrize(
        ("line", "expected"),
        [
            ("pose camera base", "No world was given. Give --world"),
            ("pose camera", "Missing argument 'IN_FRAME'"),
            ("pose camra base -w kitchen.json", "Did you mean 'camera'?"),
            ("pose zzz base -w kitchen.json", "On the command line: 'armillary list' shows the names"),
            ("pose turtle1 world -w turtles --at 500", "On the command line: --at latest."),
            ("pose camera robot/arm/tool -w kitchen.json", "No chain of poses"),
            ("pose camera base -w notes.txt", "'notes.txt' is no world"),
            ("pose camera base -w broken.json", "is no saved world at records[0]"),
            ("pose camera base -w kitchen.json --at soon", "--at takes seconds"),
            ("pose camera base -w kitchen.json --at 1e-10", "--at takes seconds"),
            ("tree notes.txt", "'notes.txt' is no world"),
            ("twist camera nothing -w kitchen.json", "No frame named 'nothing'"),
            ("watch camera base -w kitchen.json --hz 0", "--hz must be between"),
            ("watch camera base -w kitchen.json --seconds -1", "--seconds must be more than 0"),
            ("watch camera nothing -w kitchen.json", "No frame named 'nothing'"),
            ("monitor kitchen.json --hz nan", "--hz must be between"),
            ("list -w kitchen.json --depth 0", "--depth must be at least 1"),
            ("list robt -w kitchen.json", "No frame named 'robt'"),
            ("find cup -w kitchen.json", "A condition is KEY=VALUE or KEY~PATTERN"),
            ("find name~[ -w kitchen.json", "is no pattern"),
            ("fix a b", "No saved world was given"),
            ("fix a b -w robot.urdf", "armillary save robot.json --world robot.urdf"),
            ("fix base camera --xyz 1 2 3 -w kitchen.json", "close a loop"),
            ("fix a b --xyz 1 2 -w kitchen.json", "--xyz takes 3 numbers. 'armillary fix --help'"),
            ("fix a b --xyz 1", "Option '--xyz' requires 3 arguments. 'armillary fix --help' shows"),
            (
                "fix camera base -w kitchen.json",
                "The pose of 'camera' in 'base' is missing. Give --xyz, --rpy-deg or both",
            ),
            ("fix a b --xyz 1 2 3 -w demo", "'demo' is not there, and a new saved world must end with .json"),
            ("save", "Missing argument 'FILE'. 'armillary save --help' shows"),
            ("tre", "Did you mean 'tree'? 'armillary --help' shows"),
            ("pose camera base -w kitchen.json --policy loudest", "--policy takes one of unique, latest"),
            ("pose camera base -w kitchen.json --source camera", "There is no source 'camera'"),
            ("find name=cup name=mug -w kitchen.json", "'name' has one value, and two conditions are about it"),
            (
                "load scene.json",
                "a saved scene, not a saved world. Make one of it with: armillary save scene_world.json",
            ),
            ("save no/where.json -w kitchen.json", "Cannot write"),
            ("load notes.txt", "'notes.txt' is no saved world"),
            ("load broken.json", "at records[0]: This is no change: field 'pose'"),
            ("convert robot.urdf robot.doc", "must end with .urdf, .json"),
            ("convert kitchen.json robot.urdf", "URDF is made from URDF, SDF or MJCF files"),
            ("convert two.sdf one.urdf", "URDF holds one robot, and 'two.sdf' has 2: a, b"),
            ("convert nowhere.urdf x.json", "nowhere.urdf"),
            ("plot camera base -w kitchen.json", "'camera' is fixed in 'base': its pose has no history to plot"),
            ("plot turtle2 world -w turtles -o turtle.doc", "turtle.doc"),
            ("plot turtle2 world -w turtles --theme grey", "--theme takes one of light, dark, got 'grey'"),
            ("plot turtle2 world -w turtles --start soon", "--start takes seconds"),
            ("bench --often", "No such option: --often"),
        ],
    )
    def test_is_reported_in_one_line(self, typed, line, expected):
        status, out, err = typed(line)
        assert (status, out) == (1, "")
        assert expected in err
        assert err.startswith("armillary: ")
        assert err.count("\n") == 1

    def test_leaves_a_saved_world_as_it_was(self, typed, here):
        before = (here / "kitchen.json").read_bytes()
        typed("fix base camera --xyz 1 2 3 -w kitchen.json")
        typed("fix camera base -w kitchen.json")
        assert (here / "kitchen.json").read_bytes() == before


class TestAsking:
    def test_for_a_pose(self, typed):
        pose = answer(typed, "pose camera base -w kitchen.json")
        assert (pose["xyz_m"], pose["stamp_ns"]) == ([0.1, 0.0, 0.4], None)
        assert pose["rpy_rad"][1] == pytest.approx(math.pi / 6)

    def test_for_a_pose_as_text(self, typed):
        assert typed("pose camera base -w kitchen.json")[1].splitlines()[:3] == [
            "camera in base, always",
            "  xyz         0.1000      0.0000      0.4000  m",
            "  rpy          0.000      30.000       0.000  deg",
        ]

    def test_of_a_robot_whose_joints_rest(self, typed):
        pose = answer(typed, "pose tool base_link -w robot.urdf")
        assert pose["xyz_m"] == pytest.approx([1.18, 0.0, 0.81])

    def test_by_an_environment_variable(self, typed, monkeypatch):
        monkeypatch.setenv("ARMILLARY_WORLD", "kitchen.json")
        assert answer(typed, "pose camera base")["of"] == "camera"

    def test_for_a_twist(self, typed):
        twist = answer(typed, "twist turtle1 world -w turtles")
        assert math.hypot(*twist["linear_m_per_s"]) > 0.1

    def test_for_a_tree(self, typed):
        rows = {row["frame"]: row["in_frame"] for row in answer(typed, "tree kitchen.json")}
        assert (rows["camera"], rows["base"]) == ("base", None)

    def test_for_the_frames_of_nodes_too(self, typed):
        few, all_of_them = (answer(typed, f"tree kitchen.json {flag}") for flag in ("", "--nodes"))
        assert len(all_of_them) == len(few) + 1

    @pytest.mark.parametrize(
        ("line", "names"),
        [
            ("list", ["base", "camera", "map", "robot/arm/tool", "robot/arm/wrist"]),
            ("list --depth 1", ["base", "camera", "map", "robot/"]),
            ("list --depth 2", ["base", "camera", "map", "robot/arm/"]),
            ("list robot --depth 1", ["robot/arm/"]),
            ("list robot/arm", ["robot/arm/tool", "robot/arm/wrist"]),
        ],
    )
    def test_for_names_by_level(self, typed, line, names):
        assert [row["name"] for row in answer(typed, f"{line} -w kitchen.json")] == names

    @pytest.mark.parametrize("condition", ["role=visual", "size=3", "role~vis.*", "role=visual size=3"])
    def test_for_nodes_by_their_attributes(self, typed, condition):
        found = answer(typed, f"find {condition} -w kitchen.json")
        assert [(thing["kind"], thing["in"]) for thing in found] == [("geometry", "cup")]

    def test_for_things_that_are_not_there(self, typed):
        assert typed("find role=nothing -w kitchen.json")[:2] == (0, "No node matches.\n")


class TestTheDoctor:
    def test_is_content(self, typed):
        status, out, _ = typed("doctor camera base -w kitchen.json")
        assert (status, out.splitlines()[0]) == (0, "'camera' can be seen from 'base' at every instant.")

    def test_names_cause_and_cure_and_exits_with_1(self, folder):
        done = run("doctor", "camera", "robot/arm/tool", "--world", "kitchen.json", cwd=folder)
        assert (done.returncode, done.stderr) == (1, "")
        assert done.stdout.startswith("separate trees: They are in two trees")
        assert "One pose joins them: that of 'base' in 'robot/arm/wrist'" in done.stdout

    def test_writes_json_for_programs(self, typed):
        status, out, _ = typed("doctor camra base -w kitchen.json --json")
        found = json.loads(out)
        assert (status, found["cause"], found["hint"]) == (1, "unknown name", "Did you mean 'camera'?")


class TestTheCheck:
    @pytest.mark.parametrize("name", ["kitchen.json", "robot.urdf", "two.sdf", "scene.json"])
    def test_finds_nothing_where_all_is_well(self, typed, name):
        status, out, _ = typed(f"check {name} --json")
        assert (status, json.loads(out)["problems"]) == (0, [])

    def test_names_contests_and_missing_samples(self, typed, tmp_path):
        world = World("k")
        for source in ("left", "right"):
            world.fix(of="cup", in_frame="map", transform=moved(1), source=source)
        world.add_relation(of="base", in_frame="map")
        world.save(tmp_path / "bad.json")
        status, out, _ = typed(f"check {tmp_path / 'bad.json'} --json")
        found = {problem["about"]: problem["cause"] for problem in json.loads(out)["problems"]}
        assert (status, found) == (1, {"cup": "contested", "base": "missing link"})

    def test_lets_a_former_parent_be(self, typed, tmp_path):
        world = World("k")
        world.fix(of="cup", in_frame="table", transform=moved(1), at=seconds(1))
        world.fix(of="cup", in_frame="hand", transform=moved(1), at=seconds(2))
        world.save(tmp_path / "moved.json")
        assert typed(f"check {tmp_path / 'moved.json'}")[0] == 0

    def test_names_missing_meshes(self, typed, tmp_path):
        mesh = '<visual><geometry><mesh filename="gone.stl"/></geometry></visual>'
        (tmp_path / "r.urdf").write_text(f'<robot name="r"><link name="l">{mesh}</link></robot>')
        status, out, _ = typed(f"check {tmp_path / 'r.urdf'}")
        assert status == 1
        assert "1 problem." in out
        assert "skipped: 'r' is mounted without" in out
        assert "gone.stl" in out

    def test_names_inactive_assertions(self, typed, tmp_path):
        one, other = World("one"), World("other")
        one.fix(of="a", in_frame="b", transform=moved(1))
        other.fix(of="b", in_frame="a", transform=moved(1))
        one.merge(other.scene.changes())
        one.save(tmp_path / "cycle.json")
        status, out, _ = typed(f"check {tmp_path / 'cycle.json'}")
        assert (status, "inactive: An assertion is not active" in out) == (1, True)


class TestWritingFiles:
    def test_fixes_a_frame_in_a_saved_world(self, typed, here, tmp_path):
        path = tmp_path / "new.json"
        assert typed(f"fix lidar base --xyz 0.2 0 0.1 --rpy-deg 0 0 90 -w {path}")[0] == 0
        assert typed(f"fix lidar base --xyz 0.3 0 0.1 -w {path}")[0] == 0
        assert World.load(path).pose(of="lidar", in_frame="base").xyz.tolist() == [0.3, 0.0, 0.1]

    def test_saves_a_robot_as_a_world(self, typed, tmp_path):
        held = answer(typed, f"save {tmp_path / 'robot.json'} -w robot.urdf")
        assert (held["models"], held["joints"]) == (1, 15)
        assert answer(typed, f"load {tmp_path / 'robot.json'}") == held

    def test_converts_to_what_the_ending_says(self, typed, tmp_path):
        for name in ("robot.urdf", "robot.json"):
            answer(typed, f"convert robot.urdf {tmp_path / name}")
            assert answer(typed, f"pose tool base_link -w {tmp_path / name}")["xyz_m"][0] == pytest.approx(1.18)

    def test_converts_fixed_poses_to_yaml(self, typed, tmp_path):
        pytest.importorskip("yaml")
        path = tmp_path / "extrinsics.yaml"
        status, _, err = typed(f"convert kitchen.json {path}")
        assert (status, err) == (0, f"armillary: Not in {path}: 1 fixed node of the scene.\n")
        assert World().load_extrinsics(tmp_path / "extrinsics.yaml") == ("camera", "robot/arm/tool")


class TestLooking:
    def test_of_a_static_world_prints_once(self, typed):
        assert typed("watch camera base -w kitchen.json")[1].count("\n") == 1

    def test_prints_a_line_each_time_in_a_pipe(self, folder):
        done = run(
            "watch", "turtle1", "world", "--seconds", "1", "--hz", "10", "--world", "turtles", "--json", cwd=folder
        )
        looks = [json.loads(line) for line in done.stdout.splitlines()]
        assert len(looks) > 1
        assert looks[0]["stamp_ns"] < looks[-1]["stamp_ns"]
        assert all(look["rate_hz"] == pytest.approx(50.0) for look in looks)

    def test_reports_the_rates_of_frames_to_programs(self, typed):
        rows = {row["of"]: row for row in answer(typed, "monitor turtles --seconds 0.6")}
        assert rows["turtle1"]["rate_hz"] == pytest.approx(50.0)
        assert rows["turtle1"]["delay_s"] >= 0.0
        assert (rows["turtle1_head"]["kind"], rows["turtle1_head"]["rate_hz"]) == ("fixed", None)


class TestATerminalOf80Columns:
    def test_shows_the_monitor(self, folder):
        status, screens = on_a_terminal("monitor", "turtles", "--seconds", "1", cwd=folder)
        drawn = [screen for screen in screens if "turtle1" in screen]
        assert status == 0
        assert len(drawn) > 1
        assert max(len(line) for screen in drawn for line in screen.splitlines()) <= 80
        rows = [line.split() for line in drawn[-1].splitlines()]
        assert rows[0] == ["frame", "in", "source", "Hz", "delay", "age", "jitter", "gaps"]
        assert rows[2][:4] == ["turtle1", "world", "turtles", "50.0"]

    def test_shows_what_comes_in_of_a_large_world_and_counts_the_rest(self, folder):
        status, screens = on_a_terminal("monitor", "demo", "--seconds", "2", cwd=folder)
        last = next(screen for screen in reversed(screens) if "apart" in screen).splitlines()
        assert status == 0
        assert max(len(line) for line in last) <= 80
        assert any(line.startswith("cup") and " mm " in line for line in last)
        assert any("more are fixed, or driven by joints" in line for line in last)

    def test_shows_what_is_watched(self, folder):
        status, screens = on_a_terminal("watch", "turtle2", "turtle1", "--seconds", "1", "-w", "turtles", cwd=folder)
        drawn = [screen for screen in screens if "turtle2 in turtle1" in screen]
        assert status == 0
        assert len({screen.splitlines()[1] for screen in drawn}) > 1
        assert max(len(line) for screen in drawn for line in screen.splitlines()) <= 80
        assert "40.0 Hz," in drawn[-1]


class TestTheMonitor:
    def test_shows_gaps_jitter_and_rivals_that_disagree(self, capsys):
        world = World("robot", clock=lambda: seconds(3))
        drive(world, 1, 1.1, 1.2, 1.3, 2.0, of="cup", source="left")
        for t in (1, 1.1, 1.2, 1.3, 2.0):
            world.set_pose(of="cup", in_frame="map", transform=moved(t, 0.03), at=seconds(t), source="right")
        Console(width=80, color_system=None).print(screen(world, Arrivals()))
        rows = [line.split() for line in capsys.readouterr().out.splitlines()]
        assert rows[2] == ["cup", "map", "left", "4.0", "-", "1000.0", "259.8", "1", "30", "mm", "0.0°"]
        assert rows[3][:3] == ["cup", "map", "right"]

    def test_reports_how_late_samples_come(self, capsys):
        clock, arrivals = FakeClock(seconds(1)), Arrivals()
        world = World("robot", clock=clock)
        drive(world, 0.5, of="cup")
        for t in (2.0, 3.0):
            arrivals.look(world)
            clock.ns = seconds(t)
            drive(world, t - 0.25, of="cup")
        arrivals.look(world)
        clock.ns = seconds(4)
        Console(width=80, color_system=None).print(screen(world, arrivals))
        row = capsys.readouterr().out.splitlines()[2].split()
        assert row[:6] == ["cup", "map", "robot", "0.9", "250.0", "1250.0"]


class TestTheDemonstrationAsAWorld:
    def test_is_the_kitchen(self, typed):
        frames = {row["frame"] for row in answer(typed, "tree demo")}
        assert {"map", "cup", "robot/tool"} <= frames

    def test_shows_no_frames_that_nobody_named(self, typed):
        assert not [row["frame"] for row in answer(typed, "tree demo") if re.search(r"[0-9a-f]{8}-", row["frame"])]

    def test_may_be_the_turtles(self, typed):
        assert {row["frame"] for row in answer(typed, "tree turtles")} >= {"turtle1", "turtle2"}


class TestTheShell:
    @pytest.mark.parametrize(
        ("words", "expected"),
        [
            ("armillary mon", "monitor"),
            ("armillary tree kit", "kitchen.json"),
            ("armillary pose --world kitchen.json cam", "camera"),
        ],
    )
    def test_completes(self, folder, words, expected):
        count = str(len(words.split()) - 1)
        asked = {"_ARMILLARY_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": count}
        assert expected in run(cwd=folder, **asked).stdout.split()

    def test_is_reported_how(self, folder):
        named = {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}  # not the shell that the tests run in
        assert "_ARMILLARY_COMPLETE" in run("--show-completion", "bash", cwd=folder, **named).stdout
