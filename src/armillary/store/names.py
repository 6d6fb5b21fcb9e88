"""Names of frames and joints: which may be added by use, which must exist, and which look like a typo."""

from __future__ import annotations

import inspect
import warnings
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from armillary._core import NodeId
from armillary.errors import InvalidName, SuspiciousName, UnknownFrame, UnknownNode, UnknownVariable
from armillary.transforms import check_name

if TYPE_CHECKING:
    from armillary._core import StoreCore
    from armillary.store.store import Store

__all__ = [
    "admit_name",
    "declare_name",
    "frame_name",
    "frame_of_body",
    "is_only_a_body",
    "knows_name",
    "recall_joint",
    "recall_name",
]


def frame_name(store: StoreCore, name: object) -> str:
    """Return the name by which people know a frame, which is given by name or by the id of a node.

    A name that no frame has is checked, and returned as it would be stored.
    """
    return store.frame_label(name if isinstance(name, NodeId) else check_name(name))


def admit_name(store: Store, name: object) -> str:
    """Return the stored form of a name that may be added by use; warn where it looks like a typo.

    Raises:
        UnknownFrame: The world accepts declared names only, and this is none.
    """
    stored = frame_name(store, name)
    if store.has_frame(stored) or stored in store.bodies():
        return stored
    if isinstance(name, NodeId):
        raise UnknownNode(name)
    if store.accepts_declared_names_only:
        raise UnknownFrame(stored, store.frames())
    near = store.typos.meet(stored, store.has_frame)
    if near is not None:
        warnings.warn(SuspiciousName(stored, near), stacklevel=_levels_to_caller())
    return stored


def _levels_to_caller() -> int:
    """Count the frames of the stack from `admit_name` to the line outside this package that made the call."""
    frame, levels = inspect.currentframe(), 0
    while frame is not None and frame.f_globals.get("__name__", "").startswith(f"{__package__.partition('.')[0]}."):
        frame, levels = frame.f_back, levels + 1
    return levels


def declare_name(store: Store, name: object) -> str:
    """Return the stored form of a name that is added explicitly."""
    stored = frame_name(store, name)
    store.typos.add(stored, store.has_frame)
    return stored


def knows_name(store: Store, name: object) -> bool:
    """Whether a frame has this name; False for what can be no name."""
    try:
        return store.has_frame(frame_name(store, name))
    except InvalidName:
        return False


def recall_name(store: Store, name: object) -> str:
    """Return the stored form of a frame's name that must exist.

    Raises:
        UnknownFrame: No frame has it; if it is a body's name, the error lists the frames on it.
        UnknownNode: It is the id of a node that does not exist.
    """
    stored = frame_name(store, name)
    if not store.has_frame(stored):
        if isinstance(name, NodeId):
            raise UnknownNode(name)
        bodies = store.bodies()
        own = store.frames_of(stored) if stored in bodies else ()
        raise UnknownFrame(stored, _frames_later(store), own, bodies)
    return stored


def _frames_later(store: Store) -> Callable[[], Sequence[str]]:
    """Return a function that lists the frames of a store without keeping the store; none once it is gone."""
    reference = weakref.ref(store)

    def frames() -> Sequence[str]:
        alive = reference()
        return () if alive is None else alive.frames()

    return frames


def recall_joint(store: Store, name: object) -> str:
    """Return the stored form of a joint's name that must exist, or raise `UnknownVariable`."""
    stored = check_name(name)
    known = store.joints()
    if stored not in known:
        raise UnknownVariable(stored, known)
    return stored


def is_only_a_body(store: Store, name: object) -> bool:
    """Whether a declared body has this name, and no frame."""
    stored = frame_name(store, name)
    return not store.has_frame(stored) and stored in store.bodies()


def frame_of_body(store: Store, name: str | NodeId) -> str | NodeId:
    """Return a frame that turns as the named body does; the name itself where it is a frame, or nothing at all."""
    is_body = isinstance(name, str) and not knows_name(store, name) and is_only_a_body(store, name)
    return next(iter(store.frames_of(check_name(name))), name) if is_body else name
