"""A scene of dictionaries, as little as a search needs; and the search that looks at everything."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from armillary import Transform
from armillary.scene import Placements, PlaceQuestion

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from armillary.scene import Shape

ROOT = 0
STILL = Transform.identity()


def at_xyz(x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Transform:
    return Transform.from_xyz_rpy(xyz=(x, y, z), rpy=(0, 0, 0))


def any_transform(generator: np.random.Generator, reach_m: float) -> Transform:
    wxyz = generator.normal(size=4)
    return Transform.from_xyz_wxyz(xyz=generator.uniform(-reach_m, reach_m, 3), wxyz=wxyz / np.linalg.norm(wxyz))


@dataclass(frozen=True)
class Place:
    """A frame in another: for always, by time, or (None) unknown at every time."""

    parent: int
    transform: Transform | Callable[[int], Transform] | None

    @property
    def is_fixed(self) -> bool:
        return isinstance(self.transform, Transform)

    def at(self, at: int) -> Transform | None:
        return self.transform(at) if callable(self.transform) else self.transform


class SketchScene:
    """Nodes are numbers; those with a place of their own have a frame of their own."""

    def __init__(self) -> None:
        self._children: dict[int, list[int]] = {ROOT: []}
        self._parents: dict[int, list[int]] = {ROOT: []}
        self._shapes: dict[int, Shape] = {}
        self._places: dict[int, Place] = {}
        self._owners: dict[int, int] = {ROOT: ROOT}
        self._log: list[tuple[object, set[int]]] = []
        self.version = object()
        self.asked = 0

    # -- Changing it

    def add(self, parent: int = ROOT, *, shape: Shape | None = None, at: object = None, lost: bool = False) -> int:
        """With `at`, a transform or a function of time, it has its own frame; `lost` ones are nowhere."""
        node = len(self._owners)
        self._children[node] = []
        if shape is not None:
            self._shapes[node] = shape
        self._owners[node] = self._owners[parent] if at is None and not lost else node
        if self._owners[node] == node:
            self._places[node] = Place(self._owners[parent], at)
        self.add_parent(node, parent)
        return node

    def add_parent(self, node: int, parent: int) -> None:
        self._children[parent].append(node)
        self._parents.setdefault(node, []).append(parent)
        self._note(parent)

    def remove_parent(self, node: int, parent: int) -> None:
        self._children[parent].remove(node)
        self._parents[node].remove(parent)
        self._note(parent)

    def is_fixed(self, node: int) -> bool:
        return node in self._places and self._places[node].is_fixed

    def forget_shape(self, node: int) -> None:
        del self._shapes[node]

    def fix(self, node: int, transform: Transform) -> None:
        self._places[node] = Place(self._places[node].parent, transform)
        self._note(node)

    def _note(self, node: int) -> None:
        self._log = [*((version, nodes | {node}) for version, nodes in self._log[-8:]), (self.version, {node})]
        self.version = object()

    # -- What a search asks

    def changed_since(self, version: object) -> set[int] | None:
        return next((nodes for old, nodes in self._log if old is version), None)

    def children(self, node: int) -> list[int]:
        return self._children[node]

    def parents(self, node: int) -> list[int]:
        return self._parents[node]

    def shape(self, node: int) -> Shape | None:
        return self._shapes.get(node)

    def frame(self, node: int) -> str:
        return str(self._owners[node])

    def in_frame_T_frames(self, in_frame: str, frames: list[str], question: PlaceQuestion) -> Placements:
        self.asked += len(frames)
        pairs = [self._pose(int(in_frame), int(frame), question.at) for frame in frames]
        return Placements(np.array([matrix for matrix, _ in pairs]), np.array([fixed for _, fixed in pairs]))

    def in_parent_T_node(self, parent: int, node: int, at: int) -> np.ndarray:
        return self._pose(self._owners[parent], self._owners[node], at)[0]

    def _pose(self, here: int, there: int, at: int) -> tuple[np.ndarray, bool]:
        up, down = self._chain(here), self._chain(there)
        while up and down and up[-1] == down[-1]:
            up.pop(), down.pop()
        steps = [self._places[frame] for frame in (*up, *down)]
        here_T_root, there_T_root = self._product(up, at), self._product(down, at)
        if here_T_root is None or there_T_root is None:
            return np.full((4, 4), np.nan), False
        return (here_T_root.inverse() @ there_T_root).matrix, all(step.is_fixed for step in steps)

    def _chain(self, frame: int) -> list[int]:
        chain = []
        while frame != ROOT:
            chain.append(frame)
            frame = self._places[frame].parent
        return chain

    def _product(self, chain: list[int], at: int) -> Transform | None:
        total = STILL
        for frame in reversed(chain):
            step = self._places[frame].at(at)
            if step is None:
                return None
            total = total @ step
        return total

    # -- What the tests compare with

    def below(self, node: int) -> Iterator[int]:
        """Each node at or below this one, once."""
        seen, pending = set(), [node]
        while pending:
            current = pending.pop()
            if current not in seen:
                seen.add(current)
                pending.extend(self._children[current])
                yield current

    def transform(self, here: int, there: int, at: int) -> Transform | None:
        matrix = self._pose(self._owners[here], self._owners[there], at)[0]
        return Transform.from_matrix(matrix) if np.isfinite(matrix).all() else None

    def shapes_below(self, node: int, *, seen_from: int, at: int) -> Iterator[tuple[int, Shape, Transform]]:
        for found in self.below(node):
            here_T_found = self.transform(seen_from, found, at)
            if found in self._shapes and here_T_found is not None:
                yield found, self._shapes[found], here_T_found

    def overlapping_one_by_one(self, shape: Shape, *, seen_from: int, at: int, under: int) -> set[int]:
        known = self.shapes_below(under, seen_from=seen_from, at=at)
        return {node for node, other, here_T_node in known if shape.overlaps(other, this_T_other=here_T_node)}

    def hit_one_by_one(self, origin, direction, *, seen_from: int, at: int, under: int) -> dict[int, float]:
        hits = {}
        for node, shape, here_T_node in self.shapes_below(under, seen_from=seen_from, at=at):
            back = here_T_node.inverse()
            distance_m = shape.ray_distance_m(back @ origin, back.rotation.matrix @ direction)
            if distance_m < math.inf:
                hits[node] = distance_m
        return hits
