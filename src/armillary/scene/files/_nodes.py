"""One node from a file, as the changes that make it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from armillary._core import ROOT_NODE, NodeId, Pose
from armillary.errors import ArmillaryError
from armillary.scene._context import id_of_frame
from armillary.scene._payloads import connection_payload
from armillary.scene.changes import (
    NOW,
    AddConnection,
    AddFrameNode,
    AddGeometry,
    AddGroup,
    AddParent,
    Change,
    Now,
    RestoredTransform,
    RestoredUncertainTransform,
    SetAttributes,
    SetTransform,
)
from armillary.scene.files._fields import Field
from armillary.scene.files._format import DEEPEST_LIST, INFINITIES, KINDS, TRANSFORMS
from armillary.shapes import Levels, Shape
from armillary.transforms import Transform, check_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from armillary.scene._context import ChangeContext

__all__ = ["LoadedNode", "PlacedAt", "attributes_of", "checked", "loaded_node", "pose_in"]

Arrays = Mapping[str, "NDArray[Any]"]


@dataclass(frozen=True, slots=True)
class LoadedNode:
    """A node, and how it is made.

    Attributes:
        make: The changes that put it into a first parent.
        at: Since when it is there.
        frame: The name of the frame it stands for, if it does.
    """

    id: NodeId
    kind: str
    attributes: dict[str, Any]
    make: Callable[[NodeId], Iterator[Change]]
    at: int | Now = NOW
    frame: str | None = None

    def added(self, parent: NodeId) -> Iterator[Change]:
        """The changes that put it into a first parent."""
        return self.make(parent)


def loaded_node(field: Field, arrays: Arrays) -> LoadedNode:
    """A node of any kind."""
    kind = field.mapping().get("kind")
    if kind is None or kind.value not in KINDS:
        raise (field if kind is None else kind).refused(f"a kind is expected, one of {', '.join(KINDS)}")
    read = _transform if kind.value in TRANSFORMS else _READERS[kind.value]
    return read(field, arrays)


_COMMON = ("id", "kind", "attributes")


def attributes_of(field: Field) -> dict[str, Any]:
    """Names to values that an attribute can have."""
    found = {}
    for key, value in field.mapping().items():
        if not type(field)(key, value.file, field, key).text():
            raise value.refused("the name of an attribute is not empty")
        found[key] = _attribute(value, DEEPEST_LIST)
    return found


def _attribute(field: Field, deepest: int) -> Any:
    if isinstance(field.value, str):
        return field.text()
    if isinstance(field.value, list):
        if deepest == 0:
            raise field.refused(f"lists may be nested {DEEPEST_LIST} deep")
        return [_attribute(item, deepest - 1) for item in field.items()]
    if isinstance(field.value, dict):
        word = field.members(("float",))["float"]
        if not isinstance(word.value, str) or word.value not in INFINITIES:
            raise word.refused(f"one of {', '.join(INFINITIES)} is expected")
        return INFINITIES[word.value]
    if isinstance(field.value, bool):
        return field.value
    return field.integer() if isinstance(field.value, int) else field.number()


# -- Groups and frames


def _group(field: Field, _: Arrays) -> LoadedNode:
    parts = field.members((*_COMMON, "at_ns"))
    node, said, at = parts["id"].node(), attributes_of(parts["attributes"]), parts["at_ns"].stamp()

    def make(parent: NodeId) -> Iterator[Change]:
        yield AddGroup(parent=parent, attributes=said, at=at, id=node)

    return LoadedNode(node, "group", said, make, at)


def _frame(field: Field, _: Arrays) -> LoadedNode:
    parts = field.members((*_COMMON, "frame"))
    node, said = parts["id"].node(), attributes_of(parts["attributes"])
    name = checked(parts["frame"], lambda: check_name(parts["frame"].text()))
    if id_of_frame(name) != node:
        raise parts["id"].refused(f"this is not the id of the frame '{name}'")

    def make(parent: NodeId) -> Iterator[Change]:
        yield AddFrameNode(name)
        if said:
            yield SetAttributes(node, said)
        if parent != ROOT_NODE:
            yield AddParent(node, parent)

    return LoadedNode(node, "frame", said, make, frame=name)


# -- Transforms


@dataclass(frozen=True, slots=True)
class PlacedAt:
    """A pose, how sure it is, and since or for when."""

    transform: Transform
    covariance: list[list[float]] | None
    at: int | None


def _transform(field: Field, _: Arrays) -> LoadedNode:
    parts = field.members(_COMMON, ("fixed", "samples"))
    if "fixed" not in parts and "samples" not in parts:
        raise field.refused("a transform has 'fixed', 'samples', or both")
    node, said, kind = parts["id"].node(), attributes_of(parts["attributes"]), parts["kind"].value
    fixed = [_fixed(parts["fixed"])] if "fixed" in parts else []
    first, *later = fixed + (_samples(parts["samples"]) if "samples" in parts else [])

    def make(parent: NodeId) -> Iterator[Change]:
        add = RestoredTransform if kind == "transform" else RestoredUncertainTransform
        yield add(
            parent=parent,
            transform=first.transform,
            covariance=first.covariance,  # type: ignore[arg-type]  # see the two classes
            at=first.at,
            attributes=said,
            id=node,
        )
        for sample in later:
            yield SetTransform(node, sample.transform, sample.covariance, NOW if sample.at is None else sample.at)

    return LoadedNode(node, kind, said, make, NOW if first.at is None else first.at)


def _fixed(field: Field) -> PlacedAt:
    return pose_in(field, field.members(("xyz_m", "wxyz"), ("covariance",)), None)


def _samples(field: Field) -> list[PlacedAt]:
    samples: list[PlacedAt] = []
    for item in field.items():
        parts = item.members(("at_ns", "xyz_m", "wxyz"), ("covariance",))
        at = parts["at_ns"].stamp()
        if samples and at <= (samples[-1].at or 0):
            raise parts["at_ns"].refused("the stamps of samples increase")
        samples.append(pose_in(item, parts, at))
    if not samples:
        raise field.refused("at least one sample is expected")
    return samples


def pose_in(field: Field, parts: Mapping[str, Field], at: int | None) -> PlacedAt:
    """Where something is, from the fields `xyz_m`, `wxyz` and perhaps `covariance`."""
    xyz, wxyz = parts["xyz_m"].numbers(3), parts["wxyz"].numbers(4)
    transform = checked(parts["wxyz"], lambda: Transform.from_xyz_wxyz(xyz=xyz, wxyz=wxyz))
    covariance = None
    if "covariance" in parts:
        covariance = [row.numbers(6) for row in parts["covariance"].items(6)]
        checked(field, lambda: Pose(of="node", in_frame="parent", transform=transform, covariance=covariance))
    return PlacedAt(transform, covariance, at)


# -- Geometry


def _geometry(field: Field, arrays: Arrays) -> LoadedNode:
    parts = field.members((*_COMMON, "at_ns", "levels"))
    node, said = parts["id"].node(), attributes_of(parts["attributes"])
    at = None if parts["at_ns"].value is None else parts["at_ns"].stamp()
    shapes = tuple(_shape(level, arrays) for level in parts["levels"].items())
    levels = checked(parts["levels"], lambda: Levels(shapes))

    def make(parent: NodeId) -> Iterator[Change]:
        finest, *coarser = levels
        yield AddGeometry(parent=parent, shape=finest, levels=tuple(coarser), attributes=said, at=at, id=node)

    return LoadedNode(node, "geometry", said, make, NOW if at is None else at)


def _shape(field: Field, arrays: Arrays) -> Shape:
    parts = field.members(("kind", "fields", "arrays"))
    kind, plain = parts["kind"].text(), parts["fields"].mapping()
    if kind not in Shape.kinds():
        reason = f"no kind of shape is named '{kind}' here; there are {', '.join(Shape.kinds())}"
        raise parts["kind"].refused(reason, "import the module that defines it, and load the file again")
    named = {name: _array(ref, arrays) for name, ref in parts["arrays"].mapping().items()}
    values = {name: value.value for name, value in plain.items()}
    shape: Shape = checked(field, lambda: Shape.of_kind(kind, values, named))
    return shape


def _array(field: Field, arrays: Arrays) -> NDArray[Any]:
    name = field.text()
    if name not in arrays:
        raise field.refused(f"there is no array '{name}' in the file beside")
    return arrays[name]


# -- Connections


@dataclass(frozen=True, kw_only=True)
class _RestoredConnection(AddConnection):
    """Its ends may be gone, as they may be where it was saved."""

    def wish(self, context: ChangeContext) -> tuple[Any, ...]:
        payload = connection_payload(tuple(self.sources), tuple(self.targets), self.start, self.end)
        parent, at = context.node(self.parent), context.at(self.at)
        return ("add_node", "connection", self.id, parent, self.attributes, at, payload, None)


def _connection(field: Field, _: Arrays) -> LoadedNode:
    parts = field.members((*_COMMON, "at_ns", "sources", "targets", "start_ns", "end_ns"))
    node, said, at = parts["id"].node(), attributes_of(parts["attributes"]), parts["at_ns"].stamp()
    sources, targets = (tuple(end.node() for end in parts[name].items()) for name in ("sources", "targets"))
    start, end = (None if parts[name].value is None else parts[name].stamp() for name in ("start_ns", "end_ns"))
    checked(parts["end_ns"], partial(connection_payload, sources, targets, start, end))

    def make(parent: NodeId) -> Iterator[Change]:
        yield _RestoredConnection(
            parent=parent, sources=sources, targets=targets, start=start, end=end, attributes=said, at=at, id=node
        )

    return LoadedNode(node, "connection", said, make, at)


def checked(field: Field, make: Callable[[], Any]) -> Any:
    """What the library refuses is refused with the place in the file."""
    try:
        return make()
    except (ArmillaryError, TypeError, ValueError, OverflowError) as error:
        raise field.refused(str(error).rstrip(".")) from None


_READERS = {"group": _group, "frame": _frame, "geometry": _geometry, "connection": _connection}
