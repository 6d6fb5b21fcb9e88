"""What differs between two scenes: nodes, containment, attributes, shapes and poses, as values and as text."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, overload

import numpy as np

from armillary._core import ROOT_NODE, NodeId
from armillary.errors import AmbiguousPath, ArmillaryError, InvalidArgument
from armillary.errors.format import list_names, short_repr
from armillary.stamps import LATEST, Latest
from armillary.store import Query
from armillary.store.nodes import MOUNT, is_of_a_node
from armillary.transforms import Transform

if TYPE_CHECKING:
    from armillary._core import SceneView
    from armillary.fusion.policies import AnyPolicy
    from armillary.shapes import Shape
    from armillary.store import Store
    from armillary.store.payloads import Connection

__all__ = [
    "Added",
    "AttributeChanged",
    "ConnectionChanged",
    "ContainmentChanged",
    "Difference",
    "GeometryChanged",
    "Moved",
    "Removed",
    "Side",
    "Tolerance",
    "difference_between",
]

Thing = NodeId | str
"""A node by its id, or a frame that is no node's by its name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _OnlyInOne:
    """A node or a frame that only one of the scenes has.

    Attributes:
        thing: The id of the node, or the name of a frame that is no node's.
        name: What people call it: the name of its frame, else its attribute `name`, else the beginning of its id.
        kind: The kind of the node; "frame" for a frame.
    """

    sign: ClassVar[str]
    thing: Thing
    name: str
    kind: str

    def __str__(self) -> str:
        return f"{self.sign} {self.name}  [{self.kind.replace('_', ' ')}]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Added(_OnlyInOne):
    """A node or a frame that only the second scene has: `thing`, `name`, and `kind`, "frame" for a frame."""

    sign: ClassVar[str] = "+"


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed(_OnlyInOne):
    """A node or a frame that only the first scene has: `thing`, `name`, and `kind`, "frame" for a frame."""

    sign: ClassVar[str] = "-"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Moved:
    """A node or a frame with another pose.

    Attributes:
        thing: The id of the node, or the name of a frame that is no node's.
        name: What people call it.
        in_frame: The frame that both poses are seen from.
        before: Its pose in the first scene; None where that is not known.
        after: Its pose in the second scene; None where that is not known.
        distance_m: How far it moved [m]; None where one pose is not known.
        angle_rad: How much it turned [rad]; None where one pose is not known.
        carried_by: What it moved with: something that moved, in which its pose is the same; None where it moved itself.
    """

    thing: Thing
    name: str
    in_frame: str
    before: Transform | None
    after: Transform | None
    distance_m: float | None
    angle_rad: float | None
    carried_by: str | None = None

    def __str__(self) -> str:
        if self.before is None or self.after is None:
            known = "no longer known" if self.after is None else "known only now"
            return f"> {self.name}: its pose in '{self.in_frame}' is {known}"
        turned = f", turned {math.degrees(self.angle_rad or 0.0):.4g} deg" if self.angle_rad else ""
        with_it = f", with {self.carried_by}" if self.carried_by is not None else ""
        places = f"{_position(self.before)} -> {_position(self.after)} in '{self.in_frame}'"
        return f"> {self.name}: moved {self.distance_m:.4g} m{turned}{with_it}, {places}"


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributeChanged:
    """An attribute with another value.

    Attributes:
        thing: The node.
        name: What people call it.
        key: The name of the attribute.
        before: Its value in the first scene; None where it has none.
        after: Its value in the second scene; None where it has none.
    """

    thing: NodeId
    name: str
    key: str
    before: Any
    after: Any

    def __str__(self) -> str:
        return f"~ {self.name}: {self.key} {_value(self.before)} -> {_value(self.after)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainmentChanged:
    """A node that is in other things.

    Attributes:
        thing: The node.
        name: What people call it.
        before: What contains it in the first scene, by name.
        after: What contains it in the second scene, by name.
    """

    thing: NodeId
    name: str
    before: tuple[str, ...]
    after: tuple[str, ...]

    def __str__(self) -> str:
        return f"~ {self.name}: in {_listed(self.before)} -> in {_listed(self.after)}"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GeometryChanged:
    """A node with another shape.

    Attributes:
        thing: The node.
        name: What people call it.
        before: Its finest shape in the first scene.
        after: Its finest shape in the second scene.
    """

    thing: NodeId
    name: str
    before: Shape
    after: Shape

    def __str__(self) -> str:
        return f"~ {self.name}: shape {short_repr(self.before)} -> {short_repr(self.after)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionChanged:
    """A connection with other ends, or for another time.

    Attributes:
        thing: The node.
        name: What people call it.
        before: What it connects in the first scene, and when.
        after: What it connects in the second scene, and when.
    """

    thing: NodeId
    name: str
    before: Connection
    after: Connection

    def __str__(self) -> str:
        return f"~ {self.name}: connects other things, or for another time"


_Only = TypeVar("_Only", Added, Removed)
Entry = Added | Removed | Moved | AttributeChanged | ContainmentChanged | GeometryChanged | ConnectionChanged


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Difference(Sequence[Thing]):
    """What differs between two scenes; `print` shows it. It is false, and equal to `[]`, where nothing differs.

    As a sequence it has what differs, each thing once: ids of nodes, and names of frames that are no node's.

    Attributes:
        added: What only the second scene has.
        removed: What only the first scene has.
        moved: What has another pose.
        attributes: Attributes with another value.
        containment: Nodes that are in other things.
        geometry: Nodes with another shape.
        connections: Connections with other ends, or for another time.
    """

    added: tuple[Added, ...] = ()
    removed: tuple[Removed, ...] = ()
    moved: tuple[Moved, ...] = ()
    attributes: tuple[AttributeChanged, ...] = ()
    containment: tuple[ContainmentChanged, ...] = ()
    geometry: tuple[GeometryChanged, ...] = ()
    connections: tuple[ConnectionChanged, ...] = ()
    _things: tuple[Thing, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_things", tuple(dict.fromkeys(entry.thing for entry in self.entries())))

    def entries(self) -> Iterator[Entry]:
        """Yield all entries: what was added, removed, moved, then what changed otherwise."""
        yield from self.added
        yield from self.removed
        yield from self.moved
        yield from self.containment
        yield from self.attributes
        yield from self.geometry
        yield from self.connections

    def of(self, thing: Thing) -> tuple[Entry, ...]:
        """Return the entries about one node or frame."""
        return tuple(entry for entry in self.entries() if entry.thing == thing)

    @overload
    def __getitem__(self, index: int) -> Thing: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Thing, ...]: ...
    def __getitem__(self, index: int | slice) -> Thing | tuple[Thing, ...]:
        return self._things[index]

    def __len__(self) -> int:
        return len(self._things)

    def __eq__(self, other: object) -> bool:
        return list(self._things) == list(other) if isinstance(other, Sequence) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        carried = [entry for entry in self.moved if entry.carried_by is not None]
        lines = [str(entry) for entry in self.entries() if entry not in carried]
        if carried:
            lines.append(f"> moved with these: {list_names([entry.name for entry in carried])}")
        return "\n".join(lines) if lines else "no difference"

    def as_fields(self) -> dict[str, list[dict[str, Any]]]:
        """Return everything as lists, texts and numbers, for JSON."""
        names = ("added", "removed", "moved", "attributes", "containment", "geometry", "connections")
        return {name: [_fields(entry) for entry in getattr(self, name)] for name in names}


# -- How two scenes are compared


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far poses may be apart and still be equal.

    Attributes:
        distance_m: Between origins [m].
        angle_rad: Between orientations [rad].
    """

    distance_m: float = 1e-3
    angle_rad: float = 1e-3

    def __post_init__(self) -> None:
        for name, value in (("tolerance_m", self.distance_m), ("tolerance_rad", self.angle_rad)):
            is_number = isinstance(value, int | float | np.floating | np.integer) and not isinstance(value, bool)
            if not is_number or not value >= 0.0:
                raise InvalidArgument(f"{name} must be a number that is not negative, got {value!r}.", value)

    def differs(self, before: Transform, after: Transform) -> tuple[float, float] | None:
        """Return how far and by which angle two poses are apart; None where both are within the tolerance."""
        distance_m = float(np.linalg.norm(after.translation - before.translation))
        angle_rad = float(np.linalg.norm((before.rotation.inverse() @ after.rotation).log()))
        is_equal = distance_m <= self.distance_m and angle_rad <= self.angle_rad
        return None if is_equal else (distance_m, angle_rad)


@dataclass(frozen=True, slots=True)
class Side:
    """One of two scenes that are compared.

    Attributes:
        store: Answers for poses.
        view: The nodes.
        at: The instant of the poses [ns], or `LATEST`.
        is_past: Whether the nodes are those of a past instant.
    """

    store: Store
    view: SceneView
    at: int | Latest = LATEST
    is_past: bool = False

    def nodes(self) -> list[NodeId]:
        """All nodes, also those of roots that are not mounted."""
        roots = [ROOT_NODE, *self.view.remote_roots()]
        return list(dict.fromkeys(node for root in roots for node in self.view.subtree(root)))

    def name(self, thing: Thing) -> str:
        """What people call a thing."""
        return thing if isinstance(thing, str) else node_name(self.store, self.view, thing)


def node_name(store: Store, view: SceneView, node: NodeId) -> str:
    """Return what people call a node: the name of its own frame, else its attribute `name`, else its first digits."""
    if node == ROOT_NODE:
        return store.root_frame
    if not view.contains(node):
        return str(node)[:8]
    frame = view.frame(node) if _has_own_frame(view, node) else str(node)
    name = view.attributes(node).get("name")
    if frame != str(node):
        return frame
    return name if isinstance(name, str) and name else str(node)[:8]


def _has_own_frame(view: SceneView, node: NodeId) -> bool:
    """Whether a node has a frame of its own, and is not in that of what contains it."""
    return view.frame(node) not in {view.frame(parent) for parent in view.parents(node)}


def difference_between(
    before: Side, after: Side, *, tolerance: Tolerance, outside: str, policy: AnyPolicy
) -> Difference:
    """Return what differs between two scenes."""
    first, second = _Places(before, outside, policy), _Places(after, outside, policy)
    changed = [node for node in _candidates(before, after) if before.view.contains(node) and after.view.contains(node)]
    attributes, containment, geometry, connections = _changes(before, after, changed)
    return Difference(
        added=_only_in(second, first, Added),
        removed=_only_in(first, second, Removed),
        moved=tuple(_moves(first, second, tolerance)),
        attributes=tuple(attributes),
        containment=tuple(containment),
        geometry=tuple(geometry),
        connections=tuple(connections),
    )


def _only_in(one: _Places, other: _Places, entry: type[_Only]) -> tuple[_Only, ...]:
    """Return the things that one scene has and the other has not, or as another kind: the id was used again."""
    return tuple(
        entry(thing=thing, name=one.side.name(thing), kind=kind)
        for thing, kind in one.things.items()
        if other.things.get(thing) != kind
    )


def _candidates(before: Side, after: Side) -> list[NodeId]:
    """Return the nodes that may differ: of two present scenes those whose digests do, else all."""
    if before.is_past or after.is_past:
        return list(dict.fromkeys([*before.nodes(), *after.nodes()]))
    return before.view.difference(after.view)[0]


def _changes(
    before: Side, after: Side, nodes: Sequence[NodeId]
) -> tuple[list[AttributeChanged], list[ContainmentChanged], list[GeometryChanged], list[ConnectionChanged]]:
    attributes: list[AttributeChanged] = []
    containment: list[ContainmentChanged] = []
    geometry: list[GeometryChanged] = []
    connections: list[ConnectionChanged] = []
    for node in nodes:
        about: dict[str, Any] = {"thing": node, "name": after.name(node)}
        old, new = before.view.attributes(node), after.view.attributes(node)
        attributes += [
            AttributeChanged(**about, key=key, before=old.get(key), after=new.get(key))
            for key in dict.fromkeys([*old, *new])
            if old.get(key) != new.get(key)
        ]
        above, above_now = before.view.parents(node), after.view.parents(node)
        if set(above) != set(above_now):
            named = tuple(map(before.name, above)), tuple(map(after.name, above_now))
            containment.append(ContainmentChanged(**about, before=named[0], after=named[1]))
        was, now = before.view.payload(node), after.view.payload(node)
        kinds = before.view.kind(node), after.view.kind(node)
        if kinds == ("geometry", "geometry") and was.shapes != now.shapes:
            geometry.append(GeometryChanged(**about, before=was[0], after=now[0]))
        if kinds == ("connection", "connection") and was != now:
            connections.append(ConnectionChanged(**about, before=was, after=now))
    return attributes, containment, geometry, connections


class _Places:
    """Where the things of one scene are, as far as it is known.

    Attributes:
        side: The scene.
        things: The kind of each thing; "frame" for a frame that is no node's.
        poses: The frame that a thing is seen from, and its pose in it.
        parents: The thing that a thing is placed in.
    """

    def __init__(self, side: Side, outside: str, policy: AnyPolicy) -> None:
        self.side = side
        self.things: dict[Thing, str] = {node: side.view.kind(node) for node in side.nodes() if node != ROOT_NODE}
        self._query = Query(at=side.at, outside=outside, policy=policy)
        own = [node for node in self.things if isinstance(node, NodeId) and _has_own_frame(side.view, node)]
        self._thing_of: dict[str, Thing] = {side.view.frame(node): node for node in own}
        placed = side.store.parents(side.at)
        made = {str(node) for node in own} | set(self._thing_of)
        for frame in placed:
            is_mount = frame.endswith(MOUNT) and frame.removesuffix(MOUNT) in made
            if (
                frame not in self._thing_of
                and frame != side.store.root_frame
                and not is_mount
                and not is_of_a_node(side.store.frame_key(frame))
            ):
                self._thing_of[frame] = frame
                self.things[frame] = "frame"
        self.parents = {
            thing: self._thing_of.get(placed[frame][0].removesuffix(MOUNT))  # type: ignore[index]
            for frame, thing in self._thing_of.items()
            if placed.get(frame) is not None
        }
        self.poses: dict[Thing, tuple[str, Transform]] = dict(self._found(placed))

    def _found(self, placed: Mapping[str, tuple[str, str] | None]) -> Iterator[tuple[Thing, tuple[str, Transform]]]:
        """Yield the poses in the root frame; of frames that are not connected to it, in the root of their tree."""
        root = self.side.store.root_frame
        rest = dict(self._thing_of)
        if root in placed:
            yield from self._seen_from(root, rest)
        for frame in {_top(frame, placed) for frame in rest}:
            if frame != root:
                yield from self._seen_from(frame, rest)

    def _seen_from(self, root: str, rest: dict[str, Thing]) -> Iterator[tuple[Thing, tuple[str, Transform]]]:
        """Yield the poses of frames in a root, and take those frames out of `rest`."""
        query = Query(at=self.side.at, outside=self._query.outside)
        seen = self.side.store.snapshot(root, query)
        for frame, thing in list(rest.items()):
            transform = seen.get(frame)
            if transform is None and isinstance(seen.missing.get(frame), AmbiguousPath):
                transform = self._chosen(frame, root)
            if transform is not None:
                del rest[frame]
                if frame != root:
                    yield thing, (root, transform)

    def _chosen(self, frame: str, root: str) -> Transform | None:
        """Return the pose of a contested frame, as the policy chooses it."""
        try:
            return self.side.store.pose(of=frame, in_frame=root, **self._query.keywords).transform
        except InvalidArgument:
            raise
        except ArmillaryError:
            return None


def _moves(first: _Places, second: _Places, tolerance: Tolerance) -> list[Moved]:
    """Return what has another pose, what moved by itself before what it carried."""
    found: dict[Thing, Moved] = {}
    for thing in [thing for thing in second.things if thing in first.things]:
        old, new = first.poses.get(thing), second.poses.get(thing)
        move = _move(second.side.name(thing), thing, old, new, tolerance)
        if move is not None:
            found[thing] = move
    return sorted(
        (_with_carrier(move, found, first, second, tolerance) for move in found.values()),
        key=lambda move: move.carried_by is not None,
    )


def _move(
    name: str,
    thing: Thing,
    old: tuple[str, Transform] | None,
    new: tuple[str, Transform] | None,
    tolerance: Tolerance,
) -> Moved | None:
    if old is None and new is None:
        return None
    about: dict[str, Any] = {"thing": thing, "name": name, "distance_m": None, "angle_rad": None}
    if old is None or new is None:
        seen_from, transform = old or new  # type: ignore[misc]
        before, after = (None, transform) if old is None else (transform, None)
        return Moved(**about, in_frame=seen_from, before=before, after=after)
    if old[0] != new[0]:  # in trees of different roots
        return Moved(**about, in_frame=new[0], before=None, after=new[1])
    apart = tolerance.differs(old[1], new[1])
    if apart is None:
        return None
    about |= {"distance_m": apart[0], "angle_rad": apart[1]}
    return Moved(**about, in_frame=new[0], before=old[1], after=new[1])


def _with_carrier(
    move: Moved, moved: Mapping[Thing, Moved], first: _Places, second: _Places, tolerance: Tolerance
) -> Moved:
    """Return the move, with what it was carried by: its parent in both scenes, in which its pose did not change."""
    parent = second.parents.get(move.thing)
    carrier = None if parent is None or parent != first.parents.get(move.thing) else moved.get(parent)
    if carrier is None or move.before is None or move.after is None or carrier.before is None or carrier.after is None:
        return move
    before, after = carrier.before.inverse() @ move.before, carrier.after.inverse() @ move.after
    if tolerance.differs(before, after) is not None:
        return move
    return replace(move, carried_by=carrier.name)


def _top(frame: str, placed: Mapping[str, tuple[str, str] | None]) -> str:
    """Return the root of the tree that a frame is in."""
    passed = {frame}
    while (parent := placed.get(frame)) is not None and parent[0] not in passed:
        frame = parent[0]
        passed.add(frame)
    return frame


# -- Texts


def _position(transform: Transform) -> str:
    return f"({', '.join(f'{value + 0.0:.4g}' for value in transform.translation.tolist())})"


def _value(value: Any) -> str:
    return "(none)" if value is None else short_repr(value)


def _listed(names: Sequence[str]) -> str:
    return list_names(names) if names else "nothing"


def _fields(entry: Entry) -> dict[str, Any]:
    return {one.name: _plain(getattr(entry, one.name)) for one in fields(entry)}


def _plain(value: Any) -> Any:
    """Return a value as JSON can hold it."""
    if isinstance(value, Transform):
        return {"xyz_m": value.translation.tolist(), "wxyz": value.rotation.wxyz.tolist()}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)
