"""Clouds and scans of a log, one after the other: they stay in the file until they are wanted."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from os import PathLike
from typing import TYPE_CHECKING

from armillary.errors import InvalidMessage, NoSuchTopic
from armillary.formats.logs import open_log
from armillary.ros.messages import LaserScan, PointCloud2, decode, plain_type
from armillary.stamps import as_stamp

if TYPE_CHECKING:
    from armillary.stamps import StampLike

__all__ = ["clouds"]

_TYPES = {"sensor_msgs/PointCloud2", "sensor_msgs/LaserScan"}


def clouds(
    path: str | PathLike[str],
    topic: str | None = None,
    *,
    start: StampLike | None = None,
    end: StampLike | None = None,
) -> Iterator[PointCloud2 | LaserScan]:
    """Yield the point clouds and the scans of a log; malformed ones are left out.

    Args:
        path: A log, as for `World.from_log`.
        topic: Only those of this topic; all, if not given.
        start: Leave out what was written down before this instant of the log [ns].
        end: Leave out what was written down after it [ns].

    Raises:
        NoSuchTopic: There is no such topic, or it has other messages.
        InvalidLog: It is no log.
    """
    log, known = open_log(path), set[str]()
    for block in log.blocks(as_stamp(start, "start"), as_stamp(end, "end")):
        for i, channel in enumerate(block.channels.tolist()):
            told = log.topics.get(channel)
            if told is None or plain_type(told.type) not in _TYPES:
                continue
            known.add(told.name)
            if topic in {None, told.name}:
                with contextlib.suppress(InvalidMessage):
                    yield decode(told.type, told.encoding, block.message(i))
    if topic is not None and topic not in known:
        raise NoSuchTopic(str(log.path), topic, tuple(sorted(known)))
