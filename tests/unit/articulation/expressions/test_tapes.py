"""A tape means what the plain interpreter says it means, alone and in batches, and refuses what is none."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

import strategies  # noqa: F401  (the profile)
from armillary._core import TAPE_OPS, Tape, TapeFunction
from armillary.errors import InvalidArgument, InvalidTape
from tape_model import BINARY, NASTY, UNARY, Unclear, interpret, numbers, same_numbers, tapes

OP = TAPE_OPS
TURNING = frozenset({"sin", "cos"})
STRAIGHT = {*UNARY, *BINARY} - TURNING
JOINED = TURNING | {"mul", "add", "sub"}  # what runs two instructions as one


def tape_of(*rows: tuple, constants=(), inputs: int = 1, outputs: int = 1) -> Tape:
    code = [(OP[name], *operands, *[0] * (3 - len(operands))) for name, *operands in rows]
    return Tape(np.array(code, dtype=np.uint32).reshape(-1, 4), constants, inputs=inputs, outputs=outputs)


def function(name: str) -> Tape:
    """f(x) or f(x, y) as a tape."""
    if name in UNARY:
        return tape_of(("input", 0, 0), (name, 1, 0), ("output", 0, 1))
    return tape_of(("input", 0, 0), ("input", 1, 1), (name, 1, 0, 1), ("output", 0, 1), inputs=2)


def square_plus_half() -> Tape:
    return tape_of(
        ("input", 0, 0), ("sq", 0, 0), ("constant", 1, 0), ("add", 0, 0, 1), ("output", 0, 0), constants=[0.5]
    )


def expected(tape: Tape, values, own=None) -> list[float]:
    try:
        return interpret(tape, values, own)
    except Unclear:
        reject()


def in_a_batch(name: str):
    """The sine and cosine of batches, which may differ from C's in the last bit."""
    tape = function(name)
    return lambda x: float(tape.run([[x]])[0, 0])


class TestATape:
    @given(tapes(), st.data())
    def test_means_what_the_interpreter_says(self, tape, data):
        values = data.draw(st.lists(numbers, min_size=tape.inputs, max_size=tape.inputs))
        assert same_numbers(tape.run(values), expected(tape, values))

    @given(tapes(computing=JOINED, most=60), st.data())
    def test_means_it_where_two_instructions_run_as_one(self, tape, data):
        values = data.draw(st.lists(numbers, min_size=tape.inputs, max_size=tape.inputs))
        assert same_numbers(tape.run(values), interpret(tape, values))
        own = {name: in_a_batch(name) for name in TURNING}
        assert same_numbers(tape.run(np.array([values]).reshape(1, -1))[0], interpret(tape, values, own))

    def test_turns_the_same_number_by_sine_and_cosine(self):
        tape = tape_of(
            ("input", 0, 0),
            ("sin", 1, 0),
            ("cos", 2, 0),
            ("mul", 1, 1, 2),
            ("cos", 0, 1),
            ("sin", 2, 1),
            ("output", 0, 0),
            ("output", 1, 1),
            ("output", 2, 2),
            outputs=3,
        )
        assert same_numbers(tape.run([0.3]), interpret(tape, [0.3]))

    @pytest.mark.parametrize("name", [*UNARY, *BINARY])
    def test_knows_every_function_at_its_corners(self, name):
        tape = function(name)
        rows = [[x] for x in NASTY] if name in UNARY else [[x, y] for x in NASTY for y in NASTY]
        for row in rows:
            try:
                wanted = interpret(tape, row)
            except Unclear:
                continue
            assert same_numbers(tape.run(row), wanted), row

    def test_has_a_number_for_every_operation(self):
        assert {"constant", "input", "output", *UNARY, *BINARY} == set(OP)
        assert sorted(OP.values()) == list(range(len(OP)))

    def test_may_give_one_value_several_times(self):
        tape = tape_of(
            ("input", 0, 0), ("neg", 1, 0), *[("output", i, 1) for i in range(3)], ("output", 3, 0), outputs=4
        )
        assert tape.run([2.0]).tolist() == [-2.0, -2.0, -2.0, 2.0]

    def test_may_use_a_register_again_after_it_was_given_out(self):
        tape = tape_of(
            ("input", 0, 0),
            ("neg", 1, 0),
            ("output", 0, 1),
            ("sq", 1, 1),
            ("add", 0, 1, 0),
            ("output", 1, 0),
            outputs=2,
        )
        assert tape.run([3.0]).tolist() == [-3.0, 12.0]

    def test_may_be_empty(self):
        assert tape_of(inputs=0, outputs=0).run([]).shape == (0,)

    def test_shows_what_it_is_made_of(self):
        tape = square_plus_half()
        assert (tape.inputs, tape.outputs, tape.registers, tape.instructions) == (1, 1, 2, 5)
        assert tape.constants.tolist() == [0.5]
        assert tape.code[1].tolist() == [OP["sq"], 0, 0, 0]
        assert not tape.code.flags.writeable
        assert not tape.constants.flags.writeable

    def test_is_equal_bit_by_bit(self):
        one, other = (tape_of(("constant", 0, 0), ("output", 0, 0), constants=[zero]) for zero in (0.0, -0.0))
        again = tape_of(("constant", 0, 0, 7), ("output", 0, 0, 7), constants=[0.0])  # operands that nobody reads
        assert one != other
        assert (one, hash(one), one.digest()) == (again, hash(again), again.digest())
        assert one != "a tape"


class TestABatch:
    @given(tapes(computing=STRAIGHT), st.integers(0, 70), st.data())
    def test_is_each_row_alone(self, tape, count, data):
        row = st.lists(numbers, min_size=tape.inputs, max_size=tape.inputs)
        few = data.draw(st.lists(row, min_size=1, max_size=3))
        values = np.resize(np.array(few, dtype=float).reshape(len(few), tape.inputs), (count, tape.inputs))
        for one in few:
            expected(tape, one)
        alone = np.array([tape.run(one) for one in values]).reshape(count, tape.outputs)
        assert same_numbers(tape.run(values), alone)

    @given(tapes(), st.data())
    def test_means_the_same_but_for_its_own_sine(self, tape, data):
        values = data.draw(st.lists(numbers, min_size=tape.inputs, max_size=tape.inputs))
        wanted = expected(tape, values, {name: in_a_batch(name) for name in TURNING})
        for got in tape.run(np.tile(np.array(values, dtype=float), (5, 1))):
            assert same_numbers(got, wanted)

    @pytest.mark.parametrize("name", sorted(TURNING))
    @given(st.floats(), st.integers(-70_000, 70_000))
    def test_turns_within_one_last_bit(self, name, anything, quarters):
        near = quarters * (math.pi / 2)
        values = np.array([anything, near, np.nextafter(near, 1e9), -0.0, 1e5, anything % 1e5])
        got, alone = function(name).run(values[:, None])[:, 0], [function(name).run([x])[0] for x in values]
        np.testing.assert_array_max_ulp(got, np.array(alone), maxulp=1)
        assert np.array_equal(np.signbit(got), np.signbit(alone)) or np.isnan(alone).any()

    def test_of_no_rows_has_no_rows(self):
        assert square_plus_half().run(np.empty((0, 1))).shape == (0, 1)


class TestRunning:
    def test_gives_a_new_array_each_time(self):
        tape = square_plus_half()
        first, second = tape.run([1.0]), tape.run([2.0])
        assert (first.tolist(), second.tolist()) == ([1.5], [4.5])

    def test_takes_what_is_like_an_array(self):
        tape = square_plus_half()
        for values in (
            [2],
            (2.0,),
            np.array([2], dtype=np.int32),
            np.array([2, 9.0])[::2],
            np.array([2.0], dtype=">f8"),
        ):
            assert tape.run(values).tolist() == [4.5]
        assert tape.run(np.arange(6.0).reshape(3, 2).T[:, :1]).tolist() == [[0.5], [1.5]]

    @pytest.mark.parametrize("shape", [(1,), (3, 1)])
    def test_writes_into_the_array_given(self, shape):
        out = np.zeros(shape)
        assert square_plus_half().run(np.ones(shape), out=out) is out
        assert np.all(out == 1.5)

    @pytest.mark.parametrize(
        "values", [1.0, [], [1.0, 2.0], np.ones((2, 2)), np.ones((1, 1, 1)), "x", None, [[1], [2, 3]]]
    )
    def test_refuses_values_of_another_shape(self, values):
        with pytest.raises(InvalidArgument, match=r"\(1,\)"):
            square_plus_half().run(values)

    @pytest.mark.parametrize(
        "out", [np.ones(2), np.ones((1, 1)), np.ones(1, np.float32), [0.0], np.ones(4)[::2], np.float64(1)]
    )
    def test_refuses_an_out_that_does_not_fit(self, out):
        with pytest.raises(InvalidArgument, match="out must"):
            square_plus_half().run([1.0], out=out)

    def test_refuses_an_out_that_cannot_be_written_to(self):
        out = np.zeros(1)
        out.setflags(write=False)
        with pytest.raises(InvalidArgument, match="can be written to"):
            square_plus_half().run([1.0], out=out)

    def test_refuses_an_out_that_is_the_values(self):
        memory = np.zeros(4)
        with pytest.raises(InvalidArgument, match="shares memory"):
            square_plus_half().run(memory[:3, None], out=memory[1:, None])

    @pytest.mark.parametrize(
        ("args", "words"), [((), {}), (([1.0], None, 3), {}), (([1.0],), {"inn": 1}), (([1.0],), {"values": 1})]
    )
    def test_says_what_it_takes(self, args, words):
        with pytest.raises(TypeError, match="values"):
            square_plus_half().run(*args, **words)


class TestATapeFunction:
    def test_keeps_what_it_runs(self):
        assert TapeFunction(square_plus_half(), ())([2.0]) == 4.5

    @pytest.mark.parametrize("shape", [(2,), (1, 2), (1, 1, 1), (0,)])
    def test_refuses_shapes_of_other_sizes(self, shape):
        with pytest.raises(InvalidArgument, match="for 1 outputs, got"):
            TapeFunction(square_plus_half(), shape)

    def test_refuses_what_is_no_tape(self):
        with pytest.raises(InvalidArgument, match="made of a Tape or a LoadedTape, got 'x'"):
            TapeFunction("x", ())


class TestWhatIsNoTape:
    @pytest.mark.parametrize(
        ("rows", "instruction", "reason"),
        [
            ([("neg", 0, 0), ("output", 0, 0)], 0, "reads register 0"),
            ([("input", 0, 0), ("add", 0, 0, 1), ("output", 0, 0)], 1, "reads register 1"),
            ([("input", 0, 1), ("output", 0, 0)], 0, "input 1 of 1"),
            ([("constant", 0, 0), ("output", 0, 0)], 0, "constant 0 of 0"),
            ([("input", 0, 0), ("output", 1, 0)], 1, "output 1 of 1"),
            ([("input", 2, 0), ("output", 0, 2)], 0, "register 2"),
            ([("input", 0, 0), ("output", 0, 0), ("output", 0, 0)], 2, "output 0 a second time"),
            ([("input", 0, 0)], None, "nothing writes output 0"),
        ],
    )
    def test_is_refused_with_the_instruction_at_fault(self, rows, instruction, reason):
        with pytest.raises(InvalidTape, match=reason) as caught:
            tape_of(*rows)
        assert caught.value.instruction == instruction

    def test_is_an_unknown_operation(self):
        with pytest.raises(InvalidTape, match=f"the number {len(OP)};"):
            Tape([[len(OP), 0, 0, 0]], [], inputs=0, outputs=0)

    @pytest.mark.parametrize("counts", [{"inputs": 1_000_001, "outputs": 0}, {"inputs": 0, "outputs": 1_000_001}])
    def test_is_one_of_too_many(self, counts):
        with pytest.raises(InvalidTape, match="at most 1000000"):
            Tape(np.empty((0, 4), np.uint32), [], **counts)

    @pytest.mark.parametrize(
        "code", [[[1.0, 0, 0, 0]], [[-1, 0, 0, 0]], [[2**32, 0, 0, 0]], [1, 2, 3, 4], [[1, 2, 3]], "x", None]
    )
    def test_is_code_of_another_kind(self, code):
        with pytest.raises(InvalidArgument, match="code must be"):
            Tape(code, [], inputs=0, outputs=0)

    @pytest.mark.parametrize("count", [-1, 1.0, "1", None, 2**70, True])
    def test_is_a_count_that_is_none(self, count):
        with pytest.raises(InvalidArgument, match="inputs must be"):
            Tape(np.empty((0, 4), np.uint32), [], inputs=count, outputs=0)


class TestTheBytesOfATape:
    @given(tapes())
    def test_give_it_back(self, tape):
        again = Tape.from_bytes(tape.to_bytes())
        assert (again, hash(again), again.digest()) == (tape, hash(tape), tape.digest())
        assert same_numbers(again.constants, tape.constants)

    def test_end_with_its_digest(self):
        tape = square_plus_half()
        assert tape.to_bytes()[-32:].hex() == tape.digest()

    def test_travel_in_a_pickle(self):
        assert pickle.loads(pickle.dumps(square_plus_half())) == square_plus_half()

    def test_may_lie_in_any_buffer(self):
        data = square_plus_half().to_bytes()
        assert Tape.from_bytes(bytearray(data)) == Tape.from_bytes(memoryview(data)) == square_plus_half()

    def test_are_of_a_version(self):
        data = bytearray(square_plus_half().to_bytes())
        data[8] = 2
        with pytest.raises(InvalidTape, match="version 2, and versions up to 1"):
            Tape.from_bytes(data)

    @pytest.mark.parametrize("data", [3, None, "text", np.ones((2, 2))[:, 0]])
    def test_are_bytes(self, data):
        with pytest.raises(InvalidArgument, match="read from bytes"):
            Tape.from_bytes(data)
