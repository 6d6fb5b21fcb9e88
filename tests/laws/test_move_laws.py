"""Many moves of the same things, in any order of time, are what another replica makes of their records at once."""

from __future__ import annotations

import numpy as np
import pytest

from armillary import Transform, World, seconds
from armillary.errors import ArmillaryError, StampOutOfRange
from randomness import IS_SOAK, rng

CASES = 200 if IS_SOAK else 25
STEPS = 25
HOLDERS = ("table", "shelf", "hand", "box")


def some_pose(rng):
    return Transform.from_xyz_rpy(xyz=rng.normal(size=3), rpy=rng.normal(size=3) * 0.3)


class Play:
    """A few holders, a cup with a pose of its own, a tray without one and what is in it: moved about."""

    def __init__(self, rng):
        self.rng, self.world = rng, World("a", history=None)
        scene = self.world.scene
        self.holders = [
            scene.add_transform(parent=scene.root, transform=some_pose(rng), at=None, frame=name) for name in HOLDERS
        ]
        self.cup = scene.add_transform(parent=self.holders[0], transform=some_pose(rng), at=0, frame="cup")
        self.tray = scene.add_group(parent=self.holders[1], at=0)
        self.mug = scene.add_transform(parent=self.tray, transform=some_pose(rng), at=0, frame="mug")
        self.inner = scene.add_group(parent=self.tray, at=0)
        self.things = [self.cup, self.tray, self.mug, self.inner]
        self.now, self.can_undo = 1.0, False

    def step(self):
        rng, scene = self.rng, self.world.scene
        self.now += float(rng.uniform(0.1, 1.0))
        late = self.now - float(rng.uniform(0, 8)) if rng.random() < 0.15 else self.now
        thing, at = self.things[rng.integers(len(self.things))], seconds(round(max(late, 0.1), 3))
        others = [*self.holders, *(t for t in (self.tray, self.inner) if t != thing)]
        to = others[rng.integers(len(others))]
        kind = rng.choice(["move", "move", "move", "add", "remove", "seen", "undo", "leaf"])
        if kind == "move":
            scene.move(thing, to=to, at=at, released=bool(rng.random() < 0.4), policy="latest")
        elif kind == "add":
            scene.add_parent(thing, to, at=at)
        elif kind == "remove":
            parents = scene.parents(thing)
            if len(parents) > 1:
                scene.remove_parent(thing, parents[0], at=at)
        elif kind == "seen":
            self.world.set_pose(of=thing, in_frame="map", transform=some_pose(rng), at=at, source="camera")
        elif kind == "leaf":
            scene.add_group(parent=thing, at=at)
        elif self.can_undo:
            self.world.undo()
        self.can_undo = kind in ("move", "add", "remove", "leaf")  # not what was made at first


def answers(world, play):
    found = {}
    for thing in play.things:
        for t in np.arange(0.05, play.now + 1.0, play.now / 23).tolist():
            asked = {"of": str(thing), "in_frame": "map", "at": seconds(t)}
            try:
                found[thing, t] = world.pose(**asked).transform.matrix.round(9).tolist()
            except StampOutOfRange:
                found[thing, t] = "no data"  # after a single sample, or in a gap
            except ArmillaryError as error:
                found[thing, t] = type(error).__name__
            past = world.scene.as_of(seconds(t))
            found[thing, t, "in"] = past.parents(thing) if thing in past else None
    return found


@pytest.mark.parametrize("case", range(CASES))
def test_moves_are_what_their_records_are(case):
    play = Play(rng(case))
    for _ in range(STEPS):
        try:
            play.step()
        except ArmillaryError:
            continue  # a cycle, or nobody knows where it was: refused
    samples = [r for r in play.world.relations() if r.source == "camera"]
    twin = World("b", history=None)
    twin.merge(play.world.scene.changes())
    for relation in samples:
        kept = {"of": relation.of, "in_frame": relation.in_frame, "source": "camera"}
        table = play.world.samples(**kept)
        for at, row in zip(table.stamps.tolist(), table.transforms, strict=True):
            twin.set_pose(**kept, transform=Transform.from_xyz_wxyz(xyz=row[:3], wxyz=row[3:]), at=at)
    assert answers(twin, play) == answers(play.world, play)
