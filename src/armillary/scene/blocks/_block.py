"""Function blocks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any, ClassVar, Final, final

from armillary._core import NodeId
from armillary.errors import BlockFailed, InvalidArgument
from armillary.errors.format import short_repr
from armillary.scene._door import SceneDoor
from armillary.scene.blocks._port import Port, assigned, checked_ports
from armillary.scene.blocks._transaction import Transaction

if TYPE_CHECKING:
    from armillary.scene._scene import Scene

__all__ = ["REQUIRED", "FunctionBlock"]


@final
class _Required:
    """The type of `REQUIRED`."""

    def __repr__(self) -> str:
        return "REQUIRED"

    def __reduce__(self) -> str:
        return "REQUIRED"


REQUIRED: Final = _Required()
"""Stands in `parameters` for what has no default."""


class FunctionBlock(ABC):
    """A computation on nodes of a scene, next to the data.

    A block is one subclass: it declares its ports and parameters, and computes. `set_data` gives it nodes, `execute`
    checks them against the ports and runs it, `get_data` gives the nodes that came out. While it computes,
    `self.scene` is the scene as it was when it began; what it plans there (`self.scene.plan(AddGroup(...))`) happens
    all at once when it is through. A block that raises changes nothing.

    `parameters` are those of the class, with their defaults. What `configure` set is in `self.settings`, which
    `compute` reads.

    Installed packages offer blocks by entry points of the group `armillary.blocks`; `scene.load_block(name)` makes one.
    """

    name: ClassVar[str]
    inputs: ClassVar[tuple[Port, ...]] = ()
    outputs: ClassVar[tuple[Port, ...]] = ()
    parameters: ClassVar[Mapping[str, Any]] = {}
    """Names to defaults, `REQUIRED` where there is none; `self.settings` has the values that count."""

    scene: Transaction

    def __init__(self, scene: Scene) -> None:
        if not isinstance(scene, SceneDoor):
            raise InvalidArgument(f"A function block works on a scene, as world.scene is one; got {scene!r}.", scene)
        if not isinstance(getattr(self, "name", None), str):
            kind = type(self).__name__
            raise InvalidArgument(f"The block {kind} has no name. Give its class one: name = '...'.", type(self))
        checked_ports(self.name, self.inputs)
        checked_ports(self.name, self.outputs)
        self._host = scene
        self.settings: dict[str, Any] = dict(self.parameters)
        self.duration_s: float | None = None
        """How long the last execution took, its changes included; None before."""
        self._given: tuple[NodeId, ...] = ()
        self._results: list[NodeId] = []

    def __repr__(self) -> str:
        settings = "".join(f", {name}={value!r}" for name, value in self.settings.items())
        return f"{type(self).__name__}({self._host!r}{settings})"

    def configure(self, **parameters: Any) -> None:
        """Set some parameters; the others stay as they are."""
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
        """Raise InvalidArgument for a value that cannot be taken; takes everything unless overridden."""

    def set_data(self, nodes: Iterable[NodeId]) -> None:
        """The nodes for the input ports, in their order."""
        if isinstance(nodes, str | NodeId) or not isinstance(nodes, Iterable):
            raise InvalidArgument(f"The data of a block are nodes in a list: [node, ...]; got {nodes!r}.", nodes)
        self._given = tuple(nodes)

    def get_data(self) -> list[NodeId]:
        """The nodes that the last execution gave, in the order of the output ports."""
        return list(self._results)

    @final
    def execute(self) -> None:
        """Check the data, compute, and put the results into the scene.

        Raises:
            PortMismatch: A node is of a kind that the block does not take or, coming out, does not promise.
            BlockFailed: It raised; the scene is as it was.
        """
        missing = [name for name, value in self.settings.items() if value is REQUIRED]
        if missing:
            raise InvalidArgument(
                f"The block '{self.name}' needs '{missing[0]}': configure({missing[0]}=...).", missing[0]
            )
        begun_s = perf_counter()
        self.scene = Transaction.on(self._host)
        data = assigned(self.name, self.inputs, self._given, self.scene.described)
        results = self._computed(data)
        assigned(self.name, self.outputs, results, self.scene.described)
        self._commit()
        self._results, self.duration_s = results, perf_counter() - begun_s

    def _computed(self, data: Mapping[str, Sequence[NodeId]]) -> list[NodeId]:
        try:
            return [_as_node(result) for result in _as_results(self.compute(data))]
        except Exception as error:
            raise BlockFailed(self.name, error) from error

    def _commit(self) -> None:
        try:
            self._host.apply(self.scene.end())
        except Exception as error:
            raise BlockFailed(self.name, error) from error

    @abstractmethod
    def compute(self, data: Mapping[str, Sequence[NodeId]]) -> Iterable[NodeId]:
        """The work: from the nodes at each input port to a list of those for the output ports, [] for none."""


def _as_results(results: Iterable[NodeId]) -> Iterable[NodeId]:
    if isinstance(results, Iterable):
        return results
    raise InvalidArgument(
        "compute() must return a list of nodes, one for each output port and [] for none; "
        f"it returned {short_repr(results)}",
        results,
    )


def _as_node(result: object) -> NodeId:
    if isinstance(result, NodeId):
        return result
    raise InvalidArgument(
        f"compute() returns the nodes for the output ports, and returned {short_repr(result)}. A change is planned: "
        "self.scene.plan(change) gives its node",
        result,
    )
