"""Observers of a store: notified of every change once, in order, in batches, after it was published."""

from __future__ import annotations

import queue
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from armillary.errors import InvalidArgument, ObserverBehind
from armillary.forks import Turn, new_lock

if TYPE_CHECKING:
    from armillary._core import ChangeRecord
    from armillary.store.changes import Change
    from armillary.store.store import Store

__all__ = ["Batch", "Observer", "Observers", "notify_of_change"]

Batch = Sequence["Change"]
Observer = Callable[[Batch], object]


class Observers:
    """The observers of one store.

    A callable is called on the thread that made the change. Something with `put_nowait`, such as a `queue.Queue`, gets
    the batches put into it; what a full queue misses is counted, and reported once. So is what others change while a
    slow callable runs, when more than `most` batches are in line.

    `order` is held from a change until it is in line, so that batches are in line in the order of the changes. It is
    the last lock that Python takes: nothing is called back while it is held.
    """

    def __init__(self, report: Callable[[BaseException], None], most: int) -> None:
        self._report, self._most = report, most
        self.order = new_lock()
        self.subscribers: list[_Subscriber] = []
        self._waiting: deque[tuple[Batch, tuple[_Subscriber, ...]]] = deque()
        self._notifying = Turn()

    def attach(self, observer: Observer | queue.Queue[Batch]) -> None:
        """Notify an observer of every change from now on."""
        if not callable(observer) and not hasattr(observer, "put_nowait"):
            raise InvalidArgument("An observer is a callable that takes a batch of changes, or a queue.", observer)
        if self._find(observer) is not None:
            raise InvalidArgument("This observer is attached already; it would be notified twice.", observer)
        self.subscribers = [*self.subscribers, _Subscriber(observer, self._report)]

    def detach(self, observer: Observer | queue.Queue[Batch]) -> None:
        """Stop notifying an observer."""
        subscriber = self._find(observer)
        if subscriber is None:
            raise InvalidArgument("This observer is not attached. Detach what was attached.", observer)
        self.subscribers = [other for other in self.subscribers if other is not subscriber]

    def _find(self, observer: object) -> _Subscriber | None:
        """Find a subscriber by equality: a bound method is another object at each access."""
        return next((subscriber for subscriber in self.subscribers if subscriber.observer == observer), None)

    def post(self, batch: Batch) -> None:
        """Put a batch in line. The caller holds `order`."""
        if not batch or not self.subscribers:
            return
        if len(self._waiting) < self._most:
            self._waiting.append((tuple(batch), tuple(self.subscribers)))
            return
        for subscriber in self.subscribers:
            subscriber.miss()

    def notify(self) -> None:
        """Deliver what is in line, unless another thread does so already: then that one delivers this, too."""
        while self._waiting and self._notifying.take():
            try:
                while self._waiting:
                    batch, subscribers = self._waiting.popleft()
                    for subscriber in subscribers:
                        subscriber.notify(batch)
            finally:
                self._notifying.give_back()


class _Subscriber:
    """One observer, and how much it missed."""

    def __init__(self, observer: Any, report: Callable[[BaseException], None]) -> None:
        self.observer = observer
        self._deliver = observer if callable(observer) else observer.put_nowait
        self._report, self._missed, self._is_behind = report, 0, False

    def notify(self, batch: Batch) -> None:
        """Deliver a batch; what the observer raises is reported, and does not stop the others."""
        try:
            self._deliver(batch)
            self._is_behind = False
        except queue.Full:
            self.miss()
        except Exception as error:  # noqa: BLE001  (whatever an observer raises)
            self._report(error)

    def miss(self) -> None:
        """Count a batch that does not reach the observer."""
        self._missed += 1
        if not self._is_behind:
            self._report(ObserverBehind(self.observer, self._missed))
        self._is_behind = True


def notify_of_change(store: Store, change: Callable[[], ChangeRecord | None]) -> None:
    """Run a change of the bindings in its order, and notify the observers of its record; None: nothing changed."""
    with store.observers.order:
        record = change()
        if record is not None:
            store.observers.post(store.changes_of([record]))
    store.observers.notify()
