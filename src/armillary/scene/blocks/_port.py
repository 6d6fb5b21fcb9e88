"""What kind of nodes goes into a block and comes out of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from armillary.errors import PortMismatch
from armillary.scene.shapes import Shape

if TYPE_CHECKING:
    from armillary._core import NodeId

__all__ = ["CONTAINERS", "TRANSFORMS", "Port", "assigned"]

TRANSFORMS = ("transform", "uncertain_transform")
CONTAINERS = ("group", *TRANSFORMS, "frame")
"""Kinds that may have children."""

Described = Callable[["NodeId"], tuple[str, Shape | None]]
"""The kind of a node, and its shape; raises UnknownNode."""


@dataclass(frozen=True, slots=True)
class Port:
    """One thing that a block takes or gives.

    Attributes:
        name: What the block calls it.
        kinds: The kinds of node that fit; empty: any.
        shapes: The classes of shape that fit, where it is geometry; empty: any.
        many: Whether it takes all that is left, one or none included; only the last port can.
    """

    name: str
    kinds: tuple[str, ...] = ()
    shapes: tuple[type[Shape], ...] = ()
    many: bool = False

    def check(self, block: str, node: NodeId, described: Described) -> None:
        """Raises PortMismatch where the node does not fit."""
        kind, shape = described(node)
        if self.kinds and kind not in self.kinds:
            raise PortMismatch(block, self.name, f"node {node} is a {kind}", f"Give a {' or a '.join(self.kinds)}.")
        if self.shapes and not isinstance(shape, self.shapes):
            wanted = " or a ".join(one.__name__ for one in self.shapes)
            raise PortMismatch(block, self.name, f"node {node} is a {type(shape).__name__}", f"Give a {wanted}.")


def assigned(
    block: str, ports: Sequence[Port], nodes: Sequence[NodeId], described: Described
) -> dict[str, list[NodeId]]:
    """The nodes by port, in order, each checked."""
    has_rest = bool(ports) and ports[-1].many
    singles = ports[:-1] if has_rest else ports
    if len(nodes) < len(singles) or (len(nodes) > len(singles) and not has_rest):
        raise _wrong_number(block, ports, len(nodes))
    data = {port.name: [node] for port, node in zip(singles, nodes, strict=False)}
    if has_rest:
        data[ports[-1].name] = list(nodes[len(singles) :])
    for port in ports:
        for node in data[port.name]:
            port.check(block, node, described)
    return data


def _wrong_number(block: str, ports: Sequence[Port], given: int) -> PortMismatch:
    nodes = "1 node was" if given == 1 else f"{given} nodes were"
    if not ports:
        return PortMismatch(block, "", f"{nodes} given, and no port is declared for them", "Declare one, or give none.")
    names = ", ".join(f"'{port.name}'" for port in ports)
    cure = "Give one for each, in order; a last port with many=True takes all that are left."
    return PortMismatch(block, ports[min(given, len(ports) - 1)].name, f"{nodes} given for {names}", cure)
