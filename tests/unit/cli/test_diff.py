"""`armillary diff`: what differs between two saved worlds, for people and for programs."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("typer")

from armillary import Transform, World, seconds
from armillary.cli import main
from unit.kit import moved


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    world = World("kitchen")
    cup = world.scene.add_transform(
        parent="map", transform=moved(1.0), at=seconds(1), frame="cup_red", attributes={"full": True}
    )
    world.save("a.json")
    world.scene.set_transform(cup, moved(9.0), at=seconds(2))
    world.scene.set_attributes(cup, {"full": False})
    world.scene.add_group(parent="map", attributes={"name": "plate"})
    world.save("b.json")
    return cup


def test_shows_a_thing_that_moved_by_its_name(here, capsys):
    assert main(["diff", "a.json", "b.json"]) == 0
    out = capsys.readouterr().out
    assert "> cup_red: moved 8 m, (1, 0, 0) -> (9, 0, 0) in 'map'" in out
    assert "~ cup_red: full True -> False" in out
    assert "+ plate  [group]" in out
    assert str(here)[:8] not in out


def test_has_everything_as_json(here, capsys):
    assert main(["diff", "a.json", "b.json", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["moved"][0]["thing"] == str(here)
    assert found["moved"][0]["distance_m"] == pytest.approx(8.0)
    assert found["moved"][0]["after"]["xyz_m"] == [9.0, 0.0, 0.0]
    assert found["attributes"] == [
        {"thing": str(here), "name": "cup_red", "key": "full", "before": True, "after": False}
    ]
    assert [entry["name"] for entry in found["added"]] == ["plate"]


def test_takes_a_tolerance_and_an_instant(here, capsys):
    assert main(["diff", "a.json", "b.json", "--tolerance-m", "8.5"]) == 0
    assert "moved" not in capsys.readouterr().out
    assert main(["diff", "a.json", "b.json", "--at", "1.5"]) == 0
    assert "moved 4 m" in capsys.readouterr().out


def test_of_a_world_and_itself_is_none(here, capsys):
    assert main(["diff", "a.json", "a.json"]) == 0
    assert capsys.readouterr().out == "no difference\n"


def test_of_no_world_is_an_error(here, capsys):
    assert main(["diff", "a.json", "nothing.json"]) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_turns_are_seen(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, yaw in (("a.json", 0.0), ("b.json", 0.2)):
        world = World("kitchen")
        world.fix(of="camera", in_frame="map", transform=Transform.from_xyz_rpy(xyz=(1, 0, 0), rpy=(0, 0, yaw)))
        world.save(name)
    assert main(["diff", "a.json", "b.json"]) == 0
    assert "camera: moved 0 m, turned 11.46 deg" in capsys.readouterr().out
