"""Small mesh files that declare gigabytes, or hours: they are refused before anything is decoded."""

from __future__ import annotations

import json
import os
import struct

import numpy as np
import pytest

from armillary import errors
from armillary.formats import read_mesh
from unit.formats.test_meshes import saved

POSITIONS = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0)], dtype="<f4").tobytes()


def gltf(accessor=None, *, nodes=None, primitives=1, count=3, buffer=None) -> bytes:
    """A triangle, or what makes it too large."""
    view = {"buffer": 0, "byteLength": len(POSITIONS)}
    document = {
        "asset": {"version": "2.0"},
        "scenes": [{"nodes": [0]}],
        "scene": 0,
        "nodes": nodes or [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}] * primitives}],
        "accessors": [accessor or {"bufferView": 0, "componentType": 5126, "count": count, "type": "VEC3"}],
        "bufferViews": [view],
        "buffers": [buffer or {"byteLength": len(POSITIONS), "uri": "triangle.bin"}],
    }
    return json.dumps(document).encode()


def doubling(levels: int) -> bytes:
    """A Collada file whose every node holds the one below it twice."""
    nodes = "".join(
        f'<node id="n{i}"><instance_node url="#n{i - 1}"/><instance_node url="#n{i - 1}"/></node>'
        for i in range(1, levels)
    )
    geometry = '<node id="n0"><instance_geometry url="#g"/></node>'
    scene = f'<visual_scene id="s"><node><instance_node url="#n{levels - 1}"/></node></visual_scene>'
    return (
        '<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1"><asset/>'
        f"<library_nodes>{geometry}{nodes}</library_nodes><library_visual_scenes>{scene}</library_visual_scenes>"
        '<scene><instance_visual_scene url="#s"/></scene></COLLADA>'
    ).encode()


CYCLE = doubling(3).replace(b'<instance_geometry url="#g"/>', b'<instance_node url="#n2"/>')
CHAIN = [{"children": [i + 1, i + 1]} for i in range(40)] + [{"mesh": 0}]
BOMBS = {
    "accessor.gltf": gltf({"componentType": 5126, "count": 50_000_000, "type": "VEC3"}),
    "count.gltf": gltf(count=2**60),
    "negative.gltf": gltf(count=-1),
    "text.gltf": gltf(count="3"),
    "parts.gltf": gltf(nodes=[{"children": list(range(1, 301))}, *[{"mesh": 0}] * 300], primitives=300),
    "doubling.gltf": gltf(nodes=CHAIN),
    "cycle.gltf": gltf(nodes=[{"children": [1]}, {"children": [0]}]),
    "deep.gltf": gltf(nodes=[{"children": [i + 1]} for i in range(5000)] + [{"mesh": 0}]),
    "outside.gltf": gltf(buffer={"byteLength": 36, "uri": "../../../../etc/passwd"}),
    "device.gltf": gltf(buffer={"byteLength": 36, "uri": "/dev/zero"}),
    "pipe.gltf": gltf(buffer={"byteLength": 36, "uri": "pipe"}),
    "nested.gltf": b"[" * 200_000,
    "accessor.glb": struct.pack("<4sIIII", b"glTF", 2, 0, 400, 0x4E4F534A) + gltf(count=10**9),
    "doubling.dae": doubling(22),
    "cycle.dae": CYCLE,
    "solids.stl": b"solid a\nfacet normal 0 0 1\nouter loop\nendloop\nendfacet\nendsolid a\n" * 40_000,
    "late.dae": b"<!-- " + b" " * 17 * 2**20 + b"--><!DOCTYPE x><COLLADA/>",
    "pipe.stl": None,
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_small_file_does_not_take_gigabytes(name, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    if BOMBS[name] is None:
        os.mkfifo(tmp_path / name)
    else:
        (tmp_path / name).write_bytes(BOMBS[name])
    (tmp_path / "triangle.bin").write_bytes(POSITIONS)
    with pytest.raises(errors.InvalidMesh):
        read_mesh(tmp_path / name)


@pytest.mark.parametrize("metres", ["0", "-1", "nan", "inf", "1e999", "", "a"])
def test_a_unit_of_length_is_above_zero(metres, tmp_path):
    path = saved(tmp_path, "a.dae")
    path.write_text(path.read_text().replace("<asset>", f'<asset><unit name="x" meter="{metres}"/>'))
    with pytest.raises(errors.InvalidMesh, match="unit of length"):
        read_mesh(path)


def test_a_triangle_in_two_files_is_read(tmp_path):
    (tmp_path / "a.gltf").write_bytes(gltf())
    (tmp_path / "triangle.bin").write_bytes(POSITIONS)
    assert len(read_mesh(tmp_path / "a.gltf").faces) == 1


def test_forty_thousand_groups_of_an_obj_are_one_mesh(tmp_path):
    groups = "".join(f"o part{i}\ng part{i}\nusemtl m{i}\nf 1 2 3\n" for i in range(40_000))
    (tmp_path / "a.obj").write_text(f"mtllib ../../x.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\n{groups}")
    assert len(read_mesh(tmp_path / "a.obj").faces) == 40_000
