"""The shapes of links, as shapes of the scene."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from armillary._core import Transform
from armillary.articulation.links import Link
from armillary.errors import InvalidMesh, MissingExtra, MissingMeshes
from armillary.formats import MissingMesh, read_mesh, read_mesh_parts
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

Rgba = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Appearance:
    """One shape of a link.

    Attributes:
        shape: A shape of the scene.
        link_T_shape: Its pose on the link.
        attributes: Its role, "visual" or "collision", and its color where it has one.
    """

    shape: Shape
    link_T_shape: Transform
    attributes: Mapping[str, Any]


def appearances(path: str, link: Link, roles: Iterable[str], skipped: list[str] | None = None) -> Iterator[Appearance]:
    """Yield the shapes of a link in these roles.

    Args:
        path: Of the link, for errors.
        link: The link.
        roles: "visual", "collision", or both.
        skipped: Meshes that cannot be read are left out and put here, each with the reason; None: they raise.
    """
    for role in roles:
        for description in link.visuals if role == "visual" else link.collisions:
            try:
                shapes = _shapes(path, description, is_seen=role == "visual")
            except (InvalidMesh, MissingMeshes, MissingExtra) as error:
                if skipped is None:
                    raise
                shapes = []
                skipped.append(error.missing[0] if isinstance(error, MissingMeshes) else f"of '{path}': {error}")
            for shape, color in shapes:
                attributes = _attributes(description, role)
                if color is not None:
                    attributes.setdefault("color", list(color))
                yield Appearance(shape, description.link_T_shape, attributes)


def refuse_missing_meshes(name: str, links: Mapping[str, Link], roles: Iterable[str]) -> None:
    """Raise one error that names all mesh files that are missing."""
    missing = [
        MissingMesh(path, description.form.uri, description.form.path)
        for path, link in links.items()
        for role in roles
        for description in (link.visuals if role == "visual" else link.collisions)
        if isinstance(description.form, MeshForm) and not _is_there(description.form)
    ]
    if missing:
        raise MissingMeshes(name, [str(one) for one in missing])


def _is_there(form: MeshForm) -> bool:
    return form.path is not None and Path(form.path).is_file()


def _shapes(path: str, description: ShapeDescription, *, is_seen: bool) -> list[tuple[Shape, Rgba | None]]:
    """Return its shape; the parts of a mesh that is seen, each with its colour, unless it has a material of its own."""
    form, material = description.form, description.material
    if is_seen and isinstance(form, MeshForm) and _is_there(form) and (material is None or material.rgba is None):
        parts = read_mesh_parts(form.path or "", scale=form.scale)
        return [(Mesh(part.arrays.vertices, part.arrays.faces), part.rgba) for part in parts]
    shape = _shape(path, description)
    return [] if shape is None else [(shape, None)]


def _shape(path: str, description: ShapeDescription) -> Shape | None:
    match description.form:
        case BoxForm(size_m=size_m):
            return Box(size_m)
        case SphereForm(radius_m=radius_m):
            return Sphere(radius_m)
        case CylinderForm(radius_m=radius_m, length_m=length_m):
            return Cylinder(radius_m=radius_m, length_m=length_m)
        case CapsuleForm(radius_m=radius_m, length_m=length_m):
            return Capsule(radius_m=radius_m, length_m=length_m)
        case MeshForm() as form:
            if form.path is None or not _is_there(form):
                raise MissingMeshes(path, [str(MissingMesh(path, form.uri, form.path))])
            arrays = read_mesh(form.path, scale=form.scale)
            return Mesh(arrays.vertices, arrays.faces)
    return None


def _attributes(description: ShapeDescription, role: str) -> dict[str, Any]:
    found: dict[str, Any] = {"role": role}
    if description.name:
        found["name"] = description.name
    if description.material is not None and description.material.rgba is not None:
        found["color"] = list(description.material.rgba)
    return found
