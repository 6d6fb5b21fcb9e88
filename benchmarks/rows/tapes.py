"""Compiled expressions: the tape of the native core against casadi's virtual machine, on the same instructions.

casadi is called through `Function.buffer()`, which is its fastest way in from Python, and for many configurations
through the buffer of `Function.map`. Both write into memory that is ready.
"""

from collections.abc import Callable, Iterator

import numpy as np

from armillary._core import TAPE_OPS, Tape
from context import Bench, cpu_ns
from table import Row
from tape_scenario import JOINTS, Pair, pairs

CALLS, CONFIGURATIONS = 500, 10_000
CASADI = "casadi"


def rows(bench: Bench) -> Iterator[Row]:
    yield from _small(bench)
    for pair in pairs():
        yield from _agreement(pair)
        yield from _single(bench, pair)
        yield from _batch(bench, pair)
        yield from _bytes(bench, pair)


def _small(bench: Bench) -> Iterator[Row]:
    code = [(TAPE_OPS["input"], 0, 0, 0), (TAPE_OPS["sq"], 0, 0, 0), (TAPE_OPS["output"], 0, 0, 0)]
    run, values, out = Tape(code, [], inputs=1, outputs=1).run, np.ones(1), np.empty(1)
    best = bench.race({"new": _calls(lambda: run(values)), "out": _calls(lambda: run(values, out))})
    yield Row.at_most("run of three instructions, new array", best["new"], "ns", asked=300)
    yield Row.at_most("run of three instructions, out=", best["out"], "ns", asked=300, goal=150)


def _agreement(pair: Pair) -> Iterator[Row]:
    values = np.random.default_rng(6).uniform(-3.0, 3.0, (100, JOINTS))
    theirs = np.array([pair.function(row).full().ravel(order="F") for row in values])
    ours = np.array([pair.tape.run(row) for row in values])
    yield Row.at_most(f"{pair.name}: largest difference", float(np.abs(ours - theirs).max()), "", asked=1e-13)
    batch = float(np.abs(pair.tape.run(values) - theirs).max())
    yield Row.at_most("  in a batch", batch, "", asked=1e-13)


def _single(bench: Bench, pair: Pair) -> Iterator[Row]:
    values, out = np.linspace(-1.0, 1.0, JOINTS), np.empty(pair.tape.outputs)
    run, theirs = pair.tape.run, _buffer(pair.function, values, np.empty(pair.tape.outputs))
    best = bench.race({"ours": _calls(lambda: run(values, out)), CASADI: _calls(theirs)})
    yield Row.faster(f"{pair.name}, one call", best["ours"], best[CASADI], CASADI, asked=1.0)
    cost = best["ours"] / pair.tape.instructions
    yield Row.at_most(f"  an instruction, of {pair.tape.instructions}", cost, "ns", asked=2.5)


def _batch(bench: Bench, pair: Pair) -> Iterator[Row]:
    count = 1_000 if bench.quick else CONFIGURATIONS
    values = np.random.default_rng(7).uniform(-3.0, 3.0, (count, JOINTS))
    out, run = np.empty((count, pair.tape.outputs)), pair.tape.run
    theirs = _buffer(pair.function.map(count), values, np.empty_like(out))
    best = bench.race(
        {"ours": lambda _: cpu_ns(lambda: run(values, out), count), CASADI: lambda _: cpu_ns(theirs, count)}, repeats=5
    )
    yield Row.faster(f"{pair.name}, of {count}", best["ours"], best[CASADI], f"{CASADI} map", asked=2.0, goal=4.0)


def _bytes(bench: Bench, pair: Pair) -> Iterator[Row]:
    data = pair.tape.to_bytes()
    best = bench.race(lambda _: cpu_ns(lambda: [Tape.from_bytes(data) for _ in range(10)], 10))
    yield Row.at_most(f"  from {len(data) // 1000} kB of bytes", best["ours"] / 1e3, "µs")


def _buffer(function, values: np.ndarray, out: np.ndarray) -> Callable[[], None]:
    buffer, call = function.buffer()
    buffer.set_arg(0, memoryview(values))
    buffer.set_res(0, memoryview(out))
    return lambda kept=(buffer, values, out): call()  # noqa: ARG005  (casadi does not keep them alive)


def _calls(call: Callable[[], object]) -> Callable[[int], float]:
    def all_of_them() -> None:
        for _ in range(CALLS):
            call()

    return lambda _: cpu_ns(all_of_them, CALLS)
