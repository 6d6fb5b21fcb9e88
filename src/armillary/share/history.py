"""Samples that a store holds already, as messages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from armillary.errors import InvalidMessage
from armillary.wire.messages import SampleMessage, pack

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy import float64
    from numpy.typing import NDArray

    from armillary.store import Store
    from armillary.wire.channels import Channel

__all__ = ["channel_messages", "rows_in", "twist_messages"]

_CHUNK = 1000
_UPPER = np.triu_indices(6)


def channel_messages(
    store: Store, number: int, kind: str, relation: int, since: int | None
) -> tuple[int | None, Iterator[bytes]]:
    """Return the stamp of the oldest sample of a relation from an instant on, and all from there on as messages."""
    batches = store.stored_batches(kind, relation, since)
    oldest = min((int(batch.stamps[0]) for batch in batches), default=None)
    chunks = (chunk for batch in batches for chunk in _chunks(number, batch.stamps, batch.rows))
    return oldest, chunks


def twist_messages(
    store: Store, number: int, channel: Channel, since: int | None
) -> tuple[int | None, Iterator[bytes]]:
    """Return the same of a measured motion."""
    relation = store.twist_relation_id(channel.of, channel.in_frame, channel.source)
    stamps, values, covariances = store.sample_rows(relation, since, None)
    oldest = int(stamps[0]) if len(stamps) else None
    parts = _by_covariance(values, covariances)
    return oldest, (
        chunk for part in parts for chunk in _chunks(number, stamps[part], _with_covariances(values, covariances, part))
    )


def _by_covariance(rows: NDArray[float64], covariances: NDArray[float64] | None) -> list[NDArray[Any]]:
    """Return which rows have a covariance and which have none, each as an index, where there are any."""
    if covariances is None:
        return [np.arange(len(rows))]
    is_unknown = np.isnan(covariances[:, 0, 0])
    return [np.flatnonzero(part) for part in (is_unknown, ~is_unknown) if part.any()]


def _with_covariances(
    rows: NDArray[float64], covariances: NDArray[float64] | None, part: NDArray[Any]
) -> NDArray[float64]:
    if covariances is None or len(part) == 0 or np.isnan(covariances[part[0], 0, 0]):
        plain: NDArray[float64] = rows[part]
        return plain
    upper: NDArray[float64] = covariances[part][:, _UPPER[0], _UPPER[1]]
    return np.concatenate((rows[part], upper), axis=1)


def _chunks(number: int, stamps: NDArray[Any], rows: NDArray[float64]) -> Iterator[bytes]:
    for first in range(0, len(stamps), _CHUNK):
        part = slice(first, first + _CHUNK)
        yield pack({"n": number}, [stamps[part], rows[part]])


def rows_in(header: Mapping[str, Any], arrays: Sequence[NDArray[Any]]) -> SampleMessage:
    """Read one message with rows.

    Raises:
        InvalidMessage: It has none.
    """
    number = header.get("n")
    if len(arrays) != 2 or not isinstance(number, int) or isinstance(number, bool):  # noqa: PLR2004
        raise InvalidMessage("it has no samples")
    stamps, rows = arrays
    is_table = stamps.dtype == np.int64 and stamps.ndim == 1 and rows.dtype == np.float64 and rows.ndim == 2  # noqa: PLR2004
    if not is_table or len(stamps) != len(rows):
        raise InvalidMessage("its samples do not fit")
    # Without a base they count as given now: who sends them has not taken them back.
    return SampleMessage(number, 0, (2**62, 0), stamps, rows)
