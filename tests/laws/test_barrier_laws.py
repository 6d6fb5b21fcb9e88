"""Removals of frames with nodes in them, and resets of time, mean the same for every replica."""

from __future__ import annotations

import random
from itertools import chain

from hypothesis import example, given, settings
from hypothesis import strategies as st

from against_reference import differences as from_reference
from armillary import World
from replica_barriers import BarrierReplicas, about_barriers, barrier_steps
from replicas import differences, lacking

FEW = settings(deadline=None)
MANY = settings(max_examples=4 * settings.default.max_examples, deadline=None)

bursts = st.lists(st.lists(barrier_steps, min_size=1, max_size=8), min_size=1, max_size=5)
stories = bursts.map(lambda some: list(chain.from_iterable(some)))


def copies(replicas, seed):
    """Worlds that take the same records: one by one and shuffled, in groups, all at once."""
    chance = random.Random(seed)
    yield replicas.newcomer(seed)
    for largest in (4, 10**6):
        records = replicas.worlds[0].scene.changes()
        chance.shuffle(records)
        world = World("copy", clock=replicas.clocks[0])
        while records:
            size = chance.randint(1, largest) if largest < len(records) else len(records)
            world.merge(records[:size])
            del records[:size]
        yield world


def check_story(story, seed):
    """Compare all that took part, and copies of them."""
    replicas = BarrierReplicas(3)
    try:
        replicas.run(story)
        assert lacking(replicas.worlds) == []
        assert differences(replicas.worlds, about_barriers) == []
        for copy in copies(replicas, seed):
            with copy:
                assert differences([replicas.worlds[0], copy], about_barriers) == []
    finally:
        replicas.close()


@FEW
@given(stories.map(lambda story: [step for step in story if step[0] not in {"undo", "redo"}]))
@example([("edit", 2, "fix", 0, 1, 1), ("edit", 2, "say_frame", 0, 0, 0), ("edit", 2, "erase", 0, 0, 0)])
def test_the_reference_makes_the_same_of_removed_frames_and_new_times(story):
    replicas = BarrierReplicas(3)
    try:
        replicas.run(story)
        assert from_reference(replicas.worlds[0]) == []
    finally:
        replicas.close()


@MANY
@given(stories, st.integers(0, 3))
def test_replicas_agree_on_removed_frames_and_new_times(story, seed):
    check_story(story, seed)
