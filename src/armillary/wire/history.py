"""Samples that a store holds already, for a peer that comes later."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from armillary.wire.channels import Channel

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

    from armillary.store import Store

__all__ = ["history_batches"]

_CHUNK = 1000
_UPPER = np.triu_indices(6)
_POSE, _TWIST = 7, 6


def history_batches(
    store: Store, since: int | None, wants: Callable[[Channel], bool] | None = None
) -> Iterator[tuple[Channel, NDArray[Any], NDArray[float64]]]:
    """Yield the samples of a store from an instant on, at most a thousand of one channel at once: stamps and rows."""
    for of, in_frame, source, kind, *_ in store.relation_rows():
        is_twist = kind == "twist"
        channel = Channel(kind="twist" if is_twist else "pose", of=of, in_frame=in_frame, source=source)
        if kind not in {"sampled", "twist"} or (wants is not None and not wants(channel)):
            continue
        find = store.twist_relation_id if is_twist else store.relation_id
        stamps, values, covariances = store.sample_rows(find(of, in_frame, source), since, None)
        rows = values if is_twist else np.hstack([values[:, 3:], values[:, :3]])
        for part in _by_covariance(rows, covariances):
            yield from _chunks(channel, stamps[part], _with_covariances(rows, covariances, part))
    for name in store.joints():
        for source in store.joint_sources(name):
            yield from _joint_batches(store, name, source, since, wants)


def _joint_batches(
    store: Store, name: str, source: str, since: int | None, wants: Callable[[Channel], bool] | None
) -> Iterator[tuple[Channel, NDArray[Any], NDArray[float64]]]:
    stamps, positions, velocities = store.joint_rows(name, since, None, source)
    has_position = len(positions) > 0 and not np.isnan(positions).all()
    has_velocities = has_position and not np.isnan(velocities).all()
    channel = Channel(kind="joints", source=source, joints=(name,), has_velocities=has_velocities)
    if len(stamps) and (wants is None or wants(channel)):
        rows = np.column_stack(
            [positions, velocities] if has_velocities else [positions if has_position else velocities]
        )
        yield from _chunks(channel, stamps, rows)


def _by_covariance(rows: NDArray[float64], covariances: NDArray[float64] | None) -> list[NDArray[Any]]:
    """Return which rows have a covariance and which have none, each as an index, where there are any."""
    if covariances is None:
        return [np.arange(len(rows))]
    is_unknown = np.isnan(covariances[:, 0, 0])
    return [np.flatnonzero(part) for part in (is_unknown, ~is_unknown) if part.any()]


def _with_covariances(
    rows: NDArray[float64], covariances: NDArray[float64] | None, part: NDArray[Any]
) -> NDArray[float64]:
    if covariances is None or np.isnan(covariances[part[0], 0, 0]):
        plain: NDArray[float64] = rows[part]
        return plain
    upper: NDArray[float64] = covariances[part][:, _UPPER[0], _UPPER[1]]
    return np.concatenate((rows[part], upper), axis=1)


def _chunks(
    channel: Channel, stamps: NDArray[Any], rows: NDArray[float64]
) -> Iterator[tuple[Channel, NDArray[Any], NDArray[float64]]]:
    for first in range(0, len(stamps), _CHUNK):
        part = slice(first, first + _CHUNK)
        yield channel, stamps[part], rows[part]
