"""Random edits of a history: it is always what a replay from nothing gives, and a refused edit changes nothing."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

import strategies  # noqa: F401  (the profile)
from armillary.articulation.history import Apply, InsertAfter, InsertBefore, RemoveOperation
from armillary.errors import ArmillaryError, NothingToUndo
from unit.articulation.history_kit import Failing, Sum, history, replayed, state

PATHS, TAGS = [f"p{i}" for i in range(6)], [f"t{i}" for i in range(8)]
tags = st.sampled_from(TAGS)
some_paths = st.lists(st.sampled_from(PATHS), max_size=2, unique=True).map(tuple)
numbers = st.sampled_from([-1.0, 0.0, 0.0, 1.0, 2.0])


@st.composite
def operations(draw):
    to = draw(st.lists(st.sampled_from(PATHS), min_size=1, max_size=2, unique=True).map(tuple))
    return draw(st.sampled_from([Sum, Sum, Failing]))(to, of=draw(some_paths), more=draw(numbers))


edits = st.one_of(
    st.builds(Apply, tags, operations()),
    st.builds(Apply, tags, operations()),
    st.builds(InsertBefore, tags, operations(), tags),
    st.builds(InsertAfter, tags, operations(), tags),
    st.builds(RemoveOperation, tags),
)
batches = st.lists(edits, min_size=1, max_size=3)
programs = st.lists(batches | st.sampled_from(["undo", "redo"]), max_size=30)


def inputs(some) -> dict:
    """By tag, what each operation reads: the plain meaning of a sequence."""
    values, found = {}, {}
    for tag in some.tags:
        operation = some.operation(tag)
        found[tag] = (operation, [values[path] for path in operation.of])
        values.update(dict.fromkeys(operation.to, sum(found[tag][1]) + operation.more))
    assert values == dict(some.values)
    return found


def done(some, program) -> list:
    """Run it; by edit that was taken, what was read before and after, and the change."""
    taken = []
    for step in program:
        before, read = state(some), inputs(some)
        try:
            change = getattr(some, step)() if isinstance(step, str) else some.edit(step)
        except (ArmillaryError, NothingToUndo):
            assert state(some) == before
            continue
        taken.append((step, before, read, inputs(some), change))
    return taken


class TestAnyEdits:
    @given(programs)
    def test_leave_what_a_replay_gives(self, program):
        some = history()
        done(some, program)
        assert state(some) == state(replayed(some))

    @given(programs)
    def test_run_exactly_what_is_new_or_reads_something_else(self, program):
        for step, _, before, after, change in done(history(), program):
            if not isinstance(step, str):
                named = {edit.tag for edit in step}
                due = {tag for tag in after if tag in named or before.get(tag) != after[tag]}
                assert set(change.ran) == due
                assert len(change.ran) == len(due)

    @given(programs)
    def test_say_what_is_different(self, program):
        for _, (before, *_), _, after, change in done(history(), program):
            values = {}
            for operation, read in after.values():
                values.update(dict.fromkeys(operation.to, sum(read) + operation.more))
            different = {p for p in before.keys() | values.keys() if before.get(p) != values.get(p)}
            assert change.paths == different
            assert dict(change.after) == {p: values[p] for p in different if p in values}

    @given(programs)
    def test_are_all_taken_back(self, program):
        some = history(max_undo=1000)
        done(some, program)
        end, states = state(some), []
        while True:
            try:
                some.undo()
            except NothingToUndo:
                break
            states.append(state(some))
        assert state(some) == ({}, (), [])
        for _ in states:
            some.redo()
        assert state(some) == end
