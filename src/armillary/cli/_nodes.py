"""Scene nodes on the command line, which are abbreviated to the beginning of their ids."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from armillary.errors import InvalidArgument, UnknownFrame
from armillary.errors.format import list_names
from armillary.store.nodes import MOUNT, maker_of

if TYPE_CHECKING:
    from armillary import World


_DIGITS = 8
_LONGER = 13
_ID = re.compile(r"\b([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
_BEGINNING = re.compile(r"[0-9a-f]{4,8}|[0-9a-f]{8}-[0-9a-f-]{0,27}")


def abbreviate_ids(text: str) -> str:
    """Abbreviate all ids in a text to their first eight digits."""
    return _ID.sub(r"\1", text)


def resolve_frame(world: World, text: str) -> str:
    """Return a frame by its name, or the frame of a node by the beginning of its id."""
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
def suggest_ids(world: World) -> Iterator[None]:
    """If a frame is unknown but nodes have that name, raise an error with their ids."""
    try:
        yield
    except UnknownFrame as error:
        called = [str(node)[:_DIGITS] for node in world.scene.find({"name": error.frame})]
        if not called:
            raise
        nodes = "a node" if len(called) == 1 else f"each of {len(called)} nodes"
        reason = f"No frame is named '{error.frame}'; {nodes} of the scene has that name"
        raise InvalidArgument(f"{reason}. Give an id in its place: {list_names(called)}.", error.frame) from None


def node_name(world: World, frame: str) -> str:
    """Return the name of the node that a frame belongs to; empty if it has none."""
    node: Any = maker_of(frame)
    name = world.scene.attributes(node).get("name") if node is not None and node in world.scene else None
    return name if isinstance(name, str) else ""


def frame_text(world: World, frame: str) -> str:
    """Return what people call a frame; that of a node by the name of the node, if it has one, and its first digits."""
    name = node_name(world, frame)
    return f"{name} ({frame[:_DIGITS]})" if name else abbreviate_ids(frame)


def hidden_nodes_line(frames: tuple[str, ...]) -> str:
    """Return the line that counts the nodes that are not shown; empty if there are none."""
    count = len({node for frame in frames if (node := maker_of(frame)) is not None})
    return f"{count} node{'' if count == 1 else 's'} of the scene: --nodes" if count else ""
