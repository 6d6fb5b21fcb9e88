"""What links look like: their shapes as the scene knows them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from armillary._core import Transform
from armillary.articulation.links import Link
from armillary.errors import MissingMeshes
from armillary.formats import MissingMesh, read_mesh
from armillary.formats.descriptions import (
    BoxForm,
    CapsuleForm,
    CylinderForm,
    MeshForm,
    ShapeDescription,
    SphereForm,
)
from armillary.scene import Box, Capsule, Cylinder, Mesh, Shape, Sphere

__all__ = ["Appearance", "appearances", "refuse_missing_meshes"]


@dataclass(frozen=True, slots=True)
class Appearance:
    """One shape of a link.

    Attributes:
        shape: As the scene knows it.
        link_T_shape: Where it sits.
        attributes: What is said of it: its role, "visual" or "collision", and its color where it has one.
    """

    shape: Shape
    link_T_shape: Transform
    attributes: Mapping[str, Any]


def appearances(link: Link, roles: Iterable[str], *, skip_missing: bool = False) -> Iterator[Appearance]:
    """The shapes of a link in these roles; a shape that no file can be read for is left out where that is allowed."""
    for role in roles:
        for said in link.visuals if role == "visual" else link.collisions:
            shape = _shape(said, skip_missing=skip_missing)
            if shape is not None:
                yield Appearance(shape, said.link_T_shape, _attributes(said, role))


def refuse_missing_meshes(name: str, links: Mapping[str, Link], roles: Iterable[str]) -> None:
    """All that are not there, in one error."""
    missing = [
        MissingMesh(path, said.form.uri, said.form.path)
        for path, link in links.items()
        for role in roles
        for said in (link.visuals if role == "visual" else link.collisions)
        if isinstance(said.form, MeshForm) and not _is_there(said.form)
    ]
    if missing:
        raise MissingMeshes(name, [str(one) for one in missing])


def _is_there(form: MeshForm) -> bool:
    return form.path is not None and Path(form.path).is_file()


def _shape(said: ShapeDescription, *, skip_missing: bool) -> Shape | None:
    match said.form:
        case BoxForm(size_m=size_m):
            return Box(size_m)
        case SphereForm(radius_m=radius_m):
            return Sphere(radius_m)
        case CylinderForm(radius_m=radius_m, length_m=length_m):
            return Cylinder(radius_m=radius_m, length_m=length_m)
        case CapsuleForm(radius_m=radius_m, length_m=length_m):
            return Capsule(radius_m=radius_m, length_m=length_m)
        case MeshForm() as form if form.path is not None and (not skip_missing or _is_there(form)):
            arrays = read_mesh(form.path, scale=form.scale)
            return Mesh(arrays.vertices, arrays.faces)
    return None


def _attributes(said: ShapeDescription, role: str) -> dict[str, Any]:
    found: dict[str, Any] = {"role": role}
    if said.name:
        found["name"] = said.name
    if said.material is not None and said.material.rgba is not None:
        found["color"] = list(said.material.rgba)
    return found
