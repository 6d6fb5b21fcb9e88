"""Geoms, meshes, materials and inertias of MJCF."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import cast

import numpy as np

from armillary._core import Transform
from armillary.formats._mjcf_source import Compiler, Defaults, MjElement, towards
from armillary.formats._xml import name_hint
from armillary.formats.descriptions import (
    BoxForm,
    CapsuleForm,
    CylinderForm,
    Form,
    Inertial,
    Material,
    MeshForm,
    OtherForm,
    ShapeDescription,
    SphereForm,
    Triple,
)
from armillary.formats.packages import FileFinder

__all__ = ["Assets", "inertial_in", "placed_in", "shapes_in"]

_TYPES = ("plane", "hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh", "sdf")
_SHOWN_GROUPS = 3
_ONES = (1.0, 1.0, 1.0)
_IDENTITY = Transform.identity()


@dataclass(frozen=True, slots=True)
class _Mesh:
    """A mesh: its form, and the pose of the coordinates of its file in those of geoms that use it."""

    form: Form
    geom_T_file: Transform


@dataclass(slots=True)
class Assets:
    """The meshes and materials of a model."""

    compiler: Compiler
    defaults: Defaults
    files: FileFinder
    meshes: dict[str, _Mesh] = field(default_factory=dict)
    materials: dict[str, Material] = field(default_factory=dict)

    def read(self, part: MjElement) -> None:
        """Read one element of `<asset>`; textures and height fields are left alone."""
        element = self.defaults.applied(part, None)
        if part.tag == "mesh":
            file = element.get("file")
            name = element.get("name") or (PurePosixPath(file.strip()).stem if file else "")
            self.meshes[name] = self._mesh(element, file)
        elif part.tag == "material":
            self.materials[element.name()] = Material(
                name=element.name(), rgba=_rgba(element), texture=element.get("texture")
            )

    def _mesh(self, element: MjElement, file: str | None) -> _Mesh:
        scale = cast("Triple", element.bounded(element.numbers("scale", 3, _ONES), "scale"))
        xyz = element.bounded(element.numbers("refpos", 3, (0.0, 0.0, 0.0)), "refpos")
        wxyz = np.array(element.numbers("refquat", 4, (1.0, 0.0, 0.0, 0.0)))
        if not 0.0 < np.linalg.norm(wxyz) < math.inf:
            raise element.error("the quaternion of refquat turns nothing")
        file_T_ref = Transform.from_xyz_wxyz(
            xyz=np.array(xyz) * np.array(scale), wxyz=(wxyz / np.linalg.norm(wxyz)).tolist()
        )
        if file is None or (file_T_ref.rotation != _IDENTITY.rotation and len(set(scale)) > 1):
            return _Mesh(OtherForm("mesh"), _IDENTITY)
        uri = self.compiler.mesh_uri(file.strip())
        return _Mesh(MeshForm(uri, self.files.path_of(uri), scale), file_T_ref.inverse())

    def mesh(self, geom: MjElement) -> _Mesh:
        """Return the mesh that a geom names."""
        name = geom.required("mesh")
        if name not in self.meshes:
            raise geom.error(f"there is no mesh '{name}'", name_hint(name, self.meshes))
        return self.meshes[name]

    def material(self, geom: MjElement) -> Material | None:
        """Return the material of a geom; its own colour comes first."""
        name, rgba = geom.get("material"), _rgba(geom)
        if name is None:
            return None if rgba is None else Material(rgba=rgba)
        if name not in self.materials:
            raise geom.error(f"there is no material '{name}'", name_hint(name, self.materials))
        return self.materials[name] if rgba is None else replace(self.materials[name], rgba=rgba)


def _rgba(element: MjElement) -> tuple[float, float, float, float] | None:
    if element.get("rgba") is None:
        return None
    return cast("tuple[float, float, float, float]", element.numbers("rgba", 4))


def shapes_in(
    geom: MjElement, compiler: Compiler, assets: Assets, body_T_frame: Transform
) -> tuple[ShapeDescription, bool, bool]:
    """Return the shape of a geom, whether it is seen, and whether it can touch others."""
    form, frame_T_shape = _form(geom, compiler, assets)
    shape = ShapeDescription(
        form=form,
        name=geom.get("name") or "",
        link_T_shape=body_T_frame @ frame_T_shape,
        material=assets.material(geom),
    )
    touches = any(geom.number(mask, 1.0) != 0.0 for mask in ("contype", "conaffinity"))
    return shape, geom.number("group", 0.0) < _SHOWN_GROUPS or not touches, touches


def _form(geom: MjElement, compiler: Compiler, assets: Assets) -> tuple[Form, Transform]:
    kind = geom.one_of(geom.get("type") or "sphere", _TYPES, "type of geom")
    if geom.get("mesh") is not None:
        found = assets.mesh(geom)
        return found.form, compiler.pose(geom) @ found.geom_T_file
    placed, half_m = placed_in(geom, compiler)
    size = geom.lengths(geom.first_numbers("size", 3, (0.0,)), "size")
    radius = size[0]
    half = size[1] if half_m is None and len(size) > 1 else half_m
    match kind:
        case "sphere":
            return SphereForm(radius), placed
        case "capsule" | "cylinder" if half is not None:
            return (CapsuleForm if kind == "capsule" else CylinderForm)(radius, 2.0 * half), placed
        case "box" if half_m is not None:
            side = size[1] if len(size) > 1 else radius
            return BoxForm((2.0 * radius, 2.0 * side, 2.0 * half_m)), placed
        case "box" if len(size) == len(_ONES):
            return BoxForm(cast("Triple", tuple(2.0 * value for value in size))), placed
        case "capsule" | "cylinder" | "box":
            raise geom.error(f"the size of a {kind} has {len(size)} numbers, which are too few")
    return OtherForm(kind), placed


def placed_in(geom: MjElement, compiler: Compiler) -> tuple[Transform, float | None]:
    """Return the pose of a geom or site, and half its length where it reaches from one point to another."""
    if geom.get("fromto") is None:
        return compiler.pose(geom), None
    ends = np.reshape(geom.bounded(geom.numbers("fromto", 6), "fromto"), (2, 3))
    along = ends[0] - ends[1]
    turned = towards(geom, cast("Triple", tuple(map(float, along))))
    middle = Transform.from_xyz_wxyz(xyz=ends.mean(axis=0), wxyz=turned.wxyz)
    return middle, 0.5 * float(np.linalg.norm(along))


def inertial_in(element: MjElement, compiler: Compiler) -> Inertial:
    """Return the mass and the inertia of an `<inertial>`."""
    if element.get("fullinertia") is not None:
        ixx, iyy, izz, ixy, ixz, iyz = element.numbers("fullinertia", 6)
        moments = ixx, ixy, ixz, iyy, iyz, izz
    else:
        ixx, iyy, izz = element.numbers("diaginertia", 3, (0.0, 0.0, 0.0))
        moments = ixx, 0.0, 0.0, iyy, 0.0, izz
    return Inertial(mass_kg=element.number("mass"), link_T_inertia=compiler.pose(element), moments=moments)
