"""Pieces that the models are put together from: boxes, rods, and joints that carry them."""

from __future__ import annotations

from collections.abc import Sequence

from armillary.formats import (
    BoxForm,
    CylinderForm,
    Inertial,
    JointDescription,
    Limits,
    LinkDescription,
    Material,
    RobotDescription,
    ShapeDescription,
)
from armillary.formats.descriptions import JointKind, Triple
from armillary.transforms import Transform

WOOD = Material("wood", (0.72, 0.53, 0.35, 1.0))
WHITE = Material("white", (0.92, 0.92, 0.9, 1.0))
STEEL = Material("steel", (0.7, 0.72, 0.75, 1.0))
DARK = Material("dark", (0.2, 0.2, 0.22, 1.0))
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)

_KG_PER_M3 = 400.0
_LIGHTEST_KG = 0.05


def at(x: float = 0.0, y: float = 0.0, z: float = 0.0, rpy: Triple = (0.0, 0.0, 0.0)) -> Transform:
    """A place [m, rad]."""
    return Transform.from_xyz_rpy(xyz=(x, y, z), rpy=rpy)


def box(size_m: Triple, place: Transform | None = None, material: Material = WHITE) -> ShapeDescription:
    """A box around `place`."""
    return ShapeDescription(form=BoxForm(size_m), link_T_shape=place or at(), material=material)


def rod(
    radius_m: float, length_m: float, place: Transform | None = None, material: Material = STEEL
) -> ShapeDescription:
    """A cylinder around `place`, along its z."""
    return ShapeDescription(form=CylinderForm(radius_m, length_m), link_T_shape=place or at(), material=material)


class Assembly:
    """A robot that grows: each call adds a link and the joint that carries it.

    Args:
        name: Of the whole.
        root: The link that everything hangs on.
        shapes: Of the root.
    """

    def __init__(self, name: str, root: str, shapes: Sequence[ShapeDescription] = ()) -> None:
        self._name, self._root = name, root
        self._links, self._joints = [_link(root, shapes)], list[JointDescription]()

    def fix(self, name: str, on: str, place: Transform, shapes: Sequence[ShapeDescription] = ()) -> None:
        """Something that does not move."""
        self._add("fixed", name, on, place, shapes)

    def slide(
        self,
        name: str,
        on: str,
        place: Transform,
        shapes: Sequence[ShapeDescription] = (),
        *,
        axis: Triple = X,
        reach: tuple[float, float] = (0.0, 0.45),
        velocity: float = 0.4,
        effort: float = 60.0,
    ) -> None:
        """Something that slides along `axis`."""
        limits = Limits(lower=reach[0], upper=reach[1], velocity=velocity, effort=effort)
        self._add("prismatic", name, on, place, shapes, axis=axis, limits=limits)

    def hinge(
        self,
        name: str,
        on: str,
        place: Transform,
        shapes: Sequence[ShapeDescription] = (),
        *,
        axis: Triple = Z,
        reach: tuple[float, float] = (0.0, 1.6),
        velocity: float = 1.0,
        effort: float = 60.0,
    ) -> None:
        """Something that turns about `axis`, within limits."""
        limits = Limits(lower=reach[0], upper=reach[1], velocity=velocity, effort=effort)
        self._add("revolute", name, on, place, shapes, axis=axis, limits=limits)

    def turn(self, name: str, on: str, place: Transform, shapes: Sequence[ShapeDescription], *, axis: Triple) -> None:
        """A wheel."""
        self._add("continuous", name, on, place, shapes, axis=axis, limits=Limits(velocity=18.0, effort=20.0))

    def glide(self, name: str, on: str, place: Transform, shapes: Sequence[ShapeDescription]) -> None:
        """Something that moves freely on the floor."""
        self._add("planar", name, on, place, shapes, axis=Z)

    def description(self) -> RobotDescription:
        """What was put together."""
        return RobotDescription(name=self._name, links=tuple(self._links), joints=tuple(self._joints), root=self._root)

    def _add(
        self,
        kind: JointKind,
        name: str,
        on: str,
        place: Transform,
        shapes: Sequence[ShapeDescription],
        *,
        axis: Triple = X,
        limits: Limits | None = None,
    ) -> None:
        self._links.append(_link(name, shapes))
        self._joints.append(
            JointDescription(
                name=f"{name}_joint",
                kind=kind,
                parent=on,
                child=name,
                parent_T_joint=place,
                axis=axis,
                limits=limits,
            )
        )


def _link(name: str, shapes: Sequence[ShapeDescription]) -> LinkDescription:
    """A link that looks like what it touches."""
    touched = tuple(ShapeDescription(form=shape.form, link_T_shape=shape.link_T_shape) for shape in shapes)
    return LinkDescription(
        name=name, visuals=tuple(shapes), collisions=touched, inertial=_inertial(shapes) if shapes else None
    )


def _inertial(shapes: Sequence[ShapeDescription]) -> Inertial:
    """That of the first shape, with the mass of all; near enough for furniture."""
    volumes = [x * y * z for x, y, z in map(_cuboid_m, shapes)]
    mass = max(_LIGHTEST_KG, _KG_PER_M3 * sum(volumes))
    x, y, z = _cuboid_m(shapes[0])
    third = mass / 12.0
    moments = (third * (y * y + z * z), 0.0, 0.0, third * (x * x + z * z), 0.0, third * (x * x + y * y))
    return Inertial(mass_kg=mass, link_T_inertia=shapes[0].link_T_shape, moments=moments)


def _cuboid_m(shape: ShapeDescription) -> Triple:
    """The size of a box around a box or a rod."""
    match shape.form:
        case CylinderForm(radius_m, length_m):
            return (2 * radius_m, 2 * radius_m, length_m)
        case BoxForm(size_m):
            return size_m
        case _:
            return (0.0, 0.0, 0.0)
