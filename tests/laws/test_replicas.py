"""Copies of a scene that heard the same changes are equal, whatever the transport did to them on the way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import find, given, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample

from replicas import Replicas, about_now, about_places, about_the_past, differences, steps, unharmed

if TYPE_CHECKING:
    from armillary import World

MANY = settings(max_examples=8 * settings.default.max_examples)
ENOUGH = settings(max_examples=400, derandomize=True, database=None)

ADD_NODE, ADD_PARENT, REMOVE_PARENTS = 0, 1, 2
KIND, STAMP, NODE, ATTRIBUTES, OBSERVED = 1, 4, 6, -2, -1


def scripts(longest: int = 40):
    return st.tuples(st.integers(3, 5), st.lists(steps, min_size=1, max_size=longest), st.integers(0, 3))


def disagreement(script, asked=about_now, damage=unharmed) -> list[str]:
    count, todo, seed = script
    replicas = Replicas(count, damage)
    try:
        replicas.run(todo)
        with replicas.newcomer(seed) as newcomer:
            return differences([*replicas.worlds, newcomer], asked)
    finally:
        replicas.close()


class TestReplicas:
    @MANY
    @given(scripts())
    def test_agree_in_the_end(self, script):
        assert disagreement(script) == []

    @MANY
    @given(scripts())
    def test_agree_where_everything_is(self, script):
        assert disagreement(script, about_places) == []

    @MANY
    @given(scripts())
    def test_agree_about_the_past(self, script):
        assert disagreement(script, about_the_past) == []


def by_arrival(state, receiver: World):
    """The last one to be heard is right, not the last one to speak."""
    if state[KIND] == ADD_NODE:
        return state
    _, count, *dot = state[STAMP]
    return (*state[:STAMP], (10**6 + len(receiver.scene.changes()), count, *dot), *state[STAMP + 1 :])


def removing_nothing(state, receiver: World):
    """Removals forget which containments they are about."""
    return (*state[:OBSERVED], []) if state[KIND] == REMOVE_PARENTS else state


def removing_everything(state, receiver: World):
    """Removals hit the containments that the receiver knows, also those that their author never saw."""
    if state[KIND] != REMOVE_PARENTS:
        return state
    known = [record.state() for record in receiver.scene.changes() if record.node == state[NODE]]
    added = [other[STAMP][2:] for other in known if other[KIND] <= ADD_PARENT]
    return (*state[:OBSERVED], sorted({*state[OBSERVED], *added}))


def deaf_to_attributes(state, receiver: World):
    return (*state[:ATTRIBUTES], [], state[OBSERVED])


class TestABrokenRule:
    @pytest.mark.parametrize("damage", [by_arrival, removing_nothing, removing_everything, deaf_to_attributes])
    def test_is_found_and_shrinks_to_a_few_steps(self, damage):
        try:
            _, todo, _ = find(scripts(20), lambda script: bool(disagreement(script, damage=damage)), settings=ENOUGH)
        except NoSuchExample:
            pytest.fail(f"{damage.__name__} was not found in {ENOUGH.max_examples} runs")
        assert len(todo) <= 6
