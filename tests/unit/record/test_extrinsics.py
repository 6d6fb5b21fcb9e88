"""Fixed poses in YAML: written to be edited, loaded over a world that runs."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest

from armillary import Transform, World, seconds
from armillary.errors import InvalidExtrinsicsFile, MissingExtra
from unit.kit import drive, moved
from unit.record.kit import full_world

pytest.importorskip("yaml")

HEAD = "format: armillary.extrinsics\nversion: 1\nextrinsics:\n"


@pytest.fixture
def running():
    world = World("robot")
    world.fix(of="camera", in_frame="base", transform=Transform.from_xyz_rpy(xyz=(0.1, 0, 0.4), rpy=(0, 0.3, 0)))
    world.fix(of="lidar", in_frame="base", transform=moved(0.2))
    drive(world, 1, 2, of="base")
    return world


@pytest.fixture
def file(tmp_path):
    return tmp_path / "extrinsics.yaml"


def written(file, *entries):
    file.write_text(HEAD + "".join(f"- {entry}\n" for entry in entries))
    return file


class TestWhatIsWritten:
    def test_is_short_and_has_units(self, running, file):
        assert running.save_extrinsics(file) == ("camera", "lidar")
        assert (
            "- of: lidar\n  in_frame: base\n  xyz_m: [0.2, 0.0, 0.0]\n  rpy_deg: [0.0, 0.0, 0.0]\n" in file.read_text()
        )

    def test_moves_nothing_when_it_is_loaded(self, running, file):
        before = running.digest()
        running.save_extrinsics(file)
        assert running.load_extrinsics(file) == ()
        assert running.digest() == before

    def test_has_what_is_fixed_to_things_with_names(self, running, file):
        table = running.scene.add_transform(parent=running.scene.root, transform=moved(1), frame="table")
        running.fix(of="lamp", in_frame=table, transform=moved(0.3))
        running.fix(of=table, in_frame="floor", transform=moved(2), source="survey")
        assert running.save_extrinsics(file) == ("camera", "lidar", "table", "lamp")
        assert running.load_extrinsics(file) == ()
        file.write_text(file.read_text().replace("xyz_m: [0.3, ", "xyz_m: [0.5, "))
        assert running.load_extrinsics(file) == ("lamp",)
        assert running.pose(of="lamp", in_frame="table").transform.is_close(moved(0.5))

    def test_has_sources_instants_and_covariances_where_there_are_some(self, file):
        pytest.importorskip("casadi")
        world = full_world()
        assert world.save_extrinsics(file) == ("camera", "lidar", "downward", "cup", "ball")
        empty = World("robot")
        empty.load_extrinsics(file)
        for frame, parent in (("camera", "base"), ("lidar", "base"), ("downward", "base"), ("cup", "table")):
            before, after = (w.pose(of=frame, in_frame=parent) for w in (world, empty))
            assert after.transform.is_close(before.transform, rad=1e-12)
            assert np.array_equal(after.covariance, before.covariance)
            assert after.relations == before.relations
        assert not empty.can_pose(of="cup", in_frame="table", at=seconds(6))


class TestWhatIsEdited:
    def test_is_where_the_frame_is_now(self, running, file):
        running.save_extrinsics(file)
        file.write_text(file.read_text().replace("[0.2, 0.0, 0.0]", "[0.25, 0.0, 1e-3]"))
        assert running.load_extrinsics(file) == ("lidar",)
        assert running.pose(of="lidar", in_frame="map", at=seconds(1.5)).xyz.tolist() == [1.75, 0.0, 0.001]

    @pytest.mark.parametrize(
        "text",
        [
            "rpy_deg: [0, 0, 90]",
            f"rpy_rad: [0, 0, {math.pi / 2}]",
            "wxyz: [0.7071067811865476, 0, 0, 0.7071067811865476]",
        ],
    )
    def test_can_have_rotations_in_three_forms(self, running, file, text):
        written(file, f"{{of: lidar, in_frame: base, xyz_m: [0, 0, 0], {text}}}")
        running.load_extrinsics(file)
        assert running.pose(of="lidar", in_frame="base").rotation.rpy[2] == pytest.approx(math.pi / 2)

    def test_recalibrates_what_is_on_a_body(self, running, file):
        running.add_body("robot_body", frames=["base", "camera", "lidar"])
        written(file, "{of: lidar, in_frame: base, xyz_m: [0.3, 0, 0], rpy_deg: [0, 0, 0]}")
        assert running.load_extrinsics(file) == ("lidar",)

    def test_can_name_new_frames(self, running, file):
        written(file, "{of: imu, in_frame: base, xyz_m: [0, 0, 0.1], rpy_deg: [0, 0, 0]}")
        assert running.load_extrinsics(file) == ("imu",)

    def test_takes_texts_as_texts(self, running, file):
        written(file, "{of: no, in_frame: 2024-01-01, xyz_m: [0, 0, 0], rpy_deg: [0, 0, 0]}")
        assert running.load_extrinsics(file) == ("no",)


ENTRY = "of: imu, in_frame: base, xyz_m: [0, 0, 0]"
BROKEN = [
    ("{of: imu, in_frame: base, rpy_deg: [0, 0, 0]}", "extrinsics[0]", "'xyz_m' is missing"),
    (f"{{{ENTRY}}}", "extrinsics[0]", "one of rpy_deg, rpy_rad, wxyz is expected"),
    (f"{{{ENTRY}, rpy_deg: [0, 0, 0], wxyz: [1, 0, 0, 0]}}", "extrinsics[0]", "there are 2"),
    (f"{{{ENTRY}, rpy_deg: [0, 0]}}", "extrinsics[0].rpy_deg", "3 entries are expected"),
    (f"{{{ENTRY}, wxyz: [0, 0, 0, 0]}}", "extrinsics[0].wxyz", "quaternion"),
    (f"{{{ENTRY}, rpy_deg: [0, 0, up]}}", "extrinsics[0].rpy_deg[2]", 'it is "up"'),
    (f"{{{ENTRY}, rpy_deg: [0, 0, .nan]}}", "extrinsics[0].rpy_deg[2]", "finite"),
    (f"{{{ENTRY}, rpy_deg: [0, 0, 0], colour: red}}", "extrinsics[0].colour", "no such key"),
    ("{of: /imu, in_frame: base, xyz_m: [0, 0, 0], rpy_deg: [0, 0, 0]}", "extrinsics[0].of", "begins with '/'"),
    ("{of: base, in_frame: lidar, xyz_m: [0, 0, 0], rpy_deg: [0, 0, 0]}", "extrinsics[0]", "loop"),
    ("{of: imu, of: base}", "", "given twice"),
    ("{of: [", "", "it is no YAML"),
    ("!!python/object/apply:os.getcwd []", "", "it is no YAML"),
    ("&again [*again]", "", "recursive"),
]


class TestABrokenFile:
    @pytest.mark.parametrize(("entry", "field", "text"), BROKEN)
    def test_is_refused_with_the_place_and_changes_nothing(self, running, file, entry, field, text):
        before = running.digest()
        written(file, entry)
        with pytest.raises(InvalidExtrinsicsFile, match="The world is as it was") as error:
            running.load_extrinsics(file)
        assert (error.value.field, text in error.value.reason) == (field, True), error.value.reason
        assert running.digest() == before

    def test_is_refused_as_a_whole(self, running, file):
        before = running.digest()
        good = "{of: lidar, in_frame: base, xyz_m: [9, 0, 0], rpy_deg: [0, 0, 0]}"
        written(file, good, "{of: base, in_frame: camera, xyz_m: [0, 0, 0], rpy_deg: [0, 0, 0]}")
        with pytest.raises(InvalidExtrinsicsFile, match=r"extrinsics\[1\]"):
            running.load_extrinsics(file)
        assert running.digest() == before

    def test_is_refused_when_it_places_a_frame_twice(self, running, file):
        entry = "{of: imu, in_frame: base, xyz_m: [9, 0, 0], rpy_deg: [0, 0, 0]}"
        written(file, entry, entry)
        with pytest.raises(InvalidExtrinsicsFile, match=r"extrinsics\[1\].of: an entry before"):
            running.load_extrinsics(file)

    @pytest.mark.parametrize(
        "text", ["", "[]", "format: 1", "version: 1\nformat: armillary.extrinsics\nextrinsics: {}"]
    )
    def test_is_refused_when_it_is_something_else(self, running, file, text):
        file.write_text(text)
        with pytest.raises(InvalidExtrinsicsFile):
            running.load_extrinsics(file)


class TestWithoutYaml:
    def test_the_extra_is_named(self, running, file, monkeypatch):
        monkeypatch.setitem(sys.modules, "yaml", None)
        with pytest.raises(MissingExtra, match=r"armillary\[yaml\]"):
            running.save_extrinsics(file)


HEAD = "format: armillary.extrinsics\nversion: 1\nextrinsics:\n"
ENTRY = "- {{of: f{}, in_frame: map, xyz_m: [1, 2, 3], rpy_deg: [0, 0, 0]}}\n"


class TestAFileOfManyPoses:
    def test_is_taken_back_by_one_undo(self, tmp_path):
        (tmp_path / "a.yaml").write_text(HEAD + "".join(map(ENTRY.format, range(30))))
        world = World()
        assert len(world.load_extrinsics(tmp_path / "a.yaml")) == 30
        world.undo()
        assert set(world.frames()) <= {"map"}

    def test_changes_nothing_where_the_last_one_is_refused(self, tmp_path):
        turned = "- {of: map, in_frame: f3, xyz_m: [1, 2, 3], rpy_deg: [0, 0, 0]}\n"
        (tmp_path / "a.yaml").write_text(HEAD + "".join(map(ENTRY.format, range(30))) + turned)
        world = World()
        with pytest.raises(InvalidExtrinsicsFile) as caught:
            world.load_extrinsics(tmp_path / "a.yaml")
        assert caught.value.field == "extrinsics[30]"
        assert world.frames() == ()


@pytest.mark.parametrize(
    "entry",
    [
        *(
            "{of: a, xyz_m: !!binary aGVsbG8=}",
            "{of: !!set {a}}",
            "{of: !!timestamp 2001-01-01}",
            "{of: a, 3: 4, b: c}",
        ),
        *("{~: 4, b: c}", "{[1]: 2}", "!!omap [a: 1]", "!!pairs [a: 1]", "{? {a: b} : 3}", "&a [*a]"),
        *(
            "!!float x",
            "!!int x",
            "!!bool x",
            "!!str [a]",
            "{of: !!bool maybe}",
            "{<<: 3}",
            "{!!merge <<: 3}",
            "!own x",
        ),
    ],
)
def test_values_of_other_kinds_are_refused_in_words(entry, tmp_path):
    (tmp_path / "a.yaml").write_text(f"{HEAD}- {entry}\n")
    with pytest.raises(InvalidExtrinsicsFile):
        World().load_extrinsics(tmp_path / "a.yaml")
