"""Pieces that the models are put together from: boxes, rods, and joints that carry them."""

from __future__ import annotations

from armillary import Transform
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

KG_PER_M3 = 400.0
LIGHTEST_KG = 0.05
WOOD = Material("wood", (0.72, 0.53, 0.35, 1.0))
WHITE = Material("white", (0.92, 0.92, 0.9, 1.0))
STEEL = Material("steel", (0.7, 0.72, 0.75, 1.0))
DARK = Material("dark", (0.2, 0.2, 0.22, 1.0))
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


def at(x=0.0, y=0.0, z=0.0, rpy=(0.0, 0.0, 0.0)):
    return Transform.from_xyz_rpy(xyz=(x, y, z), rpy=rpy)


def box(size, place=None, material=WHITE):
    return ShapeDescription(form=BoxForm(size), link_T_shape=place or at(), material=material)


def rod(radius, length, place=None, material=STEEL):
    return ShapeDescription(form=CylinderForm(radius, length), link_T_shape=place or at(), material=material)


def cuboid(shape):
    """The size of a box around a box or a rod."""
    form = shape.form
    return form.size_m if isinstance(form, BoxForm) else (2 * form.radius_m, 2 * form.radius_m, form.length_m)


def inertial_of(shapes):
    """That of the first shape, with the mass of all; near enough for furniture."""
    volumes = [x * y * z for x, y, z in map(cuboid, shapes)]
    mass = max(LIGHTEST_KG, KG_PER_M3 * sum(volumes))
    x, y, z = cuboid(shapes[0])
    third = mass / 12.0
    moments = (third * (y * y + z * z), 0.0, 0.0, third * (x * x + z * z), 0.0, third * (x * x + y * y))
    return Inertial(mass_kg=mass, link_T_inertia=shapes[0].link_T_shape, moments=moments)


def link(name, shapes=()):
    """A link that looks like what it touches."""
    touched = tuple(
        ShapeDescription(form=shape.form, link_T_shape=shape.link_T_shape, name=shape.name) for shape in shapes
    )
    return LinkDescription(
        name=name, visuals=tuple(shapes), collisions=touched, inertial=inertial_of(shapes) if shapes else None
    )


class Assembly:
    """A robot that grows: each call adds a link and the joint that carries it."""

    def __init__(self, name, root, shapes=()):
        self.name, self.root = name, root
        self.links, self.joints = [link(root, shapes)], []

    def fix(self, name, on, place, shapes=()):
        return self._add("fixed", name, on, place, shapes)

    def slide(self, name, on, place, shapes=(), *, axis=X, reach=(0.0, 0.45), velocity=0.4, effort=60.0):
        limits = Limits(lower=reach[0], upper=reach[1], velocity=velocity, effort=effort)
        return self._add("prismatic", name, on, place, shapes, axis=axis, limits=limits)

    def hinge(self, name, on, place, shapes=(), *, axis=Z, reach=(0.0, 1.6), velocity=1.0, effort=60.0):
        limits = Limits(lower=reach[0], upper=reach[1], velocity=velocity, effort=effort)
        return self._add("revolute", name, on, place, shapes, axis=axis, limits=limits)

    def turn(self, name, on, place, shapes=(), *, axis=Z, velocity=10.0, effort=20.0):
        return self._add(
            "continuous", name, on, place, shapes, axis=axis, limits=Limits(velocity=velocity, effort=effort)
        )

    def glide(self, name, on, place, shapes=(), *, axis=Z):
        return self._add("planar", name, on, place, shapes, axis=axis)

    def _add(self, kind, name, on, place, shapes, **more):
        self.links.append(link(name, shapes))
        self.joints.append(
            JointDescription(name=f"{name}_joint", kind=kind, parent=on, child=name, parent_T_joint=place, **more)
        )
        return name

    def description(self):
        return RobotDescription(name=self.name, links=tuple(self.links), joints=tuple(self.joints), root=self.root)
