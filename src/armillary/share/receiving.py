"""Which samples of others are received: all, or those that somebody here asks for, as long as somebody does."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from armillary.errors import ArmillaryError, InvalidMessage
from armillary.forks import new_lock
from armillary.share.giving import BATCHED, PROMPT
from armillary.share.history import rows_in
from armillary.wire.channels import Channel
from armillary.wire.messages import SampleMessage

if TYPE_CHECKING:
    from armillary.share.peers import Peer
    from armillary.store import Store

__all__ = ["Receiving", "Stream"]

ASK_LIMIT_S = 2.0
"""How long a question may wait for samples that are not received."""

_DOUBT_S, _FRESH_S, _SLOW_S, _RETRY_S, _CHECK_S = 1.0, 0.005, 0.1, 0.2, 1.0
_MANY_ASKS, _ASKS_S = 30, 1.0
_MOST_WAITING = 4096

Reply = tuple[dict[str, Any], list[Any]]


@dataclass(slots=True, eq=False)
class Stream:
    """One channel of one peer, as it comes here.

    Attributes:
        peer: Who gives it.
        number: The peer's number of it.
        channel: What it is.
        next: The number of the first sample that is not here; None: none of it is.
        is_open: Messages are stored as they come; else they wait.
        waiting: Those that do.
        subscriber: While it is subscribed.
        tier: How it is subscribed.
        final: How many samples there are in all, where the peer left in good order.
    """

    peer: Peer
    number: int
    channel: Channel
    next: int | None = None
    is_open: bool = False
    waiting: deque[SampleMessage] = field(default_factory=lambda: deque(maxlen=_MOST_WAITING))
    subscriber: Any = None
    tier: str = ""
    final: int | None = None

    @property
    def is_settled(self) -> bool:
        """Whether its peer left in good order, and all of it is here."""
        return self.final is not None and self.next is not None and self.next >= self.final


@dataclass(slots=True, eq=False)
class _Target:
    """A relation of this world, or joints of one source together, and the streams that fill it.

    Attributes:
        id: Kind and number in the store; None for twists, which are received always, and while it is not known here.
        is_wanted: By the share's `samples=`; what is not is never received.
        is_live: Subscribed.
        doubted_s: Since when it is tried whether anybody still asks.
    """

    channel: Channel
    id: tuple[str, int] | None
    is_wanted: bool
    is_always: bool
    streams: dict[tuple[str, int], Stream] = field(default_factory=dict)
    is_live: bool = False
    doubted_s: float | None = None
    doubt_due_s: float = 0.0
    fresh_until_s: float | None = None
    retry_s: float | None = None
    waited_s: float = -1e9
    slow: int = 0
    is_kept: bool = False
    asked: deque[float] = field(default_factory=lambda: deque(maxlen=_MANY_ASKS + 1))

    def alive(self) -> list[Stream]:
        """Return the streams whose peers are there."""
        return [stream for stream in self.streams.values() if stream.peer.is_alive and not stream.peer.is_refused]


class Receiving:
    """The samples that come from others.

    Whatever is not received is marked in the store as coverage that has ended: a question that needs it waits there,
    and is noted as a demand. One thread sees to demands. Where questions are few, it fetches what was given since the
    last time; where they are many, or somebody waits, it subscribes. Now and then it ends the coverage of what is
    subscribed and lets messages wait: if nobody asks any more they are the last, else the next question finds them. So
    answering costs nothing while samples are received.

    No gap: first a stream is subscribed, then its history is fetched, which goes up to a number; of the messages only
    samples from that number on are taken. A number that is missing closes the stream until the history fills it.

    Lock: `_lock` guards all targets and streams. Locks of the store are taken under it, and none of Python.
    """

    def __init__(
        self,
        store: Store,
        *,
        wants: Callable[[Channel], bool],
        is_on_demand: bool,
        idle_s: float,
        subscribe: Callable[[str, int, str], Any],
        ask: Callable[[str, str, dict[str, Any]], Iterator[Reply]],
        others: Callable[[], list[Peer]],
        refuse: Callable[[str], None],
        guarded: Callable[[Callable[[], None]], None],
    ) -> None:
        self._store, self._wants, self._is_on_demand, self._idle_s = store, wants, is_on_demand, idle_s
        self._subscribe, self._ask, self._others = subscribe, ask, others
        self._refuse, self._guarded = refuse, guarded
        self._lock, self._closed = new_lock(), threading.Event()
        self._targets: dict[Channel, _Target] = {}
        self._by_id: dict[tuple[str, int], _Target] = {}
        self._streams: dict[tuple[str, int], tuple[_Target, Stream]] = {}
        self._active: set[_Target] = set()
        self._due: deque[_Target] = deque()
        self._check_s, self._is_changed = time.monotonic(), False
        self._demands = store.open_demands(ASK_LIMIT_S)

    # -- What others give

    def announce(self, peer: Peer, number: int, channel: Channel) -> None:
        """Take note of a channel of a peer."""
        with self._lock:
            if (peer.id, number) in self._streams:
                return
            target = self._target(channel)
            stream = target.streams[peer.id, number] = Stream(peer, number, channel)
            self._streams[peer.id, number] = (target, stream)
            target.is_kept = False
            self._hear(target)
        self._demands.nudge()

    def keep(self, channels: Iterable[Channel]) -> None:
        """Take note of channels of peers that have gone, which another one has kept."""
        with self._lock:
            for channel in channels:
                target = self._target(channel)
                if target.alive() or self._has_samples(target):
                    continue
                target.is_kept = True
                self._hear(target)
        self._demands.allow_all()
        self._demands.nudge()

    def kept(self) -> list[Channel]:
        """Return the channels of peers that have gone of which samples are here."""
        with self._lock:
            found = [target for target in self._targets.values() if not target.alive() and self._has_samples(target)]
        return [target.channel for target in found]

    def place(self) -> None:
        """Look again for the relations of channels that were not known here."""
        with self._lock:
            self._is_changed = True
            for target in self._targets.values():
                if target.id is None and target.channel.kind != "twist":
                    self._identify(target)

    def peer_came(self) -> None:
        """What nobody could send may come now."""
        self._demands.allow_all()
        with self._lock:
            for target in self._targets.values():
                if target.is_always and not target.is_live:
                    self._due.append(target)
        self._demands.nudge()

    def peer_gone(self, peer: Peer) -> None:
        """Keep what came from a peer; it goes on to be answered where that was all."""
        with self._lock:
            for target, stream in list(self._streams.values()):
                if stream.peer is not peer:
                    continue
                self._store_waiting(stream)
                self._unsubscribe(stream)
                if target.alive():
                    continue
                is_all = all(one.is_settled for one in target.streams.values())
                target.is_live, target.doubted_s, target.fresh_until_s = False, None, None
                self._active.discard(target)
                if is_all or not self._is_on_demand:
                    self._resume(target, None)
                else:
                    self._resume(target, None)
                    self._end(target)
        self._demands.allow_all()

    def note_final(self, peer: Peer, counts: Iterable[tuple[int, int]]) -> None:
        """Take note of how many samples there are in all: the peer leaves."""
        with self._lock:
            for number, count in counts:
                if (known := self._streams.get((peer.id, number))) is not None:
                    known[1].final = count

    def take(self, peer: str, message: SampleMessage) -> None:
        """Store samples, or let them wait for those before them."""
        with self._lock:
            known = self._streams.get((peer, message.channel))
            if known is None:
                raise InvalidMessage("its channel was not announced")
            target, stream = known
            if stream.is_open:
                self._add(target, stream, message)
            else:
                stream.waiting.append(message)

    def subscribed(self) -> tuple[Channel, ...]:
        """Return the channels that are subscribed here."""
        with self._lock:
            return tuple(target.channel for target in self._targets.values() if target.is_live)

    # -- The thread that sees to demands

    def run(self) -> None:
        """See to demands until it is closed."""
        while not self._closed.is_set():
            self._demands.wait(self._due_in_s())
            self._guarded(self._serve)
            self._guarded(self._tend)

    def stop(self) -> None:
        """End `run`: what is not received is not answered any more."""
        self._closed.set()
        self._demands.close()

    def _due_in_s(self) -> float:
        now_s = time.monotonic()
        with self._lock:
            if self._due:
                return 0.0
            due_s = now_s + _CHECK_S
            for target in self._active:
                for one_s in (target.fresh_until_s, target.retry_s):
                    due_s = due_s if one_s is None else min(due_s, one_s)
                if target.is_live and not target.is_always:
                    doubt = target.doubted_s
                    due_s = min(due_s, target.doubt_due_s if doubt is None else doubt + self._idle_s)
        return max(0.0, due_s - now_s)

    def _serve(self) -> None:
        demanded, number = self._demands.drain()
        now_s = time.monotonic()
        wanted: list[_Target] = []
        with self._lock:
            for kind, of, is_waited_for in demanded:
                target = self._by_id.get((kind, of))
                if target is None or not target.is_wanted:
                    self._demands.refuse(kind, of)
                    continue
                target.asked.append(now_s)
                target.waited_s = now_s if is_waited_for else target.waited_s
                if target.is_live and self._go_on(target, now_s):
                    continue
                wanted.append(target)
            while self._due:
                wanted.append(self._due.popleft())
        wanted = list(dict.fromkeys(wanted))
        try:
            if wanted:
                self._join(wanted, now_s)
        finally:
            self._demands.serve(number)

    def _go_on(self, target: _Target, now_s: float) -> bool:
        """Answer a demand for what is subscribed; False where the history is needed first."""
        streams = target.alive()
        if not streams or any(stream.next is None or not self._can_go_on(stream) for stream in streams):
            return False
        is_waited_for = now_s - target.waited_s < self._idle_s
        for stream in streams:
            if stream.subscriber is not None and not target.is_always:
                self._set_tier(stream, PROMPT if is_waited_for else BATCHED)
            self._store_waiting(stream)
            stream.is_open = True
        if target.doubted_s is not None and not is_waited_for:
            target.slow = target.slow + 1 if now_s - target.doubted_s > _SLOW_S else 0
        self._resume(target, None)
        target.doubted_s, target.doubt_due_s = None, now_s + _DOUBT_S
        if target.slow > 1 and not target.is_always:
            self._release(target)
            self._resume(target, None)
            target.fresh_until_s = now_s + _FRESH_S
            self._active.add(target)
        return True

    @staticmethod
    def _can_go_on(stream: Stream) -> bool:
        """Whether what waits follows on what is here."""
        return not stream.waiting or stream.waiting[0].sequence <= (stream.next or 0)

    def _tend(self) -> None:
        now_s = time.monotonic()
        with self._lock:
            for target in list(self._active):
                if target.fresh_until_s is not None and now_s >= target.fresh_until_s:
                    target.fresh_until_s = None
                    self._end(target)
                if target.retry_s is not None and now_s >= target.retry_s:
                    target.retry_s = None
                    self._due.append(target)
                if target.is_live and not target.is_always:
                    self._doubt(target, now_s)
                if not target.is_live and target.fresh_until_s is None and target.retry_s is None:
                    self._active.discard(target)
            if self._is_changed and now_s - self._check_s > _CHECK_S:
                self._check_s, self._is_changed = now_s, False
                self._check_ids()

    def _doubt(self, target: _Target, now_s: float) -> None:
        """Try whether anybody still asks for it; release it where nobody did for long."""
        if target.doubted_s is None and now_s >= target.doubt_due_s:
            target.doubted_s = now_s
            for stream in target.streams.values():
                stream.is_open = False
            self._end(target)
        elif target.doubted_s is not None and now_s >= target.doubted_s + self._idle_s:
            self._release(target)

    def _release(self, target: _Target) -> None:
        for stream in target.streams.values():
            self._store_waiting(stream)
            self._unsubscribe(stream)
        target.is_live, target.doubted_s, target.slow = False, None, 0
        self._resume(target, None)
        self._end(target)

    # -- Joining

    def _join(self, targets: list[_Target], now_s: float) -> None:
        """Subscribe what is asked for often, and fetch what was given meanwhile: all of a peer in one question."""
        by_peer: dict[str, list[tuple[_Target, Stream]]] = {}
        prompt: set[str] = set()
        with self._lock:
            for target in targets:
                is_waited_for = now_s - target.waited_s < self._idle_s
                is_often = len(target.asked) > _MANY_ASKS and now_s - target.asked[0] < _ASKS_S
                is_live = target.is_always or is_waited_for or is_often
                for stream in target.alive():
                    stream.is_open = False
                    if is_live:
                        is_prompt = is_waited_for and not target.is_always
                        self._set_tier(stream, PROMPT if is_prompt else BATCHED)
                        prompt |= {stream.peer.id} if is_prompt else set()
                    by_peer.setdefault(stream.peer.id, []).append((target, stream))
                target.is_live = is_live and bool(target.alive())
        missing: set[_Target] = set()
        begins: dict[_Target, list[int]] = {}
        for peer, streams in by_peer.items():
            header: dict[str, Any] = {"of": [[stream.number, stream.next] for _, stream in streams]}
            header |= {"prompt": True} if peer in prompt else {}
            missing |= self._fetch(peer, header, streams, begins)
        with self._lock:
            for target in targets:
                if target.alive():
                    self._finish(target, now_s, is_there=target not in missing, begins=begins.get(target, []))
        for target in targets:
            if not target.alive():
                self._fetch_kept(target)

    def _fetch(
        self,
        peer: str,
        header: dict[str, Any],
        streams: list[tuple[_Target, Stream]],
        begins: dict[_Target, list[int]],
    ) -> set[_Target]:
        """Store the history of streams of one peer; return the targets of which it did not come."""
        lacking = {stream.number: (target, stream) for target, stream in streams}
        newest = {target: self._newest(target) for target, _ in streams}
        for reply, arrays in self._ask(peer, "samples", header):
            target, stream = lacking.get(reply.get("n", -1), (None, None))
            if target is None or stream is None:
                continue
            if reply.get("is_end") is not True:
                self._merge(stream, rows_in(reply, arrays))
                continue
            reached, begin = reply.get("next"), reply.get("from")
            if not isinstance(reached, int) or not (begin is None or isinstance(begin, int)):
                raise InvalidMessage("a history has no end")
            with self._lock:
                stream.next = max(reached, stream.next or 0)
            before = newest[target]
            if begin is not None and before is not None and before < begin:
                begins.setdefault(target, []).append(begin)
            del lacking[stream.number]
        return {target for target, _ in lacking.values()}

    def _finish(self, target: _Target, now_s: float, *, is_there: bool, begins: list[int]) -> None:
        if not is_there or any(stream.next is None for stream in target.alive()):
            if target.is_always:
                target.retry_s = now_s + _RETRY_S
                self._active.add(target)
            return
        self._active.add(target)
        for stream in target.alive() if target.is_live else []:
            self._store_waiting(stream)
            stream.is_open = not stream.waiting
        if any(stream.waiting for stream in target.alive()):  # one was lost while the history came
            self._due.append(target)
            return
        self._resume(target, max(begins) if begins else None)
        if target.is_live:
            target.doubted_s, target.doubt_due_s = None, time.monotonic() + _DOUBT_S
        else:
            target.fresh_until_s = time.monotonic() + _FRESH_S

    def _fetch_kept(self, target: _Target) -> None:
        """Get what others have of a channel whose giver has gone."""
        before, begins, is_all, is_any = self._newest(target), list[int](), False, False
        for peer in self._others():
            for reply, arrays in self._ask(peer.id, "kept", {"of": [target.channel.entry()]}):
                if reply.get("is_end") is not True:
                    self._merge(Stream(peer, 0, target.channel), rows_in(reply, arrays))
                    is_any = True
                    continue
                is_all = is_all or reply.get("is_all") is True
                begin = reply.get("from")
                if isinstance(begin, int) and before is not None and before < begin:
                    begins.append(begin)
        with self._lock:
            target.is_kept = target.is_kept and not is_any
            if (is_all or not self._is_on_demand) and (is_any or before is not None):
                self._resume(target, max(begins) if begins else None)
            elif target.id is not None:
                self._resume(target, max(begins) if begins else None)
                self._end(target)
                self._demands.refuse(*target.id)

    def is_all_of(self, channel: Channel) -> bool | None:
        """Whether all samples of a channel are here whose giver has gone; None where it is not known."""
        with self._lock:
            target = self._targets.get(channel)
            if target is None or target.id is None or target.alive():
                return None
            return not self._store.has_ended(*target.id)

    # -- The store. The lock is held.

    def _target(self, channel: Channel) -> _Target:
        known = self._targets.get(channel)
        if known is None:
            is_twist = channel.kind == "twist"
            is_wanted = self._wants(channel)
            is_always = is_wanted and (is_twist or not self._is_on_demand)
            known = self._targets[channel] = _Target(channel, None, is_wanted, is_always)
            if not is_twist:
                self._identify(known)
        return known

    def _hear(self, target: _Target) -> None:
        """Samples of it come from one more: it is not whole until they are here."""
        if target.id is not None:
            self._end(target)
        if target.is_always:
            self._due.append(target)
        elif target.is_live:
            self._release(target)

    def _identify(self, target: _Target) -> None:
        found = _number_of(self._store, target.channel)
        if found is None or found == target.id:
            return
        if target.id is not None:
            self._by_id.pop(target.id, None)
        target.id = found
        self._by_id[found] = target
        if target.streams or target.is_kept:
            self._end(target)
        if target.is_always:
            self._due.append(target)

    def _check_ids(self) -> None:
        """A relation that was removed and made again has another number."""
        for target in self._targets.values():
            if target.channel.kind == "pose" and target.id is not None:
                self._identify(target)

    def _has_samples(self, target: _Target) -> bool:
        if target.channel.kind == "twist":
            return bool(target.streams)
        return target.id is not None and self._store.newest_sample(*target.id) is not None

    def _newest(self, target: _Target) -> int | None:
        return None if target.id is None else self._store.newest_sample(*target.id)

    def _end(self, target: _Target) -> None:
        if target.id is not None:
            self._store.end_coverage(*target.id)

    def _resume(self, target: _Target, start: int | None) -> None:
        if target.id is not None:
            self._store.resume_coverage(*target.id, start)

    def _add(self, target: _Target, stream: Stream, message: SampleMessage) -> None:
        """Store what of a message is new; where samples before it are missing, it waits for them."""
        if message.sequence > (stream.next or 0):
            stream.peer.lost += message.sequence - (stream.next or 0)
            stream.is_open = False
            stream.waiting.append(message)
            self._end(target)
            self._due.append(target)
            self._demands.nudge()
            return
        self._store_new(stream, message)

    def _store_new(self, stream: Stream, message: SampleMessage) -> None:
        known, end = (stream.next or 0) - message.sequence, message.sequence + len(message.stamps)
        if known >= len(message.stamps):
            return
        if known > 0:
            message = SampleMessage(
                message.channel, message.sequence + known, message.base, message.stamps[known:], message.rows[known:]
            )
        self._merge(stream, message)
        stream.next = end

    def _store_waiting(self, stream: Stream) -> None:
        """Store what waits, as far as it follows on what is here."""
        while stream.waiting and stream.next is not None and stream.waiting[0].sequence <= stream.next:
            self._store_new(stream, stream.waiting.popleft())

    def _merge(self, stream: Stream, message: SampleMessage) -> None:
        stream.peer.samples += len(message.stamps)
        try:
            stream.channel.merge(self._store, message)
        except ArmillaryError as error:
            self._refuse(f"samples of {stream.channel.of or 'joints'}: {error}")

    def _set_tier(self, stream: Stream, tier: str) -> None:
        if stream.tier == tier:
            return
        before, stream.subscriber = stream.subscriber, self._subscribe(stream.peer.id, stream.number, tier)
        stream.tier = tier
        if before is not None:
            before.undeclare()

    @staticmethod
    def _unsubscribe(stream: Stream) -> None:
        if stream.subscriber is not None:
            stream.subscriber.undeclare()
        stream.subscriber, stream.tier, stream.is_open = None, "", False
        stream.waiting.clear()


def _number_of(store: Store, channel: Channel) -> tuple[str, int] | None:
    """Return kind and number of a channel in this world; None where its relation, or a joint, is not known."""
    if channel.kind == "pose":
        try:
            return "pose", store.relation_id(channel.of, channel.in_frame, channel.source)
        except ArmillaryError:
            return None
    number = store.joints_number(
        joints=list(channel.joints),
        source=channel.source,
        has_velocities=channel.has_velocities,
        has_covariance=channel.has_covariance,
        has_velocity_covariance=channel.has_velocity_covariance,
        is_integrated=channel.is_integrated,
    )
    return None if number is None else ("joints", number)


def numbers_of(store: Store, channel: Channel) -> tuple[str, int] | None:
    """Return kind and number of what a channel is in this world, twists too."""
    if channel.kind != "twist":
        return _number_of(store, channel)
    try:
        return "twist", store.twist_relation_id(channel.of, channel.in_frame, channel.source)
    except ArmillaryError:
        return None
