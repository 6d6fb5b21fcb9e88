"""The XML of MJCF: files that include others, classes of defaults, and the settings of the compiler."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any, cast

import numpy as np

from armillary._core import Rotation, Transform
from armillary.formats._xml import Element, Source, name_hint, parse, read_source
from armillary.formats.descriptions import Triple

__all__ = ["Compiler", "Defaults", "MjElement", "read_sections", "towards"]

SECTIONS = (
    "compiler",
    "option",
    "size",
    "visual",
    "statistic",
    "default",
    "extension",
    "custom",
    "asset",
    "worldbody",
    "contact",
    "deformable",
    "equality",
    "tendon",
    "actuator",
    "sensor",
    "keyframe",
)
_ROOTS = ("mujoco", "mujocoinclude")
_MAX_DEPTH, _MAX_FILES = 32, 1000
_MAIN = "main"
_ZERO = (0.0, 0.0, 0.0)
_LETTERS = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


@dataclass(slots=True, eq=False)
class MjElement(Element):
    """One element of MJCF. Attributes that it does not have are those of its class of defaults.

    Attributes:
        defaults: Attributes of its class.
        parts: Its children, with those of included files.
    """

    defaults: Mapping[str, str] = field(default_factory=dict)
    parts: tuple[MjElement, ...] = ()

    def get(self, attribute: str) -> str | None:
        """The text of an attribute, or that of the defaults, or None."""
        value: str | None = self.xml.get(attribute)
        return self.defaults.get(attribute) if value is None else value

    def first_numbers(self, attribute: str, most: int, default: tuple[float, ...] = ()) -> tuple[float, ...]:
        """The numbers of an attribute, at most so many; for vectors of which the end may be left out."""
        value = self.get(attribute)
        if value is None:
            return default
        parts = value.split()
        if not 0 < len(parts) <= most:
            raise self.error(f"{attribute} has {len(parts)} numbers, and 1 to {most} are expected")
        return tuple(self.as_number(part, attribute) for part in parts)

    def flag(self, attribute: str, default: str) -> str:
        """The text of an attribute that is "true", "false" or "auto"."""
        return self.one_of((self.get(attribute) or default).strip(), ("true", "false", "auto"), attribute)


def read_sections(source: Source) -> tuple[MjElement, list[MjElement]]:
    """Return the outermost element, and its sections and those of the files it includes, in order.

    Raises:
        InvalidRobotFile: Something else is in it, or a file is included twice or is not found.
    """
    root = parse(source)
    if root.tag != "mujoco":
        raise root.error("the outermost element of MJCF is <mujoco>", "Give an MJCF file.")
    whole = _Includes(source, {source.path.resolve()} if source.path else set()).expanded(root, depth=0)
    for section in whole.parts:
        section.one_of(section.tag, SECTIONS, "section")
    return whole, list(whole.parts)


@dataclass(slots=True)
class _Includes:
    """Reads files that are included: each once, as MuJoCo does, so that they cannot multiply."""

    main: Source
    seen: set[Path]

    def expanded(self, element: Element, depth: int) -> MjElement:
        """Return an element in whose parts every `<include>` is replaced by what it includes."""
        return MjElement(element.xml, element.source, parts=tuple(self._parts(element, depth)))

    def _parts(self, element: Element, depth: int) -> Iterator[MjElement]:
        for child in element.children():
            if child.tag == "include":
                yield from self._parts(self._root_of(child, depth), depth + 1)
            else:
                yield self.expanded(child, depth)

    def _root_of(self, include: Element, depth: int) -> Element:
        name = include.required("file").strip()
        path = self._path(include, name)
        if depth >= _MAX_DEPTH or len(self.seen) >= _MAX_FILES:
            raise include.error(f"at most {_MAX_FILES} files are read, and {_MAX_DEPTH} in each other", "Join them.")
        if path.resolve() in self.seen:
            raise include.error(f"the file '{name}' is included for the second time", "Include each file once.")
        self.seen.add(path.resolve())
        root = parse(read_source(path))
        root.one_of(root.tag, _ROOTS, "outermost element of MJCF")
        return root

    def _path(self, include: Element, name: str) -> Path:
        """Return the file: beside the first file, as MuJoCo has it, or beside the one that includes it."""
        if self.main.path is None:
            raise include.error(f"the file '{name}' is included in a text", "Give the path of the file instead.")
        beside = [self.main.path.parent, *((include.source.path.parent,) if include.source.path else ())]
        found: Path | None = next((folder / name for folder in beside if (folder / name).is_file()), None)
        if found is None:
            raise include.error(f"the included file '{name}' is not found beside '{self.main.name}'")
        return found


@dataclass(slots=True)
class Defaults:
    """Classes of defaults: by class, then by tag, the attributes that elements of the class have."""

    classes: dict[str, dict[str, dict[str, str]]] = field(default_factory=lambda: {_MAIN: {}})

    def read(self, element: MjElement, above: str | None = None) -> None:
        """Read one `<default>`, and those in it, which have what is around them."""
        name = _MAIN if above is None else element.name("class")
        if above is None and (element.get("class") or _MAIN) != _MAIN:
            raise element.error("the outermost class of defaults is called 'main'", "Put it into <default>.")
        if above is not None:
            if name in self.classes:
                raise element.error(f"there is a class '{name}' already", "Rename one.")
            self.classes[name] = {tag: dict(values) for tag, values in self.classes[above].items()}
        own = self.classes[name]
        for child in element.parts:
            if child.tag != "default":
                own.setdefault(child.tag, {}).update(dict(child.xml.attrib))
        for child in element.parts:
            if child.tag == "default":
                self.read(child, name)

    def applied(self, element: MjElement, inherited: str | None, tag: str | None = None) -> MjElement:
        """Return an element with the defaults of its class, or of the class it inherits."""
        name = element.xml.get("class") or inherited or _MAIN
        if name not in self.classes:
            raise element.error(f"there is no class of defaults '{name}'", name_hint(name, self.classes))
        return replace(element, defaults=self.classes[name].get(tag or element.tag, {}))


@dataclass(frozen=True, slots=True)
class Compiler:
    """The settings of `<compiler>` that matter here: how numbers are meant, and where meshes are."""

    settings: Mapping[str, Any]

    @classmethod
    def of(cls, elements: list[MjElement]) -> Compiler:
        """Join the settings of all `<compiler>`; a later one wins."""
        found: dict[str, Any] = {}
        for element in elements:
            if (element.get("coordinate") or "local") != "local":
                hint = "Save it anew with MuJoCo 2.3.3 or older."
                raise element.error("global coordinates are no longer part of MJCF", hint)
            if element.flag("alignfree", "false") == "true":
                raise element.error("alignfree moves the frames of bodies to their centres of mass", "Remove it.")
            element.one_of(element.get("angle") or "degree", ("degree", "radian"), "unit of angles")
            sequence = element.get("eulerseq") or "xyz"
            if len(sequence) != len("xyz") or not set(sequence.lower()) <= set("xyz"):
                raise element.error(f"eulerseq is '{sequence}', and three of x, y, z are expected")
            element.flag("autolimits", "true")
            found.update(element.xml.attrib)
        return cls(found)

    @property
    def radians(self) -> float:
        """The factor from an angle of the file to radians."""
        return 1.0 if self.settings.get("angle") == "radian" else math.pi / 180.0

    @property
    def has_automatic_limits(self) -> bool:
        """Whether a joint with a range is limited by it."""
        return bool(self.settings.get("autolimits", "true") == "true")

    def mesh_uri(self, file: str) -> str:
        """Return where a mesh is, from the first file on."""
        inside = PurePosixPath(file).name if self.settings.get("strippath") == "true" else file
        folder = self.settings.get("meshdir", self.settings.get("assetdir", ""))
        return str(PurePosixPath(folder) / inside) if folder else inside

    def pose(self, element: MjElement) -> Transform:
        """Return the transform of an element with `pos` and one of the five forms of an orientation."""
        xyz = element.bounded(cast("Triple", element.numbers("pos", 3, _ZERO)), "a place")
        return Transform.from_xyz_wxyz(xyz=xyz, wxyz=self.rotation(element).wxyz)

    def rotation(self, element: MjElement) -> Rotation:
        """Return the orientation of an element."""
        if element.get("axisangle") is not None:
            *axis, angle = element.numbers("axisangle", 4)
            return _about(element.direction(cast("Triple", tuple(axis))), angle * self.radians)
        if element.get("euler") is not None:
            return self._from_euler(element)
        if element.get("xyaxes") is not None:
            return _from_axes(element)
        if element.get("zaxis") is not None:
            return towards(element, cast("Triple", element.numbers("zaxis", 3)))
        w, x, y, z = element.numbers("quat", 4, (1.0, 0.0, 0.0, 0.0))
        length = math.hypot(w, x, y, z)
        if not 0.0 < length < math.inf:
            raise element.error(f"the quaternion {(w, x, y, z)} turns nothing")
        return Rotation.from_wxyz([w / length, x / length, y / length, z / length])

    def _from_euler(self, element: MjElement) -> Rotation:
        """Return the product of three rotations; capital letters are axes that stay."""
        whole = Rotation.identity()
        angles = element.bounded(element.numbers("euler", 3), "an angle")
        for letter, angle in zip(self.settings.get("eulerseq", "xyz"), angles, strict=True):
            turned = _about(_LETTERS[letter.lower()], angle * self.radians)
            whole = whole @ turned if letter.islower() else turned @ whole
        return whole


def towards(element: MjElement, z: Triple) -> Rotation:
    """Return the shortest rotation that takes z to a direction."""
    x, y, up = element.direction(z)
    sine = math.hypot(x, y)
    axis = (1.0, 0.0, 0.0) if sine == 0.0 else (-y / sine, x / sine, 0.0)
    return _about(axis, math.atan2(sine, up))


def _from_axes(element: MjElement) -> Rotation:
    six = np.array(element.numbers("xyaxes", 6))
    x = np.array(element.direction(cast("Triple", tuple(six[:3]))))
    y = np.array(element.direction(cast("Triple", tuple(six[3:] - x * (x @ six[3:])))))
    return Rotation.from_matrix(np.column_stack([x, y, np.cross(x, y)]))


def _about(axis: Triple, angle: float) -> Rotation:
    half = 0.5 * angle
    return Rotation.from_wxyz([math.cos(half), *(math.sin(half) * entry for entry in axis)])
