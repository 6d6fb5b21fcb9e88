"""The command line with a scene, rival sources and typing mistakes."""

from __future__ import annotations

import json
import math
import re
import shlex
import sys
import warnings

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("rich")

from rich.console import Console

from armillary import Box, Transform, World, seconds
from armillary.cli import main
from armillary.cli.monitor import Arrivals, screen, streams
from armillary.scene import AddRelation, NodeId
from unit.cli.kit import answer, on_a_terminal, run
from unit.kit import STILL, drive, moved

IDS = ("7ab1e000", "c0ffee00", "b0ccccc0", "facade00")


@pytest.fixture
def here(tmp_path, monkeypatch):
    """One saved world with a cup on a table, and a ball with two sources."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ARMILLARY_WORLD", raising=False)
    world = World("robot")
    world.fix(of="camera", in_frame="base", transform=moved(1))
    for place, source in enumerate(("left", "right")):
        world.fix(of="ball", in_frame="base", transform=moved(place), source=source)
    add = world.scene.add_transform
    table, cup, box, mug = (NodeId(f"{digits}-0000-4000-8000-000000000000") for digits in IDS)
    add(parent=world.scene.root, transform=moved(2), at=None, attributes={"name": "table"}, id=table)
    attributes = {"name": "cup", "is_clean": True, "size": 3, "code": "3", "tags": [1, "a b"], "far": math.inf}
    add(parent=table, transform=moved(3), at=None, attributes=attributes, id=cup)
    world.scene.add_geometry(parent=cup, shape=Box(size_m=(1, 1, 1)), attributes={"role": "visual"}, id=box)
    world.scene.add_uncertain_transform(
        parent=world.scene.root, transform=STILL, covariance=np.eye(6), at=None, attributes={"name": "blue mug"}, id=mug
    )
    world.save("kitchen.json")
    world.scene.save("scene.json")
    return cup, table


class TestASavedScene:
    def test_is_a_world_that_can_be_asked(self, typed):
        assert [thing["in"] for thing in answer(typed, "find role=visual -w scene.json")] == ["cup"]

    def test_becomes_a_saved_world_as_load_advises(self, typed):
        status, _, err = typed("load scene.json")
        assert (status, err.startswith("armillary: 'scene.json' is a saved scene, not a saved world.")) == (1, True)
        advised = err.partition("Make one of it with: armillary ")[2]
        assert typed(advised)[0] == 0
        assert answer(typed, "load scene_world.json")["nodes"] == 5

    def test_is_not_advised_where_nothing_can_be_made_of_a_file(self, typed, tmp_path):
        (tmp_path / "notes.txt").write_text("milk")
        assert "armillary save" not in typed("load notes.txt")[2].replace("'armillary save' writes", "")


class TestFinding:
    @pytest.mark.parametrize(
        "condition", ["is_clean=true", "is_clean=True", "size=3", 'code="3"', 'tags=[1, "a b"]', "far=Infinity"]
    )
    def test_takes_values_of_every_kind(self, typed, condition):
        (found,) = answer(typed, f"find {shlex.quote(condition)} -w kitchen.json")
        assert found["attributes"]["name"] == "cup"

    def test_prints_conditions_that_find_the_same(self, typed, here):
        _, out, _ = typed("find name=cup -w kitchen.json")
        conditions = out.partition(" in table  ")[2].strip()
        assert shlex.split(conditions)[3:5] == ["name=cup", "size=3"]
        assert [thing["id"] for thing in answer(typed, f"find {conditions} -w kitchen.json")] == [str(here[0])]

    def test_reports_in_what_each_thing_is(self, typed):
        found = {thing["attributes"]["name"]: thing["in"] for thing in answer(typed, "find name~.* -w kitchen.json")}
        assert found == {"table": "map", "cup": "table", "blue mug": "map"}

    def test_keeps_columns(self, typed):
        lines = typed("find name~.* -w kitchen.json")[1].splitlines()
        assert len({line.index(" in ") for line in lines}) == 1
        assert len({re.search(r" in \S+ +", line).end() for line in lines}) == 1
        assert all(len(line.split()[0]) == 8 for line in lines)


class TestAThingByItsId:
    @pytest.mark.parametrize("digits", [4, 8, 13, 36])
    def test_is_known_by_its_first_digits(self, typed, here, digits):
        pose = answer(typed, f"pose {str(here[0])[:digits]} map -w kitchen.json")
        assert (pose["of"], pose["xyz_m"]) == (str(here[0]), [5.0, 0.0, 0.0])

    def test_is_printed_short(self, typed, here):
        cup, table = (str(node)[:8] for node in here)
        assert typed(f"pose {cup} {table} -w kitchen.json")[1].startswith(f"cup ({cup}) in table ({table}), always\n")

    @pytest.mark.parametrize("command", ["twist", "watch", "doctor"])
    def test_is_known_to(self, typed, here, command):
        assert typed(f"{command} {str(here[0])[:8]} map -w kitchen.json")[0] == 0

    def test_is_reported_for_a_known_name(self, typed, here):
        for command in ("pose cup map", "twist cup map", "watch map cup"):
            _, out, err = typed(f"{command} -w kitchen.json")
            assert (out, err.count("\n")) == ("", 1)
            assert f"a node of the scene has that name. Give an id in its place: {str(here[0])[:8]}." in err

    def test_is_asked_for_in_full_where_two_begin_alike(self, tmp_path, monkeypatch, capsys):
        monkeypatch.chdir(tmp_path)
        world = World()
        for id_ in ("abcdef01-0000-4000-8000-000000000001", "abcdef01-1111-4000-8000-000000000002"):
            world.scene.add_group(parent=world.scene.root, id=NodeId(id_))
        world.save("two.json")
        assert main(["pose", "abcdef", "map", "-w", "two.json"]) == 1
        assert "2 ids of the scene begin with 'abcdef': abcdef01-0000, abcdef01-1111." in capsys.readouterr().err

    def test_is_known_where_it_is_mounted_in_several(self, tmp_path, monkeypatch, capsys):
        monkeypatch.chdir(tmp_path)
        world = World()
        shelves = [world.scene.add_transform(parent=world.scene.root, transform=STILL, at=None) for _ in range(2)]
        cup = world.scene.add_transform(parent=shelves[0], transform=moved(1), at=None)
        world.scene.add_parent(cup, shelves[1])
        world.save("two.json")
        assert main(["pose", f"{cup}"[:13], f"{cup}"[:13] + "/mount", "-w", "two.json"]) == 0
        assert capsys.readouterr().out.startswith(f"{cup}"[:8] + " in " + f"{cup}"[:8] + "/mount, always")

    def test_is_not_mistaken_for_a_frame_that_is_called_so(self, typed):
        assert typed("fix beef base --xyz 1 0 0 -w kitchen.json")[0] == 0
        assert answer(typed, "pose beef base -w kitchen.json")["xyz_m"] == [1.0, 0.0, 0.0]


class TestAContestedFrame:
    def test_is_reported_with_what_can_be_typed(self, typed):
        _, _, err = typed("pose ball base -w kitchen.json")
        assert err.endswith("On the command line: --source NAME, or --policy latest, most_certain or fuse.\n")

    @pytest.mark.parametrize(("chosen", "x"), [("--source left", 0.0), ("--source right", 1.0)])
    @pytest.mark.parametrize("command", ["pose", "watch"])
    def test_is_where_one_source_says(self, typed, command, chosen, x):
        assert answer(typed, f"{command} ball base -w kitchen.json {chosen}")["xyz_m"] == [x, 0.0, 0.0]

    @pytest.mark.parametrize("policy", ["latest", "most_certain"])
    def test_is_where_a_policy_says(self, typed, policy):
        assert answer(typed, f"pose ball base -w kitchen.json --policy {policy}")["xyz_m"][0] in {0.0, 1.0}

    def test_moves_as_one_source_says(self, typed):
        twist = answer(typed, "twist ball base -w kitchen.json --source left")
        assert twist["linear_m_per_s"] == [0.0, 0.0, 0.0]

    def test_is_explained_by_the_doctor(self, typed):
        status, out, _ = typed("doctor ball base -w kitchen.json")
        assert (status, out.splitlines()) == (1, [
            "contested: 'left' and 'right' both place 'ball'.",
            "Choose one: world.prefer(of='ball', source='left'), or ask with policy='latest' or 'fuse'.",
            "On the command line: 'armillary pose' with --source NAME, or --policy latest, most_certain or fuse.",
            "    ball placed by 'left' and 'right': contested",
        ])  # fmt: skip

    def test_is_explained_to_programs(self, typed):
        (link,) = json.loads(typed("doctor ball base -w kitchen.json --json")[1])["links"]
        assert (link["source"], link["sources"], link["kind"]) == ("", ["left", "right"], "fixed")

    def test_is_explained_in_lines_that_fit(self, typed, tmp_path):
        status, screens = on_a_terminal("doctor", "ball", "base", "-w", "kitchen.json", cwd=tmp_path, columns=60)
        lines = "\n".join(screens).splitlines()
        assert (status, max(map(len, lines)) <= 60) == (1, True)
        assert "    ball placed by 'left' and 'right': contested" in lines

    def test_can_still_be_fixed(self, typed):
        assert answer(typed, "fix ball base --xyz 7 0 0 -w kitchen.json")["xyz_m"] == [7.0, 0.0, 0.0]


class TestFixing:
    def test_describes_what_it_does(self, typed):
        help_text = " ".join(typed("fix --help")[1].replace("│", " ").split())
        for words in ("The frame to fix", "The frame it is fixed in", "The saved world to write (.json)"):
            assert words in help_text
        assert "whose pose is wanted" not in help_text
        assert "turtles" not in help_text

    def test_warns_of_a_likely_mistake_in_one_line(self, here, tmp_path):
        done = run("fix", "camra", "base", "--xyz", "1", "2", "3", "-w", "kitchen.json", cwd=tmp_path)
        assert done.returncode == 0
        assert done.stderr == "armillary: New frame 'camra' is one typo away from the known 'camera'.\n"

    def test_leaves_what_warnings_do_as_it_was(self, typed):
        before = warnings.showwarning
        typed("fix camra base --xyz 1 2 3 -w kitchen.json")
        assert warnings.showwarning is before


class TestThingsThatAreNotShown:
    @pytest.mark.parametrize("command", ["tree kitchen.json", "list -w kitchen.json"])
    def test_are_counted(self, typed, command):
        assert typed(command)[1].splitlines()[-1] == "3 nodes of the scene: --nodes"
        assert "--nodes" not in typed(f"{command} --json")[1]
        assert "of the scene" not in typed(f"{command} --nodes")[1]

    def test_are_listed_with_what_they_are_called(self, typed, here):
        assert f"{str(here[0])[:8]}  'cup'" in typed("list --nodes -w kitchen.json")[1].splitlines()
        rows = {row["name"]: row.get("called") for row in answer(typed, "list --nodes -w kitchen.json")}
        assert (rows[str(here[0])], rows["base"]) == ("cup", None)

    def test_are_left_out_of_extrinsics_with_a_message(self, typed):
        pytest.importorskip("yaml")
        status, out, err = typed("convert kitchen.json fixed.yaml")
        assert (status, out) == (0, "Converted kitchen.json to fixed.yaml.\n")
        assert err == "armillary: Not in fixed.yaml: 3 fixed nodes of the scene.\n"


class TestATree:
    def test_shows_short_ids(self, typed, here):
        _, out, _ = typed("tree kitchen.json --nodes")
        cup, table = (str(node)[:8] for node in here)
        assert f"├── table ({table})  [fixed by 'robot']\n│   └── cup ({cup})  [fixed by 'robot']\n" in out
        assert max(map(len, out.splitlines())) <= 80

    def test_does_not_repeat_the_only_source(self, tmp_path, monkeypatch, capsys):
        monkeypatch.chdir(tmp_path)
        world = World("robot")
        world.fix(of="camera", in_frame="base", transform=STILL)
        shelves = [world.scene.add_transform(parent=world.scene.root, transform=STILL, at=None) for _ in range(2)]
        world.scene.add_parent(world.scene.add_group(parent=shelves[0]), shelves[1])
        world.save("one.json")
        assert main(["tree", "one.json"]) == 0
        assert "└── camera  [fixed]\n" in capsys.readouterr().out


def rows_of(world, capsys):
    Console(width=80, color_system=None, file=sys.stdout).print(screen(world, Arrivals()))
    return [line.split() for line in capsys.readouterr().out.splitlines()]


class TestTheMonitor:
    @pytest.mark.parametrize("parents", [("table", "tray"), ("table", "table")])
    def test_distinguishes_contested_from_resolved(self, capsys, parents):
        world = World("robot", clock=lambda: seconds(9))
        for at, parent, source in zip((4.5, 5), parents, ("left", "right"), strict=True):
            drive(world, at, of="cup", in_frame=parent, source=source)
        assert [row[-1] for row in rows_of(world, capsys)[2:4]] == ["contested", "contested"]
        world.prefer(of="cup", source="left")
        assert [row[-1] for row in rows_of(world, capsys)[2:4]] == ["resolved", "resolved"]

    def test_is_known_in_a_frame_that_is_contested_itself(self):
        world = World("robot", clock=lambda: seconds(9))
        for at, source in ((4.5, "left"), (5, "right")):
            drive(world, at, of="table", source=source)
            drive(world, at, of="cup", in_frame="table", source=source)
        assert all(stream.is_contested for stream in streams(world, Arrivals()))

    def test_shows_what_was_announced_and_never_came(self, capsys):
        world = World("robot", clock=lambda: seconds(9))
        world.apply([AddRelation(of="cup", in_frame="map", source="camera", at=0)])
        drive(world, 1, 2, of="base")
        world.fix(of="camera", in_frame="base", transform=Transform.identity())
        rows = rows_of(world, capsys)
        assert ["cup", "map", "camera", "-", "-", "never", "-"] in rows
        assert ["1", "more", "is", "fixed,", "or", "driven", "by", "joints"] in rows
