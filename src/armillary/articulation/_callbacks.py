"""Who wants to be told of changes of a model, and of which."""

from __future__ import annotations

import re
import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from armillary.articulation._overlay import GONE
from armillary.articulation._queries import constraints_in
from armillary.articulation._steps import same_value
from armillary.articulation.history import ModelChange
from armillary.articulation.paths import is_under
from armillary.articulation.variables import Variable

__all__ = ["Callbacks", "Subscription"]

Callback = Callable[[ModelChange], object]


class Subscription:
    """What a call like `on_path` gives: `cancel()` ends it."""

    __slots__ = ("_callbacks", "callback", "wants")

    def __init__(self, callbacks: Callbacks, callback: Callback, wants: Callable[[ModelChange], bool]) -> None:
        self._callbacks, self.callback, self.wants = callbacks, callback, wants

    def cancel(self) -> bool:
        """Call no more; whether it had not been cancelled before."""
        return self._callbacks.remove(self)


class Callbacks:
    """Called one after the other, each with the changes in the order they were made, by a thread that makes them.

    While one is called, changes wait, also those that it makes itself; whoever calls it goes on with them. No lock is
    held meanwhile. `_lock` guards everything here.
    """

    def __init__(self) -> None:
        self._all: dict[Subscription, None] = {}
        self._waiting: deque[tuple[ModelChange, list[Subscription]]] = deque()
        self._is_telling = False
        self._lock = threading.Lock()

    def add(self, callback: Callback, wants: Callable[[ModelChange], bool]) -> Subscription:
        """From the next change on."""
        subscription = Subscription(self, callback, wants)
        with self._lock:
            self._all[subscription] = None
        return subscription

    def remove(self, subscription: Subscription) -> bool:
        """Whether it was there."""
        with self._lock:
            return self._all.pop(subscription, GONE) is None

    def put(self, change: ModelChange) -> None:
        """A change that was made just now; who makes changes calls this in their order."""
        with self._lock:
            if self._all:
                self._waiting.append((change, list(self._all)))

    def tell(self, report: Callable[[BaseException], object]) -> None:
        """Call for all changes that wait, unless somebody does so already."""
        while (waiting := self._next()) is not None:
            change, listening = waiting
            try:
                for subscription in listening:
                    self._call(subscription, change, report)
            finally:
                with self._lock:
                    self._is_telling = False

    def _next(self) -> tuple[ModelChange, list[Subscription]] | None:
        with self._lock:
            if self._is_telling or not self._waiting:
                return None
            self._is_telling = True
            return self._waiting.popleft()

    def _call(self, subscription: Subscription, change: ModelChange, report: Callable[[BaseException], object]) -> None:
        """What a callback raises is reported and stops nobody; one that was cancelled is not called."""
        try:
            if subscription in self._all and subscription.wants(change):
                subscription.callback(change)
        except Exception as error:  # noqa: BLE001  (a callback's fault is reported, the change is made)
            report(error)


@dataclass(frozen=True, slots=True)
class UnderPath:
    """Something at a path, or further down, became different."""

    path: str

    def __call__(self, change: ModelChange) -> bool:
        """Whether it did."""
        return any(is_under(path, self.path) for path in change.paths)


@dataclass(frozen=True, slots=True)
class ConstraintsOf:
    """A constraint that speaks of one of these variables came, went or became different."""

    variables: frozenset[Variable]

    def __call__(self, change: ModelChange) -> bool:
        """Whether it did."""
        before, after = self._touching(change.before), self._touching(change.after)
        return before.keys() != after.keys() or any(not same_value(before[path], after[path]) for path in before)

    def _touching(self, values: Mapping[str, Any]) -> Mapping[str, Any]:
        found = constraints_in(values).items()
        return {path: one for path, one in found if one.free_variables & self.variables}


@dataclass(frozen=True, slots=True)
class TagsLike:
    """An operation whose tag matches a pattern was added, replaced or removed."""

    pattern: re.Pattern[str]

    def __call__(self, change: ModelChange) -> bool:
        """Whether it was."""
        return any(self.pattern.fullmatch(tag) for tag in change.tags)
