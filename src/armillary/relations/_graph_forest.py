"""Rooted trees of names: who hangs under whom, who is in which tree, and the way from one to the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Generic, TypeVar

Edge = TypeVar("Edge")


@dataclass(slots=True, eq=False)
class Tree:
    """The members of one tree. Which object it is says which tree."""

    root: str
    members: set[str]


class Forest(Generic[Edge]):
    """Trees that join, turn and part. An edge is kept at its lower end.

    Every node knows its tree: when two join, the members of the smaller one are told, so that n insertions cost
    O(n log n) altogether. A path costs what the path is long, whatever the size of the tree.
    """

    __slots__ = ("_down", "_tree", "_up")

    def __init__(self) -> None:
        self._up: dict[str, tuple[str, Edge]] = {}
        self._down: dict[str, set[str]] = {}
        self._tree: dict[str, Tree] = {}

    def __contains__(self, node: str) -> bool:
        return node in self._tree

    def add(self, node: str) -> Tree:
        """The tree of a node; one of its own if the node is new."""
        tree = self._tree.get(node)
        if tree is None:
            tree = self._tree[node] = Tree(node, {node})
            self._down[node] = set()
        return tree

    def tree(self, node: str) -> Tree:
        """The tree of a node."""
        return self._tree[node]

    def up(self, node: str) -> tuple[str, Edge] | None:
        """The parent and the edge to it; None for a root."""
        return self._up.get(node)

    def hang(self, root: str, parent: str, edge: Edge) -> tuple[Tree, Tree]:
        """Hangs a root under a node of another tree: the tree that goes on, and the one that is gone."""
        upper, lower = self._tree[parent], self._tree[root]
        self._up[root] = (parent, edge)
        self._down[parent].add(root)
        kept, gone = (upper, lower) if len(upper.members) >= len(lower.members) else (lower, upper)
        kept.root = upper.root
        self._assign(gone.members, kept)
        kept.members |= gone.members
        return kept, gone

    def link(self, a: str, b: str, edge: Edge) -> None:
        """Joins two trees where no direction is given: the smaller one is turned round to hang under the other."""
        few, many = sorted((a, b), key=lambda node: len(self.add(node).members))
        self._turn(few)
        self.hang(few, many, edge)

    def cut(self, node: str) -> tuple[Tree, Tree]:
        """Takes away the edge above a node: what is left of its tree, and the tree that it is now the root of."""
        rest, (parent, _) = self._tree[node], self._up.pop(node)
        self._down[parent].remove(node)
        own = Tree(node, set(self._under(node)))
        self._assign(own.members, own)
        rest.members -= own.members
        return rest, own

    def ways(self, a: str, b: str) -> tuple[list[str], list[str]]:
        """The nodes from each up to, and without, the youngest common ancestor. Both are in one tree.

        Both climb in turn, so that none goes further above the meeting point than the other was below it.
        """
        climbed: tuple[dict[str, int], dict[str, int]] = ({a: 0}, {b: 0})
        ends = [a, b]
        side, met = 0, a if a == b else None
        while met is None:
            above = self._up.get(ends[side])
            if above is not None:
                ends[side] = above[0]
                climbed[side][above[0]] = len(climbed[side])
                met = above[0] if above[0] in climbed[1 - side] else None
            side = 1 - side
        return list(climbed[0])[: climbed[0][met]], list(climbed[1])[: climbed[1][met]]

    def _turn(self, node: str) -> None:
        """Makes a node the root of its tree: the edges on its way up are taken from the other side."""
        path = [node]
        while path[-1] in self._up:
            path.append(self._up[path[-1]][0])
        for child, parent in reversed(list(pairwise(path))):
            _, edge = self._up.pop(child)
            self._down[parent].remove(child)
            self._up[parent] = (child, edge)
            self._down[child].add(parent)
        self._tree[node].root = node

    def _under(self, node: str) -> Iterator[str]:
        waiting = [node]
        while waiting:
            yield (lower := waiting.pop())
            waiting.extend(self._down[lower])

    def _assign(self, members: set[str], tree: Tree) -> None:
        for member in members:
            self._tree[member] = tree
