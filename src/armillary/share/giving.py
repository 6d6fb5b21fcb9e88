"""Samples on their way out: published in batches to who subscribes, and handed out from the history to who asks."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any

from armillary.errors import ArmillaryError, InvalidMessage
from armillary.forks import new_lock
from armillary.share.history import channel_messages, twist_messages
from armillary.wire.channels import Channel
from armillary.wire.messages import pack, pack_samples

if TYPE_CHECKING:
    from armillary._core import SampleBatch
    from armillary.store import Store

__all__ = ["BATCHED", "PROMPT", "Giving"]

PROMPT, BATCHED = "p", "b"
"""The last part of a key: samples as soon as they are given, or those of a few milliseconds together."""

_LOGGED, _LOG_NS = 2048, 50_000_000
_PROMPT_S = 1.0


@dataclass(slots=True)
class _Outgoing:
    """One channel that goes out.

    Attributes:
        log: (number behind the last sample, oldest stamp among them), for stretches of sending, oldest first.
        log_from: The number of the first sample that the log covers.
    """

    number: int
    kind: str
    relation: int
    channel: Channel
    publishers: dict[str, Any]
    sent: int = 0
    log: deque[tuple[int, int, int]] = field(default_factory=deque)
    log_from: int = 0
    held: list[tuple[int, SampleBatch]] = field(default_factory=list)

    def note(self, stamps: Any) -> int:
        """Count samples that go out; the number of the first."""
        first, oldest, now_ns = self.sent, int(stamps.min()), time.monotonic_ns()
        self.sent += len(stamps)
        if self.log and now_ns - self.log[-1][2] < _LOG_NS:
            self.log[-1] = (self.sent, min(oldest, self.log[-1][1]), self.log[-1][2])
        else:
            self.log.append((self.sent, oldest, now_ns))
        if len(self.log) > _LOGGED:
            self.log_from = self.log.popleft()[0]
        return first

    def oldest_since(self, number: int) -> tuple[bool, int | None]:
        """Return whether it is known which samples came from one number on, and the oldest stamp of them."""
        if number < self.log_from or number > self.sent:
            return False, None
        stamps = [oldest for last, oldest, _ in self.log if last > number]
        return True, min(stamps, default=None)


class Giving:
    """The samples that this process gives, and who gets them.

    Nothing is sent of a channel that nobody subscribes. Who subscribes asks for the history as well: the samples from a
    number on, or all. What is counted as sent before the history is read is in it; what comes later is published after.

    Lock: `_lock` guards channels and their counts.

    Attributes:
        key: Under which it publishes.
    """

    def __init__(
        self,
        store: Store,
        session: Any,
        zenoh: Any,
        key: str,
        *,
        batch_s: float,
        announce: Callable[[int, Channel], None],
        report: Callable[[Callable[[], None]], None],
    ) -> None:
        self.key = key
        self._store, self._session, self._zenoh = store, session, zenoh
        self._batch_s, self._announce, self._guarded = batch_s, announce, report
        self._lock, self._closed = new_lock(), threading.Event()
        self._channels: dict[tuple[str, int, int], _Outgoing] = {}
        self._numbered: dict[int, _Outgoing] = {}
        self._prompt_until_s = 0.0
        self._samples = store.tap_samples()

    @property
    def dropped(self) -> int:
        """How many samples were not sent in time, and are not sent."""
        return self._samples.dropped

    def entries(self) -> list[list[Any]]:
        """Return the channels that were announced, for a message."""
        with self._lock:
            return [[number, one.channel.entry()] for number, one in self._numbered.items()]

    def final(self) -> list[list[int]]:
        """Return how many samples of each channel were given in all."""
        with self._lock:
            return [[number, one.sent] for number, one in self._numbered.items()]

    def subscribed(self) -> tuple[Channel, ...]:
        """Return the channels that another process subscribes at present."""
        with self._lock:
            known = list(self._numbered.values())
        return tuple(
            one.channel for one in known if any(one_.matching_status.matching for one_ in one.publishers.values())
        )

    def run(self) -> None:
        """Publish samples until it is closed."""
        is_dense, sent_s = False, 0.0
        while not self._closed.is_set():
            is_prompt = time.monotonic() < self._prompt_until_s
            if not self._samples.wait(self._batch_s if self._has_held() else 1.0):
                self._guarded(self._flush)
                continue
            if is_dense and not is_prompt:
                self._closed.wait(self._batch_s)
            batches = self._samples.drain()
            now_s = time.monotonic()
            is_due = not is_prompt or now_s - sent_s >= self._batch_s
            self._guarded(partial(self._publish, batches, is_due=is_due))
            if is_due:
                interval_s, sent_s = now_s - sent_s, now_s
                is_dense = max(map(len, batches), default=0) > 1 if is_dense else interval_s < 0.5 * self._batch_s
        self._guarded(lambda: self._publish(self._samples.drain(), is_due=True))

    def stop(self) -> None:
        """End `run`, when what was given is published."""
        self._closed.set()
        self._samples.close()

    def _has_held(self) -> bool:
        return any(one.held for one in self._channels.values())

    def _publish(self, batches: list[SampleBatch], *, is_due: bool) -> None:
        for batch in batches:
            rows, stamps = batch.rows, batch.stamps
            one = self._channels.get((batch.kind, batch.number, rows.shape[1]))
            if one is None:
                one = self._opened(batch, rows.shape[1])
            with self._lock:
                first = one.note(stamps)
            prompt, batched = one.publishers[PROMPT], one.publishers[BATCHED]
            if prompt.matching_status.matching:
                self._prompt_until_s = time.monotonic() + _PROMPT_S
                prompt.put(pack_samples(one.number, first, batch.base, stamps, rows))
            if batched.matching_status.matching:
                one.held.append((first, batch))
            elif one.held:
                one.held.clear()
        if is_due:
            self._flush()

    def _flush(self) -> None:
        """Publish what was held back so that it goes together: what was given on top of the same changes."""
        import numpy as np  # noqa: PLC0415

        for one in list(self._channels.values()):
            held, one.held = one.held, []
            for base, parts in groupby(held, key=lambda part: part[1].base):
                together = list(parts)
                stamps = np.concatenate([batch.stamps for _, batch in together])
                rows = np.concatenate([batch.rows for _, batch in together])
                one.publishers[BATCHED].put(pack_samples(one.number, together[0][0], base, stamps, rows))

    def _opened(self, batch: SampleBatch, width: int) -> _Outgoing:
        """Announce a channel to all peers, reliably; its samples may come before."""
        number, zenoh = len(self._numbered) + 1, self._zenoh
        publishers = {
            tier: self._session.declare_publisher(
                f"{self.key}/{number}/{tier}",
                congestion_control=zenoh.CongestionControl.DROP,
                priority=zenoh.Priority.INTERACTIVE_HIGH,
            )
            for tier in (PROMPT, BATCHED)
        }
        one = _Outgoing(number, batch.kind, batch.number, Channel.of_batch(batch), publishers)
        with self._lock:
            self._channels[batch.kind, batch.number, width] = self._numbered[number] = one
        self._announce(number, one.channel)
        return one

    # -- The history

    def answers(self, header: Mapping[str, Any]) -> Iterator[bytes]:
        """Yield what of some channels is stored, from a number of sample on, and at the end of each how far that goes.

        Raises:
            InvalidMessage: It asks for no channels.
        """
        asked = header.get("of")
        if not isinstance(asked, list) or not all(isinstance(one, list) and len(one) == 2 for one in asked):  # noqa: PLR2004
            raise InvalidMessage("it asks for no channels")
        if header.get("prompt") is True:
            self._prompt_until_s = time.monotonic() + _PROMPT_S
        for number, since in asked:
            with self._lock:
                one = self._numbered.get(number) if isinstance(number, int) else None
            if one is None or not (since is None or isinstance(since, int)):
                raise InvalidMessage("it asks for a channel that is not there")
            yield from self._history(one, since)

    def _history(self, one: _Outgoing, since: int | None) -> Iterator[bytes]:
        with self._lock:  # first: what is published later comes by itself
            is_known, oldest = one.oldest_since(since) if since is not None else (False, None)
            reached = one.sent
        begin = None
        if not is_known or oldest is not None:
            start = oldest if is_known else None
            try:
                if one.kind == "twist":
                    messages = twist_messages(self._store, one.number, one.channel, start)
                else:
                    messages = channel_messages(self._store, one.number, one.kind, one.relation, start)
                first, parts = messages
            except ArmillaryError:  # the relation has gone
                first, parts = None, iter(())
            begin = None if is_known and first is not None and start is not None and first <= start else first
            yield from parts
        yield pack({"n": one.number, "is_end": True, "next": reached, "from": begin})
