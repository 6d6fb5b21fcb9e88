"""Instants: integer nanoseconds, and `LATEST` for the newest one; other common forms of an instant are converted."""

from __future__ import annotations

import math
import time
from operator import index
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias, final

import numpy as np

from armillary.errors import InvalidArgument, InvalidStamp
from armillary.errors.format import short_repr

if TYPE_CHECKING:
    from datetime import datetime

    from numpy import datetime64, int64, integer
    from numpy.typing import NDArray

    class TimeMessage(Protocol):
        """A time of ROS 2; that of ROS 1, with `secs` and `nsecs`, is taken as well."""

        @property
        def sec(self) -> int:
            """Whole seconds."""

        @property
        def nanosec(self) -> int:
            """The nanoseconds beside them."""

    StampLike: TypeAlias = int | integer[Any] | datetime64[Any] | datetime | TimeMessage
    """One instant in any form that is accepted; a pandas Timestamp is a datetime."""

__all__ = ["LATEST", "Latest", "as_instant", "as_stamp", "as_stamps", "as_when", "now", "seconds", "stamp"]

_NS_PER_S = 1_000_000_000
_FURTHEST_STAMP_NS = 2**62
_NARROW_UNITS = frozenset({"generic", "ps", "fs", "as"})  # whose 64 bits hold nothing out of range; generic is NaT
_MESSAGE_FIELDS = (("sec", "nanosec"), ("secs", "nsecs"))  # of ROS 2, of ROS 1
_FORMS = "Pass integer nanoseconds, seconds(1.5), stamp(sec=, nanosec=), a datetime64 or a datetime with a time zone."


@final
class Latest:
    """The type of `LATEST`: the newest instant that everything on a path covers."""

    __slots__ = ()
    _only: Latest | None = None

    def __new__(cls) -> Latest:
        """Return the only object of the class."""
        if cls._only is None:
            cls._only = super().__new__(cls)
        return cls._only

    def __repr__(self) -> str:
        return "LATEST"

    def __reduce__(self) -> str:
        return "LATEST"


LATEST: Final = Latest()


def seconds(value: float) -> int:
    """Convert seconds to integer nanoseconds, for instants and for durations.

    The result is the nearest nanosecond. A float holds an instant of this century to about 200 ns:
    where that matters use `stamp(sec=, nanosec=)`.

    >>> seconds(1.5)
    1500000000
    """
    if isinstance(value, int):
        return value * _NS_PER_S
    try:
        number = math.nan if isinstance(value, str) else float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise InvalidStamp("seconds() takes a finite number of seconds, as in seconds(1.5).", value)
    whole = math.floor(number)
    return int(whole) * _NS_PER_S + round((number - whole) * _NS_PER_S)


def stamp(*, sec: int, nanosec: int = 0) -> int:
    """Return the instant of a `sec`, `nanosec` pair, the two fields of a ROS time, exactly.

    >>> stamp(sec=1, nanosec=5)
    1000000005
    """
    try:
        return index(sec) * _NS_PER_S + index(nanosec)
    except TypeError:
        raise InvalidStamp(
            f"stamp() takes whole numbers, got sec={sec!r}, nanosec={nanosec!r}. Use seconds(1.5).",
            (sec, nanosec),
        ) from None


def as_stamp(value: Any, name: str = "stamp") -> int | None:
    """Return an instant as `as_instant` does, and None, which is always, as it is."""
    return None if value is None else as_instant(value, name)


def as_instant(value: Any, name: str = "at") -> int:
    """Return an instant in any form that is accepted as integer nanoseconds.

    Integers are nanoseconds. A `numpy.datetime64` of any unit and a pandas Timestamp without a time zone are UTC; what
    they hold below a nanosecond is cut off. A `datetime` needs a time zone. A time of ROS is its two fields. `name` is
    that of the argument.
    """
    stamp = _nanoseconds(value, name)
    if abs(stamp) >= _FURTHEST_STAMP_NS:
        raise InvalidStamp(
            f"{name} must be integer nanoseconds within 146 years of zero, got {short_repr(value)}.", value
        )
    return stamp


def as_when(value: Any, name: str = "at") -> int | Latest:
    """Return `LATEST`, or an instant in any form that is accepted as integer nanoseconds."""
    return value if isinstance(value, Latest) else as_instant(value, name)


def as_stamps(values: Any, name: str = "at") -> NDArray[int64]:
    """Return many instants as an int64 array [ns], (N,): arrays and lists of what `as_stamp` takes, pandas Series."""
    zoned = getattr(values, "dtype", None)
    if getattr(zoned, "tz", None) is not None:  # of pandas, which numpy would make objects of
        values = values.to_numpy(dtype=f"datetime64[{getattr(zoned, 'unit', 'ns')}]")
    try:
        array = np.asarray(values)
    except ValueError:
        raise InvalidArgument(f"{name} must have shape (N,), got {short_repr(values)}.", values) from None
    if array.ndim != 1:
        raise InvalidArgument(f"{name} must have shape (N,), integer nanoseconds, got {array.shape}.", values)
    match array.dtype.kind:
        case "i" | "u":
            stamps = array
        case "M":
            stamps = _of_datetimes(array, name, values)
        case "O":
            stamps = np.array([as_instant(one, f"{name}[{row}]") for row, one in enumerate(array)], dtype=np.int64)
        case _ if array.size == 0:
            stamps = array
        case _:
            raise InvalidStamp(
                f"{name} must be integer nanoseconds (int64) or datetime64, got dtype {array.dtype}. "
                "Convert seconds with (1e9 * values).round().astype('int64').",
                values,
            )
    if array.dtype.kind == "u" and array.size and array.max() >= _FURTHEST_STAMP_NS:
        raise InvalidStamp(f"{name} holds a stamp out of range: stamps lie within 146 years of zero.", values)
    return np.ascontiguousarray(stamps, dtype=np.int64)


def _nanoseconds(value: Any, name: str) -> int:
    """Return one instant [ns], whatever its size, or refuse what is none."""
    kind = getattr(getattr(value, "dtype", None), "kind", None)
    if hasattr(value, "to_datetime64"):  # a Timestamp of pandas, which also is a datetime
        value, kind = value.to_datetime64(), "M"
    if kind == "M" and value.ndim == 0:
        return int(_of_datetimes(value.reshape(1), name, value)[0])
    if hasattr(value, "utcoffset") and hasattr(value, "astimezone"):
        return _of_datetime(value, name)
    for whole, rest in _MESSAGE_FIELDS:
        if hasattr(value, whole) and hasattr(value, rest):
            return stamp(sec=getattr(value, whole), nanosec=getattr(value, rest))
    try:
        if not isinstance(value, bool):
            return index(value)
    except TypeError:
        pass
    hint = f"Pass seconds({value!r})." if isinstance(value, float) else _FORMS
    raise InvalidStamp(f"{name} must be integer nanoseconds, got {short_repr(value)}. {hint}", value)


def _of_datetime(value: datetime, name: str) -> int:
    from datetime import UTC, datetime, timedelta  # noqa: PLC0415  (most programs pass integers)

    if value.utcoffset() is None:
        raise InvalidStamp(
            f"{name} = {value!r} has no time zone: which instant it means depends on where it is read. Give it one, as "
            "in value.replace(tzinfo=datetime.UTC), or value.astimezone() if it is the local time of this computer.",
            value,
        )
    return (value - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1) * 1000


def _of_datetimes(values: NDArray[datetime64[Any]], name: str, given: Any) -> NDArray[int64]:
    """Return an array of datetime64 of any unit [ns]; refuse NaT and what nanoseconds cannot hold."""
    is_refused = np.isnat(values)
    if np.datetime_data(values.dtype)[0] not in _NARROW_UNITS:
        first, last = np.array([-_FURTHEST_STAMP_NS, _FURTHEST_STAMP_NS], dtype="datetime64[ns]").astype(values.dtype)
        is_refused |= (values < first) | (values > last)
    if is_refused.any():
        row = int(is_refused.argmax())
        where = f"{name}[{row}]" if np.ndim(given) else name
        why = "is NaT: no instant" if np.isnat(values[row]) else "is out of range: stamps lie within 146 years of zero"
        raise InvalidStamp(f"{where} {why}.", given)
    return values.astype("datetime64[ns]").view(np.int64)


def now() -> int:
    """Return the wall clock in nanoseconds since 1970."""
    return time.time_ns()
