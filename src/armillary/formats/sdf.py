"""Reading SDFormat: models with their links, joints and frames, nested and included ones too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path

from armillary._core import Transform
from armillary.formats._sdf_elements import SdfJoint, read_link
from armillary.formats._sdf_frames import MODEL, SCOPE, WORLD, Frames, is_true, pose_in, relative_to
from armillary.formats._tree import Spanning, find_cycle, spanning_tree
from armillary.formats._xml import Element, parse, read_source
from armillary.formats.descriptions import JointDescription, JointKind, LinkDescription, RobotDescription
from armillary.formats.packages import FileFinder, PackageFolders

__all__ = ["read_sdf"]


def read_sdf(path_or_text: str | PathLike[str], *, packages: PackageFolders = ()) -> tuple[RobotDescription, ...]:
    """Read every model of an SDFormat file, of its worlds too.

    Nested and included models become part of the model they are in; their links and joints are named `inner::link`. A
    link may sit off its joint (`joint_T_child`) and joints may close loops (`closures`), which URDF cannot express. If
    a model has a joint to the world, or several roots, all of it is below a link named `world`; otherwise it has its
    own root, placed by `origin_T_root`.

    Args:
        path_or_text: The file, or its text, which begins with `<`.
        packages: Where `model://` and `package://` lead; as for `read_urdf`.

    Raises:
        InvalidRobotFile: With file, line and element of what is wrong.

    >>> text = '''<sdf version="1.9"><model name="lamp">
    ...   <link name="foot"/><link name="head"><pose>0 0 1 0 0 0</pose></link>
    ...   <joint name="neck" type="ball"><parent>foot</parent><child>head</child></joint></model></sdf>'''
    >>> (lamp,) = read_sdf(text)
    >>> lamp.joints[0].kind, lamp.joints[0].parent_T_joint.translation
    ('ball', array([0., 0., 1.]))
    """
    return tuple(_assemble(model) for model in _collect_models(path_or_text, packages))


_MANIFEST = "model.config"


def _read_included(include: Element, files: FileFinder) -> Element:
    """Return the `<model>` that an `<include>` names."""
    if is_true(include.get("merge")):
        raise include.error("merging included models is not supported", "Include it without merge.")
    uri = include.required_child("uri").text
    path = files.path_of(uri) if uri else None
    if path is None or not Path(path).exists():
        hint = "Pass packages={name: folder} or a list of folders that hold models."
        raise include.error(f"the model '{uri}' is not found", hint)
    root = parse(read_source(_model_file(Path(path), include)))
    models = list(root.children("model")) if root.tag == "sdf" else []
    if len(models) != 1:
        raise root.error(f"it is included in '{include.source.name}', and holds {len(models)} models instead of one")
    return models[0]


def _model_file(path: Path, include: Element) -> Path:
    """Return the model file of a folder: the last one that its manifest names."""
    if path.is_file():
        return path
    manifest = path / _MANIFEST
    if not manifest.is_file():
        return path / "model.sdf"
    named = [entry for entry in parse(read_source(manifest)).children("sdf") if entry.text]
    if not named or "/" in named[-1].text or named[-1].text.startswith("."):
        raise include.error(f"the manifest '{manifest}' names no file beside it")
    return path / named[-1].text


_MAX_DEPTH = 32
_MAX_MODELS = 1000


@dataclass(slots=True)
class _Model:
    """One model of a file or of a world, with the models nested in it.

    Attributes:
        element: Its element.
        name: The name of the model.
        frames: The poses of everything that has a name.
        canonical: Its canonical link.
        is_static: Whether it never moves.
        links: The links of this model and of nested ones, under their full names.
        joints: Likewise.
    """

    element: Element
    name: str
    frames: Frames
    canonical: str = ""
    is_static: bool = False
    links: list[LinkDescription] = field(default_factory=list)
    joints: list[SdfJoint] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Use:
    """One use of a model: where it is defined, or where it is included.

    Attributes:
        model: The `<model>`.
        user: The `<model>` itself, or the `<include>` that names and places it.
        outer: The scope around it.
        is_static: Whether it, or a model around it, is static.
        depth: How many models are around it.
    """

    model: Element
    user: Element
    outer: str
    is_static: bool
    depth: int

    @property
    def name(self) -> str:
        """Its name where it is used."""
        return self.user.text_of("name") or self.model.name() if self.user.tag == "include" else self.model.name()

    @property
    def scope(self) -> str:
        """The prefix of the names of its parts."""
        return self.outer + self.name + SCOPE

    @property
    def placement_frame(self) -> str | None:
        """The frame in it that its pose places, or None for the frame of the model."""
        if self.user.tag == "include" and (named := self.user.text_of("placement_frame")):
            return named
        return self.model.get("placement_frame")


def _collect_models(path_or_text: str | PathLike[str], packages: PackageFolders) -> list[_Model]:
    """Return the models of a file that are in no other model."""
    root = parse(read_source(path_or_text))
    if root.tag != "sdf":
        raise root.error("the outermost element of SDFormat is <sdf>", "Give an SDFormat file.")
    reader = _Reader(packages)
    found = list(reader.among(root, Frames()))
    for world in root.children("world"):
        frames = Frames()
        for frame in world.children("frame"):
            _place_frame(frame, "", frames)
        found += reader.among(world, frames)
    return found


@dataclass(slots=True)
class _Reader:
    """Reads models, and limits their number: a few files can include each other very often."""

    packages: PackageFolders
    read: int = 0

    def among(self, holder: Element, frames: Frames) -> Iterator[_Model]:
        """Read the models directly in a file or in a world."""
        for use in self._uses(holder, outer="", is_static=False, depth=0):
            model = _Model(use.user, use.name, frames)
            model.canonical = self._read(use, model)
            model.is_static = is_true(use.user.text_of("static")) or is_true(use.model.text_of("static"))
            yield model

    def _uses(self, holder: Element, *, outer: str, is_static: bool, depth: int) -> Iterator[_Use]:
        for user in holder.children():
            if user.tag in {"model", "include"}:
                self._count(user, depth)
                model = user if user.tag == "model" else _read_included(user, self._files(user))
                static = is_static or any(is_true(element.text_of("static")) for element in (user, model))
                yield _Use(model, user, outer, static, depth)

    def _count(self, user: Element, depth: int) -> None:
        self.read += 1
        if depth >= _MAX_DEPTH or self.read > _MAX_MODELS:
            raise user.error(
                f"at most {_MAX_MODELS} models are read, and {_MAX_DEPTH} in each other", "Split the file."
            )

    def _files(self, element: Element) -> FileFinder:
        path = element.source.path
        return FileFinder(self.packages, None if path is None else path.parent)

    def _read(self, use: _Use, into: _Model) -> str:
        """Read a model into `into`, and return its canonical link."""
        scope, frames = use.scope, into.frames
        links = self._links(use, into)
        for frame in use.model.children("frame"):
            _place_frame(frame, scope, frames)
        for joint in use.model.children("joint"):
            self._joint(SdfJoint(joint, scope, use.is_static), into)
        nested = self._uses(use.model, outer=scope, is_static=use.is_static, depth=use.depth + 1)
        links += [self._read(inner, into) for inner in nested]
        named = use.model.get("canonical_link")
        if not links and not named:
            raise use.model.error("it has no link")
        canonical = scope + named if named else links[0]
        _place_model(use, frames, canonical)
        return canonical

    def _links(self, use: _Use, into: _Model) -> list[str]:
        found = []
        for element in use.model.children("link"):
            name = use.scope + element.name()
            _place(element, name, into.frames, use.scope, base=MODEL, on=None)
            into.links.append(read_link(element, name, self._files(element)))
            found.append(name)
        return found

    def _joint(self, joint: SdfJoint, into: _Model) -> None:
        child = joint.end("child")
        _place(joint.element, joint.name, into.frames, joint.scope, base=child.removeprefix(joint.scope), on=child)
        into.joints.append(joint)


def _full_name(scope: str, name: str) -> str:
    """Return the full name of a frame; the frame of the model of a world is the world."""
    return WORLD if name == WORLD or (not scope and name == MODEL) else scope + name


def _place(element: Element, name: str, frames: Frames, scope: str, *, base: str, on: str | None) -> None:
    named = relative_to(element) or base
    frames.place(name, element, base=_full_name(scope, named), base_T_frame=pose_in(element), on=on)


def _place_frame(element: Element, scope: str, frames: Frames) -> None:
    attached_to = element.get("attached_to") or MODEL
    _place(element, scope + element.name(), frames, scope, base=attached_to, on=_full_name(scope, attached_to))


def _place_model(use: _Use, frames: Frames, canonical: str) -> None:
    own, placed = use.scope + MODEL, use.user if use.user.child("pose") is not None else use.model
    base_T_model = pose_in(placed)
    if use.placement_frame:
        inside = frames.below(own, use.scope + use.placement_frame, use.user)
        base_T_model = base_T_model @ inside.inverse()
    base = _full_name(use.outer, relative_to(placed) or MODEL)
    frames.place(own, use.user, base=base, base_T_frame=base_T_model, on=canonical)
    frames.place(own.removesuffix(SCOPE + MODEL), use.user, base=own, base_T_frame=Transform.identity(), on=canonical)


_IDENTITY = Transform.identity()


def _assemble(model: _Model) -> RobotDescription:
    """Describe a model as a tree, with the joints that close loops beside it."""
    joints = _geared(model, [joint.placed(model.frames) for joint in model.joints if not joint.is_gearbox])
    names = [link.name for link in model.links]
    on_world = any(WORLD in {joint.parent, joint.child} for joint in joints)
    first = WORLD if on_world else _top_link(model, joints)
    found = spanning_tree([WORLD, *names] if on_world else names, joints, first)
    _check_leaders(model, found)
    if len(found.roots) == 1 and not on_world:
        return _description(model, model.links, found, first)
    to_world = [_joint_to_world(model, root, joints) for root in found.roots if root != WORLD]
    whole = Spanning((*found.joints, *to_world), found.closures, (WORLD,))
    return _description(model, [LinkDescription(name=WORLD), *model.links], whole, WORLD)


def _geared(model: _Model, joints: list[JointDescription]) -> list[JointDescription]:
    """Return the joints, of which some follow others by gearboxes."""
    by_name = {joint.name: joint for joint in joints}
    for gearbox in model.joints:
        if gearbox.is_gearbox and not gearbox.is_static:
            name, mimic = gearbox.gear(model.frames, joints)
            if by_name[name].mimic is not None:
                raise gearbox.element.error(f"the joint '{name}' follows another one already", "Remove one.")
            by_name[name] = replace(by_name[name], mimic=mimic)
    return list(by_name.values())


def _top_link(model: _Model, joints: Sequence[JointDescription]) -> str:
    """Return the link above the canonical one that has no parent."""
    parents: dict[str, str] = {}
    for joint in joints:
        parents.setdefault(joint.child, joint.parent)
    link, seen = model.frames.link_of(model.canonical, model.element), set[str]()
    while link in parents and link not in seen:
        seen.add(link)
        link = parents[link]
    return link


def _joint_to_world(model: _Model, root: str, joints: Sequence[JointDescription]) -> JointDescription:
    """Return the joint between the world and a root: floating, or fixed in a static model."""
    name = f"{root}_in_{WORLD}"
    while any(joint.name == name for joint in joints):
        name += "_"
    world_T_root = model.frames.world_T(root, model.element)
    kind: JointKind = "fixed" if model.is_static else "floating"
    return JointDescription(name=name, kind=kind, parent=WORLD, child=root, parent_T_joint=world_T_root)


def _check_leaders(model: _Model, found: Spanning) -> None:
    elements = {joint.name: joint.element for joint in model.joints}
    known = {joint.name for joint in found.joints}
    follows = {joint.name: joint.mimic.joint for joint in found.joints if joint.mimic is not None}
    for name, leader in follows.items():
        if leader not in known:
            raise elements[name].error(f"it follows the joint '{leader}', which is not there or closes a loop")
    cycle = find_cycle(follows)
    if cycle is not None:
        raise elements[cycle[0]].error(f"joints follow each other in a cycle: {', '.join(cycle)}")


def _description(model: _Model, links: Sequence[LinkDescription], found: Spanning, root: str) -> RobotDescription:
    scope = model.name + SCOPE
    return RobotDescription(
        name=model.name,
        links=tuple(replace(link, name=link.name.removeprefix(scope)) for link in links),
        joints=tuple(_without_scope(joint, scope) for joint in found.joints),
        closures=tuple(_without_scope(joint, scope) for joint in found.closures),
        root=root.removeprefix(scope),
        origin_T_root=_IDENTITY if root == WORLD else model.frames.world_T(root, model.element),
    )


def _without_scope(joint: JointDescription, scope: str) -> JointDescription:
    """Return the joint with names relative to the model."""
    mimic = joint.mimic
    return replace(
        joint,
        name=joint.name.removeprefix(scope),
        parent=joint.parent.removeprefix(scope),
        child=joint.child.removeprefix(scope),
        mimic=None if mimic is None else replace(mimic, joint=mimic.joint.removeprefix(scope)),
    )
