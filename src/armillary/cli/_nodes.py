"""Things of the scene on the command line: they go by the beginnings of their ids."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from armillary.errors import InvalidArgument, UnknownFrame
from armillary.errors.format import list_names
from armillary.scene.node_frames import MOUNT, maker_of

if TYPE_CHECKING:
    from armillary import World

__all__ = ["called_in", "frame_meant", "ids_in_place_of_names", "left_out", "shortened"]

_DIGITS = 8
_LONGER = 13
_ID = re.compile(r"\b([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
_BEGINNING = re.compile(r"[0-9a-f]{4,8}|[0-9a-f]{8}-[0-9a-f-]{0,27}")


def shortened(text: str) -> str:
    """With the beginnings of ids alone, as people type them."""
    return _ID.sub(r"\1", text)


def frame_meant(world: World, text: str) -> str:
    """A frame by its name, or that of a thing of the scene by the beginning of its id."""
    digits = text.removesuffix(MOUNT).lower()
    if text in world.frames() or _BEGINNING.fullmatch(digits) is None:
        return text
    nodes = [node for node in world.scene.find({}) if str(node).startswith(digits)]
    if len(nodes) > 1:
        ids = list_names([str(node)[:_LONGER] for node in nodes])
        raise InvalidArgument(f"{len(nodes)} ids of the scene begin with '{text}': {ids}. Give more digits.", text)
    if not nodes:
        return text
    return f"{nodes[0]}{MOUNT}" if text.endswith(MOUNT) else world.scene.frame(nodes[0])


@contextmanager
def ids_in_place_of_names(world: World) -> Iterator[None]:
    """Who asks for a thing by what it is called is told its id."""
    try:
        yield
    except UnknownFrame as error:
        called = [str(node)[:_DIGITS] for node in world.scene.find({"name": error.frame})]
        if not called:
            raise
        reason = f"No frame is named '{error.frame}'; {_so_many(len(called))} of the scene is called so"
        raise InvalidArgument(f"{reason}. Give an id in its place: {list_names(called)}.", error.frame) from None


def _so_many(count: int) -> str:
    return "a thing" if count == 1 else f"each of {count} things"


def called_in(world: World, frame: str) -> str:
    """What the node that made a frame is called; empty where nothing is said of that."""
    node: Any = maker_of(frame)
    name = world.scene.attributes(node).get("name") if node is not None and node in world.scene else None
    return name if isinstance(name, str) else ""


def left_out(frames: tuple[str, ...]) -> str:
    """The line about frames of nodes that are not shown; empty where there are none."""
    count = len({node for frame in frames if (node := maker_of(frame)) is not None})
    return f"{count} thing{'' if count == 1 else 's'} of the scene: --nodes" if count else ""
