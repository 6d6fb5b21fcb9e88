"""The door of a scene: what changes it, who is told of that, and what leaves by itself."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from armillary._core import ChangeRecord, NodeId, SceneCore
from armillary.errors import InvalidArgument
from armillary.scene._context import ChangeContext, InsistingContext, SceneWorld
from armillary.scene._observers import Observers
from armillary.scene._payloads import as_several
from armillary.scene._records import change_of, told_by, told_of
from armillary.scene._spatial import SceneVolumes
from armillary.scene.changes import (
    AddConnection,
    AddFrameNode,
    AddGeometry,
    AddGroup,
    AddRemoteRoot,
    AddTransform,
    AddUncertainTransform,
    Change,
)
from armillary.scene.expiry import ExpiryRule, ExpiryRules, as_window, expired, remove_expired
from armillary.scene.frame_changes import ResetTime
from armillary.scene.reading import SceneVersion

if TYPE_CHECKING:
    import queue
    from collections.abc import Callable

    from armillary._core import SceneView

__all__ = ["SceneDoor"]

_MAKERS = (
    AddGroup,
    AddTransform,
    AddUncertainTransform,
    AddGeometry,
    AddConnection,
    AddRemoteRoot,
    AddFrameNode,
)


class SceneDoor(SceneVolumes):
    """The part of a scene that changes: by its own words, by those of other copies, and by age.

    Whatever happens is put in line for the observers in its order, and told after it happened.
    """

    def __init__(self, world: Any) -> None:
        self._world: SceneWorld = world
        self._core = SceneCore(world)
        self._observers = Observers(world._report, world._made_with["max_waits"])  # noqa: SLF001  (one world, two modules)
        self._windows = ExpiryRules()
        self._order = threading.Lock()  # changes are put in line for observers in the order in which they happened
        super().__init__()

    def _view(self) -> SceneView:
        return self._core.view()

    def _is_there(self, node: NodeId) -> bool:
        return self._view().contains(node)

    def apply(self, changes: Iterable[Change]) -> list[NodeId | None]:
        """All of these changes, or none. For each of them the node that it made; None where it made none."""
        changes = as_several(changes, "changes")
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
        before = self._view() if self._windows.rules else None
        wishes = context.frames + context.wishes if context.frames else context.wishes
        if not self._observers.tellers:
            nodes = self._core.apply(wishes, context.now_ns, for_undo, False, tag)[1]
        else:
            with self._order:
                records, nodes = self._core.apply(wishes, context.now_ns, for_undo, True, tag)
                self._observers.post(told_of(wishes, records))
            self._observers.tell()
        self._follow_time(changes)
        if before is not None:
            self._keep_windows(changes, before)
        asked = nodes[len(context.frames) :] if context.frames else nodes
        return [node for i, node in enumerate(asked) if i not in context.added] if context.added else asked

    def _follow_time(self, changes: Iterable[Change]) -> None:
        """A time that is set goes on by the world's clock."""
        for change in changes:
            if isinstance(change, ResetTime) and change.to is not None:
                self._world._go_on_from(change.to)  # noqa: SLF001  (one world, two modules)

    def _insist(self, changes: Iterable[Change]) -> list[ChangeRecord]:
        """Say what may contradict what counts here: then it is left out, as what other copies say."""
        context = InsistingContext(self._world, self._core)
        for change in changes:
            context.wishes.append(change.wish(context))
        return self._happens(lambda: self._core.insist(context.frames + context.wishes, context.now_ns))

    def merge(self, records: Iterable[ChangeRecord]) -> list[ChangeRecord]:
        """Take what other copies of this scene accepted, in any order, any number of times; what was new of it.

        Nothing is refused: where copies disagree, the same rules lead each of them to the same scene.
        """
        heard = list(records) if isinstance(records, Iterable) else [records]
        if not all(isinstance(record, ChangeRecord) for record in heard):
            raise InvalidArgument("merge takes the records that `scene.changes()` of another copy gives.", records)
        new = self._happens(lambda: self._core.merge(heard))
        self._follow_time(change_of(record) for record in new if record.kind == "reset_time")
        self._keep_windows(None, self._view())
        return new

    def undo(self) -> list[ChangeRecord]:
        """Take the last `apply` back, as a new change. Refused where something was built on it; samples stay."""
        tag, _ = self._core.tags()
        self._world._check_taking_back(tag, again=False)  # noqa: SLF001  (one world, two modules)
        records = self._happens(lambda: self._core.undo(self._world.now()))
        self._world._took_back(tag, again=False)  # noqa: SLF001
        self._keep_windows(None, self._view())
        return records

    def redo(self) -> list[ChangeRecord]:
        """Take the last `undo` back."""
        _, tag = self._core.tags()
        self._world._check_taking_back(tag, again=True)  # noqa: SLF001  (see `undo`)
        records = self._happens(lambda: self._core.redo(self._world.now()))
        self._world._took_back(tag, again=True)  # noqa: SLF001
        self._keep_windows(None, self._view())
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
            self._observers.post(told_by(records, is_there=self._is_there))
        self._observers.tell()
        return records

    def _post(self, records: list[ChangeRecord]) -> None:
        """Called by the native half, in order, for what happens beside the nodes."""
        self._observers.post(told_by(records, is_there=self._is_there))

    def _tell(self) -> None:
        self._observers.tell()

    # -- Observers

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

        Raises:
            UnknownNode: `under` is not there.
        """
        window, seen = as_window(older_than, self._top(under), kinds), self._view()
        seen.kind(window.under)  # raises where it is not there
        changes, _ = expired(SceneVersion(self._world, seen), (window,), self._world.now())
        return remove_expired(self.apply, changes)

    def expire_always(
        self, *, older_than: int, under: NodeId | str | None = None, kinds: Sequence[str] = ("transform", "geometry")
    ) -> ExpiryRule:
        """The same as a standing rule, until it is cancelled: kept to after every change, and by `expire_now`.

        Where two windows are over one containment, the longer counts. A frame need not have a node yet.
        """
        window = as_window(older_than, self._top(under), kinds)
        if not isinstance(under, str):
            self._view().kind(window.under)  # raises where it is not there
        return self._windows.add(window)

    def expire_now(self) -> list[NodeId]:
        """Take out what is old by the standing rules, where time has passed without a change."""
        return self._windows.enforce(SceneVersion(self._world, self._view()), self._let_go, self._world.now())

    def _keep_windows_of(self, other: SceneDoor) -> None:
        self._windows = other._windows.copied()

    def _let_go(self, changes: Sequence[Change]) -> list[NodeId]:
        """What a rule removes is not what `undo` takes back."""
        return self._applied(tuple(changes), for_undo=False)

    def _keep_windows(self, changes: Sequence[Change] | None, before: SceneView) -> None:
        """After changes of that scene; None where anything may have changed."""
        if not self._windows.rules:
            return
        now_ns = self._world.now()
        self._windows.note(changes, now_ns, before)
        if self._windows.is_due(now_ns):
            self.expire_now()
