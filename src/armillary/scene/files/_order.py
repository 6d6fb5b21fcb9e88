"""What is in what, in an order in which it can be made."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from armillary._core import ROOT_NODE, NodeId
from armillary.scene.files._format import CONTAINERS

if TYPE_CHECKING:
    from armillary.scene.files._fields import Field
    from armillary.scene.files._nodes import LoadedNode

__all__ = ["containment"]

Edge = tuple[NodeId, NodeId]


def containment(parts: dict[str, Field], nodes: dict[NodeId, LoadedNode], remote: set[NodeId]) -> list[Edge]:
    """Each (parent, child) of the file, a parent's own first; circles and nodes in nothing are refused."""
    said: dict[Edge, Field] = {}
    for field in parts["contains"].items():
        edge = _edge(field, nodes, remote)
        if edge in said:
            raise field.refused("the same is said before")
        said[edge] = field
    _check_all_are_in_something(parts["nodes"], nodes, remote, said)
    _check_no_circle(nodes, said)
    return _parents_first(list(said), {ROOT_NODE, *remote})


def _edge(field: Field, nodes: dict[NodeId, LoadedNode], remote: set[NodeId]) -> Edge:
    above, below = field.items(2)
    parent, child = above.node(), below.node()
    if parent != ROOT_NODE and (parent not in nodes or nodes[parent].kind not in CONTAINERS):
        raise above.refused("the id of a node that can have children is expected")
    if child not in nodes:
        raise below.refused("the id of a node is expected")
    if child in remote:
        raise below.refused("this is a remote root, which is in nothing")
    return parent, child


def _check_all_are_in_something(
    said: Field, nodes: dict[NodeId, LoadedNode], remote: set[NodeId], edges: dict[Edge, Field]
) -> None:
    inside = {child for _, child in edges} | remote
    for i, node in enumerate(nodes):
        if node not in inside:
            raise said.at(i).refused("the node is in nothing: no entry of 'contains' names it")


def _check_no_circle(nodes: dict[NodeId, LoadedNode], edges: dict[Edge, Field]) -> None:
    """Take away what is in nothing, again and again: what is left goes round."""
    children: dict[NodeId, list[NodeId]] = {}
    waits = dict.fromkeys((ROOT_NODE, *nodes), 0)
    for parent, child in edges:
        children.setdefault(parent, []).append(child)
        waits[child] += 1
    free = deque(node for node, count in waits.items() if count == 0)
    while free:
        node = free.popleft()
        del waits[node]
        for child in children.get(node, ()):
            waits[child] -= 1
            if waits[child] == 0:
                free.append(child)
    for (parent, child), field in edges.items():
        if parent in waits and child in waits:
            raise field.refused("this and others lead in a circle: a node would contain itself")


def _parents_first(edges: list[Edge], made: set[NodeId]) -> list[Edge]:
    """In the order of the file, but for those whose parent comes later: they wait for it."""
    ordered: list[Edge] = []
    waiting: dict[NodeId, list[Edge]] = {}
    for edge in edges:
        ready = deque([edge])
        while ready:
            parent, child = ready.popleft()
            if parent not in made:
                waiting.setdefault(parent, []).append((parent, child))
                continue
            ordered.append((parent, child))
            if child not in made:
                made.add(child)
                ready.extend(waiting.pop(child, ()))
    return ordered
