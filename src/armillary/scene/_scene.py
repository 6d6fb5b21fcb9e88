"""The scene of a world: nodes with attributes, shapes and poses, and the changes of it."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from armillary.scene._spatial import PastScene, SpatialReader
from armillary.scene.expiry import ExpiryRule, ExpiryRules, as_window, expired, remove_expired
from armillary.scene.reading import SceneVersion
from armillary.store.changes import (
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
    Move,
    Now,
    Remove,
    RemoveParent,
    SetAttributes,
    SetTransform,
    group_request,
    removal_request,
)
from armillary.store.requests import ChangeContext
from armillary.store.values import as_several

if TYPE_CHECKING:
    import queue
    from collections.abc import Callable
    from os import PathLike

    from numpy.typing import ArrayLike

    from armillary._core import ChangeRecord, NodeId, SceneView
    from armillary.fusion.policies import AnyPolicy
    from armillary.scene.blocks import FunctionBlock
    from armillary.shapes import Shape
    from armillary.store import Store
    from armillary.store.inactive import Inactive
    from armillary.store.undo_report import UndoReport
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


class Scene(SpatialReader):
    """The things of one world: a directed acyclic graph of groups, transforms, geometry and connections.

    A node may have several parents: several pieces of information on one thing. It exists while it is reachable from
    the root. Every change takes `at`, since when it holds; `NOW` is the time of the world's clock. Where a node is
    expected, a text names a frame of the world, which has a node of its own as soon as a change is about it.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        store.open_scene()
        self._rules = ExpiryRules()
        super().__init__()

    def _view(self) -> SceneView:
        return self._store.view()

    # -- Adding

    def add_group(
        self,
        *,
        parent: NodeId | str,
        attributes: Mapping[str, Any] | None = None,
        at: int | Now = NOW,
        id: NodeId | None = None,  # noqa: A002
        frame: str | None = None,
    ) -> NodeId:
        """Add a node that groups others; with `frame` it has a frame of its own, of this name."""
        context = ChangeContext(self._store)
        context.requests.append(group_request(context, parent, attributes, at, id, frame=frame))
        return self._store.apply_context(context, ())[0]

    def add_transform(
        self,
        *,
        parent: NodeId | str,
        transform: Transform,
        at: int | Now | None = NOW,
        attributes: Mapping[str, Any] | None = None,
        id: NodeId | None = None,  # noqa: A002
        frame: str | None = None,
    ) -> NodeId:
        """Add a node with a pose in its parent and a frame of its own, whose history `set_transform` writes.

        Args:
            parent: The node that it is in, or the name of a frame.
            transform: Its pose in the frame of the parent.
            at: Since when; None: it exists at all times, and never expires.
            attributes: Texts, numbers, truth values, lists of them, by name.
            id: Its id; a new one if not given.
            frame: The name of its frame, unique in the world; if not given, the frame is named by the id.

        Raises:
            FrameNameTaken: Another frame, or a body, is called `frame`.
        """
        return self._do(
            AddTransform(parent=parent, transform=transform, at=at, attributes=attributes, id=id, frame=frame)
        )

    def add_uncertain_transform(
        self,
        *,
        parent: NodeId | str,
        transform: Transform,
        covariance: ArrayLike,
        at: int | Now | None = NOW,
        attributes: Mapping[str, Any] | None = None,
        id: NodeId | None = None,  # noqa: A002
        frame: str | None = None,
    ) -> NodeId:
        """Add a transform with a covariance: (6, 6), translation then rotation, in the tangent of the node."""
        return self._do(
            AddUncertainTransform(
                parent=parent,
                transform=transform,
                covariance=covariance,
                at=at,
                attributes=attributes,
                id=id,
                frame=frame,
            )
        )

    def add_geometry(
        self,
        *,
        parent: NodeId | str,
        shape: Shape,
        at: int | Now | None = NOW,
        attributes: Mapping[str, Any] | None = None,
        levels: Sequence[Shape] = (),
        id: NodeId | None = None,  # noqa: A002
        frame: str | None = None,
    ) -> NodeId:
        """Add the shape of a thing; `levels` are coarser shapes of the same thing, the finer ones first.

        It was seen `at` an instant, from which its age counts; `at=None`: it holds at all times, and never expires.
        With `frame` it has a frame of its own, of this name.
        """
        return self._do(
            AddGeometry(parent=parent, shape=shape, at=at, attributes=attributes, levels=levels, id=id, frame=frame)
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
        """Add a labelled connection from some nodes to others, from `start` until `end`."""
        return self._do(
            AddConnection(
                parent=parent,
                sources=as_several(sources, "sources"),
                targets=as_several(targets, "targets"),
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
        """Add the root of another agent's graph: addressed by its id, found by searches once `add_parent` mounts it."""
        return self._do(AddRemoteRoot(id, attributes, at))

    # -- Changing

    def set_attributes(self, id: NodeId | str, attributes: Mapping[str, Any], *, at: int | Now = NOW) -> None:  # noqa: A002
        """Set attributes of a node, or of any frame. Other keys keep their values; None removes one."""
        self._do(SetAttributes(id, attributes, at))

    def set_transform(
        self,
        id: NodeId,  # noqa: A002
        transform: Transform,
        *,
        covariance: ArrayLike | None = None,
        at: int | Now = NOW,
    ) -> None:
        """Set the pose of a transform at one instant: a sample of its history."""
        self._do(SetTransform(id, transform, covariance, at))

    def move(
        self,
        thing: NodeId | str,
        *,
        to: NodeId | str,
        at: int | Now = NOW,
        source: str | None = None,
        prefer: bool = True,
        released: bool = False,
        outside: str = "hold",
        policy: AnyPolicy = "unique",
    ) -> None:
        """Move a thing into another from `at` on, in containment and frame, keeping where it is: the grasped cup.

        It is one step for `undo`. While it lasts, that is until the next move, `world.detach` or `world.end`, it is
        preferred to what other sources give of the thing: a grasped cup follows the hand, although cameras see it.

        Args:
            thing: A node of any kind. What is in it moves with it; a group or a shape gets a frame of its own.
            to: The node that it is in from then on, or the name of a frame.
            at: Since when; with a stamp, where it is then, or was seen last. `NOW`: where all was seen last.
            source: Who asserts the new pose; the world's own name if not given.
            prefer: False: the new pose contests what other sources give, as `fix` does.
            released: The thing is put down: it stays where it is only until another source places it.
            outside: As for `world.pose`, about where it is.
            policy: As for `world.pose`, about where it is.
        """
        self._do(Move(thing, to, at, source, prefer, released, outside, policy))

    def add_parent(self, id: NodeId, parent: NodeId | str, *, at: int | Now = NOW) -> None:  # noqa: A002
        """Add a parent to a node: another piece of information on the same thing. Nothing is moved.

        Without `at` the node is in it since it was added, and for places always: images are older than the call. A node
        that was taken out of a parent before is in it from now on.
        """
        self._do(AddParent(id, parent, at))

    def remove_parent(self, id: NodeId, parent: NodeId | str, *, at: int | Now = NOW) -> None:  # noqa: A002
        """Remove a parent of a node; without parents the node is removed, and what is under it alone."""
        self._do(RemoveParent(id, parent, at))

    def remove(self, id: NodeId, *, at: int | Now = NOW, subtree: bool = False) -> None:  # noqa: A002
        """Remove a node from the scene, and what is under it alone. Queries about earlier instants still see it.

        Refused where frames of others are below it, unless `subtree=True`: they stay, and have no parent.
        """
        context = ChangeContext(self._store)
        context.requests.append(removal_request(context, id, at, subtree))
        self._store.apply_context(context, (Remove(id, at, subtree),) if self._rules.rules else ())

    def _do(self, change: Change) -> NodeId:
        return self._store.apply((change,))[0]

    # -- Files

    def save(self, path: str | PathLike[str]) -> None:
        """Write the present scene to a JSON file, and the arrays of its shapes to an `.npz` beside it.

        Transforms are saved with the samples that are kept, frames of the world by name. An existing file is replaced
        as a whole, or not at all. `docs/scene.schema.json` describes the format. A transform whose samples are
        forgotten is saved with the one that it was made with.
        """
        from armillary.scene.files import write_scene  # noqa: PLC0415  (most programs use no files)

        write_scene(SceneVersion(self._store, self._view()), path)

    def load(self, path: str | PathLike[str], *, max_bytes: int = 2**30) -> list[NodeId]:
        """Add everything in a saved file to this scene, all or nothing; returns the nodes that were added.

        Args:
            path: A file that `save` wrote. Nothing in it is executed, whoever wrote it.
            max_bytes: Refuse files larger than this, the arrays included.

        Raises:
            InvalidSceneFile: It is no scene; `field` is the path to what is wrong.
            NodeExists: A node of it is in this scene already.
        """
        from armillary.scene.files import load_into, read_scene  # noqa: PLC0415  (see `save`)

        loaded = read_scene(path, max_bytes=max_bytes)
        load_into(self._store, self.apply, loaded)
        return list(loaded.nodes)

    # -- Computing

    def load_block(self, name: str) -> FunctionBlock:
        """Make a function block for this scene: one of ours, or of an installed package.

        Raises:
            UnknownBlock: No installed package has it.
            UnusableBlock: It is no block, cannot be made, or two packages have one of this name.
        """
        from armillary.scene.blocks._registry import make_block  # noqa: PLC0415  (most programs load no block)

        return make_block(name, self)

    # -- Several changes, and other replicas

    def apply(self, changes: Iterable[Change]) -> list[NodeId | None]:
        """Apply all of these changes, or none; returns for each the node that it made, None where it made none."""
        changes = as_several(changes, "changes")
        nodes = self._store.apply(changes)
        return [node if isinstance(change, _MAKERS) else None for change, node in zip(changes, nodes, strict=True)]

    def merge(
        self,
        records: Iterable[ChangeRecord],
        *,
        prefix: str | None = None,
        shared: Iterable[str] = (),
        root_frame: str | None = None,
    ) -> list[ChangeRecord]:
        """Add change records of other replicas, in any order, any number of times; returns those that were new.

        Nothing is refused: where replicas disagree, the same rules lead each of them to the same scene. With `prefix`,
        `shared` and `root_frame` as for `World.merge`, they are those of another world, whose names get a prefix.
        """
        if prefix is None:
            return self._store.merge(records)
        from armillary.store.prefixes import Prefix  # noqa: PLC0415  (most programs have one robot)

        naming = Prefix.in_store(self._store, prefix, shared=shared, root_frame=root_frame)
        return self._store.merge(naming.records(self._store.checked_records(records)))

    def undo(self) -> UndoReport:
        """Revert the last change of this world, as `World.undo` does; returns what that was."""
        return self._store.undo()

    def redo(self) -> UndoReport:
        """Revert the last `undo`; returns what was done again."""
        return self._store.redo()

    def changes(self, *, since: Mapping[int, list[tuple[int, int]]] | None = None) -> list[ChangeRecord]:
        """Return all change records that can still matter, oldest first: a world that merges them is a replica of this.

        Args:
            since: What `version_vector()` of another replica returned: only the records that it lacks are returned.

        Raises:
            ChangesForgotten: Some of them are not kept any more: start from a full replica.
        """
        return self._store.changes(since=since)

    def version_vector(self) -> dict[int, list[tuple[int, int]]]:
        """Return which change records this replica holds, or held, by author: ranges of sequence numbers."""
        return self._store.version_vector()

    def inactive(self) -> list[Inactive]:
        """Return the assertions that are inactive because they conflict with others, of this or another replica.

        Conflicts are cycles of containment or of poses, a frame on two bodies, motion within a body. Each assertion has
        the error that it would raise if it were made now, and becomes active when what it conflicts with is removed.
        Replicas that hold the same records agree.
        """
        return self._store.inactive()

    def subscribe(self, observer: Callable[[Sequence[Change]], object] | queue.Queue[Sequence[Change]]) -> None:
        """Notify an observer of every change: in order, in batches, after it was applied.

        A callable is called on the thread that made the change, a queue gets the batches put into it. What an
        observer raises goes to `world.on_error`.
        """
        self._store.attach_observer(observer)

    def unsubscribe(self, observer: Callable[[Sequence[Change]], object] | queue.Queue[Sequence[Change]]) -> None:
        """Stop notifying an observer."""
        self._store.detach_observer(observer)

    def attach(self, observer: Callable[[Sequence[Change]], object] | queue.Queue[Sequence[Change]]) -> None:
        """Notify an observer of every change: the older name of `subscribe`. `world.attach` is the grasp of a thing."""
        self.subscribe(observer)

    def detach(self, observer: Callable[[Sequence[Change]], object] | queue.Queue[Sequence[Change]]) -> None:
        """Stop notifying an observer: the older name of `unsubscribe`."""
        self.unsubscribe(observer)

    # -- Expiry

    def expire(
        self, *, older_than: int, under: NodeId | str | None = None, kinds: Sequence[str] = ("transform", "geometry")
    ) -> list[NodeId]:
        """Remove what is older than a duration, once; returns the nodes that were removed from a parent.

        The age is that of a shape's stamp, or of a transform's newest sample, at `world.now()`. A node is removed from
        its parents at or under `under`; one with other parents stays there. It stays whole while something under it is
        younger. What is fixed, and what has the attribute `transformType: static`, is removed only with its parent.
        Groups, connections and nodes with frames of others below them stay.

        Args:
            older_than: A duration [ns], as `seconds(5)` gives it.
            under: Only what is under this node; everything if not given.
            kinds: Which of "transform" and "geometry" expire.

        Raises:
            UnknownNode: `under` does not exist.
        """
        window, seen = as_window(older_than, self._top(under), kinds), self._view()
        seen.kind(window.under)  # raises where it does not exist
        changes, _ = expired(SceneVersion(self._store, seen), (window,), self._store.now())
        return remove_expired(self.apply, changes)

    def expire_always(
        self, *, older_than: int, under: NodeId | str | None = None, kinds: Sequence[str] = ("transform", "geometry")
    ) -> ExpiryRule:
        """Remove what is older than a duration after every change, and by `expire_now`, until the rule is cancelled.

        Where two windows apply to one containment, the longer one wins. A frame need not have a node yet.
        """
        window = as_window(older_than, self._top(under), kinds)
        if not isinstance(under, str):
            self._view().kind(window.under)  # raises where it does not exist
        rule = self._rules.add(window)
        self._follow_changes()
        return rule

    def expire_now(self) -> list[NodeId]:
        """Enforce the expiry rules, where time has passed without a change; returns the nodes as `expire` does."""
        return self._rules.enforce(SceneVersion(self._store, self._view()), self._apply_expiry, self._store.now())

    def keep_rules_of(self, other: Scene) -> None:
        """Take over the expiry rules of the scene that this one was copied from."""
        self._rules = other._rules.copied()
        self._follow_changes()

    def _follow_changes(self) -> None:
        """Enforce the rules after every change, for as long as there are some and this scene is used."""
        enforce = weakref.WeakMethod(self._enforce_rules)

        def after_change(changes: Sequence[Change] | None, before: SceneView) -> None:
            method = enforce()
            if method is not None:
                method(changes, before)

        self._store.after_change = after_change if self._rules.rules else None

    def _apply_expiry(self, changes: Sequence[Change]) -> list[NodeId]:
        """Apply changes that `undo` does not revert."""
        return self._store.apply(changes, for_undo=False)

    def _enforce_rules(self, changes: Sequence[Change] | None, before: SceneView) -> None:
        """Enforce the rules that may be due after changes; None where anything may have changed."""
        if not self._rules.rules:
            self._store.after_change = None
            return
        now_ns = self._store.now()
        self._rules.note(changes, now_ns, before)
        if self._rules.is_due(now_ns):
            self.expire_now()

    # -- Comparisons, and the past

    def digest(self, *, under: NodeId | str | None = None) -> str:
        """Return 64 digits that are equal for equal scenes: ids, containment, attributes, geometry, connections.

        Samples and authors are not part of it.
        """
        return self._view().digest(self._top(under)).hex()

    def as_of(self, stamp: int) -> PastScene:
        """Return the scene as it was at an instant, as far as it is known now.

        Raises:
            InvalidStamp: The instant is before the history that is kept.
        """
        return PastScene(self._store, self._store.view_at(stamp), stamp)

    def __len__(self) -> int:
        return len(self._view())

    def __repr__(self) -> str:
        return f"Scene({len(self)} nodes)"
