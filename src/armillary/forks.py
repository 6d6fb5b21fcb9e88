"""Forks: locks that a child finds free, with what they guard whole, and what a child has to begin anew.

`os.fork`, and `multiprocessing` with its start method "fork", copy a process with one thread, the one that forked. A
lock that another thread held would stay locked in the child for ever. So all of these locks are held while the process
forks. They are tried together, and none is waited for while others are held: their order does not matter. The locks of
the C++ core are held in the same way, by themselves, after these.

A module that another thread is importing would be locked in the child as well, and never whole. Some modules are
imported when they are first needed, on whatever thread that is; so a fork waits for those of this package, and lets
none begin.
"""

from __future__ import annotations

import _imp
import itertools
import os
import sys
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

__all__ = ["Turn", "begin_anew_in_child", "new_lock"]

_PAUSE_S = 0.0002
_PACKAGE = __name__.partition(".")[0] + "."

_locks: weakref.WeakSet[Any] = weakref.WeakSet()
_beginners: dict[int, weakref.WeakMethod[Callable[[], None]]] = {}
_numbers = itertools.count()
_held: list[Any] = []  # while the process forks


def new_lock() -> Any:
    """Return a reentrant lock that a forked child finds free."""
    lock = threading.RLock()
    _locks.add(lock)
    return lock


def begin_anew_in_child(method: Callable[[], None]) -> None:
    """Call a bound method in every forked child, as long as its object is there; no other thread runs then."""
    number, kept = next(_numbers), _beginners  # which the interpreter may have taken away when the object ends
    kept[number] = weakref.WeakMethod(method, lambda _: kept.pop(number, None))


class Turn:
    """Work that one thread at a time does for all: who comes meanwhile goes on without waiting.

    In a forked child nobody has it, unless the thread that forked had it.
    """

    def __init__(self) -> None:
        self._lock, self._thread = threading.Lock(), 0
        begin_anew_in_child(self._begin_anew)

    def take(self) -> bool:
        """Take it; False where a thread has it already."""
        if not self._lock.acquire(blocking=False):
            return False
        self._thread = threading.get_ident()
        return True

    def give_back(self) -> None:
        """Let the next one take it."""
        self._thread = 0
        self._lock.release()

    def _begin_anew(self) -> None:
        """Be free again, where a thread had it that is gone."""
        if self._thread != threading.get_ident():
            self._lock, self._thread = threading.Lock(), 0


def _hold() -> None:
    while not _try_to_hold():
        time.sleep(_PAUSE_S)


def _try_to_hold() -> bool:
    _imp.acquire_lock()  # until it is released no thread begins an import
    if _imports_ours():
        _imp.release_lock()
        return False
    for lock in list(_locks):
        if not lock.acquire(blocking=False):
            _release()
            return False
        _held.append(lock)
    return True


def _imports_ours() -> bool:
    """Whether a thread is in the middle of importing a module of this package."""
    modules = [module for name, module in list(sys.modules.items()) if name.startswith(_PACKAGE)]
    return any(getattr(module.__spec__, "_initializing", False) for module in modules)


def _release() -> None:
    while _held:
        _held.pop().release()
    if _imp.lock_held():
        _imp.release_lock()


def _begin_anew() -> None:
    try:
        for reference in list(_beginners.values()):
            method = reference()
            if method is not None:
                method()
    finally:
        _release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_hold, after_in_parent=_release, after_in_child=_begin_anew)
