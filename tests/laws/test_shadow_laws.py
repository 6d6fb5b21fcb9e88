"""The change log makes of the records of a world what the world makes of them, but for what a rule changes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from armillary._core import ChangeLog
from armillary.scene import AddJoints, RemoveJoints
from replica_frames import AMONG_NODES, ASKED_NS, FRAMES, IN_NEW_TIMES
from replicas import IDS, PAST_NS, Replicas, frame_steps, steps
from shadow import Shadow

FEW = settings(
    max_examples=max(1, settings.default.max_examples // 4), deadline=None
)  # each one is compared after every step
ASKED = (*ASKED_NS[2:4], PAST_NS[-1])
STORIES = {"nodes": steps, "frames among nodes": frame_steps(AMONG_NODES), "new times": frame_steps(IN_NEW_TIMES)}


def unexplained(world):
    shadow = Shadow(world)
    found = shadow.differences(IDS, FRAMES[:-1], ASKED)
    return [difference for difference in found if shadow.explanation(difference) is None]


class ShadowedReplicas(Replicas):
    """Compares after every change that a world accepts or merges."""

    def _do(self, replica, deed):
        super()._do(replica, deed)
        assert unexplained(self.worlds[replica % len(self.worlds)]) == []

    def _receive(self, receiver, states):
        super()._receive(receiver, states)
        assert unexplained(self.worlds[receiver]) == []


@pytest.mark.parametrize("subject", STORIES)
@FEW
@given(data=st.data())
def test_a_world_and_its_shadow_agree_after_every_step(subject, data):
    replicas = ShadowedReplicas(3)
    try:
        replicas.run(data.draw(st.lists(STORIES[subject], min_size=1, max_size=10)))
    finally:
        replicas.close()


def test_a_cycle_is_cut_at_its_instants_alone():
    replicas = ShadowedReplicas(3)
    try:
        replicas.run([("edit", 0, "fix", 1, 0, 0), ("edit", 1, "fix", 0, 1, 2)])
        shadow = Shadow(replicas.worlds[0])
        found = list(shadow.differences(IDS, FRAMES[:-1], [800]))
        assert found == []
    finally:
        replicas.close()


def test_joints_are_known_to_the_shadow(world):
    world.apply([AddJoints({"hinge": "linear", "slide": "hold"}), RemoveJoints(["slide"])])
    log = ChangeLog()
    for change in world.scene.changes():
        log.append(change)
    assert set(log.resolve([]).variables) == set(world.joints()) == {"hinge"}
