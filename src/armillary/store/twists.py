"""Measured twists: read from any coordinates, and kept until the poses that rotate them are known."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from armillary._core import ReadyQueue
from armillary.errors import ArmillaryError, InvalidArgument, LimitReached, WorldClosed
from armillary.forks import new_lock
from armillary.store.bodies import check_new_twist
from armillary.store.names import frame_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy import float64
    from numpy.typing import NDArray

    from armillary.relations import Pose, Twist
    from armillary.store.changes import Forget
    from armillary.store.store import Store

__all__ = ["PendingTwist", "PendingTwists", "ReadTwist", "read_given_twist", "store_pending", "store_twist"]

_TOO_MANY = "Set the poses that rotate them, remove them with clear(), or give World(max_waits=) a larger number."

_Key = tuple[str, str, int]  # of, source, at: a source measures a frame relative to one body


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingTwist:
    """A measured twist that waits for the poses which rotate it.

    Attributes:
        of: The frame that moves.
        relative_to: The body it moves relative to, or a frame on it, as it was named.
        expressed_in: The frame along whose axes the numbers are.
        at: Instant [ns].
        source: Its source.
    """

    of: str
    relative_to: str
    expressed_in: str
    at: int
    source: str

    def names(self) -> set[str]:
        """Return the frames and bodies that the twist names."""
        return {self.of, self.relative_to, self.expressed_in}

    def edge(self) -> tuple[str, str, str]:
        """Return the relation that the twist will be a sample of."""
        return self.of, self.relative_to, self.source


class PendingTwists:
    """The twists of one store that wait for poses, each watching the pose that it needs, as a wait does.

    `lock` guards all of it, and which relations of twists there are while one is made. It is taken before any lock of
    the core and before the order of notifications, never after them; nothing is called back while it is held.
    """

    def __init__(self) -> None:
        self.lock = new_lock()
        self.woken = ReadyQueue()
        self.count = 0
        self._pending: dict[_Key, tuple[PendingTwist, dict[str, Any], int]] = {}
        self._edges: Counter[tuple[str, str, str]] = Counter()
        self._watches: dict[int, _Key] = {}

    def twists(self) -> tuple[PendingTwist, ...]:
        """Return the pending twists, oldest first."""
        with self.lock:
            return tuple(twist for twist, *_ in self._pending.values())

    def edges(self) -> tuple[tuple[str, str, str], ...]:
        """Return the relations that pending twists will be samples of."""
        with self.lock:
            return tuple(self._edges)

    def write(self, store: Store, twist: dict[str, Any], *, pending: bool) -> None:
        """Store a twist, replacing a kept one of its instant; keep it if it is `pending` and its poses are missing."""
        with self.lock:
            if not _write_new(store, twist, may_wait=pending):
                self._keep(store, twist)
                if not self._write_kept(store, twist):
                    return
            self.drop(store, [_key(twist)])
        self.store_ready(store)

    def _write_kept(self, store: Store, twist: dict[str, Any]) -> bool:
        """Try again to store a twist: its poses may have become known before it was kept."""
        try:
            return _write_new(store, twist, may_wait=True)
        except ArmillaryError:
            self.drop(store, [_key(twist)])
            raise

    def _keep(self, store: Store, twist: dict[str, Any]) -> None:
        names = {name: twist[name] for name in ("of", "relative_to", "expressed_in", "at", "source")}
        kept, key, limit = PendingTwist(**names), _key(twist), store.max_waits
        if key not in self._pending and len(self._pending) >= limit:
            raise LimitReached("pending twists", limit, _TOO_MANY)
        self.drop(store, [key])
        self._pending[key] = (kept, twist, store.new_wait_id())
        self._edges[kept.edge()] += 1
        self._note_count(store)
        self._watch(store, key)

    def _watch(self, store: Store, key: _Key) -> None:
        twist, _, wait_id = self._pending[key]
        self._watches[wait_id] = key
        if not store.watch_pose(self.woken, wait_id, of=twist.expressed_in, in_frame=twist.of, at=twist.at):
            self.woken.wake(wait_id)

    def drop(self, store: Store, keys: Iterable[_Key]) -> None:
        """Remove some pending twists. The caller holds the lock."""
        for key in keys:
            if key in self._pending:
                twist, _, wait_id = self._pending.pop(key)
                store.forget_wait(wait_id)
                self._watches.pop(wait_id, None)
                self._edges[twist.edge()] -= 1
                if not self._edges[twist.edge()]:
                    del self._edges[twist.edge()]
        self._note_count(store)

    def _note_count(self, store: Store) -> None:
        self.count = len(self._pending)
        store.set_has_pending(self.count > 0)

    def drop_all(self, store: Store) -> None:
        """Remove all pending twists. The caller holds the lock."""
        self.drop(store, list(self._pending))

    def forget(self, store: Store, about: Forget) -> int:
        """Remove the pending twists that `Store.forget` is about; return how many. The caller holds the lock."""
        meant = [
            key
            for key, (twist, *_) in self._pending.items()
            if twist.of == about.of
            and about.in_frame in (None, twist.relative_to)
            and about.source in (None, twist.source)
            and (about.start is None or about.start <= twist.at)
            and (about.end is None or twist.at <= about.end)
        ]
        self.drop(store, meant)
        return len(meant)

    def drop_those_about(self, store: Store, frames: set[str]) -> None:
        """Remove pending twists that name one of these frames. The caller holds the lock."""
        self.drop(store, [key for key, (twist, *_) in self._pending.items() if frames & twist.names()])

    def store_ready(self, store: Store) -> None:
        """Store twists whose poses are known; those that are refused are removed, and reported to `store.on_error`."""
        refused: list[ArmillaryError] = []
        with self.lock:
            while self._store_some(store, refused):
                pass  # a stored twist may make other poses known, by integration
        for error in refused:
            try:
                store.dispatcher.post(partial(store.dispatcher.report, error))
            except WorldClosed:
                return

    def _store_some(self, store: Store, refused: list[ArmillaryError]) -> bool:
        """Try to store twists whose pose may have become known, oldest first; return whether one was stored."""
        woken = sorted({self.woken.pop(0.0) for _ in range(len(self.woken))})
        stored = 0
        for key in [self._watches.pop(wait_id) for wait_id in woken if wait_id in self._watches]:
            try:
                if not _write_new(store, self._pending[key][1], may_wait=True, may_be_contested=True):
                    self._watch(store, key)
                    continue
                stored += 1
            except ArmillaryError as error:
                refused.append(error)
            self.drop(store, [key])
        return stored > 0


def store_twist(store: Store, *, pending: bool, **twist: Any) -> None:
    """Store a twist whose values and names are checked, or keep it until its poses are known."""
    names = {key: store.frame_label(twist[key]) for key in ("of", "relative_to", "expressed_in")}
    store.pending.write(store, twist | names, pending=pending)


def store_pending(store: Store) -> None:
    """Store pending twists whose poses have become known."""
    store.pending.store_ready(store)


def _write_new(store: Store, twist: dict[str, Any], *, may_wait: bool, may_be_contested: bool = False) -> bool:
    """Store a twist; a new relation must not repeat a motion that its source measures. The caller holds the lock."""
    if not store.has_twist_relation(twist["of"], twist["relative_to"], twist["source"]):
        check_new_twist(store, twist["of"], twist["relative_to"], twist["source"], twist["at"])
    return store.write_twist(**twist, may_wait=may_wait, may_be_contested=may_be_contested)


def _key(twist: dict[str, Any]) -> _Key:
    return twist["of"], twist["source"], twist["at"]


# -- Coordinates


class ReadTwist(NamedTuple):
    """What `set_twist` stores: numbers at the origin of `of`, along the axes of `expressed_in`."""

    expressed_in: str
    linear: NDArray[float64]
    angular: NDArray[float64]
    covariance: Any


def read_given_twist(
    store: Store, twist: Any, *, of: str, relative_to: str, at: int, expressed_in: str | None, covariance: Any
) -> ReadTwist:
    """Read a twist that comes as a relation or as coordinates."""
    from armillary.relations import Twist  # noqa: PLC0415  (few programs need it)

    of, relative_to = frame_name(store, of), frame_name(store, relative_to)
    if isinstance(twist, Twist):
        point = relative_to if getattr(twist.coordinates, "form", "free") == "spatial" else of
        bodies = {"body": {of, store.body_name(of) or of}}
        bodies |= {"reference_body": {relative_to, store.body_name(relative_to) or relative_to}}
        _check_names(twist, at=at, point=point, bodies=bodies)
        expressed_in = twist.expressed_in if expressed_in is None else expressed_in
        covariance = twist.covariance if covariance is None else covariance
        twist = twist.coordinates
    return _read_coordinates(
        twist,
        of=of,
        relative_to=relative_to,
        expressed_in=expressed_in,
        covariance=covariance,
        pose=lambda: store.pose(of=of, in_frame=relative_to, at=at),
    )


def _read_coordinates(
    value: Any, *, of: str, relative_to: str, expressed_in: str | None, covariance: Any, pose: Callable[[], Pose]
) -> ReadTwist:
    """Read coordinates of a twist as they can be stored.

    Args:
        value: Twist coordinates.
        of: The frame that moves.
        relative_to: The frame it moves relative to.
        expressed_in: The axes of free coordinates.
        covariance: (6, 6) of the same numbers, or None.
        pose: Returns that of `of` in `relative_to`; called where the point must be moved.
    """
    from armillary.relations.arrays import as_covariance  # noqa: PLC0415  (few programs need it)
    from armillary.relations.representations.adapters import adapt_twist, adapt_vector  # noqa: PLC0415

    parts = adapt_twist(value)
    linear, angular = adapt_vector(parts.linear).numbers(), adapt_vector(parts.angular).numbers()
    axes = {"body": of, "spatial": relative_to, "hybrid": relative_to}.get(parts.form, expressed_in)
    if axes is None:
        raise InvalidArgument(f"{value!r} does not name its axes. Pass expressed_in=.", value)
    if expressed_in not in {None, axes}:
        raise InvalidArgument(
            f"A {parts.form} twist of '{of}' relative to '{relative_to}' is along the axes of '{axes}', and "
            f"expressed_in is '{expressed_in}'. Leave expressed_in out, or pass linear= and angular=.",
            expressed_in,
        )
    read = ReadTwist(axes, linear, angular, as_covariance(covariance, "covariance"))
    return _as_body_twist(read, pose()) if parts.form == "spatial" else read


def _as_body_twist(spatial: ReadTwist, pose: Pose) -> ReadTwist:
    """Return a spatial twist as a body twist, Ad(T^-1) V; with T = mean Exp(xi) its error gets ad(v) xi."""
    import numpy as np  # noqa: PLC0415

    from armillary.relations.arrays import seen_through  # noqa: PLC0415

    J = pose.transform.inverse().adjoint
    v = J @ np.concatenate([spatial.linear, spatial.angular])
    spread = seen_through(J, spatial.covariance)
    if spread is not None:
        by_pose = seen_through(_ad(v), pose.covariance)
        spread = None if by_pose is None else spread + by_pose
    return ReadTwist(pose.of, v[:3], v[3:], spread)


def _ad(twist: NDArray[float64]) -> NDArray[float64]:
    """(6, 6): the change of a body twist for a small motion of its frame."""
    import numpy as np  # noqa: PLC0415

    from armillary.relations.arrays import skew  # noqa: PLC0415

    linear, angular = skew(twist[:3]), skew(twist[3:])
    return np.block([[angular, linear], [np.zeros((3, 3)), angular]])


def _check_names(twist: Twist, *, at: int, point: str, bodies: dict[str, set[str]]) -> None:
    """Refuse a relation whose names differ from those of the call that it is given to.

    Args:
        twist: The relation.
        at: Instant of the call.
        point: The frame whose origin must have the velocity.
        bodies: The names that `body` and `reference_body` may have.
    """
    if twist.point != point:
        raise InvalidArgument(
            f"{twist!r} is the velocity of '{twist.point}', and the call is about '{point}'. Move it first, "
            ".change_point(...), or name that frame.",
            twist,
        )
    for name, allowed in bodies.items():
        if getattr(twist, name) not in allowed:
            raise InvalidArgument(
                f"{name} of {twist!r} is '{getattr(twist, name)}', and the call names {' or '.join(sorted(allowed))}.",
                twist,
            )
    if twist.stamp not in {None, at}:
        raise InvalidArgument(f"{twist!r} is of the instant {twist.stamp} ns, and at is {at} ns.", twist)
