"""Changes of structure as users make them: frozen values, named after the methods that make them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, final

from armillary._core import ROOT_NODE, ChangeRequest, NodeId
from armillary.errors import InvalidArgument, NodeExists
from armillary.errors.format import short_repr
from armillary.store.driven_forms import ClosedForm, DrivenForm, TapeForm
from armillary.store.payloads import connection_payload, shape_payload
from armillary.store.values import as_several

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from armillary.shapes import Shape
    from armillary.store.requests import ChangeContext
    from armillary.transforms import Transform

__all__ = [
    "NOW",
    "AddBody",
    "AddConnection",
    "AddFrame",
    "AddFrameNode",
    "AddGeometry",
    "AddGroup",
    "AddJoints",
    "AddParent",
    "AddRelation",
    "AddRemoteRoot",
    "AddTransform",
    "AddTwistRelation",
    "AddUncertainTransform",
    "Change",
    "Drive",
    "Fix",
    "Forget",
    "Move",
    "Prefer",
    "PreferJoint",
    "Release",
    "Remove",
    "RemoveBody",
    "RemoveFrame",
    "RemoveJoints",
    "RemoveParent",
    "RemoveRelation",
    "ResetTime",
    "Restore",
    "RetractFrame",
    "SetAttributes",
    "SetTransform",
    "Unfix",
]

_A_ROOT_OF_ITS_OWN = (
    "It is the root, the same in every world. Let the other world keep what is to be mounted under a root of its own, "
    "add_remote_root(NodeId.of_name('arm', 'root')); merge its changes, and mount that one with add_parent."
)


@final
class Now:
    """The type of `NOW`: the time of the world's clock when the change is applied."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "NOW"

    def __reduce__(self) -> str:
        return "NOW"


NOW: Final = Now()


class Change:
    """A change of structure before it is accepted. `world.apply` takes a list of them and applies all, or none."""

    __slots__ = ()  # and no ABC: every `apply` asks what is a Change, and asking an ABC takes several times as long

    def request(self, context: ChangeContext) -> ChangeRequest:
        """Return the change as the C++ core takes it; names are looked up in `context`."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True, kw_only=True)
class AddGroup(Change):
    """Add a node that contains others. With `frame` it has a frame of its own, of this name."""

    parent: NodeId | str
    attributes: Mapping[str, Any] | None = None
    at: int | Now = NOW
    id: NodeId | None = None
    frame: str | None = None

    def request(self, context: ChangeContext) -> ChangeRequest:  # noqa: D102
        return group_request(context, self.parent, self.attributes, self.at, self.id, frame=self.frame)


def group_request(
    context: ChangeContext,
    parent: NodeId | str,
    attributes: Mapping[str, Any] | None,
    at: int | Now,
    node: NodeId | None,
    *,
    frame: str | None = None,
) -> ChangeRequest:
    """Return the request for a new group; with a frame of its own where that is given a name."""
    if frame is None:
        return ChangeRequest.add_group(node, context.node(parent), attributes, context.at(at))
    name = context.frame_name(frame)
    request = ChangeRequest.add_node("group", node, context.node(parent), attributes, context.at(at), frame_name=name)
    return context.note_named(request, name)


@dataclass(frozen=True, kw_only=True, eq=False)
class AddTransform(Change):
    """Add a node with a pose in its parent and a frame of its own, called `frame`. `at=None`: fixed there, always."""

    parent: NodeId | str
    transform: Transform
    at: int | Now | None = NOW
    attributes: Mapping[str, Any] | None = None
    id: NodeId | None = None
    frame: str | None = None

    def request(self, context: ChangeContext) -> ChangeRequest:  # noqa: D102
        return transform_request(self, "transform", None, context)


@dataclass(frozen=True, kw_only=True, eq=False)
class AddUncertainTransform(Change):
    """Add a transform with a covariance: (6, 6), translation then rotation, in the tangent of the node."""

    parent: NodeId | str
    transform: Transform
    covariance: ArrayLike
    at: int | Now | None = NOW
    attributes: Mapping[str, Any] | None = None
    id: NodeId | None = None
    frame: str | None = None

    def request(self, context: ChangeContext) -> ChangeRequest:  # noqa: D102
        if self.covariance is None:
            raise InvalidArgument("An uncertain transform needs a covariance. Use add_transform where there is none.")
        return transform_request(self, "uncertain_transform", self.covariance, context)


@dataclass(frozen=True, kw_only=True, eq=False)
class RestoredTransform(AddTransform):
    """Add a transform from a file or another replica, whose first sample may have a covariance."""

    covariance: ArrayLike | None

    def request(self, context: ChangeContext) -> ChangeRequest:
        return transform_request(self, "transform", self.covariance, context)


@dataclass(frozen=True, kw_only=True, eq=False)
class RestoredUncertainTransform(AddUncertainTransform):
    """Add an uncertain transform from a file or another replica, whose first sample may have no covariance."""

    def request(self, context: ChangeContext) -> ChangeRequest:
        return transform_request(self, "uncertain_transform", self.covariance, context)


def transform_request(
    change: AddTransform | AddUncertainTransform, kind: str, covariance: ArrayLike | None, context: ChangeContext
) -> ChangeRequest:
    """Return the request for a new transform of either kind."""
    name = context.frame_name(change.frame)
    request = ChangeRequest.add_node(
        kind,
        change.id,
        context.node(change.parent),
        change.attributes,
        context.since(change.at),
        transform=context.transform(change.transform),
        covariance=covariance,
        is_fixed=change.at is None,
        source=context.author,
        frame_name=name,
    )
    return context.note_named(request, name)


@dataclass(frozen=True, kw_only=True, eq=False)
class AddGeometry(Change):
    """Add a shape. `levels` are coarser shapes of the same thing, the finest first. `at=None`: valid always."""

    parent: NodeId | str
    shape: Shape
    at: int | Now | None = NOW
    attributes: Mapping[str, Any] | None = None
    levels: Sequence[Shape] = ()
    id: NodeId | None = None
    frame: str | None = None

    def request(self, context: ChangeContext) -> ChangeRequest:  # noqa: D102
        levels, digest = shape_payload(self.shape, self.levels, is_always=self.at is None)
        parent, at, name = context.node(self.parent), context.since(self.at), context.frame_name(self.frame)
        request = ChangeRequest.add_node(
            "geometry", self.id, parent, self.attributes, at, content=levels, digest=digest, frame_name=name
        )
        return context.note_named(request, name)


@dataclass(frozen=True, slots=True, kw_only=True)
class AddConnection(Change):
    """Add a labelled connection from some nodes to others, over a span of time; it stays when they are removed."""

    parent: NodeId | str
    sources: Sequence[NodeId]
    targets: Sequence[NodeId]
    start: int | None = None
    end: int | None = None
    attributes: Mapping[str, Any] | None = None
    at: int | Now = NOW
    id: NodeId | None = None

    def request(self, context: ChangeContext) -> ChangeRequest:  # noqa: D102
        sources = tuple(context.existing(node) for node in as_several(self.sources, "sources"))
        targets = tuple(context.existing(node) for node in as_several(self.targets, "targets"))
        return connection_request(self, sources, targets, context)


def connection_request(
    change: AddConnection, sources: tuple[NodeId, ...], targets: tuple[NodeId, ...], context: ChangeContext
) -> ChangeRequest:
    """Return the request for a new connection with these ends."""
    connection, digest = connection_payload(sources, targets, change.start, change.end)
    parent, at = context.node(change.parent), context.at(change.at)
    return ChangeRequest.add_node(
        "connection", change.id, parent, change.attributes, at, content=connection, digest=digest
    )


@dataclass(frozen=True, slots=True)
class AddRemoteRoot(Change):
    """Add the root of another agent's graph: known by its id, found by searches once `add_parent` mounts it."""

    id: NodeId
    attributes: Mapping[str, Any] | None = None
    at: int | Now = NOW

    def request(self, context: ChangeContext) -> ChangeRequest:  # noqa: D102
        if isinstance(self.id, NodeId) and self.id == ROOT_NODE:
            raise NodeExists(self.id, _A_ROOT_OF_ITS_OWN)
        return ChangeRequest.add_group(self.id, None, self.attributes, context.at(self.at))


@dataclass(frozen=True, slots=True)
class AddFrameNode(Change):
    """Add the node that represents a frame of the world. A change that names a frame as a node implies it."""

    frame: str
    at: int | Now = NOW

    def request(self, context: ChangeContext) -> ChangeRequest:  # noqa: D102
        return context.frame(self.frame, context.at(self.at))


@dataclass(frozen=True, slots=True)
class SetAttributes(Change):
    """Set the values of some keys; the others stay. None removes a key."""

    id: NodeId | str
    attributes: Mapping[str, Any]
    at: int | Now = NOW

    def request(self, context: ChangeContext) -> ChangeRequest:  # noqa: D102
        return ChangeRequest.set_attributes(
            node=context.node(self.id), attributes=self.attributes, at=context.at(self.at)
        )


@dataclass(frozen=True, eq=False)
class SetTransform(Change):
    """Insert a sample of the pose of a transform. It is no structure: neither undone nor part of the digest."""

    id: NodeId
    transform: Transform
    covariance: ArrayLike | None = None
    at: int | Now = NOW

    def request(self, context: ChangeContext) -> ChangeRequest:  # noqa: D102
        return ChangeRequest.sample(
            node=context.node(self.id),
            transform=context.transform(self.transform),
            covariance=self.covariance,
            at=context.at(self.at),
        )


@dataclass(frozen=True, slots=True)
class AddParent(Change):
    """Add a further parent to a node, which stays one thing.

    Without `at` the node is in it since it was added: no camera is lost because its image is older than the call.
    A node that was taken out of a parent, or is in the same batch, was put elsewhere: it is there from now on.
    """

    id: NodeId
    parent: NodeId | str
    at: int | Now = NOW

    def request(self, context: ChangeContext) -> ChangeRequest:  # noqa: D102
        node, parent = context.node(self.id), context.node(self.parent)
        return ChangeRequest.add_edge(node=node, parent=parent, at=context.contained_since(node, parent, self.at))


@dataclass(frozen=True, slots=True)
class Move(Change):
    """Move a node into another in containment and frame from `at` on, keeping where it is; as `scene.move` does."""

    id: NodeId | str
    to: NodeId | str
    at: int | Now = NOW
    source: str | None = None
    prefer: bool = True
    released: bool = False
    outside: str = "hold"
    policy: str | Callable[..., Any] = "unique"

    def request(self, context: ChangeContext) -> ChangeRequest:  # noqa: D102
        node, to, at = context.node(self.id), context.node(self.to), context.at(self.at)
        of, seen = context.frames_of_moved(self.id)
        pose = context.place_in(seen, self.to, self.at, outside=self.outside, policy=self.policy)
        context.move_containment(node, to, at)
        rank = "statement" if self.prefer else "plain"
        covariance = pose.covariance
        return ChangeRequest.fixed(
            **context.edge(of, context.frame_in(self.to), self.source, at),
            since=at,
            transform=pose.transform,
            covariance=covariance if covariance is not None and covariance.any() else None,
            is_unsure=covariance is None,
            rank="fallback" if self.released else rank,
            at=context.now_ns,
        )


@dataclass(frozen=True, slots=True)
class Restore(Change):
    """Put a removed node into a parent again, as `undo` does, with all that it had.

    Without a parent it is again the root of another agent's graph, which is mounted nowhere.
    """

    id: NodeId
    parent: NodeId | str | None
    at: int | Now = NOW

    def request(self, context: ChangeContext) -> ChangeRequest:  # noqa: D102
        parent = None if self.parent is None else context.node(self.parent)
        return ChangeRequest.add_edge(node=context.node(self.id), parent=parent, at=context.at(self.at), restores=True)


@dataclass(frozen=True, slots=True)
class RemoveParent(Change):
    """Remove a parent of a node; with its last parent the node is removed, and what it alone contains."""

    id: NodeId
    parent: NodeId | str
    at: int | Now = NOW

    def request(self, context: ChangeContext) -> ChangeRequest:  # noqa: D102
        return ChangeRequest.remove_edges(
            node=context.node(self.id), parent=context.node(self.parent), at=context.at(self.at)
        )


@dataclass(frozen=True, slots=True)
class Remove(Change):
    """Remove a node from all its parents. Queries about earlier instants are still answered.

    It is refused while frames of others are placed in it, unless `subtree=True`.
    """

    id: NodeId
    at: int | Now = NOW
    subtree: bool = False

    def request(self, context: ChangeContext) -> ChangeRequest:  # noqa: D102
        return removal_request(context, self.id, self.at, self.subtree)


def removal_request(context: ChangeContext, node: NodeId, at: int | Now, subtree: bool) -> ChangeRequest:  # noqa: FBT001
    """Return the request to remove a node from all its parents."""
    return ChangeRequest.remove_edges(
        node=context.node(node), parent=None, at=context.at(at), with_frames_under=subtree
    )


@dataclass(frozen=True, slots=True)
class AddFrame(Change):
    """Add frames by name, before anything else names them."""

    names: str | Sequence[str]

    def request(self, context: ChangeContext) -> ChangeRequest:  # noqa: D102
        names = context.note_added([context.declared(name) for name in _listed(self.names)])
        return ChangeRequest.set_frames(names=names, at=context.now_ns)


@dataclass(frozen=True, slots=True)
class RetractFrame(Change):
    """Take back that frames were added, as `undo` does. A frame that nothing else names is gone."""

    names: str | Sequence[str]

    def request(self, context: ChangeContext) -> ChangeRequest:  # noqa: D102
        names = [context.known(name) for name in _listed(self.names)]
        return ChangeRequest.set_frames(names=names, present=False, at=context.now_ns)


@dataclass(frozen=True, kw_only=True, eq=False)
class Fix(Change):
    """Place a frame in another: always, or from `at` on. `world.attach` and `world.detach` make such changes.

    Without a covariance the pose is exact; with `is_unsure` its covariance is unknown. Of several sources a
    'statement' is preferred while it is open, and a 'fallback' counts where no other is open.
    """

    of: str
    in_frame: str
    transform: Transform
    at: int | None = None
    covariance: ArrayLike | None = None
    source: str | None = None
    recalibrate: bool = False
    is_unsure: bool = False
    rank: str = "plain"

    def request(self, context: ChangeContext) -> ChangeRequest:  # noqa: D102
        transform = context.transform(self.transform)
        return ChangeRequest.fixed(
            **context.edge(self.of, self.in_frame, self.source, self.at),
            since=self.at,
            transform=transform,
            covariance=self.covariance,
            is_unsure=self.is_unsure,
            recalibrate=self.recalibrate,
            rank=self.rank,
            at=context.now_ns,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfix(Change):
    """Take back a fixed pose, as `undo` does: what this source fixed from `at` on, or always."""

    of: str
    in_frame: str | None = None
    at: int | None = None
    source: str | None = None

    def request(self, context: ChangeContext) -> ChangeRequest:  # noqa: D102
        of = context.known(self.of)
        if self.in_frame is not None:
            context.known(self.in_frame)
        return ChangeRequest.empty(of=of, source=context.source(self.source), since=self.at, at=context.now_ns)


@dataclass(frozen=True, slots=True, kw_only=True)
class AddRelation(Change):
    """Add a relation: a source places a frame in another by samples from `at` on. Its first sample implies it.

    `interpolation`: "linear", "screw" or "step", as for `World.add_relation`.
    """

    of: str
    in_frame: str
    at: int
    source: str | None = None
    interpolation: str = "linear"

    def request(self, context: ChangeContext) -> ChangeRequest:  # noqa: D102
        return ChangeRequest.sampled(
            **context.edge(self.of, self.in_frame, self.source, self.at),
            since=self.at,
            at=context.now_ns,
            interpolation=self.interpolation,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AddTwistRelation(Change):
    """Add a relation of twists: a source measures a frame's motion relative to a body. Its first twist implies it."""

    of: str
    relative_to: str
    source: str | None = None

    def request(self, context: ChangeContext) -> ChangeRequest:  # noqa: D102
        of, still = context.admitted(self.of), context.admitted(self.relative_to)
        context.note_added([of] if context.is_only_a_body(still) else [of, still])
        source = context.source(self.source)
        return ChangeRequest.sampled_twist(of=of, relative_to=still, source=source, at=context.now_ns)


@dataclass(frozen=True, slots=True)
class AddBody(Change):
    """Declare frames to be one rigid body; repeated with other frames, it adds them."""

    name: str
    frames: Sequence[str] = ()

    def request(self, context: ChangeContext) -> ChangeRequest:  # noqa: D102
        body, frames = context.body(self.name, _listed(self.frames))
        return ChangeRequest.set_body(body=body, frames=context.note_added(frames), at=context.now_ns)


@dataclass(frozen=True, slots=True)
class RemoveBody(Change):
    """Take frames off a body; without frames, all of them, and take back that the body was declared."""

    name: str
    frames: Sequence[str] = ()

    def request(self, context: ChangeContext) -> ChangeRequest:  # noqa: D102
        body, frames = context.declared_body(self.name, _listed(self.frames))
        if not frames:
            context.take_off(body)
        return ChangeRequest.set_body(body=body, frames=frames, present=False, at=context.now_ns)


@dataclass(frozen=True, slots=True, kw_only=True)
class Forget(Change):
    """Remove samples of a frame, `start` and `end` included, as if they had never been given.

    Of poses, of measured twists (`kind`), or of both; in all frames and by all sources, unless one is named. A relation
    that has no sample left goes with them, if samples made it.
    """

    of: str
    in_frame: str | None = None
    source: str | NodeId | None = None
    start: int | None = None
    end: int | None = None
    kind: Literal["pose", "twist"] | None = None

    def request(self, context: ChangeContext) -> ChangeRequest:  # noqa: D102
        return ChangeRequest.forget(
            of=context.known(self.of),
            in_frame=None if self.in_frame is None else context.key(self.in_frame),
            source=None if self.source is None else context.known_source(self.of, self.source),
            start=self.start,
            end=self.end,
            kind=self.kind,
            empties="unsampled",
            at=context.now_ns,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveRelation(Change):
    """Remove a relation with its history: poses of a frame in another by one source, and motion relative to it."""

    of: str
    in_frame: str
    source: str | NodeId | None = None
    kind: Literal["pose", "twist"] | None = None

    def request(self, context: ChangeContext) -> ChangeRequest:  # noqa: D102
        return ChangeRequest.forget(
            of=context.known(self.of),
            in_frame=context.key(self.in_frame),
            source=context.known_source(self.of, self.source),
            start=None,
            end=None,
            kind=self.kind,
            empties="relation",
            at=context.now_ns,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Prefer(Change):
    """Set which of several sources queries use for a frame, from `start` until `end`; None takes it back."""

    of: str
    source: str | NodeId | None
    start: int | None = None
    end: int | None = None

    def request(self, context: ChangeContext) -> ChangeRequest:  # noqa: D102
        of = context.known(self.of)
        source = None if self.source is None else context.known_source(self.of, self.source)
        return ChangeRequest.prefer(of=of, source=source, start=self.start, end=self.end, at=context.now_ns)


@dataclass(frozen=True, slots=True)
class PreferJoint(Change):
    """Set which of several sources queries use for a joint, from `start` until `end`; None takes it back.

    For a rotation, any of its four parts stands for all of them.
    """

    name: str
    source: str | None
    start: int | None = None
    end: int | None = None

    def request(self, context: ChangeContext) -> ChangeRequest:  # noqa: D102
        name, source = context.known_source_of_joint(self.name, self.source)
        return ChangeRequest.prefer_joint(name=name, source=source, start=self.start, end=self.end, at=context.now_ns)


@dataclass(frozen=True, slots=True)
class RemoveFrame(Change):
    """Remove frames with their past. Frames and nodes in them refuse it, unless `subtree=True` removes them too."""

    names: str | Sequence[str]
    subtree: bool = False

    def request(self, context: ChangeContext) -> ChangeRequest:  # noqa: D102
        names = [context.known(name) for name in _listed(self.names)]
        if not isinstance(self.subtree, bool):
            raise InvalidArgument(f"subtree is True or False, got {short_repr(self.subtree)}.", self.subtree)
        context.note_removed(context.removed(names, subtree=self.subtree))
        return ChangeRequest.remove_frames(names=names, at=context.now_ns, subtree=self.subtree)


@dataclass(frozen=True, slots=True)
class ResetTime(Change):
    """Start a new time epoch: samples are removed, what held last holds always. With `to`, the clock starts there."""

    to: int | None = None

    def request(self, context: ChangeContext) -> ChangeRequest:  # noqa: D102
        return ChangeRequest.reset_time(clock=self.to, at=context.now_ns)


def _listed(names: str | Sequence[str]) -> list[str]:
    if isinstance(names, str):
        return [names]
    try:
        return list(names)
    except TypeError:
        raise InvalidArgument(f"A name of a frame is expected, or a list of them, got {names!r}.", names) from None


@dataclass(frozen=True, slots=True)
class AddJoints(Change):
    """Add joints by name, with their interpolation: linear, wrap, hold, unit_quaternion or velocity.

    A rotation is four in a row, w x y z. Repeated, it changes nothing; another interpolation is refused.
    """

    joints: Mapping[str, str]

    def request(self, context: ChangeContext) -> ChangeRequest:  # noqa: D102
        return ChangeRequest.set_variables(kinds=context.new_joints(self.joints), at=context.now_ns)


@dataclass(frozen=True, slots=True)
class RemoveJoints(Change):
    """Remove joints, as `undo` does. Their samples stay, for when they are added again."""

    names: Sequence[str]

    def request(self, context: ChangeContext) -> ChangeRequest:  # noqa: D102
        return ChangeRequest.unset_variables(names=tuple(self.names), at=context.now_ns)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drive(Change):
    """Let joints drive the pose of a frame: always, or from `at` on. `world.mount` does so for every moving link."""

    of: str
    in_frame: str
    form: DrivenForm
    at: int | None = None
    source: str | None = None

    def request(self, context: ChangeContext) -> ChangeRequest:  # noqa: D102
        if not isinstance(self.form, ClosedForm | TapeForm):
            raise InvalidArgument(
                f"A pose is driven by a ClosedForm, a TapeForm or a LoopForm, got {self.form!r}.", self.form
            )
        context.check_joints(self.form.names)
        names = context.edge(self.of, self.in_frame, self.source, self.at)
        return ChangeRequest.driven(**names, since=self.at, form=self.form.plain(), at=context.now_ns)


@dataclass(frozen=True, slots=True, kw_only=True)
class Release(Change):
    """End a source's placement of a frame at `at`; queries about earlier instants are still answered."""

    of: str
    at: int | Now = NOW
    source: str | NodeId | None = None

    def request(self, context: ChangeContext) -> ChangeRequest:  # noqa: D102
        of, source = context.known(self.of), context.known_source(self.of, self.source)
        return ChangeRequest.ended(of=of, source=source, since=context.at(self.at), at=context.now_ns)
