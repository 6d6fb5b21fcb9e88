"""Every MJCF file that PyPI brings: poses and Jacobians as MuJoCo finds them, or refused for a true reason."""

from __future__ import annotations

import os

import pytest

from armillary import errors
from armillary.formats import read_mjcf
from unit.formats.mujoco_peer import MujocoPair, mjcf_files

CLOSE = 1e-9
FILES = [*mjcf_files("mujoco"), *mjcf_files("dm_control")]
REFUSED = {
    "test_assets/model_with_invalid_filenames.xml": "the included file 'invalid_included_name.xml' is not found",
    "assets/model_with_assets.xml": "the included file 'included.xml' is not found",
}
"""Files that MuJoCo cannot read either."""
READ_HERE_ALONE = {
    "assets/drosophila.xml": "a mesh is missing, which kinematics does not need",
    "build_fruitfly/floor.xml": "a mesh is missing",
    "build_fruitfly/fruitfly.xml": "a mesh is missing",
    "dog_v2/scene.xml": "it has two textures of one name",
    "test_assets/included_with_invalid_filenames.xml": "a mesh is missing",
    "test_assets/test_model.xml": "bodies without mass move",
}
SAMPLE = {
    "model.xml",
    "hopper.xml",
    "swimmer.xml",
    "quadruped.xml",
    "manipulator.xml",
    "jaco_arm.xml",
    "ball_in_cup.xml",
}


def short(path) -> str:
    return f"{path.parent.name}/{path.name}"


def is_in(path, names) -> bool:
    return short(path) in names


SOUND = [path for path in FILES if not is_in(path, REFUSED) and not is_in(path, READ_HERE_ALONE)]
ASKED = SOUND if os.environ.get("ARMILLARY_HYPOTHESIS") == "soak" else [p for p in SOUND if p.name in SAMPLE]


class TestTheCollection:
    def test_is_there(self):
        assert len(FILES) > 50
        assert {short(path) for path in FILES} >= {*REFUSED, *READ_HERE_ALONE}

    @pytest.mark.parametrize("path", [path for path in FILES if is_in(path, REFUSED)], ids=short)
    def test_has_files_that_are_refused_for_a_reason(self, path):
        with pytest.raises(errors.InvalidRobotFile, match=REFUSED[short(path)]):
            read_mjcf(path)

    @pytest.mark.parametrize("path", [path for path in FILES if not is_in(path, REFUSED)], ids=short)
    def test_is_read_otherwise(self, path):
        assert read_mjcf(path).root == "world"


@pytest.mark.parametrize("path", ASKED, ids=short)
class TestEachModel:
    def test_moves_as_it_does_in_mujoco(self, path):
        pair = MujocoPair(path)
        assert pair.differences() < CLOSE
        assert pair.jacobian_differences() < CLOSE
