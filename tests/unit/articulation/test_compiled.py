"""Compiled expressions: fresh answers, batches, threads, and the same numbers from every way of running them."""

from __future__ import annotations

import math
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from multiprocessing import get_context

import casadi
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import armillary.articulation as art
from armillary._core import Tape
from armillary.articulation import (
    VectorExpression,
    atan2,
    cos,
    expression_from_tape,
    if_else,
    less,
    position,
    rotation_about,
    sin,
    translation,
)
from armillary.articulation import _machine_code as compiling
from armillary.articulation._c_source import c_source
from armillary.articulation._terms import term_of
from armillary.errors import CannotCompile, InvalidArgument, MachineCodeFailed, NotGrounded
from unit.articulation.duals import UNARY
from unit.kit import lets_others_run

a, b, c = position("a"), position("b"), position("c")
ORDER = [a, b, c]
NASTY = (0.0, -0.0, 1.0, -1.0, 0.5, 1e-300, 1e300, 1e5, math.inf, -math.inf, math.nan, math.pi)
anything = st.one_of(st.sampled_from(NASTY), st.floats(-10.0, 10.0))


def everything():
    """An expression that uses every instruction an expression can become."""
    functions = [ours(a) for ours, _, _ in UNARY.values()]
    pairs = [a + b, a - b, a * b, a / b, a**b, atan2(a, b), art.min(a, b), art.max(a, b), -a, 2.0 * a, 1.0 / b]
    chosen = [if_else(c, a, b), less(a, b), art.clip(a, b, c), a * a, VectorExpression([a, b]).norm()]
    return VectorExpression([*functions, *pairs, *chosen])


@pytest.fixture(scope="module")
def ways():
    """The tape, casadi's own machine, machine code, and the tape after a journey."""
    tape, term = everything().tape(ORDER), term_of(everything()).expanded
    function = casadi.Function("f", list(term.symbols.values()), [casadi.densify(term.sx)])
    places = [ORDER.index(variable) for variable in term.symbols]
    return [
        tape.run,
        lambda values: np.array(function(*values[places])).ravel(),
        everything().compile(order=ORDER, backend="c").wait(),
        Tape.from_bytes(tape.to_bytes()).run,
    ]


class TestEveryWayOfRunning:
    @given(values=st.tuples(anything, anything, anything))
    def test_gives_the_same_numbers(self, ways, values):
        expected, *others = (run(np.array(values)) for run in ways)
        for found in others:
            np.testing.assert_array_equal(found, expected)

    def test_survives_the_way_back_from_a_tape(self):
        tape = everything().tape(ORDER)
        assert expression_from_tape(tape, ORDER).tape(ORDER) == tape

    def test_refuses_a_tape_of_other_inputs(self):
        with pytest.raises(InvalidArgument, match="3 inputs, got 2"):
            expression_from_tape(everything().tape(ORDER), [a, b])


@pytest.fixture(params=["vm", "c"])
def compiled(request):
    return (translation(a, 0.0, 0.0) @ rotation_about((0, 0, 1), b)).compile(order=ORDER, backend=request.param)


class TestACompiledExpression:
    def test_takes_its_variables_by_name_where_no_order_is_given(self):
        compiled = (position("b") - 2.0 * position("a")).compile()
        assert compiled.order == (position("a"), position("b"))
        assert compiled([1.0, 5.0]) == 3.0

    def test_gives_arrays_of_its_shape(self, compiled):
        assert compiled([1.0, 0.0, 0.0]).shape == (4, 4)
        assert compiled(np.zeros((5, 3))).shape == (5, 4, 4)
        assert compiled(np.zeros((0, 3))).shape == (0, 4, 4)

    def test_of_a_scalar_gives_numbers(self):
        f = (a * b).compile(order=[a, b])
        assert f([2.0, 3.0]) == 6.0
        assert isinstance(f([2.0, 3.0]), np.float64)
        assert f([[2.0, 3.0]]).tolist() == [6.0]
        out = np.zeros(())
        assert f([2.0, 3.0], out=out) is out
        assert out == 6.0

    def test_never_gives_the_same_memory_twice(self, compiled):
        for values in (np.array([1.0, 0.0, 0.0]), np.ones((3, 3))):
            first = compiled(values)
            kept = first.copy()
            second = compiled(2.0 * values)
            assert not np.shares_memory(first, second)
            assert not np.shares_memory(first, values)
            np.testing.assert_array_equal(first, kept)

    def test_writes_to_the_given_output(self, compiled):
        out = np.full((2, 4, 4), np.nan)
        given_values = np.array([[1.0, 0.0, 0.0], [2.0, 0.5, 0.0]])
        assert compiled(given_values, out=out) is out
        np.testing.assert_array_equal(out, compiled(given_values))

    @pytest.mark.parametrize("out", [np.zeros((4, 3)), np.zeros((4, 8))[:, ::2], [0.0] * 16, np.zeros(16)])
    def test_refuses_to_write_elsewhere(self, compiled, out):
        with pytest.raises(InvalidArgument, match="out must"):
            compiled([1.0, 0.0, 0.0], out=out)

    @pytest.mark.parametrize("dtype", [np.float32, np.int64, ">f8"])
    def test_refuses_other_kinds_of_numbers_to_write_to(self, compiled, dtype):
        with pytest.raises(InvalidArgument, match="out must be a float64 array"):
            compiled([1.0, 0.0, 0.0], out=np.zeros((4, 4), dtype=dtype))

    def test_refuses_to_write_what_is_read_only(self, compiled):
        out = np.zeros((2, 4, 4))
        out.setflags(write=False)
        with pytest.raises(InvalidArgument, match="that can be written to"):
            compiled(np.zeros((2, 3)), out=out)

    def test_refuses_to_write_over_its_values(self, compiled):
        memory = np.zeros(20)
        with pytest.raises(InvalidArgument, match="out shares memory with values: give an array of its own"):
            compiled(memory[15:18], out=memory[:16].reshape(4, 4))

    def test_refuses_other_numbers_of_values(self, compiled):
        with pytest.raises(InvalidArgument):
            compiled([1.0, 2.0])

    def test_can_be_called_from_all_threads_at_once(self, compiled):
        compiled.wait()  # the tape and the machine code may differ in the last bit
        rows = np.random.default_rng(3).uniform(-2.0, 2.0, (4, 400, 3))
        one_by_one = [[compiled(row) for row in mine] for mine in rows]
        many = [compiled(mine) for mine in rows]
        with ThreadPoolExecutor(4) as pool:
            single = list(pool.map(lambda mine: [compiled(row) for row in mine], rows))
            batches = [list(pool.map(compiled, rows)) for _ in range(8)]
        np.testing.assert_array_equal(single, one_by_one)
        assert all(np.array_equal(batch, many) for batch in batches)

    def test_is_made_while_another_thread_sets_variables_of_the_environment(self):
        """The memory of the environment moves meanwhile: the compiler could not be run (EFAULT)."""
        compiled = [((k + 2.5) * a).compile(order=[a], backend="c") for k in range(12)]
        names = [f"ARMILLARY_TEST_{k}" for k in range(3000)]
        while not all(one.wait(0.0).is_machine_code for one in compiled):
            os.environ.update(dict.fromkeys(names, "x" * 200))
            for name in names:
                del os.environ[name]
        assert [one.wait()([2.0]) for one in compiled] == [2.0 * (k + 2.5) for k in range(12)]

    def test_lets_other_threads_go_on_while_it_computes_many(self, compiled):
        rows = np.zeros((10_000, 3))
        assert lets_others_run(lambda: compiled(rows))

    def test_wants_all_variables_in_its_order(self):
        with pytest.raises(NotGrounded, match=r"position\('b'\)"):
            (a + b).compile(order=[a])
        with pytest.raises(InvalidArgument, match="twice"):
            (a + b).compile(order=[a, b, a])
        with pytest.raises(InvalidArgument, match="list of variables"):
            (a + b).compile(order="ab")

    def test_does_not_mind_variables_that_do_not_occur(self):
        assert (2.0 * b).compile(order=ORDER)([0.0, 3.0, 0.0]) == 6.0

    def test_of_a_constant_needs_no_values(self):
        assert (a - a + 4.0).compile(order=[])([]) == 4.0

    def test_says_what_it_is(self):
        assert "(a, b) -> shape ()" in repr((a * b).compile(order=[a, b]))


class TestExpressionsInThreads:
    def test_are_built_side_by_side(self):
        def build(seed):
            angle = float(np.random.default_rng(seed).uniform())
            chain = art.PoseExpression.identity()
            for _ in range(20):
                chain = chain @ rotation_about((0, 0, 1), a) @ translation(b, 0.0, 0.0)
            return chain.body_jacobian([a, b]).evaluate({a: angle, b: 0.3})

        with ThreadPoolExecutor(6) as pool:
            found = list(pool.map(build, range(24)))
        for seed in range(24):
            np.testing.assert_array_equal(found[seed], build(seed))


def _refused(function):
    with pytest.raises(CannotCompile, match="failed with"):
        function.wait()
    return function


def _is_machine_code_after_waiting(function):
    return function.wait(60).is_machine_code


@cache
def turning():
    """Four angles or more are turned side by side."""
    angles = [position(f"angle_{i}") for i in range(4)]
    return art.stack([*map(sin, angles), *map(cos, angles)]).compile(order=angles, backend="c").wait()


class TestMachineCode:
    @pytest.mark.parametrize("count", [0, 1, 7, 8, 19])
    @pytest.mark.parametrize("joints", [2, 5])
    def test_gives_many_the_bits_of_one(self, count, joints):
        """Sines of two inputs are taken row by row; those of five side by side, with a lane for each row."""
        order = [position(f"q{i}") for i in range(joints)]
        turned = [sin(q) / (3.0 - cos(q)) - q * q for q in order]
        sums = VectorExpression([*turned, 1.0 / order[0], -order[1] + math.inf, order[0] + order[0]])
        compiled, vm = (sums.compile(order=order, backend=backend).wait() for backend in ("c", "vm"))
        rows = np.random.default_rng(count).uniform(-9.0, 9.0, (count, joints))
        rows[:1] = 0.0
        many = compiled(rows)
        np.testing.assert_array_equal(many, np.array([compiled(row) for row in rows]).reshape(many.shape))
        np.testing.assert_allclose(many, vm(rows), rtol=1e-13, atol=1e-13)

    @pytest.mark.parametrize("entries", [3, 4])
    @pytest.mark.parametrize("shift", [0, 1])
    def test_gives_very_many_the_bits_of_one(self, entries, shift):
        """More than a cache holds, also where they cannot go past it: by odd rows, or from an odd place on."""
        sums = VectorExpression([a * (b - k) for k in range(entries)]).compile(order=[a, b], backend="c").wait()
        rows = np.random.default_rng(1).uniform(-9.0, 9.0, (200_003, 2))
        out = np.full(len(rows) * entries + shift, np.nan)[shift:].reshape(-1, entries)
        expected = rows[:, :1] * (rows[:, 1:] - np.arange(entries))
        np.testing.assert_array_equal(sums(rows, out=out), expected)

    def test_is_made_once_for_equal_tapes(self):
        first, second = sin(a).tape([a]), sin(position("a")).tape([a])
        assert compiling.compilation_of(first) is compiling.compilation_of(second)

    def test_is_refused_with_a_sentence_where_there_is_no_compiler(self, monkeypatch):
        monkeypatch.setattr(compiling.shutil, "which", lambda _: None)
        with pytest.raises(CannotCompile, match="Install one, or use backend='vm'"):
            (a * 3.21).compile(order=[a], backend="c")

    def test_is_refused_with_the_output_of_the_compiler(self, monkeypatch):
        monkeypatch.setattr(compiling, "c_source", lambda _: "no C at all")
        with pytest.warns(MachineCodeFailed, match=r"(?s)failed with.*Its tape goes on being run"):
            function = _refused((a * 3.22).compile(order=[a], backend="c"))
        assert (function.is_machine_code, function([2.0])) == (False, 6.44)

    def test_is_made_while_the_tape_answers(self, monkeypatch):
        may_compile, loaded = threading.Event(), compiling._loaded
        monkeypatch.setattr(compiling, "_loaded", lambda *given: may_compile.wait(60) and loaded(*given))
        function, once_more = ((a * 3.23).compile(order=[a], backend="c") for _ in range(2))
        assert (function.is_machine_code, function([2.0])) == (False, 6.46)
        assert not function.wait(0.0).is_machine_code
        may_compile.set()
        assert function.wait().is_machine_code
        assert once_more.is_machine_code
        assert (function([2.0]), once_more([2.0])) == (6.46, 6.46)

    def test_is_made_by_a_forked_child_that_waits_for_it(self, monkeypatch):
        may_compile, loaded, parent = threading.Event(), compiling._loaded, os.getpid()
        monkeypatch.setattr(
            compiling, "_loaded", lambda *given: (os.getpid() != parent or may_compile.wait(60)) and loaded(*given)
        )
        function = (a * 3.24).compile(order=[a], backend="c")
        with get_context("fork").Pool(1) as child:
            assert child.apply_async(_is_machine_code_after_waiting, [function]).get(60)
        may_compile.set()
        assert function.wait().is_machine_code

    def test_runs_on_in_calls_that_began_with_the_tape(self, monkeypatch):
        """A batch of the tape is being run, without the GIL, when the machine code takes its place."""
        may_compile, loaded = threading.Event(), compiling._loaded
        monkeypatch.setattr(compiling, "_loaded", lambda *given: may_compile.wait(60) and loaded(*given))
        function = everything().compile(order=ORDER, backend="c")
        rows = np.random.default_rng(3).uniform(0.1, 2.0, (100_000, len(ORDER)))
        expected = function(rows)
        with ThreadPoolExecutor(2) as threads:
            running = [threads.submit(function, rows) for _ in range(6)]
            may_compile.set()
            function.wait()
            for found in running:
                np.testing.assert_array_equal(found.result(60), expected)

    def test_refuses_other_backends(self):
        with pytest.raises(InvalidArgument, match="'vm' or 'c'"):
            sin(a).compile(order=[a], backend="llvm")

    @pytest.mark.parametrize("reach", [4.0, 100.0, 99_999.0])
    def test_has_sines_and_cosines_to_the_last_digits(self, reach):
        rows = np.random.default_rng(2).uniform(-reach, reach, (20_000, 4))
        found, expected = turning()(rows), np.concatenate([np.sin(rows), np.cos(rows)], axis=1)
        assert (np.abs(found - expected) <= 2.0 * np.spacing(np.abs(expected))).all()

    def test_has_them_where_they_vanish(self):
        quarters = np.arange(-60_000, 60_000) * (math.pi / 2)
        near = np.concatenate([quarters, np.nextafter(quarters, math.inf)]).reshape(-1, 4)
        expected = np.concatenate([np.sin(near), np.cos(near)], axis=1)
        assert (np.abs(turning()(near) - expected) <= 2.0 * np.spacing(np.abs(expected))).all()

    def test_has_them_of_what_is_hardly_an_angle(self):
        found = turning()([-0.0, 1e300, math.inf, math.nan])
        np.testing.assert_array_equal(found[:2], [-0.0, math.sin(1e300)])
        assert math.copysign(1.0, found[0]) == -1.0
        assert np.isnan(found[[2, 3, 6, 7]]).all()

    def test_writes_constants_exactly(self):
        source = c_source((0.1 * a + math.inf).tape([a]))
        assert (0.1).hex() in source
        assert "INFINITY" in source
