"""Laws of the resolver: worlds make of their records what the plain-Python reference makes of them."""

from __future__ import annotations

import json
import random
from itertools import islice
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import resolver_reference
from against_reference import differences, records_of
from armillary import World
from armillary._core import ChangeRecord
from armillary.scene import AddJoints, RemoveJoints
from log_stories import WEIGHTS, Story, stories
from replica_frames import AMONG_NODES, IN_NEW_TIMES
from replicas import Replicas, frame_steps, steps
from resolver_reference import Resolution, newness, strength

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from resolver_reference import Record

some_seed = st.integers(0, 2**32)
FEW = settings(max_examples=max(1, settings.default.max_examples // 2), deadline=None)
OF_NODES = ("add_node", "add_edge", "remove_edges", "set_attributes")
FEW_INSTANTS = 12  # where worlds are compared after every step


def merge(world: World, records: Sequence[Record]) -> None:
    world.merge([ChangeRecord.from_json(json.dumps(record)) for record in records])


def merge_in_groups(world: World, records: Sequence[Record], seed: int) -> Iterator[list[Record]]:
    """Merge records in any order and grouping; yield those that are held after each message."""
    chance = random.Random(seed)
    shuffled = list(records)
    chance.shuffle(shuffled)
    merge(world, [])
    held: list[Record] = []
    while len(held) < len(shuffled):
        group = shuffled[len(held) : len(held) + chance.choice([1, 1, 2, 5, 50])]
        merge(world, group)
        held += group
        yield held


def found_by_merging(told: Any, seed: int, **options: Any) -> list[Any]:
    """What a world that merges a story differs in from the reference, after the first message that shows it."""
    with World("here") as world:
        for held in merge_in_groups(world, Story(told).records, seed):
            if found := differences(world, held, **options):
                return found
    return []


class TestAWorldThatMerges:
    @given(stories, some_seed)
    # A frame of which only a node that stood for it knew goes with the node.
    @example([("frame_node", 9, 10, 11, 10), ("remove", 0, 0, 0, 3)], 0)
    # The root frame stays where its removal is known, and a node moves.
    @example([("remove_frame", 1, 0, 9, 6), ("frame_node", 9, 6, 10, 5)], 0)
    # A node that was added later than its frame was removed makes it exist.
    @example([("tick", 4, 9, 1, 7), ("remove_frame", 5, 8, 6, 7), ("frame_node", 1, 10, 1, 10)], 0)
    def test_equals_the_reference_after_every_message(self, told, seed):
        assert found_by_merging(told, seed) == []

    @given(stories, some_seed)
    def test_does_not_notice_that_a_log_was_compacted_on_the_way(self, told, seed):
        records = Story(told).records
        with World("here") as world, World("newcomer") as newcomer:
            merge(world, records)
            for _ in merge_in_groups(newcomer, records_of(world), seed):
                pass
            assert differences(newcomer, records) == []
            assert newcomer.digest() == world.digest()

    @given(stories, some_seed)
    def test_keeps_exactly_what_no_other_record_makes_superfluous(self, told, seed):
        """Of nodes, whose records are made from what is known of the node, this is not so to the last one."""
        records = Story(told).records
        needed = Resolution(records).needed()
        with World("here") as world:
            for _ in merge_in_groups(world, records, seed):
                pass
            kept = {change.id for change in world.scene.changes() if change.type not in OF_NODES}
            assert kept == {tuple(r["id"]) for r in records if tuple(r["id"]) in needed and r["type"] not in OF_NODES}
            assert world.merge([ChangeRecord.from_json(json.dumps(record)) for record in records]) == []

    @given(stories)
    def test_a_removed_frame_is_gone_unless_something_newer_names_it(self, told):
        story = Story(told)
        author = story.authors[0]
        for record in story.records:
            author.hear(record)
        removal = author.sign("remove_frames", names=["a", "b", "map"])
        with World("here") as world:
            merge(world, [removal, *story.records])
            assert {"a", "b"}.isdisjoint(world.frames())
            assert "map" in world.frames()


class ComparedReplicas(Replicas):
    """Compares after every change that a world accepts or merges."""

    def _do(self, replica, deed):
        super()._do(replica, deed)
        self._compare(replica % len(self.worlds))

    def _receive(self, receiver, states):
        super()._receive(receiver, states)
        self._compare(receiver)

    def _compare(self, number):
        assert differences(self.worlds[number], most_instants=FEW_INSTANTS) == []


STORIES = {"nodes": steps, "frames among nodes": frame_steps(AMONG_NODES), "new times": frame_steps(IN_NEW_TIMES)}


class TestReplicas:
    @pytest.mark.parametrize("subject", STORIES)
    @FEW
    @given(data=st.data())
    def test_equal_the_reference_after_every_step(self, subject, data):
        replicas = ComparedReplicas(3)
        try:
            replicas.run(data.draw(st.lists(STORIES[subject], min_size=1, max_size=10)))
        finally:
            replicas.close()

    def test_cut_a_cycle_at_its_instants_alone(self):
        replicas = ComparedReplicas(3)
        try:
            replicas.run([("edit", 0, "fix", 1, 0, 0), ("edit", 1, "fix", 0, 1, 2)])
            assert differences(replicas.worlds[0]) == []
        finally:
            replicas.close()

    def test_know_joints(self, world):
        world.apply([AddJoints({"hinge": "linear", "slide": "hold"}), RemoveJoints(["slide"])])
        assert differences(world) == []
        assert set(Resolution(records_of(world)).variables) == {"hinge"}


# -- The comparison can fail: each rule that is broken in the reference is found


class WithoutBodies(Resolution):
    def _refuse_relation(self, track, slot):
        return ""


class WithoutIntervals(Resolution):
    def preference(self, subject, t):
        written = [r for r in self._of_type("prefer") if r["subject"] == subject]
        return max(written, key=newness)["source"] if written else None


class WithoutBarriers(Resolution):
    def _is_after(self, barriers, name, record):
        return False


class WithoutSevering(Resolution):
    def _is_severed(self, record):
        return False


def reverse(order: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(-part if isinstance(part, int) else part for part in order)


BROKEN = {
    "the older of two writes wins": ("newness", lambda record: reverse(newness(record))),
    "the weaker of two stays": ("strength", lambda record: reverse(strength(record))),
    "cycles are not cut": ("greedy", lambda items, ends: (list(items), [])),
    "an earlier epoch is this one": ("epoch_of", lambda record: ()),
    "within a body things move": WithoutBodies,
    "a preference holds for ever": WithoutIntervals,
    "a removal voids nothing": WithoutBarriers,
    "what is in a removed frame stays": WithoutSevering,
}
TRIED = 150


def told_by(seed: int) -> list[tuple[Any, ...]]:
    chance = random.Random(seed)
    kinds = [kind for kind, weight in WEIGHTS.items() for _ in range(weight)]
    return [(chance.choice(kinds), *(chance.randrange(12) for _ in range(4))) for _ in range(30)]


@pytest.mark.parametrize("rule", BROKEN)
def test_a_broken_rule_is_found(rule, monkeypatch):
    broken = BROKEN[rule]
    if isinstance(broken, tuple):
        monkeypatch.setattr(resolver_reference, *broken)
        broken = Resolution
    found = (seed for seed in range(TRIED) if found_by_merging(told_by(seed), seed, resolve=broken))
    shown = list(islice(found, 1))
    assert shown, f"None of {TRIED} stories shows that {rule}."
    monkeypatch.undo()
    assert found_by_merging(told_by(shown[0]), shown[0]) == []
