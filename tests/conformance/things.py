"""Small scenes and measures that the tests of the scene graph's facts share."""

from __future__ import annotations

import numpy as np

from armillary import LATEST, World, seconds
from armillary.scene import NodeId, Scene
from conformance.scenes import shifted

CLOSE_M = 1e-9
MICROSECOND = 1_000


def fixed(scene: Scene, x: float = 0.0, y: float = 0.0, z: float = 0.0, *, parent: NodeId, **more) -> NodeId:
    """A transform that is there always."""
    return scene.add_transform(parent=parent, transform=shifted(x, y, z), at=None, **more)


def sampled(scene: Scene, *at_s: float, parent: NodeId | None = None) -> NodeId:
    """A transform whose x counts its samples, given in this order."""
    first, *others = at_s
    node = scene.add_transform(
        parent=scene.root if parent is None else parent, transform=shifted(0.0), at=seconds(first)
    )
    for x, at in enumerate(others, start=1):
        scene.set_transform(node, shifted(float(x)), at=seconds(at))
    return node


def kept_s(world: World, node: NodeId) -> list[float]:
    """The stamps of a transform's samples, in seconds."""
    return [stamp / 1e9 for stamp in samples_of(world, node).stamps.tolist()]


def samples_of(world: World, node: NodeId):
    scene = world.scene
    return world.samples(of=scene.frame(node), in_frame=scene.frame(scene.parents(node)[0]))


def xyz(world: World, node: NodeId, *, seen_from: NodeId | None = None, at=LATEST, **asked) -> list[float]:
    """Where a node is in another, or in the root."""
    scene = world.scene
    in_frame = scene.frame(scene.root if seen_from is None else seen_from)
    return world.pose(of=scene.frame(node), in_frame=in_frame, at=at, **asked).transform.translation.tolist()


def covariance_of(*variances: float) -> np.ndarray:
    return np.diag(np.array(variances, dtype=float))


class RecordedChanges(list):
    """An observer: every change it was notified of, batch after batch."""

    def __init__(self, scene: Scene) -> None:
        super().__init__()
        self.batches = 0
        scene.attach(self)

    def __call__(self, batch) -> None:
        self.batches += 1
        self.extend(batch)

    def counts(self) -> dict[str, int]:
        """How many changes there were of each class."""
        names = [type(change).__name__ for change in self]
        return {name: names.count(name) for name in dict.fromkeys(names)}
