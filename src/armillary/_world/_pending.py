"""Measured twists that wait for the poses which turn them, settled by the very call that brings the poses."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from armillary._core import ReadyQueue
from armillary._world._twist_waits import MotionWaitingWorld
from armillary.errors import ArmillaryError, LimitReached, WorldClosed

if TYPE_CHECKING:
    from collections.abc import Iterable

_TOO_MANY = "Say the poses that turn them, forget them with clear(), or give World(max_waits=) a larger number."

_Key = tuple[str, str, int]  # of, source, at: a source measures a frame relative to one body


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingTwist:
    """A measured twist that waits for the poses which turn it.

    Attributes:
        of: The frame that moves.
        relative_to: The body it moves relative to, or a frame on it, as it was named.
        expressed_in: The frame along whose axes the numbers are.
        at: Instant [ns].
        source: Who says so.
    """

    of: str
    relative_to: str
    expressed_in: str
    at: int
    source: str

    def names(self) -> set[str]:
        """The frames and bodies it is about."""
        return {self.of, self.relative_to, self.expressed_in}

    def edge(self) -> tuple[str, str, str]:
        """The relation it will be a sample of."""
        return self.of, self.relative_to, self.source


class PendingWorld(MotionWaitingWorld):
    """A world that keeps twists until they can be stored.

    Each of them watches the pose that it needs, as a wait does: a call that changes none of them tries none of them.
    `_twist_lock` guards `_pending`, `_pending_edges` and `_watches`, and what relations of twists there are while one
    is made. It is taken before the lock of the native half, never after it.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._twist_lock_made = threading.RLock()
        self._pending: dict[_Key, tuple[PendingTwist, dict[str, Any], int]] = {}
        self._pending_edges: Counter[tuple[str, str, str]] = Counter()
        self._watches: dict[int, _Key] = {}
        self._woken = ReadyQueue()

    @property
    def _twist_lock(self) -> threading.RLock:
        _ = self.name  # refuses a world that was not initialised, as every call does
        return self._twist_lock_made

    def pending_twists(self) -> tuple[PendingTwist, ...]:
        """The twists of `set_twist(..., pending=True)` that still wait for poses, in the order they came."""
        with self._twist_lock:
            return tuple(twist for twist, *_ in self._pending.values())

    def clear(self) -> None:
        """Forget all samples, and the twists that wait for poses. Structure and fixed poses stay."""
        with self._twist_lock:
            super().clear()
            self._drop_pending(list(self._pending))

    def reset_time(self, *, to: int | None = None) -> None:
        """Start a new time: a bag that loops, a simulation that restarts.

        Samples are forgotten, and twists that wait for poses; fixed poses stay. With `to`, the world's clock goes on
        from there.
        """
        with self._twist_lock:
            super().reset_time(to=to)
            self._drop_pending(list(self._pending))

    def remove_frame(self, name: str, *, subtree: bool = False) -> None:
        """Erase a frame, its past included, and the twists that wait for its poses.

        What hangs under it refuses, unless `subtree=True` removes it too.
        """
        with self._twist_lock:
            before = self.frames() if self._pending else ()
            super().remove_frame(name, subtree=subtree)
            gone = set(before).difference(self.frames() if before else ())
            self._drop_pending([key for key, (twist, *_) in self._pending.items() if gone & twist.names()])

    def _keep_pending(self, *, linear: Any, angular: Any, covariance: Any, **names: Any) -> None:
        """Called by the native half, with checked copies and under the lock; the last word about an instant counts."""
        twist = PendingTwist(**names)
        key = (twist.of, twist.source, twist.at)
        limit = self._dispatcher.max_waits
        if key not in self._pending and len(self._pending) >= limit:
            raise LimitReached("pending twists", limit, _TOO_MANY)
        self._drop_pending([key])
        said = names | {"linear": linear, "angular": angular, "covariance": covariance}
        self._pending[key] = (twist, said, self._new_wait_id())
        self._pending_edges[twist.edge()] += 1
        self._set_has_pending(True)
        self._watch(key)

    def _watch(self, key: _Key) -> None:
        twist, _, wait_id = self._pending[key]
        self._watches[wait_id] = key
        if not self._watch_pose(self._woken, wait_id, of=twist.expressed_in, in_frame=twist.of, at=twist.at):
            self._woken.wake(wait_id)

    def _drop_pending(self, keys: Iterable[_Key]) -> None:
        """The caller holds the lock."""
        for key in keys:
            if key in self._pending:
                twist, _, wait_id = self._pending.pop(key)
                self._forget_wait(wait_id)
                self._watches.pop(wait_id, None)
                self._pending_edges[twist.edge()] -= 1
                if not self._pending_edges[twist.edge()]:
                    del self._pending_edges[twist.edge()]
        self._set_has_pending(bool(self._pending))

    def _settle_pending(self) -> None:
        """Called after whatever may have made a pose known, once there is something that waits."""
        hopeless: list[ArmillaryError] = []
        with self._twist_lock:
            while self._settle_some(hopeless):
                """A twist may make poses known, by integration."""
        for error in hopeless:
            self._tell(error)

    def _settle_some(self, hopeless: list[ArmillaryError]) -> bool:
        """Tries those whose pose may have become known, the first that came first."""
        woken = sorted({self._woken.pop(0.0) for _ in range(len(self._woken))})
        settled = 0
        for key in [self._watches.pop(wait_id) for wait_id in woken if wait_id in self._watches]:
            try:
                if not self._retry_twist(**self._pending[key][1]):
                    self._watch(key)
                    continue
                settled += 1
            except ArmillaryError as error:
                hopeless.append(error)
            self._drop_pending([key])
        return settled > 0

    def _tell(self, error: ArmillaryError) -> None:
        """On the thread of callbacks; nobody is told any more once the world is closed."""
        try:
            self._dispatcher.post(partial(self._dispatcher.report, error))
        except WorldClosed:
            return
