"""Changes of a scene: frozen, typed, named after the methods that make them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, final

from armillary._core import ROOT_NODE
from armillary.errors import InvalidArgument, NodeExists
from armillary.store.driven_forms import ClosedForm, DrivenForm, TapeForm
from armillary.store.payloads import as_several, connection_payload, shape_payload

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from armillary._core import NodeId
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
    "Prefer",
    "Release",
    "Remove",
    "RemoveFrame",
    "RemoveJoints",
    "RemoveParent",
    "ResetTime",
    "Restore",
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
    """One change of a scene, as its author wants it. `world.apply` takes a list of them: all happen, or none."""

    __slots__ = ()  # and no ABC: every `apply` asks what is a Change, and asking an ABC takes several times as long

    def request(self, context: ChangeContext) -> tuple[Any, ...]:
        """The same for the native door."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True, kw_only=True)
class AddGroup(Change):
    """A node that holds others together."""

    parent: NodeId | str
    attributes: Mapping[str, Any] | None = None
    at: int | Now = NOW
    id: NodeId | None = None

    def request(self, context: ChangeContext) -> tuple[Any, ...]:  # noqa: D102
        return group_request(context, self.parent, self.attributes, self.at, self.id)


def group_request(
    context: ChangeContext,
    parent: NodeId | str,
    attributes: Mapping[str, Any] | None,
    at: int | Now,
    node: NodeId | None,
) -> tuple[Any, ...]:
    """A new group."""
    return ("add_node", "group", node, context.node(parent), attributes, context.at(at), None, None)


@dataclass(frozen=True, kw_only=True, eq=False)
class AddTransform(Change):
    """A node with a pose in its parent, and a frame of its own. `at=None`: fixed there, always."""

    parent: NodeId | str
    transform: Transform
    at: int | Now | None = NOW
    attributes: Mapping[str, Any] | None = None
    id: NodeId | None = None

    def request(self, context: ChangeContext) -> tuple[Any, ...]:  # noqa: D102
        return placed(self, "transform", None, context)


@dataclass(frozen=True, kw_only=True, eq=False)
class AddUncertainTransform(Change):
    """The same, with how sure the pose is: (6, 6), translation then rotation, in the tangent of the node."""

    parent: NodeId | str
    transform: Transform
    covariance: ArrayLike
    at: int | Now | None = NOW
    attributes: Mapping[str, Any] | None = None
    id: NodeId | None = None

    def request(self, context: ChangeContext) -> tuple[Any, ...]:  # noqa: D102
        if self.covariance is None:
            raise InvalidArgument("An uncertain transform needs a covariance. Use add_transform where there is none.")
        return placed(self, "uncertain_transform", self.covariance, context)


@dataclass(frozen=True, kw_only=True, eq=False)
class RestoredTransform(AddTransform):
    """One whose first sample may have come with a covariance: from a file, or from another world."""

    covariance: ArrayLike | None

    def request(self, context: ChangeContext) -> tuple[Any, ...]:
        return placed(self, "transform", self.covariance, context)


@dataclass(frozen=True, kw_only=True, eq=False)
class RestoredUncertainTransform(AddUncertainTransform):
    """One whose first sample may have come without a covariance: from a file, or from another world."""

    def request(self, context: ChangeContext) -> tuple[Any, ...]:
        return placed(self, "uncertain_transform", self.covariance, context)


def placed(
    change: AddTransform | AddUncertainTransform, kind: str, covariance: ArrayLike | None, context: ChangeContext
) -> tuple[Any, ...]:
    """What both of them request for."""
    transform = context.transform(change.transform)
    placement = (transform, covariance, change.at is None, context.author, "")
    at = context.since(change.at)
    return ("add_node", kind, change.id, context.node(change.parent), change.attributes, at, None, placement)


@dataclass(frozen=True, kw_only=True, eq=False)
class AddGeometry(Change):
    """What something looks like. `levels` are coarser shapes of the same thing, the finest first. `at=None`: always."""

    parent: NodeId | str
    shape: Shape
    at: int | Now | None = NOW
    attributes: Mapping[str, Any] | None = None
    levels: Sequence[Shape] = ()
    id: NodeId | None = None

    def request(self, context: ChangeContext) -> tuple[Any, ...]:  # noqa: D102
        payload = shape_payload(self.shape, self.levels, is_always=self.at is None)
        parent, at = context.node(self.parent), context.since(self.at)
        return ("add_node", "geometry", self.id, parent, self.attributes, at, payload, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class AddConnection(Change):
    """A labelled tie from some nodes to others, over a span of time. It outlives its ends, and does not hold them."""

    parent: NodeId | str
    sources: Sequence[NodeId]
    targets: Sequence[NodeId]
    start: int | None = None
    end: int | None = None
    attributes: Mapping[str, Any] | None = None
    at: int | Now = NOW
    id: NodeId | None = None

    def request(self, context: ChangeContext) -> tuple[Any, ...]:  # noqa: D102
        sources = tuple(context.living(node) for node in as_several(self.sources, "sources"))
        targets = tuple(context.living(node) for node in as_several(self.targets, "targets"))
        payload = connection_payload(sources, targets, self.start, self.end)
        parent, at = context.node(self.parent), context.at(self.at)
        return ("add_node", "connection", self.id, parent, self.attributes, at, payload, None)


@dataclass(frozen=True, slots=True)
class AddRemoteRoot(Change):
    """The root of another agent's graph: addressed by its id, found by searches once `add_parent` mounts it."""

    id: NodeId
    attributes: Mapping[str, Any] | None = None
    at: int | Now = NOW

    def request(self, context: ChangeContext) -> tuple[Any, ...]:  # noqa: D102
        if self.id == ROOT_NODE:
            raise NodeExists(self.id, _A_ROOT_OF_ITS_OWN)
        return ("add_node", "group", self.id, None, self.attributes, context.at(self.at), None, None)


@dataclass(frozen=True, slots=True)
class AddFrameNode(Change):
    """A node that stands for a frame of the world. Made by itself where something is said of the frame."""

    frame: str
    at: int | Now = NOW

    def request(self, context: ChangeContext) -> tuple[Any, ...]:  # noqa: D102
        return context.frame(self.frame, context.at(self.at))


@dataclass(frozen=True, slots=True)
class SetAttributes(Change):
    """Values for some keys; the others stay. None removes a key."""

    id: NodeId | str
    attributes: Mapping[str, Any]
    at: int | Now = NOW

    def request(self, context: ChangeContext) -> tuple[Any, ...]:  # noqa: D102
        return ("set_attributes", context.node(self.id), self.attributes, context.at(self.at))


@dataclass(frozen=True, eq=False)
class SetTransform(Change):
    """Where a transform is at one instant: a sample of its history. Not structure: neither undone nor digested."""

    id: NodeId
    transform: Transform
    covariance: ArrayLike | None = None
    at: int | Now = NOW

    def request(self, context: ChangeContext) -> tuple[Any, ...]:  # noqa: D102
        transform = context.transform(self.transform)
        return (
            "set_transform",
            context.node(self.id),
            (transform, self.covariance, False, "", ""),
            context.at(self.at),
        )


@dataclass(frozen=True, slots=True)
class AddParent(Change):
    """One more parent: another piece of information on the same thing, not another thing."""

    id: NodeId
    parent: NodeId | str
    at: int | Now = NOW

    def request(self, context: ChangeContext) -> tuple[Any, ...]:  # noqa: D102
        return ("add_parent", context.node(self.id), context.node(self.parent), context.at(self.at))


@dataclass(frozen=True, slots=True)
class Restore(Change):
    """A node that was removed is in a parent again, as `undo` does it, with all that it had.

    Without a parent it is the root of another agent's graph again, which is mounted nowhere.
    """

    id: NodeId
    parent: NodeId | str | None
    at: int | Now = NOW

    def request(self, context: ChangeContext) -> tuple[Any, ...]:  # noqa: D102
        parent = None if self.parent is None else context.node(self.parent)
        return ("restore", context.node(self.id), parent, context.at(self.at))


@dataclass(frozen=True, slots=True)
class RemoveParent(Change):
    """One parent less; with the last one the node dies, and what is under it alone."""

    id: NodeId
    parent: NodeId | str
    at: int | Now = NOW

    def request(self, context: ChangeContext) -> tuple[Any, ...]:  # noqa: D102
        return ("remove_parent", context.node(self.id), context.node(self.parent), context.at(self.at))


@dataclass(frozen=True, slots=True)
class Remove(Change):
    """A node leaves all its parents. Questions about earlier instants still answer.

    Frames of others that hang under it refuse, unless `subtree=True`.
    """

    id: NodeId
    at: int | Now = NOW
    subtree: bool = False

    def request(self, context: ChangeContext) -> tuple[Any, ...]:  # noqa: D102
        return removal_request(context, self.id, self.at, self.subtree)


def removal_request(context: ChangeContext, node: NodeId, at: int | Now, subtree: bool) -> tuple[Any, ...]:  # noqa: FBT001
    """A node that leaves all its parents."""
    return ("remove", context.node(node), context.at(at), subtree)


@dataclass(frozen=True, slots=True)
class AddFrame(Change):
    """Frames that are known before anything is said of them."""

    names: str | Sequence[str]

    def request(self, context: ChangeContext) -> tuple[Any, ...]:  # noqa: D102
        return context.of_frames("add_frame", frames=[context.declared(name) for name in _listed(self.names)])


@dataclass(frozen=True, kw_only=True, eq=False)
class Fix(Change):
    """Where a frame is and stays: always, or from `at` on. `world.attach` and `world.detach` say this, too.

    `is_unsure`: without a covariance, how sure it is is not known; otherwise it is exact.
    """

    of: str
    in_frame: str
    transform: Transform
    at: int | None = None
    covariance: ArrayLike | None = None
    source: str | None = None
    recalibrate: bool = False
    is_unsure: bool = False

    def request(self, context: ChangeContext) -> tuple[Any, ...]:  # noqa: D102
        pose = (context.transform(self.transform), self.covariance, self.is_unsure)
        names = context.edge(self.of, self.in_frame, self.source, self.at)
        return context.of_frames("fix", **names, since=self.at, pose=pose, recalibrate=self.recalibrate)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfix(Change):
    """A fixed pose is taken back, as `undo` does it: what this source fixed from `at` on, or always."""

    of: str
    in_frame: str
    at: int | None = None
    source: str | None = None

    def request(self, context: ChangeContext) -> tuple[Any, ...]:  # noqa: D102
        of, in_frame = context.known(self.of), context.known(self.in_frame)
        return context.of_frames("unfix", of=of, in_frame=in_frame, source=context.source(self.source), since=self.at)


@dataclass(frozen=True, slots=True, kw_only=True)
class AddRelation(Change):
    """A source begins to place a frame in another, by samples from `at` on. The first of them says so by itself."""

    of: str
    in_frame: str
    at: int
    source: str | None = None

    def request(self, context: ChangeContext) -> tuple[Any, ...]:  # noqa: D102
        return context.of_frames(
            "add_relation", **context.edge(self.of, self.in_frame, self.source, self.at), since=self.at
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AddTwistRelation(Change):
    """A source begins to measure how a frame moves relative to a body. The first twist says so by itself."""

    of: str
    relative_to: str
    source: str | None = None

    def request(self, context: ChangeContext) -> tuple[Any, ...]:  # noqa: D102
        of, still = context.admitted(self.of), context.admitted(self.relative_to)
        frames = [of] if context.is_only_a_body(still) else [of, still]
        source = context.source(self.source)
        return context.of_frames("add_twist_relation", of=of, in_frame=still, source=source, frames=frames)


@dataclass(frozen=True, slots=True)
class AddBody(Change):
    """Frames that are one rigid body from now on; said again, it adds frames."""

    name: str
    frames: Sequence[str] = ()

    def request(self, context: ChangeContext) -> tuple[Any, ...]:  # noqa: D102
        body, frames = context.body(self.name, _listed(self.frames))
        return context.of_frames("add_body", of=body, frames=frames)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prefer(Change):
    """Which of several sources every query believes about a frame; None takes it back."""

    of: str
    source: str | None

    def request(self, context: ChangeContext) -> tuple[Any, ...]:  # noqa: D102
        return context.of_frames("prefer", of=context.known(self.of), source=self.source)


@dataclass(frozen=True, slots=True)
class RemoveFrame(Change):
    """Frames go, their past included. What hangs under them refuses, unless `subtree=True` removes it too."""

    names: str | Sequence[str]
    subtree: bool = False

    def request(self, context: ChangeContext) -> tuple[Any, ...]:  # noqa: D102
        names = [context.known(name) for name in _listed(self.names)]
        return context.of_frames("remove_frame", frames=context.removed(names, subtree=self.subtree))


@dataclass(frozen=True, slots=True)
class ResetTime(Change):
    """A new time: samples are forgotten, fixed poses stay. With `to`, clocks go on from there."""

    to: int | None = None

    def request(self, context: ChangeContext) -> tuple[Any, ...]:  # noqa: D102
        return context.of_frames("reset_time", clock=self.to)


def _listed(names: str | Sequence[str]) -> list[str]:
    if isinstance(names, str):
        return [names]
    try:
        return list(names)
    except TypeError:
        raise InvalidArgument(f"A name of a frame is expected, or a list of them, got {names!r}.", names) from None


@dataclass(frozen=True, slots=True)
class AddJoints(Change):
    """Joints by name, with how each goes from one sample to the next: linear, wrap, hold, unit_quaternion, velocity.

    A rotation is four in a row, w x y z. Said again nothing happens; another kind is refused.
    """

    joints: Mapping[str, str]

    def request(self, context: ChangeContext) -> tuple[Any, ...]:  # noqa: D102
        return context.of_frames("add_joints", joints=context.new_joints(self.joints))


@dataclass(frozen=True, slots=True)
class RemoveJoints(Change):
    """Joints that nobody is to find any more, as `undo` does it. Their samples stay, for those who add them again."""

    names: Sequence[str]

    def request(self, context: ChangeContext) -> tuple[Any, ...]:  # noqa: D102
        return context.of_frames("remove_joints", joints=tuple((name, "linear") for name in self.names))


@dataclass(frozen=True, slots=True, kw_only=True)
class Drive(Change):
    """Joints say where a frame is: always, or from `at` on. `world.mount` says it of every link that moves."""

    of: str
    in_frame: str
    form: DrivenForm
    at: int | None = None
    source: str | None = None

    def request(self, context: ChangeContext) -> tuple[Any, ...]:  # noqa: D102
        if not isinstance(self.form, ClosedForm | TapeForm):
            raise InvalidArgument(
                f"A pose is driven by a ClosedForm, a TapeForm or a LoopForm, got {self.form!r}.", self.form
            )
        context.know_joints(self.form.names)
        names = context.edge(self.of, self.in_frame, self.source, self.at)
        return context.of_frames("drive", **names, since=self.at, form=self.form.plain())


@dataclass(frozen=True, slots=True, kw_only=True)
class Release(Change):
    """From `at` on a frame hangs nowhere, as far as `source` says; earlier questions still answer."""

    of: str
    at: int | Now = NOW
    source: str | None = None

    def request(self, context: ChangeContext) -> tuple[Any, ...]:  # noqa: D102
        of, source = context.known(self.of), context.source(self.source)
        return context.of_frames("release", of=of, source=source, since=context.at(self.at))
