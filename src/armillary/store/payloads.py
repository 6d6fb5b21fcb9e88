"""What nodes carry: shapes and the ends of connections, with their digests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, TypeVar

from armillary.errors import InvalidArgument, InvalidShape
from armillary.errors.format import short_repr
from armillary.shapes import Levels, Shape
from armillary.stamps import as_stamp

if TYPE_CHECKING:
    from armillary._core import NodeId

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Connection:
    """A tie from some nodes to others, from `start` until `end`; None: without a beginning, without an end."""

    sources: tuple[NodeId, ...]
    targets: tuple[NodeId, ...]
    start: int | None = None
    end: int | None = None

    def holds_at(self, stamp: int) -> bool:
        """Whether the tie is there at an instant; the end does not belong to it."""
        return (self.start is None or self.start <= stamp) and (self.end is None or stamp < self.end)

    def digest(self) -> bytes:
        """Equal for equal connections."""
        ends = [",".join(map(str, nodes)) for nodes in (self.sources, self.targets)]
        return sha256(f"connection|{ends[0]}|{ends[1]}|{self.start}|{self.end}".encode()).digest()


def as_several(given: Iterable[Item], name: str) -> tuple[Item, ...]:
    """What is given as a list, or as anything that can be gone through."""
    try:
        return tuple(given)
    except TypeError:
        raise InvalidArgument(f"{name} must be a list, got {short_repr(given)}.", given) from None


def as_version_vector(given: object) -> dict[int, tuple[int, list[int]]]:
    """Check what `scene.version_vector()` of another replica returned."""
    if isinstance(given, Mapping) and all(_is_number(key) and _is_held(said) for key, said in given.items()):
        return {author: (upto, list(more)) for author, (upto, more) in given.items()}
    raise InvalidArgument(
        f"since is what `scene.version_vector()` of another replica returns, got {short_repr(given)}.", given
    )


def _is_held(said: object) -> bool:
    """Whether this is a sequence number and a list of further ones."""
    match said:
        case (upto, Sequence() as more) if not isinstance(said, str | bytes):
            return _is_number(upto) and all(map(_is_number, more))
        case _:
            return False


def _is_number(value: object) -> bool:
    return isinstance(value, int) and 0 <= value < 2**64


def shape_payload(shape: Shape, coarser: Sequence[Shape], *, is_always: bool) -> tuple[Levels, bytes]:
    """A shape and its coarser levels, as a node carries them."""
    if not isinstance(shape, Shape):
        is_wrong = f"{short_repr(shape)} is no shape."
        raise InvalidShape(f"{is_wrong} Give one, as Box((x, y, z)); coarser ones of the thing go to levels=.", shape)
    levels = Levels((shape, *as_several(coarser, "levels")), is_always)
    since = b"always" if is_always else b""
    return levels, sha256(b"".join(level.digest() for level in levels) + since).digest()


def connection_payload(
    sources: tuple[NodeId, ...], targets: tuple[NodeId, ...], start: int | None, end: int | None
) -> tuple[Connection, bytes]:
    """The ends of a connection, as a node carries them."""
    start, end = as_stamp(start, "start"), as_stamp(end, "end")
    if start is not None and end is not None and end < start:
        raise InvalidArgument(f"The connection ends ({end}) before it starts ({start}). Swap them.", end)
    connection = Connection(sources, targets, start, end)
    return connection, connection.digest()
