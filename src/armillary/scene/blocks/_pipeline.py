"""Function blocks that feed one another: the wiring is checked before anything runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from armillary._core import NodeId
from armillary.errors import InvalidArgument, PortMismatch
from armillary.scene.blocks._block import REQUIRED, FunctionBlock, Port

if TYPE_CHECKING:
    from armillary.scene._scene import Scene

__all__ = ["Pipeline"]


class _Stage(NamedTuple):
    """A block, and where each of its input ports takes its nodes from."""

    name: str
    block: FunctionBlock
    wires: dict[str, str]


class Pipeline:
    """Blocks that feed one another, in the order in which they are added.

    Every call that wires something checks it: whether the ports exist, whether what one gives can be what the next
    takes, whether a port stays without data. So a mistake is found before the first point of a cloud is touched.

    Example:
        >>> import numpy as np
        >>> from armillary import World
        >>> from armillary.scene import Box, PointCloud
        >>> from armillary.scene.blocks.point_clouds import CropToBox
        >>> scene = World().scene
        >>> pipeline = Pipeline(scene, inputs=(Port("scan", ("geometry",)), Port("region", ("geometry",))))
        >>> pipeline.add("crop", CropToBox(scene), into=scene.root, cloud="scan", box="region")
        >>> scan = scene.add_geometry(parent=scene.root, shape=PointCloud(np.array([[0, 0, 0], [9.0, 0, 0]])))
        >>> region = scene.add_geometry(parent=scene.root, shape=Box((1.0, 1.0, 1.0)))
        >>> (cropped,) = pipeline.run(scan=scan, region=region)["crop.cropped"]
        >>> len(scene.geometry(cropped).points)
        1
    """

    def __init__(self, scene: Scene, inputs: Sequence[Port] = ()) -> None:
        if not all(isinstance(port, Port) for port in inputs) or len({port.name for port in inputs}) < len(inputs):
            raise InvalidArgument(f"The inputs of a pipeline are ports of different names, got {inputs!r}.", inputs)
        self._scene = scene
        self._sources: dict[str, Port] = {port.name: port for port in inputs}
        self._inputs = tuple(port.name for port in inputs)
        self._constants: dict[str, NodeId] = {}
        self._stages: list[_Stage] = []

    def __repr__(self) -> str:
        stages = " -> ".join(stage.name for stage in self._stages) or "no block yet"
        return f"Pipeline({', '.join(self._inputs)}: {stages})"

    def add(self, name: str, block: FunctionBlock, **wires: str | NodeId) -> None:
        """Add a block; each of its inputs takes an input of the pipeline, "BLOCK.PORT" of an earlier one, or a node.

        Raises:
            PortMismatch: A port is not there, has nothing wired to it, or cannot take what it would get.
        """
        if not isinstance(block, FunctionBlock):
            raise InvalidArgument(f"A pipeline is made of function blocks, got {block!r}.", block)
        if "." in name or name in {stage.name for stage in self._stages}:
            raise InvalidArgument(f"'{name}' is taken, or has a dot in it. Give each block a name of its own.", name)
        ports = {port.name: port for port in block.inputs}
        for unknown in wires.keys() - ports.keys():
            raise PortMismatch(block.name, unknown, "it has no such input", f"It has: {', '.join(ports) or 'none'}.")
        for port in block.inputs:
            if port.name not in wires and not port.many:
                hint = f"Give add(..., {port.name}=...) one of: {', '.join(self._sources) or 'a node'}."
                raise PortMismatch(block.name, port.name, "nothing is wired to it", hint)
        wired = {port: self._checked(block, ports[port], source, f"{name}:{port}") for port, source in wires.items()}
        self._constants |= {key: node for key, node in wired.values() if node is not None}
        self._stages.append(_Stage(name, block, {port: key for port, (key, _) in wired.items()}))
        self._sources |= {f"{name}.{port.name}": port for port in block.outputs}

    def _checked(self, block: FunctionBlock, port: Port, source: str | NodeId, key: str) -> tuple[str, NodeId | None]:
        if isinstance(source, NodeId):
            port.check(block.name, source, self._described)
            return key, source
        given = self._sources.get(source)
        if given is None:
            known = ", ".join(self._sources) or "none yet"
            raise PortMismatch(block.name, port.name, f"there is no '{source}' to take", f"There is: {known}.")
        _check_fit(block.name, port, source, given)
        return source, None

    def _described(self, node: NodeId) -> tuple[str, Any]:
        kind = self._scene.kind(node)
        return kind, self._scene.geometry(node) if kind == "geometry" else None

    def run(self, **inputs: NodeId | Iterable[NodeId]) -> dict[str, list[NodeId]]:
        """Run all blocks; return the nodes at every output, by "BLOCK.PORT".

        What is given, and every parameter without a value, is checked before the first block runs. A block that fails
        changes nothing; what the blocks before it put into the scene stays.

        Raises:
            PortMismatch: An input is missing, is not known, or does not fit.
            BlockFailed: A block raised.
        """
        data = self._taken(inputs)
        for stage in self._stages:
            for parameter, value in stage.block.settings.items():
                if value is REQUIRED:
                    hint = f"Block '{stage.name}' needs '{parameter}': configure({parameter}=...)."
                    raise InvalidArgument(f"The pipeline is not complete. {hint}", parameter)
        for stage in self._stages:
            ports = stage.block.inputs
            stage.block.set_data([node for port in ports for node in data.get(stage.wires.get(port.name, ""), [])])
            stage.block.execute()
            data |= _by_port(stage)
        return {key: nodes for key, nodes in data.items() if key not in self._inputs and key not in self._constants}

    def _taken(self, inputs: dict[str, Any]) -> dict[str, list[NodeId]]:
        for name in inputs.keys() ^ set(self._inputs):
            what = "it is not an input" if name in inputs else "it is missing"
            hint = f"Its inputs are: {', '.join(self._inputs) or 'none'}."
            raise PortMismatch("pipeline", name, what, hint)
        data = {key: [node] for key, node in self._constants.items()}
        for name, given in inputs.items():
            nodes = [given] if isinstance(given, NodeId) else list(given)
            if len(nodes) != 1 and not self._sources[name].many:
                raise PortMismatch("pipeline", name, f"{len(nodes)} nodes were given", "Give one, or a port with many.")
            for node in nodes:
                self._sources[name].check("pipeline", node, self._described)
            data[name] = nodes
        return data


def _check_fit(block: str, port: Port, source: str, given: Port) -> None:
    """Raise PortMismatch where nothing that one port gives fits the other."""
    if given.many and not port.many:
        raise PortMismatch(block, port.name, f"'{source}' gives many nodes, and it takes one", "Wire a single one.")
    if given.kinds and port.kinds and not set(given.kinds) & set(port.kinds):
        hint = f"Give a {' or a '.join(port.kinds)}."
        raise PortMismatch(block, port.name, f"'{source}' gives a {' or a '.join(given.kinds)}", hint)
    fits = any(issubclass(a, b) or issubclass(b, a) for a in given.shapes for b in port.shapes)
    if given.shapes and port.shapes and not fits:
        wanted, found = (" or a ".join(one.__name__ for one in shapes) for shapes in (port.shapes, given.shapes))
        raise PortMismatch(block, port.name, f"'{source}' gives a {found}", f"Give a {wanted}.")


def _by_port(stage: _Stage) -> dict[str, list[NodeId]]:
    """The results of a block, by its output ports; the last one may have taken many."""
    left = stage.block.get_data()
    found: dict[str, list[NodeId]] = {}
    for port in stage.block.outputs:
        count = len(left) if port.many else 1
        found[f"{stage.name}.{port.name}"], left = left[:count], left[count:]
    return found
