"""What is in a file of SDFormat: the links, joints and frames of each model, nested and included ones too."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from os import PathLike

from armillary._core import Transform
from armillary.formats._sdf_frames import MODEL, SCOPE, WORLD, Frames
from armillary.formats._sdf_including import included
from armillary.formats._sdf_joints import SdfJoint
from armillary.formats._sdf_links import link_of
from armillary.formats._sdf_values import is_true, pose_in, relative_to
from armillary.formats._xml import Element, parsed, source_of
from armillary.formats.descriptions import LinkDescription
from armillary.formats.packages import FileFinder, PackageFolders

__all__ = ["SdfModel", "models_of"]

_DEEPEST = 32
_MOST_MODELS = 1000


@dataclass(slots=True)
class SdfModel:
    """One model of a file or of a world, with everything that is in it.

    Attributes:
        element: Where it stands.
        name: Of the model.
        frames: Where everything is that has a name.
        canonical: The link that stands for it.
        is_static: Whether it stands still.
        links: Of this model and of those in it, under their whole names.
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
    """A model where it is used.

    Attributes:
        model: The `<model>`.
        user: The model itself, or the `<include>` that brings it here: who says where it is.
        outer: The scope around it.
        is_static: Whether what is around it stands still.
        depth: How many models are around it.
    """

    model: Element
    user: Element
    outer: str
    is_static: bool
    depth: int

    @property
    def name(self) -> str:
        """What it is called here."""
        return self.user.text_of("name") or self.model.name() if self.user.tag == "include" else self.model.name()

    @property
    def scope(self) -> str:
        """What the names of its parts begin with."""
        return self.outer + self.name + SCOPE

    @property
    def placement_frame(self) -> str | None:
        """The part of it that its pose places, where that is not the model's own frame."""
        if self.user.tag == "include" and (named := self.user.text_of("placement_frame")):
            return named
        return self.model.get("placement_frame")


def models_of(path_or_text: str | PathLike[str], packages: PackageFolders) -> list[SdfModel]:
    """Every model that is in no other one."""
    root = parsed(source_of(path_or_text))
    if root.tag != "sdf":
        raise root.refused("the outermost element of SDFormat is <sdf>", "Give an SDFormat file.")
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
    """Reads models into one collection; counts them, because a few files can include each other very often."""

    packages: PackageFolders
    read: int = 0

    def among(self, holder: Element, frames: Frames) -> Iterator[SdfModel]:
        """The models directly in a file or in a world."""
        for use in self._uses(holder, outer="", is_static=False, depth=0):
            model = SdfModel(use.user, use.name, frames)
            model.canonical = self._read(use, model)
            model.is_static = is_true(use.user.text_of("static")) or is_true(use.model.text_of("static"))
            yield model

    def _uses(self, holder: Element, *, outer: str, is_static: bool, depth: int) -> Iterator[_Use]:
        for user in holder.children():
            if user.tag in {"model", "include"}:
                self._count(user, depth)
                model = user if user.tag == "model" else included(user, self._files(user))
                static = is_static or any(is_true(element.text_of("static")) for element in (user, model))
                yield _Use(model, user, outer, static, depth)

    def _count(self, user: Element, depth: int) -> None:
        self.read += 1
        if depth >= _DEEPEST or self.read > _MOST_MODELS:
            raise user.refused(
                f"at most {_MOST_MODELS} models are read, and {_DEEPEST} in each other", "Split the file."
            )

    def _files(self, element: Element) -> FileFinder:
        path = element.source.path
        return FileFinder(self.packages, None if path is None else path.parent)

    def _read(self, use: _Use, into: SdfModel) -> str:
        """Read all of it, and give the link that stands for it."""
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
            raise use.model.refused("it has no link")
        canonical = scope + named if named else links[0]
        _place_model(use, frames, canonical)
        return canonical

    def _links(self, use: _Use, into: SdfModel) -> list[str]:
        found = []
        for element in use.model.children("link"):
            name = use.scope + element.name()
            _place(element, name, into.frames, use.scope, base=MODEL, on=None)
            into.links.append(link_of(element, name, self._files(element)))
            found.append(name)
        return found

    def _joint(self, joint: SdfJoint, into: SdfModel) -> None:
        child = joint.end("child")
        _place(joint.element, joint.name, into.frames, joint.scope, base=child.removeprefix(joint.scope), on=child)
        into.joints.append(joint)


def _whole(scope: str, name: str) -> str:
    """A name as it is known everywhere; the world has no model of its own."""
    return WORLD if name == WORLD or (not scope and name == MODEL) else scope + name


def _place(element: Element, name: str, frames: Frames, scope: str, *, base: str, on: str | None) -> None:
    named = relative_to(element) or base
    frames.place(name, element, base=_whole(scope, named), base_T_frame=pose_in(element), on=on)


def _place_frame(element: Element, scope: str, frames: Frames) -> None:
    attached_to = element.get("attached_to") or MODEL
    _place(element, scope + element.name(), frames, scope, base=attached_to, on=_whole(scope, attached_to))


def _place_model(use: _Use, frames: Frames, canonical: str) -> None:
    own, placed = use.scope + MODEL, use.user if use.user.child("pose") is not None else use.model
    base_T_model = pose_in(placed)
    if use.placement_frame:
        inside = frames.below(own, use.scope + use.placement_frame, use.user)
        base_T_model = base_T_model @ inside.inverse()
    base = _whole(use.outer, relative_to(placed) or MODEL)
    frames.place(own, use.user, base=base, base_T_frame=base_T_model, on=canonical)
    frames.place(own.removesuffix(SCOPE + MODEL), use.user, base=own, base_T_frame=Transform.identity(), on=canonical)
