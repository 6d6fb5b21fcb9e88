"""Replicas of a scene with the same changes are equal, whatever the transport did to them on the way."""

from __future__ import annotations

from functools import reduce
from itertools import chain
from typing import TYPE_CHECKING

import pytest
from hypothesis import Phase, example, find, given, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample

from replica_frames import ABOUT_NODES, AMONG_NODES, IN_NEW_TIMES, about_frames
from replica_samples import RefusingReplicas, SamplingReplicas, about_samples, sample_steps
from replicas import (
    Replicas,
    about_everything,
    about_now,
    about_the_past,
    differences,
    frame_steps,
    lacking,
    steps,
    unharmed,
)

if TYPE_CHECKING:
    from armillary import World

MANY = settings(max_examples=8 * settings.default.max_examples)
SOME = settings(max_examples=4 * settings.default.max_examples)
ENOUGH = settings(max_examples=400, derandomize=True, database=None)


def scripts(longest: int = 8, steps=steps):
    """How many replicas, some bursts of steps, and in which order a newcomer receives all changes."""
    bursts = st.lists(st.lists(steps, min_size=1, max_size=8), min_size=1, max_size=longest)
    return st.tuples(st.integers(3, 5), bursts.map(lambda some: list(chain.from_iterable(some))), st.integers(0, 3))


def edit(replica: int, kind: str, node: int = 0, parent: int = 0, value: int = 0) -> tuple:
    return ("edit", replica, kind, node, parent, value)


LATER = [("redo", 0)] * 6  # nothing to be done again, but time goes by
MORE = [edit(1, "group", 2), edit(1, "remote_root"), edit(1, "geometry")]
SEEN = [  # what once went wrong
    [edit(0, "group"), edit(1, "group")],
    [*LATER, edit(0, "group"), edit(1, "remote_root")],
    [edit(0, "remote_root"), edit(1, "remote_root")],
    [edit(0, "remove_parent"), edit(0, "remote_root")],
    [edit(0, "add_parent"), edit(0, "add_parent", 2)],
    [edit(0, "add_parent"), edit(0, "fixed", 0, 1)],
    [edit(0, "add_parent"), edit(0, "remove", 1), edit(0, "add_parent", 1)],
    [edit(0, "add_parent", 1, 1), edit(0, "add_parent", 2), edit(1, "add_parent", 1, 1)],
    [edit(0, "add_parent", 1), edit(1, "add_parent"), edit(0, "say"), edit(0, "say"), edit(0, "say"), ("undo", 1)],
    [edit(0, "add_parent", 2), edit(1, "remove"), edit(1, "add_parent"), *MORE],
    [edit(1, "add_parent"), edit(0, "add_parent", 1)],
    [edit(0, "add_parent", 1, 1), edit(1, "add_parent", 2, 1)],
    [edit(0, "add_parent", 2, 1), edit(1, "add_parent", 2, 1), ("undo", 0)],
    [edit(0, "remove"), edit(0, "remove_parent"), edit(1, "add_parent"), edit(0, "group", 1), edit(0, "remote_root")],
    [edit(0, "remove_parent"), edit(0, "add_parent"), edit(2, "add_parent", 1, 1), edit(1, "add_parent", 2)],
    [*[edit(0, "group")] * 3, edit(0, "add_parent"), edit(0, "remove"), edit(0, "fixed")],
    [edit(2, "sampled", 4, 5), ("undo", 2), edit(2, "sampled", 2, 0, 2)],
    [
        edit(0, "fixed", 0, 1),
        edit(0, "add_parent", 3, 1),
        edit(0, "remove_parent", 3),
        *[("deliver", letter) for letter in (0, 3, 1)],  # the last before the second
    ],
]
GONE = edit(0, "unfix")
SEEN_OF_FRAMES = [  # a frame that was removed, in which a tag was in an earlier incarnation of it
    [
        *[edit(0, "fix", 0, 1), ("deliver", 0), GONE, edit(0, "tag", 1), GONE, *[("deliver", 0)] * 4],
        *[edit(0, "fix", 1), GONE, edit(0, "erase_all"), edit(1, "tag"), edit(2, "tag")],
    ],
]
SEEN_OF_NODES = [
    [edit(1, "grasp_tag", 0, 0, 1), edit(1, "tag"), edit(1, "untag")],  # received with the removal or before it
    [  # an incarnation that was never seen
        *[*LATER[1:], edit(0, "grasp_tag"), edit(0, "tag"), edit(0, "untag", 0, 0, 2), edit(0, "tag")],
        *[*LATER[1:], edit(1, "grasp_tag"), edit(1, "tag")],
    ],
    [  # with the source of the node, at the instant it was removed, and undone
        *[edit(0, "tag"), edit(1, "tag"), edit(2, "grasp_tag"), ("deliver", 0), edit(1, "tag"), edit(1, "tag")],
        *[edit(0, "tag"), edit(0, "untag", 0, 0, 7), edit(0, "tag"), edit(0, "tag"), ("undo", 2), *LATER[2:]],
        *[("redo", 2), edit(0, "tag"), edit(0, "tag"), ("undo", 2), edit(1, "grasp_tag", 0, 0, 1)],
    ],
    [edit(1, "grasp_tag", 1), edit(1, "fix", 0, 4), edit(1, "tag")],  # a node that would be in itself until then
]
SEEN_OF_SAMPLES = [
    [*LATER, ("see", 0, 4, 2, 4), ("see", 0, 0, 2, 4), ("see", 1, 4, 1, 5)],  # one within the others' run
    [*LATER, edit(1, "body", 0, 1), ("see", 0, 0, 1, 0), ("see", 0, 1, 0, 0), ("see", 1, 0, 2, 0), ("see", 0, 0, 2, 1)],
]


def examples(scripts):
    """Runs that are tried before any random one."""
    return lambda test: reduce(lambda law, script: example((3, script, 0))(law), scripts, test)


def disagreement(script, asked=about_now, damage=unharmed, kind=Replicas) -> list[str]:
    count, todo, seed = script
    replicas = kind(count, damage)
    try:
        replicas.run(todo)
        with replicas.newcomer(seed) as newcomer:
            everybody = [*replicas.worlds, newcomer]
            return differences(everybody, asked) + lacking(everybody)
    finally:
        replicas.close()


class TestReplicas:
    @MANY
    @examples(SEEN)
    @given(scripts())
    def test_agree_in_the_end(self, script):
        assert disagreement(script, about_everything) == []

    @SOME
    @examples(SEEN_OF_FRAMES)
    @given(scripts(steps=frame_steps(AMONG_NODES)))
    def test_agree_on_frames_in_the_end(self, script):
        assert disagreement(script, about_frames) == []

    @SOME
    @examples(SEEN_OF_NODES)
    @given(scripts(steps=frame_steps(ABOUT_NODES)))
    def test_agree_on_frames_of_nodes_in_the_end(self, script):
        assert disagreement(script, about_frames) == []

    @SOME
    @given(scripts(steps=frame_steps(IN_NEW_TIMES)))
    def test_agree_on_frames_when_time_began_anew(self, script):
        assert disagreement(script, about_frames) == []

    @SOME
    @examples(SEEN_OF_SAMPLES)
    @given(scripts(steps=sample_steps))
    def test_agree_on_samples_in_the_end(self, script):
        assert disagreement(script, about_samples, kind=SamplingReplicas) == []


def by_arrival(record, receiver: World):
    """The last one to be received wins, not the last one to be made."""
    if record["type"] == "add_node":
        return record
    return record | {"time": [10**6 + len(receiver.scene.changes()), record["time"][1]]}


def removing_nothing(record, receiver: World):
    """Removals forget which containments they are about."""
    return record | {"dots": []} if record["type"] == "remove_edges" else record


def removing_everything(record, receiver: World):
    """Removals hit the containments that the receiver knows, also those that their author never saw."""
    if record["type"] != "remove_edges":
        return record
    known = [other for other in receiver.scene.changes() if other.type in {"add_node", "add_edge"}]
    added = {other.id for other in known if str(other.node) == record["node"]}
    return record | {"dots": sorted({*map(tuple, record["dots"]), *added})}


def deaf_to_attributes(record, receiver: World):
    return record | {"settings": []} if "settings" in record else record


def true_when_received(record, receiver: World):
    """Changes hold since they were received, not since their instant."""
    return record | {"at": receiver.now()}


def held_for_always(record, receiver: World):
    """Poses hold at every instant: what follows one another closes loops."""
    is_fixed = record["type"] == "assert" and "fixed" in (record["value"] or {})
    return record | {"since": None} if is_fixed else record


def nobody_above_others(record, receiver: World):
    """The first assertion wins, whatever its author."""
    return record if record["type"] == "add_node" else record | {"authority": 0}


class TestABrokenRule:
    @pytest.mark.parametrize(
        "damage", [by_arrival, removing_everything, removing_nothing, deaf_to_attributes, nobody_above_others]
    )
    def test_is_found(self, damage):
        broken_run(damage, settings(ENOUGH, phases=[Phase.generate]))

    def test_for_the_past_is_found(self):
        broken_run(true_when_received, settings(ENOUGH, phases=[Phase.generate]), about_the_past)

    @pytest.mark.parametrize("damage", [by_arrival, held_for_always, nobody_above_others])
    def test_for_frames_is_found(self, damage):
        broken_run(damage, settings(ENOUGH, phases=[Phase.generate]), about_frames, frame_steps(AMONG_NODES))

    def test_for_samples_is_found(self):
        broken_run(unharmed, settings(ENOUGH, phases=[Phase.generate]), about_samples, sample_steps, RefusingReplicas)

    def test_is_found_in_a_run_that_shrinks_to_a_few_steps(self):
        assert len(broken_run(removing_nothing, ENOUGH)) <= 3


def broken_run(damage, enough: settings, asked=about_now, edits=steps, kind=Replicas) -> list:
    """The steps of a run in which the damage shows."""
    try:
        return find(scripts(4, edits), lambda script: bool(disagreement(script, asked, damage, kind)), settings=enough)[
            1
        ]
    except NoSuchExample:
        return pytest.fail(f"{damage.__name__} of {kind.__name__} was not found in {enough.max_examples} runs")
