"""The sequence of operations: what runs, what is refused, what is taken back."""

from __future__ import annotations

import pytest

from armillary.articulation.history import Apply, InsertAfter, InsertBefore, RemoveOperation
from armillary.articulation.operations import SetValue, operation
from armillary.errors import (
    InvalidOperation,
    InvalidPath,
    MissingRead,
    NothingToUndo,
    OperationFailed,
    TagTaken,
    UndeclaredRead,
    UndeclaredWrite,
    UnknownTag,
)
from unit.articulation.history_kit import Failing, Sum, history, number, replayed, state


def thesis():
    """The example of the thesis' figure 3.5, with sums."""
    some = history()
    for tag, op in {
        "foo": number("foo", 4.0),
        "bar": number("bar", 2.0),
        "sum": Sum(("sum",), of=("foo", "bar")),
        "result": Sum(("result",), of=("sum",)),
    }.items():
        some.edit([Apply(tag, op)])
    return some


class TestAHistory:
    def test_leaves_what_its_operations_write(self):
        assert dict(thesis().values) == {"foo": 4.0, "bar": 2.0, "sum": 6.0, "result": 6.0}

    def test_is_imperative_later_writes_do_not_reach_earlier_reads(self):
        some = thesis()
        some.edit([Apply("foo again", number("foo", 100.0))])
        assert (some.values["foo"], some.values["sum"]) == (100.0, 6.0)

    def test_runs_exactly_what_reads_what_changed(self):
        some = thesis()
        some.edit([Apply("other", number("other"))])
        assert some.edit([Apply("bar", number("bar", 5.0))]).ran == ("bar", "sum", "result")
        assert some.values["result"] == 9.0

    def test_stops_where_nothing_changed(self):
        some = thesis()
        assert some.edit([Apply("bar", number("bar", 2.0))]).ran == ("bar",)
        assert some.edit([Apply("sum", Sum(("sum",), of=("bar", "foo")))]).ran == ("sum",)

    def test_inserts_between_a_writer_and_its_readers(self):
        some = thesis()
        change = some.edit([InsertAfter("raise foo", Sum(("foo",), of=("foo",), more=10.0), "foo")])
        assert change.ran == ("raise foo", "sum", "result")
        assert some.tags == ("foo", "raise foo", "bar", "sum", "result")
        assert some.values["result"] == 16.0

    def test_inserts_in_front(self):
        some = thesis()
        assert some.edit([InsertBefore("first", number("first"), "foo")]).ran == ("first",)
        assert some.tags[0] == "first"

    def test_gives_the_value_before_when_a_writer_goes(self):
        some = thesis()
        some.edit([InsertAfter("raise foo", Sum(("foo",), of=("foo",), more=10.0), "foo")])
        assert some.edit([RemoveOperation("raise foo")]).ran == ("sum", "result")
        assert some.values["result"] == 6.0

    def test_says_what_changed(self):
        change = thesis().edit([Apply("bar", number("bar", 5.0))])
        assert change.before == {"bar": 2.0, "sum": 6.0, "result": 6.0}
        assert change.after == {"bar": 5.0, "sum": 9.0, "result": 9.0}
        assert change.tags == ("bar",)

    def test_takes_several_edits_as_one(self):
        some = thesis()
        some.edit([RemoveOperation("result"), RemoveOperation("sum"), Apply("new", Sum(("new",), of=("foo",)))])
        assert dict(some.values) == {"foo": 4.0, "bar": 2.0, "new": 4.0}
        some.undo()
        assert state(some) == state(thesis())

    def test_may_replace_an_operation_by_one_that_writes_elsewhere(self):
        some = thesis()
        some.edit([RemoveOperation("result"), Apply("sum", Sum(("total",), of=("foo", "bar")))])
        assert dict(some.values) == {"foo": 4.0, "bar": 2.0, "total": 6.0}

    def test_cannot_be_edited_by_what_runs_in_it(self):
        some = thesis()

        @operation(writes=["y"])
        def greedy(read):
            some.edit([RemoveOperation("result")])

        with pytest.raises(OperationFailed, match="cannot edit the model"):
            some.edit([Apply("y", greedy())])
        assert state(some) == state(thesis())


class TestUndo:
    def test_restores_without_running(self):
        some = thesis()
        before = state(some)
        some.edit([RemoveOperation("result"), InsertBefore("first", number("first"), "foo")])
        assert some.undo().ran == ()
        assert state(some) == before

    def test_reaches_back_to_the_beginning_and_forth(self):
        some = thesis()
        after = state(some)
        for _ in range(4):
            some.undo()
        assert state(some) == ({}, (), [])
        for _ in range(4):
            some.redo()
        assert state(some) == after == state(replayed(some))

    def test_ends_where_nothing_is_left(self):
        with pytest.raises(NothingToUndo):
            history().undo()
        some = history(max_undo=1)
        some.edit([Apply("a", number("a"))])
        some.edit([Apply("b", number("b"))])
        some.undo()
        with pytest.raises(NothingToUndo, match="max_undo"):
            some.undo()

    def test_does_not_count_edits_of_nothing(self):
        some = thesis()
        some.edit([])
        some.undo()
        some.edit([])
        some.redo()
        assert state(some) == state(thesis())

    def test_forgets_what_was_taken_back_when_something_else_is_done(self):
        some = thesis()
        some.undo()
        some.edit([Apply("else", number("else"))])
        with pytest.raises(NothingToUndo):
            some.redo()


REFUSED = {
    "a read that nothing writes": (Apply("x", Sum(("x",), of=("nothing",))), MissingRead, "Apply what writes"),
    "a read that is written later": (
        InsertBefore("x", Sum(("x",), of=("bar",)), "foo"),
        MissingRead,
        "Insert it after 'bar'",
    ),
    "a read of what it writes itself": (Apply("x", Sum(("x",), of=("x",))), MissingRead, "reads 'x'"),
    "taking away what others read": (RemoveOperation("foo"), MissingRead, "'sum' reads 'foo'"),
    "replacing it by what writes less": (Apply("foo", number("fooo")), MissingRead, "'sum' reads 'foo'"),
    "an operation that raises": (Apply("x", Failing(("x",), more=-1.0)), OperationFailed, "the sum is negative"),
    "an input that makes a later one raise": (Apply("bar", number("bar", -5.0)), OperationFailed, "'guard'"),
    "a tag that is taken": (InsertAfter("foo", number("x"), "bar"), TagTaken, "Choose another"),
    "a reference that is unknown": (InsertAfter("x", number("x"), "fooo"), UnknownTag, "Did you mean 'foo'"),
    "removing what is unknown": (RemoveOperation("fooo"), UnknownTag, "Did you mean 'foo'"),
    "an empty tag": (Apply("", number("x")), InvalidOperation, "not empty"),
    "something else than an operation": (Apply("x", 3), InvalidOperation, "@operation"),
    "an operation that writes nothing": (Apply("x", Sum(())), InvalidOperation, "Declare a path"),
    "a path that is none": (Apply("x", number("x//y")), InvalidPath, "one '/'"),
    "a value that could change": (Apply("x", SetValue("x", [1])), InvalidOperation, "tuple"),
    "no value": (Apply("x", SetValue("x", None)), UndeclaredWrite, "gave nothing for x"),
}


class TestAnEditThatIsRefused:
    @pytest.mark.parametrize(("edit", "error", "says"), REFUSED.values(), ids=REFUSED)
    def test_changes_nothing(self, edit, error, says):
        some = thesis()
        some.edit([Apply("guard", Failing(("guard",), of=("bar",)))])
        before = state(some)
        with pytest.raises(error, match=says):
            some.edit([Apply("fine", number("fine")), RemoveOperation("result"), edit])
        assert state(some) == before
        some.edit([Apply("bar", number("bar", 7.0))])
        assert state(some) == state(replayed(some))
        some.undo()
        assert state(some) == before

    def test_names_what_an_operation_reads_without_saying_so(self):
        @operation(writes=["y"])
        def sly(read):
            return read("foo")

        with pytest.raises(UndeclaredRead, match="Declare it"):
            thesis().edit([Apply("y", sly())])

    def test_names_what_an_operation_writes_without_saying_so(self):
        @operation(writes=["y", "z"])
        def sly(read):
            return {"y": 1, "w": 1}

        with pytest.raises(UndeclaredWrite, match="gave nothing for z and gave w"):
            thesis().edit([Apply("y", sly())])
