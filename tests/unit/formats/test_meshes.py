"""Surfaces from files: their size, their parts, and what is no surface."""

from __future__ import annotations

import re
import struct
from unittest import mock

import numpy as np
import pytest
import trimesh

from armillary import World, errors
from armillary.articulation import ArticulationModel
from armillary.formats import MeshForm, missing_meshes, read_mesh, read_mesh_parts, read_meshes, read_urdf
from unit.formats.kit import link, robot, robot_file, robot_files

CUBE = trimesh.creation.box(extents=(1.0, 2.0, 3.0))
HALF_INCH_M = 0.0127


def saved(tmp_path, name):
    CUBE.export(tmp_path / name)
    return tmp_path / name


def volume(mesh):
    """Positive where triangles are seen from outside in the order of their corners."""
    one, two, three = (mesh.vertices[mesh.faces[:, corner]] for corner in range(3))
    return float(np.einsum("ij,ij->i", one, np.cross(two, three)).sum()) / 6.0


def painted(tmp_path, *colors):
    """Cubes side by side, each with a material of this colour."""
    cubes = [CUBE.copy() for _ in colors]
    for k, (cube, color) in enumerate(zip(cubes, colors, strict=True)):
        cube.apply_translation((4.0 * k, 0.0, 0.0))
        material = trimesh.visual.material.PBRMaterial(baseColorFactor=color)
        cube.visual = trimesh.visual.TextureVisuals(uv=np.zeros((8, 2)), material=material)
    path = tmp_path / "painted.dae"
    path.write_bytes(trimesh.exchange.dae.export_collada(cubes))
    return path


class TestTheColoursOfAMesh:
    RED, BLUE = (1.0, 0.0, 0.0, 1.0), (0.0, 0.0, 1.0, 1.0)

    def test_are_those_of_its_materials(self, tmp_path):
        path = painted(tmp_path, self.RED, self.BLUE, self.RED)
        parts = read_mesh_parts(path, scale=(2.0, 1.0, 1.0))
        assert [part.rgba for part in parts] == [self.RED, self.BLUE]
        assert [len(part.arrays.faces) for part in parts] == [24, 12]
        assert [np.ptp(part.arrays.vertices, axis=0)[0] for part in parts] == pytest.approx([18.0, 2.0])
        assert sum(volume(part.arrays) for part in parts) == pytest.approx(36.0)

    @pytest.mark.parametrize("name", ["a.stl", "a.obj", "a.glb"])
    def test_are_none_in_files_that_are_read_without(self, name, tmp_path):
        (part,) = read_mesh_parts(saved(tmp_path, name))
        assert part.rgba is None
        np.testing.assert_array_equal(part.arrays.faces, read_mesh(tmp_path / name).faces)

    @pytest.mark.parametrize(("material", "expected"), [("", [RED, BLUE]), ('<color rgba="0 1 0 1"/>', [(0, 1, 0, 1)])])
    def test_are_seen_unless_the_robot_says_another_one(self, tmp_path, material, expected):
        mesh = f'<visual><geometry><mesh filename="{painted(tmp_path, self.RED, self.BLUE)}"/></geometry>'
        model, world = ArticulationModel(), World()
        model.load_urdf(robot(f'<link name="a">{mesh}<material name="m">{material}</material></visual></link>'))
        world.mount(model, in_frame="map")
        shown = [world.scene.attributes(node)["color"] for node in world.scene.find({"role": "visual"})]
        assert sorted(map(tuple, shown), reverse=True) == [tuple(map(float, color)) for color in expected]

    def test_are_those_of_files_of_others(self):
        (mesh,) = [path for path in robot_files(".dae") if path.name == "link0.dae" and "visual" in path.parts]
        parts = read_mesh_parts(mesh)
        assert len({part.rgba for part in parts}) == len(parts) > 1
        assert sum(len(part.arrays.faces) for part in parts) == len(read_mesh(mesh).faces)


class TestAMesh:
    @pytest.mark.parametrize("name", ["a.stl", "a.STL", "a.obj", "a.dae", "a.glb"])
    def test_is_read_as_it_was_written(self, name, tmp_path):
        path = saved(tmp_path, name.lower()).rename(tmp_path / name)
        mesh = read_mesh(path)
        np.testing.assert_allclose(np.ptp(mesh.vertices, axis=0), (1.0, 2.0, 3.0))
        assert (mesh.vertices.dtype, mesh.faces.dtype, len(mesh.faces)) == (np.float64, np.int64, 12)
        assert volume(mesh) == pytest.approx(6.0)

    def test_can_be_scaled_and_mirrored(self, tmp_path):
        mesh = read_mesh(saved(tmp_path, "a.stl"), scale=(-2.0, 1.0, 1.0))
        np.testing.assert_allclose(np.ptp(mesh.vertices, axis=0), (2.0, 2.0, 3.0))
        assert volume(mesh) == pytest.approx(12.0)

    def test_is_never_changed(self, tmp_path):
        mesh = read_mesh(saved(tmp_path, "a.stl"))
        assert (mesh.vertices.flags.writeable, mesh.faces.flags.writeable) == (False, False)

    def test_of_several_parts_is_one(self, tmp_path):
        moved = CUBE.copy()
        moved.apply_translation((10.0, 0.0, 0.0))
        trimesh.Scene([CUBE, moved]).export(tmp_path / "two.glb")
        mesh = read_mesh(tmp_path / "two.glb")
        assert len(mesh.faces) == 24
        assert np.ptp(mesh.vertices, axis=0)[0] == pytest.approx(11.0)

    def test_has_the_unit_that_it_says(self, tmp_path):
        path = saved(tmp_path, "a.dae")
        unit = f'<asset><unit name="half_inch" meter="{HALF_INCH_M}"/>'
        path.write_text(path.read_text().replace("<asset>", unit))
        np.testing.assert_allclose(np.ptp(read_mesh(path).vertices, axis=0), np.multiply(HALF_INCH_M, (1, 2, 3)))

    @pytest.mark.parametrize("axis", ["X_UP", "Y_UP", "Z_UP"])
    def test_stands_as_its_numbers_say_whatever_axis_it_calls_up(self, axis, tmp_path):
        path = saved(tmp_path, "a.dae")
        before = read_mesh(path).vertices
        text = re.sub("<up_axis>.*?</up_axis>", "", path.read_text())
        path.write_text(text.replace("</asset>", f"<up_axis>{axis}</up_axis></asset>", 1))
        assert axis in path.read_text()
        np.testing.assert_array_equal(read_mesh(path).vertices, before)


BOMB = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaa">]><COLLADA>&a;</COLLADA>'
REFUSED = [
    ("a.txt", b"", "files that end in '.txt' are not read"),
    ("a.stl", b"", "trimesh cannot read it|no triangles"),
    ("a.stl", b"solid x\nendsolid x\n", "trimesh cannot read it|no triangles"),
    ("a.stl", b" " * 80 + struct.pack("<I", 4_000_000_000), "trimesh cannot read it|no triangles"),
    ("a.obj", b"v 0 0 0\nv 1 0 0\nv nan 1 0\nf 1 2 3\n", "not finite|cannot read"),
    ("a.obj", b"v 0 0 0\nf 1 2 3\n", "not there|cannot read"),
    ("a.obj", b"v 0 0\nv 1 0\nv 0 1\nf 1 2 3\n", "no triangles|cannot read"),
    ("a.dae", b"<robot/>", "cannot read"),
    ("a.dae", BOMB.encode(), "declares a document type"),
    ("a.dae", BOMB.encode("utf-16"), "declares a document type"),
    ("a.dae", BOMB.replace("?>", ' encoding="utf-7"?>', 1).encode(), "declares a document type"),
    ("a.glb", b"glTF" + bytes(40), "cannot read"),
    ("a.gltf", b"{", "cannot read"),
]


class TestWhatIsNoMesh:
    @pytest.mark.parametrize(("name", "content", "why"), REFUSED, ids=lambda value: str(value)[:30])
    def test_is_refused(self, name, content, why, tmp_path):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(errors.InvalidMesh, match=why) as caught:
            read_mesh(tmp_path / name)
        assert caught.value.path == str(tmp_path / name)

    def test_includes_what_is_not_there(self, tmp_path):
        with pytest.raises(errors.InvalidMesh, match="no such file"):
            read_mesh(tmp_path / "nothing.stl")


def shown(*uris):
    visuals = "".join(f'<visual><geometry><mesh filename="{uri}"/></geometry></visual>' for uri in uris)
    return link(visuals)


class TestMeshesOfARobot:
    def test_that_are_missing_are_reported_together(self):
        robot = read_urdf(shown("package://nowhere/a.stl", "/nowhere/b.stl", "/nowhere/b.stl"))
        assert [missing.uri for missing in missing_meshes(robot)] == ["package://nowhere/a.stl", "/nowhere/b.stl"]
        with pytest.raises(errors.MissingMeshes) as caught:
            read_meshes(robot)
        assert "package://nowhere/a.stl' of the link 'foot': its package is not found" in str(caught.value)
        assert "there is no file '/nowhere/b.stl'" in str(caught.value)
        assert "packages=" in str(caught.value)

    def test_are_read_once_for_each_form(self, tmp_path):
        path = saved(tmp_path, "a.stl")
        meshes = read_meshes(read_urdf(shown(path, path)))
        assert list(meshes) == [MeshForm(str(path), str(path))]

    def test_are_read_once_for_each_file(self, tmp_path, monkeypatch):
        path, load = saved(tmp_path, "a.stl"), mock.Mock(side_effect=trimesh.load_scene)
        monkeypatch.setattr(trimesh, "load_scene", load)
        visuals = "".join(
            f'<visual><geometry><mesh filename="{path}" scale="{i} 1 -1"/></geometry></visual>' for i in range(1, 6)
        )
        meshes = read_meshes(read_urdf(link(visuals)))
        assert [volume(mesh) for mesh in meshes.values()] == pytest.approx([6.0 * i for i in range(1, 6)])
        assert load.call_count == 1

    def test_of_others_are_found_and_read(self):
        robot = read_urdf(robot_file("panda.urdf"))
        assert missing_meshes(robot) == ()
        sizes = [np.ptp(mesh.vertices, axis=0).max() for mesh in read_meshes(robot).values()]
        assert len(sizes) > 10
        assert max(sizes) < 0.6


class TestPackages:
    URI = "package://lamp/meshes/a.stl"

    def path_of(self, tmp_path, uri=URI, packages=()):
        (tmp_path / "robot.urdf").write_text(shown(uri))
        return read_urdf(tmp_path / "robot.urdf", packages=packages).links[0].visuals[0].form.path

    def test_are_found_by_name(self, tmp_path):
        assert self.path_of(tmp_path, packages={"lamp": "/there"}) == "/there/meshes/a.stl"

    def test_are_found_in_folders(self, tmp_path):
        (tmp_path / "all/lamp").mkdir(parents=True)
        expected = str(tmp_path / "all/lamp/meshes/a.stl")
        assert self.path_of(tmp_path, packages=[tmp_path / "all"]) == expected
        assert self.path_of(tmp_path, packages=[tmp_path / "all/lamp"]) == expected

    def test_are_found_around_the_file(self, tmp_path):
        (tmp_path / "package.xml").write_text("<package><name>lamp</name></package>")
        assert self.path_of(tmp_path) == str(tmp_path.resolve() / "meshes/a.stl")

    @pytest.mark.parametrize(("variable", "inside"), [("ROS_PACKAGE_PATH", ""), ("AMENT_PREFIX_PATH", "share")])
    def test_are_found_through_the_environment(self, variable, inside, tmp_path, monkeypatch):
        (tmp_path / "ws" / inside / "lamp").mkdir(parents=True)
        monkeypatch.setenv(variable, f"/nowhere:{tmp_path / 'ws'}")
        assert self.path_of(tmp_path) == str(tmp_path / "ws" / inside / "lamp/meshes/a.stl")

    @pytest.mark.parametrize(
        "uri",
        [
            *("package://lamp/../../etc/x.stl", "package://../x.stl", "ftp://x/y.stl"),
            *("package:///etc/passwd", "package://etc/passwd", "model:///etc/passwd"),
        ],
    )
    def test_do_not_lead_out_of_themselves(self, uri, tmp_path):
        assert self.path_of(tmp_path, uri, packages={"lamp": "/there"}) is None

    def test_are_given_as_a_mapping_or_a_list(self, tmp_path):
        with pytest.raises(errors.InvalidArgument, match="Pass it in a list"):
            self.path_of(tmp_path, packages=str(tmp_path))

    def test_are_not_needed_beside_the_file(self, tmp_path):
        assert self.path_of(tmp_path, "a.stl") == str(tmp_path / "a.stl")
        assert self.path_of(tmp_path, "file:///there/a%20b.stl") == "/there/a b.stl"
