"""Who is told of changes: once, in order, in batches, after they happened; nobody can harm the others."""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from armillary.errors import InvalidArgument

if TYPE_CHECKING:
    from armillary.scene.changes import Change

__all__ = ["Observers"]

Batch = Sequence["Change"]
Observer = Callable[[Batch], object]


class Observers:
    """The observers of one scene.

    A callable is called on the thread that made the change. Something with `put_nowait`, such as a `queue.Queue`, gets
    the batches put into it; what a full queue misses is counted, and said once.
    """

    def __init__(self, report: Callable[[BaseException], None]) -> None:
        self._report = report
        self._tellers: dict[int, _Teller] = {}
        self._waiting: deque[tuple[Batch, tuple[_Teller, ...]]] = deque()
        self._telling = threading.Lock()

    def __bool__(self) -> bool:
        return bool(self._tellers)

    def attach(self, observer: Observer | queue.Queue[Batch]) -> None:
        """Tell it of every change from now on."""
        if not callable(observer) and not hasattr(observer, "put_nowait"):
            raise InvalidArgument("An observer is a callable that takes a batch of changes, or a queue.", observer)
        if id(observer) in self._tellers:
            raise InvalidArgument("This observer is attached already; it would be told everything twice.", observer)
        self._tellers[id(observer)] = _Teller(observer, self._report)

    def detach(self, observer: Observer | queue.Queue[Batch]) -> None:
        """Tell it no more."""
        if self._tellers.pop(id(observer), None) is None:
            raise InvalidArgument("This observer is not attached. Detach the very object that was attached.", observer)

    def post(self, batch: Batch) -> None:
        """Put a batch in line. To be called in the order of the changes."""
        if batch and self._tellers:
            self._waiting.append((tuple(batch), tuple(self._tellers.values())))

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
        self._deliver = observer if callable(observer) else observer.put_nowait
        self._report, self._has_missed = report, False

    def tell(self, batch: Batch) -> None:
        """Whatever goes wrong is the observer's own affair."""
        try:
            self._deliver(batch)
            self._has_missed = False
        except queue.Full as error:
            if not self._has_missed:
                self._report(error)
            self._has_missed = True
        except Exception as error:  # noqa: BLE001  (whatever an observer raises)
            self._report(error)
