"""Subscriptions to changes of a model: callbacks, filters, and the order in which they are called."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from armillary.articulation._draft import same_value
from armillary.articulation._queries import constraints_in
from armillary.articulation.history import ModelChange
from armillary.articulation.paths import is_under
from armillary.articulation.variables import Variable
from armillary.forks import Turn, new_lock

__all__ = ["Callback", "Callbacks", "ConstraintsOf", "Subscription", "TagsLike", "UnderPath"]

Callback = Callable[[ModelChange], object]
Filter = Callable[[ModelChange], bool]


class Subscription:
    """The result of a call like `on_path`: `cancel()` ends it."""

    __slots__ = ("_callbacks", "callback", "wants")

    def __init__(self, callbacks: Callbacks, callback: Callback, wants: Filter) -> None:
        self._callbacks, self.callback, self.wants = callbacks, callback, wants

    def cancel(self) -> bool:
        """Call the callback no more; whether it had not been cancelled before."""
        return self._callbacks.remove(self)


class Callbacks:
    """Callbacks, called one after the other with the changes in order, by a thread that makes changes.

    While one is called, changes are queued, also those that it makes itself; the thread that calls it goes on with
    them. No lock is held during a call. `_lock` guards everything here.
    """

    def __init__(self) -> None:
        self._subscriptions: dict[Subscription, None] = {}
        self._queue: deque[tuple[ModelChange, list[Subscription]]] = deque()
        self._notifying = Turn()
        self._lock = new_lock()

    def add(self, callback: Callback, wants: Filter) -> Subscription:
        """Subscribe to the changes from the next one on."""
        subscription = Subscription(self, callback, wants)
        with self._lock:
            self._subscriptions[subscription] = None
        return subscription

    def remove(self, subscription: Subscription) -> bool:
        """Remove a subscription; whether it was there."""
        with self._lock:
            if subscription not in self._subscriptions:
                return False
            del self._subscriptions[subscription]
            return True

    def put(self, change: ModelChange) -> None:
        """Queue a change that was made just now; called in the order of the changes."""
        with self._lock:
            if self._subscriptions:
                self._queue.append((change, list(self._subscriptions)))

    def notify(self, report: Callable[[BaseException], object]) -> None:
        """Call the callbacks for all queued changes, unless another thread does so already."""
        while (queued := self._next()) is not None:
            change, subscriptions = queued
            try:
                for subscription in subscriptions:
                    self._call(subscription, change, report)
            finally:
                self._notifying.give_back()

    def _next(self) -> tuple[ModelChange, list[Subscription]] | None:
        with self._lock:
            if not self._queue or not self._notifying.take():
                return None
            return self._queue.popleft()

    def _call(self, subscription: Subscription, change: ModelChange, report: Callable[[BaseException], object]) -> None:
        """Call one callback, unless it was cancelled; what it raises is reported and does not stop the others."""
        try:
            if subscription in self._subscriptions and subscription.wants(change):
                subscription.callback(change)
        except Exception as error:  # noqa: BLE001  (a callback's fault is reported, the change is made)
            report(error)


@dataclass(frozen=True, slots=True)
class UnderPath:
    """Accepts changes of a value at or under a path."""

    path: str

    def __call__(self, change: ModelChange) -> bool:
        """Whether the change is accepted."""
        return any(is_under(path, self.path) for path in change.paths)


@dataclass(frozen=True, slots=True)
class ConstraintsOf:
    """Accepts changes in which a constraint on one of these variables was added, removed or changed."""

    variables: frozenset[Variable]

    def __call__(self, change: ModelChange) -> bool:
        """Whether the change is accepted."""
        before, after = self._touching(change.before), self._touching(change.after)
        return before.keys() != after.keys() or any(not same_value(before[path], after[path]) for path in before)

    def _touching(self, values: Mapping[str, Any]) -> Mapping[str, Any]:
        found = constraints_in(values).items()
        return {path: one for path, one in found if one.free_variables & self.variables}


@dataclass(frozen=True, slots=True)
class TagsLike:
    """Accepts changes in which an operation whose tag matches a pattern was added, replaced or removed."""

    pattern: re.Pattern[str]

    def __call__(self, change: ModelChange) -> bool:
        """Whether the change is accepted."""
        return any(self.pattern.fullmatch(tag) for tag in change.tags)
