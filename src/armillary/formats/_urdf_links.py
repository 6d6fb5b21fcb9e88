"""Links of URDF: what they look like, what they touch, what they weigh."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import cast

from armillary._core import Transform
from armillary.formats._xml import Element
from armillary.formats.descriptions import (
    BoxForm,
    CapsuleForm,
    CylinderForm,
    Form,
    Inertial,
    LinkDescription,
    Material,
    MeshForm,
    ShapeDescription,
    SphereForm,
    Triple,
)
from armillary.formats.packages import FileFinder

__all__ = ["link_of", "materials_of", "origin_of", "triple"]

_FORMS = ("box", "sphere", "cylinder", "capsule", "mesh")
_ZERO = (0.0, 0.0, 0.0)
_MOMENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


def triple(element: Element, attribute: str, default: Triple | None = None) -> Triple:
    """Three numbers of an attribute."""
    return cast("Triple", element.numbers(attribute, 3, default))


def origin_of(element: Element) -> Transform:
    """What its `<origin>` says; without one, the identity."""
    origin = element.child("origin")
    if origin is None:
        return Transform.identity()
    xyz, rpy = triple(origin, "xyz", _ZERO), triple(origin, "rpy", _ZERO)
    origin.places((*xyz, *rpy), "a place")
    return Transform.from_xyz_rpy(xyz=xyz, rpy=rpy)


def materials_of(robot: Element) -> dict[str, Material]:
    """The materials that links may call by name."""
    found = (_material(element) for element in robot.children("material"))
    return {material.name: material for material in found}


def link_of(element: Element, materials: Mapping[str, Material], files: FileFinder) -> LinkDescription:
    """One `<link>`."""
    return LinkDescription(
        name=element.name(),
        visuals=tuple(_visual(shape, materials, files) for shape in element.children("visual")),
        collisions=tuple(_shape(shape, files) for shape in element.children("collision")),
        inertial=_inertial(element.child("inertial")),
    )


def _visual(element: Element, materials: Mapping[str, Material], files: FileFinder) -> ShapeDescription:
    named = element.child("material")
    shape = _shape(element, files)
    return shape if named is None else replace(shape, material=_appearance(named, materials))


def _shape(element: Element, files: FileFinder) -> ShapeDescription:
    return ShapeDescription(
        name=element.get("name") or "",
        link_T_shape=origin_of(element),
        form=_form(element.needed_child("geometry"), files),
    )


def _appearance(element: Element, materials: Mapping[str, Material]) -> Material:
    here = _material(element)
    return here if here.rgba or here.texture else materials.get(here.name, here)


def _material(element: Element) -> Material:
    color, texture = element.child("color"), element.child("texture")
    rgba = None if color is None else color.numbers("rgba", 4)
    return Material(
        name=element.get("name") or "",
        rgba=cast("tuple[float, float, float, float] | None", rgba),
        texture=None if texture is None else texture.get("filename"),
    )


def _form(geometry: Element, files: FileFinder) -> Form:
    inside = list(geometry.children())
    if len(inside) != 1:
        raise geometry.refused(f"it holds {len(inside)} forms, and one is expected")
    form = inside[0]
    match form.one_of(form.tag, _FORMS, "form"):
        case "box":
            return BoxForm(cast("Triple", form.lengths(triple(form, "size"), "size")))
        case "sphere":
            return SphereForm(_length(form, "radius"))
        case "cylinder":
            return CylinderForm(_length(form, "radius"), _length(form, "length"))
        case "capsule":
            return CapsuleForm(_length(form, "radius"), _length(form, "length"))
    uri, scale = form.needed("filename").strip(), triple(form, "scale", (1.0, 1.0, 1.0))
    return MeshForm(uri, files.path_of(uri), cast("Triple", form.places(scale, "scale")))


def _length(form: Element, attribute: str) -> float:
    return form.lengths((form.number(attribute),), attribute)[0]


def _inertial(element: Element | None) -> Inertial | None:
    if element is None:
        return None
    mass, inertia = element.needed_child("mass"), element.needed_child("inertia")
    moments = tuple(inertia.number(name, None if name in {"ixx", "iyy", "izz"} else 0.0) for name in _MOMENTS)
    return Inertial(
        mass_kg=mass.number("value"),
        link_T_inertia=origin_of(element),
        moments=cast("tuple[float, float, float, float, float, float]", moments),
    )
