"""Function blocks, and the ports that say which nodes they take and return."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, ClassVar, Final, final

import numpy as np

from armillary._core import NodeId
from armillary.errors import BlockFailed, InvalidArgument, PortMismatch
from armillary.errors.format import short_repr
from armillary.scene._scene import Scene
from armillary.scene.blocks._transaction import Transaction
from armillary.shapes import Shape
from armillary.store.nodes import KINDS

__all__ = ["REQUIRED", "FunctionBlock", "Port", "check_outside", "check_positive_m"]

Described = Callable[["NodeId"], tuple[str, Shape | None]]
"""The kind of a node, and its shape; raises UnknownNode."""

_OUTSIDE = ("raise", "hold", "predict")


@dataclass(frozen=True, slots=True)
class Port:
    """One input or output of a block.

    Attributes:
        name: What the block calls it.
        kinds: The kinds of node that it accepts; empty: any.
        shapes: The classes of shape that it accepts, for geometry; empty: any.
        many: Whether it accepts all remaining nodes, possibly none; only the last port can.
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
        if not isinstance(self.shapes, tuple | list) or not all(
            isinstance(one, type) and issubclass(one, Shape) for one in self.shapes
        ):
            raise InvalidArgument(
                f"shapes of the port '{self.name}' are classes of shapes, as in shapes=(Box,); got {self.shapes!r}.",
                self.shapes,
            )

    def check(self, block: str, node: NodeId, described: Described) -> None:
        """Raise PortMismatch where the node does not fit."""
        kind, shape = described(node)
        if self.kinds and kind not in self.kinds:
            raise PortMismatch(block, self.name, f"node {node} is a {kind}", f"Give a {' or a '.join(self.kinds)}.")
        if self.shapes and not isinstance(shape, tuple(self.shapes)):
            wanted = " or a ".join(one.__name__ for one in self.shapes)
            found = kind if shape is None else type(shape).__name__
            raise PortMismatch(block, self.name, f"node {node} is a {found}", f"Give a {wanted}.")


@final
class _Required:
    """The type of `REQUIRED`."""

    def __repr__(self) -> str:
        return "REQUIRED"

    def __reduce__(self) -> str:
        return "REQUIRED"


REQUIRED: Final = _Required()
"""The value in `parameters` of one without a default."""


class FunctionBlock(ABC):
    """A computation on nodes of a scene, next to the data.

    A block is one subclass: it declares its ports and parameters, and computes. `set_data` sets the input nodes,
    `execute` checks them against the ports and runs it, `get_data` returns the output nodes. While it computes,
    `self.scene` is the scene as it was at the beginning; the changes that it plans there
    (`self.scene.plan(AddGroup(...))`) are applied together at the end. A block that raises changes nothing.

    `parameters` are those of the class, with their defaults. The values that `configure` set are in `self.settings`,
    which `compute` reads.

    Installed packages offer blocks by entry points of the group `armillary.blocks`; `scene.load_block(name)` makes one.
    """

    name: ClassVar[str]
    inputs: ClassVar[tuple[Port, ...]] = ()
    outputs: ClassVar[tuple[Port, ...]] = ()
    parameters: ClassVar[Mapping[str, Any]] = {}
    """Names to defaults, `REQUIRED` where there is none; `self.settings` has the current values."""

    scene: Transaction

    def __init__(self, scene: Scene) -> None:
        if not isinstance(scene, Scene):
            raise InvalidArgument(f"A function block works on a scene, as world.scene is one; got {scene!r}.", scene)
        if not isinstance(getattr(self, "name", None), str):
            kind = type(self).__name__
            raise InvalidArgument(f"The block {kind} has no name. Give its class one: name = '...'.", type(self))
        _check_ports(self.name, self.inputs)
        _check_ports(self.name, self.outputs)
        self._host = scene
        self.settings: dict[str, Any] = dict(self.parameters)
        self.duration_s: float | None = None
        """The duration of the last execution, with its changes; None before the first."""
        self._given: tuple[NodeId, ...] = ()
        self._results: list[NodeId] = []

    def __repr__(self) -> str:
        settings = "".join(f", {name}={value!r}" for name, value in self.settings.items())
        return f"{type(self).__name__}({self._host!r}{settings})"

    def configure(self, **parameters: Any) -> None:
        """Set some parameters; the others keep their values."""
        unknown = sorted(parameters.keys() - self.parameters.keys())
        if unknown:
            names = ", ".join(sorted(self.parameters)) or "none"
            raise InvalidArgument(
                f"The block '{self.name}' has no parameter '{unknown[0]}'. It has: {names}.", unknown[0]
            )
        for name, value in parameters.items():
            self.check_parameter(name, value)
        self.settings.update(parameters)

    def check_parameter(self, name: str, value: Any) -> None:  # noqa: B027  (most blocks take any)
        """Raise InvalidArgument for a value that is not accepted; by default all are."""

    def set_data(self, nodes: Iterable[NodeId]) -> None:
        """Set the nodes for the input ports, in their order."""
        if isinstance(nodes, str | NodeId) or not isinstance(nodes, Iterable):
            raise InvalidArgument(f"The data of a block are nodes in a list: [node, ...]; got {nodes!r}.", nodes)
        self._given = tuple(nodes)

    def get_data(self) -> list[NodeId]:
        """Return the output nodes of the last execution, in the order of the output ports."""
        return list(self._results)

    @final
    def execute(self) -> None:
        """Check the data, compute, and put the results into the scene.

        Raises:
            PortMismatch: An input or output node does not fit its port.
            BlockFailed: The block raised; the scene is unchanged.
        """
        missing = [name for name, value in self.settings.items() if value is REQUIRED]
        if missing:
            raise InvalidArgument(
                f"The block '{self.name}' needs '{missing[0]}': configure({missing[0]}=...).", missing[0]
            )
        begun_s = perf_counter()
        self.scene = Transaction.on(self._host)
        data = _assign(self.name, self.inputs, self._given, self.scene.described)
        try:
            results = _as_nodes(self.compute(data))
        except Exception as error:
            raise BlockFailed(self.name, error) from error
        _assign(self.name, self.outputs, results, self.scene.described)
        try:
            self.scene.store.apply(self.scene.end(), tag=f"block {self.name}")
        except Exception as error:
            raise BlockFailed(self.name, error) from error
        self._results, self.duration_s = results, perf_counter() - begun_s

    @abstractmethod
    def compute(self, data: Mapping[str, Sequence[NodeId]]) -> Iterable[NodeId]:
        """Compute from the nodes at each input port a list of those for the output ports, [] for none."""


def _as_nodes(results: Iterable[NodeId]) -> list[NodeId]:
    if not isinstance(results, Iterable):
        raise InvalidArgument(
            "compute() must return a list of nodes, one for each output port and [] for none; "
            f"it returned {short_repr(results)}",
            results,
        )
    nodes = list(results)
    for result in nodes:
        if not isinstance(result, NodeId):
            raise InvalidArgument(
                f"compute() returns the nodes for the output ports, and returned {short_repr(result)}. A change is "
                "planned: self.scene.plan(change) gives its node",
                result,
            )
    return nodes


# -- Checks


def _check_ports(block: str, ports: object) -> None:
    """Raise InvalidArgument for ports that a block cannot declare."""
    if not isinstance(ports, tuple | list) or not all(isinstance(port, Port) for port in ports):
        raise InvalidArgument(f"The block '{block}' declares ports as (Port(...), ...), got {ports!r}.", ports)
    if len({port.name for port in ports}) < len(ports):
        raise InvalidArgument(f"The block '{block}' has two ports of one name: {ports!r}.", ports)
    if any(port.many for port in ports[:-1]):
        raise InvalidArgument(f"Only the last port of the block '{block}' can take many: {ports!r}.", ports)


def _assign(
    block: str, ports: Sequence[Port], nodes: Sequence[NodeId], described: Described
) -> dict[str, list[NodeId]]:
    """Assign nodes to ports, in order, and check each."""
    has_many = bool(ports) and ports[-1].many
    singles = ports[:-1] if has_many else ports
    if len(nodes) < len(singles) or (len(nodes) > len(singles) and not has_many):
        raise _wrong_number(block, ports, len(nodes))
    data = {port.name: [node] for port, node in zip(singles, nodes, strict=False)}
    if has_many:
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


def check_positive_m(name: str, value: Any) -> None:
    """Raise InvalidArgument for a parameter that is no length above zero."""
    is_number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not is_number or not np.isfinite(value) or value <= 0:
        raise InvalidArgument(f"{name} is a length in metres above zero, got {value!r}.", value)


def check_outside(value: Any) -> None:
    """Raise InvalidArgument for a parameter that is no `outside` of `world.pose`."""
    if not isinstance(value, str) or value not in _OUTSIDE:
        raise InvalidArgument(f"outside must be 'raise', 'hold' or 'predict', got {value!r}.", value)
