"""What touches a box among ten thousand, against testing each with the same exact test.

Flat: ten thousand transforms under one group, a box on each. Nested: the same in a hundred groups. Moving: flat, and a
hundred of them have another place at every instant.
"""

from collections.abc import Hashable, Iterator, Sequence

import numpy as np

from armillary import Box, Transform
from armillary.scene import Hierarchy, Placements, PlaceQuestion, Shape
from context import OURS, Bench, cpu_ns
from table import Row

BOXES, GROUPS, MOVERS = 10_000, 100, 100
REACH_M, GROUP_REACH_M = 10.0, 2.0
QUERIES = 20
ROOT = "root"


class Boxes:
    """A scene of groups, transforms and boxes, all placed in the root: group -> transform -> box."""

    version = object()

    def __init__(self, groups: int, movers: int) -> None:
        generator = np.random.default_rng(1)
        matrices = _matrices(generator, BOXES, REACH_M if groups == 1 else GROUP_REACH_M)
        centers = generator.uniform(-REACH_M, REACH_M, (groups, 3)) * (groups > 1)
        matrices[:, :3, 3] += centers[np.arange(BOXES) % groups]
        self._matrices = {f"t{i}": matrix for i, matrix in enumerate(matrices)} | {ROOT: np.eye(4)}
        self._moving = {f"t{i}" for i in range(movers)}
        self._boxes = {f"b{i}": Box(size) for i, size in enumerate(generator.uniform(0.05, 0.3, (BOXES, 3)))}
        self._children = {f"t{i}": (f"b{i}",) for i in range(BOXES)} | {ROOT: [f"g{i}" for i in range(groups)]}
        self._children |= {f"g{i}": [f"t{j}" for j in range(i, BOXES, groups)] for i in range(groups)}
        self._parents = {child: [parent] for parent, children in self._children.items() for child in children}

    def changed_since(self, version: object) -> None:  # noqa: ARG002
        return None

    def children(self, node: str) -> Sequence[Hashable]:
        return self._children.get(node, ())

    def parents(self, node: str) -> Sequence[Hashable]:
        return self._parents[node]

    def shape(self, node: str) -> Shape | None:
        return self._boxes.get(node)

    def frame(self, node: str) -> str:
        return ROOT if node[0] in "rg" else node.replace("b", "t")

    def in_frame_T_frames(self, in_frame: str, frames: Sequence[str], question: PlaceQuestion) -> Placements:  # noqa: ARG002
        here_T_root = np.linalg.inv(self._matrices[in_frame])
        matrices = here_T_root @ np.array([self._matrices[frame] for frame in frames])
        return Placements(matrices, np.array([frame not in self._moving for frame in frames]))

    def placed(self) -> list[tuple[Shape, Transform]]:
        """Each box and where it is."""
        return [(box, Transform.from_matrix(self._matrices[f"t{name[1:]}"])) for name, box in self._boxes.items()]


def rows(bench: Bench) -> Iterator[Row]:
    for what, groups, movers in (("flat", 1, 0), ("nested", GROUPS, 0), ("moving", 1, MOVERS)):
        best = _race(bench, Boxes(groups, movers))
        yield Row.faster(f"overlapping a box, of 10000 {what}", best[OURS], best["each"], "testing each", asked=50)


def _race(bench: Bench, scene: Boxes) -> dict[str, float | None]:
    probe, hierarchy, placed = Box((0.5, 0.5, 0.5)), Hierarchy(), scene.placed()
    hierarchy.overlapping(scene, probe, in_frame=ROOT, at=0, under=ROOT)
    return bench.race(
        {
            OURS: lambda repeat: cpu_ns(lambda: _search(hierarchy, scene, probe, repeat), QUERIES),
            "each": lambda _: cpu_ns(lambda: [probe.overlaps(box, this_T_other=place) for box, place in placed], 1),
        },
        repeats=min(bench.repeats, 5),
    )


def _search(hierarchy: Hierarchy, scene: Boxes, probe: Box, repeat: int) -> None:
    for query in range(QUERIES):
        frame = f"t{(repeat * QUERIES + query) * 37 % BOXES}"
        hierarchy.overlapping(scene, probe, in_frame=frame, at=query, under=ROOT)


def _matrices(generator: np.random.Generator, number: int, reach_m: float) -> np.ndarray:
    wxyz = generator.normal(size=(number, 4))
    xyz = generator.uniform(-reach_m, reach_m, (number, 3))
    units = wxyz / np.linalg.norm(wxyz, axis=1, keepdims=True)
    return np.array([Transform.from_xyz_wxyz(xyz=p, wxyz=q).matrix for p, q in zip(xyz, units, strict=True)])
