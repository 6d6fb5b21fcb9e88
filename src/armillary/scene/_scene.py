"""The scene: things, what they look like, what is said of them, and where they are."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from armillary._core import ROOT_NODE, ChangeRecord, NodeId, SceneCore
from armillary.errors import ChangesForgotten, InvalidArgument
from armillary.scene._context import ChangeContext, SceneWorld
from armillary.scene._observers import Observers
from armillary.scene._past import PastScene
from armillary.scene._reading import SceneVersion
from armillary.scene._records import change_of, told_by
from armillary.scene._volumes import SceneVolumes
from armillary.scene.changes import (
    NOW,
    AddConnection,
    AddFrameNode,
    AddGeometry,
    AddGroup,
    AddParent,
    AddRemoteRoot,
    AddTransform,
    AddUncertainTransform,
    Change,
    Now,
    RemoveParent,
    SetAttributes,
    SetTransform,
    group_wish,
    removal_wish,
)
from armillary.scene.expiry import ExpiryRule, StandingWindows, as_window, outdated, remove_outdated
from armillary.scene.frame_changes import ResetTime
from armillary.scene.inactive import Inactive, all_inactive

if TYPE_CHECKING:
    import queue
    from collections.abc import Callable
    from os import PathLike

    from numpy.typing import ArrayLike

    from armillary._core import SceneView
    from armillary.scene.blocks import FunctionBlock
    from armillary.scene.shapes import Shape
    from armillary.transforms import Transform

__all__ = ["Scene"]

_MAKERS = (
    AddGroup,
    AddTransform,
    AddUncertainTransform,
    AddGeometry,
    AddConnection,
    AddRemoteRoot,
    AddFrameNode,
)


class Scene(SceneVolumes):
    """The things of one world: a directed graph without circles of groups, transforms, geometry and connections.

    A node may have several parents: several pieces of information on one thing. It is there while the root reaches
    it. Every change takes `at`, since when it is true; `NOW` is the time of the world's clock. Where a node is asked
    for, a text names a frame of the world, which has a node of its own as soon as something is said of it.
    """

    def __init__(self, world: Any) -> None:
        self._world: SceneWorld = world
        self._core = SceneCore(world)
        self._observers = Observers(world._report)  # noqa: SLF001  (one world, two modules)
        self._windows = StandingWindows()
        self._order = threading.Lock()  # changes are put in line for observers in the order in which they happened
        super().__init__()

    def _view(self) -> SceneView:
        return self._core.view()

    # -- Adding

    def add_group(
        self,
        *,
        parent: NodeId | str,
        attributes: Mapping[str, Any] | None = None,
        at: int | Now = NOW,
        id: NodeId | None = None,  # noqa: A002
    ) -> NodeId:
        """A node that holds others together."""
        context = ChangeContext(self._world, self._core)
        context.wishes.append(group_wish(context, parent, attributes, at, id))
        return self._taken(context, ())[0]

    def add_transform(
        self,
        *,
        parent: NodeId | str,
        transform: Transform,
        at: int | Now | None = NOW,
        attributes: Mapping[str, Any] | None = None,
        id: NodeId | None = None,  # noqa: A002
    ) -> NodeId:
        """A node with a pose in its parent and a frame of its own, whose history `set_transform` writes.

        `at=None`: it is there always, and never expires.
        """
        return self._do(AddTransform(parent=parent, transform=transform, at=at, attributes=attributes, id=id))

    def add_uncertain_transform(
        self,
        *,
        parent: NodeId | str,
        transform: Transform,
        covariance: ArrayLike,
        at: int | Now | None = NOW,
        attributes: Mapping[str, Any] | None = None,
        id: NodeId | None = None,  # noqa: A002
    ) -> NodeId:
        """The same, with how sure the pose is: (6, 6), translation then rotation, in the tangent of the node."""
        return self._do(
            AddUncertainTransform(
                parent=parent, transform=transform, covariance=covariance, at=at, attributes=attributes, id=id
            )
        )

    def add_geometry(
        self,
        *,
        parent: NodeId | str,
        shape: Shape,
        at: int | Now = NOW,
        attributes: Mapping[str, Any] | None = None,
        levels: Sequence[Shape] = (),
        id: NodeId | None = None,  # noqa: A002
    ) -> NodeId:
        """What something looks like; `levels` are coarser shapes of the same thing, the finer ones first."""
        return self._do(
            AddGeometry(parent=parent, shape=shape, at=at, attributes=attributes, levels=tuple(levels), id=id)
        )

    def add_connection(
        self,
        *,
        parent: NodeId | str,
        sources: Iterable[NodeId],
        targets: Iterable[NodeId],
        start: int | None = None,
        end: int | None = None,
        attributes: Mapping[str, Any] | None = None,
        at: int | Now = NOW,
        id: NodeId | None = None,  # noqa: A002
    ) -> NodeId:
        """A labelled tie from some nodes to others, from `start` until `end`."""
        return self._do(
            AddConnection(
                parent=parent,
                sources=tuple(sources),
                targets=tuple(targets),
                start=start,
                end=end,
                attributes=attributes,
                at=at,
                id=id,
            )
        )

    def add_remote_root(
        self,
        id: NodeId,  # noqa: A002
        *,
        attributes: Mapping[str, Any] | None = None,
        at: int | Now = NOW,
    ) -> NodeId:
        """The root of another agent's graph: addressed by its id, found by searches once `add_parent` mounts it."""
        return self._do(AddRemoteRoot(id, attributes, at))

    # -- Changing

    def set_attributes(self, id: NodeId | str, attributes: Mapping[str, Any], *, at: int | Now = NOW) -> None:  # noqa: A002
        """Say something of a node, or of any frame. Keys that are not named stay; None removes one."""
        self._do(SetAttributes(id, attributes, at))

    def set_transform(
        self,
        id: NodeId,  # noqa: A002
        transform: Transform,
        *,
        covariance: ArrayLike | None = None,
        at: int | Now = NOW,
    ) -> None:
        """Say where a transform is at one instant: a sample of its history."""
        self._do(SetTransform(id, transform, covariance, at))

    def add_parent(self, id: NodeId, parent: NodeId | str, *, at: int | Now = NOW) -> None:  # noqa: A002
        """Put a node into one more group: another piece of information on the same thing. It moves nothing."""
        self._do(AddParent(id, parent, at))

    def remove_parent(self, id: NodeId, parent: NodeId | str, *, at: int | Now = NOW) -> None:  # noqa: A002
        """Take a node out of a group; with its last parent it dies, and what is under it alone."""
        self._do(RemoveParent(id, parent, at))

    def remove(self, id: NodeId, *, at: int | Now = NOW, subtree: bool = False) -> None:  # noqa: A002
        """Take a node out of the scene, and what is under it alone. Questions about earlier instants still answer.

        Frames of others that hang under it refuse, unless `subtree=True`: they stay, and hang nowhere.
        """
        context = ChangeContext(self._world, self._core)
        context.wishes.append(removal_wish(context, id, at, subtree))
        self._taken(context, ())

    def _do(self, change: Change) -> NodeId:
        return self._applied((change,))[0]

    def apply(self, changes: Iterable[Change]) -> list[NodeId | None]:
        """All of these changes, or none. For each of them the node that it made; None where it made none."""
        changes = tuple(changes)
        nodes = self._applied(changes)
        return [node if isinstance(change, _MAKERS) else None for change, node in zip(changes, nodes, strict=True)]

    def _applied(self, changes: tuple[Change, ...], *, for_undo: bool = True, tag: str = "") -> list[NodeId]:
        """The node that each change is about. `tag` tells the world what it is when it is taken back."""
        context = ChangeContext(self._world, self._core)
        for change in changes:
            if not isinstance(change, Change):
                raise InvalidArgument(f"A change is made by the classes of armillary.scene, got {change!r}.", change)
            context.wishes.append(change.wish(context))
        return self._taken(context, changes, for_undo=for_undo, tag=tag)

    def _taken(
        self, context: ChangeContext, changes: tuple[Change, ...], *, for_undo: bool = True, tag: str = ""
    ) -> list[NodeId]:
        """What the context wishes for, happens; `changes` are those of it that tell of data which can be old.

        Where a call makes no data, it makes no `Change` either: that would cost as much as what it stands for.
        """
        wishes = context.frames + context.wishes if context.frames else context.wishes
        if not self._observers.tellers:
            nodes = self._core.apply(wishes, context.now_ns, for_undo, False, tag)[1]
        else:
            with self._order:
                records, nodes = self._core.apply(wishes, context.now_ns, for_undo, True, tag)
                samples = (change for change in changes if isinstance(change, SetTransform))
                told = [replace(sample, at=context.at(sample.at)) for sample in samples]
                self._observers.post([*told_by(records), *told])
            self._observers.tell()
        for change in changes:
            if isinstance(change, ResetTime) and change.to is not None:
                self._world._go_on_from(change.to)  # noqa: SLF001  (one world, two modules)
        if self._windows.rules:
            self._keep_windows(changes)
        asked = nodes[len(context.frames) :] if context.frames else nodes
        return [node for i, node in enumerate(asked) if i not in context.added] if context.added else asked

    def merge(self, records: Iterable[ChangeRecord]) -> list[ChangeRecord]:
        """Take what other copies of this scene accepted, in any order, any number of times; what was new of it.

        Nothing is refused: where copies disagree, the same rules lead each of them to the same scene.
        """
        heard = list(records)
        if not all(isinstance(record, ChangeRecord) for record in heard):
            raise InvalidArgument("merge takes the records that `scene.changes()` of another copy gives.", records)
        new = self._happens(lambda: self._core.merge(heard))
        for change in (change_of(record) for record in new if record.kind == "reset_time"):
            if isinstance(change, ResetTime) and change.to is not None:
                self._world._go_on_from(change.to)  # noqa: SLF001  (one world, two modules)
        if self._windows.rules:
            self._keep_windows(None)
        return new

    def undo(self) -> list[ChangeRecord]:
        """Take the last `apply` back, as a new change. Refused where something was built on it; samples stay."""
        tag, _ = self._core.tags()
        self._world._check_taking_back(tag, again=False)  # noqa: SLF001  (one world, two modules)
        records = self._happens(lambda: self._core.undo(self._world.now()))
        self._world._took_back(tag, again=False)  # noqa: SLF001
        return records

    def redo(self) -> list[ChangeRecord]:
        """Take the last `undo` back."""
        _, tag = self._core.tags()
        self._world._check_taking_back(tag, again=True)  # noqa: SLF001  (see `undo`)
        records = self._happens(lambda: self._core.redo(self._world.now()))
        self._world._took_back(tag, again=True)  # noqa: SLF001
        return records

    def _note_edit(self, tag: str, *, is_undo: bool) -> None:
        """Somebody edited what stands here: `undo` does not reach past it, until it is taken back there."""
        if not is_undo or not self._core.step_aside(tag):
            self._core.stand_in_the_way(tag)

    def _happens(self, happen: Callable[[], list[ChangeRecord]]) -> list[ChangeRecord]:
        if not self._observers.tellers:
            return happen()
        with self._order:
            records = happen()
            self._observers.post(told_by(records))
        self._observers.tell()
        return records

    def _post(self, records: list[ChangeRecord]) -> None:
        """Called by the native half, in order, for what happens beside the nodes."""
        self._observers.post(told_by(records))

    def _tell(self) -> None:
        self._observers.tell()

    # -- Forgetting

    def expire(
        self, *, older_than: int, under: NodeId | str | None = None, kinds: Sequence[str] = ("transform", "geometry")
    ) -> list[NodeId]:
        """Take out what is older than this, once; the nodes that left something.

        Old is a shape by its stamp, and a transform by its newest sample, seen from `world.now()`. A node leaves the
        parents that are at or under `under`; one that is elsewhere too stays there. It stays whole while something
        under it is younger. What is fixed, and what has the attribute `transformType: static`, goes only with what
        it is in. Groups, connections and nodes in which frames of others hang stay.

        Args:
            older_than: A duration [ns], as `seconds(5)` gives it.
            under: Only what is under this node; everything if not given.
            kinds: Which of "transform" and "geometry" can be old.
        """
        window = as_window(older_than, ROOT_NODE if under is None else self._named(under), kinds)
        changes, _ = outdated(SceneVersion(self._world, self._view()), (window,), self._world.now())
        return remove_outdated(self.apply, changes)

    def expire_always(
        self, *, older_than: int, under: NodeId | str | None = None, kinds: Sequence[str] = ("transform", "geometry")
    ) -> ExpiryRule:
        """The same as a standing rule, until it is cancelled: kept to after every change, and by `expire_now`.

        Where two windows are over one containment, the longer counts.
        """
        return self._windows.add(as_window(older_than, ROOT_NODE if under is None else self._named(under), kinds))

    def expire_now(self) -> list[NodeId]:
        """Take out what is old by the standing rules, where time has passed without a change."""
        return self._windows.enforce(SceneVersion(self._world, self._view()), self._let_go, self._world.now())

    def _keep_windows_of(self, other: Scene) -> None:
        self._windows = other._windows.copied()

    def _let_go(self, changes: Sequence[Change]) -> list[NodeId]:
        """What a rule removes is not what `undo` takes back."""
        return self._applied(tuple(changes), for_undo=False)

    def _keep_windows(self, changes: Sequence[Change] | None) -> None:
        now_ns = self._world.now()
        self._windows.note(changes, now_ns)
        if self._windows.is_due(now_ns):
            self.expire_now()

    # -- Files

    def save(self, path: str | PathLike[str]) -> None:
        """Write the scene as it is now to a JSON file, and the arrays of its shapes to an `.npz` beside it.

        Transforms are saved with the samples that are kept, frames of the world by name. A file that is there is
        replaced whole, or stays. `docs/scene.schema.json` describes the format. A transform whose samples are forgotten
        is saved with the one that it was made with.
        """
        from armillary.scene._json import write_scene  # noqa: PLC0415  (most programs use no files)

        write_scene(SceneVersion(self._world, self._view()), Path(path))

    def load(self, path: str | PathLike[str], *, max_bytes: int = 2**30) -> list[NodeId]:
        """Add everything in a saved file to this scene, all or nothing; the nodes that came.

        Args:
            path: What `save` wrote. Nothing in it is executed, whoever wrote it.
            max_bytes: Refuse files larger than this, the arrays included.

        Raises:
            InvalidSceneFile: It is no scene; `field` leads to what is wrong.
            NodeExists: A node of it is in this scene already.
        """
        from armillary.scene._json import load_into, read_scene  # noqa: PLC0415  (see `save`)

        loaded = read_scene(Path(path), max_bytes=max_bytes)
        load_into(self._world, self.apply, loaded)
        return list(loaded.nodes)

    # -- Computing

    def load_block(self, name: str) -> FunctionBlock:
        """A function block that works on this scene: one of ours, or of an installed package.

        Raises:
            UnknownBlock: No installed package offers it.
            UnusableBlock: What is offered is no block.
        """
        from armillary.scene.blocks._registry import block_class  # noqa: PLC0415  (most programs load no block)

        return block_class(name)(self)

    # -- Others

    def attach(self, observer: Callable[[Sequence[Change]], object] | queue.Queue[Sequence[Change]]) -> None:
        """Tell an observer of every change: in order, in batches, after it happened.

        A callable is called on the thread that made the change, a queue gets the batches put into it. What an
        observer raises goes to `world.on_error`.
        """
        self._observers.attach(observer)
        self._world._observe(True)  # noqa: SLF001  (one world, two modules)

    def detach(self, observer: Callable[[Sequence[Change]], object] | queue.Queue[Sequence[Change]]) -> None:
        """Tell an observer no more."""
        self._observers.detach(observer)
        self._world._observe(bool(self._observers.tellers))  # noqa: SLF001  (see `attach`)

    def changes(self, *, beyond: Mapping[int, tuple[int, list[int]]] | None = None) -> list[ChangeRecord]:
        """The changes that are kept, oldest first; with `beyond`, those that somebody lacks who `heard()` so much.

        Raises:
            ChangesForgotten: Some that are lacking are not kept any more: start from a full copy.
        """
        if beyond is None:
            return self._core.journal()
        records, is_complete = self._core.changes_beyond(dict(beyond))
        if not is_complete:
            raise ChangesForgotten(len(self._core.journal()))
        return records

    def heard(self) -> dict[int, tuple[int, list[int]]]:
        """What this copy has heard from whom: everything up to a number, and some numbers beyond."""
        return self._view().heard()

    def inactive(self) -> list[Inactive]:
        """What copies said together and none of them may say alone, and which of it is therefore not in force.

        Containment or poses that run in a circle, a frame on two bodies, motion within a body. All that counts which
        was said first; the rest is here, each with the error that it would raise if it were said now, and comes into
        force when what is in its way is gone. Copies that heard the same agree on it.
        """
        return all_inactive(self._core)

    # -- Comparing, and the past

    def digest(self, *, under: NodeId | str | None = None) -> str:
        """64 digits that are equal for equal scenes: ids, containment, attributes, geometry, connections.

        Samples and who said what are not part of it.
        """
        return self._view().digest(ROOT_NODE if under is None else self._named(under)).hex()

    def difference(self, other: Scene) -> list[NodeId]:
        """The nodes that differ between two copies; equal parts are skipped by their digests."""
        if not isinstance(other, Scene):
            raise InvalidArgument(f"A scene differs from another scene, got {other!r}.", other)
        return self._view().difference(other._view())[0]

    def as_of(self, stamp: int) -> PastScene:
        """The scene as it was at an instant, as far as it is known now.

        Raises:
            InvalidStamp: So long ago that what ended before may be forgotten.
        """
        return PastScene(self._world, self._core.view_at(stamp), stamp)

    def __len__(self) -> int:
        return len(self._view())

    def __repr__(self) -> str:
        return f"Scene({len(self)} nodes)"
