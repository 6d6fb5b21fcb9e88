"""Files are replaced as a whole, whatever is saved: worlds, scenes, models, robots, extrinsics, pictures."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

from armillary import PointCloud, Transform, World, errors
from armillary.articulation import ArticulationModel
from armillary.demos.models import mobile_manipulator
from armillary.formats import write_urdf


def listed(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def world() -> World:
    made = World()
    made.fix(of="cup", in_frame="map", transform=Transform.identity())
    made.scene.add_group(parent=made.scene.root)
    return made


SAVES = {
    "world.json": lambda path: world().save(path),
    "scene.json": lambda path: world().scene.save(path=path),
    "extrinsics.yaml": lambda path: world().save_extrinsics(path),
    "model.json": lambda path: ArticulationModel().save(path),
    "robot.urdf": lambda path: write_urdf(mobile_manipulator(), path, lossy=True),
    "tree.svg": lambda path: world().draw_tree(path),
    "tree.png": lambda path: world().draw_tree(path),
}
NO_PATHS = ["", "a\0.json", 3, b"a.json"]
each_file = pytest.mark.parametrize(("name", "save"), SAVES.items(), ids=SAVES)


@each_file
class TestAFileThatIsReplaced:
    def test_stays_as_it_was_where_the_disk_is_full(self, name, save, tmp_path):
        file = tmp_path / name
        file.write_text("old")
        full = mock.patch("os.fsync", side_effect=OSError(28, "No space left on device"))
        with full, pytest.raises(errors.UnwritableFile, match="No space left"):
            save(file)
        assert file.read_text() == "old"
        assert listed(tmp_path) == [name]

    def test_is_the_one_that_a_symbolic_link_leads_to(self, name, save, tmp_path):
        (tmp_path / "far").mkdir()
        target, link = tmp_path / "far" / name, tmp_path / name
        target.write_text("old")
        link.symlink_to(Path("far") / name)
        save(link)
        assert link.is_symlink()
        assert target.read_bytes() != b"old"

    def test_keeps_its_permissions(self, name, save, tmp_path):
        file = tmp_path / name
        file.write_text("old")
        file.chmod(0o640)
        save(file)
        assert file.stat().st_mode & 0o777 == 0o640

    def test_is_refused_where_nobody_may_write_it(self, name, save, tmp_path):
        file = tmp_path / name
        file.write_text("old")
        file.chmod(0o444)
        with pytest.raises(errors.UnwritableFile, match="read-only"):
            save(file)
        assert file.read_text() == "old"

    def test_is_no_folder_and_no_pipe(self, name, save, tmp_path):
        (tmp_path / "folder.svg").mkdir()
        os.mkfifo(tmp_path / "pipe.svg")
        for path in ("folder.svg", "pipe.svg", "no/where.svg"):
            with pytest.raises(errors.UnwritableFile):
                save(tmp_path / path)

    @pytest.mark.parametrize("path", NO_PATHS)
    def test_has_a_path(self, name, save, path):
        with pytest.raises(errors.ArmillaryError):
            save(path)

    def test_leaves_no_temporary_file_of_a_killed_process(self, name, save, tmp_path):
        left, younger, other = (tmp_path / f".{file}.{'0' * 15}{i}" for i, file in enumerate((name, name, "x.json")))
        for file in (left, younger, other):
            file.write_text("half")
        for file in (left, other):
            os.utime(file, (time.time() - 7200,) * 2)
        save(tmp_path / name)
        assert listed(tmp_path) == sorted([name, younger.name, other.name])

    def test_is_whole_whoever_else_writes_it(self, name, save, tmp_path):
        file, failed = tmp_path / name, []

        def again():
            for _ in range(3):
                try:
                    save(file)
                except Exception as error:  # noqa: BLE001  (reported below)
                    failed.append(error)

        threads = [threading.Thread(target=again) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failed == []
        assert listed(tmp_path) == [name]


class TestAWorldBehindALink:
    def test_has_its_arrays_beside_the_file(self, tmp_path):
        (tmp_path / "far").mkdir()
        (tmp_path / "kitchen.json").symlink_to("far/kitchen.json")
        made = World()
        made.scene.add_geometry(parent=made.scene.root, shape=PointCloud(np.zeros((9, 3))), at=None)
        made.save(tmp_path / "kitchen.json")
        assert listed(tmp_path / "far") != ["kitchen.json"]
        assert World.load(tmp_path / "kitchen.json").digest() == made.digest()
        made.scene.save(tmp_path / "kitchen.json")
        assert World().scene.load(tmp_path / "kitchen.json")


LOADS = {
    "world": World.load,
    "scene": lambda path: World().scene.load(path=path),
    "extrinsics": lambda path: World().load_extrinsics(path),
    "model": ArticulationModel.load,
}


@pytest.mark.parametrize("load", LOADS.values(), ids=LOADS)
class TestAFileThatIsRead:
    @pytest.mark.parametrize(
        "path", ["", "a\0.json", 3, None, b"a.json", ".", "/", "/no/where", "/etc/shadow/x", "x" * 5000]
    )
    def test_is_refused_with_an_error_of_the_library(self, load, path):
        with pytest.raises(errors.ArmillaryError):
            load(path)

    def test_is_no_pipe(self, load, tmp_path):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(errors.ArmillaryError, match="regular file"):
            load(tmp_path / "pipe")
