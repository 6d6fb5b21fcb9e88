"""Links of SDFormat."""

from __future__ import annotations

from typing import cast

from armillary.formats._sdf_values import pose_in
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
    OtherForm,
    ShapeDescription,
    SphereForm,
    Triple,
)
from armillary.formats.packages import FileFinder

__all__ = ["link_of"]

_DIAGONAL, _ALL = ("ixx", "iyy", "izz"), ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
_EMPTY = "empty"


def link_of(element: Element, name: str, files: FileFinder) -> LinkDescription:
    """One `<link>`, under its whole name."""
    return LinkDescription(
        name=name,
        visuals=_shapes(element, "visual", files),
        collisions=_shapes(element, "collision", files),
        inertial=_inertial(element.child("inertial")),
    )


def _shapes(link: Element, role: str, files: FileFinder) -> tuple[ShapeDescription, ...]:
    found = (_shape(shape, files) for shape in link.children(role))
    return tuple(shape for shape in found if shape.form != OtherForm(_EMPTY))


def _shape(element: Element, files: FileFinder) -> ShapeDescription:
    material = element.child("material") if element.tag == "visual" else None
    return ShapeDescription(
        name=element.get("name") or "",
        link_T_shape=pose_in(element),
        form=_form(element.needed_child("geometry"), files),
        material=None if material is None else _material(material),
    )


def _material(element: Element) -> Material | None:
    for tag in ("diffuse", "ambient"):
        text = element.text_of(tag)
        if text is not None:
            count = 4 if len(text.split()) > len("rgb") else 3
            red, green, blue, *opacity = element.needed_child(tag).as_numbers(text, count, tag)
            return Material(rgba=(red, green, blue, *(opacity or (1.0,))))
    return None


def _form(geometry: Element, files: FileFinder) -> Form:
    inside = list(geometry.children())
    if len(inside) != 1:
        raise geometry.refused(f"it holds {len(inside)} forms, and one is expected")
    form = inside[0]
    match form.tag:
        case "box":
            return BoxForm(_size(form))
        case "sphere":
            return SphereForm(_length(form, "radius"))
        case "cylinder":
            return CylinderForm(_length(form, "radius"), _length(form, "length"))
        case "capsule":
            return CapsuleForm(_length(form, "radius"), _length(form, "length"))
        case "mesh" if form.child("submesh") is None:
            return _mesh(form, files)
    return OtherForm(form.tag)


def _mesh(form: Element, files: FileFinder) -> MeshForm:
    uri, scale = form.needed_child("uri").text, form.text_of("scale")
    if not uri:
        raise form.refused("<uri> is empty")
    factors = (1.0, 1.0, 1.0) if scale is None else form.as_numbers(scale, 3, "scale")
    return MeshForm(uri, files.path_of(uri), cast("Triple", form.places(factors, "scale")))


def _size(form: Element) -> Triple:
    size = form.needed_child("size")
    return cast("Triple", size.lengths(size.as_numbers(size.text, 3, "size"), "size"))


def _length(form: Element, tag: str) -> float:
    return form.lengths((form.number_of(tag),), tag)[0]


def _inertial(element: Element | None) -> Inertial | None:
    if element is None:
        return None
    inertia, default = element.child("inertia"), {tag: 1.0 if tag in _DIAGONAL else 0.0 for tag in _ALL}
    moments = tuple(default[tag] if inertia is None else inertia.number_of(tag, default[tag]) for tag in _ALL)
    return Inertial(
        mass_kg=element.number_of("mass", 1.0),
        link_T_inertia=pose_in(element),
        moments=cast("tuple[float, float, float, float, float, float]", moments),
    )
