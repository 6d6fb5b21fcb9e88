"""Store: the only writer of a world, and what every layer above reads from."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from armillary._core import ROOT_NODE, ChangeRecord, NodeId, ReadyQueue, StoreCore
from armillary.errors import AmbiguousPath, ArmillaryError, ChangesForgotten, InvalidArgument, WorldClosed
from armillary.stamps import LATEST, Latest, as_instant, as_stamp, now
from armillary.store.bodies import check_body, listed_frames
from armillary.store.dispatcher import POSE, TWIST, Dispatcher, Kind, WaitHandle, check_timeout
from armillary.store.names import frame_name, recall_name
from armillary.store.nodes import check_is_no_containment, frames_of_removed, names_in
from armillary.store.observers import Observers
from armillary.store.query import PoseQuery, TwistQuery
from armillary.store.settings import Settings
from armillary.store.stamped_queue import StampedQueue
from armillary.store.twists import PendingTwist, PendingTwists
from armillary.store.upcalls import UPCALLS
from armillary.store.values import as_count, as_history, as_text, as_thinning, as_version_vector
from armillary.transforms import (
    JointSamples,
    JointState,
    RelationInfo,
    Samples,
    Snapshot,
    Tree,
    TwistSamples,
    TypoGuard,
    check_name,
)

if TYPE_CHECKING:
    import queue
    from collections.abc import Callable, Mapping, Sequence
    from types import EllipsisType, ModuleType

    from armillary._core import SceneView
    from armillary.relations import Pose, Twist
    from armillary.stamps import StampLike
    from armillary.store.changes import Change
    from armillary.store.inactive import Inactive
    from armillary.store.joints import Mechanisms
    from armillary.store.observers import Batch, Observer
    from armillary.store.query import Query
    from armillary.store.requests import ChangeContext
    from armillary.store.undo_report import UndoReport

__all__ = ["NO_RELATION", "Store"]

NO_RELATION = 0xFFFFFFFF
"""What `relation_id` and `twist_relation_id` return where there is none."""

_NS_PER_S = 1e9


class Store(StoreCore):
    """Everything that one world holds: the change log, samples, names, the clock, observers and waits.

    It writes by `apply` (strict, local), `merge` (lenient, from other replicas and files) and `undo`, and by inserting
    samples; it answers questions about poses, twists, joints and nodes. `World` and `Scene` forward to it; a
    transport, a recorder or a viewer needs nothing else. The C++ base has the queries and the inserts of samples.

    Locks, in the order in which they may be taken: `pending.lock`, `observers.order`, then those of the core. The GIL
    is never taken while a lock of the core is held, and callbacks run under no lock.

    Attributes:
        settings: Its settings.
        root_frame: The frame of the scene's root.
        clock: Returns the time [ns]; `set_clock` makes what it says go on from an instant.
        on_error: Called with errors of callbacks and observers; None: they are printed.
        dispatcher: Serves waits and callbacks, on one thread.
        observers: They are notified of changes.
        pending: Measured twists that wait for poses.
        warned_of: Relations and joints of which samples were dropped, which was warned of.
        typos: Finds names that look like a typo.
        mechanisms: Completes joints that follow from others; None where no model is mounted.
        policy_answers: `armillary.fusion.answers`, or None: then no policy that is a callable is answered.
        load_world: `World.load`, or None: then no files are compared with.
    """

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = Settings() if settings is None else settings
        super().__init__(**self.settings.for_core(), upcalls=UPCALLS)
        self.root_frame = check_name(self.settings.root_frame)
        self.accepts_declared_names_only = self.settings.frames == "declared"
        self.max_waits, self.max_paths = self.settings.max_waits, self.settings.max_paths
        self.on_error: Callable[[BaseException], object] | None = None
        self.is_closed = False
        self.warned_of: set[str] = set()
        self.typos, self.pending = TypoGuard(), PendingTwists()
        self.dispatcher = Dispatcher(weakref.ref(self), self.max_waits)
        self.observers = Observers(self.dispatcher.report, self.max_waits)
        self.mechanisms: Mechanisms | None = None
        self.policy_answers: ModuleType | None = None
        self.load_world: Callable[[Any], Any] | None = None
        self.after_change: Callable[[Sequence[Change] | None, SceneView], None] | None = None
        self.clock = now if self.settings.clock is None else self.settings.clock
        self._time_method: weakref.WeakMethod[Callable[[], int]] | None = None
        self._time_offset, self.is_scene_open = 0, False
        ending = weakref.finalize(self, _end, self.closer(), self.dispatcher, self.pending.woken)
        ending.atexit = False  # at the interpreter's end blocked threads must stay blocked, not wake into it

    def copy(self) -> Store:
        """Return an independent copy: whatever is changed in one of them stays there. Waits are not copied."""
        twin = Store(self.settings)
        twin.copy_from(self)
        if self.is_scene_open:
            twin.open_scene()
        twin.on_error, twin.policy_answers, twin._time_offset = self.on_error, self.policy_answers, self._time_offset
        return twin

    def close(self) -> None:
        """End threads and waits; safe to call twice. What is stored can still be read."""
        if not self.is_closed:
            self.is_closed = True
            self.close_waits()
            self.dispatcher.close()

    def check_open(self) -> None:
        """Raise `WorldClosed` once `close` was called."""
        if self.is_closed:
            raise WorldClosed

    def __repr__(self) -> str:
        return f"Store({self.name!r}, {len(self.frames())} frames, {len(self.relation_rows())} relations)"

    # -- Clock

    def now(self) -> int:
        """Return the time that changes, ages and limits refer to [ns]."""
        if self._time_method is None or (method := self._time_method()) is None:
            return self.as_stamp(self.clock(), "the time of the clock") + self._time_offset
        return self.as_stamp(method(), "the time of the clock")

    def clock_time(self) -> int:
        """Return the time of the store's clock [ns]."""
        return self.as_stamp(self.clock(), "the time of the clock") + self._time_offset

    def use_time_of(self, method: weakref.WeakMethod[Callable[[], int]]) -> None:
        """Let a method return the time in place of the clock, for as long as its object lives."""
        self._time_method = method

    def set_clock(self, stamp: int) -> None:
        """Set the clock: it continues from this instant [ns]."""
        self._time_offset += stamp - self.clock_time()

    def reset_time(self, *, to: int | None = None) -> None:
        """Start a new time epoch: samples and pending twists are removed, what held last holds always, nodes included.

        Args:
            to: The clock continues from this instant [ns]; unchanged, if left out.
        """
        from armillary.store.changes import ResetTime  # noqa: PLC0415

        to = as_stamp(to, "to")
        with self.pending.lock:
            if to is not None:
                self.set_clock(to)
            self.apply_to_frames([ResetTime(to)])
            self.pending.drop_all(self)

    # -- Changes

    def open_scene(self) -> None:
        """Declare the root frame, in which the nodes of the scene are placed. A store of poses alone needs none."""
        if not self.is_scene_open:
            super().open_scene()
            self.is_scene_open = True

    def apply(self, changes: Sequence[Change], *, for_undo: bool = True, tag: str = "") -> list[NodeId]:
        """Apply all of these changes, or none; return the node that each change is about.

        Args:
            changes: In their order.
            for_undo: Whether `undo` takes them back.
            tag: Names the batch for `undo_tags` and for `mechanisms`.
        """
        from armillary.store.changes import Change  # noqa: PLC0415  (a program of poses alone starts without it)
        from armillary.store.requests import ChangeContext  # noqa: PLC0415

        self.open_scene()
        context = ChangeContext(self, changes)
        for change in changes:
            if not isinstance(change, Change):
                raise InvalidArgument(f"A change is made by the classes of armillary.scene, got {change!r}.", change)
            context.requests.append(change.request(context))
        return self.apply_context(context, changes, for_undo=for_undo, tag=tag)

    def apply_to_frames(self, changes: Iterable[Change]) -> None:
        """Apply changes of frames, all or none, also in a store of poses alone, which has no root frame."""
        from armillary.store.requests import ChangeContext  # noqa: PLC0415

        context = ChangeContext(self)
        for change in changes:
            context.requests.append(change.request(context))
        self.apply_context(context, [])

    def apply_context(
        self, context: ChangeContext, changes: Sequence[Change], *, for_undo: bool = True, tag: str = ""
    ) -> list[NodeId]:
        """Apply the requests of a context; `changes` are those of its changes that carry data which expires.

        A caller whose change carries no such data passes requests alone and saves making a `Change`.
        """
        before = self.view() if self.after_change is not None else None
        requests = context.frames + context.requests if context.frames else context.requests
        if not self.observers.subscribers:
            nodes = self.apply_requests(requests, context.now_ns, for_undo, tag)
        else:
            from armillary.store.records import changes_of_requests  # noqa: PLC0415

            with self.observers.order:
                records: list[tuple[int, ChangeRecord]] = []
                nodes = self.apply_requests(requests, context.now_ns, for_undo, tag, records)
                self.observers.post(changes_of_requests(requests, records))
            self.observers.notify()
        if self.pending.count:
            self.pending.store_ready(self)
        if changes:
            self._follow_clock(changes)
        if before is not None and self.after_change is not None:
            self.after_change(changes, before)
        asked = nodes[len(context.frames) :] if context.frames else nodes
        return [node for i, node in enumerate(asked) if i not in context.added] if context.added else asked

    def add_unchecked(self, changes: Iterable[Change]) -> list[ChangeRecord]:
        """Add changes without validation; conflicting ones become inactive."""
        from armillary.store.requests import UncheckedContext  # noqa: PLC0415

        context = UncheckedContext(self)
        for change in changes:
            context.requests.append(change.request(context))
        return self._publish(lambda: self.apply_unchecked(context.frames + context.requests, context.now_ns))

    def merge(self, records: Iterable[ChangeRecord]) -> list[ChangeRecord]:
        """Add change records of other replicas, in any order, any number of times; return those that were new.

        Nothing is refused: what conflicts becomes inactive, and every replica that holds the same records agrees.
        """
        given = self.checked_records(records)
        self.open_scene()
        new = self._publish(lambda: self.merge_records(given))
        self._follow_clock(self.changes_of([record for record in new if record.type == "reset_time"]))
        self._changed()
        return new

    @staticmethod
    def checked_records(records: Iterable[ChangeRecord]) -> list[ChangeRecord]:
        """Return change records as a list; refuse anything else."""
        is_many = isinstance(records, Iterable) and bool(getattr(records, "ndim", True))
        given: list[Any] = [*records] if is_many else [records]
        if not all(isinstance(record, ChangeRecord) for record in given):
            raise InvalidArgument("merge takes the records that `scene.changes()` of another replica returns.", records)
        from armillary.store.payloads import check_contents  # noqa: PLC0415  (a program of poses alone starts without)

        check_contents(given)
        return given

    def undo(self) -> UndoReport:
        """Take back the last change of this store, whichever call made it, as a new change; return what that was.

        Raises:
            NothingToUndo: There is none.
            BuiltUpon: Something later depends on it.
        """
        return self._take_back(self.undo_tags()[0], self.undo_last, redo=False)

    def redo(self) -> UndoReport:
        """Take back the last `undo`; return what was done again."""
        return self._take_back(self.undo_tags()[1], self.redo_last, redo=True)

    def _take_back(self, tag: str, act: Callable[[int], tuple[Any, ...]], *, redo: bool) -> UndoReport:
        from armillary.store.undo_report import UndoReport, ids_in, sample_changes  # noqa: PLC0415

        if self.mechanisms is not None:
            self.mechanisms.check_undo(tag, redo=redo)
        report: list[tuple[Any, ...]] = []

        def run() -> list[ChangeRecord]:
            report.append(act(self.now()))
            return list(report[0][1])

        records = self._publish(run)
        if self.mechanisms is not None:
            self.mechanisms.undone(tag, redo=redo)
        self._changed()
        undone, _, written, moves, samples_lost, tag = report[0]
        changes = (*self.changes_of(records if redo else undone), *sample_changes(written, moves))
        return UndoReport(
            changes=changes,
            samples_lost=samples_lost,
            tag=tag,
            is_redo=redo,
            records=tuple(records),
            names=names_in(self, ids_in(changes)),
        )

    def forget(
        self,
        *,
        of: str | NodeId,
        in_frame: str | NodeId | None,
        source: str | NodeId | None,
        start: int | None = None,
        end: int | None = None,
    ) -> int:
        """Remove samples of a frame; return how many went. Arguments as for `World.forget`."""
        from armillary.store.changes import Forget  # noqa: PLC0415

        start, end = as_stamp(start, "start"), as_stamp(end, "end")
        if start is not None and end is not None and end < start:
            raise InvalidArgument(f"`end` {end} is before `start` {start}: no sample is between them.", end)
        with self.pending.lock:
            above = None if in_frame is None else self._key(in_frame)
            who = None if source is None else self.source_key(of, source)
            forget = Forget(of=self._key(of), in_frame=above, source=who, start=start, end=end)
            return self._apply_forgetting(forget) + self.pending.forget(self, forget)

    def remove_relation(self, *, of: str | NodeId, in_frame: str | NodeId, source: str | NodeId | None) -> int:
        """Remove one relation with its history; return how many samples went. Arguments as for `World`'s."""
        from armillary.store.changes import Forget, RemoveRelation  # noqa: PLC0415

        with self.pending.lock:
            who = self.known_source(of, in_frame, source)
            edge: dict[str, Any] = {"of": self._key(of), "in_frame": self._key(in_frame), "source": who}
            count = self._apply_forgetting(RemoveRelation(**edge))
            return count + self.pending.forget(self, Forget(**edge))

    def _key(self, name: str | NodeId) -> str:
        """Return the stored form of a name, whether or not a frame has it."""
        return self.frame_key(name if isinstance(name, NodeId) else check_name(name))

    def known_source(self, of: str | NodeId, in_frame: str | NodeId, source: str | NodeId | None) -> str:
        """Return a source; if none is named, the only one that places a frame in another, or the store's own name."""
        if source is not None:
            return self.source_key(of, source)
        key, (head, tail) = self.name, (frame_name(self, of), frame_name(self, in_frame))
        found = _only_one({row[2] for row in self.relation_rows() if row[:2] == (head, tail)}, key)
        return self.source_key(of, found) if self.has_frame(head) else found

    def _apply_forgetting(self, change: Change) -> int:
        """Apply a change that takes samples back; return how many went."""
        from armillary.store.records import changes_of_requests  # noqa: PLC0415
        from armillary.store.requests import ChangeContext  # noqa: PLC0415

        context = ChangeContext(self)
        context.requests.append(change.request(context))
        records: list[tuple[int, ChangeRecord]] = []
        with self.observers.order:
            count = self.apply_forgetting(context.requests, context.now_ns, records)
            self.observers.post(changes_of_requests(context.requests, records))
        self.observers.notify()
        self._changed()
        return count

    def note_edit(self, tag: str, *, is_undo: bool) -> None:
        """Put an undo barrier: `undo` does not reach past an edit of a model, until that is taken back there."""
        if not is_undo or not self.remove_undo_barrier(tag):
            self.push_undo_barrier(tag)

    def _publish(self, act: Callable[[], list[ChangeRecord]]) -> list[ChangeRecord]:
        if not self.observers.subscribers:
            records = act()
        else:
            with self.observers.order:
                records = act()
                self.observers.post(self.changes_of(records))
            self.observers.notify()
        if self.pending.count:
            self.pending.store_ready(self)
        return records

    def _changed(self) -> None:
        if self.after_change is not None:
            self.after_change(None, self.view())

    def _follow_clock(self, changes: Iterable[Change]) -> None:
        """Set the clock where a change of the batch resets time to an instant."""
        for change in changes:
            to = getattr(change, "to", None)
            if to is not None and type(change).__name__ == "ResetTime":
                self.set_clock(to)

    def changes_of(self, records: Sequence[ChangeRecord]) -> list[Change]:
        """Return records as changes that could be applied elsewhere."""
        from armillary.store.records import changes_of_records  # noqa: PLC0415

        return changes_of_records(records, is_there=lambda node: self.view().contains(node))

    def changes(self, *, since: Mapping[int, list[tuple[int, int]]] | None = None) -> list[ChangeRecord]:
        """Return all change records that can still matter, oldest first; those that a version vector lacks, if given.

        Raises:
            ChangesForgotten: Some that are lacking are not kept any more.
        """
        if since is None:
            return self.records()
        records, is_complete = self.changes_since(as_version_vector(since))
        if not is_complete:
            raise ChangesForgotten(len(self.records()))
        return records

    def inactive(self) -> list[Inactive]:
        """Return the assertions that are not active, each with the reason."""
        from armillary.store.inactive import all_inactive  # noqa: PLC0415

        return all_inactive(self)

    def digest(self) -> str:
        """Return 64 digits that are equal for equal structure; samples are not part of it."""
        self.open_scene()
        lines = [f"scene {self.view().digest(ROOT_NODE).hex()}", f"frames {self.frames_digest()}"]
        return sha256("\n".join(lines).encode()).hexdigest()

    def attach_observer(self, observer: Observer | queue.Queue[Batch]) -> None:
        """Notify a callable or a queue of every change, in order, in batches, after it was published."""
        self.observers.attach(observer)
        self.set_observed(True)

    def detach_observer(self, observer: Observer | queue.Queue[Batch]) -> None:
        """Stop notifying an observer."""
        self.observers.detach(observer)
        self.set_observed(bool(self.observers.subscribers))

    # -- Frames and bodies

    def attach_frame(
        self,
        *,
        of: str | NodeId,
        to: str | NodeId,
        at: StampLike | None,
        source: str | None,
        query: Query,
        rank: str = "statement",
    ) -> None:
        """Place a frame in another from `at` on, keeping where it is; arguments as for `World.attach`."""
        self.check_own_frame(of)
        if query.policy == "unique":
            outside, limit_s = query.outside, query.hold_up_to_s
            self.attach(of=of, to=to, at=at, source=source, outside=outside, hold_up_to_s=limit_s, rank=rank)
            return
        from armillary.store.changes import Fix  # noqa: PLC0415

        when = LATEST if at is None else at
        seen = self.pose(of=of, in_frame=to, **query.at_instant(when).keywords)
        since = self.now() if at is None else at
        held = Fix(
            of=self.frame_label(of),
            in_frame=self.frame_label(to),
            transform=seen.transform,
            at=as_instant(since),
            covariance=seen.covariance,
            is_unsure=seen.covariance is None,
            source=source,
            rank=rank,
        )
        self.apply_to_frames([held])

    def detach_frame(
        self, *, of: str | NodeId, to: str | NodeId | None, at: StampLike | None, source: str | None, query: Query
    ) -> None:
        """End what places a frame, and leave it where it is in `to`; arguments as for `World.detach`."""
        since = self.now() if at is None else as_instant(at)
        who = self.holder(of, since) if source is None else source
        if to is None:
            self.end(of=of, source=who, at=since)
        else:
            self.attach_frame(of=of, to=to, at=at, source=who, query=query, rank="fallback")

    def end(self, *, of: str | NodeId, source: str | NodeId | None = None, at: int | None = None) -> None:
        """End what a source asserts of a frame; arguments as for `World.end`."""
        from armillary.store.changes import Release  # noqa: PLC0415

        self.check_own_frame(of)
        self.check_source(of, source)
        who = self.source_key(of, source)
        check_is_no_containment(self, of, who)
        self.apply_to_frames([Release(of=self.frame_label(of), source=who, at=self.now() if at is None else at)])

    def remove_frame(self, name: str, *, subtree: bool = False) -> None:
        """Erase a frame, its past included, and twists that wait for its poses; with `subtree`, what is in it too."""
        from armillary.store.changes import RemoveFrame  # noqa: PLC0415

        with self.pending.lock:
            before = self.frames() if self.pending.twists() else ()
            self.apply_to_frames([RemoveFrame([name], subtree=subtree)])
            self.pending.drop_those_about(self, set(before).difference(self.frames() if before else ()))

    def clear(self) -> None:
        """Remove all samples, and the twists that wait for poses. Structure and fixed poses stay."""
        with self.pending.lock:
            super().clear()
            self.pending.drop_all(self)

    def add_body(self, name: str, frames: Iterable[str | NodeId] = ()) -> None:
        """Declare frames to be one rigid body; arguments as for `World.add_body`."""
        with self.pending.lock:
            self.declare_body(*check_body(self, name, listed_frames(frames)))
        self.pending.store_ready(self)

    def remove_body(self, name: str, frames: Iterable[str] = ()) -> None:
        """Take frames off a body, or without frames take back the body; arguments as for `World.remove_body`."""
        from armillary.store.changes import RemoveBody  # noqa: PLC0415

        with self.pending.lock:
            self.apply_to_frames([RemoveBody(name, [self._key(frame) for frame in listed_frames(frames)])])
        self.pending.store_ready(self)

    def body_of(self, frame: str | NodeId) -> str:
        """Return the name of the body that a frame is on: its own until `add_body` puts it on another."""
        return self.body_name(recall_name(self, frame))

    def pending_twists(self) -> tuple[PendingTwist, ...]:
        """Return the twists of `set_twist(..., pending=True)` that still wait for poses, oldest first."""
        return self.pending.twists()

    def has_twist_relation(self, of: str | NodeId, relative_to: str | NodeId, source: str) -> bool:
        """Whether a source has measured this motion."""
        return self.twist_relation_id(of, relative_to, source) != NO_RELATION

    def add_relation(
        self,
        *,
        of: str | NodeId,
        in_frame: str | NodeId,
        source: str | None = None,
        interpolation: str = "linear",
        at: int | None = None,
    ) -> None:
        """Add a relation, or choose how its samples follow one another; arguments as for `World.add_relation`."""
        since = self.now() if at is None else at
        self.declare_relation(of=of, in_frame=in_frame, source=source, at=since, interpolation=interpolation)

    def relations(self) -> tuple[RelationInfo, ...]:
        """Return every relation of poses and of twists: rate, age, span, samples, source, kind."""
        time_now = self.now()
        return tuple(
            RelationInfo(
                of=of,
                in_frame=in_frame,
                source=source,
                kind=kind,
                samples=samples,
                first=first,
                last=last,
                age_s=None if last is None else (time_now - last) / _NS_PER_S,
                interpolation=interpolation,
            )
            for of, in_frame, source, kind, samples, first, last, interpolation in self.relation_rows()
        )

    def tree(self, at: StampLike | Latest = LATEST) -> Tree:
        """Return which frame is placed in which at one time."""
        parents = self.parents(at)
        # A frame may have been added since.
        infos = [info for info in self.relations() if info.kind != "twist" and info.of in parents]
        notes = {info.of: _note(info) for info in infos if parents.get(info.of) == (info.in_frame, info.source)}
        detached = {info.of: info.in_frame for info in infos if parents[info.of] is None}
        root = _unplaced(parents, infos)
        rivals = {name: self._rivals(name, root or in_frame, at) for name, in_frame in detached.items()}
        notes |= {name: "contested by " + ", ".join(map(repr, who)) for name, who in rivals.items() if who}
        carriers = {parent[0] for parent in parents.values() if parent is not None}
        # What is left of removed nodes: it had a parent, has none at this instant, and nothing is placed in it.
        contested = {name for name, who in rivals.items() if who}
        ended = (set(rivals) | frames_of_removed(self, parents)) - contested - carriers
        return Tree({name: parent for name, parent in parents.items() if name not in ended}, notes)

    def rivals_of(self, frame: str, at: StampLike | Latest) -> tuple[str, ...]:
        """Return the sources that place one frame at one instant, where they are several."""
        infos = [info for info in self.relations() if info.kind != "twist"]
        in_frame = next((info.in_frame for info in infos if info.of == frame), None)
        return () if in_frame is None else self._rivals(frame, _unplaced(self.parents(at), infos) or in_frame, at)

    def _rivals(self, of: str | NodeId, in_frame: str | NodeId, at: StampLike | Latest) -> tuple[str, ...]:
        """Return the sources that contest a frame; `in_frame` is one that is not contested itself, if there is one."""
        try:
            self.pose(of=of, in_frame=in_frame, at=at)
        except AmbiguousPath as error:
            return error.sources if error.frame == of else ()
        except ArmillaryError:
            pass
        return ()

    # -- Samples

    def samples(
        self,
        *,
        of: str | NodeId,
        in_frame: str | NodeId,
        start: StampLike | None = None,
        end: StampLike | None = None,
        source: str | None = None,
    ) -> Samples:
        """Return the stored samples of one pose relation, `start` and `end` included."""
        found = self.sample_rows(self.received_relation(self.known_relation(of, in_frame, source)), start, end)
        return Samples(stamps=found[0], transforms=found[1], covariances=found[2])

    def twist_samples(
        self,
        *,
        of: str | NodeId,
        relative_to: str | NodeId,
        start: StampLike | None = None,
        end: StampLike | None = None,
        source: str | None = None,
    ) -> TwistSamples:
        """Return the measured twists of one frame relative to one body, as they are stored."""
        stamps, twists, covariances = self.sample_rows(self.known_twist(of, relative_to, source), start, end)
        return TwistSamples(stamps=stamps, twists=twists, covariances=covariances)

    def known_relation(self, of: str | NodeId, in_frame: str | NodeId, source: str | None) -> int:
        """Return the id of a pose relation; the one source that places the frame there, if none is named."""
        of, in_frame = frame_name(self, of), frame_name(self, in_frame)
        placing = {
            who
            for child, parent, who, kind, *_ in self.relation_rows()
            if (child, parent) == (of, in_frame) and kind != "twist"
        }
        who = _only_one(placing, self.name) if source is None else as_text(source, "source")
        relation = self.relation_id(of, in_frame, who)
        if relation == NO_RELATION:
            raise InvalidArgument(
                f"No source {who!r} places '{of}' directly in '{in_frame}'. world.relations() lists what there is; "
                "world.transforms(...) samples any pair of frames.",
                who,
            )
        return relation

    def known_twist(self, of: str | NodeId, relative_to: str | NodeId, source: str | None) -> int:
        """Return the id of a relation of twists; the one source that measures it, if none is named."""
        of, relative_to = frame_name(self, of), frame_name(self, relative_to)
        body = self.body_name(relative_to) or relative_to
        measuring = {
            who for head, tail, who, kind, *_ in self.relation_rows() if (head, tail, kind) == (of, body, "twist")
        }
        who = _only_one(measuring, self.name) if source is None else as_text(source, "source")
        if who not in measuring:
            raise InvalidArgument(
                f"No source {who!r} measures how '{of}' moves relative to '{relative_to}'. world.relations() lists "
                "what there is; world.twists(...) answers for any pair of frames.",
                who,
            )
        return self.twist_relation_id(of, relative_to, who)

    def keep(
        self,
        relation: int,
        *,
        history: int | EllipsisType | None = ...,
        max_samples: int | EllipsisType | None = ...,
        thin_m: float | None = None,
        thin_rad: float | None = None,
    ) -> None:
        """Set how much one relation keeps, None without a limit; what is not given stays as it is."""
        old_history, old_samples, *old_thinning = self.retention(relation)
        is_thinned = thin_m is not None or thin_rad is not None
        self.keep_relation(
            relation,
            old_history if history is ... else as_history(history),
            old_samples if max_samples is ... else as_count(max_samples, "max_samples"),
            *(as_thinning(thin_m, thin_rad) if is_thinned else old_thinning),
        )

    def snapshot(self, in_frame: str | NodeId, query: Query) -> Snapshot:
        """Return the transform of every frame that has one, evaluated together."""
        return Snapshot(self, self.sweep(in_frame=in_frame, **query.keywords), frame_name(self, in_frame))

    # -- Joints

    def joints(self) -> tuple[str, ...]:
        """Return the names of the joints, in the order they were added."""
        return tuple(name for name, _ in self.variables())

    def joint(
        self, name: str, *, at: StampLike | Latest = LATEST, outside: str = "raise", hold_up_to_s: float | None = None
    ) -> JointState:
        """Return the position and the velocity of one joint at one instant."""
        mechanisms, name = self.mechanisms, check_name(name)
        if mechanisms is not None and (follower := mechanisms.followers.get(name)) is not None:
            return follower.following(self.joint(follower.leader, at=at, outside=outside, hold_up_to_s=hold_up_to_s))
        value, velocity, stamp, held, predicted, integrated = self.joint_row(name, at, outside, hold_up_to_s)
        flags = {"predicted": predicted, "integrated": integrated}
        state = JointState(value=value, velocity=velocity, stamp=stamp, held=held, **flags)
        return mechanisms.polished(name, state) if mechanisms is not None and self.has_dependent_joints else state

    def joint_samples(
        self, name: str, *, start: StampLike | None = None, end: StampLike | None = None, source: str | None = None
    ) -> JointSamples:
        """Return the stored samples of one joint, `start` and `end` included."""
        known = self.joint_sources(self.received_joint(name))
        who = (known[0] if len(known) == 1 else self.name) if source is None else as_text(source, "source")
        if known and who not in known:
            raise InvalidArgument(f"No source {who!r} sets joint '{name}'; these do: {known}.", who)
        stamps, positions, velocities = self.joint_rows(name, start, end, who)
        return JointSamples(stamps=stamps, positions=positions, velocities=velocities)

    # -- Waiting

    def wait_for_pose(self, query: PoseQuery, timeout_s: float | None) -> Pose:
        """Block, without polling, until a pose is known."""
        limit_s = check_timeout(timeout_s)
        return self.block_for_pose(-1.0 if limit_s is None else limit_s, **self.checked_pose_query(query))

    def wait_for_twist(self, query: TwistQuery, timeout_s: float | None) -> Twist:
        """Block, without polling, until a twist is known."""
        limit_s = check_timeout(timeout_s)
        return self.block_for_twist(-1.0 if limit_s is None else limit_s, **self.checked_twist_query(query))

    def call_when_known(
        self,
        query: PoseQuery | TwistQuery,
        callback: Callable[[Any], object],
        on_failure: Callable[[ArmillaryError], object] | None,
        timeout_s: float | None,
    ) -> WaitHandle:
        """Call back once, on the dispatcher's thread, when a pose or a twist becomes known."""
        question, kind = self._wait_for(query)
        return self.dispatcher.ask(question, callback, on_failure, timeout_s, kind)

    async def when_known(self, query: PoseQuery | TwistQuery, timeout_s: float | None) -> Any:
        """Await a pose or a twist: for asyncio."""
        import asyncio  # noqa: PLC0415  (half of our import time, and most programs never await)

        loop = asyncio.get_running_loop()
        if self.dispatcher.is_this_thread:  # a callback runs a loop of its own: who would answer is waiting here
            wait: Any = self.wait_for_twist if isinstance(query, TwistQuery) else self.wait_for_pose
            return await loop.run_in_executor(None, wait, query, timeout_s)
        question, kind = self._wait_for(query)
        future: asyncio.Future[Any] = loop.create_future()

        def resolve(set_it: Callable[[Any], None], value: object) -> None:
            if not future.done():
                set_it(value)

        def answer_with(set_it: Callable[[Any], None]) -> Callable[[Any], object]:
            return lambda value: loop.call_soon_threadsafe(resolve, set_it, value)

        told, failed = answer_with(future.set_result), answer_with(future.set_exception)
        handle = self.dispatcher.ask(question, told, failed, timeout_s, kind)
        try:
            return await future
        finally:
            handle.cancel()

    def stamped_queue(self, callback: Callable[[Any, dict[str, Pose]], object], **options: Any) -> StampedQueue:
        """Return a bounded queue that holds stamped data until its transforms exist; options of `StampedQueue`."""
        return StampedQueue(self.dispatcher, callback, **options)

    def _wait_for(self, query: PoseQuery | TwistQuery) -> tuple[dict[str, Any], Kind]:
        if isinstance(query, TwistQuery):
            return self.checked_twist_query(query), TWIST
        return self.checked_pose_query(query), POSE

    def checked_pose_query(self, query: PoseQuery) -> dict[str, Any]:
        """Check a question that may be asked before its frames exist; return its keyword arguments."""
        question = query.with_stored_names(self).keywords
        self.check_question(**question)
        return question

    def checked_twist_query(self, query: TwistQuery) -> dict[str, Any]:
        """Check a question for a motion that may be asked before its frames exist; return its keyword arguments."""
        question = query.with_stored_names(self).keywords
        self.check_motion(**question)
        return question


def _end(close_waits: Callable[[], None], dispatcher: Dispatcher, _woken: ReadyQueue) -> None:
    """End the waits of a store that is garbage. `_woken` is kept alive for as long as the core may wake it."""
    close_waits()
    dispatcher.close(wait=False)


def _only_one(sources: set[str], own_name: str) -> str:
    """Return the only source, where there is one; else the store's own name."""
    return next(iter(sources)) if len(sources) == 1 else own_name


def _unplaced(parents: Iterable[str], infos: Sequence[RelationInfo]) -> str | None:
    """Return a frame that no relation places."""
    placed = {info.of for info in infos}
    return next((name for name in parents if name not in placed), None)


def _note(info: RelationInfo) -> str:
    """Return what the tree shows beside a frame."""
    who = f" by '{info.source}'" if info.source else ""
    if info.kind != "sampled":
        return f"[{info.kind}{who}]"
    rate = "" if info.rate_hz is None else f", {info.rate_hz:.3g} Hz"
    rate += ", steps" if info.interpolation == "step" else ""
    return f"[{info.samples} sample{'s' if info.samples != 1 else ''}{rate}{who}]"
