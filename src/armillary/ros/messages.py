"""Messages of ROS as bytes, those that say where things are: decoded without ROS, from ROS 1's form and from CDR.

What reaches beyond the end of a message, or is larger than it, is refused before memory is taken for it.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from armillary.errors import InvalidMessage

if TYPE_CHECKING:
    from numpy import float32, float64
    from numpy.typing import NDArray

__all__ = [
    "DECODERS",
    "Header",
    "Imu",
    "JointNumbers",
    "LaserScan",
    "Odometry",
    "PointCloud2",
    "PoseWithCovariance",
    "decode",
    "plain_type",
]

_NS_PER_S = 1_000_000_000
_ORIGIN, _LONGEST_SCAN_S = 4, 3600.0
_U32 = {"<": struct.Struct("<I"), ">": struct.Struct(">I")}


class _Cursor:
    """Reads the fields of a message one after the other; CDR aligns them, ROS 1 does not."""

    def __init__(self, data: bytes, encoding: str) -> None:
        self.data, self.place, self.is_cdr, self.order = data, 0, encoding == "cdr", "<"
        if self.is_cdr:
            if len(data) < _ORIGIN or data[0] != 0 or data[1] > 1:
                raise InvalidMessage("it is no plain CDR")
            self.order, self.place = "<" if data[1] else ">", _ORIGIN

    def take(self, size: int, align: int = 1) -> int:
        """Return where the next field begins, and go on behind it."""
        if self.is_cdr and align > 1:
            self.place += -(self.place - _ORIGIN) % align
        place = self.place
        if size < 0 or size > len(self.data) - place:
            raise InvalidMessage("it is cut off")
        self.place = place + size
        return place

    def number(self, form: str) -> Any:
        size = struct.calcsize(form)
        return struct.unpack_from(self.order + form, self.data, self.take(size, size))[0]

    def count(self) -> int:
        return int(_U32[self.order].unpack_from(self.data, self.take(4, 4))[0])

    def text(self) -> str:
        size = self.count()
        place = self.take(size)
        return self.data[place : place + size].rstrip(b"\0").decode("utf-8", "replace")

    def doubles(self, count: int) -> NDArray[float64]:
        place = self.take(8 * count, 8)
        return np.frombuffer(self.data, self.order + "f8", count, place).astype(np.float64)

    def floats(self) -> NDArray[float32]:
        count = self.count()
        place = self.take(4 * count, 4)
        return np.frombuffer(self.data, self.order + "f4", count, place).astype(np.float32)

    def doubles_listed(self) -> NDArray[float64]:
        count = self.count()
        return self.doubles(count) if count else np.empty(0)

    def texts(self) -> tuple[str, ...]:
        count = self.count()
        if count > len(self.data) // 4:
            raise InvalidMessage("it is cut off")
        return tuple(self.text() for _ in range(count))

    def time(self) -> int:
        seconds = self.number("i" if self.is_cdr else "I")
        return int(seconds) * _NS_PER_S + int(self.number("I"))


@dataclass(frozen=True, slots=True)
class Header:
    """When and where a message is about: stamp [ns] and frame, without a slash before it."""

    stamp: int
    frame: str


@dataclass(frozen=True, slots=True, eq=False)
class PoseWithCovariance:
    """A pose as x y z w x y z, with ROS's covariance: along the axes of the frame it is seen from."""

    header: Header
    pose: NDArray[float64]
    covariance: NDArray[float64]


@dataclass(frozen=True, slots=True, eq=False)
class Odometry:
    """nav_msgs/Odometry: a pose in the frame of the header, a motion along the axes of the child."""

    header: Header
    child: str
    pose: NDArray[float64]
    covariance: NDArray[float64]
    twist: NDArray[float64]
    twist_covariance: NDArray[float64]


@dataclass(frozen=True, slots=True, eq=False)
class Imu:
    """sensor_msgs/Imu: angular velocity [rad/s], (3, 3) covariance; its orientation and acceleration are not used."""

    header: Header
    angular: NDArray[float64]
    covariance: NDArray[float64]


@dataclass(frozen=True, slots=True, eq=False)
class JointNumbers:
    """sensor_msgs/JointState; velocities may be empty."""

    header: Header
    names: tuple[str, ...]
    positions: NDArray[float64]
    velocities: NDArray[float64]


@dataclass(frozen=True, slots=True, eq=False)
class PointCloud2:
    """sensor_msgs/PointCloud2 as (N, 3) points [m], and what other fields there are."""

    header: Header
    points: NDArray[float64]
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class LaserScan:
    """sensor_msgs/LaserScan as (N, 3) points [m] in the plane of the scanner, and when each was measured [ns]."""

    header: Header
    points: NDArray[float64]
    stamps: NDArray[np.int64]


def _header(cursor: _Cursor) -> Header:
    if not cursor.is_cdr:
        cursor.number("I")
    stamp = cursor.time()
    return Header(stamp, cursor.text().removeprefix("/"))


def _pose(cursor: _Cursor) -> NDArray[float64]:
    x, y, z, qx, qy, qz, qw = cursor.doubles(7)
    return np.array([x, y, z, qw, qx, qy, qz])


def _square(cursor: _Cursor, size: int) -> NDArray[float64]:
    return cursor.doubles(size * size).reshape(size, size)


def _pose_with_covariance(cursor: _Cursor) -> PoseWithCovariance:
    return PoseWithCovariance(_header(cursor), _pose(cursor), _square(cursor, 6))


def _odometry(cursor: _Cursor) -> Odometry:
    header, child = _header(cursor), cursor.text().removeprefix("/")
    pose, covariance = _pose(cursor), _square(cursor, 6)
    return Odometry(header, child, pose, covariance, cursor.doubles(6), _square(cursor, 6))


def _imu(cursor: _Cursor) -> Imu:
    header = _header(cursor)
    cursor.doubles(4 + 9)
    return Imu(header, cursor.doubles(3), _square(cursor, 3))


def _joints(cursor: _Cursor) -> JointNumbers:
    return JointNumbers(_header(cursor), cursor.texts(), cursor.doubles_listed(), cursor.doubles_listed())


_FIELD_TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 8: "f8"}


def _cloud(cursor: _Cursor) -> PointCloud2:
    header, height, width = _header(cursor), cursor.count(), cursor.count()
    places: dict[str, tuple[int, str]] = {}
    for _ in range(min(cursor.count(), 1000)):
        name, offset = cursor.text(), cursor.count()
        kind = cursor.number("B")
        cursor.count()
        if kind in _FIELD_TYPES:
            places[name] = (offset, _FIELD_TYPES[kind])
    order = ">" if cursor.number("B") else "<"
    step, row_step = cursor.count(), cursor.count()
    size = cursor.count()
    place = cursor.take(size)
    if not {"x", "y", "z"} <= places.keys():
        raise InvalidMessage("its points have no x, y and z")
    formats = {name: (order + kind, offset) for name, (offset, kind) in places.items()}
    furthest = max(offset + np.dtype(kind).itemsize for kind, offset in formats.values())
    if furthest > step or width * step > row_step or height * row_step > size:
        raise InvalidMessage("its points do not fit its data")
    if width == 0 or height == 0:
        return PointCloud2(header, np.empty((0, 3)), tuple(places))
    form = np.dtype(
        {
            "names": list(formats),
            "formats": [kind for kind, _ in formats.values()],
            "offsets": [offset for _, offset in formats.values()],
            "itemsize": step,
        }
    )
    table = np.ndarray((height, width), form, cursor.data, place, (row_step, step))
    points = np.stack([table[axis].ravel().astype(np.float64) for axis in "xyz"], axis=1)
    return PointCloud2(header, points, tuple(places))


def _scan(cursor: _Cursor) -> LaserScan:
    header = _header(cursor)
    first, _, step, between_s, _, nearest, furthest = (cursor.number("f") for _ in range(7))
    ranges = cursor.floats().astype(np.float64)
    if not np.isfinite([first, step]).all() or not abs(between_s) < _LONGEST_SCAN_S:
        raise InvalidMessage("its angles or times are no numbers")
    angles = first + step * np.arange(len(ranges))
    keep = np.isfinite(ranges) & (ranges >= nearest) & (ranges <= furthest)
    points = np.stack([ranges * np.cos(angles), ranges * np.sin(angles), np.zeros(len(ranges))], axis=1)[keep]
    offsets = np.arange(len(ranges)) * between_s * _NS_PER_S
    return LaserScan(header, points, header.stamp + np.round(offsets[keep]).astype(np.int64))


DECODERS: dict[str, Callable[[_Cursor], Any]] = {
    "geometry_msgs/PoseWithCovarianceStamped": _pose_with_covariance,
    "nav_msgs/Odometry": _odometry,
    "rosgraph_msgs/Clock": _Cursor.time,
    "sensor_msgs/Imu": _imu,
    "sensor_msgs/JointState": _joints,
    "sensor_msgs/LaserScan": _scan,
    "sensor_msgs/PointCloud2": _cloud,
    "std_msgs/String": _Cursor.text,
}
"""By type, without the "msg" that ROS 2 puts in between."""


def plain_type(name: str) -> str:
    """Return the name of a type as ROS 1 writes it: "nav_msgs/Odometry"."""
    return name.replace("/msg/", "/")


def decode(kind: str, encoding: str, data: bytes) -> Any:
    """Return a message of one of `DECODERS`.

    Args:
        kind: Its type.
        encoding: "ros1" or "cdr".
        data: Its bytes.

    Raises:
        InvalidMessage: It is cut off, or something else.
    """
    if encoding not in {"ros1", "cdr"}:
        raise InvalidMessage(f"it is encoded as '{encoding}'")
    try:
        with np.errstate(all="ignore"):  # numbers of others may be none
            return DECODERS[plain_type(kind)](_Cursor(data, encoding))
    except (ValueError, OverflowError, MemoryError, struct.error) as error:
        if isinstance(error, InvalidMessage):
            raise
        raise InvalidMessage(f"it holds impossible numbers ({error})") from None
