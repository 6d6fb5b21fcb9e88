"""What kind of nodes goes into a block and comes out of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from armillary.errors import InvalidArgument, PortMismatch
from armillary.shapes import Shape

if TYPE_CHECKING:
    from armillary._core import NodeId

__all__ = ["CONTAINERS", "TRANSFORMS", "Port", "assigned", "checked_ports"]

TRANSFORMS = ("transform", "uncertain_transform")
CONTAINERS = ("group", *TRANSFORMS, "frame")
"""Kinds that may have children."""
KINDS = (*CONTAINERS, "geometry", "connection")

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

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise InvalidArgument(f"A port has a name, got {self.name!r}.", self.name)
        if not isinstance(self.kinds, tuple | list) or not all(kind in KINDS for kind in self.kinds):
            raise InvalidArgument(
                f"kinds of the port '{self.name}' are some of {KINDS}, as in kinds=('group',); got {self.kinds!r}.",
                self.kinds,
            )
        if not isinstance(self.shapes, tuple | list) or not all(_is_shape(one) for one in self.shapes):
            raise InvalidArgument(
                f"shapes of the port '{self.name}' are classes of shapes, as in shapes=(Box,); got {self.shapes!r}.",
                self.shapes,
            )

    def check(self, block: str, node: NodeId, described: Described) -> None:
        """Raises PortMismatch where the node does not fit."""
        kind, shape = described(node)
        if self.kinds and kind not in self.kinds:
            raise PortMismatch(block, self.name, f"node {node} is a {kind}", f"Give a {' or a '.join(self.kinds)}.")
        if self.shapes and not isinstance(shape, tuple(self.shapes)):
            wanted = " or a ".join(one.__name__ for one in self.shapes)
            found = kind if shape is None else type(shape).__name__
            raise PortMismatch(block, self.name, f"node {node} is a {found}", f"Give a {wanted}.")


def _is_shape(given: object) -> bool:
    return isinstance(given, type) and issubclass(given, Shape)


def checked_ports(block: str, ports: object) -> None:
    """Raises InvalidArgument for what a block cannot declare."""
    if not isinstance(ports, tuple | list) or not all(isinstance(port, Port) for port in ports):
        raise InvalidArgument(f"The block '{block}' declares ports as (Port(...), ...), got {ports!r}.", ports)
    if len({port.name for port in ports}) < len(ports):
        raise InvalidArgument(f"The block '{block}' has two ports of one name: {ports!r}.", ports)
    if any(port.many for port in ports[:-1]):
        raise InvalidArgument(f"Only the last port of the block '{block}' can take many: {ports!r}.", ports)


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
    hint = "Give one for each, in order; a last port with many=True takes all that are left."
    return PortMismatch(block, ports[min(given, len(ports) - 1)].name, f"{nodes} given for {names}", hint)
