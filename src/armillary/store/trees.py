"""Connecting two trees of frames by a measurement between any two of their frames: `World.connect_trees`.

The measurement does not place the measured frame, which keeps its one parent and is contested by nobody. It is kept as
a sample of a frame of its own, and determines a correction: the pose of one root in the other, a sample of a relation
that goes in steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import float64

from armillary.errors import AlreadyConnected, BeforeHistory, InvalidArgument, NotConnected, SingleSample
from armillary.errors.format import short_repr
from armillary.relations import Pose
from armillary.relations.arrays import as_covariance, frozen
from armillary.stamps import as_stamp
from armillary.store.changes import AddRelation, Fix
from armillary.store.names import recall_name
from armillary.store.requests import ChangeContext
from armillary.store.store import NO_RELATION
from armillary.store.values import as_text, as_transform
from armillary.transforms import Transform

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from armillary.store.query import Query
    from armillary.store.store import Store

    Array = NDArray[float64]

__all__ = ["TreeConnection", "connect_trees"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TreeConnection:
    """Two trees of frames that a measurement connected.

    Attributes:
        correction: The pose of the root of one tree in the root of the other, with its covariance; None in it where one
            on the way is unknown.
        measured: The frame whose samples are the measurements: `OF@SOURCE`. It is where `of` was seen, and contests
            nothing; its pose in `of` is how far the measurement is from the estimate.
        source: Who measured.
        since: From when on the correction holds, until the next one [ns]; None: always.
    """

    correction: Pose
    measured: str
    source: str
    since: int | None

    def __repr__(self) -> str:
        of, in_frame = self.correction.of, self.correction.in_frame
        return f"TreeConnection('{of}' in '{in_frame}' by '{self.source}', measured as '{self.measured}')"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Measurement:
    of: str
    in_frame: str
    transform: Transform
    covariance: Any
    at: int

    def reversed(self) -> _Measurement:
        """Return the measurement of the other frame in this one."""
        carry = self.transform.adjoint
        covariance = None if self.covariance is None else carry @ self.covariance @ carry.T
        return _Measurement(
            of=self.in_frame,
            in_frame=self.of,
            transform=self.transform.inverse(),
            covariance=covariance,
            at=self.at,
        )


def connect_trees(
    store: Store,
    query: Query,
    *,
    of: str,
    in_frame: str,
    transform: Transform,
    covariance: ArrayLike | None,
    at: int,
    source: str,
    since: Any,
    update: bool,
) -> TreeConnection:
    """Connect the trees of two frames by a measurement; arguments as for `World.connect_trees`."""
    seen = _checked(
        store,
        of=of,
        in_frame=in_frame,
        transform=transform,
        covariance=covariance,
        at=at,
    )
    if not isinstance(update, bool):
        raise InvalidArgument(f"update is True or False, got {short_repr(update)}.", update)
    who = as_text(source, "source")
    start = seen.at if since is ... else as_stamp(since, "since")
    asked = {key: value for key, value in query.keywords.items() if key != "at"} | {"at": seen.at}
    roots = _roots(store, seen, who, asked, update=update)
    used = seen if roots.of_side == seen.of else seen.reversed()
    correction = _correction(store, used, roots.child, roots.parent, asked)
    measured = f"{seen.of}@{who}"
    _write(store, _Sample(measured, seen.in_frame, seen.transform, seen.covariance, seen.at, who), correction, start)
    return TreeConnection(correction=correction, measured=measured, source=who, since=start)


@dataclass(frozen=True, slots=True)
class _Roots:
    """The root that is placed, the root it is placed in, and the measured frame in the tree of the first."""

    child: str
    parent: str
    of_side: str


def _checked(
    store: Store, *, of: str, in_frame: str, transform: Any, covariance: ArrayLike | None, at: object
) -> _Measurement:
    of, in_frame = recall_name(store, of), recall_name(store, in_frame)
    measured = as_transform(transform)
    if not isinstance(measured, Transform):
        raise InvalidArgument(
            f"transform must be a Transform, the pose of '{of}' in '{in_frame}', got {transform!r}.", transform
        )
    stamp = as_stamp(at, "at")
    if stamp is None:
        raise InvalidArgument("A measurement has an instant: pass at=, in integer nanoseconds.", at)
    return _Measurement(
        of=of,
        in_frame=in_frame,
        transform=measured,
        covariance=as_covariance(covariance, "covariance"),
        at=stamp,
    )


def _roots(store: Store, seen: _Measurement, who: str, asked: dict[str, Any], *, update: bool) -> _Roots:
    """Return the roots of the two trees; where they are connected already, those that this source connected."""
    try:
        known = store.pose(of=seen.of, in_frame=seen.in_frame, **asked)
    except NotConnected as apart:
        of_root, in_root = apart.of_root, apart.in_frame_root
        if of_root == store.root_frame:  # what the scene is in stays at the top
            return _Roots(in_root, of_root, seen.in_frame)
        return _Roots(of_root, in_root, seen.of)
    except (BeforeHistory, SingleSample) as early:  # of the first correction: the trees are not connected yet then
        if early.edge is None or early.edge[2] != who or early.edge not in _connections(store):
            raise
        child, parent, _ = early.edge
        is_below = store.can_pose(of=seen.of, in_frame=child, **asked) or seen.of == child
        return _Roots(child, parent, seen.of if is_below else seen.in_frame)
    if update:
        made = _connections(store)
        current = seen.of
        for child, parent, source in known.relations:
            is_upwards = child == current
            current = parent if is_upwards else child
            if source == who and (child, parent, source) in made:
                return _Roots(child, parent, seen.of if is_upwards else seen.in_frame)
    residual, distance = _residual(known, seen)
    raise AlreadyConnected(
        seen.of,
        seen.in_frame,
        root=_root_of(store, seen),
        requested=seen.at,
        residual=residual,
        distance=distance,
    )


def _connections(store: Store) -> set[tuple[str, str, str]]:
    """Return the relations that may be corrections: steps, and fixed poses."""
    return {
        (one.of, one.in_frame, one.source)
        for one in store.relations()
        if one.kind == "fixed" or one.interpolation == "step"
    }


def _root_of(store: Store, seen: _Measurement) -> str:
    parents, name = store.parents(seen.at), seen.of
    while (parent := parents.get(name)) is not None:
        name = parent[0]
    return str(name)


def _residual(known: Pose, seen: _Measurement) -> tuple[Array, float | None]:
    """Return how far a measurement is from a known pose, and that in standard deviations."""
    apart = (known.transform.inverse() @ seen.transform).log()
    if known.covariance is None or seen.covariance is None:
        return frozen(apart), None
    values, vectors = np.linalg.eigh(known.covariance + seen.covariance)
    along = vectors.T @ apart
    is_exact = values <= 1e-15 * max(float(values[-1]), 1e-300)
    if (np.abs(along[is_exact]) > 1e-9).any():  # noqa: PLR2004  (rounding)
        return frozen(apart), float("inf")
    return frozen(apart), float(np.sqrt((along[~is_exact] ** 2 / values[~is_exact]).sum()))


def _correction(store: Store, seen: _Measurement, child: str, parent: str, asked: dict[str, Any]) -> Pose:
    """Return the pose of one root in the other that a measurement determines, with the covariance of all three."""
    above = _pose(store, seen.in_frame, parent, asked)
    below = _pose(store, seen.of, child, asked)
    parts = (above.transform, seen.transform, below.transform.inverse())
    transform = parts[0] @ parts[1] @ parts[2]
    covariance = None
    if above.covariance is not None and below.covariance is not None and seen.covariance is not None:
        # T Exp(a) M Exp(m) Exp(-b) B^-1, each error moved to the right end
        end = below.transform.adjoint
        start = (below.transform @ seen.transform.inverse()).adjoint
        total = start @ above.covariance @ start.T + end @ (seen.covariance + below.covariance) @ end.T
        covariance = frozen(0.5 * (total + total.T))
    relations = tuple(dict.fromkeys((*above.relations, *below.relations)))
    return Pose(
        of=child, in_frame=parent, transform=transform, covariance=covariance, stamp=seen.at, relations=relations
    )


def _pose(store: Store, of: str, in_frame: str, asked: dict[str, Any]) -> Pose:
    if of == in_frame:
        return Pose(of=of, in_frame=in_frame, transform=Transform.identity(), covariance=np.zeros((6, 6)))
    return store.pose(of=of, in_frame=in_frame, **asked)


@dataclass(frozen=True, slots=True, eq=False)
class _Sample:
    of: str
    in_frame: str
    transform: Transform
    covariance: Any
    at: int
    source: str

    def is_new(self, store: Store) -> bool:
        """Whether nothing is known yet of its relation."""
        if not (store.has_frame(self.of) and store.has_frame(self.in_frame)):
            return True
        return store.relation_id(self.of, self.in_frame, self.source) == NO_RELATION

    def insert(self, store: Store, **options: Any) -> None:
        store.set_pose(
            of=self.of,
            in_frame=self.in_frame,
            transform=self.transform,
            at=self.at,
            source=self.source,
            covariance=self.covariance,
            **options,
        )


def _write(store: Store, seen: _Sample, correction: Pose, start: int | None) -> None:
    """Store the measurement and the correction, or neither; the relations that they need are one change."""
    link = _Sample(
        correction.of,
        correction.in_frame,
        correction.transform,
        correction.covariance,
        seen.at if start is None else start,
        seen.source,
    )
    _check_ahead(store, seen, link)
    parts = {seen: seen.is_new(store), link: start is None or link.is_new(store)}
    for sample, is_new in parts.items():  # what is refused is refused before structure changes
        if not is_new:
            sample.insert(store, **({"interpolation": "step"} if sample is link else {}))
    context = ChangeContext(store)
    if parts[seen]:
        relation = AddRelation(of=seen.of, in_frame=seen.in_frame, source=seen.source, at=seen.at)
        context.requests.append(relation.request(context))
    if start is None:
        context.requests.append(_for_always(link).request(context))
    elif parts[link]:
        step = AddRelation(of=link.of, in_frame=link.in_frame, source=link.source, at=start, interpolation="step")
        context.requests.append(step.request(context))
    if context.requests:
        store.apply_context(context, [])
    for sample in (seen, link):
        if parts[sample] and not (sample is link and start is None):
            sample.insert(store)


def _check_ahead(store: Store, *samples: _Sample) -> None:
    """Raise what inserting one of them would raise that is too far in the future."""
    most = store.settings.max_ahead_s
    for sample in samples:
        if most is not None and sample.at - store.now() > most * 1e9:
            sample.insert(store)


def _for_always(link: _Sample) -> Fix:
    return Fix(
        of=link.of,
        in_frame=link.in_frame,
        transform=link.transform,
        covariance=link.covariance,
        source=link.source,
        at=None,
        is_unsure=link.covariance is None,
    )
