"""Waits and callbacks of one store, on one thread: started when first needed, ended by `close`."""

from __future__ import annotations

import heapq
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from armillary._core import ReadyQueue
from armillary.errors import ArmillaryError, InvalidArgument, LimitReached, WaitTimeout, WorldClosed
from armillary.forks import begin_anew_in_child, new_lock
from armillary.store.names import frame_name
from armillary.store.values import as_number

if TYPE_CHECKING:
    import weakref

    from armillary._core import Pose, StoreCore

_NEW_DEADLINE = 0  # no wait has this id
_STOP = 2**63
_POSTED = _STOP + 1
_LONGEST_S = 1e9
_TOO_MANY = "Cancel some, keep callbacks short, or give World(max_waits=) a larger number."
_PAUSE_S = 0.01  # after an unexpected error, which may come again at once


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of question that can be waited for.

    Attributes:
        what: Its name, and that of the method of a store that answers.
        watch: The method of the core that answers, or watches for what is missing.
        reference: The keyword argument of the other frame.
    """

    what: str
    watch: str
    reference: str


POSE = Kind("pose", "pose_or_watch", "in_frame")
TWIST = Kind("twist", "twist_or_watch", "relative_to")


@dataclass(slots=True)
class Wait:
    """A question that waits for its answer."""

    wait_id: int
    kind: Kind
    question: Mapping[str, Any]
    on_answer: Callable[[Any], object]
    on_failure: Callable[[Any], object] | None
    deadline: float | None = None
    timeout_s: float = 0.0
    claimed: bool = field(default=False)


class WaitHandle:
    """A pending callback; `cancel()` makes sure it will not be called any more."""

    def __init__(self, dispatcher: Dispatcher, wait: Wait) -> None:
        self._dispatcher, self._wait = dispatcher, wait

    def cancel(self) -> bool:
        """Remove the callback. Return True if it had not been called, and now never will be."""
        return self._dispatcher.cancel(self._wait)


class Dispatcher:
    """Repeats questions whose answers may have become known, and calls back; never under a lock.

    It does not keep its store alive: a store that is garbage ends its dispatcher. At most `max_waits` callbacks are
    pending, whether their answers are missing or other callbacks are slow; `ask` refuses more.
    `_lock` guards `_waits`, `_deadlines`, `_posted`, `_thread`, `_closed` and every `Wait.claimed`.
    """

    def __init__(self, store: weakref.ref[StoreCore], max_waits: int) -> None:
        self._store, self.max_waits = store, max_waits
        self._queue = ReadyQueue()
        self._lock = new_lock()
        self._waits: dict[int, Wait] = {}
        self._deadlines: list[tuple[float, int]] = []
        self._posted: dict[Callable[[], object], None] = {}
        self._thread: threading.Thread | None = None
        self._closed = False
        begin_anew_in_child(self._begin_anew)

    def _begin_anew(self) -> None:
        """Leave all waits to the parent of a fork, which has the thread that serves them."""
        self._queue, self._thread = ReadyQueue(), None
        self._waits, self._deadlines, self._posted = {}, [], {}

    def ask(
        self,
        question: Mapping[str, Any],
        on_answer: Callable[[Any], object],
        on_failure: Callable[[ArmillaryError], object] | None = None,
        timeout_s: float | None = None,
        kind: Kind = POSE,
    ) -> WaitHandle:
        """Call `on_answer` once, on the dispatcher's thread, when the question has an answer.

        Raises:
            LimitReached: As many callbacks as allowed are pending already.
        """
        check_callback(on_answer, "callback")
        check_callback(on_answer if on_failure is None else on_failure, "on_failure")
        timeout_s = check_timeout(timeout_s)
        wait = Wait(self._alive().new_wait_id(), kind, dict(question), on_answer, on_failure)
        with self._lock:
            if self._closed:
                raise WorldClosed
            if len(self._waits) >= self.max_waits:
                raise LimitReached("callbacks", self.max_waits, _TOO_MANY)
            self._start()
            self._waits[wait.wait_id] = wait
            if timeout_s is not None:
                wait.deadline, wait.timeout_s = time.monotonic() + timeout_s, timeout_s
                heapq.heappush(self._deadlines, (wait.deadline, wait.wait_id))
        if not self._watch_at_once(wait):
            self._queue.wake(wait.wait_id)
        elif wait.deadline is not None:
            self._queue.wake(_NEW_DEADLINE)
        return WaitHandle(self, wait)

    def _watch_at_once(self, wait: Wait) -> bool:
        """Watch from the call on, so that waits for the same are woken in their order; return whether it watches.

        What has an answer, or fails, is examined on the dispatcher's thread; so is a policy of the caller's own.
        """
        if not isinstance(wait.question["policy"], str):
            return False
        try:
            watches = getattr(self._alive(), wait.kind.watch)(self._queue, wait.wait_id, **wait.question) is None
        except Exception:  # noqa: BLE001  (the dispatcher's thread meets it again, and reports it)
            return False
        if wait.claimed:  # timed out meanwhile, and nothing else ends its watch
            self._forget(wait)
        return watches

    def knows(self, question: Mapping[str, Any]) -> Pose | None:
        """Return the answer, if there is one already."""
        try:
            return self._alive().pose(**question)
        except ArmillaryError:
            return None

    def frame_name(self, frame: object) -> str:
        """Return the checked name of a frame, which need not exist yet, or is given by the id of a node."""
        return frame_name(self._alive(), frame)

    def check(self, question: Mapping[str, Any]) -> None:
        """Raise the error of an invalid question, or of a closed store."""
        if self._closed:
            raise WorldClosed
        self._alive().check_question(**question)

    def post(self, callback: Callable[[], object]) -> None:
        """Call `callback()` once, soon, on the dispatcher's thread. Posting what is posted already changes nothing."""
        with self._lock:
            if self._closed:
                raise WorldClosed
            self._start()
            if callback in self._posted:
                return
            self._posted[callback] = None
        self._queue.wake(_POSTED)

    def call(self, callback: Callable[..., object], *values: object) -> None:
        """Call back, on the dispatcher's thread; report what the callback raises."""
        try:
            callback(*values)
        except BaseException as error:  # noqa: BLE001  (an error of a callback must not end the thread)
            self.report(error)

    def report(self, error: BaseException) -> None:
        """Pass an error to `store.on_error`, or print it where that is not set."""
        chosen = getattr(self._store(), "on_error", None)
        try:
            (print_error if chosen is None else chosen)(error)
        except BaseException:  # noqa: BLE001  (stderr is what remains)
            print_error(error)

    def cancel(self, wait: Wait) -> bool:
        """Cancel a wait; return whether it had not been answered yet."""
        with self._lock:
            first = self._claim(wait)
        self._forget(wait)
        return first

    def close(self, *, wait: bool = True) -> None:
        """End the thread; every pending wait fails with `WorldClosed`. With `wait`, return after a running callback."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            thread = self._thread
        if thread is None:
            return
        self._queue.wake(_STOP)
        if wait and thread is not threading.current_thread():
            thread.join()

    def _alive(self) -> StoreCore:
        store = self._store()
        if store is None:
            raise WorldClosed
        return store

    def _forget(self, wait: Wait) -> None:
        store = self._store()
        if store is not None:
            store.forget_wait(wait.wait_id)
        self._queue.forget(wait.wait_id)

    def _forget_old_deadlines(self) -> None:
        """Remove the deadlines of waits that ended early, once they are many. The caller holds the lock."""
        if len(self._deadlines) > 2 * len(self._waits) + 16:
            self._deadlines = [entry for entry in self._deadlines if entry[1] in self._waits]
            heapq.heapify(self._deadlines)

    def _claim(self, wait: Wait) -> bool:
        """Return True to exactly one of answering, failing and cancelling. The caller holds the lock."""
        if wait.claimed:
            return False
        wait.claimed = True
        self._waits.pop(wait.wait_id, None)
        self._forget_old_deadlines()
        return True

    def _start(self) -> None:
        if self._thread is None:
            thread = threading.Thread(target=self._run, name="armillary-dispatcher", daemon=True)
            thread.start()
            self._thread = thread

    @property
    def is_this_thread(self) -> bool:
        """Whether the caller is on the dispatcher's thread: in a callback."""
        return self._thread is threading.current_thread()

    def _run(self) -> None:
        """Serve waits until `close`. No error ends the thread: later callbacks would be lost."""
        is_running = True
        while is_running:
            try:
                is_running = self._step()
            except BaseException as error:  # noqa: BLE001  (other waits must be served)
                self.report(error)
                time.sleep(_PAUSE_S)
        for wait in list(self._waits.values()):
            self._fail(wait, WorldClosed())

    def _step(self) -> bool:
        """Serve what is due next; return False when the thread is to end."""
        wait_id = self._queue.pop(self._time_left())
        if wait_id == _STOP:
            return False
        if wait_id == _POSTED:
            self._call_posted()
        with self._lock:
            wait = self._waits.get(wait_id)
        if wait is not None:
            self._examine(wait)
        self._end_overdue()
        return True

    def _call_posted(self) -> None:
        with self._lock:
            callback = next(iter(self._posted))
            del self._posted[callback]
        self.call(callback)

    def _time_left(self) -> float:
        with self._lock:
            return max(0.0, self._deadlines[0][0] - time.monotonic()) if self._deadlines else -1.0

    def _end_overdue(self) -> None:
        for wait in self._overdue():
            reason = self._examine(wait)
            if reason is not None:
                ends = wait.question["of"], wait.question[wait.kind.reference]
                self._fail(wait, WaitTimeout(*ends, wait.timeout_s, reason, what=wait.kind.what))

    def _overdue(self) -> list[Wait]:
        late, now = [], time.monotonic()
        with self._lock:
            while self._deadlines and self._deadlines[0][0] <= now:
                _, wait_id = heapq.heappop(self._deadlines)
                if wait_id in self._waits:
                    late.append(self._waits[wait_id])
        return late

    def _examine(self, wait: Wait) -> ArmillaryError | None:
        """Answer a wait, end it, or leave it watching; return why it still waits, if it is overdue."""
        try:
            answer = getattr(self._alive(), wait.kind.watch)(self._queue, wait.wait_id, **wait.question)
        except ArmillaryError as error:
            self._fail(wait, error)
            return None
        except BaseException as error:  # noqa: BLE001  (it ends this wait alone, and is reported)
            self._fail_unexpectedly(wait, error)
            return None
        if answer is None:
            return self._why(wait)
        self._finish(wait, wait.on_answer, answer)
        return None

    def _why(self, wait: Wait) -> ArmillaryError | None:
        if wait.claimed:  # cancelled while it was asked: it watches again, and nothing else ends that
            self._forget(wait)
            return None
        if wait.deadline is None or wait.deadline > time.monotonic():
            return None
        try:
            getattr(self._alive(), wait.kind.what)(**wait.question)
        except ArmillaryError as error:
            return error
        return None

    def _fail_unexpectedly(self, wait: Wait, error: BaseException) -> None:
        if wait.on_failure is not None:
            self.report(error)
        self._fail(wait, error)

    def _fail(self, wait: Wait, error: BaseException) -> None:
        self._forget(wait)
        otherwise = _ignore if isinstance(error, WorldClosed) else self.report
        self._finish(wait, otherwise if wait.on_failure is None else wait.on_failure, error)

    def _finish(self, wait: Wait, callback: Callable[[Any], object], value: object) -> None:
        with self._lock:
            if not self._claim(wait):
                return
        self.call(callback, value)


def check_callback(value: object, name: str) -> None:
    """Raise `InvalidArgument` for what cannot be called: later it would fail on another thread."""
    if not callable(value):
        raise InvalidArgument(f"{name} must be something to call, got {value!r}.", value)


def check_timeout(timeout_s: object) -> float | None:
    """Return a checked timeout [s]; None: no limit."""
    if timeout_s is None:
        return None
    seconds = as_number(timeout_s, "timeout_s", allowed="a number of seconds, or None to wait for ever")
    return None if seconds > _LONGEST_S else max(0.0, seconds)


def _ignore(_: BaseException) -> None:
    """Do nothing: without `on_failure`, a store that is closed is no error."""


def print_error(error: BaseException) -> None:
    """Print an error of a callback to stderr, where `on_error` is not set."""
    if sys.stderr is not None:
        sys.stderr.write("armillary: an error in a callback\n")
        traceback.print_exception(error)
