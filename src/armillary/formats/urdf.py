"""Reading URDF, and xacro that expands to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike, fspath
from typing import TypeVar, cast

from armillary._core import Transform
from armillary.formats._tree import find_cycle, select_part
from armillary.formats._xacro import expand_xacro
from armillary.formats._xml import Element, Source, name_hint, parse, read_source
from armillary.formats.descriptions import (
    BoxForm,
    CapsuleForm,
    CylinderForm,
    Dynamics,
    Form,
    Inertial,
    JointDescription,
    JointKind,
    Limits,
    LinkDescription,
    Material,
    MeshForm,
    Mimic,
    RobotDescription,
    ShapeDescription,
    SoftLimits,
    SphereForm,
    Triple,
)
from armillary.formats.packages import FileFinder, PackageFolders

__all__ = ["URDF_KINDS", "read_urdf"]


def read_urdf(
    path_or_text: str | PathLike[str],
    *,
    packages: PackageFolders = (),
    root: str | None = None,
    tips: Sequence[str] | None = None,
    arguments: Mapping[str, str] | None = None,
) -> RobotDescription:
    """Read a robot from URDF.

    A file whose name ends in `.xacro` is expanded first, by xacrodoc. Xacro evaluates expressions: expand only what you
    trust.

    Args:
        path_or_text: The file, or its text, which begins with `<`.
        packages: Where `package://` leads: a mapping from a package to its folder, or folders that hold packages. The
            folders around the file and those of a ROS environment are searched as well. Meshes that are not found are
            no error here; `missing_meshes` lists them.
        root: Read only what is below this link.
        tips: Read only what lies between the root and these links.
        arguments: The arguments of xacro.

    Raises:
        InvalidRobotFile: With file, line and element of what is wrong.
        UnknownLink: `root` or one of the `tips` is not in the file.

    >>> text = '''<robot name="lamp"><link name="foot"/><link name="head"/>
    ...   <joint name="neck" type="continuous"><parent link="foot"/><child link="head"/><axis xyz="0 0 2"/></joint>
    ... </robot>'''
    >>> lamp = read_urdf(text)
    >>> lamp.root, lamp.joint_by_name["neck"].axis
    ('foot', (0.0, 0.0, 1.0))
    """
    if fspath(path_or_text).endswith(".xacro"):
        source = expand_xacro(path_or_text, arguments or {}, packages)
    else:
        source = read_source(path_or_text)
    return select_part(_read_robot(parse(source), source, packages), root, tips)


def _read_robot(element: Element, source: Source, packages: PackageFolders) -> RobotDescription:
    if element.tag != "robot":
        raise element.error("the outermost element of URDF is <robot>", "Give a URDF file.")
    _reject_xacro(element)
    files = FileFinder(packages, None if source.path is None else source.path.parent)
    materials = _read_materials(element)
    links = _by_unique_name((found, _read_link(found, materials, files)) for found in element.children("link"))
    joints = _by_unique_name((found, _read_joint(found)) for found in element.children("joint"))
    return RobotDescription(
        name=element.name() if element.get("name") else ("robot" if source.path is None else source.path.stem),
        links=tuple(link for _, link in links.values()),
        joints=tuple(joint for _, joint in joints.values()),
        root=_check_tree(element, links, joints),
    )


def _reject_xacro(robot: Element) -> None:
    if "xacro" not in robot.source.text:
        return
    for child in robot.children():
        if "xacro" in child.tag.partition("}")[0]:
            raise child.error("this is xacro, which is not expanded yet", "Give the file a name that ends in .xacro.")


_IDENTITY = Transform.identity()
_FORMS = ("box", "sphere", "cylinder", "capsule", "mesh")
_ZERO = (0.0, 0.0, 0.0)
_MOMENTS = {"ixx": None, "ixy": 0.0, "ixz": 0.0, "iyy": None, "iyz": 0.0, "izz": None}


def _triple(element: Element, attribute: str, default: Triple | None = None) -> Triple:
    """Return the three numbers of an attribute."""
    return cast("Triple", element.numbers(attribute, 3, default))


def _origin(element: Element) -> Transform:
    """Return the transform of its `<origin>`; the identity where it has none."""
    origin = element.child("origin")
    if origin is None:
        return _IDENTITY
    xyz, rpy = _triple(origin, "xyz", _ZERO), _triple(origin, "rpy", _ZERO)
    origin.bounded((*xyz, *rpy), "a place")
    return Transform.from_xyz_rpy(xyz=xyz, rpy=rpy)


def _read_materials(robot: Element) -> dict[str, Material]:
    """Return the materials that links may refer to by name."""
    found = (_material(element) for element in robot.children("material"))
    return {material.name: material for material in found}


def _read_link(element: Element, materials: Mapping[str, Material], files: FileFinder) -> LinkDescription:
    """Read one `<link>`."""
    return LinkDescription(
        name=element.name(),
        visuals=tuple([_visual(shape, materials, files) for shape in element.children_of("visual")]),
        collisions=tuple([_shape(shape, files) for shape in element.children_of("collision")]),
        inertial=_inertial(element.child("inertial")),
    )


def _visual(element: Element, materials: Mapping[str, Material], files: FileFinder) -> ShapeDescription:
    named = element.child("material")
    return _shape(element, files, None if named is None else _visual_material(named, materials))


def _shape(element: Element, files: FileFinder, material: Material | None = None) -> ShapeDescription:
    return ShapeDescription(
        name=element.get("name") or "",
        link_T_shape=_origin(element),
        form=_form(element.required_child("geometry"), files),
        material=material,
    )


def _visual_material(element: Element, materials: Mapping[str, Material]) -> Material:
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
        raise geometry.error(f"it holds {len(inside)} forms, and one is expected")
    form = inside[0]
    match form.one_of(form.tag, _FORMS, "form"):
        case "box":
            return BoxForm(cast("Triple", form.lengths(_triple(form, "size"), "size")))
        case "sphere":
            return SphereForm(_length(form, "radius"))
        case "cylinder":
            return CylinderForm(_length(form, "radius"), _length(form, "length"))
        case "capsule":
            return CapsuleForm(_length(form, "radius"), _length(form, "length"))
    uri, scale = form.required("filename").strip(), _triple(form, "scale", (1.0, 1.0, 1.0))
    return MeshForm(uri, files.path_of(uri), cast("Triple", form.bounded(scale, "scale")))


def _length(form: Element, attribute: str) -> float:
    return form.lengths((form.number(attribute),), attribute)[0]


def _inertial(element: Element | None) -> Inertial | None:
    if element is None:
        return None
    mass, inertia = element.required_child("mass"), element.required_child("inertia")
    moments = tuple([inertia.number(name, default) for name, default in _MOMENTS.items()])
    return Inertial(
        mass_kg=mass.number("value"),
        link_T_inertia=_origin(element),
        moments=cast("tuple[float, float, float, float, float, float]", moments),
    )


URDF_KINDS = ("fixed", "revolute", "continuous", "prismatic", "planar", "floating")
_WITH_LIMITS = {"revolute", "prismatic"}
_WITHOUT_AXIS = {"fixed", "floating"}
_X = (1.0, 0.0, 0.0)


def _read_joint(element: Element) -> JointDescription:
    """Read one `<joint>`."""
    kind = cast("JointKind", element.one_of(element.required("type"), URDF_KINDS, "type of joint"))
    return JointDescription(
        name=element.name(),
        kind=kind,
        parent=element.required_child("parent").name("link"),
        child=element.required_child("child").name("link"),
        parent_T_joint=_origin(element),
        axis=_X if kind in _WITHOUT_AXIS else _axis(element),
        limits=_limits(element, kind),
        soft_limits=_soft_limits(element.child("safety_controller")),
        mimic=_mimic(element.child("mimic")),
        dynamics=_dynamics(element.child("dynamics")),
    )


def _axis(joint: Element) -> Triple:
    axis = joint.child("axis")
    return _X if axis is None else axis.direction(_triple(axis, "xyz"))


def _limits(joint: Element, kind: str) -> Limits | None:
    limit = joint.child("limit")
    if limit is None:
        if kind in _WITH_LIMITS:
            hint = "Add <limit lower= upper= velocity= effort=>, or make it continuous."
            raise joint.error(f"a {kind} joint needs <limit>, and has none", hint)
        return None
    bounded = kind in _WITH_LIMITS
    lower, upper = (limit.number(end, 0.0) if bounded else limit.optional_number(end) for end in ("lower", "upper"))
    if bounded and cast("float", lower) > cast("float", upper):
        raise limit.error(f"the lower limit {lower:g} lies above the upper limit {upper:g}")
    return Limits(
        lower=lower, upper=upper, velocity=limit.optional_number("velocity"), effort=limit.optional_number("effort")
    )


def _soft_limits(element: Element | None) -> SoftLimits | None:
    if element is None:
        return None
    return SoftLimits(
        lower=element.number("soft_lower_limit", 0.0),
        upper=element.number("soft_upper_limit", 0.0),
        k_position=element.number("k_position", 0.0),
        k_velocity=element.number("k_velocity", 0.0),
    )


def _mimic(element: Element | None) -> Mimic | None:
    if element is None:
        return None
    return Mimic(
        joint=element.name("joint"), multiplier=element.number("multiplier", 1.0), offset=element.number("offset", 0.0)
    )


def _dynamics(element: Element | None) -> Dynamics | None:
    if element is None:
        return None
    return Dynamics(damping=element.number("damping", 0.0), friction=element.number("friction", 0.0))


Named = TypeVar("Named", LinkDescription, JointDescription)
Links = Mapping[str, tuple[Element, LinkDescription]]
Joints = Mapping[str, tuple[Element, JointDescription]]


def _by_unique_name(read: Iterable[tuple[Element, Named]]) -> dict[str, tuple[Element, Named]]:
    """Return elements and their values by name; raises where two have the same name."""
    found: dict[str, tuple[Element, Named]] = {}
    for element, value in read:
        if value.name in found:
            first = found[value.name][0].xml.sourceline
            raise element.error(f"line {first} has a <{element.tag}> of this name already", "Rename one.")
        found[value.name] = element, value
    return found


def _check_tree(robot: Element, links: Links, joints: Joints) -> str:
    """Check that links and joints make one tree, and return its root."""
    joint_above: dict[str, str] = {}
    for element, joint in joints.values():
        for link in (joint.parent, joint.child):
            if link not in links:
                raise element.error(f"there is no link '{link}'", name_hint(link, links))
        if joint.child in joint_above:
            reason = f"the link '{joint.child}' is carried by the joint '{joint_above[joint.child]}' already"
            raise element.error(reason, "URDF describes trees: let one joint carry it.")
        joint_above[joint.child] = joint.name
    _check_leaders(joints)
    _check_loops(joints, joint_above)
    return _only_root(robot, links, joint_above)


def _check_leaders(joints: Joints) -> None:
    follows = {name: joint.mimic.joint for name, (_, joint) in joints.items() if joint.mimic is not None}
    for name, leader in follows.items():
        if leader not in joints:
            reason = f"it follows the joint '{leader}', which is not there"
            raise joints[name][0].error(reason, name_hint(leader, joints))
    cycle = find_cycle(follows)
    if cycle is not None:
        raise joints[cycle[0]][0].error(f"joints follow each other in a cycle: {', '.join(cycle)}")


def _check_loops(joints: Joints, joint_above: Mapping[str, str]) -> None:
    cycle = find_cycle({child: joints[name][1].parent for child, name in joint_above.items()})
    if cycle is not None:
        raise joints[joint_above[cycle[0]]][0].error(f"links carry each other in a cycle: {', '.join(cycle)}")


def _only_root(robot: Element, links: Links, joint_above: Mapping[str, str]) -> str:
    roots = [name for name in links if name not in joint_above]
    if not roots:
        raise robot.error("it has no link")
    if len(roots) > 1:
        raise links[roots[1]][0].error(
            f"no joint carries it, and none carries '{roots[0]}' either", "Join them: a robot has one root."
        )
    return roots[0]
