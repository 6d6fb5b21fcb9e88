"""What touches a box among ten thousand things of a world, against testing each with the same exact test.

Flat: ten thousand transforms under the root, a box on each. Nested: the same in a hundred groups. Moving: flat, and a
hundred of them have a minute of samples, so that they are elsewhere at every instant that is asked.
"""

from collections.abc import Iterator

import numpy as np

from armillary import Box, Transform, World, seconds
from context import OURS, Bench, cpu_ns
from table import Row

BOXES, GROUPS, MOVERS, SAMPLES = 10_000, 100, 100, 60
REACH_M, GROUP_REACH_M = 10.0, 2.0
QUERIES = 20
PROBE = Box((0.5, 0.5, 0.5))


class Boxes:
    """A world with ten thousand boxes, and the same boxes with their places as a plain list."""

    def __init__(self, groups: int, movers: int) -> None:
        generator = np.random.default_rng(1)
        self.world = World("boxes", history=seconds(100))
        scene = self.world.scene
        tops = [scene.root] if groups == 1 else [scene.add_group(parent=scene.root) for _ in range(groups)]
        centers = generator.uniform(-REACH_M, REACH_M, (groups, 3)) * (groups > 1)
        sizes = generator.uniform(0.05, 0.3, (BOXES, 3))
        places = _places(generator, BOXES, REACH_M if groups == 1 else GROUP_REACH_M)
        self.frames, self.placed = [], []
        for i, (place, size) in enumerate(zip(places, sizes, strict=True)):
            moved = Transform.from_xyz_wxyz(xyz=place.translation + centers[i % groups], wxyz=place.rotation.wxyz)
            at = seconds(1) if i < movers else None
            node = scene.add_transform(parent=tops[i % groups], transform=moved, at=at)
            scene.add_geometry(parent=node, shape=Box(size), at=None)
            self.frames.append(scene.frame(node))
            self.placed.append((Box(size), moved))
            for k in range(2, SAMPLES + 1) if i < movers else ():
                scene.set_transform(node, _places(generator, 1, REACH_M)[0], at=seconds(k))

    def search(self, repeat: int) -> None:
        for query in range(QUERIES):
            number = repeat * QUERIES + query
            at = seconds(1) + number * 7_919_000_003 % seconds(SAMPLES - 1)
            self.world.scene.overlapping(PROBE, in_frame=self.frames[MOVERS + number * 37 % (BOXES - MOVERS)], at=at)

    def each(self) -> None:
        for box, place in self.placed:
            PROBE.overlaps(box, this_T_other=place)


def rows(bench: Bench) -> Iterator[Row]:
    for what, groups, movers in (("flat", 1, 0), ("nested", GROUPS, 0), ("moving", 1, MOVERS)):
        boxes = Boxes(groups, movers)
        boxes.search(0)
        best = bench.race(
            {
                OURS: lambda repeat, boxes=boxes: cpu_ns(lambda: boxes.search(repeat), QUERIES),
                "each": lambda _, boxes=boxes: cpu_ns(boxes.each, 1),
            },
            repeats=min(bench.repeats, 5),
        )
        yield Row.faster(f"overlapping a box, of 10000 {what}", best[OURS], best["each"], "testing each", asked=50)


def _places(generator: np.random.Generator, number: int, reach_m: float) -> list[Transform]:
    wxyz = generator.normal(size=(number, 4))
    xyz = generator.uniform(-reach_m, reach_m, (number, 3))
    units = wxyz / np.linalg.norm(wxyz, axis=1, keepdims=True)
    return [Transform.from_xyz_wxyz(xyz=p, wxyz=q) for p, q in zip(xyz, units, strict=True)]
