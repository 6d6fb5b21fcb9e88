"""Files of every kind with something wrong in them: refused in words, or read, and then saved and read as the same.

Thousands of each kind in `ARMILLARY_HYPOTHESIS=soak`. A reader that hangs is stopped and fails.
"""

from __future__ import annotations

import base64
import hashlib
import json
import random
import re
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trimesh

from armillary import World
from armillary.articulation import ArticulationModel
from armillary.errors import ArmillaryError
from armillary.formats import read_mesh, read_mjcf, read_sdf, read_urdf, write_urdf
from laws.mutants import mutated_bytes, mutated_document
from randomness import scaled
from unit.formats.kit import lamp
from unit.formats.mutations import mutated
from unit.formats.test_hostile_files import NESTED
from unit.formats.test_xacro import LADDER
from unit.record.kit import door, full_world

COUNT = scaled(60, 5_000)
LONGEST_S = 60
CLOSE = 1e-12
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
MJCF = """<mujoco model="m"><compiler angle="radian"/><default><geom rgba="1 0 0 1"/></default><worldbody>
<body name="a" pos="0 0 1"><joint name="j" type="hinge" axis="0 0 1" range="-1 1"/><geom type="box" size="1 1 1"/>
<body name="b" quat="1 0 0 0"><joint name="k" type="slide" axis="1 0 0"/><geom type="sphere" size="0.1"/>
<site name="s" pos="0 0 1"/></body></body></worldbody><equality><joint joint1="j" joint2="k" polycoef="0 1 0 0 0"/>
</equality></mujoco>"""


class Hung(BaseException):
    """A file was not read in time."""


@pytest.fixture
def in_time():
    """Stop a reader that hangs."""

    def stop(*_: object) -> None:
        raise Hung

    before = signal.signal(signal.SIGALRM, stop)
    yield lambda: signal.alarm(LONGEST_S)
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


# -- What is saved


def save_world(file: Path) -> None:
    full_world().save(file)


def save_scene(file: Path) -> None:
    full_world().scene.save(file)


def save_extrinsics(file: Path) -> None:
    full_world().save_extrinsics(file)


def save_model(file: Path) -> None:
    model = ArticulationModel()
    model.add_robot(door())
    model.save(file)


def text_of(text: str) -> Callable[[Path], None]:
    return lambda file: file.write_text(text) and None


def save_mesh(file: Path) -> None:
    trimesh.creation.box(extents=(1.0, 2.0, 3.0)).export(file)


def save_gltf(file: Path) -> None:
    """A box whose buffer is in the file itself."""
    parts = trimesh.creation.box(extents=(1.0, 2.0, 3.0)).export(file_type="gltf")
    document = json.loads(parts["model.gltf"])
    for buffer in document["buffers"]:
        buffer["uri"] = f"data:application/octet-stream;base64,{base64.b64encode(parts[buffer['uri']]).decode()}"
    file.write_text(json.dumps(document))


# -- What is wrong with it


def as_bytes(content: bytes, draw: random.Random) -> bytes:
    return mutated_bytes(content, draw)


def as_xml(content: bytes, draw: random.Random) -> bytes:
    return mutated(content.decode(), draw).encode("utf-8", "surrogatepass")


def as_json(content: bytes, draw: random.Random) -> bytes:
    if draw.random() < 0.3:
        return mutated_bytes(content, draw)
    document = json.loads(content)
    return json.dumps(mutated_document(document, draw, [document])).encode()


def as_signed_model(content: bytes, draw: random.Random) -> bytes:
    """A model whose checksum is that of what it holds."""
    made = as_json(content, draw)
    try:
        document = json.loads(made)
        signed = json.dumps(document["operations"], sort_keys=True, separators=(",", ":")).encode()
        return json.dumps(document | {"sha256": hashlib.sha256(signed).hexdigest()}).encode()
    except (ValueError, KeyError, TypeError):
        return made


# -- What is read is saved, and read as the same


def world_again(file: Path) -> None:
    with World.load(file) as first:
        again = file.with_name("again.json")
        first.save(again)
        with World.load(again) as second:
            assert second.digest() == first.digest()
            assert second.frames() == first.frames()


def scene_again(file: Path) -> None:
    with World("first") as first, World("second") as second:
        first.scene.load(file)
        again = file.with_name("again.json")
        first.scene.save(again)
        second.scene.load(again)
        assert second.scene.digest() == first.scene.digest()


def extrinsics_again(file: Path) -> None:
    with World("robot") as first, World("robot") as second:
        first.load_extrinsics(file)
        again = file.with_name("again.yaml")
        first.save_extrinsics(again)
        second.load_extrinsics(again)
        assert set(second.frames()) == set(first.frames())  # a file lists them by name
        assert first.load_extrinsics(again) == ()
        assert _fixed_rows(second) == _fixed_rows(first)


def _fixed_rows(world: World) -> set[tuple[Any, ...]]:
    """What is fixed where, by whom, and how surely."""
    poses = world.store.fixed_poses()
    return {
        (*row[:4], (np.round(row[4].matrix, 9) + 0.0).tobytes(), None if row[5] is None else row[5].tobytes())
        for row in poses
    }


def model_again(file: Path) -> None:
    first = ArticulationModel.load(file)
    assert ArticulationModel.from_bytes(first.to_bytes()).to_bytes() == first.to_bytes()


def robot_again(read: Callable[[Any], Any]) -> Callable[[Path], None]:
    def again(file: Path) -> None:
        found = read(file)
        for robot in found if isinstance(found, tuple | list) else [found]:
            text = write_urdf(robot, lossy=True)
            assert _is_same_text(write_urdf(read_urdf(text), lossy=True), text)

    return again


def _is_same_text(one: str, other: str) -> bool:
    """Whether two texts are equal but for the rounding of the numbers in them."""
    numbers = [np.array(NUMBER.findall(text), dtype=float) for text in (one, other)]
    is_same_beside = NUMBER.sub("0", one) == NUMBER.sub("0", other)
    return is_same_beside and np.allclose(*numbers, rtol=1e-12, atol=CLOSE)


def mesh_again(file: Path) -> None:
    first = read_mesh(file)
    assert np.isfinite(first.vertices).all()
    assert first.faces.max() < len(first.vertices)


KINDS: dict[str, tuple[Callable[..., Any], Callable[..., bytes], Callable[..., None]]] = {
    "a.world.json": (save_world, as_json, world_again),
    "a.scene.json": (save_scene, as_json, scene_again),
    "a.yaml": (save_extrinsics, as_bytes, extrinsics_again),
    "a.model.json": (save_model, as_signed_model, model_again),
    "a.urdf": (text_of(lamp()), as_xml, robot_again(read_urdf)),
    "a.sdf": (text_of(NESTED), as_xml, robot_again(read_sdf)),
    "a.xml": (text_of(MJCF), as_xml, robot_again(read_mjcf)),
    "a.urdf.xacro": (text_of(LADDER), as_xml, robot_again(read_urdf)),
    "a.stl": (save_mesh, as_bytes, mesh_again),
    "a.obj": (save_mesh, as_bytes, mesh_again),
    "a.dae": (save_mesh, as_xml, mesh_again),
    "a.glb": (save_mesh, as_bytes, mesh_again),
    "a.gltf": (save_gltf, as_json, mesh_again),
}


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.filterwarnings("ignore")
def test_files_with_something_wrong_are_refused_or_mean_the_same(name, tmp_path, in_time):
    save, mutate, read_again = KINDS[name]
    whole = tmp_path / "whole"
    whole.mkdir()
    save(whole / name)
    read_again(whole / name)
    content, folder, refused = (whole / name).read_bytes(), tmp_path / "mutants", 0
    shutil.copytree(whole, folder)
    for seed in range(COUNT):
        (folder / name).write_bytes(mutate(content, random.Random(f"{name} {seed}")))
        in_time()
        try:
            read_again(folder / name)
        except ArmillaryError:
            refused += 1
        except (Exception, Hung) as error:
            shown = f"{type(error).__name__}: {error}"
            raise AssertionError(f"the mutant {seed} of {name}: {shown}") from error
    assert refused > COUNT // 10
