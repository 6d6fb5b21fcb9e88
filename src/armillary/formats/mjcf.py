"""Reading MJCF, the format of MuJoCo."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import cast

from armillary._core import Rotation, Transform
from armillary.formats._mjcf_shapes import Assets, inertial_in, placed_in, shapes_in
from armillary.formats._mjcf_source import Compiler, Defaults, MjElement, read_sections
from armillary.formats._tree import find_cycle
from armillary.formats._xml import Source, name_hint, read_source
from armillary.formats.descriptions import (
    Dynamics,
    Inertial,
    JointDescription,
    JointKind,
    Limits,
    LinkDescription,
    Mimic,
    RobotDescription,
    ShapeDescription,
    Triple,
)
from armillary.formats.packages import FileFinder, PackageFolders

__all__ = ["read_mjcf"]

WORLD = "world"


def read_mjcf(path_or_text: str | PathLike[str], *, packages: PackageFolders = ()) -> RobotDescription:
    """Read the model of an MJCF file: MuJoCo's own format.

    Everything is below a link named `world`. A body with several joints becomes several links, one behind each joint:
    the last one has the name of the body, the others are named `BODY_JOINT`. Sites with a name become links that are
    fixed to their body. Positions mean what they mean in MuJoCo's `qpos`, `ref` included.

    Equality constraints: of two joints, a linear one becomes `mimic`; `connect` and `weld` become `closures`, with the
    places of the file. Shapes that MuJoCo shows (groups 0 to 2) are visuals, those that can touch others are collision
    shapes. Inertias that MuJoCo would compute from shapes are left out; actuators only tell which joints are driven.

    Args:
        path_or_text: The file, or its text, which begins with `<`. A text cannot include files.
        packages: Where `package://` of meshes leads; as for `read_urdf`.

    Raises:
        InvalidRobotFile: With file, line and element of what is wrong.

    >>> text = '''<mujoco model="lamp"><worldbody><body name="head" pos="0 0 1">
    ...   <joint name="pan"/><joint name="tilt" axis="0 1 0" range="-30 30"/></body></worldbody></mujoco>'''
    >>> lamp = read_mjcf(text)
    >>> [(joint.name, joint.kind, joint.child) for joint in lamp.joints]
    [('pan', 'continuous', 'head_pan'), ('tilt', 'revolute', 'head')]
    """
    source = read_source(path_or_text)
    root, sections = read_sections(source)
    return _Model.of(root, sections, source, packages).description()


_EXPAND = "Let MuJoCo write it out: mujoco.mj_saveLastXML."
_REFUSED = {
    "composite": "it makes bodies by a rule",
    "flexcomp": "it makes bodies by a rule",
    "replicate": "it repeats what is in it",
    "attach": "it attaches another model",
}
_LEFT_ALONE = ("camera", "light", "plugin")
_IN_BODY = ("body", "frame", "joint", "freejoint", "geom", "site", "inertial", *_LEFT_ALONE, *_REFUSED)
_JOINT_TYPES = ("hinge", "slide", "ball", "free")
_Z = (0.0, 0.0, 1.0)
_IDENTITY = Transform.identity()


@dataclass(frozen=True, slots=True)
class _Inside:
    """What applies to the parts of a body: the pose of the frames around them, and the class of their defaults."""

    body_T_frame: Transform
    inherited: str | None


@dataclass(slots=True)
class _Body:
    """A body while it is read: its parts in the order of the file, with what applies to each."""

    element: MjElement
    parent: str
    inside: _Inside
    joints: list[tuple[MjElement, Transform]] = field(default_factory=list)
    geoms: list[tuple[MjElement, Transform]] = field(default_factory=list)
    sites: list[tuple[MjElement, Transform]] = field(default_factory=list)
    bodies: list[tuple[MjElement, _Inside]] = field(default_factory=list)
    inertial: Inertial | None = None


@dataclass(slots=True)
class _Model:
    """A model while it is read."""

    root: MjElement
    name: str
    compiler: Compiler
    defaults: Defaults
    assets: Assets
    sections: list[MjElement]
    links: dict[str, LinkDescription] = field(default_factory=dict)
    joints: dict[str, JointDescription] = field(default_factory=dict)
    elements: dict[str, MjElement] = field(default_factory=dict)
    sites: dict[str, tuple[str, Transform]] = field(default_factory=dict)
    world_T: dict[str, Transform] = field(default_factory=dict)
    reserved: frozenset[str] = frozenset()
    numbered: int = 0

    @classmethod
    def of(cls, root: MjElement, sections: list[MjElement], source: Source, packages: PackageFolders) -> _Model:
        compiler = Compiler.of([section for section in sections if section.tag == "compiler"])
        defaults = Defaults()
        for section in sections:
            if section.tag == "default":
                defaults.read(section)
        files = FileFinder(packages, None if source.path is None else source.path.parent)
        name = root.get("model") or ("robot" if source.path is None else source.path.stem)
        assets = Assets(compiler, defaults, files)
        for element in _parts(sections, "asset"):
            assets.read(element)
        return cls(root, name, compiler, defaults, assets, sections)

    def description(self) -> RobotDescription:
        """Read all bodies, and what couples them."""
        worlds = [section for section in self.sections if section.tag == "worldbody"]
        self.world_T[WORLD] = _IDENTITY
        self.reserved = frozenset(_body_names(worlds))
        whole = replace(self.root, parts=tuple(part for world in worlds for part in world.parts))
        inherited = next((name for world in worlds if (name := world.get("childclass"))), None)
        self._read_bodies(whole, inherited)
        self._follow()
        closures = tuple(self._closures())
        self._mark_driven()
        return RobotDescription(
            name=self.name,
            links=tuple(self.links.values()),
            joints=tuple(self.joints.values()),
            root=WORLD,
            closures=closures,
        )

    # -- Bodies

    def _read_bodies(self, world: MjElement, inherited: str | None) -> None:
        """Read the world, and every body after the one around it."""
        top = _Body(world, WORLD, _Inside(_IDENTITY, inherited))
        self._collect(top, world, top.inside)
        self._add_link(WORLD, top)
        waiting = [(element, WORLD, inside) for element, inside in reversed(top.bodies)]
        while waiting:
            element, parent, inside = waiting.pop()
            name, body = self._read_body(element, parent, inside)
            waiting.extend((inner, name, around) for inner, around in reversed(body.bodies))

    def _read_body(self, element: MjElement, parent: str, inside: _Inside) -> tuple[str, _Body]:
        self.numbered += 1
        name = element.name() if element.get("name") else self._free_name(f"body{self.numbered}")
        if name in self.links:
            raise element.error(f"there is a body '{name}' already", "Rename one.")
        below = _Inside(_IDENTITY, element.get("childclass") or inside.inherited)
        body = _Body(element, parent, below)
        self._collect(body, element, below)
        parent_T_body = inside.body_T_frame @ self.compiler.pose(element)
        self.world_T[name] = self.world_T[parent] @ parent_T_body
        self._connect(name, body, parent_T_body)
        self._add_link(name, body)
        return name, body

    def _collect(self, body: _Body, element: MjElement, inside: _Inside) -> None:
        """Sort the parts of a body, those in frames too."""
        for part in element.parts:
            tag = part.one_of(part.tag, _IN_BODY, "element of a body")
            if tag in _REFUSED:
                raise part.error(f"{_REFUSED[tag]}, which is not done here", _EXPAND)
            if tag == "frame":
                placed = inside.body_T_frame @ self.compiler.pose(part)
                self._collect(body, part, _Inside(placed, part.get("childclass") or inside.inherited))
            elif tag == "body":
                body.bodies.append((part, inside))
            elif tag == "inertial":
                body.inertial = inertial_in(part, self.compiler)
            elif tag not in _LEFT_ALONE:
                known = self.defaults.applied(part, inside.inherited, "joint" if tag == "freejoint" else None)
                kept = {"geom": body.geoms, "site": body.sites}.get(tag, body.joints)
                kept.append((known, inside.body_T_frame))

    def _add_link(self, name: str, body: _Body) -> None:
        visuals: list[ShapeDescription] = []
        collisions: list[ShapeDescription] = []
        for geom, body_T_frame in body.geoms:
            shape, is_visual, touches = shapes_in(geom, self.compiler, self.assets, body_T_frame)
            visuals += [shape] * is_visual
            collisions += [shape] * touches
        self.links[name] = LinkDescription(
            name=name, visuals=tuple(visuals), collisions=tuple(collisions), inertial=body.inertial
        )
        for site, body_T_frame in body.sites:
            if site.get("name"):
                self._add_site(site, name, body_T_frame)

    def _add_site(self, site: MjElement, body: str, body_T_frame: Transform) -> None:
        named = site.name()
        if named in self.sites:
            raise site.error(f"there is a site '{named}' already", "Rename one.")
        body_T_site = body_T_frame @ placed_in(site, self.compiler)[0]
        self.sites[named] = body, body_T_site
        link = self._free_name(named, f"{named}_site")
        self.links[link] = LinkDescription(name=link)
        self._add_fixed(link, body, body_T_site)

    def _add_fixed(self, link: str, parent: str, parent_T_link: Transform) -> None:
        name = _unused(f"{link}_fixed", self.joints)
        self.joints[name] = JointDescription(
            name=name, kind="fixed", parent=parent, child=link, parent_T_joint=parent_T_link
        )

    # -- Joints

    def _connect(self, name: str, body: _Body, parent_T_body: Transform) -> None:
        """Add the joints of a body, and a link behind each but the last."""
        if not body.joints and body.element.get("mocap") == "true":
            self._add_free(_unused(f"{name}_mocap", self.joints), name, body, parent_T_body)
            return
        if not body.joints:
            self._add_fixed(name, body.parent, parent_T_body)
            return
        above, above_T_body = body.parent, parent_T_body
        for i, (element, body_T_frame) in enumerate(body.joints):
            joint = self._joint_name(element, name, i)
            if _type(element) == "free":
                self._check_free(element, body)
                self._add_free(joint, name, body, parent_T_body)
                return
            child = name if i == len(body.joints) - 1 else self._free_name(f"{name}_{joint}")
            if child != name:
                self.links[child] = LinkDescription(name=child)
            self.joints[joint] = self._described(element, joint, (above, child), above_T_body, body_T_frame)
            self.elements[joint] = element
            above, above_T_body = child, _IDENTITY

    def _joint_name(self, element: MjElement, body: str, number: int) -> str:
        if not element.get("name"):
            return _unused(f"{body}_joint{number or ''}", self.joints)
        name = element.name()
        if name in self.elements:
            raise element.error(f"there is a joint '{name}' already", "Rename one.")
        if name in self.joints:  # a name that was made here
            made = self.joints.pop(name)
            again = _unused(f"{name}_", self.joints)
            self.joints[again] = replace(made, name=again)
        return name

    def _check_free(self, element: MjElement, body: _Body) -> None:
        if body.parent != WORLD:
            raise element.error(f"a free joint is in a body of the world, and this one is in '{body.parent}'")
        if len(body.joints) > 1:
            raise element.error("the body of a free joint has other joints as well", "Remove them.")
        if element.flag("align", "auto") == "true":
            raise element.error("align moves the frame of the body to its centre of mass", "Remove it.")

    def _add_free(self, joint: str, name: str, body: _Body, parent_T_body: Transform) -> None:
        """Add a joint whose position is the pose of the body in the world."""
        initial = (*parent_T_body.translation, *parent_T_body.rotation.wxyz)
        self.joints[joint] = JointDescription(
            name=joint, kind="floating", parent=body.parent, child=name, initial=tuple(map(float, initial))
        )
        self.elements[joint] = body.joints[0][0] if body.joints else body.element

    def _described(
        self, element: MjElement, name: str, links: tuple[str, str], above_T_body: Transform, body_T_frame: Transform
    ) -> JointDescription:
        """Describe a hinge, slide or ball: the body moves about the anchor, by how far `qpos` is from `ref`."""
        kind = _type(element)
        anchor = body_T_frame @ Transform.from_translation(element.bounded(element.numbers("pos", 3, (0, 0, 0)), "pos"))
        body_T_anchor = _IDENTITY if kind == "slide" else Transform.from_translation(anchor.translation)
        axis = element.direction(cast("Triple", element.numbers("axis", 3, _Z)))
        turned = cast("Triple", tuple(map(float, body_T_frame.rotation @ axis)))
        limits = self._limits(element, kind)
        ref = element.number("ref", 0.0) * (self.compiler.radians if kind == "hinge" else 1.0)
        return JointDescription(
            name=name,
            kind=_kind(kind, limits),
            parent=links[0],
            child=links[1],
            parent_T_joint=above_T_body @ body_T_anchor @ _at(kind, turned, -ref),
            joint_T_child=body_T_anchor.inverse(),
            axis=turned,
            limits=limits,
            dynamics=_dynamics(element),
            initial=(1.0, 0.0, 0.0, 0.0) if kind == "ball" else (ref,),
        )

    def _limits(self, element: MjElement, kind: str) -> Limits | None:
        """Return the limits of a hinge or slide; None where it has none, and for a ball, whose range is a cone."""
        given = element.get("range") is not None
        limited = element.flag("limited", "auto")
        if limited == "auto" and given and not self.compiler.has_automatic_limits:
            raise element.error("it has a range, and autolimits is off", "Say limited=, or let autolimits be true.")
        if limited == "false" or (limited == "auto" and not given) or kind == "ball":
            lower = upper = None
        else:
            factor = self.compiler.radians if kind == "hinge" else 1.0
            lower, upper = (factor * bound for bound in element.numbers("range", 2, (0.0, 0.0)))
            if lower > upper:
                raise element.error(f"the lower limit {lower:g} lies above the upper limit {upper:g}")
        found = Limits(lower=lower, upper=upper, effort=_effort(element))
        return None if found == Limits() else found

    # -- Equality and actuators

    def _follow(self) -> None:
        """Let joints follow others where an equality says so."""
        for element in self._equalities("joint"):
            follower, leader = element.required("joint1"), element.get("joint2")
            offset, factor, *higher = (*element.first_numbers("polycoef", 11, (0.0, 1.0)), 0.0, 0.0)[:11]
            if leader is None:
                self._hold(self._axis_joint(element, follower), offset)
                continue
            if any(higher):
                raise element.error("it is no linear equation, which no joint here can follow", "Remove it.")
            one, other = (self._axis_joint(element, joint) for joint in (follower, leader))
            offset += one.initial[0] - factor * other.initial[0]
            if one.mimic is not None:
                raise element.error(f"the joint '{follower}' follows '{one.mimic.joint}' already", "Remove one.")
            self.joints[follower] = replace(one, mimic=Mimic(joint=leader, multiplier=factor, offset=offset))
        cycle = find_cycle({name: joint.mimic.joint for name, joint in self.joints.items() if joint.mimic is not None})
        if cycle is not None:
            raise self.elements[cycle[0]].error(f"joints follow each other in a cycle: {', '.join(cycle)}")

    def _hold(self, joint: JointDescription, offset: float) -> None:
        """Fix a joint that an equality holds at one position."""
        moved = _at("slide" if joint.kind == "prismatic" else "hinge", joint.axis, joint.initial[0] + offset)
        held = replace(joint, kind="fixed", parent_T_joint=joint.parent_T_joint @ moved, limits=None, initial=())
        self.joints[joint.name] = held

    def _axis_joint(self, element: MjElement, name: str) -> JointDescription:
        joint = self.joints.get(name)
        if joint is None or name not in self.elements:
            raise element.error(f"there is no joint '{name}'", name_hint(name, self.elements))
        if len(joint.initial) != 1:
            raise element.error(f"the joint '{name}' has not one degree of freedom", "Name a hinge or a slide.")
        return joint

    def _closures(self) -> Iterator[JointDescription]:
        """Yield what holds two bodies together: a ball where they are connected, a fixed joint where welded."""
        for tag, kind in (("connect", "ball"), ("weld", "fixed")):
            for i, element in enumerate(self._equalities(tag)):
                name = _unused(element.get("name") or f"{tag}{i}", self.joints)
                bodies, poses = self._meeting(element, tag)
                yield JointDescription(
                    name=name,
                    kind=cast("JointKind", kind),
                    parent=bodies[0],
                    child=bodies[1],
                    parent_T_joint=poses[0],
                    joint_T_child=poses[1].inverse(),
                )

    def _meeting(self, element: MjElement, tag: str) -> tuple[tuple[str, str], tuple[Transform, Transform]]:
        """Return both bodies of an equality, and where the meeting point is on each."""
        if element.get("site1") or element.get("site2"):
            (one, first), (other, second) = (self._site(element, end) for end in ("site1", "site2"))
            return (one, other), (first, second)
        bodies = self._body(element, element.required("body1")), self._body(element, element.get("body2") or WORLD)
        one_T_other = self.world_T[bodies[0]].inverse() @ self.world_T[bodies[1]]
        if tag == "connect":
            anchor = Transform.from_translation(element.bounded(element.numbers("anchor", 3), "anchor"))
            return bodies, (anchor, Transform.from_translation((one_T_other.inverse() @ anchor).translation))
        given = element.numbers("relpose", 7, (0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0))
        length = math.hypot(*given[3:])
        if length > 0.0:
            one_T_other = Transform.from_xyz_wxyz(xyz=given[:3], wxyz=[value / length for value in given[3:]])
        return bodies, (one_T_other, _IDENTITY)

    def _site(self, element: MjElement, end: str) -> tuple[str, Transform]:
        name = element.required(end)
        if name not in self.sites:
            raise element.error(f"there is no site '{name}'", name_hint(name, self.sites))
        return self.sites[name]

    def _body(self, element: MjElement, name: str) -> str:
        if name not in self.world_T:
            raise element.error(f"there is no body '{name}'", name_hint(name, self.world_T))
        return name

    def _equalities(self, tag: str) -> Iterator[MjElement]:
        for part in _parts(self.sections, "equality"):
            if part.tag == tag:
                element = self.defaults.applied(part, None, "equality")
                if element.flag("active", "true") != "false":
                    yield element

    def _mark_driven(self) -> None:
        """Mark the joints that an actuator drives."""
        for part in _parts(self.sections, "actuator"):
            joint = part.get("joint") or part.get("jointinparent")
            if joint in self.joints:
                self.joints[joint] = replace(self.joints[joint], is_driven=True)

    def _free_name(self, *wanted: str) -> str:
        """Return the first of these names that no link has, and none will; the last one is made unique."""
        taken = self.reserved | self.links.keys()
        return next((name for name in wanted if name not in taken), _unused(wanted[-1], taken))


def _parts(sections: list[MjElement], tag: str) -> Iterator[MjElement]:
    return (part for section in sections if section.tag == tag for part in section.parts)


def _body_names(elements: Iterable[MjElement]) -> Iterator[str]:
    """Yield the names that bodies have in the file."""
    waiting = list(elements)
    while waiting:
        element = waiting.pop()
        waiting.extend(element.parts)
        if element.tag == "body" and (name := element.get("name")):
            yield name


def _unused(name: str, taken: Container[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _type(element: MjElement) -> str:
    if element.tag == "freejoint":
        return "free"
    return element.one_of(element.get("type") or "hinge", _JOINT_TYPES, "type of joint")


def _kind(kind: str, limits: Limits | None) -> JointKind:
    if kind == "hinge":
        return "continuous" if limits is None or limits.lower is None else "revolute"
    return "prismatic" if kind == "slide" else "ball"


def _at(kind: str, axis: Triple, position: float) -> Transform:
    """Return the motion of a hinge or slide at a position."""
    if kind == "ball" or position == 0.0:
        return _IDENTITY
    moved = [entry * position for entry in axis]
    if kind == "slide":
        return Transform.from_translation(moved)
    return Transform.from_rotation(Rotation.exp(moved))


def _dynamics(element: MjElement) -> Dynamics | None:
    damping = element.first_numbers("damping", 3, (0.0,))[0]
    found = Dynamics(damping=damping, friction=element.number("frictionloss", 0.0))
    return None if found == Dynamics() else found


def _effort(element: MjElement) -> float | None:
    if element.get("actuatorfrcrange") is None or element.flag("actuatorfrclimited", "auto") == "false":
        return None
    return max(map(abs, element.numbers("actuatorfrcrange", 2)))
