"""Who is told of changes: once, in order, in batches, after they happened; nobody can harm the others."""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from armillary.errors import InvalidArgument, ObserverBehind

if TYPE_CHECKING:
    from armillary.scene.changes import Change

__all__ = ["Observers"]

Batch = Sequence["Change"]
Observer = Callable[[Batch], object]


class Observers:
    """The observers of one scene.

    A callable is called on the thread that made the change. Something with `put_nowait`, such as a `queue.Queue`, gets
    the batches put into it; what a full queue misses is counted, and said once. So is what others change while a slow
    callable runs, when more than `most` batches are in line.
    """

    def __init__(self, report: Callable[[BaseException], None], most: int) -> None:
        self._report, self._most = report, most
        self.tellers: list[_Teller] = []
        self._waiting: deque[tuple[Batch, tuple[_Teller, ...]]] = deque()
        self._telling = threading.Lock()

    def attach(self, observer: Observer | queue.Queue[Batch]) -> None:
        """Tell it of every change from now on."""
        if not callable(observer) and not hasattr(observer, "put_nowait"):
            raise InvalidArgument("An observer is a callable that takes a batch of changes, or a queue.", observer)
        if self._teller_of(observer) is not None:
            raise InvalidArgument("This observer is attached already; it would be told everything twice.", observer)
        self.tellers = [*self.tellers, _Teller(observer, self._report)]

    def detach(self, observer: Observer | queue.Queue[Batch]) -> None:
        """Tell it no more."""
        teller = self._teller_of(observer)
        if teller is None:
            raise InvalidArgument("This observer is not attached. Detach what was attached.", observer)
        self.tellers = [other for other in self.tellers if other is not teller]

    def _teller_of(self, observer: object) -> _Teller | None:
        """A method of an object is another object each time it is asked for, but equal."""
        return next((teller for teller in self.tellers if teller.observer == observer), None)

    def post(self, batch: Batch) -> None:
        """Put a batch in line. To be called in the order of the changes."""
        if not batch or not self.tellers:
            return
        if len(self._waiting) < self._most:
            self._waiting.append((tuple(batch), tuple(self.tellers)))
            return
        for teller in self.tellers:
            teller.miss()

    def tell(self) -> None:
        """Tell what is in line, unless another thread is at it already: then it goes on with this."""
        while self._waiting and self._telling.acquire(blocking=False):
            try:
                while self._waiting:
                    batch, tellers = self._waiting.popleft()
                    for teller in tellers:
                        teller.tell(batch)
            finally:
                self._telling.release()


class _Teller:
    """One observer, and what it missed."""

    def __init__(self, observer: Any, report: Callable[[BaseException], None]) -> None:
        self.observer = observer
        self._deliver = observer if callable(observer) else observer.put_nowait
        self._report, self._missed, self._is_behind = report, 0, False

    def tell(self, batch: Batch) -> None:
        """Whatever goes wrong is the observer's own affair."""
        try:
            self._deliver(batch)
            self._is_behind = False
        except queue.Full:
            self.miss()
        except Exception as error:  # noqa: BLE001  (whatever an observer raises)
            self._report(error)

    def miss(self) -> None:
        """A batch does not reach it."""
        self._missed += 1
        if not self._is_behind:
            self._report(ObserverBehind(self.observer, self._missed))
        self._is_behind = True
