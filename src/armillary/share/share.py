"""One world's part in a shared world: what changes here goes to the others, and what they change comes here."""

from __future__ import annotations

import atexit
import hashlib
import json
import math
import os
import queue
import secrets
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from armillary.errors import (
    ArmillaryError,
    ChangesForgotten,
    ClocksDiffer,
    InvalidArgument,
    InvalidMessage,
    PeerBehind,
    ShareFailed,
)
from armillary.forks import new_lock
from armillary.share.giving import Giving
from armillary.share.history import channel_messages, twist_messages
from armillary.share.peers import Peer, PeerInfo
from armillary.share.receiving import Receiving, numbers_of
from armillary.share.session import Connection, Meeting, open_session, world_key, zenoh_module
from armillary.wire.channels import Channel
from armillary.wire.messages import pack, unpack, unpack_samples
from armillary.wire.structure import (
    NodeSamples,
    all_node_samples,
    from_tap,
    node_samples_in,
    pack_structure,
    records_in,
    store_node_samples,
    vector_entry,
    vector_in,
)

if TYPE_CHECKING:
    from armillary.store import Store

__all__ = ["Share"]

_HEARTBEAT_S, _QUIET_S, _BUSY_S = 0.25, 1.0, 3.0
_PING_S, _MEET_S, _DOUBT_S = 5.0, 1.0, 2.0
_ASK_S, _HISTORY_S = 5.0, 1.0
_MOST_PARKED = 10_000
_CHANNEL_KEYS = 3
_STATE, _AGAIN = "structure", "and what others kept of who has gone"
_UNTIL_ALL_NOTICED_S = 0.3
_Wants = Callable[[Channel], bool]


class Share:
    """The part of one world in a shared world; `World.share` makes it.

    Every peer publishes what it changes, numbered, and says how far it is: four times a second after a change, else
    once. Who finds a number missing asks for what it lacks by its version vector: that repairs whatever was lost,
    however long the outage.
    Samples go by themselves; those whose relation is not known yet wait for it.

    Callbacks of Zenoh only put messages in line: each of the share's threads does one thing.

    Lock: `_lock` guards peers and what waits; nothing is called back while it is held.

    Attributes:
        id: The id of this peer.
        name: The name of the shared world.
    """

    def __init__(
        self,
        store: Store,
        name: str,
        connection: Connection,
        *,
        samples: str | _Wants = "on_demand",
        idle_s: float = 2.0,
        batch_s: float = 0.005,
        answer: Callable[[bytes], bytes] | None = None,
    ) -> None:
        self.id, self.name, self.connection = secrets.token_hex(8), name, connection
        self._store, self._answer = store, answer
        wants, is_on_demand = _selection(samples)
        self._key = world_key(name)
        self._lock, self._peers = new_lock(), dict[str, Peer]()
        self._unplaced: NodeSamples = []
        self._refused: dict[str, int] = {}
        self._warned: set[str] = set()
        self._sequence, self._changed_s = 0, time.monotonic()
        self._inbox: queue.SimpleQueue[tuple[str, str, bytes] | None] = queue.SimpleQueue()
        self._questions: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._asked: queue.SimpleQueue[Any] = queue.SimpleQueue()  # of the world: these may wait for what others have
        self._lacking: queue.SimpleQueue[tuple[str, str] | None] = queue.SimpleQueue()  # of whom, and what
        self._closed = threading.Event()
        self._zenoh = zenoh_module()
        self._meeting = Meeting(name) if connection.meets else None
        if self._meeting is not None:
            self._meeting.hold()
        self._session = open_session(name, connection)
        self._records = store.tap_records()
        self._giving = Giving(
            store,
            self._session,
            self._zenoh,
            f"{self._key}/s/{self.id}",
            batch_s=batch_s,
            announce=self._announce,
            report=self._guarded,
        )
        self._receiving = Receiving(
            store,
            wants=wants,
            is_on_demand=is_on_demand,
            idle_s=idle_s,
            subscribe=self._subscribe,
            ask=lambda peer, what, header: self._replies(peer, what, header, _HISTORY_S),
            others=self._alive,
            refuse=self._refuse,
            guarded=self._guarded,
        )
        self._declare()
        loops = {
            "send": self._send_records,
            "give": self._giving.run,
            "take": self._take,
            "receive": self._receiving.run,
            "fetch": self._fetch,
            "reply": lambda: self._reply(self._questions),
            "answer": lambda: self._reply(self._asked),
        }
        self._threads = [
            threading.Thread(target=loop, name=f"armillary-share-{name}", daemon=True) for name, loop in loops.items()
        ]
        for thread in self._threads:
            thread.start()
        atexit.register(_close_at_exit, weakref.ref(self))
        _shares.add(self)

    def __repr__(self) -> str:
        peers = len([peer for peer in self.peers() if peer.is_alive])
        return f"Share({self.name!r}, {peers} other {'peer' if peers == 1 else 'peers'})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- Public

    @property
    def is_closed(self) -> bool:
        """Whether it has ended."""
        return self._closed.is_set()

    def peers(self) -> tuple[PeerInfo, ...]:
        """Return the other processes that share the world, those that have gone at the end."""
        held = self._held()
        with self._lock:
            found = [peer.info(held) for peer in self._peers.values()]
        return tuple(sorted(found, key=lambda info: (not info.is_alive, info.name, info.id)))

    def subscribed(self) -> tuple[Channel, ...]:
        """Return which samples of others come here at present, because somebody here needs them."""
        return self._receiving.subscribed()

    def taken(self) -> tuple[Channel, ...]:
        """Return which samples of this world others take at present."""
        return self._giving.subscribed()

    def refused(self) -> dict[str, int]:
        """Return how many messages were refused, or dropped, by reason."""
        with self._lock:
            counted = dict(self._refused)
        if self._giving.dropped:
            counted["samples that were not sent in time"] = self._giving.dropped
        return counted

    def flush(self, timeout_s: float = 5.0) -> bool:
        """Wait until another peer holds all changes that were made here before; whether one does in time."""
        end_s = time.monotonic() + timeout_s
        target = self._store.version_vector()
        while not self.is_closed:
            with self._lock:
                alive = [peer.id for peer in self._peers.values() if peer.is_alive]
            for peer in alive:
                answer = self._ask(peer, "held", {}, timeout_s=max(0.05, end_s - time.monotonic()))
                if answer is not None and _covers(vector_in(answer[0].get("held")), target):
                    return True
            if time.monotonic() > end_s:
                return False
            self._closed.wait(0.01)
        return False

    def wait_for_peers(self, count: int = 1, timeout_s: float = 5.0) -> bool:
        """Wait until so many other peers are there and hold the same changes; whether they do in time."""
        end_s = time.monotonic() + timeout_s
        while time.monotonic() < end_s and not self.is_closed:
            if sum(peer.is_alive and peer.is_in_step for peer in self.peers()) >= count:
                return True
            self._closed.wait(0.01)
        return False

    def close(self) -> None:
        """Leave the shared world; safe to call twice. The world keeps what it holds."""
        with self._lock:
            if self.is_closed:
                return
            self._closed.set()
        self._records.close()
        self._giving.stop()
        self._receiving.stop()
        for line in (self._inbox, self._questions, self._asked, self._lacking):
            line.put(None)
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(timeout=2.0)
        self._say_goodbye()
        self._session.close()
        if self._meeting is not None:
            self._meeting.close()

    # -- Zenoh

    def _declare(self) -> None:
        """Declare everything before the token: who sees that may ask at once."""
        zenoh, session = self._zenoh, self._session
        self._tail = session.declare_publisher(
            f"{self._key}/g/{self.id}",
            congestion_control=zenoh.CongestionControl.BLOCK,
            priority=zenoh.Priority.DATA_HIGH,
        )
        self._beat = session.declare_publisher(f"{self._key}/b/{self.id}")
        self._declared = [
            session.declare_queryable(f"{self._key}/q/{self.id}/**", self._direct(self._was_asked)),
            session.declare_subscriber(f"{self._key}/g/*", self._direct(self._came("g"))),
            session.declare_subscriber(f"{self._key}/b/*", self._direct(self._came("b"))),
        ]
        liveliness = session.liveliness()
        self._declared.append(
            liveliness.declare_subscriber(f"{self._key}/p/*", self._direct(self._token_changed), history=True)
        )
        self._token = liveliness.declare_token(f"{self._key}/p/{self.id}")

    def _was_asked(self, question: Any) -> None:
        is_of_world = str(question.key_expr).endswith("/ask")
        (self._asked if is_of_world else self._questions).put(question)

    def _direct(self, call: Callable[[Any], None]) -> Any:
        """Let Zenoh call on its own thread: a thread of Python for each callback keeps a process from ending."""
        return self._zenoh.handlers.Callback(call, indirect=False)

    def _came(self, kind: str) -> Callable[[Any], None]:
        inbox, own = self._inbox, f"/{self.id}"
        return lambda sample: (
            None if own in (key := str(sample.key_expr)) else inbox.put((kind, key, sample.payload.to_bytes()))
        )

    def _token_changed(self, sample: Any) -> None:
        is_there = sample.kind == self._zenoh.SampleKind.PUT
        peer = str(sample.key_expr).rsplit("/", 1)[-1]
        if peer != self.id:
            self._inbox.put(("p", peer, b"1" if is_there else b""))

    def _ask(
        self, peer: str, what: str, header: dict[str, Any], *, timeout_s: float = _ASK_S
    ) -> tuple[dict[str, Any], list[Any]] | None:
        """Ask one peer and return its first reply; None where there is none."""
        for reply in self._replies(peer, what, header, timeout_s):
            return reply
        return None

    def _replies(
        self, peer: str, what: str, header: dict[str, Any], timeout_s: float = _ASK_S
    ) -> Iterator[tuple[dict[str, Any], list[Any]]]:
        try:
            replies = self._session.get(
                f"{self._key}/q/{peer}/{what}",
                payload=pack(header),
                timeout=timeout_s,
                priority=self._zenoh.Priority.BACKGROUND,
                consolidation=self._zenoh.ConsolidationMode.NONE,
            )
            for reply in replies:
                if reply.ok is not None:
                    yield self._unpacked(reply.ok.payload.to_bytes())
        except (self._zenoh.ZError, InvalidMessage) as error:
            self._refuse(f"a reply: {error}")

    @staticmethod
    def _unpacked(data: bytes) -> tuple[dict[str, Any], list[Any]]:
        return unpack(data)

    # -- Out

    def _send_records(self) -> None:
        """Publish changes as they are made, and say regularly how far this peer is."""
        beat_s = meet_s = 0.0
        doubt_s = time.monotonic() + _DOUBT_S if self.connection.connect else math.inf
        while not self.is_closed:
            if self._records.wait(max(0.0, beat_s - time.monotonic())):
                self._guarded(self._publish_records)
                self._changed_s = time.monotonic()
                beat_s = min(beat_s, self._changed_s + _HEARTBEAT_S)
            if time.monotonic() >= beat_s:
                is_busy = time.monotonic() - self._changed_s < _BUSY_S
                beat_s = time.monotonic() + (_HEARTBEAT_S if is_busy else _QUIET_S)
                self._guarded(self._publish_state)
            if time.monotonic() >= doubt_s:
                doubt_s = math.inf
                self._guarded(self._report_if_alone)
            if self._meeting is not None and time.monotonic() >= meet_s:
                meet_s = time.monotonic() + _MEET_S
                self._guarded(self._meeting.hold)

    def _report_if_alone(self) -> None:
        """Report endpoints that nobody answers at, or nobody who lets this process in."""
        info = self._session.info
        if not [*info.routers_zid(), *info.peers_zid()]:
            where = ", ".join(self.connection.connect)
            hint = "It goes on trying. Is a process listening there, and are user, password or certificates right?"
            self._store.dispatcher.report(ShareFailed(self.name, f"nobody lets this process in at {where}", hint))

    def _publish_records(self) -> None:
        records, samples, has_gap = self._records.drain()
        if records or samples or has_gap:
            self._publish(lambda header: pack_structure(header, records, from_tap(samples)))

    def _publish(self, make: Callable[[dict[str, Any]], bytes]) -> None:
        with self._lock:
            self._sequence += 1
            self._tail.put(make({"s": self._sequence}))

    def _publish_state(self) -> None:
        state = {"s": self._sequence, "held": self._held(), "name": self._store.name, "clock": self._clock}
        self._beat.put(pack(state))

    @property
    def _clock(self) -> str:
        return "wall" if self._store.settings.clock is None else "driven"

    def _held(self) -> str:
        """Return a digest of which changes are held."""
        return _digest(vector_entry(self._store.version_vector()))

    def _announce(self, number: int, channel: Channel) -> None:
        self._publish(lambda header: pack({**header, "channels": [[number, channel.entry()]]}))

    def _say_goodbye(self) -> None:
        """Say how many samples there were: who has them all knows that no more come."""
        with suppress(self._zenoh.ZError):
            self._publish(lambda header: pack({**header, "bye": self._giving.final()}))

    # -- In

    def _subscribe(self, peer: str, number: int, tier: str) -> Any:
        return self._session.declare_subscriber(f"{self._key}/s/{peer}/{number}/{tier}", self._direct(self._came("s")))

    def _alive(self) -> list[Peer]:
        with self._lock:
            return [peer for peer in self._peers.values() if peer.is_alive and not peer.is_refused]

    def _take(self) -> None:
        while (message := self._inbox.get()) is not None:
            kind, key, data = message
            try:
                if kind == "s":
                    self._take_samples(key, data)
                elif kind == "p":
                    self._take_token(key, is_there=bool(data))
                else:
                    self._take_state(key.rsplit("/", 1)[-1], kind, data)
            except InvalidMessage as error:
                self._refuse(error.reason)
            except Exception as error:  # noqa: BLE001  (no message may end the thread)
                self._refuse(f"{type(error).__name__}: {error}")

    def _peer(self, peer: str) -> Peer:
        with self._lock:
            return self._peers.setdefault(peer, Peer(peer))

    def _take_token(self, peer: str, *, is_there: bool) -> None:
        known = self._peer(peer)
        known.is_alive, known.heard_s = is_there, time.monotonic()
        self._changed_s = time.monotonic()
        if is_there:
            self._receiving.peer_came()
            self._lacking.put((peer, _STATE))
            return
        self._receiving.peer_gone(known)
        kept = [channel.entry() for channel in self._receiving.kept()]
        if kept and not self.is_closed:  # who came meanwhile, and has not met that peer
            self._publish(lambda header: pack({**header, "kept": kept}))
        with self._lock:
            others = [one.id for one in self._peers.values() if one.is_alive]
        for other in [] if known.has_history else others:  # it went before it said all: others may have it
            self._lacking.put((other, _AGAIN))

    def _take_state(self, sender: str, kind: str, data: bytes) -> None:
        header, arrays = unpack(data)
        peer, sequence = self._peer(sender), header.get("s")
        if not isinstance(sequence, int) or isinstance(sequence, bool) or sequence < 0:
            raise InvalidMessage("it has no number")
        peer.heard_s = time.monotonic()
        if kind == "b":
            peer.name, peer.held = str(header.get("name", ""))[:200], str(header.get("held", ""))[:64]
            self._check_clock(peer, str(header.get("clock")))
            if sequence > peer.received and not peer.is_refused:
                self._lacking.put((sender, _STATE))
            return
        if peer.is_refused or sequence <= peer.received:
            return
        if sequence > peer.received + 1:
            self._lacking.put((sender, _STATE))  # and what is here is taken all the same
        self._take_structure(peer, header, arrays)
        if sequence == peer.received + 1:
            peer.received = sequence

    def _check_clock(self, peer: Peer, theirs: str) -> None:
        if theirs != self._clock and not peer.is_refused:
            peer.is_refused = True
            self._store.dispatcher.report(ClocksDiffer(peer.name or peer.id, theirs, self._clock))

    def _take_structure(self, peer: Peer, header: dict[str, Any], arrays: list[Any]) -> None:
        for number, entry in _pairs(header.get("channels", [])):
            channel = Channel.read(entry)
            with self._lock:
                peer.channels[number] = channel
            self._receiving.announce(peer, number, channel)
        if "kept" in header:
            self._receiving.keep(Channel.read(entry) for entry in _list(header["kept"]))
        if "bye" in header:
            self._receiving.note_final(peer, _counts(header["bye"]))
        if "records" in header:
            records, samples = records_in(header, arrays), node_samples_in(header, arrays)
            store = self._store
            if records:
                store.as_others(lambda: store.merge(records))
                peer.records += len(records)
            self._unplaced = store_node_samples(store, [*self._unplaced, *samples])[-_MOST_PARKED:]
        self._receiving.place()

    def _take_samples(self, key: str, data: bytes) -> None:
        sender, number = key.split("/")[-_CHANNEL_KEYS:-1]
        message, peer = unpack_samples(data), self._peer(sender)
        if str(message.channel) != number:
            raise InvalidMessage("samples came under the key of others")
        peer.heard_s = time.monotonic()
        if not peer.is_refused:
            self._receiving.take(sender, message)

    # -- What is lacking

    def _fetch(self) -> None:
        """Ask peers for what is lacking here, one after the other."""
        while not self.is_closed:
            try:
                asked = self._lacking.get(timeout=_PING_S)
            except queue.Empty:
                self._guarded(self._ping_all)
                continue
            if asked is None:
                return
            more = {asked}
            while not self._lacking.empty():
                if (one := self._lacking.get()) is None:
                    return
                more.add(one)
            for peer in sorted({peer for peer, _ in more}):
                wants = _AGAIN if (peer, _AGAIN) in more else _STATE
                self._guarded(partial(self._catch_up, self._peer(peer), wants))

    def _catch_up(self, peer: Peer, wants: str) -> None:
        if not peer.is_alive or peer.is_refused:
            return
        if wants == _AGAIN:
            self._closed.wait(_UNTIL_ALL_NOTICED_S)
        asked = {"have": vector_entry(self._store.version_vector())}
        reply = self._ask(peer.id, "lacking", asked)
        if reply is None:
            self._closed.wait(0.1)
            if peer.is_alive:
                self._lacking.put((peer.id, wants))
            return
        header, arrays = reply
        peer.name = str(header.get("name", ""))[:200]
        self._check_clock(peer, str(header.get("clock")))
        if peer.is_refused:
            return
        self._take_structure(peer, header, arrays)
        self._store.note_held(vector_in(header.get("held")), vector_in(header.get("dropped")))
        self._ping(peer)
        peer.held, self._changed_s = _digest(header.get("held")), time.monotonic()
        sequence = header.get("s")
        peer.received = max(peer.received, sequence if isinstance(sequence, int) else 0)
        if header.get("is_whole") is not True and peer.id not in self._warned:
            self._warned.add(peer.id)
            self._store.dispatcher.report(PeerBehind(peer.name or peer.id))
        peer.has_history = True

    def _ping_all(self) -> None:
        with self._lock:
            peers = [peer for peer in self._peers.values() if peer.is_alive]
        for peer in peers:
            self._ping(peer)

    def _ping(self, peer: Peer) -> None:
        """Measure the round trip, and how far the other machine's clock is ahead, at the middle of it."""
        sent_s, wall_ns = time.monotonic(), time.time_ns()
        reply = self._ask(peer.id, "time", {}, timeout_s=1.0)
        if reply is None or not isinstance(reply[0].get("now"), int):
            return
        trip_s = time.monotonic() - sent_s
        if peer.round_trip_s is None or trip_s <= 2.0 * peer.round_trip_s:
            peer.clock_ahead_s = 1e-9 * (reply[0]["now"] - wall_ns) - 0.5 * trip_s
        peer.round_trip_s = trip_s

    # -- Replies

    def _reply(self, questions: queue.SimpleQueue[Any]) -> None:
        while (question := questions.get()) is not None:
            what = str(question.key_expr).rsplit("/", 1)[-1]
            try:
                data = question.payload.to_bytes() if question.payload is not None else b""
                for answer in self._answers(what, data):
                    question.reply(f"{self._key}/q/{self.id}/{what}", answer)
            except InvalidMessage as error:
                self._refuse(error.reason)
            except Exception as error:  # noqa: BLE001  (no question may end the thread)
                self._refuse(f"{type(error).__name__}: {error}")
            finally:
                question.drop()

    def _answers(self, what: str, data: bytes) -> Iterable[bytes]:
        if what == "ask":
            if self._answer is not None:
                yield self._answer(data)
            return
        header, _ = unpack(data)
        match what:
            case "lacking":
                yield self._lacking_of(vector_in(header.get("have")))
            case "samples":
                yield from self._giving.answers(header)
            case "kept":
                for entry in _list(header.get("of")):
                    yield from self._kept(Channel.read(entry))
            case "held":
                yield pack({"held": vector_entry(self._store.version_vector())})
            case "time":
                yield pack({"now": time.time_ns()})

    def _lacking_of(self, held: dict[int, list[tuple[int, int]]]) -> bytes:
        """Return what a peer lacks; the number comes first, so that what is changed meanwhile comes again."""
        with self._lock:
            state: dict[str, Any] = {"s": self._sequence, "clock": self._clock}
        state |= {"channels": self._giving.entries(), "kept": [one.entry() for one in self._receiving.kept()]}
        state["name"] = self._store.name
        ours, dropped = self._store.version_vector(), self._store.dropped()
        try:
            records, is_whole = self._store.changes(since=held), True
        except ChangesForgotten:
            records, is_whole = self._store.changes(), False
        vectors = {"held": vector_entry(ours), "dropped": vector_entry(dropped), "is_whole": is_whole}
        return pack_structure({**state, **vectors}, records, all_node_samples(self._store))

    def _kept(self, channel: Channel) -> Iterable[bytes]:
        """Yield what is here of a channel whose giver has gone."""
        is_all, found = self._receiving.is_all_of(channel), numbers_of(self._store, channel)
        oldest = None
        if is_all is not None and found is not None:
            kind, number = found
            if kind == "twist":
                oldest, messages = twist_messages(self._store, 0, channel, None)
            else:
                oldest, messages = channel_messages(self._store, 0, kind, number, None)
            yield from messages
        yield pack({"n": 0, "is_end": True, "is_all": is_all is True, "from": oldest})

    def leave_in_child(self) -> None:
        """Leave: the threads of the parent, and the session's, are not there. The child may share its world anew."""
        self._closed.set()
        self._session = self._meeting = None

    # -- Errors

    def _refuse(self, reason: str) -> None:
        """Count what was refused; of reasons that differ by what is in them only so many are told apart."""
        with self._lock:
            known = reason if reason in self._refused or len(self._refused) < 100 else "others"  # noqa: PLR2004
            self._refused[known] = self._refused.get(known, 0) + 1

    def _guarded(self, work: Callable[[], None]) -> None:
        """Do work of a thread, which no error may end."""
        try:
            work()
        except InvalidMessage as error:
            self._refuse(error.reason)
        except Exception as error:  # noqa: BLE001
            if not self.is_closed:
                self._store.dispatcher.report(
                    error if isinstance(error, ArmillaryError) else ShareFailed(self.name, str(error), "It goes on.")
                )


_shares: weakref.WeakSet[Share] = weakref.WeakSet()


def _leave_in_child() -> None:
    for share in _shares:
        share.leave_in_child()


os.register_at_fork(after_in_child=_leave_in_child)


def _selection(samples: str | _Wants) -> tuple[_Wants, bool]:
    """Return which channels are taken, and whether only while somebody asks for them."""
    if callable(samples):
        return samples, False
    if samples in {"all", "on_demand"}:
        return _everything, samples == "on_demand"
    if samples == "none":
        return _nothing, False
    raise InvalidArgument(
        "samples must be 'on_demand', 'all', 'none', or a function of a Channel that returns whether to take it, got "
        f"{samples!r}.",
        samples,
    )


def _list(entries: Any) -> list[Any]:
    if not isinstance(entries, list):
        raise InvalidMessage("something is not listed")
    return entries


def _counts(entries: Any) -> list[tuple[int, int]]:
    """Read how many samples there are of each channel."""
    if not isinstance(entries, list) or not all(
        isinstance(one, list) and len(one) == 2 and all(isinstance(number, int) for number in one)  # noqa: PLR2004
        for one in entries
    ):
        raise InvalidMessage("its counts are not listed")
    return [(number, count) for number, count in entries]


def _digest(vector: Any) -> str:
    """Return a digest of the entry of a version vector."""
    return hashlib.blake2b(json.dumps(vector).encode(), digest_size=16).hexdigest()


def _everything(_: Channel) -> bool:
    return True


def _nothing(_: Channel) -> bool:
    return False


def _pairs(entries: Any) -> Iterable[tuple[int, Any]]:
    if not isinstance(entries, list) or not all(isinstance(one, list) and len(one) == 2 for one in entries):  # noqa: PLR2004
        raise InvalidMessage("its channels are not listed")
    for number, entry in entries:
        if not isinstance(number, int) or isinstance(number, bool) or not 0 < number < 2**31:
            raise InvalidMessage("a channel has no number")
        yield number, entry


def _covers(held: dict[int, list[tuple[int, int]]], target: dict[int, list[tuple[int, int]]]) -> bool:
    """Whether a version vector has all that another has."""
    return all(
        any(first <= low and high <= last for first, last in held.get(author, []))
        for author, ranges in target.items()
        for low, high in ranges
    )


def _close_at_exit(share: weakref.ref[Share]) -> None:
    alive = share()
    if alive is not None:
        alive.close()
